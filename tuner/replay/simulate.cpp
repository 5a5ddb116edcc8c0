#include "tuner/replay/simulate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <exception>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <type_traits>

#include "tuner/search/search.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

/// One repeat: the best cost so far after each evaluation, infinite before the first success.
struct Course {
    std::vector<double> best;
    std::size_t ended = 0;  ///< evaluations after which a tuning run would stop
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

Course run(const Landscape& landscape, const ReplayRequest& request, unsigned seed) {
    const auto search = make_search(request.search, {.space = landscape.space, .seed = seed, .starts = request.starts});
    Course course;
    auto best = std::numeric_limits<double>::infinity();
    std::deque<Configuration> pending;
    bool satisfied = false;
    Stopping stopping(request.stopping);
    while (course.best.size() < request.evaluations) {
        while (!satisfied && pending.size() < request.in_flight &&
               course.best.size() + pending.size() < request.evaluations) {
            auto proposal = timed(course.searching, [&] { return search->next(); });
            satisfied = !proposal;
            if (proposal) pending.push_back(std::move(*proposal));
        }
        if (pending.empty()) break;
        const auto configuration = std::move(pending.front());
        pending.pop_front();
        const auto index = landscape.space->find(configuration);
        if (!index)
            throw std::logic_error(request.search + " proposed " + to_text(configuration) + ", not in its space");
        const auto cost = landscape.costs[*index];
        timed(course.searching, [&] { search->observe(configuration, cost); });
        best = std::min(best, cost.value_or(best));
        course.best.push_back(best);
        stopping.add(cost);
        if (course.ended == 0 && stopping.gain_is_unlikely()) course.ended = course.best.size();
    }
    if (course.ended == 0) course.ended = course.best.size();
    return course;
}

std::vector<Course> run_all(const Landscape& landscape, const ReplayRequest& request) {
    std::vector<Course> courses(request.repeats);
    std::vector<std::exception_ptr> failures(request.repeats);
    std::atomic<unsigned> next = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < std::clamp(request.threads, 1U, std::max(request.repeats, 1U)); ++i) {
            threads.emplace_back([&] {
                for (auto repeat = next++; repeat < request.repeats; repeat = next++) {
                    try {
                        courses[repeat] = run(landscape, request, request.seed + repeat);
                    } catch (...) {
                        failures[repeat] = std::current_exception();
                    }
                }
            });
        }
    }
    for (const auto& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
    return courses;
}

// Of an even number the mean of the two in the middle, which is infinite when one of them is.
double median(std::vector<double> values) {
    std::ranges::sort(values);
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void reach(ReplayResult::Level& level, const std::vector<Course>& courses, double optimum) {
    std::vector<double> evaluations;
    for (const auto& course : courses) {
        const auto found =
            std::ranges::find_if(course.best, [&](double best) { return best <= optimum / level.fraction; });
        const bool reached = found != course.best.end();
        evaluations.push_back(reached ? static_cast<double>(found - course.best.begin() + 1)
                                      : std::numeric_limits<double>::infinity());
        level.never += reached ? 0 : 1;
    }
    level.median = median(std::move(evaluations));
}

void look(ReplayResult::Mark& mark, const std::vector<Course>& courses, double optimum, std::size_t asked) {
    if (mark.evaluations > asked) {
        mark.fraction = std::numeric_limits<double>::quiet_NaN();
        return;
    }
    for (const auto& course : courses) {
        if (course.best.empty()) continue;
        // A space that was used up before keeps what it gave.
        mark.fraction += optimum / course.best[std::min(mark.evaluations, course.best.size()) - 1];
    }
    mark.fraction /= static_cast<double>(courses.size());
}

ReplayResult::Ending end(const std::vector<Course>& courses, double optimum) {
    ReplayResult::Ending ending;
    std::vector<double> evaluations;
    for (const auto& course : courses) {
        evaluations.push_back(static_cast<double>(course.ended));
        const auto fraction = course.ended == 0 ? 0 : optimum / course.best[course.ended - 1];
        ending.fraction += fraction / static_cast<double>(courses.size());
        ending.short_of += fraction < 0.95 ? 1 : 0;
    }
    ending.evaluations = median(std::move(evaluations));
    return ending;
}

}  // namespace

ReplayResult replay(const Landscape& landscape, const ReplayRequest& request) {
    const auto courses = run_all(landscape, request);
    const auto optimum = *landscape.costs[landscape.by_cost().front()];
    ReplayResult result{.search = request.search};
    for (auto& level : result.levels) reach(level, courses, optimum);
    for (auto& mark : result.marks) look(mark, courses, optimum, request.evaluations);
    result.ending = end(courses, optimum);
    std::chrono::duration<double, std::micro> searching{};
    for (const auto& course : courses) {
        result.evaluations += static_cast<double>(course.best.size());
        searching += course.searching;
    }
    result.us_per_evaluation = searching.count() / result.evaluations;
    result.evaluations /= static_cast<double>(courses.size());
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
