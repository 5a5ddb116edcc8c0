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

class BoundLaunch {
public:
    /// For problems that have operation, type, layout and extents' names of `like`. Throws std::invalid_argument if
    /// `like` does not fit the operation, ExpressionError if a rule names something unknown.
    BoundLaunch(const KernelTemplate& kernel_template, const Configuration& configuration, const Device& device,
                const Problem& like, CompiledSize compiled = {});

    /// The terms of one launch. Nothing if the configuration is not valid for the problem, as in infeasibility(), or if
    /// a rule has no value there.
    [[nodiscard]] std::optional<Terms> terms(const Problem& problem) const;

private:
    using Values = std::vector<std::int64_t>;

    [[nodiscard]] bool is_valid(const Values& values) const;
    [[nodiscard]] Launch launch(const Values& values) const;
    [[nodiscard]] Terms terms_of(const Launch& launch, const Values& values) const;

    Device device_;
    CompiledSize compiled_;
    double element_bytes_;
    bool has_model_;
    Values values_;                                  // constants; the extents' slots are filled for each problem
    std::vector<std::optional<std::size_t>> slots_;  // of each extent; nothing if no rule names it
    std::vector<Expression> rules_;
    std::vector<Expression> constants_;  // must have a value
    std::array<Expression, 3> grid_, block_;
    Expression static_shared_bytes_, dynamic_shared_bytes_;
    std::optional<Expression> workspace_bytes_, registers_;
    Expression bytes_;
    Expression phases_, loads_per_phase_, operations_per_phase_, barriers_per_phase_;
};

}  // namespace smemtune
