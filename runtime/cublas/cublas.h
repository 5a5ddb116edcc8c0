// NVIDIA's matrix products as kernels: cuBLAS and cublasLt, loaded by name on first use.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"

namespace smemtune {

/// The library is not installed or cannot be used. The message lists the file names that were tried.
class VendorError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A kernel of the library, with the numbers that identify its algorithm, or the name of the function that chooses one.
struct VendorKernel {
    std::string detail;
    std::unique_ptr<BoundKernel> kernel;
};

/// Products in the layouts nn, nt, tn and tt: `f32` in FP32, without TF32; `f16` and `bf16` with sums and scalars in
/// FP32; `tf32`, which is FP32 in memory; `3xtf32`, for which the library computes in FP32 as for `f32`. The workspace
/// has 32 MiB: NVIDIA's recommendation for Hopper, and more than for other architectures (cuBLAS documentation,
/// cublasSetWorkspace). The kernels take the arguments of the problem's operation, gemm or batched_gemm. They serve one
/// thread at a time. They share ownership of this object's handles; the backend must outlive them. A refused call
/// throws LaunchError.
class Cublas {
public:
    /// `names` are file names of libcublas, tried in their order. The default is the soname, then the toolkit's folder.
    /// The library is never closed. Throws VendorError.
    explicit Cublas(Backend& backend, const std::vector<std::string>& names = usual_names());
    static std::vector<std::string> usual_names();
    /// The types of which it has products.
    static std::vector<std::string> types();
    static bool has(std::string_view type);  ///< one of them

    /// `13.1.0`.
    [[nodiscard]] std::string version() const;
    /// A function that chooses an algorithm at each call: for `f32` and `3xtf32` cublasSgemm or
    /// cublasSgemmStridedBatched, else cublasGemmEx or cublasGemmStridedBatchedEx. Precondition: has(problem.type),
    /// here and below.
    [[nodiscard]] VendorKernel gemm(const Problem& problem) const;
    /// The proposals of cublasLt's heuristic, best first, at most `most` of them. Rows and matrices must be packed and
    /// operands aligned. Each kernel computes only this problem.
    [[nodiscard]] std::vector<VendorKernel> proposals(const Problem& problem, int most) const;

private:
    struct Session;
    std::shared_ptr<const Session> session_;
};

}  // namespace smemtune
