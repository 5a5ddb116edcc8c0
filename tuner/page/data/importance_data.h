// Computes how important each parameter is, for the problems of a page.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <vector>

#include "templates/manifest/kernel_template.h"
#include "tuner/analysis/importance.h"

namespace smemtune {

/// The limit of analysed trials for a page, over all groups. A group has the trials of one device, problem and
/// template. The largest groups come first. A group is skipped if its trials would exceed the limit. The limit bounds
/// the time: a random forest takes about 30 ms to learn from 1,000 trials.
constexpr std::size_t most_analysed_trials = 10'000;

/// Groups trials by device, problem and template, and analyses each group. Devices, problems and templates are given by
/// their indices in the lists of the page.
class ImportanceData {
public:
    struct Group {
        std::size_t device = 0, problem = 0, kernel_template = 0;
        auto operator<=>(const Group&) const = default;
    };

    void add(const Group& group, const Configuration& configuration, const Outcome& outcome);

    /// The data from which the valid configurations of a group are computed. `kernel` may be null.
    struct Origin {
        const KernelTemplate* kernel = nullptr;
        Problem problem;
        Device device;
    };
    /// Returns `[{"device", "problem", "template", "method", "explained", "exact", "measured", "shares": [{"name",
    /// "share"}], "pairs": [...]}]`. If a group has too few trials, the text `too_little` replaces `method` and all
    /// that follows. `origin` is called for each group that is analysed.
    [[nodiscard]] nlohmann::json to_json(const std::function<Origin(const Group&)>& origin) const;

private:
    [[nodiscard]] std::vector<Group> largest() const;
    [[nodiscard]] nlohmann::json analysed(const Group& group, const Origin& origin) const;

    std::map<Group, OutcomeTable> tables_;
    std::set<Group> mixed_;  // groups whose trials have different parameters; they are not analysed
};

}  // namespace smemtune
