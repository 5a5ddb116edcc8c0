// Copies 1 GiB within the device's memory 20 times. Prints the bandwidth of the fastest copy in bytes per second, with
// each byte counted twice: once read and once written.
#include <algorithm>
#include <cstdio>

#include <cuda_runtime.h>

int main() {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    void* from = nullptr;
    void* to = nullptr;
    cudaEvent_t start{};
    cudaEvent_t end{};
    bool good = cudaMalloc(&from, bytes) == cudaSuccess && cudaMalloc(&to, bytes) == cudaSuccess &&
                cudaMemset(from, 1, bytes) == cudaSuccess && cudaEventCreate(&start) == cudaSuccess &&
                cudaEventCreate(&end) == cudaSuccess;
    float best_ms = 1e9F;
    for (int i = 0; good && i < 20; ++i) {
        float ms = 0;
        good = cudaEventRecord(start) == cudaSuccess &&
               cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice) == cudaSuccess &&
               cudaEventRecord(end) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess &&
               cudaEventElapsedTime(&ms, start, end) == cudaSuccess;
        best_ms = std::min(best_ms, ms);
    }
    if (!good) {
        std::fprintf(stderr, "copy_bandwidth: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    std::printf("%.4e\n", 2.0 * bytes / best_ms * 1e3);
}
