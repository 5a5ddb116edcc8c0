// Members with models that were fitted to measured times, and their predictions at any problem of the table.
#pragma once

#include <cstddef>
#include <vector>

#include "templates/predict/correction.h"
#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

class FittedMembers {
public:
    /// Fits the models of `members` to their times at `problems`. `times` must outlive this object.
    FittedMembers(const CrossTimes& times, const std::vector<std::size_t>& problems, std::vector<std::size_t> members);

    struct Prediction {
        std::size_t member = 0;  ///< the number of the configuration in the table
        /// The corrected prediction, multiplied by 1 + Corrected::error(), in microseconds.
        double cautious_us = 0;
    };
    /// Predicts the times of the members that are valid at `problem`, whether they were timed there or not. Returns
    /// them in the order in which a fetch prefers them.
    [[nodiscard]] std::vector<Prediction> ranking(std::size_t problem) const;

    [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }

private:
    const CrossTimes& times_;
    std::vector<std::size_t> members_;
    std::vector<TimeModel> models_;
    Correction correction_;
};

}  // namespace smemtune
