// Decides whether a kernel's outputs are right: compares every element with an FP64 reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"

namespace smemtune {

/// FP64 values for each element of an output: the reference, and the sum of the absolute values of its terms. The error
/// bound is relative to that sum.
struct OutputReference {
    std::unique_ptr<Memory> value, magnitude;
};

/// Computes references and compares outputs with them on the device. All arguments must outlive it.
class OutputComparison {
public:
    /// `reference` is the operation's FP64 kernel, `compare` is kernels/compare.cu. `terms` is the number of products
    /// in each element's sum. Throws OutOfMemory.
    OutputComparison(Backend& backend, const ElementType& element_type, std::int64_t terms, const Binary& reference,
                     const Binary& compare);

    /// The references of these inputs, one for each output. Throws OutOfMemory.
    std::vector<OutputReference> references(const Operands& operands);

    /// Describes the first element that differs from its reference by more than its bound, or the first write outside
    /// the matrices; nothing if all is right. The bound is 0 for integer inputs. Raises `worst` to the largest error as
    /// a fraction of its bound.
    std::optional<std::string> first_difference(const Operands& operands,
                                                const std::vector<OutputReference>& references, const Check& check,
                                                double& worst);

private:
    [[nodiscard]] double bound_factor(const Check& check) const;
    std::string describe(const MatrixOperand& matrix, long long at, const OutputReference& expected,
                         const Check& check);

    Backend& backend_;
    double unit_roundoff_;
    std::int64_t terms_;
    std::int64_t threads_;
    std::unique_ptr<LoadedKernel> reference_, compare_;
    std::unique_ptr<Memory> first_wrong_, worst_;  // each thread's report
};

/// gamma_n = n*u / (1 - n*u). n rounded operations change a sum of products by at most gamma_n times the sum of
/// absolute values, in any order of addition (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section
/// 3.1). Infinite if n*u >= 1.
double error_factor(std::int64_t terms, double unit_roundoff);

}  // namespace smemtune
