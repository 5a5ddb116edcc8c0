// Records the known trials of one problem.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/candidates/template_search.h"
#include "tuner/report/progress.h"
#include "tuner/trial/trial.h"
#include "tuner/tuning/tune_run.h"

namespace smemtune {

/// All trials of a problem with known outcomes, from this run or stored before. Stores new trials, tells each
/// template's search the costs, and keeps track of the best.
class TrialLedger {
public:
    struct Trial {
        TemplateSearch* search = nullptr;
        TrialRecord record;
        bool transferred = false;  ///< tried because it is the winner at a neighbouring size

        /// Null if the trial was rejected.
        [[nodiscard]] const Measurement* measurement() const { return std::get_if<Measurement>(&record.outcome); }
        /// The best so far, for the progress display. Precondition: measured.
        [[nodiscard]] Progress::Best shown() const;
        [[nodiscard]] bool is_baseline() const { return search->kernel_template().baseline; }
    };

    TrialLedger(const TuneRun& run, const Problem& problem);

    /// Reads the stored trials of the searches and keeps those that answer the request.
    void load(const TemplateSearches& searches);
    /// Reads one stored trial; false if none is stored that answers the request.
    bool recall(TemplateSearch& search, const Configuration& configuration);
    /// Adds and stores a new trial.
    const Trial& add(TemplateSearch& search, TrialRecord record);
    /// Replaces the outcome of a trial that was measured again or rejected since, and stores it as a trial of this run.
    void replace(Trial& trial, Outcome outcome);
    /// Marks all later trials as transferred.
    void begin_transfer() { transfers_ = true; }

    /// A trial with the same machine code and launch as `input`, or null. Equal code launched alike takes equally long.
    [[nodiscard]] const Trial* equal_code(const TrialInput& input) const;
    /// Records that `trial`, of this ledger, was measured with that machine code.
    void index_code(const TrialInput& input, const Trial& trial);

    /// The cost in the unit of the objective; nothing if unknown.
    [[nodiscard]] std::optional<double> cost_of(const Measurement& measurement) const;
    /// The trials with a known cost, least first.
    [[nodiscard]] std::vector<Trial*> by_cost();
    /// All measured trials, fastest first.
    [[nodiscard]] std::vector<const Trial*> by_time() const;
    [[nodiscard]] bool contains(const TrialKey& key, const Configuration& configuration) const;
    [[nodiscard]] const std::deque<Trial>& trials() const { return trials_; }

    [[nodiscard]] std::optional<double> best_us() const { return best_us_; }
    [[nodiscard]] std::optional<double> best_cost() const { return best_cost_; }
    /// The number of trials in this run.
    [[nodiscard]] std::size_t added() const { return added_; }
    /// The latest earlier run that stored a trial of this problem; 0 if there is none.
    [[nodiscard]] std::int64_t last_run() const { return last_run_; }

private:
    [[nodiscard]] bool answers_request(const TrialRecord& record) const;
    const Trial& learn(TemplateSearch& search, TrialRecord record, bool recalled);

    const TuneRun& run_;
    const Problem& problem_;
    std::deque<Trial> trials_;                     // keeps pointers to its elements valid
    std::map<std::string, const Trial*> by_code_;  // measured trials, by machine code and launch
    bool transfers_ = false;
    std::size_t added_ = 0;
    std::int64_t last_run_ = 0;
    std::optional<double> best_us_;
    std::optional<double> best_cost_;
    Progress::Best best_shown_;
};

}  // namespace smemtune
