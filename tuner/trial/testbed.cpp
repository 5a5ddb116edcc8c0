#include "tuner/trial/testbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <span>

#include "templates/manifest/catalog.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/output_comparison.h"
#include "tuner/trial/rotating_operands.h"
#include "util/hash.h"

namespace smemtune {

/// The files of kernels/, embedded at build time.
const std::map<std::string, std::string>& testbed_sources();

namespace {

// Part of the verification identity. Raise it when operands.cpp or output_comparison.cpp accept or reject different
// kernels than before, so that stored trials are verified again.
constexpr int rules_version = 1;

Binary must_compile(const Compiler& compiler, const Program& program) {
    auto result = compiler.compile(program);
    if (const auto* rejection = std::get_if<Rejection>(&result)) {
        throw CompilerError(program.source_path + " does not compile: " + rejection->reason);
    }
    return std::get<Binary>(std::move(result));
}

// The number of checks that stay prepared: all if they fit into free memory together, else as many as leave room for
// one more.
std::size_t kept_checks(std::size_t count, double bytes, std::size_t free_bytes) {
    const auto room = 0.7 * static_cast<double>(free_bytes);
    if (bytes < room) return count;
    const auto fit = static_cast<std::size_t>(room / (bytes / static_cast<double>(count)));
    return fit == 0 ? 0 : fit - 1;
}

}  // namespace

struct Testbed::State {
    struct PreparedCheck {
        std::unique_ptr<Operands> operands;
        std::vector<OutputReference> references;
    };

    Backend& backend;
    Operation operation;
    Environment environment;
    std::uint64_t seed;
    std::optional<OperandFactory> factory{};
    std::optional<OutputComparison> comparison{};
    std::optional<RotatingOperands> rotating{};
    std::vector<std::optional<PreparedCheck>> prepared{};  // one for each check
    std::size_t kept = 0;  // the first checks, which stay prepared; the memory has room for one more at a time
    Cache cache = Cache::cold;

    PreparedCheck prepare(const Check& check) {
        PreparedCheck result{.operands = factory->make(check, seed)};
        result.references = comparison->references(*result.operands);
        return result;
    }
    PreparedCheck& prepared_check(std::size_t i) {
        if (!prepared[i]) {
            if (i >= kept)
                std::fill(prepared.begin() + static_cast<std::ptrdiff_t>(kept), prepared.end(), std::nullopt);
            prepared[i] = prepare(operation.checks[i]);
        }
        return *prepared[i];
    }
    // A wrong kernel may have overwritten any operands, so the next candidate gets new ones.
    void discard_operands() {
        std::ranges::fill(prepared, std::nullopt);
        rotating->clear();
    }
};

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

std::string verification_identity(const KernelTemplate& kernel_template, const Problem& problem,
                                  const Compiler& compiler) {
    std::string text;
    const auto add = [&](std::string_view part) { text += fmt::format("{}:{}", part.size(), part); };
    for (const auto& [path, content] : testbed_sources()) add(content);
    const auto& type = element_type(problem.type);
    add(type.name);
    add(fmt::format("{:a}", type.unit_roundoff));
    add(std::to_string(rules_version));
    add(std::to_string(tolerance_version));
    add(compiler.target());
    add(compiler.version());
    return operation_identity(kernel_template, problem) + "/" + sha256(text).substr(0, 32);
}

Testbed::Testbed(Backend& backend, const Operation& operation, const Problem& problem, const TestbedBinaries& binaries,
                 std::uint64_t seed)
    : state_(std::make_unique<State>(State{.backend = backend,
                                           .operation = operation,
                                           .environment = environment_of(operation, problem, backend.device()),
                                           .seed = seed})) {
    auto& state = *state_;
    const auto& type = element_type(problem.type);
    const auto all = check_bytes(operation, state.environment, type.bytes);
    if (all > 0x1p60) throw OutOfMemory(to_text(problem) + " needs more memory than any device has");
    const auto terms = operation.terms.evaluate(state.environment);
    state.factory.emplace(backend, state.operation, state.environment, type.bytes, binaries.fill);
    state.comparison.emplace(backend, type, terms, binaries.reference, binaries.compare);
    const auto sets = rotating_sets(operation, state.environment, type.bytes, backend.device());
    state.rotating.emplace(*state.factory, state.operation.checks.front(), sets, seed);
    state.prepared.resize(operation.checks.size());
    state.kept = kept_checks(operation.checks.size(), all, backend.free_bytes());
    // The references are computed now, so that their time does not count against a trial's deadline.
    for (std::size_t i = 0; i < state.kept; ++i) (void)state.prepared_check(i);
}

Testbed::~Testbed() = default;

Testbed::Verdict Testbed::verify(const BoundKernel& kernel) {
    return verify(kernel, 0, state_->operation.checks.size());
}

Testbed::Verdict Testbed::verify_first_check(const BoundKernel& kernel) { return verify(kernel, 0, 1); }

Testbed::Verdict Testbed::verify_other_checks(const BoundKernel& kernel) {
    return verify(kernel, 1, state_->operation.checks.size());
}

Testbed::Verdict Testbed::verify(const BoundKernel& kernel, std::size_t begin, std::size_t end) {
    auto& state = *state_;
    Verdict verdict;
    for (std::size_t i = begin; i < end; ++i) {
        const auto& check = state.operation.checks[i];
        const auto& [operands, references] = state.prepared_check(i);
        state.factory->refill_outputs(*operands, check);
        state.backend.synchronize();
        const Backend::Call call{&kernel, operands->pointers};
        const auto us = state.backend.time_us(std::span(&call, 1));
        state.backend.synchronize();
        if (i == 0) verdict.first_launch_us = us;
        verdict.wrong = state.factory->changed_input(*operands, check);
        if (!verdict.wrong) {
            verdict.wrong = state.comparison->first_difference(*operands, references, check, verdict.worst);
        }
        if (verdict.wrong) {
            state.discard_operands();
            return verdict;
        }
    }
    return verdict;
}

Testbed::BatchVerdict Testbed::verify_batch(const BoundKernel& kernel, int launches) {
    auto& state = *state_;
    const auto& check = state.operation.checks.front();
    (void)state.rotating->ensure();
    const auto sets = state.rotating->count();
    std::vector<const Operands*> operands;
    operands.reserve(static_cast<std::size_t>(sets));
    for (int i = 0; i < sets; ++i) operands.push_back(&state.rotating->set(i));  // always from the first set on
    for (const auto* each : operands) state.factory->refill_outputs(*each, check);
    state.backend.synchronize();
    // A kernel may read an output that is not poisoned. Such an output gets one launch, because the reference is
    // launched once, too.
    BatchVerdict verdict{.launches = check.poison ? std::max(launches, sets) : sets};
    std::vector<Backend::Call> calls;
    calls.reserve(static_cast<std::size_t>(verdict.launches));
    for (int i = 0; i < verdict.launches; ++i) {
        calls.push_back({&kernel, operands[static_cast<std::size_t>(i % sets)]->pointers});
    }
    verdict.batch_us = state.backend.time_us(calls);
    state.backend.synchronize();
    double worst = 0;
    for (std::size_t i = 0; i < operands.size() && !verdict.wrong; ++i) {
        verdict.wrong = state.factory->changed_input(*operands[i], check);
        if (verdict.wrong) break;
        // The first set has the inputs of the first check, and large problems have one set.
        const auto own = i == 0 ? std::vector<OutputReference>{} : state.comparison->references(*operands[i]);
        const auto& references = i == 0 ? state.prepared_check(0).references : own;
        verdict.wrong = state.comparison->first_difference(*operands[i], references, check, worst);
    }
    if (verdict.wrong) {
        *verdict.wrong += ", after a batch of launches";
        state.discard_operands();
    }
    return verdict;
}

void Testbed::set_cache(Cache cache) { state_->cache = cache; }

bool Testbed::rotates() const { return state_->rotating->count() > 1; }

std::vector<Backend::Call> Testbed::batch(const BoundKernel& kernel, int count) {
    auto& state = *state_;
    if (state.rotating->ensure()) state.backend.synchronize();
    std::vector<Backend::Call> calls;
    calls.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        calls.push_back({&kernel, state.rotating->next(state.cache == Cache::cold).pointers});
    }
    return calls;
}

}  // namespace smemtune
