#include "tuner/analysis/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "tuner/analysis/random_forest.h"

namespace smemtune {

namespace {

constexpr std::size_t most_points = 20'000;  // the forest predicts the times of this many valid configurations at most

constexpr double no_variance = 1e-12;  // a smaller variance of log(time) is rounding error: the times are equal

// The values of each parameter in the measured configurations. The rank of a value among them is its level.
class Levels {
public:
    explicit Levels(std::size_t columns) : values_(columns) {}

    void know(std::size_t column, std::int64_t value) { values_[column].insert(value); }

    // Returns the indices of the columns that have more than one value.
    [[nodiscard]] std::vector<std::size_t> varied() const {
        std::vector<std::size_t> columns;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            if (values_[i].size() > 1) columns.push_back(i);
        }
        return columns;
    }

    [[nodiscard]] std::vector<std::int64_t> of(std::size_t column) const {
        return {values_[column].begin(), values_[column].end()};
    }

private:
    std::vector<std::set<std::int64_t>> values_;
};

std::uint16_t level_of(const std::vector<std::int64_t>& values, std::int64_t value) {
    return static_cast<std::uint16_t>(std::ranges::lower_bound(values, value) - values.begin());
}

// Points and their values. A value is the logarithm of a measured or predicted time.
struct Points {
    LevelTable table;
    std::vector<double> values;
};

struct Moments {
    double mean = 0, variance = 0;
};

Moments moments(const std::vector<double>& values) {
    Moments result;
    for (const auto value : values) result.mean += value;
    result.mean /= static_cast<double>(values.size());
    for (const auto value : values) result.variance += (value - result.mean) * (value - result.mean);
    result.variance /= static_cast<double>(values.size());
    return result;
}

struct Group {
    double sum = 0;
    std::size_t count = 0;
};

// Returns Var(E[value | group]), the variance between the means of the groups.
double between(const std::vector<Group>& groups, double mean, std::size_t points) {
    double result = 0;
    for (const auto& [sum, count] : groups) {
        if (count == 0) continue;
        const auto off = sum / static_cast<double>(count) - mean;
        result += static_cast<double>(count) * off * off;
    }
    return result / static_cast<double>(points);
}

class Decomposition {
public:
    Decomposition(const Points& points, std::vector<std::size_t> level_counts)
        : points_(points), level_counts_(std::move(level_counts)), all_(moments(points.values)) {}

    [[nodiscard]] std::vector<Group> groups(std::size_t column) const {
        std::vector<Group> result(level_counts_[column]);
        for (std::size_t i = 0; i < points_.values.size(); ++i) {
            auto& group = result[points_.table.row(i)[column]];
            group.sum += points_.values[i];
            ++group.count;
        }
        return result;
    }

    [[nodiscard]] double share(std::size_t column) const {
        return between(groups(column), all_.mean, points_.values.size()) / all_.variance;
    }

    // Returns the share of the variance that two parameters explain together. It includes the share of each alone.
    [[nodiscard]] double share(std::size_t first, std::size_t second) const {
        std::vector<Group> result(level_counts_[first] * level_counts_[second]);
        for (std::size_t i = 0; i < points_.values.size(); ++i) {
            const auto row = points_.table.row(i);
            auto& group = result[row[first] * level_counts_[second] + row[second]];
            group.sum += points_.values[i];
            ++group.count;
        }
        return between(result, all_.mean, points_.values.size()) / all_.variance;
    }

private:
    const Points& points_;
    std::vector<std::size_t> level_counts_;
    Moments all_;
};

// Computes the importance of parameters from the outcomes. Parameter values are represented by their levels.
class Analysis {
public:
    Analysis(const OutcomeTable& outcomes, const ParameterSpace* valid)
        : outcomes_(outcomes), valid_(valid), levels_(outcomes.parameters.size()) {
        result_.measured = outcomes.rows.size();
        result_.rejected = outcomes.rejected;
        result_.cut_short = outcomes.cut_short;
        if (valid != nullptr) result_.valid = valid->size();
        for (const auto& row : outcomes.rows) {
            for (std::size_t i = 0; i < row.values.size(); ++i) levels_.know(i, row.values[i]);
        }
        varied_ = levels_.varied();
        for (const auto column : varied_) values_.push_back(levels_.of(column));
    }

    Importance run() {
        result_.exact = valid_ != nullptr && outcomes_.rows.size() + outcomes_.rejected >= valid_->size();
        result_.method = result_.exact ? "analysis of variance of log time over every valid configuration"
                                       : "functional ANOVA of a random forest that learned log time";
        const auto known = measured_points();
        result_.too_little = too_few();
        if (result_.too_little.empty() && moments(known.values).variance < no_variance)
            result_.too_little = "every measured configuration takes the same time, so no parameter matters";
        if (!result_.too_little.empty()) return std::move(result_);
        if (result_.exact) {
            result_.explained = 1;
            fill(known, known);
            return std::move(result_);
        }
        const RandomForest forest(known.table, known.values);
        result_.explained = forest.explained();
        if (result_.explained < least_explained) {
            result_.too_little = fmt::format(
                "a model of the {} measured configurations explains {:.0f} % of the variance at those it has not seen, "
                "less than {:.0f} %; tune with more --evaluations",
                result_.measured, 100 * std::max(0.0, result_.explained), 100 * least_explained);
            return std::move(result_);
        }
        fill(predicted_points(forest, known), known);
        return std::move(result_);
    }

private:
    [[nodiscard]] std::string too_few() const {
        if (varied_.empty()) return "no parameter has two measured values; tune with more --evaluations";
        // An exact result needs no minimum: it covers every valid configuration, even if these are few.
        if (result_.exact) return {};
        const auto needed = std::max(least_measured, least_measured_per_parameter * varied_.size());
        if (result_.measured >= needed) return {};
        return fmt::format(
            "{} measured configurations for {} parameters that vary; {} are needed, so tune with more "
            "--evaluations",
            result_.measured, varied_.size(), needed);
    }

    [[nodiscard]] Points measured_points() const {
        Points points{.table = {.columns = varied_.size()}};
        for (const auto& row : outcomes_.rows) {
            for (std::size_t i = 0; i < varied_.size(); ++i) {
                points.table.levels.push_back(level_of(values_[i], row.values[varied_[i]]));
            }
            points.values.push_back(std::log(row.time));
        }
        return points;
    }

    // Predicts the times of valid configurations. Skips configurations with a parameter value that was never measured.
    // If `valid_` is null or no configuration is left, predicts the times of the measured configurations instead.
    [[nodiscard]] Points predicted_points(const RandomForest& forest, const Points& known) const {
        Points points{.table = {.columns = varied_.size()}};
        if (valid_ == nullptr) {
            points.table = known.table;
        } else {
            for (const auto index : chosen_points(valid_->size())) add_valid(points.table, (*valid_)[index]);
            if (points.table.rows() == 0) points.table = known.table;
        }
        for (std::size_t i = 0; i < points.table.rows(); ++i) {
            points.values.push_back(forest.predict(points.table.row(i)));
        }
        return points;
    }

    static std::vector<std::size_t> chosen_points(std::size_t size) {
        std::vector<std::size_t> chosen(std::min(size, most_points));
        std::mt19937_64 random(1);
        for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = size <= most_points ? i : random() % size;
        return chosen;
    }

    void add_valid(LevelTable& table, const Configuration& configuration) const {
        std::vector<std::uint16_t> levels;
        for (std::size_t i = 0; i < varied_.size(); ++i) {
            const auto value = configuration.values.find(outcomes_.parameters[varied_[i]]);
            if (value == configuration.values.end() || !std::ranges::binary_search(values_[i], value->second)) return;
            levels.push_back(level_of(values_[i], value->second));
        }
        table.levels.insert(table.levels.end(), levels.begin(), levels.end());
    }

    void fill(const Points& points, const Points& known) {
        std::vector<std::size_t> counts;
        for (const auto& values : values_) counts.push_back(values.size());
        const Decomposition decomposition(points, counts);
        const Decomposition of_known(known, counts);
        std::vector<double> shares;
        for (std::size_t i = 0; i < varied_.size(); ++i) {
            shares.push_back(decomposition.share(i));
            auto& parameter = result_.parameters.emplace_back(
                Importance::Parameter{.name = outcomes_.parameters[varied_[i]], .share = shares.back()});
            const auto groups = decomposition.groups(i);
            const auto measured = of_known.groups(i);
            for (std::size_t level = 0; level < groups.size(); ++level) {
                if (groups[level].count == 0) continue;
                parameter.levels.push_back({values_[i][level],
                                            std::exp(groups[level].sum / static_cast<double>(groups[level].count)),
                                            measured[level].count});
            }
        }
        for (std::size_t i = 0; i < varied_.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                result_.pairs.push_back({outcomes_.parameters[varied_[j]], outcomes_.parameters[varied_[i]],
                                         std::max(0.0, decomposition.share(j, i) - shares[j] - shares[i])});
            }
        }
        std::ranges::stable_sort(result_.parameters, std::ranges::greater{}, &Importance::Parameter::share);
        std::ranges::stable_sort(result_.pairs, std::ranges::greater{}, &Importance::Pair::share);
    }

    const OutcomeTable& outcomes_;
    const ParameterSpace* valid_;
    Levels levels_;
    std::vector<std::size_t> varied_;                // parameters with several measured values
    std::vector<std::vector<std::int64_t>> values_;  // the measured values of each parameter in `varied_`, ascending
    Importance result_;
};

}  // namespace

void OutcomeTable::add(const Configuration& configuration, const Outcome& outcome) {
    if (parameters.empty()) {
        for (const auto& [name, value] : configuration.values) parameters.push_back(name);
    }
    Row row;
    for (const auto& [name, value] : configuration.values) row.values.push_back(value);
    if (!std::ranges::equal(parameters, configuration.values, {}, {}, [](const auto& each) { return each.first; }))
        throw std::invalid_argument(to_text(configuration) + " has other parameters than the configurations before it");
    const auto* measured = std::get_if<Measurement>(&outcome);
    if (measured == nullptr) {
        ++rejected;
        return;
    }
    row.time = measured->median_us;
    cut_short += measured->cut_short ? 1 : 0;
    rows.push_back(std::move(row));
}

Importance importance(const OutcomeTable& outcomes, const ParameterSpace* valid) {
    return Analysis(outcomes, valid).run();
}

}  // namespace smemtune
