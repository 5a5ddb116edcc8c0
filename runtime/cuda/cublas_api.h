// The functions of cuBLAS and cublasLt that are used, found by name.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <string>
#include <vector>

#include "runtime/cuda/cublas.h"

namespace smemtune {

/// libcublas brings libcublasLt, so one handle finds those of both.
class CublasApi {
public:
    explicit CublasApi(const std::vector<std::string>& names) {
        std::string tried;
        for (const auto& name : names) {
            library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library_ != nullptr) break;
            tried += (tried.empty() ? "" : ", ") + name;
        }
        if (library_ == nullptr) {
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
    }

    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasGetProperty) property = nullptr;
    decltype(&cublasGetStatusName) status_name = nullptr;
    decltype(&cublasSetMathMode) set_math_mode = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasSgemm_v2) sgemm = nullptr;
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

    /// What cuBLAS refuses while it is made ready makes it useless here.
    void prepare(cublasStatus_t status, const char* what) const {
        if (status != CUBLAS_STATUS_SUCCESS) throw VendorError(text(status, what));
    }
    /// What it refuses to launch, another algorithm may compute.
    void run(cublasStatus_t status, const char* what) const {
        if (status != CUBLAS_STATUS_SUCCESS) throw LaunchError(text(status, what));
    }

private:
    template <class Function>
    void find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(dlsym(library_, name));
        if (function == nullptr)
            throw VendorError(std::string("this cuBLAS lacks ") + name + "; use that of CUDA 12 or newer");
    }
    [[nodiscard]] std::string text(cublasStatus_t status, const char* what) const {
        return std::string(what) + ": " + status_name(status);
    }

    void* library_ = nullptr;
};

}  // namespace smemtune
