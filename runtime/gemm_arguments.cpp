#include "runtime/gemm_arguments.h"

#include <algorithm>

namespace smemtune {

bool takes_gemm_arguments(const Operation& operation) {
    static constexpr std::array names{"M", "N", "K", "alpha", "A", "lda", "B", "ldb", "beta", "C", "ldc"};
    return operation.name == "gemm" &&
           std::ranges::equal(operation.arguments, names, {}, [](const Argument& argument) { return argument.name; }) &&
           std::ranges::all_of(operation.layouts, [](const auto& layout) {
               return layout.second.contains("TRANSPOSE_A") && layout.second.contains("TRANSPOSE_B");
           });
}

GemmArguments gemm_arguments(void* const* arguments) {
    GemmArguments result;
    const auto take = [&](auto& value) {
        value = *static_cast<std::remove_reference_t<decltype(value)>*>(*arguments++);
    };
    take(result.m);
    take(result.n);
    take(result.k);
    take(result.alpha);
    take(result.a);
    take(result.lda);
    take(result.b);
    take(result.ldb);
    take(result.beta);
    take(result.c);
    take(result.ldc);
    return result;
}

ColumnMajorGemm column_major(const GemmArguments& arguments, const std::string& layout) {
    const auto& [m, n, k, alpha, a, lda, b, ldb, beta, c, ldc] = arguments;
    const bool transposed_a = layout.at(0) == 't';
    const bool transposed_b = layout.at(1) == 't';
    ColumnMajorGemm result{.m = n, .n = m, .k = k, .result = c, .result_stride = ldc};
    result.first = {b, transposed_b, transposed_b ? k : n, transposed_b ? n : k, ldb};
    result.second = {a, transposed_a, transposed_a ? m : k, transposed_a ? k : m, lda};
    return result;
}

}  // namespace smemtune
