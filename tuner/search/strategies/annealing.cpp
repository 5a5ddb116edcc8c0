#include "tuner/search/strategies/annealing.h"

#include <cmath>

#include "tuner/search/adaptive_search.h"
#include "tuner/search/strategies/neighbourhood.h"

namespace smemtune {

namespace {

class Annealing : public AdaptiveSearch {
public:
    using AdaptiveSearch::AdaptiveSearch;

private:
    // Temperatures, in units of the cost's natural logarithm. At temperature `hot`, a move to a cost 1.4 times the
    // current cost is accepted with probability 0.38.
    static constexpr double hot = 0.35;
    static constexpr double cold = 0.01;
    static constexpr double cooling = 0.985;
    static constexpr int patience = 40;

    std::size_t propose() override {
        if (current_cost_ == infinity) return draw_untried();
        if (const auto index = step(adjacent_neighbours(space(), current_)); index && random_below(4) > 0)
            return *index;
        if (const auto index = step(neighbours(space(), current_))) return *index;
        constexpr int tries = 50;
        for (int i = 0; i < tries; ++i) {
            const auto index = changed(space(), current_, 2 + random_below(2), random());
            if (index && untried().contains(*index)) return *index;
        }
        return draw_untried();
    }

    std::optional<std::size_t> step(std::vector<std::size_t> near) {
        std::erase_if(near, [&](std::size_t index) { return !untried().contains(index); });
        if (near.empty()) return std::nullopt;
        return near[random_below(near.size())];
    }

    void update(std::size_t index, double cost) override {
        temperature_ = std::max(cold, temperature_ * cooling);
        if (cost < best_cost_) {
            best_ = index;
            best_cost_ = cost;
        }
        if (cost < current_cost_ ||
            (cost < infinity && random_fraction() < std::pow(cost_ratio(cost), 1 / temperature_))) {
            current_ = index;
            current_cost_ = cost;
            rejected_moves_ = 0;
        } else if (++rejected_moves_ == patience && best_cost_ < infinity) {
            current_ = best_;
            current_cost_ = best_cost_;
            temperature_ = hot;
            rejected_moves_ = 0;
        }
    }

    // Returns current cost / new cost, in (0, 1]. Returns 0 if the current cost is not positive, so that only
    // improvements are accepted.
    [[nodiscard]] double cost_ratio(double cost) const { return current_cost_ > 0 ? current_cost_ / cost : 0; }

    double temperature_ = hot;
    std::size_t current_ = 0;
    double current_cost_ = infinity;
    std::size_t best_ = 0;
    double best_cost_ = infinity;
    int rejected_moves_ = 0;  // the number of rejected moves since the last accepted one
};

}  // namespace

std::unique_ptr<Search> annealing_search(SearchSetup setup) { return std::make_unique<Annealing>(std::move(setup)); }

}  // namespace smemtune
