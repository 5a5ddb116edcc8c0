// The valid configurations of a template: all combinations of parameter values that satisfy the constraints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/space/configuration.h"
#include "templates/space/expression.h"

namespace smemtune {

struct Parameter {
    std::string name;
    std::vector<std::int64_t> values;  ///< the distinct values, in the manifest's order
    std::int64_t default_value = 0;    ///< the default value, one of `values`
    std::string summary;
    bool runtime = false;  ///< whether the parameter is an argument of each launch and not compiled in
    bool launch = false;   ///< whether the parameter changes only the launch: the kernel does not get it

    [[nodiscard]] bool is_compiled() const { return !runtime && !launch; }
};

struct Constraint {
    Expression rule;
    std::string reason;
    std::string written;  ///< a short form of the rule for display; may be empty

    [[nodiscard]] const std::string& text() const { return written.empty() ? rule.text() : written; }
};

class ParameterSpace {
public:
    /// A constraint with the number of combinations of values that it removed. Combinations that an earlier check
    /// removed are not counted.
    struct Removed {
        Constraint constraint;
        std::uint64_t points = 0;
    };

    /// Enumerates all valid points. Names in rules that are not parameters get their values from `constants`. Rules are
    /// checked as early as possible, so the time grows with the number of valid points, not with the number of all
    /// combinations of values. Throws ExpressionError if a rule has no value, and std::length_error if there are more
    /// than `max_size` valid points.
    ParameterSpace(std::vector<Parameter> parameters, std::vector<Constraint> constraints,
                   const Environment& constants);

    /// Makes a space of exactly these points, without rules, for a recorded landscape. Throws std::invalid_argument if
    /// a point does not have exactly these parameters, each with one of its values.
    ParameterSpace(std::vector<Parameter> parameters, const std::vector<Configuration>& points);

    static constexpr std::size_t max_size = 24'000'000;

    [[nodiscard]] std::size_t size() const { return count_; }
    /// Returns the configuration with this index. Configurations are sorted by the value of the first declared
    /// parameter, then by that of the second, and so on. The order of a parameter's values is that of
    /// Parameter::values. Precondition: index < size().
    [[nodiscard]] Configuration operator[](std::size_t index) const;
    /// Returns a configuration as indices: for each parameter, in the declared order, an index into Parameter::values.
    [[nodiscard]] std::span<const std::uint16_t> point(std::size_t index) const {
        return std::span(points_).subspan(index * parameters_.size(), parameters_.size());
    }
    /// Returns the index of a point; nothing if the point is not valid. Takes O(log size()).
    [[nodiscard]] std::optional<std::size_t> find(std::span<const std::uint16_t> wanted) const;
    [[nodiscard]] std::optional<std::size_t> find(const Configuration& configuration) const;
    /// Returns the number of combinations of values: the product of all parameters' numbers of values. Each combination
    /// is either valid, or counted in census().
    [[nodiscard]] std::uint64_t raw_size() const { return raw_size_; }
    [[nodiscard]] const std::vector<Removed>& census() const { return census_; }
    [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

private:
    void enumerate(const std::vector<std::size_t>& order, const Environment& constants);
    void sort_points();
    [[nodiscard]] std::optional<std::vector<std::uint16_t>> point_of(const Configuration& configuration) const;

    std::vector<Parameter> parameters_;
    std::vector<Removed> census_;
    std::vector<std::uint16_t> points_;  // size() rows; a row has an index into Parameter::values for each parameter
    std::size_t count_ = 0;
    std::uint64_t raw_size_ = 1;
};

}  // namespace smemtune
