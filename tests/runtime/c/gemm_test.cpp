#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/runtime/c/support.h"

namespace smemtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The operands of a product: a 2 x 3 and a 3 x 2 matrix of small integers, each as it is and transposed.
const std::vector<float> matrix_a{1, 2, 3, 4, 5, 6};
const std::vector<float> a_transposed{1, 4, 2, 5, 3, 6};
const std::vector<float> matrix_b{1, 0, 2, 1, 0, 3};
const std::vector<float> b_transposed{1, 2, 0, 0, 1, 3};

TEST_F(CInterface, AProductIsRightInItsLayout) {
    const auto runtime = open();
    for (const auto& [type, layout, left, lda, right, ldb] :
         {std::tuple("f32", "nn", &matrix_a, 3, &matrix_b, 2),
          std::tuple("f32", "tt", &a_transposed, 2, &b_transposed, 3),
          std::tuple("tf32", "nn", &matrix_a, 3, &matrix_b, 2),
          std::tuple("3xtf32", "nn", &matrix_a, 3, &matrix_b, 2)}) {
        std::vector<float> c{1, 1, 1, 1};
        ASSERT_EQ(smemtune_gemm(runtime.get(), nullptr, type, layout, 2, 2, 3, 2, left->data(), lda, right->data(), ldb,
                                10, c.data(), 2),
                  SMEMTUNE_OK)
            << type << " " << layout << ": " << smemtune_error_message();
        EXPECT_THAT(c, ElementsAre(20, 32, 38, 56)) << type << " " << layout;
    }
}

// Multiplies matrices with 16-bit elements. The scalars alpha and beta are doubles in the C interface.
TEST_F(CInterface, AProductOfSixteenBitsIsRightInItsType) {
    const auto runtime = open();
    using Halves = std::vector<std::uint16_t>;
    const auto expect = [&](const char* type, const Halves& a, const Halves& b, const Halves& expected) {
        Halves c(4, 0xffff);  // 0xffff is NaN in both types
        ASSERT_EQ(
            smemtune_gemm(runtime.get(), nullptr, type, "nn", 2, 2, 3, 0.5, a.data(), 3, b.data(), 2, 0, c.data(), 2),
            SMEMTUNE_OK)
            << type << ": " << smemtune_error_message();
        EXPECT_EQ(c, expected) << type;
    };
    // A = 1 2 3, 4 5 6; B = 1 0, 2 1, 0 3; half of A * B = 2.5 5.5, 7 11.5
    expect("f16", {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}, {0x3c00, 0, 0x4000, 0x3c00, 0, 0x4200},
           {0x4100, 0x4580, 0x4700, 0x49c0});
    expect("bf16", {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0}, {0x3f80, 0, 0x4000, 0x3f80, 0, 0x4040},
           {0x4020, 0x40b0, 0x40e0, 0x4138});
}

TEST_F(CInterface, AProductOfATypeWithoutATemplateIsAnErrorThatNamesIt) {
    const auto runtime = open();
    std::vector<float> c(4);
    EXPECT_NE(smemtune_gemm(runtime.get(), nullptr, "f8", "nn", 2, 2, 3, 1, matrix_a.data(), 3, matrix_b.data(), 2, 0,
                            c.data(), 2),
              SMEMTUNE_OK);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("f8"));
    EXPECT_NE(
        smemtune_batched_gemm(runtime.get(), nullptr, "bf16", "nn", 1, 2, 2, 3, 1, matrix_a.data(), 3, SMEMTUNE_PACKED,
                              matrix_b.data(), 2, SMEMTUNE_PACKED, 0, c.data(), 2, SMEMTUNE_PACKED),
        SMEMTUNE_OK);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("bf16"));
}

TEST_F(CInterface, LeadingDimensionsAreThoseOfTheCaller) {
    const auto runtime = open();
    const std::vector<float> wide_a{1, 2, 3, 99, 4, 5, 6, 99};
    const std::vector<float> wide_b{1, 0, 99, 99, 99, 2, 1, 99, 99, 99, 0, 3, 99, 99, 99};
    std::vector<float> c{-1, -1, -1, -1, -1, -1};
    ASSERT_EQ(smemtune_gemm(runtime.get(), nullptr, "f32", "nn", 2, 2, 3, 1, wide_a.data(), 4, wide_b.data(), 5, 0,
                            c.data(), 3),
              SMEMTUNE_OK);
    EXPECT_THAT(c, ElementsAre(5, 11, -1, 14, 23, -1));
    c.assign(4, std::nanf(""));
    ASSERT_EQ(smemtune_gemm(runtime.get(), nullptr, "f32", "nn", 2, 2, 3, 1, matrix_a.data(), SMEMTUNE_PACKED,
                            matrix_b.data(), SMEMTUNE_PACKED, 0, c.data(), SMEMTUNE_PACKED),
              SMEMTUNE_OK);
    EXPECT_THAT(c, ElementsAre(5, 11, 14, 23));
}

TEST_F(CInterface, ABatchTakesStridesBetweenItsMatrices) {
    const auto runtime = open();
    std::vector<float> c(8, std::nanf(""));
    const auto multiply = [&](std::int64_t stride_a, std::int64_t stride_b, std::int64_t stride_c) {
        return smemtune_batched_gemm(runtime.get(), nullptr, "f32", "nn", 2, 1, 2, 3, 1, matrix_a.data(), 3, stride_a,
                                     matrix_b.data(), 2, stride_b, 0, c.data(), 2, stride_c);
    };
    ASSERT_EQ(multiply(SMEMTUNE_PACKED, 0, SMEMTUNE_PACKED), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_THAT(std::vector(c.begin(), c.begin() + 4), ElementsAre(5, 11, 14, 23));
    ASSERT_EQ(multiply(0, 0, 6), SMEMTUNE_OK);
    EXPECT_THAT(std::vector(c.begin() + 6, c.end()), ElementsAre(5, 11));
    EXPECT_EQ(multiply(-2, 0, 2), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("batch_stride_a=-2"));
    EXPECT_EQ(multiply(3, -2, 2), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("batch_stride_b=-2"));
    EXPECT_EQ(multiply(3, 0, 0), SMEMTUNE_INVALID_ARGUMENT) << "the matrices of C would be one";
    EXPECT_THAT(smemtune_error_message(), HasSubstr("batch_stride_c=0"));
}

TEST_F(CInterface, ThreadsShareARuntimeAndAKernel) {
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 2, 2, 3));
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&runtime, &kernel, thread] {
            const std::vector<float> ones(16, 1);
            for (int k = 1; k <= 3; ++k) {
                std::vector<float> c(4, static_cast<float>(thread));
                EXPECT_EQ(smemtune_gemm(runtime.get(), nullptr, "f32", "nn", 2, 2, k, 1, ones.data(), k, ones.data(), 2,
                                        1, c.data(), 2),
                          SMEMTUNE_OK);
                EXPECT_THAT(c, testing::Each(static_cast<float>(thread + k)));
                EXPECT_EQ(smemtune_launch_gemm(kernel.get(), nullptr, 1, matrix_a.data(), 3, matrix_b.data(), 2, 0,
                                               c.data(), 2),
                          SMEMTUNE_OK);
                EXPECT_THAT(c, ElementsAre(5, 11, 14, 23));
            }
        });
    }
}

// The arguments of a valid call of smemtune_gemm. A test changes one of them to an invalid value.
struct Call {
    smemtune_runtime* runtime = nullptr;
    const char* type = "f32";
    const char* layout = "nn";
    std::int64_t m = 2, k = 3;
    double alpha = 1;
    const float* a = nullptr;
    std::int64_t lda = 3;
    const float* b = nullptr;
    std::int64_t ldb = 2;
    float* c = nullptr;
    std::int64_t ldc = 2;

    [[nodiscard]] smemtune_status operator()() const {
        return smemtune_gemm(runtime, nullptr, type, layout, m, 2, k, alpha, a, lda, b, ldb, 0, c, ldc);
    }
};

TEST_F(CInterface, WrongArgumentsOfAProductAreNamed) {
    const auto runtime = open();
    std::vector<float> c(4, -1);
    const Call right{.runtime = runtime.get(), .a = matrix_a.data(), .b = matrix_b.data(), .c = c.data()};
    const auto complaint = [&](const Call& call, smemtune_status expected = SMEMTUNE_INVALID_ARGUMENT) {
        EXPECT_EQ(call(), expected);
        EXPECT_THAT(c, testing::Each(-1));
        return std::string(smemtune_error_message());
    };
    auto call = right;
    call.runtime = nullptr;
    EXPECT_EQ(complaint(call), "runtime is null");
    call = right, call.type = nullptr;
    EXPECT_EQ(complaint(call), "type is null");
    call = right, call.layout = nullptr;
    EXPECT_EQ(complaint(call), "layout is null");
    call = right, call.layout = "xy";
    EXPECT_THAT(complaint(call, SMEMTUNE_NO_KERNEL), HasSubstr("xy"));
    call = right, call.type = "f99";
    EXPECT_THAT(complaint(call, SMEMTUNE_NO_KERNEL), HasSubstr("f99"));
    call = right, call.m = -1;
    EXPECT_THAT(complaint(call), HasSubstr("M=-1"));
    call = right, call.a = nullptr;
    EXPECT_EQ(complaint(call), "a is null");
    call = right, call.b = nullptr;
    EXPECT_EQ(complaint(call), "b is null");
    call = right, call.c = nullptr;
    EXPECT_EQ(complaint(call), "c is null");
    for (auto Call::*leading : {&Call::lda, &Call::ldb, &Call::ldc}) {
        call = right, call.*leading = 0;
        EXPECT_THAT(complaint(call), HasSubstr("=0; write SMEMTUNE_PACKED"));
        call = right, call.*leading = 1;
        EXPECT_THAT(complaint(call), HasSubstr("=1 is shorter than a row"));
    }
    EXPECT_EQ(right(), SMEMTUNE_OK);
    EXPECT_THAT(c, ElementsAre(5, 11, 14, 23));
}

TEST_F(CInterface, WhatIsNotReadMayBeNull) {
    const auto runtime = open();
    std::vector<float> c(4, 5);
    Call call{.runtime = runtime.get(), .alpha = 0, .c = c.data()};
    EXPECT_EQ(call(), SMEMTUNE_OK) << "alpha = 0: " << smemtune_error_message();
    EXPECT_THAT(c, testing::Each(0));
    c.assign(4, 5);
    call = {.runtime = runtime.get(), .k = 0, .c = c.data()};
    EXPECT_EQ(call(), SMEMTUNE_OK) << "K = 0: " << smemtune_error_message();
    EXPECT_THAT(c, testing::Each(0));
    call.c = nullptr;
    EXPECT_EQ(call(), SMEMTUNE_INVALID_ARGUMENT) << "C = 0 is written";
    call = {.runtime = runtime.get(), .m = 0};
    EXPECT_EQ(call(), SMEMTUNE_OK) << "M = 0: " << smemtune_error_message();
}

TEST_F(CInterface, AFetchedKernelIsLaunchedWithoutItsRuntime) {
    auto runtime = open();
    const auto kernel = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 2, 2, 3), "tiled");
    const auto batched = fetch(runtime.get(), smemtune_batched_gemm_problem("f32", "nn", 2, 1, 2, 3));
    runtime.reset();
    std::vector<float> c(4, std::nanf(""));
    const auto launch = [&](const smemtune_kernel* launched) {
        return smemtune_launch_gemm(launched, nullptr, 1, matrix_a.data(), 3, matrix_b.data(), 2, 0, c.data(), 2);
    };
    EXPECT_EQ(launch(kernel.get()), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_THAT(c, ElementsAre(5, 11, 14, 23));
    EXPECT_EQ(launch(nullptr), SMEMTUNE_INVALID_ARGUMENT);

    const auto launch_batch = [&](const smemtune_kernel* launched, std::int64_t stride_a) {
        return smemtune_launch_batched_gemm(launched, nullptr, 2, matrix_a.data(), 3, stride_a, matrix_b.data(), 2, 0,
                                            0, c.data(), 2, 2);
    };
    EXPECT_EQ(launch_batch(batched.get(), 3), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_THAT(c, ElementsAre(10, 22, 28, 46));
    EXPECT_EQ(launch_batch(kernel.get(), 3), SMEMTUNE_INVALID_ARGUMENT) << "a gemm takes no batch stride";
    EXPECT_EQ(launch_batch(nullptr, 3), SMEMTUNE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace smemtune
