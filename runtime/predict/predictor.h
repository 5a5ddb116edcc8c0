// Ranks the members of a stored portfolio for a problem that nobody tuned, by their predicted times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"
#include "templates/predict/bound_launch.h"
#include "templates/predict/correction.h"

namespace smemtune {

class Predictor {
public:
    struct Member {
        TrialRow row;  ///< the stored member as a trial without problem and measurement
        std::shared_ptr<const KernelTemplate> kernel_template;
        std::shared_ptr<const Configuration> stored;         ///< the configuration as stored in `row`
        std::shared_ptr<const Configuration> configuration;  ///< `stored`, with defaults for parameters that it lacks
        std::string text;                                    ///< text of `configuration`
        std::string compiled;                                ///< text of the compiled_part() of `configuration`
        TimeModel model;
        std::vector<std::string> classes;  ///< classes of problems for which the member was verified
        BoundLaunch bound;                 ///< uses Predictor::line_, which all members share
        /// The constructor's `expected` if it has the same signature as this member's template (is_same_signature()).
        /// Else null.
        const KernelTemplate* same_signature_as = nullptr;
    };
    struct Prediction {
        const Member* member = nullptr;
        double us = 0;
        double error = 0;  ///< about half of measured times lie between us / (1 + error) and us * (1 + error)
        /// Correction from measurements at problems nearby: `us` is the sum of the model's terms times `factor`.
        double factor = 1;
        Terms shares{};  ///< each term's part of `us`
    };

    /// Returns the template of a member; null if the template must not be used. Called once for each template.
    using FindTemplate = std::function<std::shared_ptr<const KernelTemplate>(const TrialRow&)>;

    /// Keeps the members that can compute problems with the operation, type and layout of `like`. A member was verified
    /// as a kernel of one operation. If its template now describes a different operation, the member is dropped.
    /// `expected` is for Member::same_signature_as, and may be null. It must outlive this object.
    Predictor(const Portfolio& portfolio, const Problem& like, const Device& device, const FindTemplate& find_template,
              const KernelTemplate* expected = nullptr);

    /// The members that are valid for the problem and verified for its class, sorted by `us * (1 + error)`. Ties stay
    /// in the order of the portfolio. Empty if an extent is not valid. The pointers to members are valid as long as the
    /// Predictor lives.
    [[nodiscard]] std::vector<Prediction> ranking(const Problem& problem) const;
    /// Memory that several calls of predict() can reuse.
    struct Scratch {
        BoundLaunch::Scratch values;
        std::vector<std::size_t> valid;  ///< indices of the members whose constraints hold for the problem
        std::vector<Prediction> predictions;
        Correction::Scratch corrections;
    };
    /// Like ranking(problem), but writes the predictions to `scratch.predictions` and does not sort them. Also writes
    /// values for the problem to `scratch.values`. BoundLaunch::launch_at() takes these values for the members of the
    /// predictions.
    void predict(const Problem& problem, Scratch& scratch) const;
    /// Swaps the prediction that comes first in the order of ranking() to the front. `predictions` must not be empty.
    /// If a caller needs only the first few predictions, this is faster than a ranking.
    static void put_first(std::span<Prediction> predictions);
    [[nodiscard]] const std::vector<std::string>& damages() const { return damages_; }

private:
    std::int64_t element_bytes_ = 1;  // not used if there are no members
    std::vector<std::string> extents_;
    std::shared_ptr<StraightLine> line_;  // constraints and terms of all members, with common subexpressions shared
    std::vector<Member> members_;
    // The members that were verified for a class of problems. `rules` and `terms` are the parts of `line_` that compute
    // the constraints and the time terms of these members. The constraints are computed first.
    struct OfClass {
        std::vector<std::size_t> members;  // indices in `members_`, in the order of the portfolio
        StraightLine::Part rules, terms;
    };
    std::map<std::string, OfClass> by_class_;
    Correction correction_;  // corrections for all members, by index in `members_`
    std::vector<std::string> damages_;
};

/// Why a prediction was chosen: `predicted 12.3 us within 6 %, mostly arithmetic; next 13.1 us`. `ranking` must be
/// sorted up to the prediction after the chosen one.
std::string why_chosen(const std::vector<Predictor::Prediction>& ranking, std::size_t chosen);

/// Makes each predictor of a database once. Any thread may use the cache.
class PredictorCache {
public:
    using Make = std::function<std::shared_ptr<const Predictor>()>;
    /// `device` is the row of the device that the portfolio was measured on. `replacements` is the value of
    /// Store::replacements(). If it has increased, the database file was replaced, and the cache drops its predictors.
    std::shared_ptr<const Predictor> find_or_make(const Problem& problem, std::int64_t device,
                                                  std::int64_t replacements, const Make& make);

private:
    std::mutex mutex_;
    using Key = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
    std::map<Key, std::shared_ptr<const Predictor>> known_;
};

}  // namespace smemtune
