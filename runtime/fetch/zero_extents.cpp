#include "runtime/fetch/zero_extents.h"

#include <algorithm>

namespace smemtune {

Problem without_zero_extents(const Problem& problem, const std::vector<KernelTemplate>& templates) {
    auto result = problem;
    const auto is_zero = [](const auto& extent) { return extent.second == 0; };
    const auto is_product = [&](const KernelTemplate& each) {
        return each.operation.name == problem.operation && gemm_kind(each.operation);
    };
    if (std::ranges::none_of(problem.extents, is_zero) || std::ranges::none_of(templates, is_product)) return result;
    for (auto& [name, value] : result.extents) {
        if (value == 0) value = 1;
    }
    return result;
}

bool is_empty(const GemmArguments& product) { return product.batch == 0 || product.m == 0 || product.n == 0; }

void skip_products(GemmArguments& product) {
    if (product.k != 0 && product.alpha != 0) return;
    product.k = 0;
    product.alpha = 0;
}

bool is_verified_without_products(const Operation& operation) {
    return std::ranges::any_of(operation.checks, [](const Check& check) { return check.extents.contains("K"); });
}

}  // namespace smemtune
