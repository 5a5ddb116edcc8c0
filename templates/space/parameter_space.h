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
    std::vector<std::int64_t> values;  ///< in the manifest's order, distinct
    std::int64_t default_value = 0;    ///< one of `values`
    std::string summary;
    bool runtime = false;  ///< an argument of each launch, not part of the program
};

struct Constraint {
    Expression rule;
    std::string reason;
    std::string written;  ///< the rule in short form for display, if shorter than the expression

    [[nodiscard]] const std::string& text() const { return written.empty() ? rule.text() : written; }
};

class ParameterSpace {
public:
    /// The raw points that a constraint removed and no earlier check had removed.
    struct Removed {
        Constraint constraint;
        std::uint64_t points = 0;
    };

    /// Enumerates at once. `constants` names everything in the rules that is not a parameter. The binding order lets
    /// rules be checked early, so the cost follows the number of valid points, not of raw ones. Throws ExpressionError
    /// if a rule has no value, std::length_error beyond `max_size` valid points.
    ParameterSpace(std::vector<Parameter> parameters, std::vector<Constraint> constraints,
                   const Environment& constants);

    /// A recorded space of these points, without rules. Throws std::invalid_argument if a point does not have exactly
    /// these parameters, each with one of its values.
    ParameterSpace(std::vector<Parameter> parameters, const std::vector<Configuration>& points);

    static constexpr std::size_t max_size = 20'000'000;

    [[nodiscard]] std::size_t size() const { return count_; }
    /// In lexicographic order of the parameters as declared. Precondition: index < size().
    [[nodiscard]] Configuration operator[](std::size_t index) const;
    /// The point as value indices: for each parameter as declared, an index into Parameter::values.
    [[nodiscard]] std::span<const std::uint16_t> point(std::size_t index) const {
        return std::span(points_).subspan(index * parameters_.size(), parameters_.size());
    }
    /// The index of a point; nothing if it is not valid. Takes O(log size()).
    [[nodiscard]] std::optional<std::size_t> find(std::span<const std::uint16_t> wanted) const;
    [[nodiscard]] std::optional<std::size_t> find(const Configuration& configuration) const;
    /// The product, over all parameters, of how many values each has: the valid points and those that the census
    /// counts.
    [[nodiscard]] std::uint64_t raw_size() const { return raw_size_; }
    [[nodiscard]] const std::vector<Removed>& census() const { return census_; }
    [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

private:
    void enumerate(const std::vector<std::size_t>& order, const Environment& constants);
    void sort_points();
    [[nodiscard]] std::optional<std::vector<std::uint16_t>> point_of(const Configuration& configuration) const;

    std::vector<Parameter> parameters_;
    std::vector<Removed> census_;
    std::vector<std::uint16_t> points_;  // size() rows of value indices, one per parameter
    std::size_t count_ = 0;
    std::uint64_t raw_size_ = 1;
};

}  // namespace smemtune
