#include "tuner/replay/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "tuner/search/search.h"
#include "util/parallel_for.h"
#include "util/statistics.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

// One repeat of a search. `best` has the best cost so far after each evaluation, infinite before the first success.
struct Trajectory {
    std::vector<double> best;
    std::size_t ended = 0;  // the number of evaluations after which a tuning run would stop
    Clock::duration searching{};
};

template <class Work>
auto timed(Clock::duration& total, const Work& work) {
    const auto begin = Clock::now();
    if constexpr (std::is_void_v<decltype(work())>) {
        work();
        total += Clock::now() - begin;
    } else {
        auto result = work();
        total += Clock::now() - begin;
        return result;
    }
}

Trajectory run(const Landscape& landscape, const ReplayRequest& request, unsigned seed) {
    const auto search = make_search(request.search, {.space = landscape.space, .seed = seed, .starts = request.starts});
    Trajectory trajectory;
    auto best = std::numeric_limits<double>::infinity();
    std::deque<Configuration> pending;
    bool used_up = false;
    Stopping stopping(request.stopping);
    while (trajectory.best.size() < request.evaluations) {
        while (!used_up && pending.size() < request.in_flight &&
               trajectory.best.size() + pending.size() < request.evaluations) {
            auto proposal = timed(trajectory.searching, [&] { return search->next(); });
            used_up = !proposal;
            if (proposal) pending.push_back(std::move(*proposal));
        }
        if (pending.empty()) break;
        const auto configuration = std::move(pending.front());
        pending.pop_front();
        const auto index = landscape.space->find(configuration);
        if (!index)
            throw std::logic_error(request.search + " proposed " + to_text(configuration) + ", not in its space");
        const auto cost = landscape.costs[*index];
        timed(trajectory.searching, [&] { search->observe(configuration, cost); });
        best = std::min(best, cost.value_or(best));
        trajectory.best.push_back(best);
        stopping.add(cost);
        if (trajectory.ended == 0 && stopping.gain_is_unlikely()) trajectory.ended = trajectory.best.size();
    }
    if (trajectory.ended == 0) trajectory.ended = trajectory.best.size();
    return trajectory;
}

std::vector<Trajectory> run_all(const Landscape& landscape, const ReplayRequest& request) {
    std::vector<Trajectory> trajectories(request.repeats);
    parallel_for(request.repeats, request.threads, [&](std::size_t repeat) {
        trajectories[repeat] = run(landscape, request, request.seed + static_cast<unsigned>(repeat));
    });
    return trajectories;
}

void fill(ReplayResult::Level& level, const std::vector<Trajectory>& trajectories, double optimum) {
    std::vector<double> evaluations;
    for (const auto& trajectory : trajectories) {
        const auto found =
            std::ranges::find_if(trajectory.best, [&](double best) { return best <= optimum / level.fraction; });
        const bool reached = found != trajectory.best.end();
        evaluations.push_back(reached ? static_cast<double>(found - trajectory.best.begin() + 1)
                                      : std::numeric_limits<double>::infinity());
        level.never += reached ? 0 : 1;
    }
    level.median = median(std::move(evaluations));
}

void fill(ReplayResult::Mark& mark, const std::vector<Trajectory>& trajectories, double optimum, std::size_t asked) {
    if (mark.evaluations > asked) {
        mark.fraction = std::numeric_limits<double>::quiet_NaN();
        return;
    }
    for (const auto& trajectory : trajectories) {
        if (trajectory.best.empty()) continue;
        // If the space was used up before `evaluations`, the best cost of the whole repeat is used.
        mark.fraction += optimum / trajectory.best[std::min(mark.evaluations, trajectory.best.size()) - 1];
    }
    mark.fraction /= static_cast<double>(trajectories.size());
}

ReplayResult::Ending ending_of(const std::vector<Trajectory>& trajectories, double optimum) {
    ReplayResult::Ending ending;
    std::vector<double> evaluations;
    for (const auto& trajectory : trajectories) {
        evaluations.push_back(static_cast<double>(trajectory.ended));
        const auto fraction = trajectory.ended == 0 ? 0 : optimum / trajectory.best[trajectory.ended - 1];
        ending.fraction += fraction / static_cast<double>(trajectories.size());
        ending.short_of += fraction < 0.95 ? 1 : 0;
    }
    ending.evaluations = median(std::move(evaluations));
    return ending;
}

}  // namespace

ReplayResult replay(const Landscape& landscape, const ReplayRequest& request) {
    const auto trajectories = run_all(landscape, request);
    const auto optimum = *landscape.costs[landscape.by_cost().front()];
    ReplayResult result{.search = request.search};
    for (auto& level : result.levels) fill(level, trajectories, optimum);
    for (auto& mark : result.marks) fill(mark, trajectories, optimum, request.evaluations);
    result.ending = ending_of(trajectories, optimum);
    std::chrono::duration<double, std::micro> searching{};
    for (const auto& trajectory : trajectories) {
        result.evaluations += static_cast<double>(trajectory.best.size());
        searching += trajectory.searching;
    }
    result.us_per_evaluation = searching.count() / result.evaluations;
    result.evaluations /= static_cast<double>(trajectories.size());
    return result;
}

bool better(const ReplayResult& a, const ReplayResult& b) {
    const auto rank = [](const ReplayResult& result) {
        const auto& level = result.levels[1];
        const auto reached = result.marks.back().fraction;
        return std::tuple(level.median, level.never, std::isnan(reached) ? 0 : -reached);
    };
    return rank(a) < rank(b);
}

}  // namespace smemtune
