#include "runtime/runtime.h"
#include "tests/gpu/support.h"
#include "util/temporary_folder.h"

namespace smemtune {
namespace {

// Each block computes one row of C and keeps a row of A in shared memory. The amount of shared memory depends only on
// the problem.
constexpr const char* source = R"(#include "configuration.h"
extern "C" __global__ void row_in_shared(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                         const Element* B, long long ldb, Element beta, Element* C, long long ldc) {
    extern __shared__ Element row[];
    for (int k = threadIdx.x; k < K; k += blockDim.x) row[k] = A[blockIdx.x * lda + k];
    __syncthreads();
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
        Element sum = 0;
        for (int k = 0; k < K; ++k) sum += row[k] * B[k * ldb + n];
        Element* c = &C[blockIdx.x * ldc + n];
        *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
    }
}
)";
constexpr const char* manifest = R"toml([template]
name      = "row_in_shared"
operation = "gemm"
types     = ["f32"]
layouts   = ["nn"]
[launch]
block = ["128"]
grid  = ["M"]
static_shared_bytes  = "0"
dynamic_shared_bytes = "4 * K"
)toml";

// A loaded program has opted in to the dynamic shared memory of one problem. A launch fails if it needs more than that
// and more than 48 KiB.
TEST(LoadedPrograms, AreSharedOnlyByProblemsWithTheSameDynamicSharedMemory) {
    const TemporaryFolder folder;
    folder.write("row_in_shared.cu", source);
    folder.write("row_in_shared.toml", manifest);
    Runtime::Options options;
    options.device = "0";
    options.template_folders = {folder.path()};
    Runtime runtime(options);
    const auto backend = open_backend("0");
    for (const int k : {16, 15'000, 20'000, 32}) {
        const int m = 2, n = 3;
        const auto kernel = runtime.fetch({"gemm", "f32", "nn", {{"M", m}, {"N", n}, {"K", k}}}, "row_in_shared");
        const auto a = upload(*backend, std::vector<float>(elements(m, k), 1));
        const auto b = upload(*backend, std::vector<float>(elements(k, n), 1));
        const auto c = upload(*backend, std::vector<float>(elements(m, n), 0));
        ASSERT_NO_THROW(kernel.launch(nullptr, {.a = a->data(), .b = b->data(), .c = c->data()})) << k;
        backend->synchronize();
        std::vector<float> result(elements(m, n));
        backend->copy_to_host(std::as_writable_bytes(std::span(result)), *c);
        EXPECT_EQ(result, std::vector<float>(elements(m, n), static_cast<float>(k)));
    }
}

}  // namespace
}  // namespace smemtune
