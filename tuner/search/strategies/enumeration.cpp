#include "tuner/search/strategies/enumeration.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace smemtune {

namespace {

class EnumerationSearch : public Search {
public:
    EnumerationSearch(std::shared_ptr<const ParameterSpace> space, std::vector<std::size_t> order)
        : space_(std::move(space)), order_(std::move(order)) {}

    std::optional<Configuration> next() override {
        if (at_ == order_.size()) return std::nullopt;
        return (*space_)[order_[at_++]];
    }

private:
    std::shared_ptr<const ParameterSpace> space_;
    std::vector<std::size_t> order_;
    std::size_t at_ = 0;
};

std::vector<std::size_t> in_order(const ParameterSpace& space) {
    std::vector<std::size_t> order(space.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

std::unique_ptr<Search> enumeration(const SearchSetup& setup, std::vector<std::size_t> order) {
    auto front = order.begin();
    for (const auto& start : setup.starts) {
        const auto index = setup.space->find(start);
        if (!index) continue;
        const auto found = std::find(front, order.end(), *index);
        if (found == order.end()) continue;  // a start point that was given twice
        std::rotate(front, found, found + 1);
        ++front;
    }
    return std::make_unique<EnumerationSearch>(setup.space, std::move(order));
}

}  // namespace

std::unique_ptr<Search> exhaustive_search(const SearchSetup& setup) {
    return enumeration(setup, in_order(*setup.space));
}

std::unique_ptr<Search> random_search(const SearchSetup& setup) {
    auto order = in_order(*setup.space);
    // std::shuffle is not used, because its result for a seed differs between standard libraries.
    std::mt19937_64 random(setup.seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    return enumeration(setup, std::move(order));
}

}  // namespace smemtune
