// Chooses configurations for a problem. In order of preference: tuned for the problem, predicted to be the fastest of a
// portfolio, tuned for a nearby size, tuned on a similar device, a template's default.
#pragma once

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

struct Candidate {
    KernelTemplate kernel_template;
    Configuration configuration;
    Choice choice;
    std::optional<std::int64_t> template_row;  ///< row in the database that may have machine code
    Configuration stored;                      ///< under which that machine code is stored
    std::string stored_hash{};                 ///< of the template in that row
    std::string code_hash{};  ///< SHA-256 of the machine code that was verified; empty if any of the row's may serve
};

/// What of a database counts beside the winners' names.
enum class StoredTemplates {
    any,    ///< also templates that only the database has, as it holds their sources
    known,  ///< only the versions in `templates`
};

/// The candidates for `problem` on `device`, the best match first; all are valid. Each is computed on demand, so a
/// caller that takes only the first does not pay for the others.
class Candidates {
public:
    /// The arguments must outlive this object. `store` may be null. `kernel_template`, unless empty, restricts the
    /// choice to one template. For that template and those named by `own`, stored winners count only if they have the
    /// current source in `templates`. For other templates, winners of earlier versions count until the problem is tuned
    /// again. Where `own` has the operation, winners of any template must have been verified as the present operation,
    /// as far as is known, and defaults must be of templates with that operation.
    /// A template counts only if it takes the arguments that the caller knows: those of `kernel_template` in
    /// `templates`, or else of the first template there of the operation, those of `own` before the others. Where
    /// `templates` has none, any stored one counts that fits the problem. With `predictors`, the store's portfolios are
    /// read once for all Candidates that share them; those must have the other arguments in common but the problem and
    /// `kernel_template`.
    Candidates(const Problem& problem, const Device& device, const Store* store,
               const std::vector<KernelTemplate>& templates, std::string_view kernel_template,
               std::span<const std::string> own = {}, StoredTemplates stored_templates = StoredTemplates::any,
               PredictorCache* predictors = nullptr);

    /// The next candidate; nothing after the last. Throws std::invalid_argument if the problem does not fit the
    /// operation that the caller knows.
    std::optional<Candidate> next();
    /// What was passed over because its rows are damaged: "; MESSAGE" for each.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    /// Why templates were passed over so far: `; NAME: reason` for each that has another signature.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

private:
    void find_expected();
    void begin();
    [[nodiscard]] std::optional<Candidate> next_stored();
    [[nodiscard]] bool has_expected_signature(const KernelTemplate& kernel);
    [[nodiscard]] bool has_own_operation(const KernelTemplate& kernel);
    void pass_over(const std::string& kernel_template, const std::string& reason);
    [[nodiscard]] std::optional<KernelTemplate> template_of(const TrialRow& row);
    void read_more_rows();
    void read_nearest_device();
    [[nodiscard]] bool is_outdated(const TrialRow& row) const;
    [[nodiscard]] std::optional<Candidate> tuned(const TrialRow& row);
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
    const KernelTemplate* expected_ = nullptr;  // its operation is the caller's; null: the caller knows no such one
    bool expects_own_ = false;                  // whether it is one of `own_`
    std::int64_t replacements_ = 0;             // of the store's file, when its devices were read
    PredictorCache* predictors_;
    std::shared_ptr<const Predictor> predictor_;  // the owner of what `predictions_` points to
    std::optional<std::vector<Predictor::Prediction>> predictions_;
    std::size_t prediction_ = 0;
    std::string why_not_;
    std::vector<std::pair<std::int64_t, Device>> devices_;  // not read yet; the nearest is last
    std::vector<std::string> hashes_;                       // of the template that is chosen by name
    std::int64_t device_row_ = 0;                           // the current device
    std::int64_t skipped_ = 0;                              // problems nearer than those of `rows_`
    bool is_last_ = true;                                   // whether `rows_` are the last of the current device
    std::vector<TrialRow> rows_;                            // of the current device; the nearest problem is first
    std::size_t row_ = 0;
    bool rows_here_ = true;
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
