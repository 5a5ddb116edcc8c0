#include "runtime/runtime.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/backend.h"
#include "runtime/gemm_arguments.h"
#include "runtime/inspector.h"
#include "runtime/selection.h"
#include "templates/catalog.h"

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
    Launch launch;
    std::shared_ptr<const LoadedKernel> loaded;
    bool is_gemm = false;
    bool transposed_a = false;
    bool transposed_b = false;

    // Run-time parameters follow the operation's arguments.
    void run(StreamHandle stream, std::span<void* const> given) const {
        if (launch.runtime_arguments.empty()) return loaded->launch(stream, launch, given.data());
        std::array<void*, most_arguments> all{};
        auto* next = std::ranges::copy(given, all.begin()).out;
        for (const auto& value : launch.runtime_arguments) *next++ = const_cast<int*>(&value);
        loaded->launch(stream, launch, all.data());
    }
};

const Choice& Kernel::choice() const { return state_->choice; }
const Problem& Kernel::problem() const { return state_->problem; }

std::vector<std::string> Kernel::argument_names() const {
    std::vector<std::string> names;
    for (const auto& argument : state_->arguments) names.push_back(argument.name);
    return names;
}

void Kernel::launch(CUstream_st* stream, std::span<void* const> arguments) const {
    if (arguments.size() != state_->arguments.size()) {
        throw std::invalid_argument("the kernel takes " + std::to_string(state_->arguments.size()) +
                                    " arguments, not " + std::to_string(arguments.size()));
    }
    state_->run(stream, arguments);
}

void Kernel::launch(CUstream_st* stream, const GemmOperands& operands) const {
    const auto& state = *state_;
    if (!state.is_gemm) throw std::invalid_argument(state.problem.operation + " does not take the operands of a gemm");
    const auto stride = [](std::int64_t given, std::int64_t row, const char* name) -> long long {
        if (given != 0 && given < row) {
            throw std::invalid_argument(std::string(name) + "=" + std::to_string(given) + " is shorter than a row of " +
                                        std::to_string(row) + " elements");
        }
        return given == 0 ? row : given;
    };
    // Types as the kernels declare them.
    const auto& extents = state.problem.extents;
    int m = static_cast<int>(extents[0].second);
    int n = static_cast<int>(extents[1].second);
    int k = static_cast<int>(extents[2].second);
    auto lda = stride(operands.lda, state.transposed_a ? m : k, "lda");
    auto ldb = stride(operands.ldb, state.transposed_b ? k : n, "ldb");
    auto ldc = stride(operands.ldc, n, "ldc");
    auto alpha = static_cast<float>(operands.alpha);
    auto beta = static_cast<float>(operands.beta);
    const void* a = operands.a;
    const void* b = operands.b;
    void* c = operands.c;
    const std::array<void*, 11> arguments{&m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc};
    state.run(stream, arguments);
}

struct Runtime::State {
    std::vector<KernelTemplate> templates;
    std::optional<Store> store;
    std::shared_ptr<Backend> backend;
    std::shared_ptr<Compiler> compiler;
    std::mutex mutex;
    std::map<std::pair<Problem, std::string>, Kernel> fetched;
    std::map<std::string, std::shared_ptr<const LoadedKernel>> loaded;  // by code and configuration: sizes share them

    std::shared_ptr<const LoadedKernel> load(const Candidate& candidate, const Problem& problem, std::string& why_not);
    Kernel fetch(const Problem& problem, const std::string& kernel_template);
};

Runtime::Runtime(const Options& options) : state_(std::make_unique<State>()) {
    auto& state = *state_;
    state.templates = load_templates(builtin_sources());
    for (const auto& folder : options.template_folders) {
        std::ranges::move(load_templates(read_sources(folder)), std::back_inserter(state.templates));
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
    // Sizes share a loaded kernel unless they need different amounts of dynamic shared memory.
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
        const auto stored = store->recall_binary(*candidate.template_row, candidate.configuration,
                                                 binary_key(compiler->target(), problem));
        if (stored) {
            auto known = ready({kernel.name, compiler->target(), stored->compiler, stored->code, stored->resources});
            if (known) return known;  // else it is of no use here, and made anew
        }
    }
    try {
        const auto compiled = compiler->compile(program_of(kernel, candidate.configuration, problem));
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) return refused(rejection->reason);
        return ready(std::get<Binary>(compiled));
    } catch (const CompilerError& error) {
        return refused(error.what());  // of another candidate there may be machine code
    }
}

Kernel Runtime::State::fetch(const Problem& problem, const std::string& kernel_template) {
    std::string why_not;
    const auto& device = backend->device();
    Candidates candidates(problem, device, store ? &*store : nullptr, templates, kernel_template);
    while (const auto candidate = candidates.next()) {
        auto kernel = load(*candidate, problem, why_not);
        if (!kernel) continue;  // the next best may do
        const auto& operation = candidate->kernel_template.operation;
        auto state = std::make_shared<Kernel::State>();
        state->choice = candidate->choice;
        state->problem = problem;
        state->arguments = operation.arguments;
        state->launch = launch_of(candidate->kernel_template, candidate->configuration, problem, device);
        state->loaded = std::move(kernel);
        if (takes_gemm_arguments(operation)) {
            const auto& layout = operation.layouts.at(problem.layout);
            state->is_gemm = true;
            state->transposed_a = layout.at("TRANSPOSE_A") != 0;
            state->transposed_b = layout.at("TRANSPOSE_B") != 0;
        }
        return Kernel(std::move(state));
    }
    throw FetchError("no kernel for " + to_text(problem) + (kernel_template.empty() ? "" : " from " + kernel_template) +
                     " on " + device.name + (why_not.empty() ? "; no template supports it there" : why_not));
}

}  // namespace smemtune
