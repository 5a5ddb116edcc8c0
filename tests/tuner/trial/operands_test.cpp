#include "tuner/trial/operands.h"

#include <gmock/gmock.h>

#include <tuple>
#include <vector>

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

TEST(Operands, ANegativeNumberOfTermsIsRefused) {
    auto operation = gemm_operation();
    operation.terms = Expression("K - 100");
    const Device device{.name = "made up", .l2_bytes = 1 << 20};
    EXPECT_NO_THROW(must_fit(operation, gemm(8, 8, 100), device)) << "results must be exact";
    try {
        must_fit(operation, gemm(8, 8, 99), device);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), HasSubstr("'terms' of operation 'gemm' is -1; write the number of rounded"));
    }
}

// `needed` is the memory for 4096x4096x4096 in GiB. It holds the operands of one check, the rotating operands, FP32
// copies of narrow operands, and a reference of 16 bytes for each element of C.
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

TEST(Operands, FitUntilTheMemoryIsUsedUpToTheLastByte) {
    const auto operation = gemm_operation();
    const auto problem = gemm(256, 256, 256);
    Device device{.name = "made up", .l2_bytes = 1};
    // Memory is needed for the three matrices of a check, the three matrices of one rotating set, and a reference of
    // two doubles for each element of C.
    const std::int64_t needed = 2 * (3 * 256 * 256 * 4) + 256 * 256 * 16;
    device.memory_bytes = needed;
    EXPECT_NO_THROW(must_fit(operation, problem, device));
    device.memory_bytes = needed - 1;
    EXPECT_THROW(must_fit(operation, problem, device), std::invalid_argument);
    // With a larger cache, there is a second rotating set.
    device.l2_bytes = 3 * 256 * 256 * 4;
    device.memory_bytes = needed + 3 * 256 * 256 * 4;
    EXPECT_NO_THROW(must_fit(operation, problem, device));
    device.memory_bytes -= 1;
    EXPECT_THROW(must_fit(operation, problem, device), std::invalid_argument);
}

TEST(Operands, RotatingSetsAreTheFewestThatHoldTwiceTheCache) {
    const auto operation = gemm_operation();
    for (const std::int64_t l2_bytes : {0, 1, 1 << 20, 3 << 19, (3 << 19) + 1, 50 << 20}) {
        const Device device{.name = "made up", .l2_bytes = l2_bytes};
        for (const std::int64_t n : {1, 100, 512, 2000}) {
            const double bytes = 3 * 4 * static_cast<double>(n * n);
            const auto sets = rotating_sets(operation, environment_of(operation, gemm(n, n, n), device), 4, device);
            ASSERT_GE(sets, 1);
            ASSERT_LE(sets, 64);
            if (sets < 64) {
                EXPECT_GE(sets * bytes, 2.0 * static_cast<double>(l2_bytes));
            }
            if (sets > 1) {
                EXPECT_LT((sets - 1) * bytes, 2.0 * static_cast<double>(l2_bytes));
            }
        }
    }
}

TEST(Operands, OfTheHostAreFilledByABlockForEachMultiprocessorAndOfAGpuByEight) {
    EXPECT_EQ(matrix_blocks({.name = "host", .multiprocessors = 3}), 3);
    EXPECT_EQ(matrix_blocks({.name = "GPU", .compute_capability = 90, .multiprocessors = 3}), 24);
}

TEST(Operands, OutputsAreReadUnlessACheckPoisonsThemAndNoArgumentIsRead) {
    auto operation = gemm_operation();
    for (auto& argument : operation.arguments) argument.is_read = false;
    EXPECT_TRUE(reads_outputs(operation, {.poison = false}));
    EXPECT_FALSE(reads_outputs(operation, {.poison = true}));
    operation.arguments.back().is_read = true;
    EXPECT_TRUE(reads_outputs(operation, {.poison = true}));
}

TEST(Operands, AnArgumentHasItsRowsTimesItsColumnsTimesItsCount) {
    const auto& kernels = builtin_templates();
    const auto batched = std::ranges::find_if(kernels, [](const auto& each) {
                             return each.operation.name == "batched_gemm";
                         })->operation;
    const auto environment = environment_of(batched, batched_gemm(2, 3, 5, 7), model_device("sm_90"));
    std::vector<double> elements;
    for (const auto& argument : batched.arguments) {
        if (argument.is_matrix()) elements.push_back(elements_of(argument, environment));
    }
    EXPECT_EQ(elements, (std::vector<double>{2 * 3 * 7, 2 * 7 * 5, 2 * 3 * 5}));
    EXPECT_EQ(check_bytes(batched, environment, 4),
              static_cast<double>(batched.checks.size()) * (4 * (42 + 70 + 30) + 16 * 30));
}

}  // namespace
}  // namespace smemtune
