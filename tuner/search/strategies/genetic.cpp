#include "tuner/search/strategies/genetic.h"

#include <algorithm>
#include <limits>

#include "tuner/search/adaptive_search.h"
#include "tuner/search/strategies/neighbourhood.h"

namespace smemtune {

namespace {

class Genetic : public AdaptiveSearch {
public:
    using AdaptiveSearch::AdaptiveSearch;

private:
    static constexpr std::size_t population = 20;
    static constexpr std::size_t tournament = 3;  // number of members drawn at random; the best becomes a parent

    struct Member {
        double cost;
        std::size_t index;
    };

    std::size_t propose() override {
        if (++proposed_ <= population || members_.size() < 2) return draw_untried();
        constexpr int tries = 50;
        for (int i = 0; i < tries; ++i) {
            auto index = child(parent(), parent());
            if (index && random_below(2) == 0) index = changed(space(), *index, 1, random());
            if (index && untried().contains(*index)) return *index;
        }
        for (int i = 0; i < tries; ++i) {  // no child was valid and untried, so a parent mutates
            const auto index = changed(space(), parent(), 1 + random_below(3), random());
            if (index && untried().contains(*index)) return *index;
        }
        return draw_untried();
    }

    std::size_t parent() {
        auto best = members_.size() - 1;
        for (std::size_t i = 0; i < tournament; ++i) best = std::min(best, random_below(members_.size()));
        return members_[best].index;
    }

    std::optional<std::size_t> child(std::size_t mother, std::size_t father) {
        std::vector<std::uint16_t> point(space().point(mother).begin(), space().point(mother).end());
        for (std::size_t i = 0; i < point.size(); ++i) {
            if (random_below(2) == 0) point[i] = space().point(father)[i];
        }
        return space().find(point);
    }

    void update(std::size_t index, double cost) override {
        if (cost == std::numeric_limits<double>::infinity()) return;
        const auto behind = std::ranges::upper_bound(members_, cost, {}, &Member::cost);
        members_.insert(behind, {cost, index});
        if (members_.size() > population) members_.pop_back();
    }

    std::vector<Member> members_;  // lowest cost first
    std::size_t proposed_ = 0;
};

}  // namespace

std::unique_ptr<Search> genetic_search(SearchSetup setup) { return std::make_unique<Genetic>(std::move(setup)); }

}  // namespace smemtune
