#include "tuner/trial/typed/typed_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include "tuner/trial/tolerance.h"

namespace smemtune {

namespace {

// Refers to one number of a memory. Copying only this number is fast even if the memory is large.
class NumberView : public Memory {
public:
    NumberView(std::byte* data, std::size_t size) : data_(data), size_(size) {}
    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t size() const override { return size_; }

private:
    std::byte* data_;
    std::size_t size_;
};

using NumberBytes = std::array<std::byte, 8>;

NumberBytes bytes_at(Backend& backend, const Memory& memory, std::int64_t bytes, long long index) {
    NumberBytes number{};
    const auto size = static_cast<std::size_t>(bytes);
    backend.copy_to_host(std::span(number).first(size), NumberView(memory.data() + index * bytes, size));
    return number;
}

double double_at(Backend& backend, const Memory& memory, long long index) {
    double value = 0;
    backend.copy_to_host(std::as_writable_bytes(std::span(&value, 1)),
                         NumberView(memory.data() + index * static_cast<long long>(sizeof value), sizeof value));
    return value;
}

// Returns an element's name and index as a kernel would write them, such as `A[3,1].y`. `place` is the index of a
// number in the array, as if the array had no padding.
std::string place_text(const MatrixOperand& matrix, const Environment& extents, long long place) {
    const auto lanes = matrix.type.lanes;
    const std::string lane = matrix.type.is_struct ? " byte " + std::to_string(place % lanes)
                             : lanes == 1          ? ""
                                                   : std::string(".") + "xyzw"[place % lanes];
    auto rest = place / lanes;
    std::vector<std::string> indices;
    const auto take = [&](long long extent) {
        indices.insert(indices.begin(), std::to_string(rest % extent));
        rest /= extent;
    };
    const auto& shape = matrix.argument->shape;
    if (shape.empty()) {
        take(matrix.columns / lanes);
        take(matrix.rows);
        if (matrix.argument->count != Expression("1")) take(matrix.count);
    }
    for (auto i = shape.size(); i-- > 0;) take(shape[i].evaluate(extents));
    return fmt::format("{}[{}]{}", matrix.argument->name, fmt::join(indices, ","), lane);
}

const char* kind_text(const Check& check) {
    return check.integers  ? " (integer inputs)"
           : check.special ? " (inputs with zeros and infinities)"
                           : " (uniform inputs)";
}

}  // namespace

TypedComparison::TypedComparison(Backend& backend, const LoadedKernel& compare, const Environment& environment,
                                 std::int64_t terms, std::int64_t blocks)
    : backend_(backend),
      compare_(compare),
      environment_(environment),
      terms_(terms),
      blocks_(blocks),
      places_(backend.allocate(static_cast<std::size_t>(3 * blocks) * sizeof(long long))),
      errors_(backend.allocate(static_cast<std::size_t>(3 * blocks) * sizeof(double))) {}

TypedComparison::Rule TypedComparison::rule_of(const MatrixOperand& matrix, const Check& check) const {
    const auto& type = *matrix.type.number;
    Rule rule;
    if (const auto& tolerance = matrix.argument->tolerance) {
        rule.absolute = tolerance->absolute;
        rule.relative = tolerance->relative;
        rule.equal_nans = tolerance->equal_nans ? 1 : 0;
        if (tolerance->has_distance) return rule;
    }
    if (check.special) rule.equal_nans = 1;  // this check puts infinities into inputs, so outputs may be NaNs
    if (!type.is_floating) return rule;
    const auto u = type.unit_roundoff();
    rule.tiny = type.is_half() ? type.least : 0;
    if (check.integers) {  // sums of integers are exact, but an output of 16 bits may round them
        rule.relative = type.is_half() ? u : 0;
        rule.absolute = rule.tiny;
        return rule;
    }
    rule.has_bound = true;
    rule.unit_roundoff = u;
    if (matrix.is_narrow()) {  // a sum in the wide type, rounded once to the narrow type
        rule.unit_roundoff = matrix.element->wide_roundoff;
        rule.relative = u;
        rule.share = u / (rms_lambda * rule.unit_roundoff);
    }
    rule.gamma = error_factor(terms_, rule.unit_roundoff) * (1 + rule.relative);
    rule.lambda = element_lambda * rule.unit_roundoff * (1 + rule.relative);
    return rule;
}

TypedComparison::Report TypedComparison::compare(const MatrixOperand& matrix, const Memory* value,
                                                 const Memory* magnitude, const Rule& rule) {
    void* data = matrix.memory->data();
    int type = matrix.type.number->code;
    auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
    auto [count, batch_stride, seed] = std::tuple(matrix.count, matrix.batch_stride, matrix.seed);
    long long guard = matrix.guard;
    void* values = value == nullptr ? nullptr : value->data();
    void* magnitudes = rule.has_bound ? magnitude->data() : nullptr;
    auto sent = rule;  // a copy, because arguments are pointers to non-const values
    auto terms = static_cast<double>(terms_);
    void* places_data = places_->data();
    void* errors_data = errors_->data();
    const std::array<void*, 21> arguments{
        &data,         &type,        &guard,     &rows,       &columns,         &stride,        &count,
        &batch_stride, &seed,        &values,    &magnitudes, &sent.absolute,   &sent.relative, &sent.gamma,
        &terms,        &sent.lambda, &sent.tiny, &sent.share, &sent.equal_nans, &places_data,   &errors_data};
    compare_.launch(nullptr, {.grid = {blocks_, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
    backend_.synchronize();
    std::vector<std::array<long long, 3>> places(static_cast<std::size_t>(blocks_));
    std::vector<std::array<double, 3>> errors(places.size());
    backend_.copy_to_host(std::as_writable_bytes(std::span(places)), *places_);
    backend_.copy_to_host(std::as_writable_bytes(std::span(errors)), *errors_);
    Report all;
    const auto first = [](long long a, long long b) { return b >= 0 && (a < 0 || b < a) ? b : a; };
    for (std::size_t i = 0; i < places.size(); ++i) {
        all.outside = first(all.outside, places[i][0]);
        all.wrong = first(all.wrong, places[i][1]);
        all.count += places[i][2];
        all.worst = std::max(all.worst, errors[i][0]);
        all.errors += errors[i][1];
        all.scales += errors[i][2];
    }
    return all;
}

std::optional<std::string> TypedComparison::difference(const MatrixOperand& matrix, const Memory& value,
                                                       const Memory* magnitude, const Check& check, double& worst) {
    const auto rule = rule_of(matrix, check);
    const auto report = compare(matrix, &value, magnitude, rule);
    const auto& name = matrix.argument->name;
    if (report.outside >= 0) return outside_text(matrix, report.outside) + kind_text(check);
    const auto& tolerance = matrix.argument->tolerance;
    const auto elements = matrix.count * matrix.rows * matrix.columns;
    const auto allowed = static_cast<long long>((tolerance ? tolerance->share : 0) * static_cast<double>(elements));
    if (report.count > allowed) {
        const auto first = describe(matrix, report.wrong, value, magnitude, rule) + kind_text(check);
        if (allowed == 0) return first;
        return fmt::format("{} of {} elements of {} differ, more than the {} of its tolerance; the first: {}",
                           report.count, elements, name, allowed, first);
    }
    worst = std::max(worst, report.worst);
    if (report.errors == 0 || !rule.has_bound) return std::nullopt;
    // The ratio of the sums is the ratio of the means, because the number of elements cancels out.
    const auto ratio = std::sqrt(report.errors / report.scales) / (rms_lambda * rule.unit_roundoff);
    worst = std::max(worst, ratio);
    if (ratio <= 1) return std::nullopt;
    return fmt::format(
        "{} is less precise than its type: its errors (root mean square) are {:.3g} times what rounding explains{}",
        name, ratio, matrix.is_narrow() ? "" : "; if they are right, give it a tolerance");
}

std::optional<std::string> TypedComparison::difference_without_reference(const MatrixOperand& matrix,
                                                                         const Check& check) {
    const auto report = compare(matrix, nullptr, nullptr, {});
    if (report.outside >= 0) return outside_text(matrix, report.outside) + kind_text(check);
    // A kernel that reads the output may leave its initial values as they are.
    const bool is_filled = matrix.argument->is_read;
    if (is_filled || report.count < matrix.count * matrix.rows * matrix.columns) return std::nullopt;
    return "writes nothing to " + matrix.argument->name + kind_text(check);
}

std::string TypedComparison::outside_text(const MatrixOperand& matrix, long long at) {
    const auto inside = at - matrix.guard;
    const auto index = inside / matrix.batch_stride;
    const auto row = inside % matrix.batch_stride / matrix.stride;
    const auto& name = matrix.argument->name;
    const bool behind_rows = row >= matrix.rows;
    if (inside < 0 || index >= matrix.count || (behind_rows && index + 1 == matrix.count)) {
        return "writes outside " + name;
    }
    return (behind_rows ? "writes between the matrices of " : "writes between the rows of ") + name;
}

std::string TypedComparison::describe(const MatrixOperand& matrix, long long at, const Memory& value,
                                      const Memory* magnitude, const Rule& rule) const {
    const auto& type = *matrix.type.number;
    const auto inside = at - matrix.guard;
    const auto row = inside % matrix.batch_stride / matrix.stride;
    const auto column = inside % matrix.batch_stride % matrix.stride;
    const auto place = (inside / matrix.batch_stride * matrix.rows + row) * matrix.columns + column;
    const auto got = number_text(type, bytes_at(backend_, *matrix.memory, type.bytes, at));
    const auto name = place_text(matrix, environment_, place);
    if (!type.is_floating) {
        const auto expected = number_text(type, bytes_at(backend_, value, type.bytes, place));
        const bool exact = rule.absolute == 0 && rule.relative == 0;
        return fmt::format("{} is {}, not {}{}", name, got, expected,
                           exact ? "" : fmt::format(" +- {:.3g} +- {:.3g} of it", rule.absolute, rule.relative));
    }
    const auto expected = double_at(backend_, value, place);
    if (std::isnan(expected) && rule.equal_nans == 0) {
        return fmt::format(
            "{} is {}, and the reference is NaN; if NaN is right, write tolerance = {{ equal_nans = true "
            "}}",
            name, got);
    }
    double allowed = rule.absolute + rule.relative * std::abs(expected);
    if (rule.has_bound) {
        const auto m = double_at(backend_, *magnitude, place);
        const auto scale = std::sqrt(static_cast<double>(terms_) * expected * expected + m * m);
        allowed = std::fmin(rule.gamma * m, rule.lambda * scale) + rule.relative * std::abs(expected) + rule.tiny;
    }
    if (!std::isfinite(expected)) allowed = 0;
    return fmt::format("{} is {}, not {:.9g} +- {:.3g}", name, got, expected, allowed);
}

}  // namespace smemtune
