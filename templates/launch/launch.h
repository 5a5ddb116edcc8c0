// The launch of one configuration on one problem: grid, block, shared memory, registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// Device memory that a kernel needs beside its operands. It holds zeros before the first launch; each launch finds the
/// content that the previous launch left. Launches that run at the same time need a workspace each.
struct WorkspaceArgument {
    std::int64_t bytes = 0;  ///< 0: the address is null
    std::size_t place = 0;   ///< index of its address among the kernel's arguments: the last one

    friend bool operator==(const WorkspaceArgument&, const WorkspaceArgument&) = default;
};

/// A tensor map that the kernel takes after its run-time parameters. Each launch makes it for the address and the
/// stride that it is given.
struct TensorMapArgument {
    std::size_t matrix = 0, stride = 0;  ///< indices among the operation's arguments
    std::int64_t rows = 0, columns = 0;  ///< of the matrix
    std::int64_t box_rows = 0, box_columns = 0;
    std::int64_t element_bytes = 0;
    bool swizzle = false;
    /// Byte of the workspace where the kernel copies the matrix to if address or rows are no multiples of 16 bytes. The
    /// map is then that of the copy, whose rows are as long as they must be: row_bytes_of_copy().
    std::optional<std::int64_t> copy_at{};
    /// The kernel always copies the matrix. `rows` and `columns` are those of the copy.
    bool is_copy = false;

    [[nodiscard]] std::int64_t row_bytes_of_copy() const { return (columns * element_bytes + 15) / 16 * 16; }

    friend bool operator==(const TensorMapArgument&, const TensorMapArgument&) = default;
};

/// An argument that no parameter of the kernel takes: it is copied to a `__constant__` or `__device__` array instead.
struct SymbolArgument {
    std::string name;
    std::size_t place = 0;  ///< index among the operation's arguments
    std::int64_t bytes = 0;

    friend bool operator==(const SymbolArgument&, const SymbolArgument&) = default;
};

/// A launch of one configuration on one problem.
struct Launch {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::int64_t static_shared_bytes = 0;   ///< per block
    std::int64_t dynamic_shared_bytes = 0;  ///< per block
    std::int64_t registers = 0;             ///< per thread; 0 when not known
    std::vector<int> runtime_arguments{};   ///< the arguments after the operation's, in the manifest's order
    std::vector<TensorMapArgument> tensor_maps{};
    std::optional<WorkspaceArgument> workspace{};
    std::vector<SymbolArgument> symbols{};  ///< in the order of their places

    // A value that overflows 64 bits saturates at the largest one, which no device allows.
    [[nodiscard]] std::int64_t threads() const;
    [[nodiscard]] std::int64_t blocks() const;
    [[nodiscard]] std::int64_t shared_bytes() const;
};

/// Evaluates the manifest's rules; `registers` is its estimate. Throws ExpressionError.
Launch launch_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem,
                 const Device& device);

}  // namespace smemtune
