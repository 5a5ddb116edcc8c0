#include "tuner/bench/competitor.h"

#include <algorithm>
#include <array>

#include "runtime/cublas/gemm_arguments.h"
#include "runtime/inspector.h"
#include "tuner/trial/fetched_kernel.h"
#include "tuner/trial/trial.h"

namespace smemtune {

namespace {

CompetitorKernel contender_of(std::string detail, std::shared_ptr<const LoadedKernel> kernel) {
    auto call = [kernel](void* const* arguments) { kernel->launch(nullptr, {}, arguments); };
    return {std::move(detail), std::move(kernel), std::move(call)};
}

// Whether the library's products are of this operation.
bool computes(const Operation& operation, const Problem& problem) {
    static constexpr std::array<std::string_view, 4> layouts{"nn", "nt", "tn", "tt"};
    return gemm_kind(operation) && problem.type == "f32" && std::ranges::find(layouts, problem.layout) != layouts.end();
}
constexpr const char* other_operation = "compared for gemm and batched_gemm of f32 alone";

class DatabasePeer : public Competitor {
public:
    DatabasePeer(Runtime runtime, std::string name) : runtime_(std::move(runtime)), name_(std::move(name)) {}

    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] std::string version() const override { return name_; }
    [[nodiscard]] Entry enter(const Operation&, const Problem& problem, Testbed&) override {
        return stored_winner(runtime_, problem, "");
    }

private:
    Runtime runtime_;
    std::string name_;
};

class CublasPeer : public Competitor {
public:
    explicit CublasPeer(Cublas library) : library_(std::move(library)) {}

    [[nodiscard]] std::string name() const override { return "cublas"; }
    [[nodiscard]] std::string version() const override { return library_.version(); }
    [[nodiscard]] Entry enter(const Operation& operation, const Problem& problem, Testbed&) override {
        if (!computes(operation, problem)) return other_operation;
        const auto* name = gemm_kind(problem) == GemmKind::single ? "cublasSgemm" : "cublasSgemmStridedBatched";
        return contender_of(name, library_.gemm(problem));
    }

private:
    Cublas library_;
};

class CublasLtPeer : public Competitor {
public:
    CublasLtPeer(Cublas library, Backend& backend, int most)
        : library_(std::move(library)), backend_(backend), most_(most) {}

    [[nodiscard]] std::string name() const override { return "cublaslt"; }
    [[nodiscard]] std::string version() const override { return library_.version(); }
    [[nodiscard]] Entry enter(const Operation& operation, const Problem& problem, Testbed& testbed) override {
        if (!computes(operation, problem)) return other_operation;
        try {
            auto proposals = library_.proposals(problem, most_);
            return choose(proposals, testbed);
        } catch (const VendorError& error) {
            return error.what();
        } catch (const LaunchError& error) {
            return error.what();
        }
    }

private:
    using Timed = std::pair<double, VendorKernel*>;

    Entry choose(std::vector<VendorKernel>& proposals, Testbed& testbed) {
        std::string refused = "cublasLt proposes nothing";
        auto timed = by_time(proposals, testbed, refused);
        if (timed.empty()) return refused;
        const auto right = std::ranges::find_if(timed, [&](const Timed& each) {
            // On the first check alone, which is what is timed.
            constexpr double not_the_others = -1;
            return !testbed.verify(*each.second->kernel, {}, not_the_others).wrong;
        });
        auto& best = *(right == timed.end() ? timed.front() : *right).second;
        auto detail = best.detail + ", the best of " + std::to_string(proposals.size());
        if (right != timed.begin()) detail += ", " + std::to_string(right - timed.begin()) + " of them wrong";
        return contender_of(std::move(detail), std::move(best.kernel));
    }

    // Those that run, the fastest first; otherwise `refused` says what the last one said.
    std::vector<Timed> by_time(std::vector<VendorKernel>& proposals, Testbed& testbed, std::string& refused) {
        std::vector<Timed> timed;
        double best_us = 0;
        for (auto& proposal : proposals) {
            try {
                const auto us = time_kernel(backend_, testbed, *proposal.kernel, {}, {}, best_us, 0).median_us;
                best_us = timed.empty() ? us : std::min(best_us, us);
                timed.emplace_back(us, &proposal);
            } catch (const LaunchError& error) {
                refused = error.what();
            }
        }
        std::ranges::stable_sort(timed, {}, &Timed::first);
        return timed;
    }

    Cublas library_;
    Backend& backend_;
    int most_;
};

}  // namespace

Entry stored_winner(Runtime& runtime, const Problem& problem, const std::string& kernel_template) {
    try {
        const auto kernel = runtime.fetch(problem, kernel_template);
        const auto& choice = kernel.choice();
        if (choice.match != Match::exact) return "no winner is stored for it";
        const auto count = kernel.argument_names().size();
        return CompetitorKernel{
            .detail = choice.kernel_template + (choice.configuration.empty() ? "" : " " + choice.configuration),
            .kernel = std::make_shared<FetchedKernel>(kernel),
            .call = [&runtime, problem, kernel_template, count](void* const* arguments) {
                runtime.fetch(problem, kernel_template).launch(nullptr, {arguments, count});
            }};
    } catch (const FetchError& error) {
        return error.what();
    }
}

std::unique_ptr<Competitor> database_peer(const Runtime& runtime, const std::filesystem::path& database) {
    return std::make_unique<DatabasePeer>(RuntimeInspector::beside(runtime, database), database.filename().string());
}

std::unique_ptr<Competitor> cublas_peer(const Cublas& library) { return std::make_unique<CublasPeer>(library); }

std::unique_ptr<Competitor> cublaslt_peer(const Cublas& library, Backend& backend, int most) {
    return std::make_unique<CublasLtPeer>(library, backend, most);
}

}  // namespace smemtune
