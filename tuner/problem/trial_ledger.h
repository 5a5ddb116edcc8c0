// Records the known trials of one problem.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/candidates/proposal.h"
#include "tuner/candidates/template_search.h"
#include "tuner/report/progress.h"
#include "tuner/trial/trial.h"
#include "tuner/tuning/tune_run.h"

namespace smemtune {

/// SHA-256 of the machine code.
std::string code_hash_of(const Binary& binary);

/// All trials of a problem with known outcomes, from this run and from earlier ones. Stores new trials, tells each
/// template's search the costs, and keeps track of the best.
///
/// A stored measurement counts if its verification identity is that of this run. Other measurements are verified again
/// if they may be among the fastest (next_unverified); the rest only inform the searches.
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

    /// `identity`: the verification_identity() of this run for the problem.
    TrialLedger(const TuneRun& run, const Problem& problem, std::string identity);

    /// Reads the stored trials of the searches. Call release() before the searches begin.
    void load(const TemplateSearches& searches);
    /// The next stored configuration to try again before the searches begin. Measurements with a different verification
    /// identity or none that may be among the fastest come first, then crashes and timeouts that are due for a retry.
    /// Nothing if there is none, or if earlier outcomes must be known first.
    std::optional<TemplateConfiguration> next_unverified();
    /// Adds the stored trials that answer the request, and tells the searches.
    void release();
    /// Whether a stored trial has a different verification identity.
    [[nodiscard]] bool has_foreign_trials() const { return foreign_; }
    /// The stored trial if it was measured completely with this machine code, but has a different verification
    /// identity. It need not be timed again.
    [[nodiscard]] std::optional<TrialRecord> timed_before(const TemplateSearch& search,
                                                          const Configuration& configuration,
                                                          const std::string& code_hash) const;
    /// Reads one stored trial. Returns false if no stored trial answers the request.
    bool recall(TemplateSearch& search, const Configuration& configuration);
    /// Adds and stores a new trial. `timed` is false if the trial keeps the time of a stored one.
    const Trial& add(TemplateSearch& search, TrialRecord record, bool timed = true);
    /// Replaces the record of a trial that was measured again or rejected, and stores it as a trial of this run. Other
    /// trials are no longer compared with a rejected one.
    void replace(Trial& trial, TrialRecord record);
    /// The same, and stores the trial as the winner in the same transaction.
    void replace_as_winner(Trial& trial, TrialRecord record, const BinaryRecord& binary);
    /// Whether a stored winner may remain the winner against trials of this run: as far as is known, it was verified as
    /// the same operation.
    [[nodiscard]] bool may_stand(const TrialRecord& stored) const;
    /// Adds to a new outcome the hash of its machine code (null: it did not compile), the toolchain, and if it passed
    /// every check or was rejected, the verification identity.
    void sign(TrialRecord& record, const Binary* binary, bool verified) const;
    /// Whether the trial may win: measured completely, and verified in full under the identity of this run.
    [[nodiscard]] bool is_verified(const Trial& trial) const { return is_current(trial.record); }
    /// Marks all later trials as transferred.
    void begin_transfer() { transfers_ = true; }

    /// A trial with the same machine code and launch as `input`, or null. Equal code launched alike takes equally long.
    [[nodiscard]] const Trial* equal_code(const TrialInput& input) const;
    /// Records that `trial` was measured with the machine code of `input`. Precondition: `trial` is in this ledger.
    void index_code(const TrialInput& input, const Trial& trial);

    /// The cost in the unit of the objective; nothing if unknown.
    [[nodiscard]] std::optional<double> cost_of(const Measurement& measurement) const;
    /// The trials with a known cost, least first. Not all of them may win.
    [[nodiscard]] std::vector<Trial*> by_cost();
    /// The trials that were measured completely, and not verified against something else, least cost first: those that
    /// may be finalists.
    [[nodiscard]] std::vector<Trial*> measured_by_cost();
    /// The verified trials, least cost first: those that may win.
    [[nodiscard]] std::vector<Trial*> verified_by_cost();
    /// All measured trials, fastest first.
    [[nodiscard]] std::vector<const Trial*> by_time() const;
    [[nodiscard]] bool contains(const TrialKey& key, const Configuration& configuration) const;
    [[nodiscard]] const std::deque<Trial>& trials() const { return trials_; }

    [[nodiscard]] std::optional<double> best_us() const { return best_us_; }
    /// The time of the fastest trial of a template that passed all checks.
    [[nodiscard]] std::optional<double> verified_best_us(const TemplateSearch& search) const;
    [[nodiscard]] std::optional<double> best_cost() const { return best_cost_; }
    /// The number of trials in this run.
    [[nodiscard]] std::size_t added() const { return added_; }
    /// The latest earlier run that stored a trial of this problem; 0 if there is none.
    [[nodiscard]] std::int64_t last_run() const { return last_run_; }

private:
    struct Stored {
        TemplateSearch* search = nullptr;
        TrialRecord record;
    };

    [[nodiscard]] bool answers_request(const TrialRecord& record) const;
    [[nodiscard]] bool is_current(const TrialRecord& record) const;
    [[nodiscard]] bool still_counts(const TrialRecord& rejected) const;
    [[nodiscard]] bool is_due_for_retry(const TrialRecord& rejected) const;
    [[nodiscard]] bool may_be_among_the_fastest(const TrialRecord& record) const;
    void stop_awaiting(const Trial& trial);
    void sort_stored();
    const Trial& learn(TemplateSearch& search, TrialRecord record, bool recalled);
    void compare_with_best(const Trial& trial);

    const TuneRun& run_;
    const Problem& problem_;
    std::string identity_;
    std::vector<Stored> stored_;     // not added yet, in the order in which they were stored
    std::deque<Stored> unverified_;  // measurements with a different verification identity or none, least cost first
    std::deque<TemplateConfiguration> retries_;  // crashes and timeouts
    std::vector<Stored> awaited_;                // returned by next_unverified, outcome pending
    std::size_t verified_again_ = 0;             // returned by next_unverified, and right
    bool foreign_ = false;
    std::deque<Trial> trials_;                     // keeps pointers to its elements valid
    std::map<std::string, const Trial*> by_code_;  // measured trials, by machine code and launch
    bool transfers_ = false;
    std::size_t added_ = 0;
    std::int64_t last_run_ = 0;
    std::optional<double> best_stored_cost_;  // of trials that count
    std::optional<double> best_us_;
    std::optional<double> best_cost_;
    Progress::Best best_shown_;
};

}  // namespace smemtune
