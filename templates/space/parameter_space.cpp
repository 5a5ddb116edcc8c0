#include "templates/space/parameter_space.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "templates/space/straight_line.h"

namespace smemtune {

namespace {

using ParameterSet = std::set<std::size_t>;  // indices of parameters

// Chooses the order in which the nested loops of the enumeration bind parameters to values, so that constraints can be
// checked early. Repeatedly takes the constraint whose unbound parameters have the fewest combinations, and binds these
// parameters next. Parameters that are in no constraint come last.
std::vector<std::size_t> binding_order(const std::vector<Parameter>& parameters, std::vector<ParameterSet> unbound) {
    const auto points = [&](const ParameterSet& names) {
        double product = 1;
        for (const auto index : names) product *= static_cast<double>(parameters[index].values.size());
        return product;
    };
    std::vector<std::size_t> order;
    const auto bind = [&](std::size_t index) {
        order.push_back(index);
        for (auto& names : unbound) names.erase(index);
        std::erase_if(unbound, [](const ParameterSet& names) { return names.empty(); });
    };
    std::erase_if(unbound, [](const ParameterSet& names) { return names.empty(); });
    while (!unbound.empty()) {
        const auto next = *std::ranges::min_element(unbound, {}, points);
        for (const auto index : next) bind(index);
    }
    for (std::size_t index = 0; index < parameters.size(); ++index) {
        if (std::ranges::find(order, index) == order.end()) order.push_back(index);
    }
    return order;
}

}  // namespace

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters, std::vector<Constraint> constraints,
                               const Environment& constants)
    : parameters_(std::move(parameters)) {
    for (const auto& parameter : parameters_) {
        if (parameter.values.size() > std::numeric_limits<std::uint16_t>::max()) {
            throw std::length_error("parameter '" + parameter.name + "' has more than 65535 values");
        }
        if (__builtin_mul_overflow(raw_size_, parameter.values.size(), &raw_size_)) {
            throw std::length_error("the parameters have more than 2^64 combinations");
        }
    }
    std::vector<ParameterSet> names;
    for (auto& constraint : constraints) {
        auto& mentioned = names.emplace_back();
        for (const auto& name : constraint.rule.names()) {
            const auto found = std::ranges::find(parameters_, name, &Parameter::name);
            if (found != parameters_.end()) {
                mentioned.insert(static_cast<std::size_t>(found - parameters_.begin()));
            } else if (!constants.contains(name)) {
                throw ExpressionError("constraint '" + constraint.rule.text() + "': unknown name '" + name + "'");
            }
        }
        census_.push_back({std::move(constraint), 0});
    }
    enumerate(binding_order(parameters_, names), constants);
}

ParameterSpace::ParameterSpace(std::vector<Parameter> parameters, const std::vector<Configuration>& points)
    : parameters_(std::move(parameters)) {
    if (points.size() > max_size) throw std::length_error("more than 24 million configurations");
    for (const auto& parameter : parameters_) raw_size_ *= parameter.values.size();
    for (const auto& configuration : points) {
        const auto point = point_of(configuration);
        if (!point) throw std::invalid_argument("'" + to_text(configuration) + "' is not a point of its parameters");
        points_.insert(points_.end(), point->begin(), point->end());
    }
    count_ = points.size();
    sort_points();
}

void ParameterSpace::enumerate(const std::vector<std::size_t>& order, const Environment& constants) {
    const auto depth_count = order.size();
    // A rule is checked at the loop depth that binds its last parameter. A rule without parameters is checked before
    // the first loop.
    std::vector<std::vector<std::size_t>> checks(depth_count + 1);
    for (std::size_t rule = 0; rule < census_.size(); ++rule) {
        std::size_t last = 0;
        for (std::size_t depth = 0; depth < depth_count; ++depth) {
            const auto& names = census_[rule].constraint.rule.names();
            if (std::ranges::find(names, parameters_[order[depth]].name) != names.end()) last = depth + 1;
        }
        checks[last].push_back(rule);
    }
    std::vector<std::string> bound;
    bound.reserve(depth_count);
    for (const auto index : order) bound.push_back(parameters_[index].name);
    StraightLine line(bound);
    std::vector<std::vector<StraightLine::Slot>> slots(depth_count + 1);
    for (std::size_t depth = 0; depth <= depth_count; ++depth) {
        for (const auto rule : checks[depth])
            slots[depth].push_back(line.add(census_[rule].constraint.rule, constants));
    }
    LoopNest loops(line, slots);

    // When the first `depth` parameters are bound, the other parameters have below[depth] combinations of values.
    std::vector<std::uint64_t> below(depth_count + 1, 1);
    for (std::size_t depth = depth_count; depth-- > 0;) {
        below[depth] = below[depth + 1] * parameters_[order[depth]].values.size();
    }
    std::vector<std::uint16_t> chosen(depth_count, 0);
    const auto passes = [&](std::size_t depth, std::int64_t value) {
        const auto failed = loops.enter(depth, value);
        if (failed == LoopNest::none) return true;
        auto& removed = census_[checks[depth][failed]];
        if (!loops.exists(slots[depth][failed])) {  // the rule has no value; evaluate() throws and says why
            auto environment = constants;
            for (std::size_t i = 0; i < depth; ++i) {
                const auto& parameter = parameters_[order[i]];
                environment[parameter.name] = parameter.values[chosen[order[i]]];
            }
            static_cast<void>(removed.constraint.rule.evaluate(environment));
        }
        removed.points += below[depth];
        return false;
    };
    if (!passes(0, 0)) return;

    const auto keep = [&] {
        ++count_;
        points_.insert(points_.end(), chosen.begin(), chosen.end());
    };
    auto decided = depth_count;  // from this depth on, no rule is left to check, and every point is valid
    while (decided > 0 && checks[decided].empty()) --decided;
    const auto descend = [&](const auto& self, std::size_t depth) -> void {
        if (depth == decided && below[depth] > max_size - count_) {
            throw std::length_error("more than 24 million valid configurations: add constraints");
        }
        if (depth == depth_count) return keep();
        const auto index = order[depth];
        for (std::size_t i = 0; i < parameters_[index].values.size(); ++i) {
            chosen[index] = static_cast<std::uint16_t>(i);
            if (passes(depth + 1, parameters_[index].values[i])) self(self, depth + 1);
        }
    };
    descend(descend, 0);

    // Sorts points by the declared order of parameters, so that indices do not depend on the binding order.
    if (!std::ranges::is_sorted(order)) sort_points();
}

// Sorts the points by a radix sort, from the last parameter to the first. This takes linear time.
void ParameterSpace::sort_points() {
    const auto width = parameters_.size();
    std::vector<std::uint32_t> rows(count_);
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    auto sorted = rows;
    std::vector<std::uint32_t> begins;  // where the rows of each value begin in `sorted`
    for (auto column = width; column-- > 0;) {
        const auto values = parameters_[column].values.size();
        if (values < 2) continue;
        begins.assign(values + 1, 0);
        for (std::size_t row = 0; row < count_; ++row) ++begins[points_[row * width + column] + 1U];
        std::partial_sum(begins.begin(), begins.end(), begins.begin());
        for (const auto row : rows) sorted[begins[points_[row * width + column]]++] = row;
        rows.swap(sorted);
    }
    std::vector<std::uint16_t> points;
    points.reserve(points_.size());
    for (const auto row : rows) points.insert(points.end(), point(row).begin(), point(row).end());
    points_ = std::move(points);
}

Configuration ParameterSpace::operator[](std::size_t index) const {
    Configuration configuration;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        configuration.values[parameters_[i].name] = parameters_[i].values[points_[index * parameters_.size() + i]];
    }
    return configuration;
}

std::optional<std::vector<std::uint16_t>> ParameterSpace::point_of(const Configuration& configuration) const {
    if (configuration.values.size() != parameters_.size()) return std::nullopt;
    std::vector<std::uint16_t> point;
    for (const auto& parameter : parameters_) {
        const auto value = configuration.values.find(parameter.name);
        if (value == configuration.values.end()) return std::nullopt;
        const auto at = std::ranges::find(parameter.values, value->second);
        if (at == parameter.values.end()) return std::nullopt;
        point.push_back(static_cast<std::uint16_t>(at - parameter.values.begin()));
    }
    return point;
}

std::optional<std::size_t> ParameterSpace::find(std::span<const std::uint16_t> wanted) const {
    std::size_t low = 0;
    for (std::size_t high = count_; low < high;) {
        const auto middle = low + (high - low) / 2;
        if (std::ranges::lexicographical_compare(point(middle), wanted)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == count_ || !std::ranges::equal(point(low), wanted)) return std::nullopt;
    return low;
}

std::optional<std::size_t> ParameterSpace::find(const Configuration& configuration) const {
    const auto point = point_of(configuration);
    return point ? find(*point) : std::nullopt;
}

}  // namespace smemtune
