#include "tuner/trial/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <tuple>

#include "templates/reference/reference_section.h"
#include "tuner/trial/reference/host_arrays.h"
#include "tuner/trial/reference/user_program.h"
#include "tuner/trial/typed/typed_fill.h"

namespace smemtune {

namespace {

constexpr int most_sets = 64;  // limits the sets of rotating operands: small problems would need thousands
enum Mode : int { uniform = 0, integer = 1, special = 2, poisoned = 3 };

// Returns the size of one set of matrices in bytes, including the copies of the values that `prepare` computes.
double operand_bytes(const Operation& operation, const Environment& environment, long long element_bytes) {
    double bytes = 0;
    for (const auto& argument : operation.arguments) {
        if (!argument.is_matrix()) continue;
        const auto each = argument.type ? argument.type->bytes() : element_bytes;
        const bool is_prepared = argument.values && argument.values->kind == ArgumentValues::Kind::prepared;
        bytes += (is_prepared ? 2 : 1) * static_cast<double>(each) * elements_of(argument, environment);
    }
    return bytes;
}

// Returns the size of an element's reference in bytes: a value, and m of tolerance.h if the output has a magnitude.
std::int64_t reference_bytes_of(const Argument& output) {
    if (output.is_integer()) return output.type->bytes();
    const auto lanes = output.type ? output.type->lanes : 1;
    return lanes * static_cast<std::int64_t>(sizeof(double)) * (output.has_magnitude() ? 2 : 1);
}

// Returns the size of all references for one check in bytes.
double reference_bytes(const Operation& operation, const Environment& environment) {
    double bytes = 0;
    for (const auto& argument : operation.arguments) {
        if (argument.kind != Argument::Kind::output) continue;
        bytes += static_cast<double>(reference_bytes_of(argument)) * elements_of(argument, environment);
    }
    return bytes;
}

// Returns the size of the FP32 copies of narrow operands in bytes. The copies exist while the reference is computed.
double widened_bytes(const Operation& operation, const Environment& environment, const ElementType& element) {
    return element.is_narrow() ? operand_bytes(operation, environment, element_type(element.wide).bytes) : 0;
}

// Computes the same as mix() in kernels/around.h.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Returns a magnitude m with which kernels/fill.cu fills a matrix with large integers. The kernel computes an element
// as word % (2 m + 1) - m, where word is a random number below 2^31.
// - With a negative m, the elements are from -m to -3 m - 2, so all of them are positive.
// - With a positive m, they are from -m to m. Here, m is chosen so that the first element is at most -m / 4.
int large_magnitude(OutputContent content, std::uint64_t seed) {
    if (content == OutputContent::large) return -(1 << 29);
    const auto word = static_cast<int>(mix(seed + mix(0)) >> 33);
    int magnitude = (1 << 30) - 1;
    while (word % (2 * magnitude + 1) - magnitude > -magnitude / 4) magnitude -= std::max(1, magnitude / 16);
    return magnitude;
}

// The number of rotating sets: enough to fill the L2 cache twice, but at most most_sets.
int sets_of(double operand_bytes, const Device& device) {
    const auto wanted = 2.0 * static_cast<double>(device.l2_bytes) / operand_bytes;
    return std::clamp(static_cast<int>(std::ceil(wanted)), 1, most_sets);
}

}  // namespace

double elements_of(const Argument& argument, const Environment& environment) {
    const auto shape = shape_of(argument, environment);
    return static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * static_cast<double>(shape.count);
}

int integer_magnitude(std::int64_t terms, const Check& check, const Argument& matrix) {
    double scale = 1;
    for (const auto& [name, value] : check.scalars) scale = std::max(scale, std::abs(value));
    const auto count = static_cast<double>(std::max<std::int64_t>(terms, 1));
    if (check.wide.empty()) {  // all matrices have magnitude m; sums are exact if scale * count * m * m <= 2^24
        return std::clamp(static_cast<int>(std::sqrt(0x1p24 / (scale * count))), 1, 8);
    }
    // FP32 holds integers up to 2^24 exactly. The initial values of an output take an eighth of this range. The
    // products take the rest.
    if (matrix.kind == Argument::Kind::output) return static_cast<int>(0x1p21 / scale);
    if (matrix.name != check.wide) return 1;
    return std::max(1, static_cast<int>(7 * 0x1p21 / (scale * std::min(count, 8 * std::sqrt(count)))));
}

bool is_typed(const Operation& operation, const ElementType& element) { return operation.typed || element.is_narrow(); }

std::int64_t matrix_blocks(const Device& device) { return device.multiprocessors * (device.is_host() ? 1 : 8); }

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
    return check_bytes(operation, environment, element_bytes) + sets_of(set_bytes, device) * set_bytes +
           widened_bytes(operation, environment, element_type(problem.type));
}

bool reads_outputs(const Operation& operation, const Check& check) {
    return !check.poison || std::ranges::any_of(operation.arguments, &Argument::is_read);
}

bool fills_outputs_again(const Operation& operation) {
    return operation.reference.kind != OperationReference::Kind::none &&
           std::ranges::all_of(operation.checks, &Check::poison) &&
           std::ranges::any_of(operation.arguments, [](const Argument& argument) {
               return argument.kind == Argument::Kind::output && !argument.is_read;
           });
}

void must_fit(const Operation& operation, const Problem& problem, const Device& device) {
    const auto environment = environment_of(operation, problem, device);
    check_values(operation, environment, to_text(problem));
    const auto& element = element_type(problem.type);
    const auto set_bytes = operand_bytes(operation, environment, element.bytes);
    const auto bytes = set_bytes + reference_bytes(operation, environment) + sets_of(set_bytes, device) * set_bytes +
                       widened_bytes(operation, environment, element);
    if (device.memory_bytes == 0 || bytes <= static_cast<double>(device.memory_bytes)) return;
    throw std::invalid_argument(
        fmt::format("{} needs {:.4g} GiB to be tried (operands, and a reference in FP64); {} has {} GiB; leave it out",
                    to_text(problem), bytes / 0x1p30, device.name, device.memory_bytes >> 30));
}

OperandFactory::OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                               const ElementType& element, const Binary& fill, const Binary& prepare)
    : backend_(backend),
      operation_(operation),
      environment_(environment),
      element_(element),
      terms_(operation.terms.evaluate(environment)),
      blocks_(matrix_blocks(backend.device())),
      guard_(fill.is_checked() ? 0 : 1024),
      kernel_(backend.load(fill, 0)),
      first_changed_(backend.allocate(static_cast<std::size_t>(blocks_) * sizeof(long long))) {
    if (!operation.prepare_path.empty()) {
        prepare_ = std::make_unique<UserProgram>(backend, operation, prepare, is_host_source(operation.prepare_path));
    }
    for (const auto& argument : operation_.arguments) {
        if (!argument.values || !argument.values->data) continue;
        const auto& bytes = argument.values->data->bytes;
        auto& memory = sources_[&argument] = backend.allocate(bytes.size());
        backend.copy_to_device(*memory, std::as_bytes(std::span(bytes)));
    }
}

OperandFactory::~OperandFactory() = default;

// A matrix without a stride argument is dense.
MatrixOperand OperandFactory::matrix_of(const Argument& argument, const Check& check) const {
    const auto shape = shape_of(argument, environment_);
    const auto type = type_of(argument, element_.name);
    MatrixOperand matrix{.argument = &argument,
                         .type = type,
                         .rows = shape.rows,
                         .columns = shape.columns * type.lanes,
                         .count = shape.count};
    matrix.element = &element_;
    matrix.broadcast = std::ranges::count(check.broadcast, argument.name) != 0;
    if (matrix.broadcast) matrix.count = 1;
    matrix.stride = (argument.stride.empty() ? shape.columns : check.stride_of(shape.columns)) * type.lanes;
    matrix.batch_stride =
        matrix.rows * matrix.stride + (argument.batch_stride.empty() ? 0 : check.batch_padding * type.lanes);
    return matrix;
}

// The value of an extent, stride or scalar.
double OperandFactory::number_of(const Argument& argument, const Operands& operands, const Check& check) const {
    const auto owner = [&](std::string Argument::*stride) -> const MatrixOperand* {
        const auto found = std::ranges::find_if(
            operands.matrices, [&](const MatrixOperand& matrix) { return matrix.argument->*stride == argument.name; });
        return found == operands.matrices.end() ? nullptr : &*found;
    };
    switch (argument.kind) {
        case Argument::Kind::extent:
            return static_cast<double>(check.extents.contains(argument.name) ? check.extents.at(argument.name)
                                                                             : environment_.at(argument.name));
        case Argument::Kind::stride: {
            const auto* matrix = owner(&Argument::stride);
            const auto elements = matrix == nullptr ? 0 : matrix->stride / matrix->type.lanes;
            return static_cast<double>(elements);
        }
        case Argument::Kind::batch_stride: {
            const auto* matrix = owner(&Argument::batch_stride);
            const bool moves = matrix != nullptr && !matrix->broadcast;
            const auto elements = moves ? matrix->batch_stride / matrix->type.lanes : 0;
            return static_cast<double>(elements);
        }
        default: return check.scalars.at(argument.name);
    }
}

std::unique_ptr<Operands> OperandFactory::make(const Check& check, std::uint64_t operand_seed,
                                               std::uint64_t symbol_seed) {
    auto operands = std::make_unique<Operands>();
    const auto count = operation_.arguments.size();
    // Memory is reserved, because a reallocation would invalidate the addresses that are taken below.
    operands->numbers.reserve(count);
    operands->addresses.reserve(count);
    for (const auto& argument : operation_.arguments) {
        if (!argument.is_matrix()) continue;
        auto matrix = matrix_of(argument, check);
        matrix.seed = (argument.symbol.empty() ? operand_seed : symbol_seed) + operands->matrices.size();
        matrix.guard = (guard_ + check.offset) * matrix.type.lanes;
        matrix.memory = backend_.allocate(static_cast<std::size_t>(matrix.bytes()));
        fill(matrix, check);
        operands->matrices.push_back(std::move(matrix));
    }
    for (const auto& argument : operation_.arguments) {
        if (argument.is_matrix()) {
            const auto owner = std::ranges::find(operands->matrices, &argument, &MatrixOperand::argument);
            operands->addresses.push_back(owner->memory->data() + owner->guard * owner->type.number->bytes);
            operands->pointers.push_back(&operands->addresses.back());
            continue;
        }
        auto& number = operands->numbers.emplace_back();
        store_number(*type_of(argument, element_.name).number, number_of(argument, *operands, check), number.bytes);
        operands->pointers.push_back(number.bytes.data());
    }
    for (const auto& [name, value] : operation_.parameters) {
        operands->parameters.push_back(static_cast<int>(environment_.at(name)));
    }
    if (prepare_) prepare(*operands, check);
    return operands;
}

// Runs the program that computes inputs, and keeps copies of its results. Later, the arrays are refilled from these
// copies and compared with them.
void OperandFactory::prepare(Operands& operands, const Check& check) {
    prepare_->call(operands, {});
    for (auto& matrix : operands.matrices) {
        const auto& values = matrix.argument->values;
        if (!values || values->kind != ArgumentValues::Kind::prepared) continue;
        const auto numbers = dense_numbers(matrix, host_copy(backend_, *matrix.memory));
        matrix.prepared = backend_.allocate(numbers.size());
        backend_.copy_to_device(*matrix.prepared, numbers);
    }
    const auto changed = first_changed(operands, check, true);
    if (!changed) return;
    throw ReferenceError("'prepare' writes to " + *changed +
                         ", or outside it; it may write only to arguments with values = { prepared = true }");
}

// Fills a matrix. If `changed` is not null, leaves the matrix as it is, and compares it with the values that a fill
// would write. Each block then writes to `changed` the index of its first element that differs, or -1 if none does.
void OperandFactory::fill(const MatrixOperand& matrix, const Check& check, OutputContent content, Memory* changed) {
    if (is_typed(operation_, element_)) {
        auto how = fill_of(matrix, check, environment_, terms_);
        if (how.mode == TypedFill::poisoned) how = fill_of(*matrix.type.number, content);
        const auto file = sources_.find(matrix.argument);
        const auto* source = file == sources_.end() ? matrix.prepared.get() : file->second.get();
        return fill_typed(*kernel_, matrix, source != nullptr ? TypedFill{TypedFill::copied, 0, 0} : how, blocks_,
                          source, changed);
    }
    const bool poison = matrix.argument->kind == Argument::Kind::output && check.poison;
    const bool is_large = poison && content != OutputContent::nans;
    int mode = is_large ? integer : poison ? poisoned : check.integers ? integer : check.special ? special : uniform;
    int magnitude =
        is_large ? large_magnitude(content, matrix.seed) : integer_magnitude(terms_, check, *matrix.argument);
    void* data = matrix.memory->data();
    auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
    auto [count, batch_stride, matrix_seed] = std::tuple(matrix.count, matrix.batch_stride, matrix.seed);
    long long around = matrix.guard;
    void* report = changed == nullptr ? nullptr : changed->data();
    const std::array<void*, 11> arguments{&data,         &around, &rows,      &columns,     &stride, &count,
                                          &batch_stride, &mode,   &magnitude, &matrix_seed, &report};
    kernel_->launch(nullptr, {.grid = {blocks_, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
}

std::optional<std::string> OperandFactory::changed_input(const Operands& operands, const Check& check) {
    const auto changed = first_changed(operands, check, false);
    return changed ? std::optional("writes to its input " + *changed) : std::nullopt;
}

// Returns the name of the first input that has changed since it was filled. If `inouts` is true, outputs are
// compared, too.
std::optional<std::string> OperandFactory::first_changed(const Operands& operands, const Check& check, bool inouts) {
    std::vector<long long> changed(static_cast<std::size_t>(blocks_));
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::input && !inouts) continue;
        fill(matrix, check, OutputContent::nans, first_changed_.get());
        backend_.synchronize();
        backend_.copy_to_host(std::as_writable_bytes(std::span(changed)), *first_changed_);
        if (std::ranges::any_of(changed, [](long long at) { return at >= 0; })) return matrix.argument->name;
    }
    return std::nullopt;
}

void OperandFactory::refill_outputs(const Operands& operands, const Check& check, OutputContent content) {
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind == Argument::Kind::output) fill(matrix, check, content);
    }
}

void OperandFactory::restore(const Operands& operands, const Check& check) {
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->is_restored) fill(matrix, check);
    }
}

}  // namespace smemtune
