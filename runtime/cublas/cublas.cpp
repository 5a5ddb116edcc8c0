#include "runtime/cublas/cublas.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <array>
#include <functional>
#include <limits>
#include <optional>

#include "runtime/cublas/gemm_arguments.h"
#include "runtime/cuda/toolkit_library.h"

namespace smemtune {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

// libcublas brings libcublasLt, so one handle finds those of both.
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
        find("cublasSgemmStridedBatched", sgemm_strided_batched);
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
        find("cublasLtMatrixLayoutSetAttribute", lt_matrix_attribute);
    }

    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasGetProperty) property = nullptr;
    decltype(&cublasGetStatusName) status_name = nullptr;
    decltype(&cublasSetMathMode) set_math_mode = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasSgemm_v2) sgemm = nullptr;
    decltype(&cublasSgemmStridedBatched) sgemm_strided_batched = nullptr;
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
    decltype(&cublasLtMatrixLayoutSetAttribute) lt_matrix_attribute = nullptr;

    // What cuBLAS refuses while it is made ready makes it useless here.
    void prepare(cublasStatus_t status, const char* what) const {
        if (status != CUBLAS_STATUS_SUCCESS) throw VendorError(text(status, what));
    }
    // What it refuses to launch, another algorithm may compute.
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

int leading_dimension(std::int64_t stride) {
    if (stride > std::numeric_limits<int>::max()) {
        throw LaunchError("a leading dimension of " + std::to_string(stride) + " exceeds 2147483647, the most that " +
                          "cublasSgemm takes; pack the rows closer");
    }
    return static_cast<int>(stride);
}

cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

struct Cublas::Session {
    CublasApi api;
    std::unique_ptr<Memory> workspace;
    cublasHandle_t handle = nullptr;
    cublasLtHandle_t light = nullptr;

    Session(Backend& backend, const std::vector<std::string>& names) : api(names) {
        backend.make_current();  // handles belong to the current device
        workspace = backend.allocate(workspace_bytes);
        api.prepare(api.create(&handle), "cublasCreate");
        try {
            api.prepare(api.set_math_mode(handle, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
            api.prepare(api.lt_create(&light), "cublasLtCreate");
        } catch (const VendorError&) {
            api.destroy(handle);
            throw;
        }
    }
    ~Session() {
        api.lt_destroy(light);
        api.destroy(handle);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Only when it changes: setting the stream takes the workspace away, and costs an application nothing at each call.
    void use(StreamHandle stream) const {
        if (stream_ == stream) return;
        api.run(api.set_stream(handle, stream), "cublasSetStream");
        api.run(api.set_workspace(handle, workspace->data(), workspace_bytes), "cublasSetWorkspace");
        stream_ = stream;
    }

private:
    mutable std::optional<StreamHandle> stream_;
};

namespace {

using SharedApi = std::shared_ptr<const CublasApi>;  // shares the ownership of a session

// Descriptors of one product, which its proposals share.
class Plan {
public:
    Plan(SharedApi api, const ColumnMajorGemm& product) : api_(std::move(api)), product_(product) {
        try {
            api_->prepare(api_->lt_product_create(&description_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
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
    ~Plan() { destroy(); }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> ask(cublasLtHandle_t light, int most) const {
        cublasLtMatmulPreference_t preference = nullptr;
        api_->prepare(api_->lt_preference_create(&preference), "cublasLtMatmulPreferenceCreate");
        const std::uint64_t bytes = workspace_bytes;
        std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
        int count = 0;
        auto status =
            api_->lt_preference_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
        if (status == CUBLAS_STATUS_SUCCESS) {
            status = api_->lt_heuristic(light, description_, first_, second_, result_, result_, preference, most,
                                        found.data(), &count);
        }
        api_->lt_preference_destroy(preference);
        if (status != CUBLAS_STATUS_NOT_SUPPORTED) api_->prepare(status, "cublasLtMatmulAlgoGetHeuristic");
        found.resize(static_cast<std::size_t>(count));
        std::erase_if(found, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
        return found;
    }

    void launch(cublasLtHandle_t light, const GemmArguments& given, const ColumnMajorGemm& product,
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
        api_->run(api_->lt_matmul(light, description_, &given.alpha, product.first.data, first_, product.second.data,
                                  second_, &given.beta, product.result, result_, product.result, result_, &algorithm,
                                  workspace, workspace_bytes, stream),
                  "cublasLtMatmul");
    }

private:
    void transpose(cublasLtMatmulDescAttributes_t which, const ColumnMajorGemm::Matrix& matrix) {
        const auto value = operation(matrix.transposed);
        api_->prepare(api_->lt_product_attribute(description_, which, &value, sizeof value),
                      "cublasLtMatmulDescSetAttribute");
    }
    void create(cublasLtMatrixLayout_t& matrix, const ColumnMajorGemm::Matrix& stored) {
        api_->prepare(api_->lt_matrix_create(&matrix, CUDA_R_32F, static_cast<std::uint64_t>(stored.rows),
                                             static_cast<std::uint64_t>(stored.columns), stored.stride),
                      "cublasLtMatrixLayoutCreate");
        if (product_.batch == 1) return;
        const std::int32_t count = product_.batch;
        const auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto& value) {
            api_->prepare(api_->lt_matrix_attribute(matrix, which, &value, sizeof value),
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
    ColumnMajorGemm product_;
    cublasLtMatmulDesc_t description_ = nullptr;
    cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
};

class VendorLaunch : public LoadedKernel {
public:
    using Work = std::function<void(StreamHandle stream, const GemmArguments& given)>;
    VendorLaunch(GemmKind kind, Work work) : kind_(kind), work_(std::move(work)) {}
    void launch(StreamHandle stream, const Launch&, void* const* arguments) const override {
        work_(stream, gemm_arguments(arguments, kind_));
    }

private:
    GemmKind kind_;
    Work work_;
};

// The numbers that name an algorithm within one version of the library.
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

ColumnMajorGemm packed(const Problem& problem) {
    const bool batched = gemm_kind(problem) == GemmKind::batched;
    const auto extent = [&](std::size_t i) { return static_cast<int>(problem.extents.at(i).second); };
    const std::size_t first = batched ? 1 : 0;
    GemmArguments arguments{
        .batch = batched ? extent(0) : 1, .m = extent(first), .n = extent(first + 1), .k = extent(first + 2)};
    arguments.lda = problem.layout.at(0) == 't' ? arguments.m : arguments.k;
    arguments.ldb = problem.layout.at(1) == 't' ? arguments.k : arguments.n;
    arguments.ldc = arguments.n;
    if (batched) {
        arguments.stride_a = std::int64_t{arguments.m} * arguments.k;
        arguments.stride_b = std::int64_t{arguments.k} * arguments.n;
        arguments.stride_c = std::int64_t{arguments.m} * arguments.n;
    }
    return column_major(arguments, problem.layout);
}

}  // namespace

Cublas::Cublas(Backend& backend, const std::vector<std::string>& names)
    : session_(std::make_shared<const Session>(backend, names)) {}

std::vector<std::string> Cublas::usual_names() { return toolkit_library_names("libcublas"); }

std::string Cublas::version() const {
    std::string text;
    for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int value = 0;
        session_->api.prepare(session_->api.property(part, &value), "cublasGetProperty");
        text += (text.empty() ? "" : ".") + std::to_string(value);
    }
    return text;
}

std::unique_ptr<LoadedKernel> Cublas::gemm(const Problem& problem) const {
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
            api.run(api.sgemm(session->handle, operation(first.transposed), operation(second.transposed), product.m,
                              product.n, product.k, &given.alpha, of(first), leading_dimension(first.stride),
                              of(second), leading_dimension(second.stride), &given.beta, result, ldc),
                    "cublasSgemm");
            return;
        }
        api.run(api.sgemm_strided_batched(session->handle, operation(first.transposed), operation(second.transposed),
                                          product.m, product.n, product.k, &given.alpha, of(first),
                                          leading_dimension(first.stride), first.batch_stride, of(second),
                                          leading_dimension(second.stride), second.batch_stride, &given.beta, result,
                                          ldc, product.result_batch_stride, product.batch),
                "cublasSgemmStridedBatched");
    };
    return std::make_unique<VendorLaunch>(kind, std::move(work));
}

std::vector<VendorKernel> Cublas::proposals(const Problem& problem, int most) const {
    const auto plan = std::make_shared<const Plan>(SharedApi(session_, &session_->api), packed(problem));
    std::vector<VendorKernel> kernels;
    for (const auto& proposal : plan->ask(session_->light, most)) {
        auto work = [session = session_, plan, algorithm = proposal.algo, layout = problem.layout](
                        StreamHandle stream, const GemmArguments& given) {
            plan->launch(session->light, given, column_major(given, layout), algorithm, session->workspace->data(),
                         stream);
        };
        kernels.push_back({describe(session_->api, proposal.algo),
                           std::make_unique<VendorLaunch>(gemm_kind(problem), std::move(work))});
    }
    return kernels;
}

}  // namespace smemtune
