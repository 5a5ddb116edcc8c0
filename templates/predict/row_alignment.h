// Which matrices of a problem have rows of whole 16-byte units. Kernels copy such rows 16 bytes at a time and other
// rows in smaller pieces, so a time that was measured at one alignment says little about the time at another alignment.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "templates/manifest/kernel_template.h"
#include "templates/space/straight_line.h"

namespace smemtune {

class RowAlignment {
public:
    /// Makes an object for which of() returns 0 for every problem.
    RowAlignment() = default;
    /// Prepares the matrices of `operation` for problems with the type and layout of `like`, whose extents are ignored.
    /// Throws std::invalid_argument if the operation lacks the layout.
    RowAlignment(const Operation& operation, const Problem& like, const Device& device);

    /// Returns one bit for each of the first 32 matrices: whether its rows are multiples of 16 bytes. `extents` are
    /// those of a problem, in the operation's order. Returns 0 if the operation has a different number of extents.
    [[nodiscard]] std::uint32_t of(std::span<const std::int64_t> extents) const;
    /// Like of(extents). `values` is memory that several calls can reuse. Precondition: if this object was made for an
    /// operation, the problem has its extents.
    [[nodiscard]] std::uint32_t of(const Problem& problem, StraightLine::Values& values) const;

private:
    struct Matrix {
        StraightLine::Slot columns;
        std::int64_t element_bytes;
    };
    std::vector<std::string> names_;            // names of the extents
    std::shared_ptr<const StraightLine> line_;  // computes the numbers of columns; null if of() is always 0
    std::vector<Matrix> matrices_;
};

}  // namespace smemtune
