// Tunes one problem on one kind of device: chooses the next task, and decides when the problem is done.
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

/// Coordinates the stages of one problem. The class owns no thread and touches no device: the workers' threads ask for
/// tasks and report the outcomes. All calls are made under one lock.
///
///     unverified -> search -> sweep -> finals -> done
///     done -> transfer -> transfer_sweep -> transfer_finals -> done      (after begin_transfer())
///
/// In the state `unverified`, two kinds of stored trials are tried again: measurements that may be among the fastest
/// but lack this run's verification identity, and crashes and timeouts that are due for a retry. A sweep tries the
/// best few configurations with all values of their run-time parameters (runtime_sweep.h). end_search() leads from a
/// search to its sweep, which then tries nothing. stop() leads from any state to done.
class ProblemTuner {
public:
    using Clock = std::chrono::steady_clock;

    /// `run` and `problem` must outlive the tuner. All templates of `spaces` have the same operation, which decides how
    /// trials are verified.
    ProblemTuner(const TuneRun& run, const Problem& problem, const std::vector<PlannedSpace>& spaces);
    ProblemTuner(const ProblemTuner&) = delete;
    ProblemTuner& operator=(const ProblemTuner&) = delete;

    /// Returns the next task for one of `workers` workers, which share the finals. Returns nothing if the problem is
    /// done, or if further tasks depend on tasks that workers have taken.
    std::optional<Task> next(std::size_t workers = 1);
    /// Whether there may be more trials. If so, a further worker is useful.
    [[nodiscard]] bool is_searching() const;
    /// Whether the next task can begin at once. If not, a worker may take a task of another problem.
    [[nodiscard]] bool is_ready(std::size_t workers = 1);
    /// Whether the next task waits for the compiler.
    [[nodiscard]] bool is_compiling() const;
    /// Whether this problem has enough trials for another problem to start its search from their results.
    [[nodiscard]] bool is_well_known() const;
    /// Returns programs that the search may need later, for compiler threads that would idle. The programs change
    /// little until open_searches() changes.
    [[nodiscard]] std::vector<CompilePool::LazyProgram> speculative_programs() const;
    /// The number of templates that are worth another proposal.
    [[nodiscard]] std::size_t open_searches() const;
    [[nodiscard]] bool is_done() const { return state_ == State::done; }
    /// The latest earlier run that stored anything about this problem; 0 if there is none.
    [[nodiscard]] std::int64_t last_run() const { return ledger_.last_run(); }

    /// Finishes a compiled candidate of a TrialTask without a trial if possible; returns false otherwise.
    bool settle_without_trial(const Proposal& candidate) { return pipeline_.settle_without_trial(candidate); }
    /// Whether a compiled candidate must be verified but not timed, because an earlier run timed the same machine code.
    [[nodiscard]] bool needs_only_verification(const Proposal& candidate) const {
        return pipeline_.needs_only_verification(candidate);
    }
    void finish(const Proposal& candidate, const TrialReport& report) { pipeline_.finish(candidate, report); }
    /// Drops a candidate of a TrialTask whose trial was stopped.
    void abandon() { pipeline_.abandon(); }
    /// Records a task's outcomes: one for each candidate, or nothing if the worker was lost during the task.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes, double seconds);
    /// Takes back a task whose worker was lost before the task began.
    void give_back(Task task);
    void add_wait(double seconds) { effort_.wait += seconds; }
    /// Begins to try the winners of the nearest sizes, except those that this problem has tried before. Finals then
    /// compare the problem's winner with the tried winners that are nearly as fast or faster. Does nothing if the
    /// problem is not done or has no winner, if SearchPipeline::wants_more() is false, or if no winner is left to try.
    void begin_transfer();
    /// Submits candidates to the compiler until `most` of them wait for a worker. Returns how many wait.
    std::size_t compile_ahead(std::size_t most);
    /// Ends the search for the given reason. The finals follow.
    void end_search(const std::string& why);
    /// Ends all work for the given reason.
    void stop(const std::string& why);

    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] std::optional<double> best_us() const { return ledger_.best_us(); }
    [[nodiscard]] std::optional<double> verified_best_us(const TemplateSearch& search) const {
        return ledger_.verified_best_us(search);
    }
    [[nodiscard]] ProblemResult result() const;

private:
    enum class State { unverified, search, sweep, finals, transfer, transfer_sweep, transfer_finals, done };

    [[nodiscard]] bool is_transferring() const;
    [[nodiscard]] bool is_in_finals() const { return state_ == State::finals || state_ == State::transfer_finals; }
    void advance();
    void begin_search();
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
    State state_ = State::unverified;
    std::optional<Clock::time_point> begin_ = Clock::now();  // when work began; empty before a transfer's first task
    std::string ended_;                                      // why the search ended
};

}  // namespace smemtune
