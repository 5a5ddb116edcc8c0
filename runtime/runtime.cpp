#include "runtime/runtime.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/backend.h"
#include "runtime/configured_kernel.h"
#include "runtime/cublas/gemm_arguments.h"
#include "runtime/inspector.h"
#include "runtime/selection.h"
#include "runtime/workspace.h"
#include "runtime/zero_extents.h"
#include "templates/manifest/catalog.h"

namespace smemtune {

std::string_view to_text(Match match) {
    switch (match) {
        case Match::exact: return "exact";
        case Match::nearest: return "nearest";
        case Match::transferred: return "transferred";
        case Match::untuned: return "untuned";
    }
    return "unknown";
}

struct Kernel::State {
    Choice choice;
    Problem problem;
    std::vector<Argument> arguments;
    std::shared_ptr<Backend> backend;  // must outlive `kernel`
    ConfiguredKernel kernel;
    std::optional<GemmKind> gemm;  // nothing for other operations
    bool transposed_a = false;
    bool transposed_b = false;
};

const Choice& Kernel::choice() const { return state_->choice; }
const Problem& Kernel::problem() const { return state_->problem; }

std::vector<std::string> Kernel::argument_names() const {
    std::vector<std::string> names;
    for (const auto& argument : state_->arguments) names.push_back(argument.name);
    return names;
}

std::int64_t Kernel::workspace_bytes() const {
    const auto& workspace = state_->kernel.parameters().workspace;
    return workspace ? workspace->bytes : 0;
}

void Kernel::launch(CUstream_st* stream, std::span<void* const> arguments) const {
    if (arguments.size() != state_->arguments.size()) {
        throw std::invalid_argument("the kernel takes " + std::to_string(state_->arguments.size()) +
                                    " arguments, not " + std::to_string(arguments.size()));
    }
    if (!state_->gemm) return state_->kernel.launch(stream, arguments);
    auto given = gemm_arguments(arguments.data(), *state_->gemm);
    if (is_empty(given)) return;
    skip_products(given);
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
    skip_products(given);
    const auto addresses = addresses_of(given, kind);
    state.kernel.launch(stream, std::span(addresses).first(state.arguments.size()));
}

struct Runtime::State {
    std::vector<KernelTemplate> templates;
    std::vector<std::string> own;  // names of the templates from folders
    std::optional<Store> store;
    std::shared_ptr<Backend> backend;
    std::shared_ptr<Compiler> compiler;
    std::mutex mutex;
    std::map<std::pair<Problem, std::string>, Kernel> fetched;
    std::map<std::string, std::shared_ptr<const LoadedKernel>> loaded;  // by code; problems share them

    std::shared_ptr<const LoadedKernel> load(const Candidate& candidate, const Problem& problem, std::string& why_not);
    Kernel fetch(const Problem& asked, const std::string& kernel_template);
};

Runtime::Runtime(const Options& options) : state_(std::make_unique<State>()) {
    auto& state = *state_;
    state.templates = load_templates(builtin_sources());
    for (const auto& folder : options.template_folders) {
        for (auto& own : load_templates(read_sources(folder))) {
            std::erase_if(state.templates, [&](const KernelTemplate& known) { return known.name == own.name; });
            state.own.push_back(own.name);
            state.templates.push_back(std::move(own));
        }
    }
    if (!options.database.empty() && std::filesystem::exists(options.database)) {
        state.store.emplace(options.database, Store::Access::read);
    }
    state.backend = open_backend(options.device);
    state.compiler = make_compiler(state.backend->device(), {.host_compiler = options.host_compiler});
}
Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Backend& RuntimeInspector::backend(Runtime& runtime) { return *runtime.state_->backend; }
const Compiler& RuntimeInspector::compiler(const Runtime& runtime) { return *runtime.state_->compiler; }
Runtime RuntimeInspector::beside(const Runtime& runtime, const std::filesystem::path& database) {
    auto state = std::make_unique<Runtime::State>();
    state->templates = runtime.state_->templates;
    state->own = runtime.state_->own;
    state->store.emplace(database, Store::Access::read);
    state->backend = runtime.state_->backend;
    state->compiler = runtime.state_->compiler;
    return Runtime(std::move(state));
}

Kernel Runtime::fetch(const Problem& problem, std::string_view kernel_template) {
    const std::scoped_lock lock(state_->mutex);
    const std::pair key(problem, std::string(kernel_template));
    if (const auto known = state_->fetched.find(key); known != state_->fetched.end()) return known->second;
    return state_->fetched.emplace(key, state_->fetch(problem, key.second)).first->second;
}

std::shared_ptr<const LoadedKernel> Runtime::State::load(const Candidate& candidate, const Problem& problem,
                                                         std::string& why_not) {
    const auto& kernel = candidate.kernel_template;
    // Problems of several sizes share a loaded kernel unless they need different amounts of dynamic shared memory.
    const auto dynamic = launch_of(kernel, candidate.configuration, problem, backend->device()).dynamic_shared_bytes;
    const auto key = kernel.hash + std::to_string(dynamic) + render(kernel, candidate.configuration, problem);
    if (const auto known = loaded.find(key); known != loaded.end()) return known->second;

    const auto refused = [&](const std::string& reason) {
        why_not += "; " + kernel.name + " " + candidate.choice.configuration + ": " + reason;
        return nullptr;
    };
    const auto ready = [&](const Binary& binary) -> std::shared_ptr<const LoadedKernel> {
        try {
            return loaded[key] = backend->load(binary, dynamic);
        } catch (const LaunchError& error) {
            return refused(error.what());
        }
    };
    if (store && candidate.template_row) {
        try {
            const auto stored = store->recall_binary(*candidate.template_row, candidate.configuration,
                                                     binary_key(compiler->target(), problem));
            if (stored) {
                auto known =
                    ready({kernel.name, compiler->target(), stored->compiler, stored->code, stored->resources});
                if (known) return known;  // otherwise it cannot be used here and is compiled again
            }
        } catch (const DamagedRow& error) {
            refused(error.what());  // compiled again
        }
    }
    try {
        const auto compiled = compiler->compile(program_of(kernel, candidate.configuration, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) return refused(rejection->reason);
        return ready(std::get<Binary>(compiled));
    } catch (const CompilerError& error) {
        return refused(error.what());  // another candidate may have stored machine code
    }
}

Kernel Runtime::State::fetch(const Problem& asked, const std::string& kernel_template) {
    const auto problem = without_zero_extents(asked, templates);
    std::string why_not;
    const auto& device = backend->device();
    Candidates candidates(problem, device, store ? &*store : nullptr, templates, kernel_template, own);
    while (const auto candidate = candidates.next()) {
        auto kernel = load(*candidate, problem, why_not);
        if (!kernel) continue;  // try the next best
        const auto& operation = candidate->kernel_template.operation;
        const auto launch = launch_of(candidate->kernel_template, candidate->configuration, problem, device);
        try {
            kernel = with_workspace(std::move(kernel), launch, *backend);
        } catch (const OutOfMemory& error) {
            why_not += "; " + candidate->kernel_template.name + " " + candidate->choice.configuration +
                       ": its workspace: " + error.what();
            continue;
        }
        auto state = std::make_shared<Kernel::State>(Kernel::State{.choice = candidate->choice,
                                                                   .problem = asked,
                                                                   .arguments = operation.arguments,
                                                                   .backend = backend,
                                                                   .kernel = {std::move(kernel), launch},
                                                                   .gemm = gemm_kind(operation)});
        // A user's own gemm may have no layouts: nothing is transposed then.
        if (const auto layout = operation.layouts.find(problem.layout);
            state->gemm && layout != operation.layouts.end()) {
            state->transposed_a = layout->second.at("TRANSPOSE_A") != 0;
            state->transposed_b = layout->second.at("TRANSPOSE_B") != 0;
        }
        return Kernel(std::move(state));
    }
    throw FetchError("no kernel for " + to_text(problem) + (kernel_template.empty() ? "" : " from " + kernel_template) +
                     " on " + device.name +
                     (why_not.empty() && candidates.damage().empty() ? "; no template supports it there"
                                                                     : why_not + candidates.damage()));
}

}  // namespace smemtune
