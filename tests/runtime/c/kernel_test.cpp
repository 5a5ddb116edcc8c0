#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "tests/runtime/c/support.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

smemtune_argument integer(const char* name, std::int64_t value) { return {name, SMEMTUNE_INTEGER, value, 0, nullptr}; }
smemtune_argument number(const char* name, double value) { return {name, SMEMTUNE_NUMBER, 0, value, nullptr}; }
smemtune_argument address(const char* name, const void* value) { return {name, SMEMTUNE_ADDRESS, 0, 0, value}; }

smemtune_problem transpose(std::int64_t m, std::int64_t n) {
    return {"transpose", nullptr, nullptr, {{"M", m}, {"N", n}}};
}

smemtune_status launch(const KernelHandle& kernel, const std::vector<smemtune_argument>& arguments) {
    return smemtune_launch(kernel.get(), nullptr, arguments.data(), arguments.size());
}

TEST_F(CInterface, AnyOperationIsLaunchedByNames) {
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), transpose(2, 3));
    const std::vector<float> from{1, 2, 3, 4, 5, 6};
    for (const bool is_own_order : {true, false}) {
        std::vector<float> to(6, -1);
        std::vector arguments{integer("M", 2),   integer("N", 3),         address("A", from.data()),
                              integer("lda", 3), address("B", to.data()), integer("ldb", 2)};
        if (!is_own_order) std::ranges::reverse(arguments);
        ASSERT_EQ(launch(kernel, arguments), SMEMTUNE_OK) << smemtune_error_message();
        EXPECT_THAT(to, ElementsAre(1, 4, 2, 5, 3, 6));
    }
    std::vector<float> to(6, -1);
    ASSERT_EQ(
        launch(kernel, {address("A", from.data()), integer("lda", 3), address("B", to.data()), integer("ldb", 2)}),
        SMEMTUNE_OK)
        << "the extents are the problem's: " << smemtune_error_message();
    EXPECT_THAT(to, ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_F(CInterface, ScalarsAreConvertedToTheProblemsType) {
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 1, 1, 1));
    const float a = 3;
    const float b = 5;
    float c = 7;
    ASSERT_EQ(launch(kernel, {number("alpha", 2), address("A", &a), integer("lda", 1), address("B", &b),
                              integer("ldb", 1), number("beta", 10), address("C", &c), integer("ldc", 1)}),
              SMEMTUNE_OK)
        << smemtune_error_message();
    EXPECT_EQ(c, 100);
}

TEST_F(CInterface, WrongArgumentsOfALaunchAreNamed) {
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), transpose(2, 3));
    const std::vector<float> from(6, 1);
    std::vector<float> to(6, -1);
    const std::vector right{integer("M", 2),   integer("N", 3),         address("A", from.data()),
                            integer("lda", 3), address("B", to.data()), integer("ldb", 2)};
    const auto complaint = [&](std::size_t place, const smemtune_argument& wrong) {
        auto arguments = right;
        arguments[place] = wrong;
        EXPECT_EQ(launch(kernel, arguments), SMEMTUNE_INVALID_ARGUMENT);
        EXPECT_THAT(to, testing::Each(-1));
        return std::string(smemtune_error_message());
    };
    EXPECT_THAT(complaint(0, integer("M", 3)), AllOf(HasSubstr("M=3"), HasSubstr("transpose f32 2x3")));
    EXPECT_THAT(complaint(0, integer("M", (std::int64_t{1} << 32) + 2)), HasSubstr("M=4294967298"));
    EXPECT_THAT(complaint(0, integer("X", 2)), AllOf(HasSubstr("unknown"), HasSubstr("M, N, A, lda, B, ldb")));
    EXPECT_THAT(complaint(0, integer("N", 3)), HasSubstr("given twice"));
    EXPECT_EQ(complaint(3, integer("ldx", 3)), "the argument lda is missing");
    EXPECT_EQ(complaint(3, number("lda", 3)), "the argument lda is SMEMTUNE_INTEGER, not SMEMTUNE_NUMBER");
    EXPECT_EQ(complaint(2, integer("A", 3)), "the argument A is SMEMTUNE_ADDRESS, not SMEMTUNE_INTEGER");
    EXPECT_EQ(complaint(2, address("A", nullptr)), "the argument A is null");
    EXPECT_EQ(complaint(2, address(nullptr, &to)), "argument.name is null");
    EXPECT_EQ(smemtune_launch(kernel.get(), nullptr, nullptr, 1), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_launch(nullptr, nullptr, right.data(), right.size()), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(launch(kernel, right), SMEMTUNE_OK);
}

TEST_F(CInterface, AKernelNamesItsArguments) {
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 4, 5, 6));
    std::string text;
    smemtune_argument argument;
    std::size_t index = 0;
    while (smemtune_kernel_argument(kernel.get(), index, &argument) == SMEMTUNE_OK) {
        text += argument.name + std::string(" ") + std::to_string(argument.kind) + " " +
                std::to_string(argument.integer) + ", ";
        ++index;
    }
    EXPECT_EQ(text, "M 1 4, N 1 5, K 1 6, alpha 2 0, A 3 0, lda 1 0, B 3 0, ldb 1 0, beta 2 0, C 3 0, ldc 1 0, ");
    EXPECT_STREQ(smemtune_error_message(), "index=11, but the kernel has 11 arguments");
    EXPECT_EQ(smemtune_kernel_argument(kernel.get(), 0, nullptr), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_kernel_argument(nullptr, 0, &argument), SMEMTUNE_INVALID_ARGUMENT);
}

TEST_F(CInterface, AProblemThatNothingSupportsHasNoKernel) {
    const auto runtime = open();
    const auto status_for = [&](const smemtune_problem& problem, const char* name = nullptr) {
        smemtune_kernel* kernel = nullptr;
        const auto status = smemtune_fetch(runtime.get(), &problem, name, &kernel);
        EXPECT_EQ(kernel, nullptr);
        return status;
    };
    auto problem = smemtune_gemm_problem("f32", "nn", 4, 4, 4);
    EXPECT_EQ(status_for(problem, "no_template"), SMEMTUNE_NO_KERNEL) << smemtune_error_message();
    problem.operation = "convolution";
    EXPECT_EQ(status_for(problem), SMEMTUNE_NO_KERNEL) << smemtune_error_message();
    EXPECT_THAT(smemtune_error_message(), HasSubstr("convolution"));
    problem.operation = nullptr;
    EXPECT_EQ(status_for(problem), SMEMTUNE_INVALID_ARGUMENT);
    problem.operation = "batched_gemm";
    EXPECT_EQ(status_for(problem), SMEMTUNE_INVALID_ARGUMENT) << "it has other extents";
    smemtune_kernel* kernel = nullptr;
    EXPECT_EQ(smemtune_fetch(runtime.get(), nullptr, nullptr, &kernel), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_fetch(runtime.get(), &problem, nullptr, nullptr), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_fetch(nullptr, &problem, nullptr, &kernel), SMEMTUNE_INVALID_ARGUMENT);
}

TEST_F(CInterface, AChoiceSaysWhatWasTunedForWhat) {
    const auto database = (scratch / "tuning.db").string();
    {
        Store store(database);
        const auto& templates = builtin_templates();
        store_winner(store, host_device(), find_template(templates, "tiled"), gemm(32, 32, 32),
                     parse_configuration("TILE_WIDTH=8"), 12.5);
    }
    options.database = database.c_str();
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 32, 32, 32));
    smemtune_choice choice = SMEMTUNE_CHOICE_INIT;
    ASSERT_EQ(smemtune_kernel_choice(kernel.get(), &choice), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_STREQ(choice.kernel_template, "tiled");
    EXPECT_THAT(choice.configuration, HasSubstr("TILE_WIDTH=8"));
    EXPECT_EQ(choice.match, SMEMTUNE_MATCH_EXACT);
    EXPECT_THAT(choice.tuned_for, HasSubstr("32x32x32"));
    EXPECT_EQ(choice.device, host_device().name);
    EXPECT_STREQ(choice.why, "");
    EXPECT_EQ(choice.expected_us, 12.5);
    EXPECT_EQ(choice.struct_size, sizeof(choice));

    choice.struct_size -= 1;
    EXPECT_EQ(smemtune_kernel_choice(kernel.get(), &choice), SMEMTUNE_INVALID_STRUCT);
    EXPECT_EQ(smemtune_kernel_choice(kernel.get(), nullptr), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_kernel_choice(nullptr, &choice), SMEMTUNE_INVALID_ARGUMENT);
    struct {
        smemtune_choice known = SMEMTUNE_CHOICE_INIT;
        std::int64_t later = -1;
    } newer;
    newer.known.struct_size = sizeof(newer);
    EXPECT_EQ(smemtune_kernel_choice(kernel.get(), &newer.known), SMEMTUNE_OK);
    EXPECT_STREQ(newer.known.kernel_template, "tiled");
    EXPECT_EQ(newer.known.struct_size, sizeof(newer));
    EXPECT_EQ(newer.later, 0) << "a field that this version lacks";
}

TEST_F(CInterface, MatchesAreThoseOfTheCppInterface) {
    for (const auto match : {Match::exact, Match::predicted, Match::nearest, Match::transferred, Match::untuned}) {
        EXPECT_EQ(smemtune_match_text(static_cast<smemtune_match>(match)), to_text(match));
    }
    EXPECT_STREQ(smemtune_match_text(static_cast<smemtune_match>(5)), "unknown match");
}

TEST_F(CInterface, TheWorkspaceOfALaunchIsKnown) {
    const auto database = (scratch / "tuning.db").string();
    {
        Store store(database);
        const auto& templates = builtin_templates();
        store_winner(store, host_device(), find_template(templates, "warp_tiled"), gemm(15, 31, 100),
                     parse_configuration("BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,LANE_PAIRS=0,"
                                         "SLICES_K=2,STAGES=2,ASYNC=1,VECTOR_A=1,VECTOR_B=1,A_FIRST=1,BLOCKS_PER_SM=4,"
                                         "GROUP_M=4,CLUSTER_K=1,SPLIT_K=2"),
                     10);
    }
    options.database = database.c_str();
    const auto runtime = open();
    const auto split = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 15, 31, 100));
    const auto naive = fetch(runtime.get(), smemtune_gemm_problem("f32", "nn", 4, 4, 4), "naive");
    std::int64_t bytes = -1;
    EXPECT_EQ(smemtune_kernel_workspace(naive.get(), &bytes), SMEMTUNE_OK);
    EXPECT_EQ(bytes, 0);
    EXPECT_EQ(smemtune_kernel_workspace(split.get(), &bytes), SMEMTUNE_OK);
    EXPECT_EQ(bytes, (2 * 16 * 32 + 32) * 4) << "a tile's sums twice, and its counters";
    EXPECT_EQ(smemtune_kernel_workspace(nullptr, &bytes), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_kernel_workspace(naive.get(), nullptr), SMEMTUNE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace smemtune
