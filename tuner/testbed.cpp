#include "tuner/testbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>

namespace smemtune {

/// fill.cu and compare.cu, as they were when the program was built.
const std::map<std::string, std::string>& testbed_sources();

namespace {

constexpr long long guard = 1024;  // elements before and after each matrix
constexpr int most_sets = 64;      // of rotating operands: small problems would need thousands
constexpr std::int64_t block_threads = 256;
enum Mode : int { uniform = 0, integer = 1, poisoned = 2 };

Binary must_compile(const Compiler& compiler, const Program& program) {
    auto result = compiler.compile(program);
    if (const auto* rejection = std::get_if<Rejection>(&result)) {
        throw CompilerError(program.source_path + " does not compile: " + rejection->reason);
    }
    return std::get<Binary>(std::move(result));
}

// Integers so small that the sums of `terms` products are exact in an Element, whatever the order. Beyond 2^24 terms
// that cannot be promised, but partial sums of -1, 0 and 1 grow as the square root, and stay exact too.
int integer_magnitude(std::int64_t terms, const Check& check) {
    double scale = 1;
    for (const auto& [name, value] : check.scalars) scale = std::max(scale, std::abs(value));
    const auto most = std::sqrt(0x1p24 / (scale * static_cast<double>(std::max<std::int64_t>(terms, 1))));
    return std::clamp(static_cast<int>(most), 1, 8);
}

// The matrices of one argument: `count` of them in memory, `batch_stride` elements apart.
struct Matrix {
    const Argument* argument = nullptr;
    long long rows = 0, columns = 0, stride = 0, count = 0, batch_stride = 0;
    bool broadcast = false;  // there is one for the whole batch, and kernels get 0 as its batch stride
    std::unique_ptr<Memory> memory;
    std::uint64_t seed = 0;

    [[nodiscard]] long long elements() const { return 2 * guard + count * batch_stride; }
};

// A matrix without an argument for its strides is dense.
Matrix matrix_of(const Argument& argument, const Environment& environment, const Check& check) {
    const auto shape = shape_of(argument, environment);
    Matrix matrix{.argument = &argument, .rows = shape.rows, .columns = shape.columns, .count = shape.count};
    matrix.broadcast = std::ranges::count(check.broadcast, argument.name) != 0;
    if (matrix.broadcast) matrix.count = 1;
    matrix.stride = matrix.columns + (argument.stride.empty() ? 0 : check.padding);
    matrix.batch_stride = matrix.rows * matrix.stride + (argument.batch_stride.empty() ? 0 : check.batch_padding);
    return matrix;
}

// One set of operands for one check. Values live here: a launch takes their addresses.
struct Operands {
    std::vector<Matrix> matrices;  // in the order of the operation's arguments
    std::vector<int> extents;
    std::vector<long long> strides;
    std::vector<float> scalars;
    std::vector<void*> addresses;
    std::vector<void*> pointers;  // what a launch takes: one for each argument
};

struct Reference {
    std::unique_ptr<Memory> value, magnitude;
};

struct Prepared {
    std::unique_ptr<Operands> operands;
    std::vector<Reference> references;  // one for each output
};

// In floating point: what no memory could hold must not overflow.
double elements_of(const Argument& argument, const Environment& environment) {
    const auto shape = shape_of(argument, environment);
    return static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * static_cast<double>(shape.count);
}

// Of one set of matrices.
double operand_bytes(const Operation& operation, const Environment& environment, long long element_bytes) {
    double bytes = 0;
    for (const auto& argument : operation.arguments) {
        if (!argument.is_matrix()) continue;
        bytes += static_cast<double>(element_bytes) * elements_of(argument, environment);
    }
    return bytes;
}

// Of values and magnitudes of every output, for one check.
double reference_bytes(const Operation& operation, const Environment& environment) {
    double bytes = 0;
    for (const auto& argument : operation.arguments) {
        if (argument.kind != Argument::Kind::output) continue;
        bytes += 2.0 * sizeof(double) * elements_of(argument, environment);
    }
    return bytes;
}

double check_bytes(const Operation& operation, const Environment& environment, long long element_bytes) {
    return static_cast<double>(operation.checks.size()) *
           (operand_bytes(operation, environment, element_bytes) + reference_bytes(operation, environment));
}

// To rotate over: together more than twice the L2 cache.
int sets_of(double operand_bytes, const Device& device) {
    const auto wanted = 2.0 * static_cast<double>(device.l2_bytes) / operand_bytes;
    return std::clamp(static_cast<int>(std::ceil(wanted)), 1, most_sets);
}

}  // namespace

struct Testbed::State {
    Backend& backend;
    Operation operation;
    Problem problem;
    Environment environment;
    std::uint64_t seed;
    double unit_roundoff;
    std::int64_t terms;
    long long element_bytes;
    std::unique_ptr<LoadedKernel> reference, fill, compare;
    std::unique_ptr<Memory> first_wrong, worst;
    std::int64_t compare_threads = 0;
    std::vector<std::optional<Prepared>> prepared;  // one for each check
    bool keep_all = true;                           // false: they do not fit beside one another
    std::vector<std::unique_ptr<Operands>> sets;    // further operands to rotate over
    std::size_t next_set = 0;
    Cache cache = Cache::cold;

    std::unique_ptr<Operands> make_operands(const Check& check, std::uint64_t operand_seed);
    void fill_matrix(const Matrix& matrix, const Check& check, Memory* changed = nullptr);
    std::optional<std::string> changed_input(const Operands& operands, const Check& check);
    void refill_outputs(const Operands& operands, const Check& check);
    Prepared prepare(const Check& check);
    [[nodiscard]] int rotating_sets() const;
    std::optional<std::string> compare_outputs(const Prepared& of, const Check& check, double& most);
    std::string describe(const Matrix& matrix, long long at, const Reference& expected, const Check& check);
};

double error_factor(std::int64_t terms, double unit_roundoff) {
    const auto product = static_cast<double>(terms) * unit_roundoff;
    return product >= 1 ? std::numeric_limits<double>::infinity() : product / (1 - product);
}

TestbedBinaries compile_testbed(const Compiler& compiler, const KernelTemplate& kernel_template,
                                const Problem& problem) {
    const auto reference = reference_program(kernel_template, problem);
    const auto begin = [&](const std::string& entry) {
        auto program = reference;
        program.files.insert(testbed_sources().begin(), testbed_sources().end());
        program.entry = entry;
        program.source_path = "kernels/" + entry + ".cu";
        return std::async(std::launch::async, [&compiler, program] { return must_compile(compiler, program); });
    };
    auto fill = begin("fill");
    auto compare = begin("compare");
    return {.reference = must_compile(compiler, reference), .fill = fill.get(), .compare = compare.get()};
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

namespace {

// The call owns the values of its run-time arguments, and stays good when it is moved.
Backend::Call call_of(const LoadedKernel& kernel, const Launch& launch, const std::vector<void*>& pointers) {
    Backend::Call call{&kernel, launch, pointers};
    for (auto& value : call.launch.runtime_arguments) call.arguments.push_back(&value);
    return call;
}

}  // namespace

std::unique_ptr<Operands> Testbed::State::make_operands(const Check& check, std::uint64_t operand_seed) {
    auto operands = std::make_unique<Operands>();
    const auto count = operation.arguments.size();
    // Reserved, so that the addresses taken below stay good.
    operands->extents.reserve(count);
    operands->strides.reserve(count);
    operands->scalars.reserve(count);
    operands->addresses.reserve(count);
    for (const auto& argument : operation.arguments) {
        if (!argument.is_matrix()) continue;
        auto matrix = matrix_of(argument, environment, check);
        matrix.seed = operand_seed + operands->matrices.size();
        matrix.memory = backend.allocate(static_cast<std::size_t>(matrix.elements() * element_bytes));
        fill_matrix(matrix, check);
        operands->matrices.push_back(std::move(matrix));
    }
    for (const auto& argument : operation.arguments) {
        switch (argument.kind) {
            case Argument::Kind::extent:
                operands->extents.push_back(static_cast<int>(environment.at(argument.name)));
                operands->pointers.push_back(&operands->extents.back());
                break;
            case Argument::Kind::scalar:
                operands->scalars.push_back(static_cast<float>(check.scalars.at(argument.name)));
                operands->pointers.push_back(&operands->scalars.back());
                break;
            case Argument::Kind::stride: {
                const auto owner = std::ranges::find_if(
                    operands->matrices, [&](const Matrix& matrix) { return matrix.argument->stride == argument.name; });
                operands->strides.push_back(owner == operands->matrices.end() ? 0 : owner->stride);
                operands->pointers.push_back(&operands->strides.back());
                break;
            }
            case Argument::Kind::batch_stride: {
                const auto owner = std::ranges::find_if(operands->matrices, [&](const Matrix& matrix) {
                    return matrix.argument->batch_stride == argument.name;
                });
                const bool moves = owner != operands->matrices.end() && !owner->broadcast;
                operands->strides.push_back(moves ? owner->batch_stride : 0);
                operands->pointers.push_back(&operands->strides.back());
                break;
            }
            case Argument::Kind::input:
            case Argument::Kind::output: {
                const auto owner = std::ranges::find(operands->matrices, &argument, &Matrix::argument);
                operands->addresses.push_back(owner->memory->data() + guard * element_bytes);
                operands->pointers.push_back(&operands->addresses.back());
                break;
            }
        }
    }
    return operands;
}

// With `changed`, nothing is filled: each thread reports the first element that is not as it was filled, or -1.
void Testbed::State::fill_matrix(const Matrix& matrix, const Check& check, Memory* changed) {
    const bool poison = matrix.argument->kind == Argument::Kind::output && check.poison;
    int mode = poison ? poisoned : check.integers ? integer : uniform;
    int magnitude = integer_magnitude(terms, check);
    void* data = matrix.memory->data();
    auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
    auto [count, batch_stride, matrix_seed] = std::tuple(matrix.count, matrix.batch_stride, matrix.seed);
    long long around = guard;
    void* report = changed == nullptr ? nullptr : changed->data();
    const std::array<void*, 11> arguments{&data,         &around, &rows,      &columns,     &stride, &count,
                                          &batch_stride, &mode,   &magnitude, &matrix_seed, &report};
    const auto blocks = compare_threads / block_threads;
    fill->launch(nullptr, {.grid = {blocks, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
}

std::optional<std::string> Testbed::State::changed_input(const Operands& operands, const Check& check) {
    std::vector<long long> changed(static_cast<std::size_t>(compare_threads));
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::input) continue;
        fill_matrix(matrix, check, first_wrong.get());
        backend.synchronize();
        backend.copy_to_host(std::as_writable_bytes(std::span(changed)), *first_wrong);
        if (std::ranges::any_of(changed, [](long long at) { return at >= 0; })) {
            return "writes to its input " + matrix.argument->name;
        }
    }
    return std::nullopt;
}

void Testbed::State::refill_outputs(const Operands& operands, const Check& check) {
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind == Argument::Kind::output) fill_matrix(matrix, check);
    }
}

Prepared Testbed::State::prepare(const Check& check) {
    Prepared result{.operands = make_operands(check, seed)};
    auto pointers = result.operands->pointers;
    std::vector<void*> outputs;
    outputs.reserve(2 * result.operands->matrices.size());
    long long most = 0;
    for (const auto& matrix : result.operands->matrices) {
        if (matrix.argument->kind != Argument::Kind::output) continue;
        const auto elements = matrix.count * matrix.rows * matrix.columns;
        const auto bytes = static_cast<std::size_t>(elements) * sizeof(double);
        auto& expected = result.references.emplace_back(Reference{backend.allocate(bytes), backend.allocate(bytes)});
        for (const auto* memory : {expected.value.get(), expected.magnitude.get()}) {
            outputs.push_back(memory->data());
            pointers.push_back(&outputs.back());
        }
        most = std::max(most, elements);
    }
    reference->launch(nullptr,
                      {.grid = {(most + block_threads - 1) / block_threads, 1, 1}, .block = {block_threads, 1, 1}},
                      pointers.data());
    backend.synchronize();
    return result;
}

int Testbed::State::rotating_sets() const {
    return sets_of(operand_bytes(operation, environment, element_bytes), backend.device());
}

std::string Testbed::State::describe(const Matrix& matrix, long long at, const Reference& expected,
                                     const Check& check) {
    const auto inside = at - guard;
    const auto index = inside / matrix.batch_stride;
    const auto row = inside % matrix.batch_stride / matrix.stride;
    const auto column = inside % matrix.batch_stride % matrix.stride;
    const auto& name = matrix.argument->name;
    const std::string kind = check.integers ? " (integer inputs)" : " (uniform inputs)";
    const bool behind_rows = row >= matrix.rows;
    if (inside < 0 || index >= matrix.count || (behind_rows && index + 1 == matrix.count)) {
        return "writes outside " + name + kind;
    }
    if (behind_rows) return "writes between the matrices of " + name + kind;
    if (column >= matrix.columns) return "writes between the rows of " + name + kind;
    // One element of a memory that may be large: through a view of it.
    struct View : Memory {
        View(std::byte* data, std::size_t size) : data_(data), size_(size) {}
        [[nodiscard]] std::byte* data() const override { return data_; }
        [[nodiscard]] std::size_t size() const override { return size_; }
        std::byte* data_;
        std::size_t size_;
    };
    float got = 0;
    double value = 0;
    double magnitude = 0;
    const auto element = (index * matrix.rows + row) * matrix.columns + column;
    const auto read = [&](auto& to, const Memory& from, long long of) {
        const View view(from.data() + of * static_cast<long long>(sizeof(to)), sizeof(to));
        backend.copy_to_host(std::as_writable_bytes(std::span(&to, 1)), view);
    };
    read(got, *matrix.memory, at);
    read(value, *expected.value, element);
    read(magnitude, *expected.magnitude, element);
    const auto bound = check.integers ? 0.0 : error_factor(terms, unit_roundoff) * magnitude;
    const auto batch = matrix.argument->count == Expression("1") ? "" : std::to_string(index) + ",";
    return fmt::format("{}[{}{},{}] is {:.9g}, not {:.9g} +- {:.3g}{}", name, batch, row, column, got, value, bound,
                       kind);
}

std::optional<std::string> Testbed::State::compare_outputs(const Prepared& of, const Check& check, double& most) {
    std::vector<long long> wrong(static_cast<std::size_t>(compare_threads));
    std::vector<double> errors(wrong.size());
    auto expected = of.references.begin();
    for (const auto& matrix : of.operands->matrices) {
        if (matrix.argument->kind != Argument::Kind::output) continue;
        void* data = matrix.memory->data();
        auto [rows, columns, stride] = std::tuple(matrix.rows, matrix.columns, matrix.stride);
        auto [count, batch_stride] = std::tuple(matrix.count, matrix.batch_stride);
        long long around = guard;
        void* value = expected->value->data();
        void* magnitude = expected->magnitude->data();
        double gamma = check.integers ? 0.0 : error_factor(terms, unit_roundoff);
        void* wrong_data = first_wrong->data();
        void* worst_data = worst->data();
        const std::array<void*, 12> arguments{&data,         &around, &rows,      &columns, &stride,     &count,
                                              &batch_stride, &value,  &magnitude, &gamma,   &wrong_data, &worst_data};
        compare->launch(nullptr, {.grid = {compare_threads / block_threads, 1, 1}, .block = {block_threads, 1, 1}},
                        arguments.data());
        backend.synchronize();
        backend.copy_to_host(std::as_writable_bytes(std::span(wrong)), *first_wrong);
        backend.copy_to_host(std::as_writable_bytes(std::span(errors)), *worst);
        std::erase(wrong, -1);
        if (!wrong.empty()) return describe(matrix, std::ranges::min(wrong), *expected, check);
        wrong.resize(errors.size());
        most = std::max(most, std::ranges::max(errors));
        ++expected;
    }
    return std::nullopt;
}

Testbed::Testbed(Backend& backend, const Operation& operation, const Problem& problem, const TestbedBinaries& binaries,
                 std::uint64_t seed)
    : state_(std::make_unique<State>(State{.backend = backend,
                                           .operation = operation,
                                           .problem = problem,
                                           .environment = environment_of(operation, problem, backend.device()),
                                           .seed = seed,
                                           .unit_roundoff = element_type(problem.type).unit_roundoff,
                                           .terms = 0,
                                           .element_bytes = element_type(problem.type).bytes})) {
    auto& state = *state_;
    const auto all = check_bytes(operation, state.environment, state.element_bytes);
    if (all > 0x1p60) throw OutOfMemory(to_text(problem) + " needs more memory than any device has");
    state.terms = operation.terms.evaluate(state.environment);
    state.reference = backend.load(binaries.reference, 0);
    state.fill = backend.load(binaries.fill, 0);
    state.compare = backend.load(binaries.compare, 0);
    state.compare_threads = backend.device().multiprocessors * (backend.device().is_host() ? 1 : 8) * block_threads;
    const auto threads = static_cast<std::size_t>(state.compare_threads);
    state.first_wrong = backend.allocate(threads * sizeof(long long));
    state.worst = backend.allocate(threads * sizeof(double));
    state.prepared.resize(operation.checks.size());
    state.keep_all = all < 0.7 * static_cast<double>(backend.device().memory_bytes);
    // Now, so that no trial's deadline pays for the reference.
    for (std::size_t i = 0; state.keep_all && i < operation.checks.size(); ++i) {
        state.prepared[i] = state.prepare(operation.checks[i]);
    }
}

Testbed::~Testbed() = default;

Testbed::Verdict Testbed::verify(const LoadedKernel& kernel, const Launch& launch, double hopeless_us) {
    auto& state = *state_;
    Verdict verdict;
    for (std::size_t i = 0; i < state.operation.checks.size(); ++i) {
        const auto& check = state.operation.checks[i];
        auto& prepared = state.prepared[i];
        if (!prepared) {
            if (!state.keep_all) std::ranges::fill(state.prepared, std::nullopt);
            prepared = state.prepare(check);
        }
        state.refill_outputs(*prepared->operands, check);
        state.backend.synchronize();
        const auto call = call_of(kernel, launch, prepared->operands->pointers);
        const auto us = state.backend.time_us(std::span(&call, 1));
        state.backend.synchronize();
        if (i == 0) verdict.first_launch_us = us;
        verdict.wrong = state.changed_input(*prepared->operands, check);
        if (!verdict.wrong) verdict.wrong = state.compare_outputs(*prepared, check, verdict.worst);
        if (verdict.wrong) {
            // Whatever it wrote elsewhere must not be held against the next candidate.
            std::ranges::fill(state.prepared, std::nullopt);
            state.sets.clear();
            state.next_set = 0;
            return verdict;
        }
        // Only here: a kernel may take longer on a later check, whose rows are padded, than on what it is timed with.
        if (i == 0 && us > hopeless_us) {
            verdict.hopeless = true;
            return verdict;
        }
    }
    return verdict;
}

void Testbed::set_cache(Cache cache) { state_->cache = cache; }

bool Testbed::rotates() const { return state_->rotating_sets() > 1; }

std::vector<Backend::Call> Testbed::batch(const LoadedKernel& kernel, const Launch& launch, int count) {
    auto& state = *state_;
    if (state.sets.empty()) {
        decltype(state.sets) sets;  // all of them or, without the memory for that, none
        for (int i = 0; i < state.rotating_sets(); ++i) {
            const auto set_seed = state.seed + 1000 * static_cast<std::uint64_t>(i + 1);
            sets.push_back(state.make_operands(state.operation.checks.front(), set_seed));
        }
        state.sets = std::move(sets);
        state.backend.synchronize();
    }
    std::vector<Backend::Call> calls;
    calls.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        calls.push_back(call_of(kernel, launch, state.sets[state.next_set]->pointers));
        if (state.cache == Cache::cold) state.next_set = (state.next_set + 1) % state.sets.size();
    }
    return calls;
}

}  // namespace smemtune
