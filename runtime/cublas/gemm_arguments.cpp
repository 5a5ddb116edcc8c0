#include "runtime/cublas/gemm_arguments.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smemtune {

namespace {

template <class Visit>
void in_order(GemmArguments& of, GemmKind kind, const Visit& visit) {
    const bool batched = kind == GemmKind::batched;
    if (batched) visit(of.batch);
    visit(of.m);
    visit(of.n);
    visit(of.k);
    visit(of.alpha);
    visit(of.a);
    visit(of.lda);
    if (batched) visit(of.stride_a);
    visit(of.b);
    visit(of.ldb);
    if (batched) visit(of.stride_b);
    visit(of.beta);
    visit(of.c);
    visit(of.ldc);
    if (batched) visit(of.stride_c);
}

}  // namespace

GemmKind gemm_kind(const Problem& problem) {
    return problem.operation == "batched_gemm" ? GemmKind::batched : GemmKind::single;
}

std::optional<GemmKind> gemm_kind(const Operation& operation) {
    static constexpr std::array<std::string_view, 11> single{"M", "N",   "K",    "alpha", "A",  "lda",
                                                             "B", "ldb", "beta", "C",     "ldc"};
    static constexpr std::array<std::string_view, 15> batched{"BATCH",    "M",    "N",        "K",   "alpha",
                                                              "A",        "lda",  "stride_a", "B",   "ldb",
                                                              "stride_b", "beta", "C",        "ldc", "stride_c"};
    const auto takes = [&](const auto& names) {
        return std::ranges::equal(operation.arguments, names, {}, &Argument::name) &&
               std::ranges::all_of(operation.layouts, [](const auto& layout) {
                   return layout.second.contains("TRANSPOSE_A") && layout.second.contains("TRANSPOSE_B");
               });
    };
    if (std::ranges::any_of(operation.arguments, [](const Argument& each) { return each.type.has_value(); })) {
        return std::nullopt;
    }
    if (operation.name == "gemm" && takes(single)) return GemmKind::single;
    if (operation.name == "batched_gemm" && takes(batched)) return GemmKind::batched;
    return std::nullopt;
}

GemmShapes stored_shapes(const GemmArguments& arguments, bool transposed_a, bool transposed_b) {
    const auto& [m, n, k] = std::tie(arguments.m, arguments.n, arguments.k);
    GemmShapes shapes{.a = {m, k}, .b = {k, n}, .c = {m, n}};
    if (transposed_a) std::swap(shapes.a.rows, shapes.a.columns);
    if (transposed_b) std::swap(shapes.b.rows, shapes.b.columns);
    return shapes;
}

GemmArguments gemm_extents(const Problem& problem, GemmKind kind) {
    const bool batched = kind == GemmKind::batched;
    const auto extent = [&](std::size_t i) { return static_cast<int>(problem.extents[i].second); };
    const std::size_t first = batched ? 1 : 0;
    return {.batch = batched ? extent(0) : 1, .m = extent(first), .n = extent(first + 1), .k = extent(first + 2)};
}

GemmArguments packed_gemm(const Problem& problem) {
    const auto kind = gemm_kind(problem);
    auto arguments = gemm_extents(problem, kind);
    const auto shapes = stored_shapes(arguments, problem.layout.at(0) == 't', problem.layout.at(1) == 't');
    arguments.lda = shapes.a.columns;
    arguments.ldb = shapes.b.columns;
    arguments.ldc = shapes.c.columns;
    if (kind == GemmKind::batched) {
        arguments.stride_a = shapes.a.rows * arguments.lda;
        arguments.stride_b = shapes.b.rows * arguments.ldb;
        arguments.stride_c = shapes.c.rows * arguments.ldc;
    }
    return arguments;
}

GemmArguments gemm_arguments(void* const* arguments, GemmKind kind) {
    GemmArguments result;
    in_order(result, kind,
             [&](auto& value) { value = *static_cast<std::remove_reference_t<decltype(value)>*>(*arguments++); });
    return result;
}

std::array<void*, 15> addresses_of(GemmArguments& arguments, GemmKind kind) {
    std::array<void*, 15> addresses{};
    auto* next = addresses.begin();
    in_order(arguments, kind, [&](auto& value) { *next++ = &value; });
    return addresses;
}

ColumnMajorGemm column_major(const GemmArguments& arguments, const std::string& layout) {
    const auto& [batch, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c] = arguments;
    const bool transposed_a = layout.at(0) == 't';
    const bool transposed_b = layout.at(1) == 't';
    ColumnMajorGemm result{
        .batch = batch, .m = n, .n = m, .k = k, .result = c, .result_stride = ldc, .result_batch_stride = stride_c};
    const auto shapes = stored_shapes(arguments, transposed_a, transposed_b);
    result.first = {b, transposed_b, shapes.b.columns, shapes.b.rows, ldb, stride_b};
    result.second = {a, transposed_a, shapes.a.columns, shapes.a.rows, lda, stride_a};
    return result;
}

}  // namespace smemtune
