// The state that all kernels of one Cublas object share, and the class of these kernels.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "runtime/cublas/cublas.h"
#include "runtime/cublas/cublas_api.h"
#include "runtime/cublas/gemm_arguments.h"

namespace smemtune {

constexpr std::size_t cublas_workspace_bytes = std::size_t{32} << 20;

/// The handles of cuBLAS and cublasLt on one device, and the workspace that all calls share.
struct Cublas::Session {
    CublasApi api;
    std::unique_ptr<Memory> workspace;
    cublasHandle_t handle = nullptr;
    cublasLtHandle_t lt_handle = nullptr;

    Session(Backend& backend, const std::vector<std::string>& names) : api(names) {
        backend.make_current();  // cuBLAS creates handles for the current device
        workspace = backend.allocate(cublas_workspace_bytes);
        api.require(api.create(&handle), "cublasCreate");
        try {
            api.require(api.set_math_mode(handle, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
            api.require(api.lt_create(&lt_handle), "cublasLtCreate");
        } catch (const VendorError&) {
            api.destroy(handle);
            throw;
        }
    }
    ~Session() {
        api.lt_destroy(lt_handle);
        api.destroy(handle);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Sets the stream only if it changes, as an application would. cublasSetStream resets the workspace, so the
    // workspace is set again.
    void use(StreamHandle stream) const {
        if (stream_ == stream) return;
        api.launched(api.set_stream(handle, stream), "cublasSetStream");
        api.launched(api.set_workspace(handle, workspace->data(), cublas_workspace_bytes), "cublasSetWorkspace");
        stream_ = stream;
    }

private:
    mutable std::optional<StreamHandle> stream_;
};

/// A kernel that calls cuBLAS or cublasLt.
class VendorCall : public BoundKernel {
public:
    using Work = std::function<void(StreamHandle stream, const GemmArguments& given)>;
    VendorCall(GemmKind kind, Work work) : kind_(kind), work_(std::move(work)) {}
    void launch(StreamHandle stream, std::span<void* const> arguments) const override {
        work_(stream, gemm_arguments(arguments.data(), kind_));
    }

private:
    GemmKind kind_;
    Work work_;
};

}  // namespace smemtune
