// Whether a kernel's outputs are right: an FP64 reference of every element, and the comparison with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "tuner/trial/operands.h"

namespace smemtune {

/// FP64 values of one output, one for each element: the reference, and the sum of the absolute values of its terms,
/// which its error bound is relative to.
struct OutputReference {
    std::unique_ptr<Memory> value, magnitude;
};

/// Computes references and compares outputs with them, on the device. What it is given must outlive it.
class OutputComparison {
public:
    /// `reference` is the operation's FP64 kernel, `compare` is kernels/compare.cu. `terms`: products that are summed
    /// for one element. Throws OutOfMemory.
    OutputComparison(Backend& backend, const ElementType& element_type, std::int64_t terms, const Binary& reference,
                     const Binary& compare);

    /// One for each output, from these inputs. Throws OutOfMemory.
    std::vector<OutputReference> references(const Operands& operands);

    /// Describes the first element that differs from its reference by more than its bound, or that was written outside
    /// the matrices; nothing when all is right. Integer inputs have a bound of 0. Raises `worst` to the largest error
    /// as a fraction of its bound.
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
    std::unique_ptr<Memory> first_wrong_, worst_;  // what each thread reports
};

/// gamma_n = n*u / (1 - n*u): n rounded operations change a sum of products by at most gamma_n times the sum of their
/// absolute values, in whatever order they are added (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 3.1). Infinite from n*u = 1 on.
double error_factor(std::int64_t terms, double unit_roundoff);

}  // namespace smemtune
