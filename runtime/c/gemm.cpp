// The C interface of matrix products: calls that fetch and launch a kernel, and launches of a fetched kernel.
#include <algorithm>
#include <initializer_list>

#include "runtime/c/handles.h"
#include "runtime/c/status.h"

namespace smemtune {

namespace {

// Converts a leading dimension of the C interface to a leading dimension of GemmOperands, where 0 means packed rows. In
// the C interface, 0 is an error, because it is probably a value that the caller forgot to set.
std::int64_t leading_dimension(std::int64_t given, const char* name) {
    if (given == 0) throw std::invalid_argument(std::string(name) + "=0; write SMEMTUNE_PACKED for packed rows");
    return given == SMEMTUNE_PACKED ? 0 : given;
}

std::optional<std::int64_t> batch_stride(std::int64_t given) {
    return given == SMEMTUNE_PACKED ? std::nullopt : std::optional(given);
}

// Throws std::invalid_argument if an address that the product needs is null. `problem` must be a gemm or a
// batched_gemm, whose last extent is K.
void require_addresses(const Problem& problem, const GemmOperands& operands) {
    const auto is_zero = [](const auto& extent) { return extent.second == 0; };
    const auto& extents = problem.extents;
    if (extents.empty() || std::any_of(extents.begin(), extents.end() - 1, is_zero)) return;  // C has no elements
    if (operands.c == nullptr) throw std::invalid_argument("c is null");
    if (is_zero(extents.back()) || operands.alpha == 0) return;  // A and B are not read and may be null
    if (operands.a == nullptr) throw std::invalid_argument("a is null");
    if (operands.b == nullptr) throw std::invalid_argument("b is null");
}

void launch_product(const Kernel& kernel, smemtune_stream stream, GemmOperands operands) {
    operands.lda = leading_dimension(operands.lda, "lda");
    operands.ldb = leading_dimension(operands.ldb, "ldb");
    operands.ldc = leading_dimension(operands.ldc, "ldc");
    require_addresses(kernel.problem(), operands);
    kernel.launch(stream, operands);
}

// Writes type, layout and extents into `kept`, a thread_local problem. Repeated calls reuse the memory of `kept` and
// allocate nothing.
const Problem& fill_in(Problem& kept, const char* type, const char* layout,
                       std::initializer_list<std::int64_t> extents) {
    kept.type = &required(type, "type");
    kept.layout = &required(layout, "layout");
    auto extent = kept.extents.begin();
    for (const auto value : extents) (extent++)->second = value;
    return kept;
}

}  // namespace

}  // namespace smemtune

smemtune_status smemtune_gemm(smemtune_runtime* runtime, smemtune_stream stream, const char* type, const char* layout,
                              int64_t m, int64_t n, int64_t k, double alpha, const void* a, int64_t lda, const void* b,
                              int64_t ldb, double beta, void* c, int64_t ldc) {
    using namespace smemtune;
    return status_of([&] {
        auto& fetching = required(runtime, "runtime").runtime;
        thread_local Problem kept = gemm(0, 0, 0);
        launch_product(fetching.fetch(fill_in(kept, type, layout, {m, n, k})), stream,
                       {.a = a, .b = b, .c = c, .lda = lda, .ldb = ldb, .ldc = ldc, .alpha = alpha, .beta = beta});
    });
}

smemtune_status smemtune_batched_gemm(smemtune_runtime* runtime, smemtune_stream stream, const char* type,
                                      const char* layout, int64_t batch, int64_t m, int64_t n, int64_t k, double alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, double beta, void* c, int64_t ldc, int64_t stride_c) {
    using namespace smemtune;
    return status_of([&] {
        auto& fetching = required(runtime, "runtime").runtime;
        thread_local Problem kept = batched_gemm(0, 0, 0, 0);
        launch_product(fetching.fetch(fill_in(kept, type, layout, {batch, m, n, k})), stream,
                       {.a = a,
                        .b = b,
                        .c = c,
                        .lda = lda,
                        .ldb = ldb,
                        .ldc = ldc,
                        .alpha = alpha,
                        .beta = beta,
                        .batch_stride_a = batch_stride(stride_a),
                        .batch_stride_b = batch_stride(stride_b),
                        .batch_stride_c = batch_stride(stride_c)});
    });
}

smemtune_status smemtune_launch_gemm(const smemtune_kernel* kernel, smemtune_stream stream, double alpha, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, double beta, void* c, int64_t ldc) {
    using namespace smemtune;
    return status_of([&] {
        launch_product(required(kernel, "kernel").kernel, stream,
                       {.a = a, .b = b, .c = c, .lda = lda, .ldb = ldb, .ldc = ldc, .alpha = alpha, .beta = beta});
    });
}

smemtune_status smemtune_launch_batched_gemm(const smemtune_kernel* kernel, smemtune_stream stream, double alpha,
                                             const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                             int64_t stride_b, double beta, void* c, int64_t ldc, int64_t stride_c) {
    using namespace smemtune;
    return status_of([&] {
        launch_product(required(kernel, "kernel").kernel, stream,
                       {.a = a,
                        .b = b,
                        .c = c,
                        .lda = lda,
                        .ldb = ldb,
                        .ldc = ldc,
                        .alpha = alpha,
                        .beta = beta,
                        .batch_stride_a = batch_stride(stride_a),
                        .batch_stride_b = batch_stride(stride_b),
                        .batch_stride_c = batch_stride(stride_c)});
    });
}
