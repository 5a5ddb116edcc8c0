// Makes kernels from the algorithms that cublasLt's heuristic proposes.
#include <array>

#include "runtime/cublas/cublas_session.h"

namespace smemtune {

namespace {

using SharedApi = std::shared_ptr<const CublasApi>;  // keeps alive the Cublas::Session that contains the CublasApi

// The cublasLt descriptors of one matrix product. All algorithms that are proposed for the product share them.
class LtProduct {
public:
    LtProduct(SharedApi api, const VendorType& type, const ColumnMajorGemm& product)
        : api_(std::move(api)), type_(type), product_(product) {
        try {
            api_->require(api_->lt_product_create(&description_, type_.compute, CUDA_R_32F),
                          "cublasLtMatmulDescCreate");
            transpose(CUBLASLT_MATMUL_DESC_TRANSA, product.first);
            transpose(CUBLASLT_MATMUL_DESC_TRANSB, product.second);
            create(first_, product.first);
            create(second_, product.second);
            create(result_, {.rows = product.m,
                             .columns = product.n,
                             .stride = product.result_stride,
                             .batch_stride = product.result_batch_stride});
        } catch (...) {
            destroy();
            throw;
        }
    }
    ~LtProduct() { destroy(); }
    LtProduct(const LtProduct&) = delete;
    LtProduct& operator=(const LtProduct&) = delete;

    [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> proposals(cublasLtHandle_t lt_handle, int most) const {
        cublasLtMatmulPreference_t preference = nullptr;
        api_->require(api_->lt_preference_create(&preference), "cublasLtMatmulPreferenceCreate");
        const std::uint64_t bytes = cublas_workspace_bytes;
        std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
        int count = 0;
        auto status =
            api_->lt_preference_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
        if (status == CUBLAS_STATUS_SUCCESS) {
            status = api_->lt_heuristic(lt_handle, description_, first_, second_, result_, result_, preference, most,
                                        found.data(), &count);
        }
        api_->lt_preference_destroy(preference);
        if (status != CUBLAS_STATUS_NOT_SUPPORTED) api_->require(status, "cublasLtMatmulAlgoGetHeuristic");
        found.resize(static_cast<std::size_t>(count));
        std::erase_if(found, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
        return found;
    }

    void launch(cublasLtHandle_t lt_handle, const GemmArguments& given, const ColumnMajorGemm& product,
                const cublasLtMatmulAlgo_t& algorithm, void* workspace, StreamHandle stream) const {
        const auto same = [](const ColumnMajorGemm::Matrix& x, const ColumnMajorGemm::Matrix& y) {
            return x.rows == y.rows && x.columns == y.columns && x.stride == y.stride &&
                   x.batch_stride == y.batch_stride;
        };
        if (!same(product.first, product_.first) || !same(product.second, product_.second) ||
            product.result_stride != product_.result_stride || product.batch != product_.batch ||
            product.result_batch_stride != product_.result_batch_stride) {
            throw LaunchError("this algorithm of cublasLt was chosen for other extents or strides");
        }
        api_->launched(api_->lt_matmul(lt_handle, description_, &given.alpha, product.first.data, first_,
                                       product.second.data, second_, &given.beta, product.result, result_,
                                       product.result, result_, &algorithm, workspace, cublas_workspace_bytes, stream),
                       "cublasLtMatmul");
    }

private:
    void transpose(cublasLtMatmulDescAttributes_t which, const ColumnMajorGemm::Matrix& matrix) {
        const auto value = cublas_operation(matrix.transposed);
        api_->require(api_->lt_product_attribute(description_, which, &value, sizeof value),
                      "cublasLtMatmulDescSetAttribute");
    }
    void create(cublasLtMatrixLayout_t& matrix, const ColumnMajorGemm::Matrix& stored) {
        api_->require(api_->lt_matrix_create(&matrix, type_.data, static_cast<std::uint64_t>(stored.rows),
                                             static_cast<std::uint64_t>(stored.columns), stored.stride),
                      "cublasLtMatrixLayoutCreate");
        if (product_.batch == 1) return;
        const std::int32_t count = product_.batch;
        const auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto& value) {
            api_->require(api_->lt_matrix_attribute(matrix, which, &value, sizeof value),
                          "cublasLtMatrixLayoutSetAttribute");
        };
        set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
        set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stored.batch_stride);
    }
    void destroy() {
        for (auto* matrix : {first_, second_, result_}) {
            if (matrix != nullptr) api_->lt_matrix_destroy(matrix);
        }
        if (description_ != nullptr) api_->lt_product_destroy(description_);
    }

    SharedApi api_;
    VendorType type_;
    ColumnMajorGemm product_;
    cublasLtMatmulDesc_t description_ = nullptr;
    cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
};

// The numbers that identify an algorithm within one version of cublasLt.
std::string describe(const CublasApi& api, const cublasLtMatmulAlgo_t& algorithm) {
    static constexpr std::array<std::pair<cublasLtMatmulAlgoConfigAttributes_t, const char*>, 4> attributes{
        {{CUBLASLT_ALGO_CONFIG_ID, "algorithm"},
         {CUBLASLT_ALGO_CONFIG_TILE_ID, "tile"},
         {CUBLASLT_ALGO_CONFIG_STAGES_ID, "stages"},
         {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "split-K"}}};
    std::string text;
    for (const auto& [attribute, name] : attributes) {
        std::int32_t value = 0;
        std::size_t written = 0;
        const auto status = api.lt_algorithm_attribute(&algorithm, attribute, &value, sizeof value, &written);
        if (status != CUBLAS_STATUS_SUCCESS) continue;
        text += (text.empty() ? "" : " ") + std::string(name) + " " + std::to_string(value);
    }
    return text;
}

}  // namespace

std::vector<VendorKernel> Cublas::proposals(const Problem& problem, int most) const {
    const auto product =
        std::make_shared<const LtProduct>(SharedApi(session_, &session_->api), *vendor_type(problem.type),
                                          column_major(packed_gemm(problem), problem.layout));
    std::vector<VendorKernel> kernels;
    for (const auto& proposal : product->proposals(session_->lt_handle, most)) {
        auto work = [session = session_, product, algorithm = proposal.algo, layout = problem.layout](
                        StreamHandle stream, const GemmArguments& given) {
            product->launch(session->lt_handle, given, column_major(given, layout), algorithm,
                            session->workspace->data(), stream);
        };
        kernels.push_back({describe(session_->api, proposal.algo),
                           std::make_unique<VendorCall>(gemm_kind(problem), std::move(work))});
    }
    return kernels;
}

}  // namespace smemtune
