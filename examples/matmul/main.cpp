// Computes three matrix products through smemtune: one of a tuned size, one of a size near it, and one with a template
// that was never tuned.
//
//     matmul DATABASE [DEVICE]        DEVICE: 0, 1, ... for a GPU, host, or auto (the default)
#include <smemtune/runtime/runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef MATMUL_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

using Matrix = std::vector<float>;

#ifdef MATMUL_CUDA

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

struct Free {
    void operator()(float* memory) const { cudaFree(memory); }
};
using DeviceMatrix = std::unique_ptr<float, Free>;

DeviceMatrix upload(const Matrix& matrix) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, matrix.size() * sizeof(float)));
    DeviceMatrix owner(static_cast<float*>(memory));
    check(cudaMemcpy(memory, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice));
    return owner;
}

void launch_on_gpu(const smemtune::Kernel& kernel, const Matrix& a, const Matrix& b, Matrix& c) {
    const auto device_a = upload(a);
    const auto device_b = upload(b);
    const auto device_c = upload(c);
    kernel.launch(nullptr, {.a = device_a.get(), .b = device_b.get(), .c = device_c.get()});
    // The copy waits for the kernel, because both are on the default stream.
    check(cudaMemcpy(c.data(), device_c.get(), c.size() * sizeof(float), cudaMemcpyDeviceToHost));
}

/// Returns the device for `auto`: a GPU if there is one, and the CPU otherwise. smemtune never falls back to the CPU by
/// itself, because the application must pass addresses of the right device.
std::string first_device() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? "0" : "host";
}

void make_current(const std::string& gpu) { check(cudaSetDevice(std::stoi(gpu))); }

#else

void launch_on_gpu(const smemtune::Kernel&, const Matrix&, const Matrix&, Matrix&) {}
std::string first_device() { return "host"; }
void make_current(const std::string&) { throw std::runtime_error("built without the CUDA Toolkit: use the host"); }

#endif

Matrix random_matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Matrix matrix(static_cast<std::size_t>(rows * columns));
    for (auto& element : matrix) element = uniform(generator);
    return matrix;
}

/// Returns the largest value of error / bound over all elements, which is at most 1 if `c` is right. The bound on the
/// rounding error of an element is K * 2^-24 * (|A||B|) (Higham, Accuracy and Stability of Numerical Algorithms, 3.5).
double worst_error(const Matrix& a, const Matrix& b, const Matrix& c, std::int64_t n, std::int64_t k) {
    double worst = 0;
    for (std::size_t at = 0; at < c.size(); ++at) {
        const auto row = at / static_cast<std::size_t>(n);
        const auto column = at % static_cast<std::size_t>(n);
        double sum = 0;
        double magnitude = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
            const double product = static_cast<double>(a[row * static_cast<std::size_t>(k) + i]) *
                                   static_cast<double>(b[i * static_cast<std::size_t>(n) + column]);
            sum += product;
            magnitude += std::abs(product);
        }
        const double bound = static_cast<double>(k) * std::ldexp(1.0, -24) * magnitude;
        const double error = std::abs(static_cast<double>(c[at]) - sum) / bound;
        if (!(error <= worst)) worst = error;  // the condition also holds if `error` is NaN
        if (std::isnan(worst)) return worst;
    }
    return worst;
}

/// Fetches a kernel, prints the choice, multiplies, and verifies. If `kernel_template` is empty, the best of all
/// templates is fetched.
bool multiply(smemtune::Runtime& runtime, bool on_gpu, std::int64_t m, std::int64_t n, std::int64_t k,
              const char* kernel_template = "") {
    const auto kernel = runtime.fetch(smemtune::gemm(m, n, k), kernel_template);
    const auto& choice = kernel.choice();

    const auto a = random_matrix(m, k, 1);
    const auto b = random_matrix(k, n, 2);
    Matrix c(static_cast<std::size_t>(m * n), std::numeric_limits<float>::quiet_NaN());
    if (on_gpu) {
        launch_on_gpu(kernel, a, b, c);
    } else {
        kernel.launch(nullptr, {.a = a.data(), .b = b.data(), .c = c.data()});
    }

    const double error = worst_error(a, b, c, n, k);
    const bool right = error <= 1;
    std::printf("%-10s %s %s  match: %s%s%s  %s, %.2f of the error bound\n",
                smemtune::size_text(kernel.problem()).c_str(), choice.kernel_template.c_str(),
                choice.configuration.c_str(), std::string(smemtune::to_text(choice.match)).c_str(),
                choice.tuned_for.empty() ? "" : ", tuned for ", choice.tuned_for.c_str(), right ? "right" : "WRONG",
                error);
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 && argc != 3) {
        std::fputs("usage: matmul DATABASE [DEVICE]\n", stderr);
        return 2;
    }
    try {
        std::string device = argc == 3 ? argv[2] : "auto";
        if (device == "auto") device = first_device();
        const bool on_gpu = device != "host";
        if (on_gpu) make_current(device);

        smemtune::Runtime runtime({.database = argv[1], .device = device});
        bool right = multiply(runtime, on_gpu, 64, 64, 64);
        right = multiply(runtime, on_gpu, 65, 70, 48) && right;
        right = multiply(runtime, on_gpu, 64, 64, 64, "naive") && right;
        return right ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "matmul: %s\n", error.what());
        return 1;
    }
}
