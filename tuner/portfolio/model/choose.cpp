#include "tuner/portfolio/model/choose.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "tuner/portfolio/model/fitted_members.h"

namespace smemtune {

double CrossTimes::best_us(std::size_t problem) const {
    double best = 0;
    for (const auto& cell : cells[problem]) {
        if (cell.us > 0 && (best == 0 || cell.us < best)) best = cell.us;
    }
    return best;
}

std::vector<std::size_t> choose_members(const CrossTimes& times, const std::vector<std::size_t>& problems,
                                        const std::vector<std::size_t>& candidates, std::size_t size) {
    std::vector<double> best;       // the shortest time at each problem
    std::vector<double> now;        // at each problem, the best member's time divided by `best`
    std::vector<std::size_t> rows;  // the problems at which at least one configuration runs
    for (const auto problem : problems) {
        if (times.best_us(problem) <= 0) continue;
        rows.push_back(problem);
        best.push_back(times.best_us(problem));
        now.push_back(unserved_factor);
    }
    const auto gain_of = [&](std::size_t configuration) {
        double gain = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto us = times.cells[rows[i]][configuration].us;
            if (us > 0) gain += times.counts[rows[i]] * std::max(0.0, now[i] - us / best[i]);
        }
        return gain;
    };
    std::vector<std::size_t> members;
    while (members.size() < size) {
        std::optional<std::size_t> chosen;
        double most = 0;
        for (const auto candidate : candidates) {
            const auto gain = gain_of(candidate);
            if (gain > most) {
                most = gain;
                chosen = candidate;
            }
        }
        if (!chosen) break;
        members.push_back(*chosen);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto us = times.cells[rows[i]][*chosen].us;
            if (us > 0) now[i] = std::min(now[i], us / best[i]);
        }
    }
    return members;
}

std::vector<std::vector<std::size_t>> pairs_nearby(const CrossTimes& times, std::span<const std::size_t> problems,
                                                   std::size_t count) {
    struct Near {
        double distance = 0;
        std::size_t problem = 0, configuration = 0;
    };
    std::vector<Near> all;
    for (std::size_t configuration = 0; configuration < times.configurations(); ++configuration) {
        std::vector<Near> near;
        for (const auto problem : problems) {
            if (!times.cells[problem][configuration].is_valid()) continue;
            auto least = std::numeric_limits<double>::infinity();
            for (const auto found : times.found[configuration]) {
                least = std::min(least, squared_distance(times.places[found], times.places[problem]));
            }
            near.push_back({least, problem, configuration});
        }
        std::ranges::stable_sort(near, {}, &Near::distance);
        near.resize(std::min(near.size(), count));
        all.insert(all.end(), near.begin(), near.end());
    }
    std::ranges::stable_sort(all, {}, &Near::distance);
    std::vector<std::vector<std::size_t>> pairs(times.problems());
    for (const auto& near : all) pairs[near.problem].push_back(near.configuration);
    return pairs;
}

std::vector<std::vector<std::size_t>> pairs_predicted(const CrossTimes& times, std::span<const std::size_t> problems,
                                                      const std::vector<std::size_t>& candidates, std::size_t count,
                                                      double factor) {
    std::vector<std::size_t> all(times.problems());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<std::size_t> timed;
    std::ranges::copy_if(candidates, std::back_inserter(timed), [&](std::size_t candidate) {
        return std::ranges::any_of(times.cells, [&](const auto& row) { return row[candidate].us > 0; });
    });
    const FittedMembers fitted(times, all, timed);
    std::vector<std::vector<std::size_t>> pairs(times.problems());
    for (const auto problem : problems) {
        const auto ranking = fitted.ranking(problem);
        for (std::size_t i = 0; i < std::min(count, ranking.size()); ++i) {
            if (ranking[i].cautious_us > factor * ranking.front().cautious_us) break;
            pairs[problem].push_back(ranking[i].member);
        }
    }
    return pairs;
}

}  // namespace smemtune
