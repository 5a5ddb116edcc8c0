#include "tuner/analysis/convergence.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tuner/analysis/timestamp.h"

namespace smemtune {

namespace {

// An upper bound for the date of a trial's first attempt, and the run of the row that has this date.
struct First {
    double at_ms = 0;
    std::int64_t run = 0;
};

// Returns the First of each row. `rows` are in the order in which the trials were first stored, so each trial was
// first tried before those in later rows. The date of a row may be later than its trial's first attempt, because the
// finals store a finalist again, with a new date. The First of a row is therefore the earliest date among this row
// and all later rows, with the run of the row that has this date.
std::vector<First> first_dates(const std::vector<const TrialRow*>& rows) {
    std::vector<First> dates(rows.size());
    for (std::size_t i = rows.size(); i-- > 0;) {
        const auto at_ms = static_cast<double>(milliseconds_of(rows[i]->finished_at));
        const bool is_earliest = i + 1 == rows.size() || at_ms < dates[i + 1].at_ms;
        dates[i] = is_earliest ? First{at_ms, rows[i]->record.run} : dates[i + 1];
    }
    return dates;
}

Convergence converged(const std::vector<const TrialRow*>& rows) {
    Convergence result{.device = rows.front()->device, .problem = rows.front()->problem};
    const auto dates = first_dates(rows);
    double before_ms = 0;  // the sum of the durations of earlier runs
    double begin_ms = 0;
    double at_ms = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& record = rows[i]->record;
        if (i == 0 || dates[i].run != dates[i - 1].run) {
            if (i > 0) before_ms += at_ms - begin_ms;
            begin_ms = dates[i].at_ms - record.compile_ms;
        }
        at_ms = dates[i].at_ms;
        result.evaluations = i + 1;
        result.seconds = (before_ms + at_ms - begin_ms) / 1000;
        const auto* measured = std::get_if<Measurement>(&record.outcome);
        if (measured == nullptr || (!result.steps.empty() && measured->median_us >= result.steps.back().best_us))
            continue;
        result.steps.push_back({result.evaluations, result.seconds, measured->median_us, rows[i]->id});
    }
    return result;
}

}  // namespace

const Convergence::Step& Convergence::within(double share) const {
    const auto enough = steps.back().best_us * (1 + share);
    return *std::ranges::find_if(steps, [enough](const Step& step) { return step.best_us <= enough; });
}

std::vector<double> Convergence::speeds(std::size_t points) const {
    std::vector<double> result;
    auto next = steps.begin();
    double speed = 0;
    for (std::size_t i = 1; i <= points; ++i) {
        for (; next != steps.end() && next->evaluations * points <= i * evaluations; ++next)
            speed = steps.back().best_us / next->best_us;
        result.push_back(speed);
    }
    return result;
}

std::vector<Convergence> stored_convergence(const Store& store, Store::Filter filter) {
    filter.sort = Store::Filter::Sort::id;
    filter.limit = {};
    const auto rows = store.rows(filter);
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
    std::vector<std::vector<const TrialRow*>> groups;
    for (const auto& row : rows) {
        const auto [place, added] = places.try_emplace({row.record.key.device, row.record.key.problem}, groups.size());
        if (added) groups.emplace_back();
        groups[place->second].push_back(&row);
    }
    std::vector<Convergence> all;
    for (auto& group : groups) {
        auto result = converged(group);
        if (!result.steps.empty()) all.push_back(std::move(result));
    }
    return all;
}

}  // namespace smemtune
