// Finds the stored problems that are nearest to a given problem, without reading all stored problems.
#include <algorithm>
#include <cmath>

#include "db/adopt.h"
#include "db/store_state.h"

namespace smemtune {

namespace {

constexpr auto add_group = R"sql(
INSERT OR IGNORE INTO place_groups (device, operation, type, layout)
SELECT ?1, operation, type, layout FROM problems WHERE id = ?2)sql";

constexpr auto add_place = R"sql(
INSERT OR IGNORE INTO places
SELECT g.device * 4294967296 + p.id, g.id, g.id,
       smemtune_log2(p.extents, 0), smemtune_log2(p.extents, 0), smemtune_log2(p.extents, 1),
       smemtune_log2(p.extents, 1), smemtune_log2(p.extents, 2), smemtune_log2(p.extents, 2),
       smemtune_log2(p.extents, 3), smemtune_log2(p.extents, 3)
FROM problems AS p JOIN place_groups AS g
    ON g.device = ?1 AND g.operation = p.operation AND g.type = p.type AND g.layout = p.layout
WHERE p.id = ?2)sql";

constexpr auto find_group = R"sql(
SELECT id FROM place_groups WHERE device = ? AND operation = ? AND type = ? AND layout = ?)sql";

constexpr auto nearest_problems = R"sql(
SELECT id % 4294967296 FROM places
WHERE id MATCH smemtune_near(?1, smemtune_log2(?2, 0), smemtune_log2(?2, 1), smemtune_log2(?2, 2), smemtune_log2(?2, 3))
LIMIT ? OFFSET ?)sql";

constexpr auto best_trial = "WHERE t.id = (SELECT trial FROM best_trials WHERE device = ? AND problem = ?)";

constexpr auto best_trial_of_template = R"sql(
WHERE t.id = (
    WITH versions AS (SELECT id FROM templates WHERE name = ?3
                      AND (?4 = '[]' OR hash IN (SELECT value FROM json_each(?4))))
    SELECT coalesce((SELECT w.trial FROM winners AS w JOIN trials AS f ON f.id = w.trial
                     WHERE w.device = ?1 AND w.problem = ?2 AND f.template IN versions),
                    (SELECT f.id FROM trials AS f
                     WHERE f.device = ?1 AND f.problem = ?2 AND f.cut_short = 0 AND f.verified_by IS NOT NULL
                         AND f.template IN versions
                     ORDER BY f.median_us, f.id LIMIT 1))))sql";

double squared_distance(const Problem& a, const Problem& b) {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(a.extents.size(), b.extents.size()); ++i) {
        const auto difference =
            std::log2(static_cast<double>(a.extents[i].second)) - std::log2(static_cast<double>(b.extents[i].second));
        sum += difference * difference;
    }
    return sum;
}

}  // namespace

void Store::State::place(std::int64_t device, std::int64_t problem) {
    query(add_group).with(device, problem).run();
    query(add_place).with(device, problem).run();
}

std::optional<TrialRow> Store::best(std::int64_t device, std::int64_t problem) const {
    static const std::string sql = select_rows(best_trial);
    return state_->guarded([&] { return state_->query(sql).with(device, problem).first(read_row); });
}

std::optional<TrialRow> Store::best(std::int64_t device, std::int64_t problem, const std::string& kernel_template,
                                    const std::vector<std::string>& hashes) const {
    if (kernel_template.empty()) return best(device, problem);
    static const std::string sql = select_rows(best_trial_of_template);
    return state_->guarded(
        [&] { return state_->query(sql).with(device, problem, kernel_template, json_array(hashes)).first(read_row); });
}

Store::Nearest Store::nearest(std::int64_t device, const Problem& problem, std::int64_t skipped, std::int64_t count,
                              const std::string& kernel_template, const std::vector<std::string>& hashes) const {
    if (state_->schema < hashed_schema) {  // files of an older schema lack the index `places`
        auto rows = best_of(device, problem.operation, problem.type, problem.layout, kernel_template, hashes);
        std::ranges::stable_sort(rows, {}, [&](const auto& row) { return squared_distance(problem, row.problem); });
        return {std::move(rows), true};
    }
    const auto problems = state_->guarded([&] {
        const auto group =
            state_->query(find_group).with(device, problem.operation, problem.type, problem.layout).first(read_id);
        if (!group) return std::vector<std::int64_t>();
        return state_->query(nearest_problems).with(*group, extents_json(problem), count, skipped).all(read_id);
    });
    Nearest nearest{.rows = {}, .is_last = static_cast<std::int64_t>(problems.size()) < count};
    for (const auto each : problems) {
        try {
            if (auto row = best(device, each, kernel_template, hashes)) nearest.rows.push_back(std::move(*row));
        } catch (const DamagedRow&) {  // a problem whose row is damaged is skipped
        }
    }
    return nearest;
}

}  // namespace smemtune
