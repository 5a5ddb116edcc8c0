#include "tuner/portfolio/choose.h"

#include <algorithm>
#include <optional>

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
    std::vector<double> best;       // of each problem
    std::vector<double> now;        // the best member's time over it
    std::vector<std::size_t> rows;  // those where something runs
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

}  // namespace smemtune
