// Wraps calls of NVIDIA's cuBLAS and cublasLt as BoundKernels, so that callers launch them like smemtune's own matrix
// products. The libraries are opened at run time.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"

namespace smemtune {

/// cuBLAS is not installed or cannot be used. If it was not found, the message lists the file names that were tried.
class VendorError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A call of cuBLAS or cublasLt as a kernel. `detail` has the numbers that identify its algorithm, or the name of the
/// function that chooses an algorithm.
struct VendorKernel {
    std::string detail;
    std::unique_ptr<BoundKernel> kernel;
};

/// Makes kernels of cuBLAS for products in the layouts nn, nt, tn and tt. Types: `f32` (FP32 without TF32); `f16` and
/// `bf16` with sums and scalars in FP32; `tf32` (FP32 in memory); `3xtf32`, for which cuBLAS computes as for `f32`. The
/// workspace has 32 MiB, which NVIDIA recommends for Hopper. For other architectures, NVIDIA recommends less (cuBLAS
/// documentation, cublasSetWorkspace).
///
/// A kernel takes the arguments of the problem's operation, gemm or batched_gemm. Only one thread at a time may use the
/// kernels of one Cublas. The kernels may outlive the Cublas, because they share its handles. They must not outlive the
/// backend. A launch throws LaunchError if cuBLAS refuses the call.
class Cublas {
public:
    /// Opens libcublas, and never closes it. Tries the file names in `names` in order; by default, these are
    /// toolkit_library_names(). Throws VendorError.
    explicit Cublas(Backend& backend, const std::vector<std::string>& names = usual_names());
    static std::vector<std::string> usual_names();
    /// The element types of the products that cuBLAS computes, as in Problem::type.
    static std::vector<std::string> types();
    static bool has(std::string_view type);  ///< whether types() contains `type`

    /// The version of cuBLAS, such as `13.1.0`.
    [[nodiscard]] std::string version() const;
    /// A kernel that lets cuBLAS choose the algorithm at each call. For `f32` and `3xtf32` it calls cublasSgemm or
    /// cublasSgemmStridedBatched, for other types cublasGemmEx or cublasGemmStridedBatchedEx. Precondition:
    /// has(problem.type).
    [[nodiscard]] VendorKernel gemm(const Problem& problem) const;
    /// Kernels for the proposals of cublasLt's heuristic, the best first, at most `most`. Each kernel computes only
    /// `problem`, with packed rows and matrices and aligned operands. Precondition: has(problem.type).
    [[nodiscard]] std::vector<VendorKernel> proposals(const Problem& problem, int most) const;

private:
    struct Session;
    std::shared_ptr<const Session> session_;
};

}  // namespace smemtune
