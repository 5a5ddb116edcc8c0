// A problem: an operation with its element type and extents.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace smemtune {

struct Problem {
    std::string operation;                                      ///< "gemm"
    std::string type = "f32";                                   ///< numerics class
    std::string layout;                                         ///< "nn"; empty for an operation without layouts
    std::vector<std::pair<std::string, std::int64_t>> extents;  ///< in the operation's order: M, N, K

    auto operator<=>(const Problem&) const = default;
};

/// Kernels take extents as int, and compute nothing for an extent of 0.
constexpr bool is_valid_extent(std::int64_t value) { return value >= 1 && value <= 2147483647; }

/// C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C, row-major.
inline Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::string type = "f32",
                    std::string layout = "nn") {
    return {"gemm", std::move(type), std::move(layout), {{"M", m}, {"N", n}, {"K", k}}};
}

/// C[i][m,n] = alpha * op(A[i])[m,k] * op(B[i])[k,n] + beta * C[i] for every i < batch, row-major.
inline Problem batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string type = "f32", std::string layout = "nn") {
    return {"batched_gemm", std::move(type), std::move(layout), {{"BATCH", batch}, {"M", m}, {"N", n}, {"K", k}}};
}

/// The extents alone, `4096x4096x128`.
inline std::string size_text(const Problem& problem) {
    std::string text;
    for (const auto& [name, value] : problem.extents) text += (text.empty() ? "" : "x") + std::to_string(value);
    return text;
}

/// `gemm f32 nn 4096x4096x128`.
inline std::string to_text(const Problem& problem) {
    return problem.operation + " " + problem.type + (problem.layout.empty() ? "" : " " + problem.layout) + " " +
           size_text(problem);
}

}  // namespace smemtune
