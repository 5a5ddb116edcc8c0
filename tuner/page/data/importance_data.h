// Which parameters mattered, for the problems of a page.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <vector>

#include "templates/manifest/kernel_template.h"
#include "tuner/analysis/importance.h"

namespace smemtune {

/// A page analyses groups with at most this many trials together: the largest groups first, without those that exceed
/// what is left. A forest of 1,000 trials takes about 30 ms.
constexpr std::size_t most_analysed_trials = 10'000;

/// The trials of each device, problem and template, by their numbers in the page.
class ImportanceData {
public:
    struct Group {
        std::size_t device = 0, problem = 0, kernel_template = 0;
        auto operator<=>(const Group&) const = default;
    };

    void add(const Group& group, const Configuration& configuration, const Outcome& outcome);

    /// The data that give a group's valid configurations. `kernel` may be null.
    struct Origin {
        const KernelTemplate* kernel = nullptr;
        Problem problem;
        Device device;
    };
    /// `[{"device", "problem", "template", "method", "explained", "shares": [{"name", "share"}], "pairs": [...]}]`, or
    /// with `too_little` instead of the shares. `origin` is called for the groups that are analysed.
    [[nodiscard]] nlohmann::json to_json(const std::function<Origin(const Group&)>& origin) const;

private:
    [[nodiscard]] std::vector<Group> largest() const;
    [[nodiscard]] nlohmann::json analysed(const Group& group, const Origin& origin) const;

    std::map<Group, OutcomeTable> tables_;
    std::set<Group> mixed_;  // groups whose trials have different parameters; they are not analysed
};

}  // namespace smemtune
