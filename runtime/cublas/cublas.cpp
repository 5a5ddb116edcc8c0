#include "runtime/cublas/cublas.h"

#include <limits>
#include <tuple>

#include "runtime/cublas/cublas_session.h"
#include "runtime/cuda/toolkit_library.h"

namespace smemtune {

namespace {

int leading_dimension(std::int64_t stride) {
    if (stride > std::numeric_limits<int>::max()) {
        throw LaunchError("a leading dimension of " + std::to_string(stride) + " exceeds 2147483647, the most that " +
                          "cublasSgemm takes; pack the rows closer");
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

std::unique_ptr<BoundKernel> Cublas::gemm(const Problem& problem) const {
    const auto kind = gemm_kind(problem);
    auto work = [session = session_, kind, layout = problem.layout](StreamHandle stream, const GemmArguments& given) {
        const auto product = column_major(given, layout);
        const auto& [first, second] = std::tie(product.first, product.second);
        const auto of = [](const ColumnMajorGemm::Matrix& matrix) { return static_cast<const float*>(matrix.data); };
        const auto& api = session->api;
        auto* const result = static_cast<float*>(product.result);
        const int ldc = leading_dimension(product.result_stride);
        session->use(stream);
        if (kind == GemmKind::single) {
            api.launched(
                api.sgemm(session->handle, cublas_operation(first.transposed), cublas_operation(second.transposed),
                          product.m, product.n, product.k, &given.alpha, of(first), leading_dimension(first.stride),
                          of(second), leading_dimension(second.stride), &given.beta, result, ldc),
                "cublasSgemm");
            return;
        }
        api.launched(api.sgemm_strided_batched(
                         session->handle, cublas_operation(first.transposed), cublas_operation(second.transposed),
                         product.m, product.n, product.k, &given.alpha, of(first), leading_dimension(first.stride),
                         first.batch_stride, of(second), leading_dimension(second.stride), second.batch_stride,
                         &given.beta, result, ldc, product.result_batch_stride, product.batch),
                     "cublasSgemmStridedBatched");
    };
    return std::make_unique<VendorCall>(kind, std::move(work));
}

}  // namespace smemtune
