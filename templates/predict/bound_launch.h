// A configuration whose rules are bound to a device, element type and layout, so that each further problem costs
// microseconds: whether it is valid there, and the terms of its time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "templates/launch/launch.h"
#include "templates/predict/time_model.h"

namespace smemtune {

/// The registers and static shared memory that the compiler reported; 0 if unknown.
struct CompiledSize {
    std::int64_t registers = 0;
    std::int64_t static_shared_bytes = 0;
};

/// An expression of which everything but the extents is known.
class BoundExpression {
public:
    BoundExpression() = default;
    /// `environment` holds every name but those of `extents`. Throws ExpressionError for an unknown name.
    BoundExpression(const Expression& expression, const Environment& environment,
                    const std::vector<std::string>& extents);

    /// Throws ExpressionError if it has no value there.
    [[nodiscard]] std::int64_t evaluate(const Problem& problem) const;

private:
    struct Place {
        std::size_t slot = 0, extent = 0;
    };
    Expression expression_;
    std::vector<std::int64_t> values_;          // by slot
    std::vector<Place> places_;                 // of the extents that it names
    std::optional<std::int64_t> constant_ = 0;  // its value, if it names no extent and has one
};

class BoundLaunch {
public:
    /// For problems of the type and layout of `like`, whose extents do not matter. Throws std::invalid_argument if the
    /// operation lacks the layout, ExpressionError if a rule names something unknown.
    BoundLaunch(const KernelTemplate& kernel_template, const Configuration& configuration, const Device& device,
                const Problem& like, CompiledSize compiled = {});

    /// The terms of one launch. Nothing if the configuration is not valid for the problem, as in infeasibility(), if a
    /// rule has no value there, or if the problem has other extents than the operation.
    [[nodiscard]] std::optional<Terms> terms(const Problem& problem) const;

private:
    [[nodiscard]] bool is_valid(const Problem& problem) const;
    [[nodiscard]] Launch launch(const Problem& problem) const;
    [[nodiscard]] Terms terms_of(const Launch& launch, const Problem& problem) const;

    Device device_;
    std::vector<std::string> extents_;
    CompiledSize compiled_;
    double element_bytes_;
    bool has_model_;
    std::vector<BoundExpression> rules_;
    std::vector<BoundExpression> constants_;  // must have a value
    std::array<BoundExpression, 3> grid_, block_;
    BoundExpression static_shared_bytes_, dynamic_shared_bytes_;
    std::optional<BoundExpression> workspace_bytes_, registers_;
    BoundExpression bytes_;
    BoundExpression phases_, loads_per_phase_, operations_per_phase_, barriers_per_phase_;
};

}  // namespace smemtune
