#include "tuner/bench/competitor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "runtime/cublas/gemm_arguments.h"
#include "runtime/inspector.h"
#include "tuner/trial/fetched_kernel.h"
#include "tuner/trial/trial.h"

namespace smemtune {

namespace {

CompetitorKernel competitor_kernel(std::string algorithm, std::shared_ptr<const BoundKernel> kernel) {
    auto call = [kernel](std::span<void* const> arguments) { kernel->launch(nullptr, arguments); };
    return {{std::move(algorithm)}, std::move(kernel), std::move(call)};
}

// Whether cuBLAS computes this operation.
bool computes(const Operation& operation, const Problem& problem) {
    static constexpr std::array<std::string_view, 4> layouts{"nn", "nt", "tn", "tt"};
    return gemm_kind(operation) && Cublas::has(problem.type) &&
           std::ranges::find(layouts, problem.layout) != layouts.end();
}

Unavailable other_operation() {
    return {fmt::format("only gemm and batched_gemm of {} are compared with cuBLAS", fmt::join(Cublas::types(), ", "))};
}

class DatabaseCompetitor : public Competitor {
public:
    DatabaseCompetitor(Runtime runtime, std::string name) : runtime_(std::move(runtime)), name_(std::move(name)) {}

    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] std::string version() const override { return name_; }
    [[nodiscard]] CompetitorKernelOrReason prepare(const Operation&, const Problem& problem, Testbed&) override {
        return stored_winner(runtime_, problem, "");
    }

private:
    Runtime runtime_;
    std::string name_;
};

class CublasCompetitor : public Competitor {
public:
    explicit CublasCompetitor(Cublas library) : library_(std::move(library)) {}

    [[nodiscard]] std::string name() const override { return "cublas"; }
    [[nodiscard]] std::string version() const override { return library_.version(); }
    [[nodiscard]] CompetitorKernelOrReason prepare(const Operation& operation, const Problem& problem,
                                                   Testbed&) override {
        if (!computes(operation, problem)) return other_operation();
        auto [name, kernel] = library_.gemm(problem);
        return competitor_kernel(std::move(name), std::move(kernel));
    }

private:
    Cublas library_;
};

class CublasLtCompetitor : public Competitor {
public:
    CublasLtCompetitor(Cublas library, Backend& backend, int most)
        : library_(std::move(library)), backend_(backend), most_(most) {}

    [[nodiscard]] std::string name() const override { return "cublaslt"; }
    [[nodiscard]] std::string version() const override { return library_.version(); }
    [[nodiscard]] CompetitorKernelOrReason prepare(const Operation& operation, const Problem& problem,
                                                   Testbed& testbed) override {
        if (!computes(operation, problem)) return other_operation();
        try {
            auto proposals = library_.proposals(problem, most_);
            return choose(proposals, testbed);
        } catch (const VendorError& error) {
            return Unavailable{error.what()};
        } catch (const LaunchError& error) {
            return Unavailable{error.what()};
        }
    }

private:
    struct TimedProposal {
        double us;
        VendorKernel* proposal;
    };

    CompetitorKernelOrReason choose(std::vector<VendorKernel>& proposals, Testbed& testbed) {
        std::string refused = "cublasLt proposes nothing";
        auto timed = by_time(proposals, testbed, refused);
        if (timed.empty()) return Unavailable{refused};
        const auto right = std::ranges::find_if(timed, [&](const TimedProposal& each) {
            return !testbed.verify_first_check(*each.proposal->kernel).wrong;
        });
        auto& best = *(right == timed.end() ? timed.front() : *right).proposal;
        auto detail = best.detail + ", the best of " + std::to_string(proposals.size());
        if (right != timed.begin()) detail += ", " + std::to_string(right - timed.begin()) + " of them wrong";
        return competitor_kernel(std::move(detail), std::move(best.kernel));
    }

    // Returns cublasLt's proposals that run, fastest first. `refused` receives the message of the last proposal that
    // does not run.
    std::vector<TimedProposal> by_time(std::vector<VendorKernel>& proposals, Testbed& testbed, std::string& refused) {
        std::vector<TimedProposal> timed;
        std::optional<double> best_us;
        for (auto& proposal : proposals) {
            try {
                const auto us = time_kernel(backend_, testbed, *proposal.kernel, {}, best_us).median_us;
                best_us = std::min(best_us.value_or(us), us);
                timed.push_back({us, &proposal});
            } catch (const LaunchError& error) {
                refused = error.what();
            }
        }
        std::ranges::stable_sort(timed, {}, &TimedProposal::us);
        return timed;
    }

    Cublas library_;
    Backend& backend_;
    int most_;
};

}  // namespace

CompetitorKernelOrReason served_kernel(Runtime& runtime, const Problem& problem, const std::string& kernel_template) {
    try {
        const auto kernel = runtime.fetch(problem, kernel_template);
        const auto& choice = kernel.choice();
        return CompetitorKernel{.description = {choice.kernel_template, parse_configuration(choice.configuration)},
                                .kernel = std::make_shared<FetchedKernel>(kernel),
                                .call =
                                    [&runtime, problem, kernel_template](std::span<void* const> arguments) {
                                        runtime.fetch(problem, kernel_template).launch(nullptr, arguments);
                                    },
                                .match = std::string(to_text(choice.match))};
    } catch (const FetchError& error) {
        return Unavailable{error.what()};
    }
}

CompetitorKernelOrReason stored_winner(Runtime& runtime, const Problem& problem, const std::string& kernel_template) {
    auto served = served_kernel(runtime, problem, kernel_template);
    const auto* kernel = std::get_if<CompetitorKernel>(&served);
    if (kernel != nullptr && kernel->match != to_text(Match::exact)) return Unavailable{"no winner is stored for it"};
    return served;
}

std::unique_ptr<Competitor> database_competitor(const Runtime& runtime, const std::filesystem::path& database) {
    return std::make_unique<DatabaseCompetitor>(RuntimeInspector::beside(runtime, database),
                                                database.filename().string());
}

std::unique_ptr<Competitor> cublas_competitor(const Cublas& library) {
    return std::make_unique<CublasCompetitor>(library);
}

std::unique_ptr<Competitor> cublaslt_competitor(const Cublas& library, Backend& backend, int most) {
    return std::make_unique<CublasLtCompetitor>(library, backend, most);
}

}  // namespace smemtune
