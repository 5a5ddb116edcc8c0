// A problem's second look: what has won at other sizes since its own search ended.
#include <algorithm>

#include "tuner/problem/problem_tuner.h"

namespace smemtune {

namespace {

constexpr std::size_t most_sizes = 4;  // whose winners are tried

}  // namespace

void ProblemTuner::look_again() {
    const auto measured = by_time();
    if (measured.empty()) return;
    newcomers_ = find_newcomers();
    if (newcomers_.empty()) return;
    looks_again_ = true;
    phase_ = Phase::exchange;
    begin_.reset();
    playoff_.reset();
    if (winner_ == nullptr) winner_ = crowned_earlier(measured);
}

// A template that is clearly behind here has no use for them.
std::deque<std::pair<TemplateSearch*, Configuration>> ProblemTuner::find_newcomers() const {
    std::deque<std::pair<TemplateSearch*, Configuration>> newcomers;
    if (!best_cost_ || is_good_enough() || is_full()) return newcomers;
    for (const auto& lane : lanes_) {
        if (!lane->keeps_up(*best_cost_)) continue;
        auto winners =
            winners_nearby(context_.store, context_.device_row, problem_, lane->kernel_template(), most_sizes);
        for (auto& winner : lane->news_among(std::move(winners))) newcomers.emplace_back(lane.get(), std::move(winner));
    }
    return newcomers;
}

// The winner has met the other finalists. Where no newcomer comes near the best, it stands.
void ProblemTuner::choose_challengers() {
    phase_ = Phase::finals;
    players_ = by_cost();
    if (players_.empty()) return done();
    const auto limit = worth_finals(*players_.front());
    std::size_t challengers = 0;
    std::erase_if(players_, [&](const Known* known) {
        if (known == winner_) return false;
        if (!known->is_newcomer || *cost_of(*known->measurement()) > limit) return true;
        return ++challengers >= most_finalists;
    });
    if (challengers == 0) return done();
    winner_ = nullptr;  // until the finals are over
    line_up();
}

}  // namespace smemtune
