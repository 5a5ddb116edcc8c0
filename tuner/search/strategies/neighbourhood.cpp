#include "tuner/search/strategies/neighbourhood.h"

#include <algorithm>
#include <cstdlib>

namespace smemtune {

namespace {

// Whether neighbours() steps from one value of a parameter to another. `from` and `to` are the indices of the values.
// If the indices are more than 64 apart, neighbours() steps only over distances that are powers of two. Without this
// limit, a parameter with thousands of values would need thousands of look-ups.
bool reaches(int from, int to) {
    const auto distance = std::abs(to - from);
    constexpr int near = 64;
    return distance <= near || (distance & (distance - 1)) == 0;
}

template <typename Reaches>
std::vector<std::size_t> differing_in_one(const ParameterSpace& space, std::size_t index, Reaches reached) {
    std::vector<std::size_t> found;
    std::vector<std::uint16_t> point(space.point(index).begin(), space.point(index).end());
    for (std::size_t i = 0; i < point.size(); ++i) {
        const auto own = point[i];
        for (std::size_t value = 0; value < space.parameters()[i].values.size(); ++value) {
            if (value == own || !reached(own, static_cast<int>(value))) continue;
            point[i] = static_cast<std::uint16_t>(value);
            if (const auto neighbour = space.find(point)) found.push_back(*neighbour);
        }
        point[i] = own;
    }
    return found;
}

}  // namespace

std::vector<std::size_t> neighbours(const ParameterSpace& space, std::size_t index) {
    return differing_in_one(space, index, reaches);
}

std::vector<std::size_t> adjacent_neighbours(const ParameterSpace& space, std::size_t index) {
    return differing_in_one(space, index, [](int from, int to) { return std::abs(to - from) == 1; });
}

std::optional<std::size_t> changed(const ParameterSpace& space, std::size_t index, std::size_t changes,
                                   std::mt19937_64& random) {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < space.parameters().size(); ++i) {
        if (space.parameters()[i].values.size() > 1) free.push_back(i);
    }
    std::vector<std::uint16_t> point(space.point(index).begin(), space.point(index).end());
    for (; changes > 0 && !free.empty(); --changes) {
        std::swap(free[random() % free.size()], free.back());
        const auto i = free.back();
        free.pop_back();
        // Draws any value except the present one.
        const auto count = space.parameters()[i].values.size();
        point[i] = static_cast<std::uint16_t>((point[i] + 1 + random() % (count - 1)) % count);
    }
    return space.find(point);
}

}  // namespace smemtune
