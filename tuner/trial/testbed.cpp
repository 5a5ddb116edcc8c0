#include "tuner/trial/testbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "templates/manifest/catalog.h"
#include "templates/reference/reference_section.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/output_comparison.h"
#include "tuner/trial/reference/reference_source.h"
#include "tuner/trial/rotating_operands.h"
#include "tuner/trial/typed/typed_fill.h"
#include "util/hash.h"

namespace smemtune {

/// The files of kernels/, embedded at build time.
const std::map<std::string, std::string>& testbed_sources();
/// The files of typed/kernels/ and the files that they include.
const std::map<std::string, std::string>& typed_testbed_sources();

namespace {

// Part of the verification identity. Raise this number when operands.cpp or output_comparison.cpp accept or reject
// other kernels than before. Stored trials are then verified again. check_references() does not count: it refuses
// references.
constexpr int rules_version = 1;
// The counterpart of rules_version for typed operations (is_typed()). Raise it when operands.cpp,
// output_comparison.cpp, typed_fill.cpp or typed_comparison.cpp accepts or rejects other kernels than before.
constexpr int typed_rules_version = 1;
// The counterpart of rules_version for launches on outputs with large and negative numbers (fills_outputs_again()).
constexpr int output_rules_version = 1;

// Each combination of values of the operation's parameters has a Testbed::State of its own. Finals alternate between up
// to eight finalists. Seven states are kept beside the current one, so that each finalist's state is prepared only
// once.
constexpr std::size_t most_other_states = 7;

const std::map<std::string, std::string>& sources_of(const Operation& operation, const Problem& problem) {
    return is_typed(operation, element_type(problem.type)) ? typed_testbed_sources() : testbed_sources();
}

Binary must_compile(const Compiler& compiler, const Program& program) {
    auto result = compiler.compile(program);
    if (const auto* rejection = std::get_if<Rejection>(&result)) {
        throw CompilerError(program.source_path + " does not compile: " + rejection->reason);
    }
    return std::get<Binary>(std::move(result));
}

// Returns how many checks stay prepared: all of them if free memory suffices. Otherwise, memory for one more check is
// kept free, in which the remaining checks are prepared one at a time.
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
    std::unique_ptr<OperandFactory> factory{};
    std::unique_ptr<OutputComparison> comparison{};
    std::optional<RotatingOperands> rotating{};
    std::vector<std::optional<PreparedCheck>> prepared{};  // by check; empty while the check is not prepared
    std::size_t kept = 0;  // the first `kept` checks stay prepared; the others are prepared one at a time
    Cache cache = Cache::cold;
    bool has_right_magnitudes = false;  // whether check_references() has accepted those of the first check

    PreparedCheck prepare(const Check& check) {
        PreparedCheck result{.operands = factory->make(check, seed)};
        result.references = comparison->references(*result.operands);
        // One check suffices to find wrong magnitudes. A check with infinite inputs may have infinite ones.
        const bool magnitudes = !has_right_magnitudes && &check == &operation.checks.front() && !check.special;
        comparison->check_references(*result.operands, result.references, magnitudes);
        has_right_magnitudes |= magnitudes;
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
    // Copies values to the kernel's symbols, if it has any. All sets of operands of a check have the same values for
    // symbols.
    void fill_symbols(const BoundKernel& kernel, const Operands& operands) const {
        if (std::ranges::all_of(operation.arguments, &std::string::empty, &Argument::symbol)) return;
        kernel.fill_symbols(nullptr, operands.pointers);
        backend.synchronize();
    }
    // A wrong kernel may have overwritten any operands, so the next candidate gets new operands.
    void discard_operands() {
        std::ranges::fill(prepared, std::nullopt);
        rotating->clear();
    }
};

// Removes the user's macros from a configuration.h. A macro may have any name, even one that the testbed's kernels use.
static void without_macros(std::string& configuration) {
    for (auto at = configuration.find("#define "); at != std::string::npos; at = configuration.find("#define ", at)) {
        configuration.erase(at, configuration.find('\n', at) + 1 - at);
    }
}

TestbedBinaries compile_testbed(const Compiler& compiler, const KernelTemplate& kernel_template,
                                const Problem& problem) {
    const auto kind = kernel_template.operation.reference.kind;
    const bool has_program = kernel_template.operation.reference.has_program();
    Program reference;
    const auto wide = reference_problem(kernel_template.operation, problem);
    const bool is_typed_problem = is_typed(kernel_template.operation, element_type(problem.type));
    if (has_program) reference = reference_program(kernel_template, wide);
    const auto begin = [&](const std::string& entry) {
        Program program;
        if (kind == OperationReference::Kind::kernel) program = reference;
        program.files["configuration.h"] = render(kernel_template, default_configuration(kernel_template), problem);
        const auto& sources = sources_of(kernel_template.operation, problem);
        program.files.insert(sources.begin(), sources.end());
        program.entry = entry;
        program.needs = {};
        without_macros(program.files.at("configuration.h"));
        program.source_path = (is_typed_problem ? "typed/kernels/" : "kernels/") + entry + ".cu";
        return std::async(std::launch::async, [&compiler, program] { return must_compile(compiler, program); });
    };
    auto fill = begin("fill");
    auto compare = begin("compare");
    auto widen = wide.type != problem.type ? std::optional(begin("widen")) : std::nullopt;
    const bool prepares = !kernel_template.operation.prepare_path.empty();
    return {.reference = has_program ? must_compile(compiler, reference) : Binary{},
            .fill = fill.get(),
            .compare = compare.get(),
            .prepare = prepares ? must_compile(compiler, prepare_program(kernel_template, problem)) : Binary{},
            .widen = widen ? widen->get() : Binary{}};
}

TestbedParts testbed_parts(const Operation& operation, const Problem& problem, const Compiler& compiler) {
    const auto& type = element_type(problem.type);
    return {.kernels = sources_of(operation, problem),
            .type = std::string(type.name),
            .unit_roundoff = type.unit_roundoff,
            .product_terms = type.product_terms,
            .rules = is_typed(operation, type) ? typed_rules_version : rules_version,
            .tolerance = tolerance_version,
            .output_rules = fills_outputs_again(operation) ? output_rules_version : 0,
            .target = compiler.target(),
            .compiler = compiler.version()};
}

std::string testbed_identity(const TestbedParts& parts) {
    const auto& [kernels, type, unit_roundoff, product_terms, rules, tolerance, output_rules, target, compiler] = parts;
    std::string text;
    const auto add = [&](std::string_view part) { text += fmt::format("{}:{}", part.size(), part); };
    for (const auto& [path, content] : kernels) add(content);
    add(type);
    add(fmt::format("{:a}", unit_roundoff));
    // product_terms and output_rules are left out if they are 0, because the identities of older trials lack them and
    // must stay valid.
    if (product_terms != 0) add("product " + std::to_string(product_terms));
    if (output_rules != 0) add("outputs " + std::to_string(output_rules));
    add(std::to_string(rules));
    add(std::to_string(tolerance));
    add(target);
    add(compiler);
    return sha256(text).substr(0, 32);
}

std::string verification_identity(const KernelTemplate& kernel_template, const Problem& problem,
                                  const Compiler& compiler) {
    return operation_identity(kernel_template, problem) + "/" +
           testbed_identity(testbed_parts(kernel_template.operation, problem, compiler));
}

Testbed::Testbed(Backend& backend, const Operation& operation, Problem problem, TestbedBinaries binaries,
                 std::uint64_t seed)
    : backend_(backend),
      problem_(std::move(problem)),
      binaries_(std::move(binaries)),
      seed_(seed),
      state_(make_state(operation, Cache::cold)) {}

std::unique_ptr<Testbed::State> Testbed::make_state(const Operation& operation, Cache cache) const {
    auto result = std::make_unique<State>(State{.backend = backend_,
                                                .operation = operation,
                                                .environment = environment_of(operation, problem_, backend_.device()),
                                                .seed = seed_,
                                                .cache = cache});
    auto& state = *result;
    check_values(operation, state.environment, to_text(problem_));
    const auto& type = element_type(problem_.type);
    const auto all = check_bytes(operation, state.environment, type.bytes);
    if (all > 0x1p60) throw OutOfMemory(to_text(problem_) + " needs more memory than any device has");
    state.factory = std::make_unique<OperandFactory>(backend_, state.operation, state.environment, type, binaries_.fill,
                                                     binaries_.prepare);
    state.comparison = std::make_unique<OutputComparison>(backend_, state.operation, problem_, state.environment,
                                                          binaries_.reference, binaries_.compare, binaries_.widen);
    const auto sets = rotating_sets(operation, state.environment, type.bytes, backend_.device());
    // If the host computes the reference or inputs, which takes long, all sets of operands get the same values. Then
    // one computation suffices.
    const bool is_slow = operation.reference.is_on_host() || is_host_source(operation.prepare_path);
    state.rotating.emplace(*state.factory, state.operation.checks.front(), sets, seed_, is_slow ? 0 : 1000);
    state.prepared.resize(operation.checks.size());
    state.kept = kept_checks(operation.checks.size(), all, backend_.free_bytes());
    // References are computed now, because during a trial their time would count against the trial's deadline.
    for (std::size_t i = 0; i < state.kept; ++i) (void)state.prepared_check(i);
    return result;
}

void Testbed::use(const Configuration& configuration) {
    auto operation = state_->operation;
    for (auto& [name, value] : operation.parameters) {
        if (const auto given = configuration.values.find(name); given != configuration.values.end()) {
            value = given->second;
        }
    }
    if (operation.parameters == state_->operation.parameters) return;
    const auto cache = state_->cache;
    const auto known = std::ranges::find_if(
        others_, [&](const auto& each) { return each->operation.parameters == operation.parameters; });
    if (known != others_.end()) {
        std::swap(state_, *known);
    } else {
        const auto prepared = [&] {
            try {
                return make_state(operation, cache);
            } catch (const std::invalid_argument& error) {
                throw LaunchError(error.what());
            } catch (const ExpressionError& error) {
                throw LaunchError(error.what());
            } catch (const OutOfMemory&) {  // the states that are dropped here are prepared again when they are used
                others_.clear();
                state_->discard_operands();
                return make_state(operation, cache);
            }
        };
        others_.push_back(std::exchange(state_, prepared()));
        if (others_.size() > most_other_states) others_.erase(others_.begin());
    }
    state_->cache = cache;
}

Testbed::~Testbed() = default;

Testbed::Verdict Testbed::verify_first_check(const BoundKernel& kernel) {
    Verdict verdict;
    verdict.first_launch_us = verify(kernel, 0, OutputContent::nans, verdict);
    return verdict;
}

Testbed::Verdict Testbed::verify(const BoundKernel& kernel) {
    auto verdict = verify_first_check(kernel);
    if (!verdict.wrong && fills_outputs_again(state_->operation)) {
        for (const auto content : {OutputContent::large, OutputContent::negative}) {
            verify(kernel, 0, content, verdict);
            if (!verdict.wrong) continue;
            *verdict.wrong += fmt::format(
                ", if outputs hold large {}numbers before the launch: the kernel reads an output, or does not write "
                "all of it; write kind = \"inout\" for an output that it should read",
                content == OutputContent::negative ? "negative " : "");
            return verdict;
        }
    }
    for (std::size_t i = 1; i < state_->operation.checks.size() && !verdict.wrong; ++i) {
        verify(kernel, i, OutputContent::nans, verdict);
    }
    return verdict;
}

// Runs one check and adds what it finds to `verdict`. Returns the time of the launch in microseconds.
double Testbed::verify(const BoundKernel& kernel, std::size_t index, OutputContent content, Verdict& verdict) {
    auto& state = *state_;
    const auto& check = state.operation.checks[index];
    const auto& [operands, references] = state.prepared_check(index);
    state.factory->refill_outputs(*operands, check, content);
    state.fill_symbols(kernel, *operands);
    state.backend.synchronize();
    const Backend::Call call{&kernel, operands->pointers};
    const auto us = state.backend.time_us(std::span(&call, 1));
    state.backend.synchronize();
    verdict.wrong = state.factory->changed_input(*operands, check);
    if (!verdict.wrong) {
        verdict.wrong = state.comparison->first_difference(*operands, references, check, verdict.worst);
    }
    if (verdict.wrong) state.discard_operands();
    return us;
}

Testbed::BatchVerdict Testbed::verify_batch(const BoundKernel& kernel, int launches) {
    auto& state = *state_;
    const auto& check = state.operation.checks.front();
    (void)state.rotating->ensure();
    const auto sets = state.rotating->count();
    std::vector<const Operands*> operands;
    operands.reserve(static_cast<std::size_t>(sets));
    // set(i), unlike next(), gives the sets in the same order in every call.
    for (int i = 0; i < sets; ++i) operands.push_back(&state.rotating->set(i));
    for (const auto* each : operands) state.factory->refill_outputs(*each, check);
    state.backend.synchronize();
    // If the kernel may read outputs, two things change. Each set of operands gets only one launch, because the
    // reference is computed for one launch. And the references are computed before the launches, because the launches
    // overwrite values that the references read.
    const bool reads = reads_outputs(state.operation, check);
    std::vector<std::vector<OutputReference>> before(operands.size());
    for (std::size_t i = 1; reads && i < operands.size(); ++i) {
        before[i] = state.comparison->references(*operands[i]);
    }
    state.fill_symbols(kernel, *operands.front());
    BatchVerdict verdict{.launches = reads ? sets : std::max(launches, sets)};
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
        // The first set has the inputs of the first check, whose references exist already. Large problems have only
        // this set.
        if (i > 0 && !reads) before[i] = state.comparison->references(*operands[i]);
        const auto& references = i == 0 ? state.prepared_check(0).references : before[i];
        verdict.wrong = state.comparison->first_difference(*operands[i], references, check, worst);
        before[i].clear();
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
    bool must_wait = state.rotating->ensure();
    state.fill_symbols(kernel, state.rotating->set(0));
    const bool is_cold = state.cache == Cache::cold;
    const bool restores = std::ranges::any_of(state.operation.arguments, &Argument::is_restored);
    if (restores) count = std::min(count, is_cold ? state.rotating->count() : 1);
    std::vector<Backend::Call> calls;
    calls.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const auto& operands = state.rotating->next(is_cold);
        if (restores) state.factory->restore(operands, state.operation.checks.front());
        must_wait = must_wait || restores;
        calls.push_back({&kernel, operands.pointers});
    }
    if (must_wait) state.backend.synchronize();
    return calls;
}

}  // namespace smemtune
