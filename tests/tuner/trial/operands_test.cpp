#include "tuner/trial/operands.h"

#include <gmock/gmock.h>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

Operation gemm_operation() {
    const auto& kernels = builtin_templates();
    return std::ranges::find(kernels, "naive", &KernelTemplate::name)->operation;
}

TEST(Operands, RotateUntilTheyExceedTwiceTheCacheOrThereAreManySets) {
    const auto operation = gemm_operation();
    const Device device{.name = "made up", .l2_bytes = 1 << 20};
    const auto sets = [&](std::int64_t n) {
        return rotating_sets(operation, environment_of(operation, gemm(n, n, n), device), 4, device);
    };
    EXPECT_EQ(sets(512), 1) << "three matrices of 1 MiB";
    EXPECT_EQ(sets(256), 3) << "2 MiB in sets of 0.75 MiB";
    EXPECT_EQ(sets(8), 64);
}

TEST(Operands, WhatTheMemoryCannotHoldIsRefusedAndWithoutALimitNothingIs) {
    const auto operation = gemm_operation();
    Device device{.name = "made up", .l2_bytes = 1 << 20, .memory_bytes = 1LL << 30};
    EXPECT_NO_THROW(must_fit(operation, gemm(1024, 1024, 1024), device));
    try {
        must_fit(operation, gemm(16384, 16384, 16384), device);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), HasSubstr("gemm f32 nn 16384x16384x16384 needs 10 GiB to be tried"));
        EXPECT_THAT(error.what(), HasSubstr("made up has 1 GiB; leave it out"));
    }
    device.memory_bytes = 0;
    EXPECT_NO_THROW(must_fit(operation, gemm(16384, 16384, 16384), device));
}

}  // namespace
}  // namespace smemtune
