#include "tuner/trial/output_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

namespace smemtune {

namespace {

// Refers to a few elements of a memory. Copying only these is fast even if the memory is large.
class ElementView : public Memory {
public:
    ElementView(std::byte* data, std::size_t size) : data_(data), size_(size) {}
    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t size() const override { return size_; }

private:
    std::byte* data_;
    std::size_t size_;
};

template <class T>
T element_of(Backend& backend, const Memory& memory, long long index) {
    T element{};
    const ElementView view(memory.data() + index * static_cast<long long>(sizeof element), sizeof element);
    backend.copy_to_host(std::as_writable_bytes(std::span(&element, 1)), view);
    return element;
}

// The number of rounded operations that give an element of an output. 0 means that the result must be exact. If
// products of this element type have errors of their own, adds ElementType::product_terms operations for these errors.
std::int64_t terms_of(const Operation& operation, const Environment& environment, const ElementType& element) {
    const auto terms = operation.terms.evaluate(environment);
    return terms == 0 ? 0 : terms + element.product_terms;
}

constexpr long long part = 1 << 14;  // elements
constexpr long long most_parts = 16;

// Calls work(begin, count) for parts of a memory of doubles: for all of it, or for `most_parts` parts at equal
// distances, of which the last one ends at the end. Copying all numbers of a large output takes longer than computing
// them.
template <class Work>
void for_each_part(const Memory& memory, const Work& work) {
    const auto count = static_cast<long long>(memory.size() / sizeof(double));
    const auto parts = std::min(most_parts, (count + part - 1) / part);
    for (long long i = 0; i < parts; ++i) {
        const auto begin = parts == 1 ? 0 : (count - part) * i / (parts - 1);
        work(begin, static_cast<std::size_t>(std::min(part, count - begin)));
    }
}

void fill_with_unwritten(Backend& backend, const Memory& memory) {
    const std::vector<std::uint64_t> unwritten(part, unwritten_bits);
    for_each_part(memory, [&](long long begin, std::size_t count) {
        const auto bytes = std::as_bytes(std::span(unwritten).first(count));
        ElementView view(memory.data() + begin * static_cast<long long>(sizeof(double)), bytes.size());
        backend.copy_to_device(view, bytes);
    });
}

bool is_output(const MatrixOperand& matrix) { return matrix.argument->kind == Argument::Kind::output; }

}  // namespace

double error_factor(std::int64_t terms, double unit_roundoff) {
    const auto product = static_cast<double>(terms) * unit_roundoff;
    return product >= 1 ? std::numeric_limits<double>::infinity() : product / (1 - product);
}

OutputComparison::OutputComparison(Backend& backend, const Operation& operation, const Problem& problem,
                                   const Environment& environment, const Binary& reference, const Binary& compare,
                                   const Binary& widen)
    : backend_(backend),
      unit_roundoff_(element_type(problem.type).unit_roundoff),
      terms_(terms_of(operation, environment, element_type(problem.type))),
      blocks_(matrix_blocks(backend.device())),
      reference_(make_reference_source(backend, operation, environment, problem, reference, widen)),
      may_leave_out_(operation.reference.kind == OperationReference::Kind::kernel ||
                     operation.reference.kind == OperationReference::Kind::host),
      compare_(backend.load(compare, 0)),
      first_wrong_(backend.allocate(static_cast<std::size_t>(blocks_) * sizeof(long long))),
      errors_(backend.allocate(static_cast<std::size_t>(blocks_) * sizeof(Errors))) {
    if (is_typed(operation, element_type(problem.type))) {
        typed_.emplace(backend, *compare_, environment, terms_, blocks_);
    }
    if (operation.reference.is_verifier()) verifier_.emplace(backend, operation, reference);
}

double OutputComparison::bound_of(const Check& check, double value, double magnitude) const {
    if (check.integers || !std::isfinite(value)) return 0;
    const auto scale = std::sqrt(static_cast<double>(terms_) * value * value + magnitude * magnitude);
    return std::fmin(error_factor(terms_, unit_roundoff_) * magnitude, element_lambda * unit_roundoff_ * scale);
}

std::vector<OutputReference> OutputComparison::references(const Operands& operands) {
    if (verifier_) return verifier_->before(operands);
    std::vector<OutputReference> result;
    for (const auto& matrix : operands.matrices) {
        if (!is_output(matrix)) continue;
        const auto count = static_cast<std::size_t>(matrix.count * matrix.rows * matrix.columns);
        const auto& argument = *matrix.argument;
        auto& expected = result.emplace_back();
        if (!reference_) continue;
        const auto bytes =
            argument.is_integer() ? static_cast<std::size_t>(argument.type->number->bytes) : sizeof(double);
        expected.value = backend_.allocate(count * bytes);
        if (argument.has_magnitude()) expected.magnitude = backend_.allocate(count * bytes);
        if (!may_leave_out_ || argument.is_integer()) continue;  // every pattern of bits is an integer
        for (const auto* memory : {expected.value.get(), expected.magnitude.get()}) {
            if (memory != nullptr) fill_with_unwritten(backend_, *memory);
        }
    }
    if (reference_) reference_->compute(operands, result);
    return result;
}

void OutputComparison::check_references(const Operands& operands, const std::vector<OutputReference>& references,
                                        bool magnitudes) {
    if (!reference_ || verifier_) return;
    auto reference = references.begin();
    for (const auto& matrix : operands.matrices) {
        if (!is_output(matrix)) continue;
        const auto& expected = *reference++;
        const auto* const value = expected.value.get();
        const auto* const magnitude = expected.magnitude.get();
        const auto& argument = *matrix.argument;
        if (argument.is_integer()) continue;
        std::vector<double> numbers;
        const auto copy_part = [&](const Memory& memory, long long begin, std::size_t count) {
            numbers.resize(count);
            const auto bytes = std::as_writable_bytes(std::span(numbers));
            const ElementView view(memory.data() + begin * static_cast<long long>(sizeof(double)), bytes.size());
            backend_.copy_to_host(bytes, view);
        };
        const auto refuse_unwritten = [&](const Memory& memory, const char* name) {
            for_each_part(memory, [&](long long begin, std::size_t count) {
                copy_part(memory, begin, count);
                for (std::size_t i = 0; i < count; ++i) {
                    if (std::bit_cast<std::uint64_t>(numbers[i]) != unwritten_bits) continue;
                    throw ReferenceError(
                        fmt::format("the reference does not write the {} of element {} of {}; it must write, not add "
                                    "to, every element",
                                    name, begin + static_cast<long long>(i), argument.name));
                }
            });
        };
        if (may_leave_out_) refuse_unwritten(*value, "value");
        if (may_leave_out_ && magnitude != nullptr) refuse_unwritten(*magnitude, "magnitude");
        if (magnitude == nullptr || !magnitudes) continue;
        for_each_part(*magnitude, [&](long long begin, std::size_t count) {
            copy_part(*magnitude, begin, count);
            for (std::size_t i = 0; i < count; ++i) {
                if (numbers[i] >= 0 && std::isfinite(numbers[i])) continue;
                const auto at = begin + static_cast<long long>(i);
                if (!std::isfinite(element_of<double>(backend_, *value, at))) continue;
                throw ReferenceError(fmt::format(
                    "the reference gives element {} of {} the magnitude {}; a magnitude must be a finite number of at "
                    "least 0: write the sum of the absolute values of all terms, or give argument '{}' a tolerance",
                    at, argument.name, numbers[i], argument.name));
            }
        });
    }
}

std::optional<std::string> OutputComparison::first_difference(const Operands& operands,
                                                              const std::vector<OutputReference>& references,
                                                              const Check& check, double& worst) {
    std::vector<long long> wrong(static_cast<std::size_t>(blocks_));
    std::vector<Errors> reports(wrong.size());
    auto expected = references.begin();
    for (const auto& matrix : operands.matrices) {
        if (!is_output(matrix)) continue;
        if (typed_) {
            const auto& its = *expected++;
            auto reason = its.value && !verifier_
                              ? typed_->difference(matrix, *its.value, its.magnitude.get(), check, worst)
                              : typed_->difference_without_reference(matrix, check);
            if (reason) return reason;
            continue;
        }
        void* data = matrix.memory->data();
        auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
        auto [count, batch_stride] = std::tuple(matrix.count, matrix.batch_stride);
        long long guard = matrix.guard;
        auto seed = matrix.seed;
        void* value = expected->value->data();
        void* magnitude = expected->magnitude->data();
        double gamma = check.integers ? 0 : error_factor(terms_, unit_roundoff_);
        auto terms = static_cast<double>(terms_);
        double lambda = element_lambda * unit_roundoff_;
        void* wrong_data = first_wrong_->data();
        void* errors_data = errors_->data();
        const std::array<void*, 15> arguments{&data,  &guard,        &rows,   &columns,    &stride,
                                              &count, &batch_stride, &seed,   &value,      &magnitude,
                                              &gamma, &terms,        &lambda, &wrong_data, &errors_data};
        compare_->launch(nullptr, {.grid = {blocks_, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
        backend_.synchronize();
        backend_.copy_to_host(std::as_writable_bytes(std::span(wrong)), *first_wrong_);
        backend_.copy_to_host(std::as_writable_bytes(std::span(reports)), *errors_);
        std::erase(wrong, -1);
        if (!wrong.empty()) return describe(matrix, std::ranges::min(wrong), *expected, check);
        wrong.resize(reports.size());
        if (auto reason = imprecise(reports, matrix.argument->name, worst)) return reason;
        ++expected;
    }
    return verifier_ ? verifier_->judgement(operands, references) : std::nullopt;
}

std::optional<std::string> OutputComparison::imprecise(const std::vector<Errors>& reports, const std::string& output,
                                                       double& worst) const {
    Errors all;
    for (const auto& each : reports) {
        all.worst = std::max(all.worst, each.worst);
        all.errors += each.errors;
        all.scales += each.scales;
    }
    worst = std::max(worst, std::sqrt(all.worst));
    if (all.errors == 0) return std::nullopt;
    // The ratio of the sums is the ratio of the means, because the number of elements cancels out.
    const auto ratio = std::sqrt(all.errors / all.scales) / (rms_lambda * unit_roundoff_);
    worst = std::max(worst, ratio);
    if (ratio <= 1) return std::nullopt;
    return fmt::format(
        "{} is less precise than its type: its errors (root mean square) are {:.3g} times what rounding explains",
        output, ratio);
}

std::string OutputComparison::describe(const MatrixOperand& matrix, long long at, const OutputReference& expected,
                                       const Check& check) {
    const auto inside = at - matrix.guard;
    const auto index = inside / matrix.batch_stride;
    const auto row = inside % matrix.batch_stride / matrix.stride;
    const auto column = inside % matrix.batch_stride % matrix.stride;
    const auto& name = matrix.argument->name;
    const std::string kind = check.integers  ? " (integer inputs)"
                             : check.special ? " (inputs with zeros and infinities)"
                                             : " (uniform inputs)";
    const bool behind_rows = row >= matrix.rows;
    if (inside < 0 || index >= matrix.count || (behind_rows && index + 1 == matrix.count)) {
        return "writes outside " + name + kind;
    }
    if (behind_rows) return "writes between the matrices of " + name + kind;
    if (column >= matrix.columns) return "writes between the rows of " + name + kind;
    const auto element = (index * matrix.rows + row) * matrix.columns + column;
    const auto got = element_of<float>(backend_, *matrix.memory, at);
    const auto value = element_of<double>(backend_, *expected.value, element);
    const auto bound = bound_of(check, value, element_of<double>(backend_, *expected.magnitude, element));
    const auto batch = matrix.argument->count == Expression("1") ? "" : std::to_string(index) + ",";
    return fmt::format("{}[{}{},{}] is {:.9g}, not {:.9g} +- {:.3g}{}", name, batch, row, column, got, value, bound,
                       kind);
}

}  // namespace smemtune
