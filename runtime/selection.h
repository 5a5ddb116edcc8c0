// Lists the candidate configurations for a problem, sorted by enum Standing: the best match first.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.h"
#include "runtime/predict/leased_scratch.h"
#include "runtime/predict/predictor.h"
#include "runtime/runtime.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// How closely a candidate matches problem and device, from the best to the worst.
enum class Standing {
    exact,      ///< the winner of this problem on this device
    predicted,  ///< a member of this device's portfolio
    similar,    ///< this problem's winner or a portfolio's member, from another device with this compute capability
    nearest,    ///< the winner of another problem on this device
    remote,     ///< any other winner on another device
    untuned,    ///< a template's default configuration
};

using StoredDevice = std::pair<std::int64_t, Device>;  ///< a row of the database, and the device

struct Candidate {
    std::shared_ptr<const KernelTemplate> kernel_template;  ///< never null
    std::shared_ptr<const Configuration> configuration;     ///< never null
    std::string compiled;                                   ///< text of the configuration's compile-time parameters
    Choice choice;
    std::optional<std::int64_t> template_row;       ///< the template's row in the database; empty if not stored
    std::shared_ptr<const Configuration> stored{};  ///< the configuration as stored; null without `template_row`
    std::string stored_hash{};                      ///< hash of the template in `template_row`
    std::string code_hash{};  ///< SHA-256 of the verified machine code; if empty, any stored code may be used
    Standing standing = Standing::untuned;
    std::optional<Launch> launch{};  ///< the launch, if the selection has computed it already
    std::size_t layer = 0;           ///< index of the Runtime's database that the candidate is from
};

/// Which templates of a database may be used.
enum class StoredTemplates {
    any,    ///< all templates, also those that only the database has
    known,  ///< only templates that the caller has in the same version
};

/// The candidates for a problem on a device, the best match first. All are valid for the problem. Each candidate is
/// computed on demand, so a caller that takes only the first does not wait for the others.
class Candidates {
public:
    /// The arguments must outlive this object and its candidates. `store` may be null. If `kernel_template` is not
    /// empty, all candidates are of this template. `own` has the names of the application's own templates.
    ///
    /// Versions: `templates` and the store may have different versions of a winner's template. If `templates` has
    /// `kernel_template` or a template named in `own`, winners of that template are used only if both versions have the
    /// same code (KernelTemplate::is_same_code()). With StoredTemplates::any, all other winners are used in any
    /// version, until the problem is tuned again.
    ///
    /// Arguments: a template is used only if it takes the arguments of the expected template. The expected template is
    /// `kernel_template` if `templates` has it. Otherwise, it is the first of `templates` that computes the operation
    /// and is named in `own`, or else the first of `templates` that computes the operation. If no template computes the
    /// operation, any stored template that fits the problem is used.
    ///
    /// Operations: this rule applies only if the expected template is named in `own`. A winner is used only if it was
    /// verified for the expected template's operation. If the store does not say for which operation a winner was
    /// verified, the winner's template must define the same operation. The template of a default configuration must
    /// define the same operation, too.
    ///
    /// Objects that share `predictors` read the store's portfolios once. They may differ only in the problem and in
    /// `kernel_template`.
    Candidates(const Problem& problem, const Device& device, const Store* store,
               const std::vector<KernelTemplate>& templates, std::string_view kernel_template,
               std::span<const std::string> own = {}, StoredTemplates stored_templates = StoredTemplates::any,
               PredictorCache* predictors = nullptr);

    /// Returns the next candidate; nullopt after the last. Throws std::invalid_argument if the problem does not fit the
    /// operation in the caller's templates.
    std::optional<Candidate> next();
    /// Like next(), but without the templates' defaults.
    std::optional<Candidate> next_stored();
    /// Whether a trial of `untuned`, a template's default configuration, shows that it must not be used. Only trials
    /// on this device count: one that was rejected for this problem, or one that gave a wrong result or crashed for
    /// any problem. Adds the reason to why_not().
    bool was_rejected(const Candidate& untuned);
    /// Messages about damaged rows, whose candidates were left out: "; MESSAGE" for each.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    /// The templates that were left out so far, and why: `; NAME: reason` for each.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

private:
    /// One step of the search for candidates: which rows of which device are read.
    struct Step {
        enum class What { winner, portfolio, nearest } what;  ///< `nearest`: winners of other problems
        Standing standing;
        std::size_t device;  ///< index in `devices_`
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
    [[nodiscard]] bool failed_elsewhere(const TrialRow& row) const;
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
    std::optional<std::int64_t> own_row_;      // row of `device_`; empty if it is not in the store
    std::optional<std::int64_t> problem_row_;  // row of `problem_`; empty if it is not in the store
    std::int64_t replacements_ = 0;            // store_->replacements() when `devices_` was read
    PredictorCache* predictors_;
    std::shared_ptr<const Predictor> predictor_;  // owns the members that the predictions point to
    LeasedScratch scratch_;                       // the results of predictor_->predict(problem_)
    bool has_predictions_ = false;                // whether `scratch_` has the predictions of the current step
    std::size_t sorted_ = 0;                      // how many predictions are sorted
    std::size_t prediction_ = 0;                  // index of the next prediction
    std::string why_not_;
    std::vector<std::string> hashes_;    // `kernel_template_`'s same_code_hashes()
    std::vector<StoredDevice> devices_;  // the stored devices, the most similar first
    std::vector<Step> steps_;            // all steps, in the order of execution
    std::size_t step_ = 0;               // index of the next step
    const Step* current_ = nullptr;
    std::int64_t skipped_ = 0;    // number of rows that the current step has read from the store
    bool is_last_ = true;         // whether the current step has no rows after `rows_`
    std::vector<TrialRow> rows_;  // rows of the current step, the nearest problem first
    std::size_t row_ = 0;
    std::string damage_;
    std::optional<std::vector<Candidate>> untuned_;
    std::size_t default_ = 0;
};

/// How a launch of `operation` on `problem` differs from a launch of `expected`: in extents, layout constants, or an
/// argument's name, kind, place or shape. Empty if arguments for `expected` are also right for `operation`.
std::string difference_of_signatures(const Operation& operation, const Operation& expected, const Problem& problem,
                                     const Device& device);

/// Whether the extents, the layout constants, the arguments and the texts of their shapes are equal. If they are,
/// difference_of_signatures() is empty for every problem of this layout.
bool is_same_signature(const Operation& operation, const Operation& expected, const std::string& layout);

/// Euclidean distance between the logarithms of the extents: 2048 is as far from 1024 as 512 is. Infinite if
/// operations, types, layouts or the names of the extents differ.
double distance(const Problem& a, const Problem& b);

/// Euclidean distance between the logarithms of compute capability, multiprocessors, shared memory and registers per
/// multiprocessor, L2 cache and clock. Infinite between a GPU and the host.
double distance(const Device& a, const Device& b);

/// Removes the devices whose results say nothing about `device`: those at an infinite distance, and those in checked
/// mode except `device` itself. Sorts the rest, the most similar first. If `device` is in the list, it comes first.
void sort_by_similarity(std::vector<StoredDevice>& devices, const Device& device);

/// Whether `other` is a different device than `device`, and its portfolios can serve `device`.
bool is_similar(const Device& other, const Device& device);

/// Returns the device whose portfolio is used on `device`, for problems with the operation, type and layout of `like`.
/// This is `device` itself if it has such a portfolio in `store`, else the most similar device (is_similar()) that has
/// one; nullopt if none has.
std::optional<StoredDevice> device_of_portfolio(const Store& store, const Problem& like, const Device& device);

/// The key of stored machine code: the target, the type and the layout. The configuration is stored separately.
std::string binary_key(const std::string& target, const Problem& problem);

}  // namespace smemtune
