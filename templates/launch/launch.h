// The launch of one configuration on one problem: grid, block, shared memory, registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Device memory that a kernel needs besides its operands. All its bytes are 0 before the first launch. Each later
/// launch finds the content that the previous launch left. Launches that run at the same time need different
/// workspaces.
struct WorkspaceArgument {
    std::int64_t bytes = 0;  ///< size of the workspace; if 0, the kernel gets a null pointer
    std::size_t place = 0;   ///< index of the workspace's pointer among the kernel's arguments; it is the last

    friend bool operator==(const WorkspaceArgument&, const WorkspaceArgument&) = default;
};

/// A tensor map that the kernel takes after its run-time parameters. Each launch makes the map for the address and the
/// stride of the matrix in that launch.
struct TensorMapArgument {
    std::size_t matrix = 0, stride = 0;  ///< indices of matrix and stride among the operation's arguments
    std::int64_t rows = 0, columns = 0;  ///< size of the matrix
    std::int64_t box_rows = 0, box_columns = 0;
    std::int64_t element_bytes = 0;
    bool swizzle = false;
    /// Offset in bytes, in the workspace, of a copy of the matrix. The kernel makes the copy if the matrix's address or
    /// stride is not a multiple of 16 bytes. The map then describes the copy, whose rows have row_bytes_of_copy()
    /// bytes.
    std::optional<std::int64_t> copy_at{};
    /// Whether the kernel always copies the matrix. If so, `rows` and `columns` are the size of the copy.
    bool is_copy = false;

    [[nodiscard]] std::int64_t row_bytes_of_copy() const { return (columns * element_bytes + 15) / 16 * 16; }

    friend bool operator==(const TensorMapArgument&, const TensorMapArgument&) = default;
};

/// An argument that the kernel does not take as a parameter. It is copied to a `__constant__` or `__device__` array.
struct SymbolArgument {
    std::string name;
    std::size_t place = 0;  ///< index of this argument among the operation's arguments
    std::int64_t bytes = 0;

    friend bool operator==(const SymbolArgument&, const SymbolArgument&) = default;
};

/// A launch of one configuration on one problem.
struct Launch {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::int64_t static_shared_bytes = 0;   ///< static shared memory per block
    std::int64_t dynamic_shared_bytes = 0;  ///< dynamic shared memory per block
    std::int64_t registers = 0;             ///< registers per thread; 0 when not known
    std::vector<int> runtime_arguments{};   ///< values of the run-time parameters, in the manifest's order
    std::vector<TensorMapArgument> tensor_maps{};
    std::optional<WorkspaceArgument> workspace{};
    std::vector<SymbolArgument> symbols{};  ///< the symbols, in the order of the operation's arguments

    // If a result overflows 64 bits, the functions below return the largest 64-bit number, which exceeds every limit.
    [[nodiscard]] std::int64_t threads() const;
    [[nodiscard]] std::int64_t blocks() const;
    [[nodiscard]] std::int64_t shared_bytes() const;
};

/// Evaluates the expressions of the manifest. `registers` is the manifest's estimate. Throws ExpressionError if an
/// expression has no value.
Launch launch_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem,
                 const Device& device);

}  // namespace smemtune
