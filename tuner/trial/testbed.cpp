#include "tuner/trial/testbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <map>
#include <span>

#include "tuner/trial/operands.h"

namespace smemtune {

/// What is in kernels/, as it was when the program was built.
const std::map<std::string, std::string>& testbed_sources();

namespace {

Binary must_compile(const Compiler& compiler, const Program& program) {
    auto result = compiler.compile(program);
    if (const auto* rejection = std::get_if<Rejection>(&result)) {
        throw CompilerError(program.source_path + " does not compile: " + rejection->reason);
    }
    return std::get<Binary>(std::move(result));
}

struct Reference {
    std::unique_ptr<Memory> value, magnitude;
};

struct Prepared {
    std::unique_ptr<Operands> operands;
    std::vector<Reference> references;  // one for each output
};

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
    std::unique_ptr<LoadedKernel> reference, compare;
    std::optional<OperandFactory> factory;
    std::unique_ptr<Memory> first_wrong, worst;
    std::int64_t compare_threads = 0;
    std::vector<std::optional<Prepared>> prepared;  // one for each check
    bool keep_all = true;                           // false: they do not fit beside one another
    std::vector<std::unique_ptr<Operands>> sets;    // further operands to rotate over
    std::size_t next_set = 0;
    Cache cache = Cache::cold;

    std::optional<std::string> changed_input(const Operands& operands, const Check& check) {
        return factory->changed_input(operands, check, *first_wrong);
    }
    void refill_outputs(const Operands& operands, const Check& check) { factory->refill_outputs(operands, check); }
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

namespace {

// The call owns the values of its run-time arguments, and stays good when it is moved.
Backend::Call call_of(const LoadedKernel& kernel, const Launch& launch, const std::vector<void*>& pointers) {
    Backend::Call call{&kernel, launch, pointers};
    for (auto& value : call.launch.runtime_arguments) call.arguments.push_back(&value);
    return call;
}

}  // namespace

Prepared Testbed::State::prepare(const Check& check) {
    Prepared result{.operands = factory->make(check, seed)};
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
    return smemtune::rotating_sets(operation, environment, element_bytes, backend.device());
}

std::string Testbed::State::describe(const Matrix& matrix, long long at, const Reference& expected,
                                     const Check& check) {
    const auto inside = at - matrix.guard;
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
        long long around = matrix.guard;
        auto seed_of_matrix = matrix.seed;
        void* value = expected->value->data();
        void* magnitude = expected->magnitude->data();
        double gamma = check.integers ? 0.0 : error_factor(terms, unit_roundoff);
        void* wrong_data = first_wrong->data();
        void* worst_data = worst->data();
        const std::array<void*, 13> arguments{&data,  &around,       &rows,           &columns, &stride,
                                              &count, &batch_stride, &seed_of_matrix, &value,   &magnitude,
                                              &gamma, &wrong_data,   &worst_data};
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
    state.compare = backend.load(binaries.compare, 0);
    state.factory.emplace(backend, state.operation, state.environment, state.element_bytes, binaries.fill);
    state.compare_threads = state.factory->threads();
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
            sets.push_back(state.factory->make(state.operation.checks.front(), set_seed));
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
