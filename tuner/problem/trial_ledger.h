// What is known of one problem's candidates.
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

/// Every trial of a problem whose outcome is known, stored before or made in this run. It stores new ones, tells each
/// template's search the costs, and keeps the best.
class TrialLedger {
public:
    struct Trial {
        TemplateSearch* search;
        TrialRecord record;
        bool transferred = false;  ///< tried because it won at a neighbouring size

        /// Null when it was rejected.
        [[nodiscard]] const Measurement* measurement() const { return std::get_if<Measurement>(&record.outcome); }
        /// For the progress. Precondition: measured.
        [[nodiscard]] Progress::Best shown() const;
        [[nodiscard]] bool is_baseline() const { return search->kernel_template().baseline; }
    };

    TrialLedger(const TuneRun& run, const Problem& problem);

    /// Recalls the stored trials of the searches that answer the request.
    void load(const TemplateSearches& searches);
    /// Recalls one stored trial; false when there is none that answers the request.
    bool recall(TemplateSearch& search, const Configuration& configuration);
    /// Stores a new trial.
    const Trial& add(TemplateSearch& search, TrialRecord record);
    /// Measured again, or rejected since: replaces the outcome of a trial and stores it as one of this run.
    void replace(Trial& trial, Outcome outcome);
    /// Trials from now on are transferred ones.
    void begin_transfer() { transfers_ = true; }

    /// Equal machine code launched alike takes equally long: a trial with the code of `input`, or null.
    [[nodiscard]] const Trial* equal_code(const TrialInput& input) const;
    /// `trial`, of this ledger, was measured with that machine code.
    void index_code(const TrialInput& input, const Trial& trial);

    /// In the unit of the objective; nothing when it is unknown.
    [[nodiscard]] std::optional<double> cost_of(const Measurement& measurement) const;
    /// Those with a known cost, the least first.
    [[nodiscard]] std::vector<Trial*> by_cost();
    /// Everything measured, the fastest first.
    [[nodiscard]] std::vector<const Trial*> by_time() const;
    [[nodiscard]] bool contains(const TrialKey& key, const Configuration& configuration) const;
    [[nodiscard]] const std::deque<Trial>& trials() const { return trials_; }

    [[nodiscard]] std::optional<double> best_us() const { return best_us_; }
    [[nodiscard]] std::optional<double> best_cost() const { return best_cost_; }
    /// Trials of this run.
    [[nodiscard]] std::size_t added() const { return added_; }
    /// The latest run that had stored a trial of this problem before; 0 when none had.
    [[nodiscard]] std::int64_t last_run() const { return last_run_; }

private:
    [[nodiscard]] bool answers_request(const TrialRecord& record) const;
    const Trial& learn(TemplateSearch& search, TrialRecord record, bool recalled);

    const TuneRun& run_;
    const Problem& problem_;
    std::deque<Trial> trials_;                     // pointers to them stay valid
    std::map<std::string, const Trial*> by_code_;  // measured, by machine code and launch
    bool transfers_ = false;
    std::size_t added_ = 0;
    std::int64_t last_run_ = 0;
    std::optional<double> best_us_;
    std::optional<double> best_cost_;
    Progress::Best best_shown_;
};

}  // namespace smemtune
