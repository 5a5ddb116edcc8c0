#include "tuner/trial/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <tuple>

namespace smemtune {

namespace {

constexpr int most_sets = 64;  // limit for rotating operands: small problems would need thousands of sets
enum Mode : int { uniform = 0, integer = 1, special = 2, poisoned = 3 };

// A matrix without a stride argument is dense.
MatrixOperand matrix_of(const Argument& argument, const Environment& environment, const Check& check) {
    const auto shape = shape_of(argument, environment);
    MatrixOperand matrix{.argument = &argument, .rows = shape.rows, .columns = shape.columns, .count = shape.count};
    matrix.broadcast = std::ranges::count(check.broadcast, argument.name) != 0;
    if (matrix.broadcast) matrix.count = 1;
    matrix.stride = argument.stride.empty() ? matrix.columns : check.stride_of(matrix.columns);
    matrix.batch_stride = matrix.rows * matrix.stride + (argument.batch_stride.empty() ? 0 : check.batch_padding);
    return matrix;
}

// Uses floating point, so that absurd sizes do not overflow.
double elements_of(const Argument& argument, const Environment& environment) {
    const auto shape = shape_of(argument, environment);
    return static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * static_cast<double>(shape.count);
}

// Bytes of one set of matrices.
double operand_bytes(const Operation& operation, const Environment& environment, long long element_bytes) {
    double bytes = 0;
    for (const auto& argument : operation.arguments) {
        if (!argument.is_matrix()) continue;
        bytes += static_cast<double>(element_bytes) * elements_of(argument, environment);
    }
    return bytes;
}

// Bytes of all references for one check: values and magnitudes.
double reference_bytes(const Operation& operation, const Environment& environment) {
    double bytes = 0;
    for (const auto& argument : operation.arguments) {
        if (argument.kind != Argument::Kind::output) continue;
        bytes += 2.0 * sizeof(double) * elements_of(argument, environment);
    }
    return bytes;
}

// The number of rotating sets. Together they exceed twice the L2 cache.
int sets_of(double operand_bytes, const Device& device) {
    const auto wanted = 2.0 * static_cast<double>(device.l2_bytes) / operand_bytes;
    return std::clamp(static_cast<int>(std::ceil(wanted)), 1, most_sets);
}

}  // namespace

int integer_magnitude(std::int64_t terms, const Check& check, const Argument& matrix) {
    double scale = 1;
    for (const auto& [name, value] : check.scalars) scale = std::max(scale, std::abs(value));
    const auto count = static_cast<double>(std::max<std::int64_t>(terms, 1));
    if (check.wide.empty()) {  // products of two equal magnitudes; any sum of them is exact up to 2^24 terms
        return std::clamp(static_cast<int>(std::sqrt(0x1p24 / (scale * count))), 1, 8);
    }
    // An output that is added takes an eighth of the exact range; the sum takes the rest.
    if (matrix.kind == Argument::Kind::output) return static_cast<int>(0x1p21 / scale);
    if (matrix.name != check.wide) return 1;
    return std::max(1, static_cast<int>(7 * 0x1p21 / (scale * std::min(count, 8 * std::sqrt(count)))));
}

std::int64_t matrix_threads(const Device& device) {
    return device.multiprocessors * (device.is_host() ? 1 : 8) * block_threads;
}

double check_bytes(const Operation& operation, const Environment& environment, long long element_bytes) {
    return static_cast<double>(operation.checks.size()) *
           (operand_bytes(operation, environment, element_bytes) + reference_bytes(operation, environment));
}

int rotating_sets(const Operation& operation, const Environment& environment, long long element_bytes,
                  const Device& device) {
    return sets_of(operand_bytes(operation, environment, element_bytes), device);
}

double testbed_bytes(const Operation& operation, const Problem& problem, const Device& device) {
    const auto environment = environment_of(operation, problem, device);
    const auto element_bytes = element_type(problem.type).bytes;
    const auto set_bytes = operand_bytes(operation, environment, element_bytes);
    return check_bytes(operation, environment, element_bytes) + sets_of(set_bytes, device) * set_bytes;
}

void must_fit(const Operation& operation, const Problem& problem, const Device& device) {
    const auto environment = environment_of(operation, problem, device);
    const auto set_bytes = operand_bytes(operation, environment, element_type(problem.type).bytes);
    const auto bytes = set_bytes + reference_bytes(operation, environment) + sets_of(set_bytes, device) * set_bytes;
    if (device.memory_bytes == 0 || bytes <= static_cast<double>(device.memory_bytes)) return;
    throw std::invalid_argument(
        fmt::format("{} needs {:.4g} GiB to be tried (operands, and a reference in FP64); {} has {} GiB; leave it out",
                    to_text(problem), bytes / 0x1p30, device.name, device.memory_bytes >> 30));
}

OperandFactory::OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                               long long element_bytes, const Binary& fill)
    : backend_(backend),
      operation_(operation),
      environment_(environment),
      element_bytes_(element_bytes),
      terms_(operation.terms.evaluate(environment)),
      threads_(matrix_threads(backend.device())),
      guard_(fill.is_checked() ? 0 : 1024),
      kernel_(backend.load(fill, 0)),
      first_changed_(backend.allocate(static_cast<std::size_t>(threads_) * sizeof(long long))) {}

std::unique_ptr<Operands> OperandFactory::make(const Check& check, std::uint64_t operand_seed) {
    auto operands = std::make_unique<Operands>();
    const auto count = operation_.arguments.size();
    // Reserves, so that the addresses that are taken below stay valid.
    operands->extents.reserve(count);
    operands->strides.reserve(count);
    operands->scalars.reserve(count);
    operands->addresses.reserve(count);
    for (const auto& argument : operation_.arguments) {
        if (!argument.is_matrix()) continue;
        auto matrix = matrix_of(argument, environment_, check);
        matrix.seed = operand_seed + operands->matrices.size();
        matrix.guard = guard_ + check.offset;
        matrix.memory = backend_.allocate(static_cast<std::size_t>(matrix.elements() * element_bytes_));
        fill(matrix, check);
        operands->matrices.push_back(std::move(matrix));
    }
    for (const auto& argument : operation_.arguments) {
        switch (argument.kind) {
            case Argument::Kind::extent:
                operands->extents.push_back(static_cast<int>(check.extents.contains(argument.name)
                                                                 ? check.extents.at(argument.name)
                                                                 : environment_.at(argument.name)));
                operands->pointers.push_back(&operands->extents.back());
                break;
            case Argument::Kind::scalar:
                operands->scalars.push_back(static_cast<float>(check.scalars.at(argument.name)));
                operands->pointers.push_back(&operands->scalars.back());
                break;
            case Argument::Kind::stride: {
                const auto owner = std::ranges::find_if(operands->matrices, [&](const MatrixOperand& matrix) {
                    return matrix.argument->stride == argument.name;
                });
                operands->strides.push_back(owner == operands->matrices.end() ? 0 : owner->stride);
                operands->pointers.push_back(&operands->strides.back());
                break;
            }
            case Argument::Kind::batch_stride: {
                const auto owner = std::ranges::find_if(operands->matrices, [&](const MatrixOperand& matrix) {
                    return matrix.argument->batch_stride == argument.name;
                });
                const bool moves = owner != operands->matrices.end() && !owner->broadcast;
                operands->strides.push_back(moves ? owner->batch_stride : 0);
                operands->pointers.push_back(&operands->strides.back());
                break;
            }
            case Argument::Kind::input:
            case Argument::Kind::output: {
                const auto owner = std::ranges::find(operands->matrices, &argument, &MatrixOperand::argument);
                operands->addresses.push_back(owner->memory->data() + owner->guard * element_bytes_);
                operands->pointers.push_back(&operands->addresses.back());
                break;
            }
        }
    }
    return operands;
}

// With `changed`, checks the elements instead of filling them: each thread reports the first element that has changed,
// or -1.
void OperandFactory::fill(const MatrixOperand& matrix, const Check& check, Memory* changed) {
    const bool poison = matrix.argument->kind == Argument::Kind::output && check.poison;
    int mode = poison ? poisoned : check.integers ? integer : check.special ? special : uniform;
    int magnitude = integer_magnitude(terms_, check, *matrix.argument);
    void* data = matrix.memory->data();
    auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
    auto [count, batch_stride, matrix_seed] = std::tuple(matrix.count, matrix.batch_stride, matrix.seed);
    long long around = matrix.guard;
    void* report = changed == nullptr ? nullptr : changed->data();
    const std::array<void*, 11> arguments{&data,         &around, &rows,      &columns,     &stride, &count,
                                          &batch_stride, &mode,   &magnitude, &matrix_seed, &report};
    const auto blocks = threads_ / block_threads;
    kernel_->launch(nullptr, {.grid = {blocks, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
}

std::optional<std::string> OperandFactory::changed_input(const Operands& operands, const Check& check) {
    std::vector<long long> changed(static_cast<std::size_t>(threads_));
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::input) continue;
        fill(matrix, check, first_changed_.get());
        backend_.synchronize();
        backend_.copy_to_host(std::as_writable_bytes(std::span(changed)), *first_changed_);
        if (std::ranges::any_of(changed, [](long long at) { return at >= 0; })) {
            return "writes to its input " + matrix.argument->name;
        }
    }
    return std::nullopt;
}

void OperandFactory::refill_outputs(const Operands& operands, const Check& check) {
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind == Argument::Kind::output) fill(matrix, check);
    }
}

}  // namespace smemtune
