#include "tuner/search.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace smemtune {

namespace {

// Walks the space's points in a given order.
class Walk : public Search {
public:
    Walk(std::shared_ptr<const ParameterSpace> space, std::vector<std::size_t> order)
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

}  // namespace

std::unique_ptr<Search> exhaustive(std::shared_ptr<const ParameterSpace> space) {
    auto order = in_order(*space);
    return std::make_unique<Walk>(std::move(space), std::move(order));
}

std::unique_ptr<Search> random_search(std::shared_ptr<const ParameterSpace> space, unsigned seed) {
    auto order = in_order(*space);
    // By hand rather than std::shuffle, whose result for a seed differs between standard libraries.
    std::mt19937_64 random(seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    return std::make_unique<Walk>(std::move(space), std::move(order));
}

const std::vector<std::string>& search_names() {
    static const std::vector<std::string> names{"exhaustive", "random"};
    return names;
}

std::unique_ptr<Search> make_search(std::string_view name, std::shared_ptr<const ParameterSpace> space, unsigned seed) {
    if (name == "exhaustive") return exhaustive(std::move(space));
    if (name == "random") return random_search(std::move(space), seed);
    std::string known;
    for (const auto& each : search_names()) known += " " + each;
    throw std::invalid_argument("search '" + std::string(name) + "' is unknown; known:" + known);
}

}  // namespace smemtune
