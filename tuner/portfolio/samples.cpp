#include "tuner/portfolio/samples.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

#include "tuner/cli/sizes.h"
#include "tuner/portfolio/model/cross_times.h"

namespace smemtune {

namespace {

// Draws a number in [0, 1). The same seed gives the same numbers with every standard library.
double draw_uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

std::int64_t draw_extent(ExtentRange range, std::mt19937_64& random) {
    const auto low = std::log(static_cast<double>(range.low));
    const auto high = std::log(static_cast<double>(range.high) + 1);
    const auto any = static_cast<std::int64_t>(std::exp(low + (high - low) * draw_uniform(random)));
    const auto kind = draw_uniform(random);
    const std::int64_t unit = kind < 1.0 / 3 ? 64 : kind < 1.0 / 3 + 0.25 ? 8 : 1;
    const auto rounded = std::max(unit, (any + unit / 2) / unit * unit);
    return std::clamp(rounded <= range.high ? rounded : any, range.low, range.high);
}

Problem problem_of(const Operation& operation, const std::string& type, const std::string& layout,
                   const std::vector<std::int64_t>& extents) {
    Problem problem{operation.name, type, operation.layouts.empty() ? "" : layout, {}};
    for (std::size_t i = 0; i < extents.size(); ++i) problem.extents.emplace_back(operation.extents[i], extents[i]);
    return problem;
}

double parse_count(const std::string& text) {
    double count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || !(count > 0) || !std::isfinite(count)) {
        throw std::invalid_argument("the count '" + text + "' is no number above 0");
    }
    return count;
}

}  // namespace

std::vector<Sample> draw_samples(const Operation& operation, const std::string& type, const std::string& layout,
                                 std::size_t count, ExtentRange range, unsigned seed) {
    const auto form = size_form(operation);
    std::mt19937_64 random(seed);
    std::vector<Sample> samples;
    for (std::size_t attempt = 0; samples.size() < count && attempt < 100 * count; ++attempt) {
        std::vector<std::int64_t> extents;
        for (const auto& name : operation.extents) {
            extents.push_back(form.counts.contains(name) ? draw_extent({1, 64}, random) : draw_extent(range, random));
        }
        auto problem = problem_of(operation, type, layout, extents);
        if (std::ranges::find(samples, problem, &Sample::problem) == samples.end()) {
            samples.push_back({std::move(problem)});
        }
    }
    return samples;
}

std::vector<Sample> parse_samples(const std::string& text, const Operation& operation, const std::string& type,
                                  const std::string& layout) {
    const auto form = size_form(operation);
    std::vector<Sample> samples;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string size;
        std::string count;
        std::string more;
        if (!(words >> size)) continue;
        try {
            Sample sample{.problem = {}, .count = words >> count ? parse_count(count) : 1};
            if (words >> more) throw std::invalid_argument("'" + more + "' follows the count; write MxNxK COUNT");
            const auto sizes = parse_sizes(size, form);
            if (sizes.size() != 1) throw std::invalid_argument("'" + size + "' is not one size");
            sample.problem = problem_of(operation, type, layout, sizes.front());
            const auto same = std::ranges::find(samples, sample.problem, &Sample::problem);
            if (same == samples.end()) {
                samples.push_back(std::move(sample));
            } else {
                same->count += sample.count;
            }
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument("line " + std::to_string(number) + ": " + error.what());
        }
    }
    return samples;
}

std::vector<std::size_t> spread_order(const std::vector<Sample>& samples) {
    if (samples.empty()) return {};
    std::vector<std::vector<double>> places;
    std::vector<double> mean(samples.front().problem.extents.size());
    for (const auto& sample : samples) {
        auto& place = places.emplace_back();
        for (std::size_t i = 0; i < mean.size(); ++i) {
            place.push_back(std::log(static_cast<double>(sample.problem.extents[i].second)));
            mean[i] += place[i] / static_cast<double>(samples.size());
        }
    }
    const auto distance_to = [&](const std::vector<double>& place) {
        return [&](const std::vector<double>& other) { return squared_distance(place, other); };
    };
    auto next = static_cast<std::size_t>(std::ranges::min_element(places, {}, distance_to(mean)) - places.begin());
    // For each sample, the squared distance to the nearest sample in `order`.
    std::vector<double> distances(samples.size(), std::numeric_limits<double>::infinity());
    std::vector<std::size_t> order;
    while (order.size() < samples.size()) {
        order.push_back(next);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            distances[i] = std::min(distances[i], squared_distance(places[next], places[i]));
        }
        distances[next] = -1;  // negative, so that a sample in `order` is never the maximum again
        next = static_cast<std::size_t>(std::ranges::max_element(distances) - distances.begin());
    }
    return order;
}

std::string kind_of(const Operation& operation, const Problem& problem, const Device& device) {
    const auto environment = environment_of(operation, problem, device);
    const auto operations = static_cast<double>(operation.operations.evaluate(environment));
    if (operations < 0x1p24) return "small";
    const auto output = std::ranges::find(operation.arguments, Argument::Kind::output, &Argument::kind);
    if (output == operation.arguments.end()) return "square";
    const auto shape = shape_of(*output, environment);
    if (std::min(shape.rows, shape.columns) < 64) return "narrow";
    const auto elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
    const auto steps = operations / 2 / elements / static_cast<double>(std::max<std::int64_t>(1, shape.count));
    return steps > 8 * std::sqrt(elements) ? "deep" : "square";
}

}  // namespace smemtune
