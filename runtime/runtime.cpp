#include "runtime/runtime.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "runtime/backend.h"
#include "runtime/configured_kernel.h"
#include "runtime/cublas/gemm_arguments.h"
#include "runtime/fetch/program_cache.h"
#include "runtime/fetch/shape_table.h"
#include "runtime/fetch/single_flight.h"
#include "runtime/fetch/trust.h"
#include "runtime/fetch/workspace_pool.h"
#include "runtime/fetch/zero_extents.h"
#include "runtime/inspector.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "util/hash.h"

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

struct Kernel::State {
    Choice choice;
    Problem problem;
    std::shared_ptr<const Operation> operation;  // kernels of one template share it
    std::shared_ptr<Backend> backend;            // must outlive `kernel`
    ConfiguredKernel kernel;
    std::optional<GemmKind> gemm;  // nothing for other operations
    bool skips_products = false;
    bool transposed_a = false;
    bool transposed_b = false;
};

const Choice& Kernel::choice() const { return state_->choice; }
const Problem& Kernel::problem() const { return state_->problem; }

std::vector<std::string> Kernel::argument_names() const {
    std::vector<std::string> names;
    for (const auto& argument : state_->operation->arguments) names.push_back(argument.name);
    return names;
}

std::int64_t Kernel::workspace_bytes() const {
    const auto& workspace = state_->kernel.parameters().workspace;
    return workspace ? workspace->bytes : 0;
}

void Kernel::launch(CUstream_st* stream, std::span<void* const> arguments) const {
    const auto count = state_->operation->arguments.size();
    if (arguments.size() != count) {
        throw std::invalid_argument("the kernel takes " + std::to_string(count) + " arguments, not " +
                                    std::to_string(arguments.size()));
    }
    if (!state_->gemm) return state_->kernel.launch(stream, arguments);
    auto given = gemm_arguments(arguments.data(), *state_->gemm);
    const auto fetched = gemm_extents(state_->problem, *state_->gemm);
    // K = 0 asks for C = beta * C, as alpha = 0 does.
    const bool same = given.batch == fetched.batch && given.m == fetched.m && given.n == fetched.n &&
                      (given.k == fetched.k || (given.k == 0 && state_->skips_products));
    if (!same) {
        throw std::invalid_argument("the kernel was fetched for " + to_text(state_->problem) +
                                    ", but its arguments give other extents; fetch a kernel for those");
    }
    if (is_empty(given)) return;
    if (state_->skips_products) skip_products(given);
    const auto addresses = addresses_of(given, *state_->gemm);
    state_->kernel.launch(stream, std::span(addresses).first(arguments.size()));
}

namespace {

// The stride of a stored matrix with rows of `row` elements. `ld` is the name of the argument.
long long stride_of(std::int64_t given, std::int64_t row, const char* ld) {
    if (given != 0 && given < row) {
        throw std::invalid_argument(std::string(ld) + "=" + std::to_string(given) + " is shorter than a row of " +
                                    std::to_string(row) + " elements");
    }
    return given == 0 ? row : given;
}

long long batch_stride_of(std::optional<std::int64_t> given, long long packed, std::int64_t least, const char* name) {
    if (given && *given < least) {
        throw std::invalid_argument(std::string(name) + "=" + std::to_string(*given) + " is less than " +
                                    std::to_string(least) + "; leave it out for matrices one behind the other");
    }
    return given.value_or(packed);
}

}  // namespace

void Kernel::launch(CUstream_st* stream, const GemmOperands& operands) const {
    const auto& state = *state_;
    if (!state.gemm) throw std::invalid_argument(state.problem.operation + " does not take the operands of a gemm");
    const auto kind = *state.gemm;
    auto given = gemm_extents(state.problem, kind);
    given.alpha = static_cast<float>(operands.alpha);
    given.a = operands.a;
    given.b = operands.b;
    given.beta = static_cast<float>(operands.beta);
    given.c = operands.c;
    const auto [a, b, c] = stored_shapes(given, state.transposed_a, state.transposed_b);
    given.lda = stride_of(operands.lda, a.columns, "lda");
    given.ldb = stride_of(operands.ldb, b.columns, "ldb");
    given.ldc = stride_of(operands.ldc, c.columns, "ldc");
    if (kind == GemmKind::batched) {
        given.stride_a = batch_stride_of(operands.batch_stride_a, a.rows * given.lda, 0, "batch_stride_a");
        given.stride_b = batch_stride_of(operands.batch_stride_b, b.rows * given.ldb, 0, "batch_stride_b");
        given.stride_c = batch_stride_of(operands.batch_stride_c, c.rows * given.ldc, 1, "batch_stride_c");
    } else if (operands.batch_stride_a || operands.batch_stride_b || operands.batch_stride_c) {
        throw std::invalid_argument("a gemm is one product and takes no batch stride; fetch a batched_gemm");
    }
    if (is_empty(given)) return;
    if (state_->skips_products) skip_products(given);
    const auto addresses = addresses_of(given, kind);
    state.kernel.launch(stream, std::span(addresses).first(state.operation->arguments.size()));
}

struct Runtime::State {
    State(std::vector<KernelTemplate> its_templates, std::vector<std::string> its_own, Trust its_trust,
          std::size_t remembered)
        : templates(std::move(its_templates)), own(std::move(its_own)), trust(its_trust), fetched(remembered) {}

    const std::vector<KernelTemplate> templates;
    const std::vector<std::string> own;  // names of the templates from folders
    const Trust trust;
    std::shared_ptr<Backend> backend;
    std::shared_ptr<Compiler> compiler;
    std::shared_ptr<WorkspacePool> workspaces;
    ShapeTable<Kernel> fetched;
    SingleFlight<std::pair<Problem, std::string>, Kernel> fetching;
    ProgramCache programs;
    std::mutex store_mutex;  // a Store serves one thread at a time; never held while compiling or loading
    std::optional<Store> store;
    PredictorCache predictors;
    std::mutex operations_mutex;
    std::map<std::string, std::shared_ptr<const Operation>> operations;  // by the template's hash

    std::shared_ptr<const Operation> operation_of(const KernelTemplate& kernel);
    std::optional<Candidate> next(Candidates& candidates);
    std::optional<BinaryRecord> stored_code(const Candidate& candidate, const Problem& problem);
    ProgramCache::Loaded load(const Candidate& candidate, const Problem& problem);
    ProgramCache::Loaded load_or_compile(const Candidate& candidate, const Problem& problem, std::int64_t dynamic);
    Kernel make(const Candidate& candidate, const Problem& problem, const Problem& asked,
                std::shared_ptr<const LoadedKernel> kernel);
    Kernel fetch(const Problem& asked, const std::string& kernel_template);
};

namespace {

// Symbolic links are followed once, so that what is read is what was looked at.
SourceTree read_trusted(const std::filesystem::path& folder, const Trust& trust) {
    if (trust.any_owner || trust.any_template_owner || !std::filesystem::exists(folder)) return read_sources(folder);
    const auto target = std::filesystem::canonical(folder);
    require_trusted_templates(target);
    return read_sources(target);
}

Store open_trusted(const std::filesystem::path& database, const Trust& trust) {
    StoreOptions options;
    if (!trust.any_owner) options.before_opening = require_trusted_database;
    return Store(database, Store::Access::read, options);
}

std::optional<Store> open_store(const Runtime::Options& options) {
    if (options.database.empty()) return std::nullopt;
    if (!std::filesystem::exists(options.database)) {
        if (options.database_may_be_absent) return std::nullopt;
        throw StoreError(options.database.string() +
                         ": does not exist; tune first, check the path, or set Options::database_may_be_absent to do "
                         "without");
    }
    return open_trusted(options.database, options.trust);
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

Runtime::Runtime(const Options& options) {
    auto templates = load_templates(builtin_sources());
    std::vector<std::string> names;
    for (const auto& folder : options.template_folders) {
        for (auto& own : load_templates(read_trusted(folder, options.trust))) {
            std::erase_if(templates, [&](const KernelTemplate& known) { return known.name == own.name; });
            names.push_back(own.name);
            templates.push_back(std::move(own));
        }
    }
    state_ =
        std::make_unique<State>(std::move(templates), std::move(names), options.trust, options.remembered_problems);
    state_->store = open_store(options);
    state_->backend = open_device(options);
    state_->compiler = make_compiler(state_->backend->device(), {.host_compiler = options.host_compiler});
    state_->workspaces = std::make_shared<WorkspacePool>(state_->backend);
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
                                                  Runtime::Options{}.remembered_problems);
    state->store = open_trusted(database, known.trust);
    state->backend = known.backend;
    state->compiler = known.compiler;
    state->workspaces = known.workspaces;
    return Runtime(std::move(state));
}

Kernel Runtime::fetch(const Problem& problem, std::string_view kernel_template) {
    auto& state = *state_;
    if (auto known = state.fetched.find(problem, kernel_template)) return *std::move(known);
    const std::pair key(problem, std::string(kernel_template));
    return state.fetching.run(key, [&] {
        if (auto known = state.fetched.find(problem, kernel_template)) return *std::move(known);  // fetched since
        auto kernel = state.fetch(problem, key.second);
        state.fetched.insert(problem, kernel_template, kernel);
        return kernel;
    });
}

std::shared_ptr<const Operation> Runtime::State::operation_of(const KernelTemplate& kernel) {
    const std::scoped_lock lock(operations_mutex);
    auto& operation = operations[kernel.hash];
    if (!operation) operation = std::make_shared<const Operation>(kernel.operation);
    return operation;
}

std::optional<Candidate> Runtime::State::next(Candidates& candidates) {
    const std::scoped_lock lock(store_mutex);
    return candidates.next();
}

std::optional<BinaryRecord> Runtime::State::stored_code(const Candidate& candidate, const Problem& problem) {
    if (!trust.machine_code || !candidate.template_row) return std::nullopt;
    const std::scoped_lock lock(store_mutex);
    auto code = store->recall_binary(candidate.kernel_template.name, candidate.stored_hash, candidate.stored,
                                     binary_key(compiler->target(), problem));
    const bool is_verified =
        code && (candidate.code_hash.empty() || candidate.code_hash == sha256(std::as_bytes(std::span(code->code))));
    return is_verified ? std::move(code) : std::nullopt;
}

ProgramCache::Loaded Runtime::State::load(const Candidate& candidate, const Problem& problem) {
    const auto& kernel = candidate.kernel_template;
    // Problems of several sizes share a loaded kernel unless they need different amounts of dynamic shared memory.
    const auto dynamic = launch_of(kernel, candidate.configuration, problem, backend->device()).dynamic_shared_bytes;
    // What was verified as certain machine code is not served with other code of the same source.
    const auto key = kernel.hash + " " + candidate.code_hash + " " + std::to_string(dynamic) +
                     render(kernel, candidate.configuration, problem);
    return programs.get(key, [&] { return load_or_compile(candidate, problem, dynamic); });
}

ProgramCache::Loaded Runtime::State::load_or_compile(const Candidate& candidate, const Problem& problem,
                                                     std::int64_t dynamic) {
    const auto& kernel = candidate.kernel_template;
    const auto loaded = [&](const Binary& binary) -> ProgramCache::Loaded {
        try {
            return {backend->load(binary, dynamic), {}};
        } catch (const LaunchError& error) {
            return {nullptr, error.what()};
        }
    };
    std::string damage;  // why the stored machine code is damaged; it is then compiled again
    try {
        if (const auto stored = stored_code(candidate, problem)) {
            auto known = loaded({kernel.name, compiler->target(), stored->compiler, stored->code, stored->resources});
            if (known.kernel) return known;  // otherwise it cannot be used here and is compiled again
        }
    } catch (const DamagedRow& error) {
        damage = error.what() + std::string("; ");
    }
    if (!trust.jit)
        return {nullptr, damage + "no machine code that loads is stored, and Options::trust excludes compiling (jit)"};
    try {
        const auto compiled = compiler->compile(program_of(kernel, candidate.configuration, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) return {nullptr, damage + rejection->reason};
        return loaded(std::get<Binary>(compiled));
    } catch (const CompilerError& error) {
        return {nullptr, damage + error.what()};  // another candidate may have stored machine code
    }
}

// `problem` has no extent of 0; `asked` may.
Kernel Runtime::State::make(const Candidate& candidate, const Problem& problem, const Problem& asked,
                            std::shared_ptr<const LoadedKernel> kernel) {
    const auto& operation = candidate.kernel_template.operation;
    const auto launch = launch_of(candidate.kernel_template, candidate.configuration, problem, backend->device());
    auto state = std::make_shared<Kernel::State>(
        Kernel::State{.choice = candidate.choice,
                      .problem = asked,
                      .operation = operation_of(candidate.kernel_template),
                      .backend = backend,
                      .kernel = {with_pooled_workspace(std::move(kernel), launch, workspaces), launch},
                      .gemm = gemm_kind(operation),
                      .skips_products = is_verified_without_products(operation)});
    // A user's own gemm may have no layouts: nothing is transposed then.
    if (const auto layout = operation.layouts.find(problem.layout); state->gemm && layout != operation.layouts.end()) {
        state->transposed_a = layout->second.at("TRANSPOSE_A") != 0;
        state->transposed_b = layout->second.at("TRANSPOSE_B") != 0;
    }
    return Kernel(std::move(state));
}

Kernel Runtime::State::fetch(const Problem& asked, const std::string& kernel_template) {
    const auto problem = without_zero_extents(asked, templates);
    std::string why_not;
    auto candidates = [&] {
        const std::scoped_lock lock(store_mutex);
        return Candidates(problem, backend->device(), store ? &*store : nullptr, templates, kernel_template, own,
                          trust.stored_templates ? StoredTemplates::any : StoredTemplates::known, &predictors);
    }();
    while (const auto candidate = next(candidates)) {
        const auto refused = [&](const std::string& reason) {
            why_not += "; " + candidate->kernel_template.name + " " + candidate->choice.configuration + ": " + reason;
        };
        auto loaded = load(*candidate, problem);
        if (!loaded.kernel) {
            refused(loaded.why_not);
            continue;  // try the next best
        }
        try {
            return make(*candidate, problem, asked, std::move(loaded.kernel));
        } catch (const OutOfMemory& error) {
            refused(std::string("its workspace: ") + error.what());
        }
    }
    why_not = candidates.why_not() + why_not + candidates.damage();
    throw FetchError("no kernel for " + to_text(problem) + (kernel_template.empty() ? "" : " from " + kernel_template) +
                     " on " + backend->device().name + (why_not.empty() ? "; no template supports it there" : why_not));
}

}  // namespace smemtune
