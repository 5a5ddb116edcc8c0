// Finds the matrices of a problem whose row length is a multiple of 16 bytes, and of 32 bytes. Kernels copy rows 16
// bytes at a time if the row length is a multiple of 16 bytes, and otherwise in smaller pieces. A GPU reads memory in
// sectors of 32 bytes, so it reads more than a tile if the tile's rows start in the middle of a sector.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "templates/manifest/kernel_template.h"
#include "templates/space/straight_line.h"

namespace smemtune {

/// One bit for each of the first 32 matrices of an operation. A bit is 1 if the matrix's row length is a multiple of 16
/// (or 32) bytes.
struct WholeUnits {
    std::uint32_t of_16_bytes = 0;
    std::uint32_t of_32_bytes = 0;
    friend bool operator==(const WholeUnits&, const WholeUnits&) = default;
};

class RowAlignment {
public:
    /// Makes an object whose of() returns only 0 bits for any problem.
    RowAlignment() = default;
    /// Prepares the matrices of `operation` for problems with the type and layout of `like`, whose extents are ignored.
    /// Throws std::invalid_argument if the operation lacks the layout.
    RowAlignment(const Operation& operation, const Problem& like, const Device& device);

    /// `extents` are those of a problem, in the operation's order. All bits are 0 if the operation has a different
    /// number of extents.
    [[nodiscard]] WholeUnits of(std::span<const std::int64_t> extents) const;
    /// Like of(extents). `values` is memory that several calls can reuse. Precondition: if this object was made for an
    /// operation, the problem has its extents.
    [[nodiscard]] WholeUnits of(const Problem& problem, StraightLine::Values& values) const;

private:
    struct Matrix {
        StraightLine::Slot columns;
        std::int64_t element_bytes;
    };
    std::vector<std::string> names_;            // names of the extents
    std::shared_ptr<const StraightLine> line_;  // computes the numbers of columns; null if all bits are always 0
    std::vector<Matrix> matrices_;
};

}  // namespace smemtune
