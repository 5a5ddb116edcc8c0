#include "templates/predict/row_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

const Operation& products() {
    return std::ranges::find(builtin_templates(), "tiled", &KernelTemplate::name)->operation;
}

RowAlignment of_products(const std::string& type, const std::string& layout) {
    return {products(), gemm(1, 1, 1, type, layout), model_device("sm_90")};
}

std::uint32_t bits(const RowAlignment& alignment, std::vector<std::int64_t> extents) {
    return alignment.of(extents).of_16_bytes;
}

// A row of A has K elements, a row of B or C has N elements. The lowest bit is that of A.
TEST(RowAlignment, HasABitForEachMatrixWhoseRowsAreMultiplesOf16Bytes) {
    const auto f32 = of_products("f32", "nn");
    EXPECT_EQ(bits(f32, {5, 8, 12}), 0b111);
    EXPECT_EQ(bits(f32, {8, 8, 13}), 0b110);
    EXPECT_EQ(bits(f32, {8, 6, 4}), 0b001);
    EXPECT_EQ(bits(f32, {8, 7, 5}), 0b000);
    const auto bf16 = of_products("bf16", "nn");
    EXPECT_EQ(bits(bf16, {5, 8, 12}), 0b110) << "12 elements are 24 bytes";
    EXPECT_EQ(bits(bf16, {5, 16, 8}), 0b111);
}

TEST(RowAlignment, HasAnotherBitForRowsThatAreMultiplesOf32Bytes) {
    const auto f32 = of_products("f32", "nn");
    EXPECT_EQ(f32.of(std::vector<std::int64_t>{5, 8, 12}), (WholeUnits{0b111, 0b110}));
    EXPECT_EQ(f32.of(std::vector<std::int64_t>{5, 12, 8}), (WholeUnits{0b111, 0b001}));
    EXPECT_EQ(of_products("bf16", "nn").of(std::vector<std::int64_t>{5, 24, 16}), (WholeUnits{0b111, 0b001}));
}

TEST(RowAlignment, LooksAtTheRowsThatTheLayoutGives) {
    const auto tt = of_products("f32", "tt");  // a row of A has M elements, a row of B has K, a row of C has N
    EXPECT_EQ(bits(tt, {4, 5, 7}), 0b001);
    EXPECT_EQ(bits(tt, {5, 7, 4}), 0b010);
    EXPECT_EQ(bits(tt, {5, 4, 7}), 0b100);
}

TEST(RowAlignment, IsTheSameForAllProblemsWithoutAnOperationAndForOtherExtents) {
    EXPECT_EQ(bits({}, {4, 4, 4}), 0);
    EXPECT_EQ(bits(of_products("f32", "nn"), {4, 4}), 0);
}

TEST(RowAlignment, RowsWhoseLengthOverflowsCountAsMisaligned) {
    auto operation = products();
    for (auto& argument : operation.arguments) {
        if (argument.is_matrix()) argument.columns = Expression("K * K * 4");
    }
    const RowAlignment alignment(operation, gemm(1, 1, 1), model_device("sm_90"));
    EXPECT_EQ(bits(alignment, {1, 1, 3}), 0b111);
    EXPECT_EQ(alignment.of(std::vector{std::int64_t{1}, std::int64_t{1}, std::int64_t{1} << 31}), WholeUnits{});
}

}  // namespace
}  // namespace smemtune
