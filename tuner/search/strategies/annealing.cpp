#include "tuner/search/strategies/annealing.h"

#include <cmath>
#include <limits>

#include "tuner/search/learning.h"
#include "tuner/search/strategies/neighbourhood.h"

namespace smemtune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Annealing : public LearningSearch {
public:
    using LearningSearch::LearningSearch;

private:
    // In units of the logarithm of the cost: hot accepts what is 1.4 times slower in one of three cases.
    static constexpr double hot = 0.35;
    static constexpr double cold = 0.01;
    static constexpr double cooling = 0.985;
    static constexpr int patience = 40;

    std::size_t propose() override {
        if (here_cost_ == infinity) return fresh();
        if (const auto index = step(adjacent_neighbours(space(), here_)); index && below(4) > 0) return *index;
        if (const auto index = step(neighbours(space(), here_))) return *index;
        constexpr int tries = 50;
        for (int i = 0; i < tries; ++i) {
            const auto index = changed(space(), here_, 2 + below(2), random());
            if (index && untried().contains(*index)) return *index;
        }
        return fresh();
    }

    std::optional<std::size_t> step(std::vector<std::size_t> near) {
        std::erase_if(near, [&](std::size_t index) { return !untried().contains(index); });
        if (near.empty()) return std::nullopt;
        return near[below(near.size())];
    }

    void learn(std::size_t index, double cost) override {
        temperature_ = std::max(cold, temperature_ * cooling);
        if (cost < best_cost_) {
            best_ = index;
            best_cost_ = cost;
        }
        if (cost < here_cost_ || (cost < infinity && fraction() < std::pow(likeness(cost), 1 / temperature_))) {
            here_ = index;
            here_cost_ = cost;
            refused_ = 0;
        } else if (++refused_ == patience && best_cost_ < infinity) {
            here_ = best_;
            here_cost_ = best_cost_;
            temperature_ = hot;
            refused_ = 0;
        }
    }

    // Of this cost to a lower one, here, from 0 to 1. Where ratios mean nothing it walks down only.
    [[nodiscard]] double likeness(double cost) const { return here_cost_ > 0 ? here_cost_ / cost : 0; }

    double temperature_ = hot;
    std::size_t here_ = 0;
    double here_cost_ = infinity;
    std::size_t best_ = 0;
    double best_cost_ = infinity;
    int refused_ = 0;  // since the last step
};

}  // namespace

std::unique_ptr<Search> annealing_search(SearchSetup setup) { return std::make_unique<Annealing>(std::move(setup)); }

}  // namespace smemtune
