// Ranks the members of a stored portfolio for a problem that nobody tuned, by their predicted times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
        TrialRow row;  ///< names template, configuration and verification; has no problem and no measurement
        std::shared_ptr<const KernelTemplate> kernel_template;
        std::shared_ptr<const Configuration> stored;         ///< the row's
        std::shared_ptr<const Configuration> configuration;  ///< the same with all parameters of the template
        std::string text;                                    ///< of `configuration`
        std::string compiled;                                ///< the same without run-time parameters
        TimeModel model;
        std::vector<std::string> classes;  ///< of problems for which it was verified
        BoundLaunch bound;                 ///< all members share its line
    };
    struct Prediction {
        const Member* member = nullptr;
        double us = 0;
        double error = 0;  ///< two of three measured times are within a factor of 1 + error of `us`
        double factor =
            1;           ///< correction from measurements at problems nearby: `us` is the sum of the terms times this
        Terms shares{};  ///< each term's part of `us`
    };

    /// The template of a member; null if it must not serve. Members of the same template share it.
    using FindTemplate = std::function<std::shared_ptr<const KernelTemplate>(const TrialRow&)>;

    /// Keeps the members for problems like `like` that were verified as the operation that their template describes
    /// now.
    Predictor(const Portfolio& portfolio, const Problem& like, const Device& device, const FindTemplate& find_template);

    /// The members that are valid for the problem and verified for its class (none if an extent is not valid), sorted
    /// by predicted time times 1 + error; ties in the order of the portfolio. The members live as long as the
    /// Predictor.
    [[nodiscard]] std::vector<Prediction> ranking(const Problem& problem) const;
    /// The same; also gives the values of the members' rules at the problem, for BoundLaunch::launch_at().
    [[nodiscard]] std::vector<Prediction> ranking(const Problem& problem, BoundLaunch::Scratch& values) const;
    [[nodiscard]] const std::vector<std::string>& damages() const { return damages_; }

private:
    std::int64_t element_bytes_ = 1;  // any value if no member counts
    std::vector<std::string> extents_;
    std::shared_ptr<StraightLine> line_;  // the rules of all members, which have much in common
    std::vector<Member> members_;
    std::map<std::string, std::vector<std::size_t>> by_class_;  // the members that were verified for it, in order
    Correction correction_;                                     // by member
    std::vector<std::string> damages_;
};

/// Why a prediction was chosen: `predicted 12.3 us within 6 %, mostly arithmetic; next 13.1 us`.
std::string why_chosen(const std::vector<Predictor::Prediction>& ranking, std::size_t chosen);

/// The predictors of a database, each made once. Any thread may call it.
class PredictorCache {
public:
    using Make = std::function<std::shared_ptr<const Predictor>()>;
    /// `device`: row of the device that the portfolio was measured on. `replacements`: as Store::replacements(). When
    /// it changes, predictors of the earlier file are dropped.
    std::shared_ptr<const Predictor> find_or_make(const Problem& problem, std::int64_t device,
                                                  std::int64_t replacements, const Make& make);

private:
    std::mutex mutex_;
    using Key = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
    std::map<Key, std::shared_ptr<const Predictor>> known_;
};

}  // namespace smemtune
