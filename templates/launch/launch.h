// The launch of one configuration on one problem: grid, block, shared memory, registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Device memory that a kernel works in, beside its operands. It holds zeros before the first launch, and whatever one
/// launch left before the next; launches that run at the same time have one each.
struct WorkspaceArgument {
    std::int64_t bytes = 0;  ///< 0: the address is null
    std::size_t place = 0;   ///< of its address among the kernel's arguments: the last

    friend bool operator==(const WorkspaceArgument&, const WorkspaceArgument&) = default;
};

/// A launch of one configuration on one problem.
struct Launch {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::int64_t static_shared_bytes = 0;   ///< per block
    std::int64_t dynamic_shared_bytes = 0;  ///< per block
    std::int64_t registers = 0;             ///< per thread; 0 when not known
    std::vector<int> runtime_arguments{};   ///< what follows the operation's arguments, in the manifest's order
    std::optional<WorkspaceArgument> workspace{};

    // What does not fit in 64 bits is the largest number that does: no device allows it.
    [[nodiscard]] std::int64_t threads() const;
    [[nodiscard]] std::int64_t blocks() const;
    [[nodiscard]] std::int64_t shared_bytes() const;
};

/// By the manifest; `registers` is its estimate. Throws ExpressionError.
Launch launch_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem,
                 const Device& device);

}  // namespace smemtune
