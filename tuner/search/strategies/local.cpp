#include "tuner/search/strategies/local.h"

#include <set>

#include "tuner/search/adaptive_search.h"
#include "tuner/search/strategies/neighbourhood.h"

namespace smemtune {

namespace {

class LocalSearch : public AdaptiveSearch {
public:
    using AdaptiveSearch::AdaptiveSearch;

private:
    std::size_t propose() override {
        while (!queue_.empty()) {
            const auto index = queue_.back();
            queue_.pop_back();
            if (untried().contains(index)) return index;
        }
        // If outcomes of neighbours are still pending, this perturbation may come too early. That is harmless, because
        // update() still accepts a neighbour that turns out to cost less.
        return *perturbed_.insert(best_cost_ == infinity ? draw_untried() : perturbation()).first;
    }

    std::size_t perturbation() {
        constexpr int tries = 50;
        for (int i = 0; i < tries; ++i) {
            const auto index = changed(space(), best_, strength_ + random_below(2), random());
            if (index && untried().contains(*index)) return *index;
        }
        return draw_untried();
    }

    void update(std::size_t index, double cost) override {
        const bool was_perturbed = perturbed_.erase(index) > 0;
        if (cost < best_cost_) {
            best_ = index;
            best_cost_ = cost;
            strength_ = weakest;
        } else if (was_perturbed && ++perturbations_ % patience == 0) {
            strength_ = strength_ < space().parameters().size() ? strength_ + 1 : weakest;
        }
        // A perturbed point becomes the current point even if it costs more, unless it was rejected.
        if (cost < current_cost_ || (was_perturbed && cost < infinity)) move_to(index, cost);
    }

    // Makes `index` the current point. While a neighbour is already known to cost less, moves on to that neighbour
    // without an evaluation. Then queues the untried neighbours of the point where the moves ended.
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
        current_cost_ = cost;
        std::erase_if(near, [&](std::size_t each) { return !untried().contains(each); });
        shuffle(near);
        queue_ = std::move(near);
    }

    static constexpr std::size_t weakest = 2;
    static constexpr int patience = 4;

    std::vector<std::size_t> queue_;   // untried neighbours of the current point; the next proposal is last
    std::set<std::size_t> perturbed_;  // perturbed points whose outcome is pending
    double current_cost_ = infinity;
    std::size_t best_ = 0;
    double best_cost_ = infinity;
    std::size_t strength_ = weakest;  // a perturbation changes this many parameters, or one more
    int perturbations_ = 0;
};

}  // namespace

std::unique_ptr<Search> local_search(SearchSetup setup) { return std::make_unique<LocalSearch>(std::move(setup)); }

}  // namespace smemtune
