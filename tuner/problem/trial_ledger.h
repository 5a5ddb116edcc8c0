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

/// All trials of a problem with known outcomes, from this run and from earlier ones. Stores new trials, reports the
/// cost of each trial to the search of its template, and keeps track of the best.
///
/// A stored measurement may win if its verification identity is that of this run. Other measurements are verified again
/// if they may be among the fastest (next_unverified()). The rest are only reported to the searches.
class TrialLedger {
public:
    struct Trial {
        TemplateSearch* search = nullptr;
        TrialRecord record;
        bool transferred = false;  ///< whether the cross-size transfer added the trial (see begin_transfer())

        /// Null if the trial was rejected.
        [[nodiscard]] const Measurement* measurement() const { return std::get_if<Measurement>(&record.outcome); }
        /// The trial as the progress display shows it. Precondition: it was measured.
        [[nodiscard]] Progress::Best shown() const;
        [[nodiscard]] bool is_baseline() const { return search->kernel_template().baseline; }
    };

    /// `identity` is the verification_identity() of this run for the problem.
    TrialLedger(const TuneRun& run, const Problem& problem, std::string identity);

    /// Reads the stored trials of all templates. Call release() before the searches begin.
    void load(const TemplateSearches& searches);
    /// Returns the next stored configuration to try again before the searches begin. First come measurements that may
    /// be among the fastest, but lack this run's verification identity. Crashes and timeouts that are due for a retry
    /// come last. Returns nothing if no configuration is left, or if the next choice depends on outcomes that are still
    /// pending.
    std::optional<TemplateConfiguration> next_unverified();
    /// Adds those stored trials that this run can use as they are, and reports them to the searches.
    void release();
    /// Whether a stored trial has a verification identity other than that of this run.
    [[nodiscard]] bool has_foreign_trials() const { return foreign_; }
    /// Returns the stored trial of a configuration if it need only be verified again, not timed. Such a trial was
    /// measured completely with this machine code, but verified under an identity other than that of this run.
    [[nodiscard]] std::optional<TrialRecord> timed_before(const TemplateSearch& search,
                                                          const Configuration& configuration,
                                                          const std::string& code_hash) const;
    /// Adds the stored trial of one configuration. Returns false if there is none that this run can use as it is.
    bool recall(TemplateSearch& search, const Configuration& configuration);
    /// Adds and stores a new trial. `timed` is false if the trial keeps the time of a stored trial.
    const Trial& add(TemplateSearch& search, TrialRecord record, bool timed = true);
    /// Replaces the record of a trial that was measured again or rejected, and stores it as a trial of this run. A
    /// trial that is now rejected no longer affects best_us() and best_cost().
    void replace(Trial& trial, TrialRecord record);
    /// Does the same as replace(), and stores the trial as the winner in the same transaction.
    void replace_as_winner(Trial& trial, TrialRecord record, const BinaryRecord& binary);
    /// Whether a stored winner may stay the winner if trials of this run are slower. It may if it was verified with the
    /// checks and the reference of this run, or if its verification was not recorded.
    [[nodiscard]] bool may_stand(const TrialRecord& stored) const;
    /// Completes the record of a new outcome with the toolchain and the hash of the machine code. Also adds the
    /// verification identity if the candidate passed every check (`verified`) or was rejected. `binary` is null if the
    /// candidate did not compile.
    void sign(TrialRecord& record, const Binary* binary, bool verified) const;
    /// Whether the trial may win: measured completely, and verified in full under the identity of this run.
    [[nodiscard]] bool is_verified(const Trial& trial) const { return is_current(trial.record); }
    /// Marks all later trials as transferred.
    void begin_transfer() { transfers_ = true; }

    /// Returns a trial with the same machine code and the same launch as `input`, or null. Both kernels take equally
    /// long, so `input` need not be tried.
    [[nodiscard]] const Trial* equal_code(const TrialInput& input) const;
    /// Makes equal_code() return `trial` for `input`. Precondition: `trial` is in this ledger and was measured with the
    /// machine code of `input`.
    void index_code(const TrialInput& input, const Trial& trial);

    /// The cost: microseconds, or microjoules if the objective is energy. Nothing if the cost is unknown.
    [[nodiscard]] std::optional<double> cost_of(const Measurement& measurement) const;
    /// All trials with a known cost, least cost first, even those that are not allowed to win.
    [[nodiscard]] std::vector<Trial*> by_cost();
    /// The trials that may be finalists, least cost first. They were measured completely, and have this run's
    /// verification identity or none.
    [[nodiscard]] std::vector<Trial*> measured_by_cost();
    /// The trials that may win (is_verified()), least cost first.
    [[nodiscard]] std::vector<Trial*> verified_by_cost();
    /// All measured trials, fastest first.
    [[nodiscard]] std::vector<const Trial*> by_time() const;
    [[nodiscard]] bool contains(const TrialKey& key, const Configuration& configuration) const;
    [[nodiscard]] const std::deque<Trial>& trials() const { return trials_; }

    [[nodiscard]] std::optional<double> best_us() const { return best_us_; }
    /// The shortest time among those trials of a template that passed all checks.
    [[nodiscard]] std::optional<double> verified_best_us(const TemplateSearch& search) const;
    [[nodiscard]] std::optional<double> best_cost() const { return best_cost_; }
    /// The number of new trials in this run.
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
    std::vector<Stored> stored_;     // trials that are not added yet, in the order in which they were stored
    std::deque<Stored> unverified_;  // measurements without this run's verification identity, least cost first
    std::deque<TemplateConfiguration> retries_;  // configurations whose crash or timeout is due for a retry
    std::vector<Stored> awaited_;                // trials that next_unverified() returned, with pending outcomes
    std::size_t verified_again_ = 0;             // how many trials from next_unverified() have passed all checks
    bool foreign_ = false;
    std::deque<Trial> trials_;                     // a deque, because pointers to its elements must stay valid
    std::map<std::string, const Trial*> by_code_;  // measured trials, by machine code and launch
    bool transfers_ = false;
    std::size_t added_ = 0;
    std::int64_t last_run_ = 0;
    // The least cost among the stored trials with this run's verification identity.
    std::optional<double> best_stored_cost_;
    std::optional<double> best_us_;
    std::optional<double> best_cost_;
    Progress::Best best_shown_;
};

}  // namespace smemtune
