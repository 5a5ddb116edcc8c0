// A configuration whose expressions are prepared for one device, element type and layout. For each problem, it then
// takes only microseconds to find out whether the configuration is valid, and to compute the terms of its time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
    /// Prepares the configuration for problems with the type and layout of `like`, whose extents are ignored. Adds its
    /// expressions to `line`, whose variables are the operation's extents. Several BoundLaunches may share a line; if
    /// `line` is null, makes a line of its own. Throws std::invalid_argument if the operation lacks the layout, and
    /// ExpressionError if an expression uses an unknown name.
    BoundLaunch(const KernelTemplate& kernel_template, const Configuration& configuration, const Device& device,
                const Problem& like, CompiledSize compiled = {}, std::shared_ptr<StraightLine> line = nullptr);

    /// Returns the terms of the time of one launch. Returns nothing if the configuration is not valid for the problem
    /// (infeasibility()), if an expression has no value, or if the problem's extents are not those of the operation.
    [[nodiscard]] std::optional<Terms> terms(const Problem& problem) const;

    /// Memory that several calls can reuse, to avoid allocations.
    using Scratch = StraightLine::Values;
    [[nodiscard]] std::optional<Terms> terms(const Problem& problem, Scratch& scratch) const;
    using Slot = StraightLine::Slot;
    /// The slots that follows_rules() reads.
    [[nodiscard]] std::span<const Slot> rules() const { return rules_; }
    /// The slots that terms_at() and launch_at() read, except constants.
    [[nodiscard]] std::span<const Slot> needed() const { return needed_; }
    /// Whether the template's constraints hold for the problem for which StraightLine::evaluate() computed `values`.
    [[nodiscard]] bool follows_rules(const Scratch& values) const;
    /// Returns the terms for the problem of `values`. Precondition: follows_rules(values).
    [[nodiscard]] std::optional<Terms> terms_at(const Scratch& values) const;
    /// Returns the launch for the problem of `values`, equal to launch_of(). Returns nothing if the kernel has symbols
    /// (SymbolArgument), whose sizes are not prepared, or if an expression of a tensor map has no value.
    /// Precondition: terms_at(values) returns terms, and the extents are valid.
    [[nodiscard]] std::optional<Launch> launch_at(const Problem& problem, const Scratch& values) const;

private:
    // A tensor map whose expressions are in `map_line_`.
    struct BoundTensorMap {
        TensorMapArgument of_any_problem;  // only the members that are the same for all problems are set
        Slot rows = 0, columns = 0, box_rows = 0, box_columns = 0;
        std::optional<Slot> copy_at;
        std::optional<std::array<Slot, 2>> copy_shape;
    };

    void bind_tensor_maps(const KernelTemplate& kernel_template, const Environment& environment,
                          const std::string& type);
    [[nodiscard]] std::optional<std::vector<TensorMapArgument>> tensor_maps(const Problem& problem) const;
    template <class Number>
    [[nodiscard]] Launch block_of(const Number& number) const;
    [[nodiscard]] Launch limits(const Scratch& values) const;
    [[nodiscard]] std::int64_t multiprocessors() const;
    [[nodiscard]] std::optional<std::int64_t> resident_blocks(Launch launch) const;
    [[nodiscard]] std::array<std::int64_t, 3> grid_at(const Scratch& values) const;
    [[nodiscard]] Terms terms_of(double blocks, std::int64_t resident, const Scratch& values) const;

    Device device_;
    std::vector<std::string> extents_;
    CompiledSize compiled_;
    double element_bytes_;
    bool has_model_;
    bool has_symbols_ = false;
    std::vector<BoundTensorMap> tensor_maps_;
    std::shared_ptr<StraightLine> map_line_;  // only launch_at() needs its values; null without tensor maps
    std::vector<Slot> of_maps_;               // all slots of `map_line_` that `tensor_maps_` use
    std::vector<int> runtime_arguments_;
    std::size_t workspace_place_ = 0;
    std::shared_ptr<StraightLine> line_;  // copies of this object share the line; only the constructor changes it
    std::vector<Slot> rules_;             // the constraints that may fail for some problem; all must hold
    std::vector<Slot> needed_;            // other expressions that may lack a value; then terms() returns nothing
    std::array<Slot, 3> grid_{}, block_{};
    Slot static_shared_bytes_ = 0, dynamic_shared_bytes_ = 0;
    std::optional<Slot> workspace_bytes_, registers_;
    bool is_block_constant_ = false;  // whether all problems have the same block, shared memory and registers
    std::optional<std::int64_t> constant_resident_;  // if is_block_constant_: the result of resident_blocks()
    std::optional<std::int64_t> constant_cluster_;   // blocks of a cluster, if all problems have the same number
    std::optional<std::int64_t> constant_at_once_;   // blocks that run at once, if always the same number
    Slot bytes_ = 0, phases_ = 0, loads_per_phase_ = 0, operations_per_phase_ = 0, barriers_per_phase_ = 0,
         dependent_loads_per_phase_ = 0, dependent_loads_per_block_ = 0, stores_per_block_ = 0, cluster_blocks_ = 0,
         l2_loads_ = 0;
};

}  // namespace smemtune
