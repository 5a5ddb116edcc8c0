// A stored portfolio that is ready to predict: which member is the fastest for a problem that nobody tuned.
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

namespace smemtune {

class Predictor {
public:
    struct Member {
        TrialRow row;  ///< names template, configuration and verification; has no problem and no measurement
        TimeModel model;
        std::vector<std::string> classes;  ///< of problems for which it was verified
        BoundLaunch bound;
    };
    struct Prediction {
        const Member* member = nullptr;
        double us = 0;
        Terms shares{};  ///< of each term in `us`
    };

    /// The template of a member; nothing if it must not serve.
    using FindTemplate = std::function<std::optional<KernelTemplate>(const TrialRow&)>;

    /// The members that count for problems like `like`: verified as the operation that their template describes now.
    Predictor(const Portfolio& portfolio, const Problem& like, const Device& device, const FindTemplate& find_template);

    /// The members that are valid for the problem and verified for its class, the fastest first: by predicted
    /// time times 1 + error; ties in the order of the portfolio. Takes some microseconds a member. The members live as
    /// long as the Predictor.
    [[nodiscard]] std::vector<Prediction> ranking(const Problem& problem) const;
    [[nodiscard]] const std::vector<std::string>& damages() const { return damages_; }

private:
    std::int64_t element_bytes_;
    std::vector<Member> members_;
    std::vector<std::string> damages_;
};

/// Why a prediction was chosen: `predicted 12.3 us within 6 %, mostly arithmetic; next 13.1 us`.
std::string why_chosen(const std::vector<Predictor::Prediction>& ranking, std::size_t chosen);

/// The predictors of a database, each made once. Any thread may call it.
class PredictorCache {
public:
    using Make = std::function<std::shared_ptr<const Predictor>()>;
    /// `replacements` of the Store: a file that took the place of another has a portfolio of its own.
    std::shared_ptr<const Predictor> find_or_make(const Problem& problem, std::int64_t replacements, const Make& make);

private:
    std::mutex mutex_;
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, std::shared_ptr<const Predictor>> known_;
};

}  // namespace smemtune
