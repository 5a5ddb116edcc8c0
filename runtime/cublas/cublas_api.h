// The functions of cuBLAS and cublasLt, looked up by name at run time. The headers are included for their types only.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/dynamic_library.h"

namespace smemtune {

/// An element type in smemtune's and in cuBLAS's terms, with the type that cuBLAS computes in.
struct VendorType {
    std::string_view name;  ///< the name in Problem::type
    cudaDataType_t data;
    cublasComputeType_t compute;
};
/// The element types for which cuBLAS has products.
std::span<const VendorType> vendor_types();
/// Returns the entry of vendor_types() with this name, or null.
const VendorType* vendor_type(std::string_view name);

class CublasApi {
public:
    /// Opens the first library of `names` that can be opened, and never closes it. Throws VendorError.
    explicit CublasApi(const std::vector<std::string>& names);

    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasGetProperty) property = nullptr;
    decltype(&cublasGetStatusName) status_name = nullptr;
    decltype(&cublasSetMathMode) set_math_mode = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasSgemm_v2) sgemm = nullptr;
    decltype(&cublasSgemmStridedBatched) sgemm_strided_batched = nullptr;
    // The next two types are written out, because decltype cannot name a function that cublas_v2.h overloads.
    cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                              const void* alpha, const void* a, cudaDataType, int lda, const void* b, cudaDataType,
                              int ldb, const void* beta, void* c, cudaDataType, int ldc, cublasComputeType_t,
                              cublasGemmAlgo_t) = nullptr;
    cublasStatus_t (*gemm_strided_batched_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                              const void* alpha, const void* a, cudaDataType, int lda,
                                              long long stride_a, const void* b, cudaDataType, int ldb,
                                              long long stride_b, const void* beta, void* c, cudaDataType, int ldc,
                                              long long stride_c, int count, cublasComputeType_t,
                                              cublasGemmAlgo_t) = nullptr;
    decltype(&cublasLtCreate) lt_create = nullptr;
    decltype(&cublasLtDestroy) lt_destroy = nullptr;
    decltype(&cublasLtMatmul) lt_matmul = nullptr;
    decltype(&cublasLtMatmulAlgoConfigGetAttribute) lt_algorithm_attribute = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) lt_heuristic = nullptr;
    decltype(&cublasLtMatmulDescCreate) lt_product_create = nullptr;
    decltype(&cublasLtMatmulDescDestroy) lt_product_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) lt_product_attribute = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) lt_preference_create = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) lt_preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) lt_preference_attribute = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) lt_matrix_create = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) lt_matrix_destroy = nullptr;
    decltype(&cublasLtMatrixLayoutSetAttribute) lt_matrix_attribute = nullptr;

    /// Throws VendorError unless `status` is success. Used for calls without which cuBLAS cannot work at all.
    void require(cublasStatus_t status, const char* call) const;
    /// Throws LaunchError unless `status` is success. Used for calls that fail only for some algorithms or arguments.
    void launched(cublasStatus_t status, const char* call) const;

private:
    template <class Function>
    void find(const char* name, Function*& function) const;
    [[nodiscard]] std::string text(cublasStatus_t status, const char* call) const;

    DynamicLibrary library_;
};

inline cublasOperation_t cublas_operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace smemtune
