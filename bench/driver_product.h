// Computes a matrix product through the CUDA driver alone, like an application that launches its own kernel.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace smemtune {

inline void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}
inline void check(CUresult result) {
    if (result != CUDA_SUCCESS) throw std::runtime_error("CUDA driver: error " + std::to_string(result));
}

/// Returns a function of the CUDA driver. It is looked up at run time, because the benchmark must also start on
/// machines without a driver.
template <class Function>
Function driver_function(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function>(function);
}

/// The arguments of a gemm kernel, laid out like the kernel's parameter buffer.
struct DriverArguments {
    int m = 0, n = 0, k = 0;
    float alpha = 1;
    const float* a = nullptr;
    long long lda = 0;
    const float* b = nullptr;
    long long ldb = 0;
    float beta = 0;
    float* c = nullptr;
    long long ldc = 0;

    [[nodiscard]] std::array<void*, 11> addresses() {
        return {&m,
                &n,
                &k,
                &alpha,
                static_cast<void*>(&a),
                &lda,
                static_cast<void*>(&b),
                &ldb,
                &beta,
                static_cast<void*>(&c),
                &ldc};
    }
};

class DriverKernel {
public:
    struct Size {
        std::array<unsigned, 3> grid{}, block{};
    };

    DriverKernel(const void* code, const std::string& entry, const Size& size) : size_(size) {
        check(cudaFree(nullptr));  // creates the context
        CUmodule module = nullptr;
        check(driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData")(&module, code));
        check(
            driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&function_, module, entry.c_str()));
    }

    void launch(CUstream stream, void** addresses) const { launch(stream, addresses, nullptr); }
    /// Launches with all arguments in one buffer.
    void launch_packed(CUstream stream, DriverArguments& arguments) const {
        auto bytes = sizeof arguments;
        std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                                   CU_LAUNCH_PARAM_END};
        launch(stream, nullptr, extra.data());
    }

private:
    void launch(CUstream stream, void** addresses, void** extra) const {
        const auto& [grid, block] = size_;
        check(launch_(function_, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream, addresses, extra));
    }

    Size size_;
    CUfunction function_ = nullptr;
    decltype(&cuLaunchKernel) launch_ = driver_function<decltype(&cuLaunchKernel)>("cuLaunchKernel");
};

/// Matrices on the device with a known product: all elements of A and B are 1.
class DeviceProduct {
public:
    explicit DeviceProduct(int size) : size_(size) {
        const auto elements = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
        const std::vector<float> ones(elements, 1.0F);
        for (auto* matrix : {&a_, &b_, &c_}) {
            check(cudaMalloc(reinterpret_cast<void**>(matrix), elements * sizeof(float)));
            check(cudaMemcpy(*matrix, ones.data(), elements * sizeof(float), cudaMemcpyHostToDevice));
        }
    }
    ~DeviceProduct() {
        for (auto* matrix : {a_, b_, c_}) cudaFree(matrix);
    }
    DeviceProduct(const DeviceProduct&) = delete;
    DeviceProduct& operator=(const DeviceProduct&) = delete;

    [[nodiscard]] const float* a() const { return a_; }
    [[nodiscard]] const float* b() const { return b_; }
    [[nodiscard]] float* c() const { return c_; }
    [[nodiscard]] DriverArguments arguments() const {
        return {
            .m = size_, .n = size_, .k = size_, .a = a_, .lda = size_, .b = b_, .ldb = size_, .c = c_, .ldc = size_};
    }

    /// Waits for the device. Throws std::runtime_error if C is not the product of A and B. Then clears C, so that the
    /// next check needs a new product.
    void require_right() {
        std::vector<float> result(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_));
        check(cudaMemcpy(result.data(), c_, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (const float each : result) {
            if (each != static_cast<float>(size_)) throw std::runtime_error("the product is wrong");
        }
        check(cudaMemset(c_, 0, result.size() * sizeof(float)));
    }

private:
    int size_;
    float* a_ = nullptr;
    float* b_ = nullptr;
    float* c_ = nullptr;
};

}  // namespace smemtune
