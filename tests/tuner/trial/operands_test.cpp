#include "tuner/trial/operands.h"

#include <gmock/gmock.h>

#include <tuple>

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

// In GiB at 4096: the operands of a check and the rotating ones, and a reference of 16 bytes an element.
TEST(Operands, OfNarrowElementsNeedRoomForTheirWideCopies) {
    const auto operation = gemm_operation();
    const Device device{.name = "made up", .memory_bytes = 1LL << 28};
    const auto matrix = [](double bytes) { return bytes * 4096 * 4096; };
    for (const auto& [type, bytes, wide, needed] : {std::tuple{"f32", 4, 0, "0.625"},
                                                    {"f16", 2, 4, "0.625"},
                                                    {"bf16", 2, 4, "0.625"},
                                                    {"tf32", 4, 4, "0.8125"}}) {
        const auto problem = gemm(4096, 4096, 4096, type);
        try {
            must_fit(operation, problem, device);
            ADD_FAILURE() << type << ": nothing was thrown";
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), HasSubstr(std::string(" needs ") + needed + " GiB to be tried"));
        }
        const auto checks = static_cast<double>(operation.checks.size());
        EXPECT_EQ(testbed_bytes(operation, problem, device),
                  checks * matrix(3 * bytes + 16) + matrix(3 * bytes) + matrix(3 * wide))
            << type;
    }
}

}  // namespace
}  // namespace smemtune
