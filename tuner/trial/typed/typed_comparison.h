// Decides whether an output of a typed operation is right.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"

namespace smemtune {

/// Compares outputs of any type with their references on the device. All arguments must outlive it.
class TypedComparison {
public:
    /// `compare` is typed/kernels/compare.cu. `terms`: rounded operations behind an element. Throws OutOfMemory.
    TypedComparison(Backend& backend, const LoadedKernel& compare, const Environment& environment, std::int64_t terms,
                    std::int64_t blocks);

    /// Describes the first write outside the output, or more elements than its tolerance allows that differ from
    /// `value` by more than allowed, or errors that are too large on average; nothing if all is right. The allowed
    /// distance is that of the argument's tolerance; else 0 for integers and for integer inputs (one rounding for
    /// types of 16 bits), and tolerance.h's bound. Raises `worst` to the largest error as a fraction of what is
    /// allowed.
    std::optional<std::string> difference(const MatrixOperand& matrix, const Memory& value, const Memory* magnitude,
                                          const Check& check, double& worst);

    /// The same without a reference: describes the first write outside the output, or an output that nothing was
    /// written to.
    std::optional<std::string> difference_without_reference(const MatrixOperand& matrix, const Check& check);

private:
    struct Report {
        long long outside = -1, wrong = -1, count = 0;
        double worst = 0, errors = 0, scales = 0;
    };
    struct Rule {
        double absolute = 0, relative = 0, gamma = 0, lambda = 0, tiny = 0, share = 0, unit_roundoff = 0;
        int equal_nans = 0;
        bool has_bound = false;  // by `magnitude`, not by distances
    };
    [[nodiscard]] Rule rule_of(const MatrixOperand& matrix, const Check& check) const;
    Report compare(const MatrixOperand& matrix, const Memory* value, const Memory* magnitude, const Rule& rule);
    // `at` is an index into the memory.
    static std::string outside_text(const MatrixOperand& matrix, long long at);
    [[nodiscard]] std::string describe(const MatrixOperand& matrix, long long at, const Memory& value,
                                       const Memory* magnitude, const Rule& rule) const;

    Backend& backend_;
    const LoadedKernel& compare_;
    const Environment& environment_;
    std::int64_t terms_;
    std::int64_t blocks_;
    std::unique_ptr<Memory> places_, errors_;  // each block's report
};

}  // namespace smemtune
