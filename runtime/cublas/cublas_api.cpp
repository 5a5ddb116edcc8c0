#include "runtime/cublas/cublas_api.h"

#include <algorithm>
#include <array>

#include "runtime/cublas/cublas.h"

namespace smemtune {

std::span<const VendorType> vendor_types() {
    static constexpr std::array types{VendorType{"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
                                      VendorType{"f16", CUDA_R_16F, CUBLAS_COMPUTE_32F},
                                      VendorType{"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
                                      VendorType{"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
                                      VendorType{"3xtf32", CUDA_R_32F, CUBLAS_COMPUTE_32F}};
    return types;
}

const VendorType* vendor_type(std::string_view name) {
    const auto types = vendor_types();
    const auto found = std::ranges::find(types, name, &VendorType::name);
    return found == types.end() ? nullptr : &*found;
}

template <class Function>
void CublasApi::find(const char* name, Function*& function) const {
    if (library_.find(name, function)) return;
    throw VendorError(std::string("this cuBLAS lacks ") + name + "; use that of CUDA 12 or newer");
}

// libcublas loads libcublasLt, so the handle of libcublas finds the functions of both libraries.
CublasApi::CublasApi(const std::vector<std::string>& names) : library_(names) {
    library_.keep_open();
    if (!library_) {
        std::string tried;
        for (const auto& name : names) tried += (tried.empty() ? "" : ", ") + name;
        throw VendorError("cuBLAS was not found as " + tried +
                          "; install the CUDA Toolkit or add its lib64 folder to LD_LIBRARY_PATH");
    }
    find("cublasCreate_v2", create);
    find("cublasDestroy_v2", destroy);
    find("cublasGetProperty", property);
    find("cublasGetStatusName", status_name);
    find("cublasSetMathMode", set_math_mode);
    find("cublasSetStream_v2", set_stream);
    find("cublasSetWorkspace_v2", set_workspace);
    find("cublasSgemm_v2", sgemm);
    find("cublasSgemmStridedBatched", sgemm_strided_batched);
    find("cublasGemmEx", gemm_ex);
    find("cublasGemmStridedBatchedEx", gemm_strided_batched_ex);
    find("cublasLtCreate", lt_create);
    find("cublasLtDestroy", lt_destroy);
    find("cublasLtMatmul", lt_matmul);
    find("cublasLtMatmulAlgoConfigGetAttribute", lt_algorithm_attribute);
    find("cublasLtMatmulAlgoGetHeuristic", lt_heuristic);
    find("cublasLtMatmulDescCreate", lt_product_create);
    find("cublasLtMatmulDescDestroy", lt_product_destroy);
    find("cublasLtMatmulDescSetAttribute", lt_product_attribute);
    find("cublasLtMatmulPreferenceCreate", lt_preference_create);
    find("cublasLtMatmulPreferenceDestroy", lt_preference_destroy);
    find("cublasLtMatmulPreferenceSetAttribute", lt_preference_attribute);
    find("cublasLtMatrixLayoutCreate", lt_matrix_create);
    find("cublasLtMatrixLayoutDestroy", lt_matrix_destroy);
    find("cublasLtMatrixLayoutSetAttribute", lt_matrix_attribute);
}

void CublasApi::require(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS) throw VendorError(text(status, call));
}

void CublasApi::launched(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS) throw LaunchError(text(status, call));
}

std::string CublasApi::text(cublasStatus_t status, const char* call) const {
    return std::string(call) + ": " + status_name(status);
}

}  // namespace smemtune
