// Chooses configurations for a problem, in the order of Standing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.h"
#include "runtime/predict/predictor.h"
#include "runtime/runtime.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// How closely a candidate matches problem and device. The best first.
enum class Standing {
    exact,      ///< the winner of this problem on this device
    predicted,  ///< of this device's portfolio
    similar,    ///< the winner of this problem, or of the portfolio, on another device of this compute capability
    nearest,    ///< the winner of another problem on this device
    remote,     ///< a winner on another device
    untuned,    ///< a template's default
};

struct Candidate {
    std::shared_ptr<const KernelTemplate> kernel_template;  ///< never null
    std::shared_ptr<const Configuration> configuration;     ///< never null
    std::string compiled;                                   ///< the configuration without run-time parameters
    Choice choice;
    std::optional<std::int64_t> template_row;       ///< row in the database that may have machine code
    std::shared_ptr<const Configuration> stored{};  ///< under which that machine code is stored; null without a row
    std::string stored_hash{};                      ///< of the template in that row
    std::string code_hash{};  ///< SHA-256 of the machine code that was verified; empty: any code of the row may serve
    Standing standing = Standing::untuned;
    std::optional<Launch> launch{};  ///< where choosing has computed it
    std::size_t layer = 0;           ///< which of the Runtime's databases it is from
};

/// Which templates of a database may be used.
enum class StoredTemplates {
    any,    ///< also templates that only the database has
    known,  ///< only the versions in `templates`
};

/// The candidates for `problem` on `device`, the best match first; all are valid. Each is computed on demand, so a
/// caller that takes only the first does not pay for the others.
class Candidates {
public:
    /// The arguments must outlive this object and its candidates. `store` may be null. `kernel_template`, unless empty,
    /// restricts the choice to one template. For that template and those named by `own`, stored winners count only if
    /// they have the current source in `templates`. For other templates, winners of earlier versions count until the
    /// problem is tuned again. If `own` has the operation, winners of any template must, as far as is known, have been
    /// verified as the present operation, and defaults must be of templates with that operation. A template counts only
    /// if it takes the arguments that the caller expects. These are the arguments of `kernel_template` in `templates`,
    /// or else of the operation's first template there, those of `own` before the others. If `templates` has no
    /// template of the operation, any stored one counts that fits the problem. All Candidates that share `predictors`
    /// read the store's portfolios once; they may differ only in the problem and in `kernel_template`.
    Candidates(const Problem& problem, const Device& device, const Store* store,
               const std::vector<KernelTemplate>& templates, std::string_view kernel_template,
               std::span<const std::string> own = {}, StoredTemplates stored_templates = StoredTemplates::any,
               PredictorCache* predictors = nullptr);

    /// The next candidate; nothing after the last. Throws std::invalid_argument if the problem does not fit the
    /// operation that the caller knows.
    std::optional<Candidate> next();
    /// Like next(), without defaults.
    std::optional<Candidate> next_stored();
    /// The candidates that were passed over because their rows are damaged: "; MESSAGE" for each.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    /// The templates that were passed over so far because of their signatures: `; NAME: reason` for each.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

private:
    using StoredDevice = std::pair<std::int64_t, Device>;
    /// One place to look for candidates: some rows of one device.
    struct Step {
        enum class What { winner, portfolio, nearest } what;  ///< `nearest`: of other problems
        Standing standing;
        std::size_t device;  ///< index of `devices_`
    };

    void find_expected();
    void begin();
    void sort_devices();
    void plan_steps();
    [[nodiscard]] bool has_expected_signature(const KernelTemplate& kernel);
    [[nodiscard]] bool has_own_operation(const KernelTemplate& kernel);
    void pass_over(const std::string& kernel_template, const std::string& reason);
    [[nodiscard]] std::shared_ptr<const KernelTemplate> template_of(const TrialRow& row);
    void start(const Step& step);
    void read_winner();
    void read_more_rows();
    [[nodiscard]] bool is_outdated(const TrialRow& row, const Problem& tuned_for) const;
    [[nodiscard]] bool was_rejected_here(const TrialRow& row) const;
    [[nodiscard]] std::optional<Candidate> tuned(const TrialRow& row, const Predictor::Member* member = nullptr);
    [[nodiscard]] bool is_here() const {
        return current_->standing != Standing::similar && current_->standing != Standing::remote;
    }
    void predict();
    [[nodiscard]] std::optional<Candidate> next_predicted();
    [[nodiscard]] std::vector<Candidate> untuned();

    const Problem& problem_;
    const Device& device_;
    const Store* store_;
    const std::vector<KernelTemplate>& templates_;
    std::string kernel_template_;
    std::span<const std::string> own_;
    StoredTemplates stored_templates_;
    const KernelTemplate* expected_ =
        nullptr;                               // the template whose operation the caller expects; null if there is none
    bool expects_own_ = false;                 // whether `expected_` is one of `own_`
    std::optional<std::int64_t> own_row_;      // of `device_` in the store, if it is there
    std::optional<std::int64_t> problem_row_;  // of `problem_` in the store, if it is there
    std::int64_t replacements_ = 0;            // store_->replacements() when the devices were read
    PredictorCache* predictors_;
    std::shared_ptr<const Predictor> predictor_;  // the owner of what `predictions_` points to
    std::optional<std::vector<Predictor::Prediction>> predictions_;
    BoundLaunch::Scratch rule_values_;  // of the predictor's members at the problem
    std::size_t prediction_ = 0;
    std::string why_not_;
    std::vector<std::string> hashes_;    // of the template that is chosen by name
    std::vector<StoredDevice> devices_;  // the nearest first
    std::vector<Step> steps_;            // in order
    std::size_t step_ = 0;               // the next one
    const Step* current_ = nullptr;
    std::int64_t skipped_ = 0;    // problems nearer than those of `rows_`
    bool is_last_ = true;         // whether `rows_` are the last of the current step
    std::vector<TrialRow> rows_;  // of the current step; the nearest problem is first
    std::size_t row_ = 0;
    std::string damage_;
    std::optional<std::vector<Candidate>> untuned_;
    std::size_t default_ = 0;
};

/// How a launch of `operation` on `problem` differs from one of `expected`: in extents, layout constants, or an
/// argument's name, kind, place or shape. Empty if a caller who knows `expected` can launch it.
std::string difference_of_signatures(const Operation& operation, const Operation& expected, const Problem& problem,
                                     const Device& device);

/// Euclidean distance between the logarithms of the extents: doubling an extent is as far as halving it. Infinite if
/// operations, types, layouts or the names of the extents differ.
double distance(const Problem& a, const Problem& b);

/// Euclidean distance between the logarithms of compute capability, multiprocessors, shared memory and registers per
/// multiprocessor, L2 cache and clock. Infinite between a GPU and the host.
double distance(const Device& a, const Device& b);

/// The key of stored machine code: the target, the type and the layout. The configuration is stored separately.
std::string binary_key(const std::string& target, const Problem& problem);

}  // namespace smemtune
