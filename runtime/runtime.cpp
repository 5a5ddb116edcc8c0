#include "runtime/runtime.h"

#include <algorithm>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "runtime/backend.h"
#include "runtime/fetch/program_cache.h"
#include "runtime/fetch/single_flight.h"
#include "runtime/fetch/trust.h"
#include "runtime/fetch/workspace_pool.h"
#include "runtime/fetch/zero_extents.h"
#include "runtime/inspector.h"
#include "runtime/launch/first_calls.h"
#include "runtime/launch/kernel_state.h"
#include "runtime/layers/layered_candidates.h"
#include "runtime/layers/layers.h"
#include "runtime/selection.h"
#include "runtime/table/shape_table.h"
#include "templates/manifest/catalog.h"
#include "util/hash.h"
#include "util/parallel_for.h"

namespace smemtune {

std::string_view to_text(Match match) {
    switch (match) {
        case Match::exact: return "exact";
        case Match::predicted: return "predicted";
        case Match::nearest: return "nearest";
        case Match::transferred: return "transferred";
        case Match::untuned: return "untuned";
    }
    return "unknown";
}

struct Runtime::State {
    using FetchedKernel = Reference<Kernel::State>;
    using MadeKernel = std::shared_ptr<Kernel::State>;

    State(std::vector<KernelTemplate> its_templates, std::vector<std::string> its_own, Trust its_trust,
          std::size_t remembered, FirstCallsOptions first_calls)
        : fetched(remembered),
          candidates_to_time(first_calls.candidates),
          lost(std::make_shared<LostTime>(first_calls.most_lost_ms)),
          templates(std::move(its_templates)),
          own(std::move(its_own)),
          layers(its_trust,
                 [this](const std::string& message) {
                     if (log) log(LogLevel::warning, message);
                 }),
          trust(its_trust) {}

    ShapeTable<Kernel::State> fetched;
    const std::size_t candidates_to_time;
    const std::shared_ptr<LostTime> lost;
    const std::vector<KernelTemplate> templates;
    const std::vector<std::string> own;  // names of the templates from Options::template_folders
    std::shared_ptr<Backend> backend;
    std::shared_ptr<Compiler> compiler;
    std::shared_ptr<WorkspacePool> workspaces;
    std::function<void(LogLevel, const std::string&)> log;  // empty if nothing is logged
    std::mutex store_mutex;  // guards the Stores of `layers`; not locked while a kernel is compiled or loaded
    std::mutex operations_mutex;
    std::map<std::string, std::shared_ptr<const Operation>> operations;  // the key is the template's hash
    Layers layers;
    SingleFlight<std::pair<Problem, std::string>, FetchedKernel> fetching;
    ProgramCache programs;
    const Trust trust;

    static std::unique_ptr<State> without_device(const Options& options);
    void use(std::shared_ptr<Backend> device, const std::string& host_compiler);
    std::shared_ptr<const Operation> operation_of(const KernelTemplate& kernel);
    std::optional<Candidate> next(LayeredCandidates& candidates);
    std::optional<BinaryRecord> stored_code(const Candidate& candidate, const Problem& problem);
    bool has_code(const Candidate& candidate, const Problem& problem);
    [[nodiscard]] Launch launch_of(const Candidate& candidate, const Problem& problem) const;
    ProgramCache::Loaded load(const Candidate& candidate, const Launch& launch, const Problem& problem);
    ProgramCache::Loaded load_or_compile(const Candidate& candidate, const Problem& problem, std::int64_t dynamic);
    MadeKernel make(const Candidate& candidate, const Launch& launch, const Problem& asked,
                    std::shared_ptr<const LoadedKernel> kernel);
    void add_rivals(MadeKernel& first, LayeredCandidates& candidates, const Problem& problem, const Problem& asked);
    void log_choice(const Problem& problem, const Choice& choice, const std::vector<std::string>& unusable,
                    const std::string& damage) const;
    FetchedKernel fetch_first(const Problem& problem, std::string_view kernel_template);
    MadeKernel fetch(const Problem& asked, const std::string& kernel_template);
};

namespace {

// Resolves symbolic links once, before the check. The folder that is read is then the folder that was checked, even if
// a link changes in between.
SourceTree read_trusted(const std::filesystem::path& folder, const Trust& trust) {
    if (trust.any_owner || trust.any_template_owner || !std::filesystem::exists(folder)) return read_sources(folder);
    const auto target = std::filesystem::canonical(folder);
    require_trusted_templates(target);
    return read_sources(target);
}

void open_layers(const Runtime::Options& options, Layers& layers) {
    if (options.trust.named_databases) {
        const bool absent = options.database.empty() || !std::filesystem::exists(options.database);
        if (absent && !options.database.empty() && !options.database_may_be_absent) {
            throw DatabaseAbsent(options.database.string() +
                                 ": does not exist; tune first, check the path, or set Options::database_may_be_absent "
                                 "to do without");
        }
        if (!absent) layers.add_required(options.database);
        for (const auto& database : options.databases) layers.add(database);
    }
    const auto system = options.system_databases.value_or(installed_databases());
    if (!system.empty()) layers.add_folder(system);
}

std::shared_ptr<Backend> open_device(const Runtime::Options& options) {
    const auto found = find_device(options.device);
    if (found.device.is_host()) {
        if (options.device == "auto") {
            throw DeviceError(
                "there is no GPU, or no driver that this CUDA runtime can use; to compute on the CPU, name the device "
                "'host' in Options::device");
        }
        if (!options.trust.host_code) throw DeviceError("Options::trust excludes the host device (host_code)");
    }
    return open_backend(found.name);
}

}  // namespace

std::unique_ptr<Runtime::State> Runtime::State::without_device(const Options& options) {
    auto templates = builtin_templates();
    std::vector<std::string> names;
    for (const auto& folder : options.template_folders) {
        for (auto& own : load_templates(read_trusted(folder, options.trust))) {
            std::erase_if(templates, [&](const KernelTemplate& known) { return known.name == own.name; });
            names.push_back(own.name);
            templates.push_back(std::move(own));
        }
    }
    auto state = std::make_unique<State>(std::move(templates), std::move(names), options.trust,
                                         options.remembered_problems, options.measure_first_calls);
    state->log = options.log;
    open_layers(options, state->layers);
    return state;
}

void Runtime::State::use(std::shared_ptr<Backend> device, const std::string& host_compiler) {
    backend = std::move(device);
    compiler = make_compiler(backend->device(), {.host_compiler = host_compiler});
    workspaces = std::make_shared<WorkspacePool>(backend);
}

Runtime::Runtime(const Options& options) {
    // Creating a GPU's context takes far longer than reading templates and database, so another thread creates it
    // meanwhile.
    auto device = std::async(std::launch::async, [&] { return open_device(options); });
    state_ = State::without_device(options);
    state_->use(device.get(), options.host_compiler);
}
Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Backend& RuntimeInspector::backend(Runtime& runtime) { return *runtime.state_->backend; }
const Compiler& RuntimeInspector::compiler(const Runtime& runtime) { return *runtime.state_->compiler; }
Runtime RuntimeInspector::beside(const Runtime& runtime, const std::filesystem::path& database) {
    const auto& known = *runtime.state_;
    auto state = std::make_unique<Runtime::State>(known.templates, known.own, known.trust,
                                                  Runtime::Options{}.remembered_problems, FirstCallsOptions{});
    state->layers.add_required(database);
    state->backend = known.backend;
    state->compiler = known.compiler;
    state->workspaces = known.workspaces;
    return Runtime(std::move(state));
}

Runtime RuntimeInspector::on(std::shared_ptr<Backend> backend, const Runtime::Options& options) {
    auto state = Runtime::State::without_device(options);
    state->use(std::move(backend), options.host_compiler);
    return Runtime(std::move(state));
}

Kernel Runtime::fetch(const Problem& problem, std::string_view kernel_template) {
    auto fetched = state_->fetched.find(problem, kernel_template);
    if (!fetched) fetched = state_->fetch_first(problem, kernel_template);
    const auto* const state = fetched.get();
    return {state, fetched.release()};
}

void Runtime::warm_up(std::span<const Problem> problems) {
    const auto threads = std::max(1U, std::thread::hardware_concurrency());
    parallel_for(problems.size(), threads, [&](std::size_t i) { (void)fetch(problems[i]); });
}

Runtime::State::FetchedKernel Runtime::State::fetch_first(const Problem& problem, std::string_view kernel_template) {
    const std::pair key(problem, std::string(kernel_template));
    return fetching.run(key, [&] {
        if (auto known = fetched.find(problem, kernel_template)) return known;  // another thread fetched the problem
        return fetched.insert(problem, kernel_template, fetch(problem, key.second));
    });
}

std::shared_ptr<const Operation> Runtime::State::operation_of(const KernelTemplate& kernel) {
    const std::scoped_lock lock(operations_mutex);
    auto& operation = operations[kernel.hash];
    if (!operation) operation = std::make_shared<const Operation>(kernel.operation);
    return operation;
}

std::optional<Candidate> Runtime::State::next(LayeredCandidates& candidates) {
    const std::scoped_lock lock(store_mutex);
    return candidates.next();
}

std::optional<BinaryRecord> Runtime::State::stored_code(const Candidate& candidate, const Problem& problem) {
    if (!trust.machine_code || !candidate.template_row) return std::nullopt;
    const std::scoped_lock lock(store_mutex);
    auto code = layers.use(candidate.layer, [&](Store& store) {
        return store.recall_binary(candidate.kernel_template->name, candidate.stored_hash, *candidate.stored,
                                   binary_key(compiler->target(), problem));
    });
    const bool is_verified =
        code && (candidate.code_hash.empty() || candidate.code_hash == sha256(std::as_bytes(std::span(code->code))));
    return is_verified ? std::move(code) : std::nullopt;
}

Launch Runtime::State::launch_of(const Candidate& candidate, const Problem& problem) const {
    if (candidate.launch) return *candidate.launch;
    return smemtune::launch_of(*candidate.kernel_template, *candidate.configuration, problem, backend->device());
}

ProgramCache::Loaded Runtime::State::load(const Candidate& candidate, const Launch& launch, const Problem& problem) {
    const auto& kernel = *candidate.kernel_template;
    // Problems of several sizes share a loaded kernel unless they need different amounts of dynamic shared memory.
    const auto dynamic = launch.dynamic_shared_bytes;
    // The key contains the hash of the verified machine code, because a candidate must not use other machine code of
    // the same source. The hash of the template does not cover type, layout and configuration, so the key has these,
    // too.
    const auto dynamic_text = std::to_string(dynamic);
    std::string key;
    key.reserve(512);  // longer than nearly all keys
    for (const auto* part : {&kernel.hash, &candidate.code_hash, &dynamic_text, &problem.type, &problem.layout}) {
        key.append(*part) += ' ';
    }
    key += candidate.compiled;
    return programs.get(key, [&] { return load_or_compile(candidate, problem, dynamic); });
}

ProgramCache::Loaded Runtime::State::load_or_compile(const Candidate& candidate, const Problem& problem,
                                                     std::int64_t dynamic) {
    const auto& kernel = *candidate.kernel_template;
    const auto loaded = [&](const Binary& binary) -> ProgramCache::Loaded {
        try {
            return {backend->load(binary, dynamic), {}};
        } catch (const LaunchError& error) {
            return {nullptr, error.what()};
        }
    };
    std::string damage;  // message about stored machine code that is damaged; the kernel is then compiled from source
    try {
        if (const auto stored = stored_code(candidate, problem)) {
            auto known =
                loaded({kernel.entry_name(), compiler->target(), stored->compiler, stored->code, stored->resources});
            if (known.kernel) return known;  // if the code does not load here, the source is compiled below
        }
    } catch (const DamagedRow& error) {
        damage = error.what() + std::string("; ");
    }
    if (!trust.jit)
        return {nullptr, damage + "no stored machine code can be loaded, and Options::trust excludes compiling (jit)"};
    try {
        const auto compiled = compiler->compile(program_of(kernel, *candidate.configuration, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) return {nullptr, damage + rejection->reason};
        return loaded(std::get<Binary>(compiled));
    } catch (const CompilerError& error) {
        return {nullptr, damage + error.what()};  // not rethrown: the next candidate may have stored machine code
    }
}

// `asked` may have extents of 0. `launch` belongs to the same problem with extents of 1 instead (zero_extents.h).
Runtime::State::MadeKernel Runtime::State::make(const Candidate& candidate, const Launch& launch, const Problem& asked,
                                                std::shared_ptr<const LoadedKernel> kernel) {
    const auto& operation = candidate.kernel_template->operation;
    auto gemm = prepared_gemm(operation, asked);
    auto extents = gemm ? std::vector<FetchedExtent>() : fetched_extents(operation, asked);
    return std::make_shared<Kernel::State>(
        Kernel::State{.choice = candidate.choice,
                      .problem = asked,
                      .operation = operation_of(*candidate.kernel_template),
                      .backend = backend,
                      .kernel = {with_pooled_workspace(std::move(kernel), launch, workspaces), launch},
                      .gemm = gemm,
                      .extents = std::move(extents)});
}

bool Runtime::State::has_code(const Candidate& candidate, const Problem& problem) {
    try {
        return stored_code(candidate, problem).has_value();
    } catch (const DamagedRow&) {
        return false;
    }
}

// For Options::measure_first_calls: gives `first` its rivals, which are the next best candidates with stored machine
// code. The application's first launches time the rivals and `first` itself. A kernel that was tuned for this very
// problem gets no rivals.
void Runtime::State::add_rivals(MadeKernel& first, LayeredCandidates& candidates, const Problem& problem,
                                const Problem& asked) {
    if (candidates_to_time < 2 || !lost->is_left() || first->choice.match == Match::exact) return;
    std::vector<FirstCalls::Rival> rivals;
    const auto is_known = [&](const Choice& choice) {
        const auto is_same = [&](const Choice& other) {
            return choice.kernel_template == other.kernel_template && choice.configuration == other.configuration;
        };
        return is_same(first->choice) ||
               std::ranges::any_of(rivals, [&](const auto& rival) { return is_same(rival->choice); });
    };
    const auto most_looked_at = 4 * candidates_to_time;
    for (std::size_t i = 0; i < most_looked_at && rivals.size() + 1 < candidates_to_time; ++i) {
        const auto candidate = next(candidates);
        if (!candidate || candidate->choice.match == Match::untuned) break;
        if (is_known(candidate->choice) || !has_code(*candidate, problem)) continue;
        const auto launch = launch_of(*candidate, problem);
        auto loaded = load(*candidate, launch, problem);
        if (!loaded.kernel) continue;
        try {
            auto rival = make(*candidate, launch, asked, std::move(loaded.kernel));
            const bool is_alike = rival->gemm.has_value() == first->gemm.has_value() &&
                                  (!first->gemm || rival->gemm->skips_products == first->gemm->skips_products);
            if (is_alike) rivals.push_back(std::move(rival));
        } catch (const OutOfMemory&) {  // no memory for the rival's workspace, so the rival is left out
        }
    }
    if (!rivals.empty()) first->first_calls = std::make_shared<FirstCalls>(*first, std::move(rivals), lost);
}

void Runtime::State::log_choice(const Problem& problem, const Choice& choice, const std::vector<std::string>& unusable,
                                const std::string& damage) const {
    if (!damage.empty()) log(LogLevel::warning, to_text(problem) + ": left out what is damaged" + damage);
    for (const auto& what : unusable) log(LogLevel::warning, to_text(problem) + ": cannot use " + what);
    log(LogLevel::info, to_text(problem) + ": " + choice.kernel_template + " " + choice.configuration + ", " +
                            std::string(to_text(choice.match)) +
                            (choice.tuned_for.empty() ? "" : ", tuned for " + choice.tuned_for));
}

Runtime::State::MadeKernel Runtime::State::fetch(const Problem& asked, const std::string& kernel_template) {
    const auto problem = without_zero_extents(asked, templates);
    std::string why_not;
    std::vector<std::string> unusable;  // why better candidates cannot be used; logged with the choice
    LayeredCandidates candidates(layers, [&](const Store* store, PredictorCache* predictors) {
        return Candidates(problem, backend->device(), store, templates, kernel_template, own,
                          trust.stored_templates ? StoredTemplates::any : StoredTemplates::known, predictors);
    });
    while (const auto candidate = next(candidates)) {
        const auto refused = [&](const std::string& reason) {
            const auto what = candidate->kernel_template->name + " " + candidate->choice.configuration + ": " + reason;
            why_not += "; " + what;
            unusable.push_back(what);
        };
        const auto launch = launch_of(*candidate, problem);
        auto loaded = load(*candidate, launch, problem);
        if (!loaded.kernel) {
            refused(loaded.why_not);
            continue;  // goes on with the next best candidate
        }
        try {
            auto kernel = make(*candidate, launch, asked, std::move(loaded.kernel));
            if (log) log_choice(problem, candidate->choice, unusable, candidates.damage());
            add_rivals(kernel, candidates, problem, asked);
            return kernel;
        } catch (const OutOfMemory& error) {
            refused(std::string("its workspace: ") + error.what());
        }
    }
    why_not = candidates.why_not() + why_not + candidates.damage();
    throw FetchError("no kernel for " + to_text(problem) + (kernel_template.empty() ? "" : " from " + kernel_template) +
                     " on " + backend->device().name + (why_not.empty() ? "; no template supports it there" : why_not));
}

}  // namespace smemtune
