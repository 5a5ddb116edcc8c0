#include "tuner/search/strategies/local.h"

#include <limits>
#include <set>

#include "tuner/search/learning.h"
#include "tuner/search/strategies/neighbourhood.h"

namespace smemtune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class LocalSearch : public LearningSearch {
public:
    using LearningSearch::LearningSearch;

private:
    std::size_t propose() override {
        while (!queue_.empty()) {
            const auto index = queue_.back();
            queue_.pop_back();
            if (untried().contains(index)) return index;
        }
        // Asked ahead of the outcomes it also kicks too soon, which costs nothing: what is cheaper is still moved to.
        return *base_.insert(best_cost_ == infinity ? fresh() : kick()).first;
    }

    std::size_t kick() {
        constexpr int tries = 50;
        for (int i = 0; i < tries; ++i) {
            const auto index = changed(space(), best_, strength_ + below(2), random());
            if (index && untried().contains(*index)) return *index;
        }
        return fresh();
    }

    void learn(std::size_t index, double cost) override {
        const bool kicked = base_.erase(index) > 0;
        if (cost < best_cost_) {
            best_ = index;
            best_cost_ = cost;
            strength_ = weakest;
        } else if (kicked && ++kicks_ % patience == 0) {
            strength_ = strength_ < space().parameters().size() ? strength_ + 1 : weakest;
        }
        // From a kicked point it walks on however bad it is, unless it is no point to stand on at all.
        if (cost < here_cost_ || (kicked && cost < infinity)) move_to(index, cost);
    }

    // Where a neighbour is known to cost less the walk goes there for nothing: it would arrive there anyhow.
    void move_to(std::size_t index, double cost) {
        std::vector<std::size_t> near;
        for (bool moved = true; moved;) {
            near = neighbours(space(), index);
            moved = false;
            for (const auto each : near) {
                const auto known = costs().find(each);
                if (known == costs().end() || known->second >= cost) continue;
                index = each;
                cost = known->second;
                moved = true;
            }
        }
        here_cost_ = cost;
        std::erase_if(near, [&](std::size_t each) { return !untried().contains(each); });
        shuffle(near);
        queue_ = std::move(near);
    }

    static constexpr std::size_t weakest = 2;
    static constexpr int patience = 4;

    std::vector<std::size_t> queue_;  // neighbours still to try, the next one last
    std::set<std::size_t> base_;      // kicked points whose outcome is awaited
    double here_cost_ = infinity;
    std::size_t best_ = 0;
    double best_cost_ = infinity;
    std::size_t strength_ = weakest;  // parameters a kick changes, at least
    int kicks_ = 0;
};

}  // namespace

std::unique_ptr<Search> local_search(SearchSetup setup) { return std::make_unique<LocalSearch>(std::move(setup)); }

}  // namespace smemtune
