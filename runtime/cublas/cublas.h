// NVIDIA's matrix products as kernels like any other: cuBLAS and cublasLt, opened by name when they are asked for.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace smemtune {

/// The library is not installed, or cannot be used here. Names the files that it was looked for as.
class VendorError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A kernel of the library, and the numbers that name its algorithm.
struct VendorKernel {
    std::string detail;
    std::unique_ptr<BoundKernel> kernel;
};

/// Products of `f32` in FP32, without TF32, in the layouts nn, nt, tn and tt, with 32 MiB of workspace: what NVIDIA
/// recommends on Hopper, and more than it does elsewhere (cuBLAS documentation, cublasSetWorkspace). Its kernels take
/// the arguments of the problem's operation, gemm or batched_gemm, serve one thread at a time, and keep what they need
/// of this; the backend must outlive them. A call that is refused is a LaunchError.
class Cublas {
public:
    /// `names`: of libcublas, tried in turn; by default the soname, then the toolkit's folder. It is never closed
    /// again. Throws VendorError.
    explicit Cublas(Backend& backend, const std::vector<std::string>& names = usual_names());
    static std::vector<std::string> usual_names();

    /// `13.1.0`.
    [[nodiscard]] std::string version() const;
    /// cublasSgemm or cublasSgemmStridedBatched, which choose by themselves, at each call.
    [[nodiscard]] std::unique_ptr<BoundKernel> gemm(const Problem& problem) const;
    /// The proposals of cublasLt's heuristic for packed rows and matrices and aligned operands, the most promising
    /// first; at most `most`. Each computes this problem alone.
    [[nodiscard]] std::vector<VendorKernel> proposals(const Problem& problem, int most) const;

private:
    struct Session;
    std::shared_ptr<const Session> session_;
};

}  // namespace smemtune
