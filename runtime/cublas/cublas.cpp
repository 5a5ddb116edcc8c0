#include "runtime/cublas/cublas.h"

#include <limits>
#include <tuple>

#include "runtime/cublas/cublas_session.h"
#include "runtime/cuda/toolkit_library.h"

namespace smemtune {

namespace {

int int_stride(std::int64_t stride, const char* function) {
    if (stride > std::numeric_limits<int>::max()) {
        throw LaunchError("a leading dimension of " + std::to_string(stride) + " exceeds 2147483647, the most that " +
                          function + " takes; pack the rows closer");
    }
    return static_cast<int>(stride);
}

}  // namespace

Cublas::Cublas(Backend& backend, const std::vector<std::string>& names)
    : session_(std::make_shared<const Session>(backend, names)) {}

std::vector<std::string> Cublas::usual_names() { return toolkit_library_names("libcublas"); }

std::string Cublas::version() const {
    std::string text;
    for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int value = 0;
        session_->api.require(session_->api.property(part, &value), "cublasGetProperty");
        text += (text.empty() ? "" : ".") + std::to_string(value);
    }
    return text;
}

std::vector<std::string> Cublas::types() {
    std::vector<std::string> names;
    for (const auto& type : vendor_types()) names.emplace_back(type.name);
    return names;
}

bool Cublas::has(std::string_view type) { return vendor_type(type) != nullptr; }

VendorKernel Cublas::gemm(const Problem& problem) const {
    const auto kind = gemm_kind(problem);
    const auto& type = *vendor_type(problem.type);
    // For FP32, calls cublasSgemm, because that is what programs usually call.
    const bool is_sgemm = type.data == CUDA_R_32F && type.compute == CUBLAS_COMPUTE_32F;
    const bool is_single = kind == GemmKind::single;
    const auto* const name = is_sgemm ? (is_single ? "cublasSgemm" : "cublasSgemmStridedBatched")
                                      : (is_single ? "cublasGemmEx" : "cublasGemmStridedBatchedEx");
    auto work = [session = session_, is_single, is_sgemm, type, name, layout = problem.layout](
                    StreamHandle stream, const GemmArguments& given) {
        const auto product = column_major(given, layout);
        const auto& [first, second] = std::tie(product.first, product.second);
        const auto& api = session->api;
        const auto op_a = cublas_operation(first.transposed);
        const auto op_b = cublas_operation(second.transposed);
        const int lda = int_stride(first.stride, name);
        const int ldb = int_stride(second.stride, name);
        const int ldc = int_stride(product.result_stride, name);
        session->use(stream);
        if (!is_sgemm) {
            const auto status =
                is_single ? api.gemm_ex(session->handle, op_a, op_b, product.m, product.n, product.k, &given.alpha,
                                        first.data, type.data, lda, second.data, type.data, ldb, &given.beta,
                                        product.result, type.data, ldc, type.compute, CUBLAS_GEMM_DEFAULT)
                          : api.gemm_strided_batched_ex(session->handle, op_a, op_b, product.m, product.n, product.k,
                                                        &given.alpha, first.data, type.data, lda, first.batch_stride,
                                                        second.data, type.data, ldb, second.batch_stride, &given.beta,
                                                        product.result, type.data, ldc, product.result_batch_stride,
                                                        product.batch, type.compute, CUBLAS_GEMM_DEFAULT);
            return api.launched(status, name);
        }
        const auto* const a = static_cast<const float*>(first.data);
        const auto* const b = static_cast<const float*>(second.data);
        auto* const c = static_cast<float*>(product.result);
        const auto status =
            is_single ? api.sgemm(session->handle, op_a, op_b, product.m, product.n, product.k, &given.alpha, a, lda, b,
                                  ldb, &given.beta, c, ldc)
                      : api.sgemm_strided_batched(session->handle, op_a, op_b, product.m, product.n, product.k,
                                                  &given.alpha, a, lda, first.batch_stride, b, ldb, second.batch_stride,
                                                  &given.beta, c, ldc, product.result_batch_stride, product.batch);
        api.launched(status, name);
    };
    return {name, std::make_unique<VendorCall>(kind, std::move(work))};
}

}  // namespace smemtune
