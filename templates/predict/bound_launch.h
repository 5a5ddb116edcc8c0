// A configuration whose rules are bound to a device, element type and layout. It then takes only microseconds to find
// out whether the configuration is valid for a problem, and to compute the terms of its time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "templates/launch/launch.h"
#include "templates/predict/time_model.h"
#include "templates/space/straight_line.h"

namespace smemtune {

/// The registers and static shared memory that the compiler reported; 0 if unknown.
struct CompiledSize {
    std::int64_t registers = 0;
    std::int64_t static_shared_bytes = 0;
};

class BoundLaunch {
public:
    /// For problems of the type and layout of `like`; its extents do not matter. Adds the rules to `line`, which has
    /// the operation's extents and may be shared with other launches; null: to one of its own. Throws
    /// std::invalid_argument if the operation lacks the layout, ExpressionError if a rule names something unknown.
    BoundLaunch(const KernelTemplate& kernel_template, const Configuration& configuration, const Device& device,
                const Problem& like, CompiledSize compiled = {}, std::shared_ptr<StraightLine> line = nullptr);

    /// The terms of one launch. Nothing if the configuration is not valid for the problem, as in infeasibility(), if a
    /// rule has no value there, or if the problem has other extents than the operation.
    [[nodiscard]] std::optional<Terms> terms(const Problem& problem) const;

    /// Memory that calls reuse, so that they need not allocate.
    using Scratch = std::vector<StraightLine::Value>;
    [[nodiscard]] std::optional<Terms> terms(const Problem& problem, Scratch& scratch) const;
    /// The same at the problem for which the line's values were computed.
    [[nodiscard]] std::optional<Terms> terms_at(const Scratch& values) const;
    /// The launch there, equal to launch_of(); nothing for a kernel with arrays of its source (SymbolArgument) or
    /// tensor maps, whose sizes are no rules. Precondition: terms_at() has terms, and the extents are valid.
    [[nodiscard]] std::optional<Launch> launch_at(const Scratch& values) const;

private:
    using Slot = StraightLine::Slot;
    [[nodiscard]] Launch limits(const Scratch& values) const;
    [[nodiscard]] Terms terms_of(const Launch& launch, const Scratch& values) const;

    Device device_;
    std::vector<std::string> extents_;
    CompiledSize compiled_;
    double element_bytes_;
    bool has_model_;
    bool has_rules_alone_ = true;  // no symbols, no tensor maps
    std::vector<int> runtime_arguments_;
    std::size_t workspace_place_ = 0;
    std::shared_ptr<StraightLine> line_;  // copies share it; no longer changed
    std::vector<Slot> rules_;             // constraints: must not be 0
    std::vector<Slot> needed_;            // must have a value
    std::array<Slot, 3> grid_{}, block_{};
    Slot static_shared_bytes_ = 0, dynamic_shared_bytes_ = 0;
    std::optional<Slot> workspace_bytes_, registers_;
    Slot bytes_ = 0, phases_ = 0, loads_per_phase_ = 0, operations_per_phase_ = 0, barriers_per_phase_ = 0,
         dependent_loads_per_phase_ = 0, cluster_blocks_ = 0;
};

}  // namespace smemtune
