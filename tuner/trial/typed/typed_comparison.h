// Decides whether an output of a typed operation (is_typed() in tuner/trial/operands.h) is right.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"

namespace smemtune {

/// Compares outputs of any type with their references on the device. All arguments of the constructor must outlive the
/// object.
class TypedComparison {
public:
    /// `compare` is typed/kernels/compare.cu. `terms` is the number of rounded operations that give an element. Throws
    /// OutOfMemory.
    TypedComparison(Backend& backend, const LoadedKernel& compare, const Environment& environment, std::int64_t terms,
                    std::int64_t blocks);

    /// Describes what is wrong with an output; returns nothing if it is right. An output is wrong if the kernel wrote
    /// outside it, if more elements differ than its tolerance allows, or if the errors are too large on average. An
    /// element differs if its distance from `value` is larger than allowed. The argument's tolerance gives the allowed
    /// distance. Without a tolerance, integer outputs must be exact. Floating-point outputs of integer inputs must be
    /// exact, too, except that an output of 16 bits may differ by one rounding. For all other outputs, the bound in
    /// tolerance.h is allowed. Raises `worst` to the largest error, as a fraction of what is allowed, if `worst` is
    /// smaller.
    std::optional<std::string> difference(const MatrixOperand& matrix, const Memory& value, const Memory* magnitude,
                                          const Check& check, double& worst);

    /// Checks an output that has no reference. Describes the first write outside the output, or says that nothing was
    /// written to the output. Returns nothing if neither is the case.
    std::optional<std::string> difference_without_reference(const MatrixOperand& matrix, const Check& check);

private:
    struct Report {
        long long outside = -1, wrong = -1, count = 0;
        double worst = 0, errors = 0, scales = 0;
    };
    struct Rule {
        double absolute = 0, relative = 0, gamma = 0, lambda = 0, tiny = 0, share = 0, unit_roundoff = 0;
        int equal_nans = 0;
        bool has_bound = false;  // whether the allowed error depends on `magnitude`
    };
    [[nodiscard]] Rule rule_of(const MatrixOperand& matrix, const Check& check) const;
    Report compare(const MatrixOperand& matrix, const Memory* value, const Memory* magnitude, const Rule& rule);
    // `at` is the index of a number in the matrix's memory, counted from its start.
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
