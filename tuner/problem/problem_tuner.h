// One problem's tuning on one kind of device: which task is next, and when it is done.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tuner/candidates/template_rotation.h"
#include "tuner/problem/cross_size_stage.h"
#include "tuner/problem/finals_stage.h"
#include "tuner/problem/search_pipeline.h"
#include "tuner/problem/task.h"
#include "tuner/problem/trial_ledger.h"
#include "tuner/tuning/plan.h"
#include "tuner/tuning/tune_run.h"

namespace smemtune {

/// Coordinates the stages of one problem. It owns no thread and touches no device: workers ask it for tasks and report
/// their outcomes. All calls are made under one lock.
///
///     search -> sweep -> finals -> done
///     done -> transfer -> transfer_sweep -> transfer_finals -> done      (begin_transfer, where there is something
///     new)
///
/// end_search() leads from a search to its sweep, stop() from anywhere to done.
class ProblemTuner {
public:
    using Clock = std::chrono::steady_clock;

    /// `run` and `problem` must outlive it.
    ProblemTuner(const TuneRun& run, const Problem& problem, const std::vector<PlannedSpace>& spaces);
    ProblemTuner(const ProblemTuner&) = delete;
    ProblemTuner& operator=(const ProblemTuner&) = delete;

    /// For one of `workers`, who may all have their share of the finals. Nothing when it is done, or when what is left
    /// depends on tasks that workers have.
    std::optional<Task> next(std::size_t workers = 1);
    /// Whether there may be more trials, so that another worker is welcome.
    [[nodiscard]] bool is_searching() const;
    /// Whether the next task can begin at once: a worker that would wait for a compiler may look elsewhere first.
    [[nodiscard]] bool is_ready(std::size_t workers = 1);
    /// Whether the next task waits for the compiler.
    [[nodiscard]] bool is_compiling() const;
    /// Whether enough is known here for another problem to start from.
    [[nodiscard]] bool is_well_known() const;
    /// Programs that the search may ask for later, for compilers that have nothing to do. They change little before
    /// open_searches() does.
    [[nodiscard]] std::vector<CompilePool::LazyProgram> speculative_programs() const;
    /// Templates that are worth another proposal.
    [[nodiscard]] std::size_t open_searches() const;
    [[nodiscard]] bool is_done() const { return state_ == State::done; }
    /// The latest run that had stored anything of this problem before; 0 when there is none.
    [[nodiscard]] std::int64_t last_run() const { return ledger_.last_run(); }

    /// Finishes a compiled candidate of a TrialTask without a trial where that is possible; false otherwise.
    bool settle_without_trial(const Proposal& candidate) { return pipeline_.settle_without_trial(candidate); }
    void finish(const Proposal& candidate, const TrialReport& report) { pipeline_.finish(candidate, report); }
    /// One outcome for each candidate; nothing when the worker was lost over them.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes, double seconds);
    /// The worker was lost before it began.
    void give_back(Task task);
    void add_wait(double seconds) { effort_.wait += seconds; }
    /// When it is done: tries the winners of the nearest sizes that are new here; those near the winner are finalists
    /// beside it. It stays done where there are none.
    void begin_transfer();
    /// Submits candidates until `most` wait for a worker; gives how many do.
    std::size_t compile_ahead(std::size_t most);
    /// No further trials, for that reason; the finals follow.
    void end_search(const std::string& why);
    /// No further tasks, for that reason.
    void stop(const std::string& why);

    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] std::optional<double> best_us() const { return ledger_.best_us(); }
    [[nodiscard]] ProblemResult result() const;

private:
    enum class State { search, sweep, finals, transfer, transfer_sweep, transfer_finals, done };

    [[nodiscard]] bool is_transferring() const;
    [[nodiscard]] bool is_in_finals() const { return state_ == State::finals || state_ == State::transfer_finals; }
    void advance();
    void submit_sweep();
    void begin_finals(FinalsStage::Trials finalists);
    void end();
    [[nodiscard]] std::string why_no_more() const;

    const TuneRun& run_;
    const Problem& problem_;
    TemplateSearches searches_;
    Effort effort_;
    TrialLedger ledger_;
    TemplateRotation rotation_;
    SearchPipeline pipeline_;
    FinalsStage finals_;
    CrossSizeStage cross_size_;
    State state_ = State::search;
    std::optional<Clock::time_point> begin_ = Clock::now();  // of this search; nothing before a transfer's first task
    std::string ended_;                                      // why the search ended
};

}  // namespace smemtune
