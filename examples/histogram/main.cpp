// Counts bytes with the tuned kernel of this folder: an example of a user's own kernel that is not a matrix product.
//
//     histogram DATABASE KERNELS [DEVICE]     KERNELS: this folder; DEVICE: 0, 1, ... for a GPU, or host (the default)
#include <smemtune/runtime/runtime.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef HISTOGRAM_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

using Histogram = smemtune::TypedKernel<const unsigned char*, unsigned*, long long>;
using Bytes = std::vector<unsigned char>;
using Counts = std::vector<unsigned>;

#ifdef HISTOGRAM_CUDA

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

void make_current(const std::string& gpu) { check(cudaSetDevice(std::stoi(gpu))); }

void launch_on_gpu(const Histogram& histogram, const Bytes& data, Counts& counts) {
    void* device_data = nullptr;
    void* device_counts = nullptr;
    check(cudaMalloc(&device_data, data.size()));
    check(cudaMalloc(&device_counts, counts.size() * sizeof(unsigned)));
    check(cudaMemcpy(device_data, data.data(), data.size(), cudaMemcpyHostToDevice));
    check(cudaMemset(device_counts, 0, counts.size() * sizeof(unsigned)));
    histogram(nullptr, static_cast<const unsigned char*>(device_data), static_cast<unsigned*>(device_counts),
              static_cast<long long>(data.size()));
    check(cudaMemcpy(counts.data(), device_counts, counts.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    check(cudaFree(device_data));
    check(cudaFree(device_counts));
}

#else

void make_current(const std::string&) { throw std::runtime_error("built without the CUDA Toolkit: use the host"); }
void launch_on_gpu(const Histogram&, const Bytes&, Counts&) {}

#endif

int run(const std::string& database, const std::string& kernels, const std::string& device) {
    if (device != "host") make_current(device);
    smemtune::Runtime runtime({.database = database, .device = device, .template_folders = {kernels}});
    Bytes data(3000);
    std::mt19937 generator(1);
    Counts expected(256);
    for (auto& byte : data) {
        byte = static_cast<unsigned char>(generator() % 256);
        ++expected[byte];
    }
    const auto n = static_cast<long long>(data.size());
    // The constructor compares the argument types of Histogram with the manifest. Launches do not check them again.
    const Histogram histogram(
        runtime.fetch({.operation = "histogram", .type = "f32", .layout = "", .extents = {{"n", n}}}));
    Counts counts(256);
    if (device == "host") {
        histogram(nullptr, data.data(), counts.data(), n);
    } else {
        launch_on_gpu(histogram, data, counts);
    }
    const auto& choice = histogram.kernel().choice();
    const bool right = counts == expected;
    std::printf("%lld bytes  %s %s  match: %s  %s\n", n, choice.kernel_template.c_str(), choice.configuration.c_str(),
                std::string(smemtune::to_text(choice.match)).c_str(), right ? "right" : "WRONG");
    return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    const std::vector<std::string> arguments(words, words + count);
    if (arguments.size() < 3) {
        std::fprintf(stderr, "usage: histogram DATABASE KERNELS [DEVICE]\n");
        return 2;
    }
    try {
        return run(arguments[1], arguments[2], arguments.size() > 3 ? arguments[3] : "host");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "histogram: %s\n", error.what());
        return 1;
    }
}
