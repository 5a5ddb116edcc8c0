#include "tuner/trial/typed/typed_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "tuner/trial/operands.h"

namespace smemtune {

namespace {

TypedFill fill_of(const ArgumentValues& values, bool is_integer, const Environment& environment) {
    const auto first = values.first.value(environment);
    const auto second = values.second.value(environment);
    const int uniform = is_integer ? TypedFill::integers : TypedFill::uniform;
    switch (values.kind) {
        case ArgumentValues::Kind::uniform: return {uniform, first, second};
        case ArgumentValues::Kind::normal: return {TypedFill::normal, first, second};
        case ArgumentValues::Kind::constant: return {uniform, first, first};
        case ArgumentValues::Kind::sorted: return {TypedFill::sorted, 0, second};
        case ArgumentValues::Kind::file: return {TypedFill::copied, 0, 0};
        // The array has zeros until `prepare` computes its values.
        case ArgumentValues::Kind::prepared: return {uniform, 0, 0};
        case ArgumentValues::Kind::permutation: break;
    }
    return {TypedFill::permutation, 0, 0};
}

// The largest magnitude of integers for which a sum of `terms` products is exact in FP32, or in the argument's own type
// if that has 16 bits. The counterpart for untyped operations is integer_magnitude().
double exact_magnitude(const Argument& argument, const Check& check, std::int64_t terms) {
    double scale = 1;
    for (const auto& [name, value] : check.scalars) scale = std::max(scale, std::abs(value));
    const bool is_half = argument.type && argument.type->number->is_half();
    const auto most = std::ldexp(1.0, is_half ? argument.type->number->significand_bits : 24);
    return std::clamp(std::floor(std::sqrt(most / (scale * static_cast<double>(std::max<std::int64_t>(terms, 1))))),
                      1.0, 8.0);
}

// The largest magnitude of the integers that fill a matrix of a narrow type, whose products are summed in a wider type.
// Up to this magnitude, the wide type represents every partial sum exactly, the narrow type represents every input
// exactly, and no result overflows the narrow type. Partial sums are bounded as in integer_magnitude().
double narrow_magnitude(const MatrixOperand& matrix, const Check& check, std::int64_t terms) {
    double scale = 1;
    for (const auto& [name, value] : check.scalars) scale = std::max(scale, std::abs(value));
    const auto& type = *matrix.type.number;
    const auto count = static_cast<double>(std::max<std::int64_t>(terms, 1));
    const auto most = std::min(0x1p24, type.name == "f16" ? 65504.0 : 0x1p24);
    const auto sums = scale * std::min(count, 8 * std::sqrt(count));
    const bool is_input = matrix.argument->kind == Argument::Kind::input;
    const auto exact = std::ldexp(1.0, is_input ? matrix.element->input_bits : type.significand_bits);
    double magnitude = 1;
    if (check.wide.empty()) {
        magnitude = std::min(8.0, std::sqrt(most / sums));
    } else if (matrix.argument->kind == Argument::Kind::output) {
        magnitude = most / 8 / scale;
    } else if (matrix.argument->name == check.wide) {
        magnitude = 7 * most / 8 / sums;
    }
    return std::clamp(std::floor(magnitude), 1.0, exact);
}

}  // namespace

TypedFill fill_of(const MatrixOperand& matrix, const Check& check, const Environment& environment, std::int64_t terms) {
    const auto& argument = *matrix.argument;
    const bool is_output = argument.kind == Argument::Kind::output;
    // The kernel may read an output if the manifest says so. It may also read an output of narrow elements in a check
    // that does not fill outputs with NaNs.
    if (is_output && !argument.is_read && (!matrix.is_narrow() || check.poison)) return {TypedFill::poisoned, 0, 0};
    if (argument.values) return fill_of(*argument.values, argument.is_integer(), environment);
    if (check.special) return {TypedFill::special, 0, 0};
    if (!check.integers) return {};
    const auto magnitude =
        matrix.is_narrow() ? narrow_magnitude(matrix, check, terms) : exact_magnitude(argument, check, terms);
    return {TypedFill::integers, -magnitude, magnitude};
}

TypedFill fill_of(const NumberType& type, OutputContent content) {
    if (content == OutputContent::nans) return {TypedFill::poisoned, 0, 0};
    const bool is_negative = content == OutputContent::negative;
    if (!type.is_floating) {
        const auto value = is_negative ? type.least : type.most;
        return {TypedFill::integers, value, value};
    }
    const auto large = type.name == "f16" ? 6e4 : 1e38;  // 1e38 is finite in every type but f16
    const auto value = is_negative ? -large : large;
    return {TypedFill::uniform, value, value};
}

void check_values(const Operation& operation, const Environment& environment, const std::string& problem) {
    if (const auto terms = operation.terms.evaluate(environment); terms < 0) {
        throw std::invalid_argument(fmt::format(
            "{}: 'terms' of operation '{}' is {}; write the number of rounded operations that give one output element, "
            "or \"0\" if the result must be exact",
            problem, operation.name, terms));
    }
    const auto check_file = [&](const Argument& argument, double elements, const std::string& path,
                                const DataFile& data) {
        const auto numbers = elements * static_cast<double>(argument.type ? argument.type->lanes : 1);
        if (numbers == static_cast<double>(data.count)) return;
        throw std::invalid_argument(fmt::format(
            "{}: argument '{}' has {} numbers, its file {} has {}; choose the size that the file was made for", problem,
            argument.name, numbers, path, data.count));
    };
    const auto check_size = [&](const Argument& argument, std::int64_t size) {
        if (size >= 1) return;
        throw std::invalid_argument(
            fmt::format("{}: argument '{}' has a dimension of {}; change its shape, or exclude the "
                        "size or configuration",
                        problem, argument.name, size));
    };
    for (const auto& argument : operation.arguments) {
        if (argument.is_matrix()) {
            const auto shape = shape_of(argument, environment);
            for (const auto size : {shape.rows, shape.columns, shape.count}) check_size(argument, size);
            for (const auto& extent : argument.shape) check_size(argument, extent.evaluate(environment));
        }
        const auto answer = operation.reference.answers.find(argument.name);
        if (answer != operation.reference.answers.end()) {
            check_file(argument, elements_of(argument, environment), answer->second.path, answer->second.data);
        }
        if (!argument.values) continue;
        const auto fail = [&](const std::string& what) {
            throw std::invalid_argument(
                fmt::format("{}: the values of argument '{}' {}; change its 'values' or its "
                            "type",
                            problem, argument.name, what));
        };
        const auto elements = elements_of(argument, environment);
        if (const auto& data = argument.values->data) check_file(argument, elements, argument.values->path, *data);
        const bool is_prepared = argument.values->kind == ArgumentValues::Kind::prepared;
        if (!argument.is_integer() || is_prepared) continue;
        const auto& number = *argument.type->number;
        const auto how = fill_of(*argument.values, true, environment);
        const auto last = how.mode == TypedFill::permutation ? elements - 1 : how.second;
        if (how.first > last) fail(fmt::format("are {} to {}, a range without a number", how.first, last));
        for (const auto value : {how.first, last}) {
            if (!number.holds(value)) fail(fmt::format("reach {}, which {} does not have", value, number.name));
        }
    }
}

void fill_typed(const LoadedKernel& kernel, const MatrixOperand& matrix, const TypedFill& how, std::int64_t blocks,
                const Memory* source, const Memory* changed) {
    void* data = matrix.memory->data();
    int type = matrix.type.number->code;
    auto [mode, first, second] = how;
    auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
    auto [count, batch_stride, seed] = std::tuple(matrix.count, matrix.batch_stride, matrix.seed);
    long long guard = matrix.guard;
    // Narrow inputs get only as many significant bits as a product uses. A tf32 number has more bits than that in
    // memory.
    const bool is_narrow_input = matrix.is_narrow() && matrix.argument->kind == Argument::Kind::input;
    int bits = is_narrow_input ? matrix.element->input_bits : 53;
    void* numbers = source == nullptr ? nullptr : source->data();
    void* report = changed == nullptr ? nullptr : changed->data();
    const std::array<void*, 15> arguments{&data, &type,  &guard,  &rows, &columns, &stride,  &count, &batch_stride,
                                          &mode, &first, &second, &seed, &bits,    &numbers, &report};
    kernel.launch(nullptr, {.grid = {blocks, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
}

}  // namespace smemtune
