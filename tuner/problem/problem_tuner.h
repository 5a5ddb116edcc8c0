// One problem's tuning on one kind of device: what is to be done next, and what became of it.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/finals/finals_scheduler.h"
#include "tuner/problem/task.h"
#include "tuner/report/progress.h"
#include "tuner/tuning/tune.h"

namespace smemtune {

/// What all problems of a run share.
struct TuningContext {
    const TuneRequest& request;
    const Device& device;
    std::int64_t device_row;
    const Compiler& compiler;
    CompilePool& pool;
    Store& store;
    std::int64_t run;
    std::size_t ahead;  ///< candidates that compile, or wait for a worker
    TuneReport& report;
    Progress& progress;
};

/// Searches every template's space, then plays the finals and crowns the winner. It owns no thread and touches no
/// device: workers ask it for tasks and tell it their outcomes. All calls are made under one lock.
class ProblemTuner {
public:
    using Clock = std::chrono::steady_clock;

    ProblemTuner(const TuningContext& context, const Problem& problem, const std::vector<PlannedSpace>& spaces);

    /// For one of `workers`, who may all have their share of the finals. One alone tries candidates in the order in
    /// which they were proposed, several whatever is compiled. Nothing when it is done, or when what is left depends on
    /// tasks in workers' hands.
    std::optional<Task> next(std::size_t workers = 1);
    /// Whether there may be more trials, so that another worker is welcome.
    [[nodiscard]] bool is_searching() const { return phase_ != Phase::finals && phase_ != Phase::done; }
    /// Whether the next task can begin at once: a worker that would wait for a compiler may look elsewhere first.
    [[nodiscard]] bool is_ready(std::size_t workers = 1);
    /// Whether the next task waits for the compiler.
    [[nodiscard]] bool is_compiling() const;
    /// Whether enough is known here for another problem to start from.
    [[nodiscard]] bool is_well_known() const { return looks_again_ || !is_searching() || known_.size() >= well_known; }
    /// What may be asked of the compiler later, for when it has nothing to do. It changes little before open_lanes()
    /// does: the templates that are worth another proposal.
    [[nodiscard]] std::vector<CompilePool::Guess> guesses() const;
    [[nodiscard]] std::size_t open_lanes() const;
    [[nodiscard]] bool is_done() const { return phase_ == Phase::done; }
    /// The latest run that had stored anything of this problem before; 0 when there is none.
    [[nodiscard]] std::int64_t last_run() const { return last_run_; }

    /// The launch as it will be, with what the compiler reported in place of the manifest's estimates.
    [[nodiscard]] TrialInput input_of(const Proposal& candidate, const Binary& binary) const;
    /// Finishes a compiled candidate without a trial where it can: another process was faster, it was refused, it
    /// breaks a limit, or its machine code was timed already.
    bool settle_without_trial(const Proposal& candidate);
    void finish(const Proposal& candidate, const TrialReport& report);
    /// One outcome for each candidate; nothing when the worker was lost over them.
    void finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes, double seconds);
    /// The worker was lost before it could say anything.
    void give_back(Task task);
    void waited(double seconds) { effort_.wait += seconds; }
    /// For a second look, when it is done: what has won at the nearest sizes meanwhile and is new here is tried, and
    /// what comes near the winner plays finals against it. Where nothing is new it stays done.
    void look_again();
    /// Has candidates compiled, so that up to `most` are on their way; gives how many are.
    std::size_t compile_ahead(std::size_t most);
    /// No further trials, for that reason; the finals are still played.
    void end_search(const std::string& why);
    /// No further tasks, for that reason.
    void stop(const std::string& why);

    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] std::optional<double> best_us() const {
        return best_us_ > 0 ? std::optional(best_us_) : std::nullopt;
    }

    [[nodiscard]] ProblemResult result() const;

private:
    enum class Phase { search, exchange, sweep, finals, done };
    static constexpr std::size_t well_known = 32;  // evaluations
    static constexpr std::size_t most_finalists = 8;

    // What is known of one configuration.
    struct Known {
        const TemplateSearch* lane = nullptr;
        TrialRecord record;
        bool is_newcomer = false;  // of the second look

        [[nodiscard]] const Measurement* measurement() const { return std::get_if<Measurement>(&record.outcome); }
    };

    // Who is to play the finals, as soon as the programs of all are compiled.
    struct Lineup {
        std::vector<Proposal> players;
        std::size_t finalists = 0;  // the first of them
        std::optional<std::size_t> baseline;
    };

    void learn_what_is_stored();
    [[nodiscard]] std::optional<TrialRecord> recall(const TemplateSearch& lane,
                                                    const Configuration& configuration) const;
    [[nodiscard]] bool says_enough(const TrialRecord& record) const;
    [[nodiscard]] bool is_settled() const;
    void fill_pipeline();
    [[nodiscard]] std::deque<Proposal>::iterator first_in_turn(std::size_t workers);
    [[nodiscard]] TemplateSearch* lane_in_turn();
    void submit(TemplateSearch& lane, Configuration configuration);
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] bool is_good_enough() const;
    [[nodiscard]] std::string why_no_more() const;
    [[nodiscard]] TrialRecord record_of(const Proposal& candidate) const;
    [[nodiscard]] TrialRecord record_of(const Proposal& candidate, const Binary& binary, const Launch& launch) const;
    void remember(const TemplateSearch& lane, TrialRecord record);
    void learn(const TemplateSearch& lane, TrialRecord record, bool recalled);
    [[nodiscard]] std::optional<double> cost_of(const Measurement& measurement) const;
    [[nodiscard]] std::vector<Known*> by_cost();
    [[nodiscard]] std::vector<const Known*> by_time() const;
    static bool is_baseline(const Known* known);
    [[nodiscard]] const Known* fastest_baseline() const;
    static Progress::Best shown(const Known& known);
    [[nodiscard]] const Known* crowned_earlier(const std::vector<const Known*>& measured) const;

    void start_sweep();
    void choose_finalists();
    [[nodiscard]] std::deque<std::pair<TemplateSearch*, Configuration>> find_newcomers() const;
    void choose_challengers();
    [[nodiscard]] double worth_finals(const Known& best) const;
    void line_up();
    void start_playoff(std::size_t workers);
    void crown();
    [[nodiscard]] bool competes(const TrialRow& champion) const;
    void done();

    const TuningContext& context_;
    const Problem& problem_;
    std::optional<Clock::time_point> begin_ = Clock::now();  // nothing until a second look is asked for its tasks
    Phase phase_ = Phase::search;
    bool looks_again_ = false;
    std::vector<std::unique_ptr<TemplateSearch>> lanes_;
    std::size_t turn_ = 0;      // the lane that proposes,
    std::size_t proposed_ = 0;  // and how often it did in a row
    // Of the second look, not yet submitted.
    std::deque<std::pair<TemplateSearch*, Configuration>> newcomers_;
    std::deque<Proposal> pipeline_;
    std::size_t in_hand_ = 0;  // tasks that workers have
    std::deque<Known> known_;
    std::map<std::string, const Known*> by_code_;  // measured, by machine code and launch
    std::size_t new_trials_ = 0;
    std::int64_t last_run_ = 0;
    double best_us_ = 0;
    std::optional<double> best_cost_;
    Progress::Best best_shown_;
    std::vector<Known*> players_;
    Lineup lineup_;
    std::optional<FinalsScheduler> playoff_;
    const Known* winner_ = nullptr;
    std::string ended_;
    Effort effort_;
};

}  // namespace smemtune
