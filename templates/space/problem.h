// A problem: an operation with its element type, layout and extents.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace smemtune {

struct Problem {
    std::string operation;                                      ///< such as "gemm"
    std::string type = "f32";                                   ///< the name of an ElementType
    std::string layout;                                         ///< such as "nn"; empty if the operation has no layouts
    std::vector<std::pair<std::string, std::int64_t>> extents;  ///< in the operation's order, such as M, N, K

    auto operator<=>(const Problem&) const = default;
};

/// Whether an extent is from 1 to 2^31 - 1. Kernels take extents as int, and no kernel is tuned for an extent of 0.
constexpr bool is_valid_extent(std::int64_t value) { return value >= 1 && value <= 2147483647; }

/// Returns the problem C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C, row-major.
inline Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::string type = "f32",
                    std::string layout = "nn") {
    return {"gemm", std::move(type), std::move(layout), {{"M", m}, {"N", n}, {"K", k}}};
}

/// Returns the problem C[i][m,n] = alpha * op(A[i])[m,k] * op(B[i])[k,n] + beta * C[i] for every i < batch, row-major.
inline Problem batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string type = "f32", std::string layout = "nn") {
    return {"batched_gemm", std::move(type), std::move(layout), {{"BATCH", batch}, {"M", m}, {"N", n}, {"K", k}}};
}

/// Returns the extents as a text such as `4096x4096x128`.
inline std::string size_text(const Problem& problem) {
    std::string text;
    for (const auto& [name, value] : problem.extents) text += (text.empty() ? "" : "x") + std::to_string(value);
    return text;
}

/// Returns a text such as `gemm f32 nn 4096x4096x128`.
inline std::string to_text(const Problem& problem) {
    return problem.operation + " " + problem.type + (problem.layout.empty() ? "" : " " + problem.layout) + " " +
           size_text(problem);
}

}  // namespace smemtune
