#include "runtime/runtime.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "runtime/host/host_backend.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The operands of a matrix product of small integers, whose result is exact in floats. Rows may be padded, and a kernel
// must not change the padding.
class Product {
    template <class Matrix>
    static auto& at(Matrix& matrix, int row, int column, int stride) {
        return matrix[static_cast<std::size_t>(row * stride + column)];
    }

public:
    Product(int m, int n, int k, int padding = 0, unsigned seed = 1)
        : m_(m), n_(n), k_(k), lda_(k + padding), ldb_(n + padding), ldc_(n + padding) {
        std::minstd_rand random(seed);
        for (auto [matrix, rows, columns, stride] :
             {std::tuple{&a_, m, k, lda_}, {&b_, k, n, ldb_}, {&c_, m, n, ldc_}}) {
            matrix->assign(static_cast<std::size_t>((rows - 1) * stride + columns), std::nanf(""));
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < columns; ++column)
                    at(*matrix, row, column, stride) = static_cast<float>(static_cast<int>(random() % 9) - 4);
        }
    }

    void poison() { std::ranges::fill(c_, std::nanf("")); }

    void expect_right(const Kernel& kernel, float alpha = 1, float beta = 0, CUstream_st* stream = nullptr) {
        const auto before = c_;
        kernel.launch(stream, operands(alpha, beta));
        for (int row = 0; row < m_; ++row) {
            for (int column = 0; column < ldc_ && row * ldc_ + column < std::ssize(c_); ++column) {
                if (column >= n_) {
                    ASSERT_TRUE(std::isnan(at(c_, row, column, ldc_))) << "between the rows";
                    continue;
                }
                float sum = 0;
                for (int i = 0; i < k_; ++i) sum += at(a_, row, i, lda_) * at(b_, i, column, ldb_);
                const auto old = before[static_cast<std::size_t>(row * ldc_ + column)];
                ASSERT_EQ(at(c_, row, column, ldc_), beta == 0 ? alpha * sum : alpha * sum + beta * old)
                    << row << "," << column << " of " << to_text(kernel.problem());
            }
        }
    }

    [[nodiscard]] GemmOperands operands(double alpha = 1, double beta = 0) {
        return {.a = a_.data(),
                .b = b_.data(),
                .c = c_.data(),
                .lda = lda_,
                .ldb = ldb_,
                .ldc = ldc_,
                .alpha = alpha,
                .beta = beta};
    }

private:
    int m_, n_, k_, lda_, ldb_, ldc_;
    std::vector<float> a_, b_, c_;
};

class OnHost : public testing::Test {
protected:
    [[nodiscard]] Runtime open(const std::string& compiler = SMEMTUNE_CXX) const {
        return Runtime(
            {.database = database, .database_may_be_absent = true, .device = "host", .host_compiler = compiler});
    }
    void tuned(const Problem& problem, const std::string& kernel, const std::string& configuration,
               bool with_code = true) const {
        Store store(database);
        const auto& templates = builtin_templates();
        const auto& chosen = find_template(templates, kernel);
        const auto values = parse_configuration(configuration);
        std::optional<Binary> code;
        if (with_code) code = must_compile(*host_compiler(), program_of(chosen, values, problem));
        store_winner(store, host_device(), chosen, problem, values, 10, code ? &*code : nullptr);
    }

    TemporaryFolder scratch;
    std::filesystem::path database = scratch / "tuning.db";
    const std::string no_compiler = "/nowhere/c++";
};

TEST_F(OnHost, WithoutADatabaseAnyProblemGetsARightKernel) {
    auto runtime = open();
    const auto kernel = runtime.fetch(gemm(33, 17, 65));
    EXPECT_EQ(kernel.choice().match, Match::untuned);
    EXPECT_EQ(kernel.problem(), gemm(33, 17, 65));
    Product(33, 17, 65).expect_right(kernel);
    EXPECT_FALSE(std::filesystem::exists(database));
}

// With K = 0, each sum has no terms and is 0, as BLAS defines it.
TEST_F(OnHost, WithoutAnythingToSumCIsScaledAlone) {
    auto runtime = open();
    for (const auto* name : {"tiled", "warp_tiled", "thread_tiled"}) {
        SCOPED_TRACE(name);
        const auto kernel = runtime.fetch(gemm(3, 5, 0), name);
        EXPECT_EQ(kernel.problem(), gemm(3, 5, 0));
        std::vector<float> c(15, 2);
        kernel.launch(nullptr, {.c = c.data(), .alpha = 7, .beta = 3});
        EXPECT_THAT(c, testing::Each(6));
        c.assign(15, std::nanf(""));
        kernel.launch(nullptr, {.c = c.data(), .alpha = 7, .beta = 0});
        EXPECT_THAT(c, testing::Each(0));
    }
}

TEST_F(OnHost, WithoutAnElementNothingIsLaunched) {
    auto runtime = open();
    float c = 2;
    for (const auto& problem : {gemm(0, 5, 4), gemm(5, 0, 4), batched_gemm(0, 5, 5, 4), gemm(0, 0, 0)}) {
        runtime.fetch(problem).launch(nullptr, {.c = &c});
    }
    EXPECT_EQ(c, 2);
    EXPECT_THROW((void)runtime.fetch(gemm(-1, 5, 4)), std::exception);
}

TEST_F(OnHost, WithAlphaZeroTheInputsAreNotRead) {
    auto runtime = open();
    const auto kernel = runtime.fetch(gemm(4, 4, 4));
    const std::vector<float> inputs(16, std::nanf(""));
    std::vector<float> c(16, 2);
    kernel.launch(nullptr, {.a = inputs.data(), .b = inputs.data(), .c = c.data(), .alpha = 0, .beta = 3});
    EXPECT_THAT(c, testing::Each(6));
    int n = 4;
    float alpha = 0, beta = 2;
    const void* a = inputs.data();
    void* out = c.data();
    long long stride = 4;
    const std::array<void*, 11> arguments{&n, &n, &n, &alpha, &a, &stride, &a, &stride, &beta, &out, &stride};
    kernel.launch(nullptr, arguments);
    EXPECT_THAT(c, testing::Each(12));
}

TEST_F(OnHost, AKernelIsNotLaunchedForOtherExtentsThanItWasFetchedFor) {
    auto runtime = open();
    const auto kernel = runtime.fetch(batched_gemm(2, 3, 4, 5));
    std::vector<float> a(64, 1), c(64, 9);
    float alpha = 1, beta = 0;
    const void* in = a.data();
    void* out = c.data();
    long long stride = 8;
    const auto launch = [&](std::array<int, 4> extents) {
        auto& [batch, m, n, k] = extents;
        const std::array<void*, 15> arguments{&batch, &m,      &n,      &k,    &alpha, &in,     &stride, &stride,
                                              &in,    &stride, &stride, &beta, &out,   &stride, &stride};
        kernel.launch(nullptr, arguments);
    };
    for (const auto& extents : {std::array{1, 3, 4, 5}, {2, 4, 4, 5}, {2, 3, 3, 5}, {2, 3, 4, 6}}) {
        EXPECT_THAT(error_of<std::invalid_argument>([&] { launch(extents); }), HasSubstr("gemm f32 nn 2x3x4x5"));
    }
    EXPECT_THAT(c, testing::Each(9)) << "nothing was launched";
    launch({2, 3, 4, 0});
    EXPECT_EQ(c[0], 0);
    launch({2, 3, 4, 5});
    EXPECT_EQ(c[0], 5);
}

TEST_F(OnHost, MachineCodeFromTheDatabaseNeedsNoCompiler) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8");
    auto runtime = open(no_compiler);
    const auto exact = runtime.fetch(gemm(64, 64, 64));
    EXPECT_EQ(exact.choice().match, Match::exact);
    EXPECT_EQ(exact.choice().configuration, "TILE_WIDTH=8");
    Product(64, 64, 64).expect_right(exact);
    const auto near = runtime.fetch(gemm(63, 70, 61));
    EXPECT_EQ(near.choice().match, Match::nearest);
    EXPECT_EQ(near.choice().tuned_for, "gemm f32 nn 64x64x64");
    Product(63, 70, 61).expect_right(near);
}

TEST_F(OnHost, ARuntimeParameterOfTheWinnerIsPassedAtEachLaunch) {
    auto sources = stepping_sources();
    const auto edit = [&](const std::string& file, const std::string& from, const std::string& to) {
        sources.at(file).replace(sources.at(file).find(from), from.size(), to);
    };
    edit("stepping.toml", "default = 64", "default = 64\nruntime = true");
    edit("stepping.cu", "long long ldc) {", "long long ldc, int STEP) {\n    if (STEP != M / 3) return;");
    const auto kernel = load_templates(sources).front();
    {
        Store store(database);
        for (const auto& [m, step] : {std::pair{9, "STEP=3"}, {6, "STEP=2"}}) {
            const auto problem = gemm(m, 17, 20);
            const auto configuration = parse_configuration(step);
            const auto code = must_compile(*host_compiler(), program_of(kernel, configuration, problem));
            store_winner(store, host_device(), kernel, problem, configuration, 10, &code);
        }
    }
    auto runtime = open(no_compiler);
    const auto three = runtime.fetch(gemm(9, 17, 20));
    const auto two = runtime.fetch(gemm(6, 17, 20));
    EXPECT_EQ(three.choice().configuration, "STEP=3");
    EXPECT_EQ(two.choice().configuration, "STEP=2");
    EXPECT_EQ(three.arguments().size(), 11U) << "those of the operation";
    for (int time = 0; time < 2; ++time) {
        Product(9, 17, 20, 3).expect_right(three);
        Product(6, 17, 20, 3).expect_right(two, 2, -1);
    }
}

TEST_F(OnHost, AWinnerWithAWorkspaceIsLaunchedLikeAnyOther) {
    tuned(gemm(15, 31, 100), "warp_tiled",
          "BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,LANE_PAIRS=0,SLICES_K=2,STAGES=2,ASYNC=1,"
          "VECTOR_A=1,VECTOR_B=1,A_FIRST=1,BLOCKS_PER_SM=4,GROUP_M=4,CLUSTER_K=1,SPLIT_K=2");
    const auto kernel = open(no_compiler).fetch(gemm(15, 31, 100));  // the kernel outlives its Runtime
    EXPECT_EQ(kernel.choice().match, Match::exact);
    EXPECT_EQ(kernel.workspace_bytes(), (2 * 16 * 32 + 32) * 4) << "a tile's sums twice, and its counters";
    auto* const another = reinterpret_cast<CUstream_st*>(0x100);  // on the host, a stream only selects a workspace
    for (auto* stream : {another, static_cast<CUstream_st*>(nullptr), another}) {
        Product(15, 31, 100, 3).expect_right(kernel, 2, -1, stream);
    }
    tuned(gemm(8, 8, 8), "tiled", "TILE_WIDTH=8");
    EXPECT_EQ(open(no_compiler).fetch(gemm(8, 8, 8)).workspace_bytes(), 0);
}

TEST_F(OnHost, WithoutMachineCodeAndWithoutACompilerTheErrorSaysWhatToInstall) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8", false);
    auto runtime = open(no_compiler);
    EXPECT_THAT(error_of<FetchError>([&] { (void)runtime.fetch(gemm(64, 64, 64)); }),
                AllOf(HasSubstr("gemm f32 nn 64x64x64"), HasSubstr(no_compiler), HasSubstr("CXX")));
}

TEST_F(OnHost, ANeighboursMachineCodeIsBetterThanNone) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8", false);
    tuned(gemm(128, 64, 64), "tiled", "TILE_WIDTH=16");
    auto runtime = open(no_compiler);
    const auto kernel = runtime.fetch(gemm(64, 64, 64));
    EXPECT_EQ(kernel.choice().tuned_for, "gemm f32 nn 128x64x64");
    Product(64, 64, 64).expect_right(kernel);
}

TEST_F(OnHost, MachineCodeThatDoesNotLoadIsMadeAnew) {
    {
        Store store(database);
        const auto& templates = builtin_templates();
        const Binary broken{.entry = "tiled", .target = host_compiler()->target(), .code = {1, 2, 3}};
        store_winner(store, host_device(), find_template(templates, "tiled"), gemm(64, 64, 64),
                     parse_configuration("TILE_WIDTH=8"), 10, &broken);
    }
    const auto kernel = open().fetch(gemm(64, 64, 64));
    EXPECT_EQ(kernel.choice().match, Match::exact);
    Product(64, 64, 64).expect_right(kernel);
}

TEST_F(OnHost, EveryProblemIsChosenForAnew) {
    tuned(gemm(16, 16, 16), "naive", "BLOCK_X=64,BLOCK_Y=1");
    tuned(gemm(256, 256, 256), "tiled", "TILE_WIDTH=16");
    auto runtime = open(no_compiler);
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(runtime.fetch(gemm(20, 16, 16)).choice().kernel_template, "naive");
        EXPECT_EQ(runtime.fetch(gemm(200, 250, 256)).choice().kernel_template, "tiled");
        EXPECT_EQ(runtime.fetch(gemm(16, 16, 16)).choice().match, Match::exact);
    }
}

TEST_F(OnHost, OneTemplateAloneCanBeAskedFor) {
    auto runtime = open();
    const auto kernel = runtime.fetch(gemm(31, 33, 35), "row_tile");
    EXPECT_EQ(kernel.choice().kernel_template, "row_tile");
    Product(31, 33, 35).expect_right(kernel);
    EXPECT_THAT(error_of<FetchError>([&] { (void)runtime.fetch(gemm(31, 33, 35), "row_title"); }),
                HasSubstr("row_title"));
}

TEST_F(OnHost, AnApplicationsOwnTemplatesAreCandidates) {
    const auto folder = scratch / "mine";
    std::filesystem::create_directories(folder);
    for (const auto& [path, text] : stepping_sources()) std::ofstream(folder / path) << text;
    Runtime runtime({.device = "host", .template_folders = {folder}, .host_compiler = SMEMTUNE_CXX});
    const auto kernel = runtime.fetch(gemm(6, 7, 8), "stepping");
    Product(6, 7, 8).expect_right(kernel);
}

// An application may define its own operation `gemm` without layouts. Then no matrix is transposed.
TEST_F(OnHost, AGemmWithoutLayoutsIsOneOfMatricesAsTheyAre) {
    const auto folder = scratch / "mine";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "mine.toml") << R"toml([operation]
name       = "gemm"
extents    = ["M", "N", "K"]
operations = "2 * M * N * K"
bytes      = "4 * M * N"
terms      = "K"
reference  = "mine.cu"
argument   = [{ name = "M", kind = "extent" }, { name = "N", kind = "extent" }, { name = "K", kind = "extent" },
              { name = "alpha", kind = "scalar" },
              { name = "A", kind = "input", rows = "M", columns = "K", stride = "lda" },
              { name = "lda", kind = "stride" },
              { name = "B", kind = "input", rows = "K", columns = "N", stride = "ldb" },
              { name = "ldb", kind = "stride" }, { name = "beta", kind = "scalar" },
              { name = "C", kind = "output", rows = "M", columns = "N", stride = "ldc" },
              { name = "ldc", kind = "stride" }]
check      = [{ inputs = "uniform", scalars = { alpha = 1, beta = 0 } }]
[template]
name      = "mine"
operation = "gemm"
types     = ["f32"]
[launch]
block = ["1"]
grid  = ["M * N"]
[requires]
host = true
)toml";
    std::ofstream(folder / "mine.cu") << R"(#include "configuration.h"
extern "C" __global__ void mine(int, int N, int K, Element alpha, const Element* A, long long lda, const Element* B,
                                long long ldb, Element beta, Element* C, long long ldc) {
    const int row = blockIdx.x / N, column = blockIdx.x % N;
    Element sum = 0, *c = C + row * ldc + column;
    for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + column];
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
)";
    Runtime runtime({.device = "host", .template_folders = {folder}, .host_compiler = SMEMTUNE_CXX});
    const auto kernel = runtime.fetch(gemm(6, 7, 8, "f32", ""), "mine");
    Product(6, 7, 8).expect_right(kernel, 2, -1);
}

TEST_F(OnHost, ATemplateOfTheApplicationReplacesTheBuiltInOfItsName) {
    auto sources = stepping_sources();
    for (auto& [path, text] : sources) text.replace(text.find("stepping"), 8, "tiled");
    const auto folder = scratch / "mine";
    std::filesystem::create_directories(folder);
    for (const auto& [path, text] : sources) std::ofstream(folder / path) << text;
    Runtime runtime({.device = "host", .template_folders = {folder}, .host_compiler = SMEMTUNE_CXX});
    EXPECT_EQ(runtime.fetch(gemm(6, 7, 8), "tiled").choice().configuration, "STEP=2");
}

TEST_F(OnHost, WhatNoTemplateComputesIsAnErrorThatNamesTheProblem) {
    auto runtime = open();
    const auto refusal = [&](const Problem& problem) {
        return error_of<FetchError>([&] { (void)runtime.fetch(problem); });
    };
    EXPECT_THAT(refusal({"convolution", "f32", "", {{"M", 8}}}), HasSubstr("convolution f32 8"));
    EXPECT_THAT(refusal(gemm(8, 8, 8, "f64")), HasSubstr("gemm f64 nn 8x8x8"));
    EXPECT_THAT(refusal(gemm(8, 8, 8, "f32", "xx")), HasSubstr("gemm f32 xx 8x8x8"));
}

TEST_F(OnHost, ProblemsThatMakeNoSenseAreInvalidArguments) {
    auto runtime = open();
    const auto refusal = [&](const Problem& problem) {
        return error_of<std::invalid_argument>([&] { (void)runtime.fetch(problem); });
    };
    EXPECT_THAT(refusal(gemm(8, -1, 8)), HasSubstr("N=-1"));
    EXPECT_THAT(refusal(gemm(8, 8, -1)), HasSubstr("K=-1"));
    EXPECT_THAT(refusal(gemm(std::int64_t{1} << 31, 8, 8)), HasSubstr("M=2147483648"));
    EXPECT_THAT(refusal({"gemm", "f32", "nn", {{"M", 8}, {"N", 8}}}), HasSubstr("MxNxK"));
    EXPECT_THAT(refusal({"gemm", "f32", "nn", {{"K", 8}, {"N", 8}, {"M", 8}}}), HasSubstr("MxNxK"));
}

TEST_F(OnHost, LeadingDimensionsAlphaAndBetaAreWhatBlasSays) {
    auto runtime = open();
    for (const auto* name : {"tiled", "joint_tiled"}) {
        const auto kernel = runtime.fetch(gemm(33, 47, 29), name);
        Product(33, 47, 29, 5).expect_right(kernel, 2, -3);
        Product(33, 47, 29, 1).expect_right(kernel, 0, 1);
        Product(33, 47, 29).expect_right(kernel, -1, 0.5F);
    }
}

TEST_F(OnHost, BetaZeroNeverReadsC) {
    auto runtime = open();
    Product product(33, 47, 29, 4);
    product.poison();
    product.expect_right(runtime.fetch(gemm(33, 47, 29)), 2, 0);
}

TEST_F(OnHost, StridesLeftOutArePackedRows) {
    auto runtime = open();
    std::vector<float> a(5 * 7, 1), b(7 * 6, 2), c(5 * 6, -1);
    runtime.fetch(gemm(5, 6, 7)).launch(nullptr, {.a = a.data(), .b = b.data(), .c = c.data()});
    EXPECT_EQ(c, std::vector<float>(5 * 6, 14));
}

TEST_F(OnHost, AStrideShorterThanItsRowIsRefused) {
    auto runtime = open();
    const auto kernel = runtime.fetch(gemm(5, 6, 7));
    Product product(5, 6, 7);
    const auto refusal = [&](std::int64_t GemmOperands::*stride, std::int64_t value) {
        auto operands = product.operands();
        operands.*stride = value;
        return error_of<std::invalid_argument>([&] { kernel.launch(nullptr, operands); });
    };
    EXPECT_THAT(refusal(&GemmOperands::lda, 6), AllOf(HasSubstr("lda=6"), HasSubstr("7 elements")));
    EXPECT_THAT(refusal(&GemmOperands::ldb, 5), AllOf(HasSubstr("ldb=5"), HasSubstr("6 elements")));
    EXPECT_THAT(refusal(&GemmOperands::ldc, -6), AllOf(HasSubstr("ldc=-6"), HasSubstr("6 elements")));
    product.expect_right(kernel);
}

// Two products of size 3x2x2. Every element of A[i] is i + 1, every element of B[i] is 10 * (i + 1).
TEST_F(OnHost, ABatchIsPackedUnlessItsStridesSayOtherwise) {
    auto runtime = open();
    const auto kernel = runtime.fetch(batched_gemm(2, 3, 2, 2));
    const std::vector<float> a{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2};
    const std::vector<float> b{10, 10, 10, 10, 20, 20, 20, 20};
    std::vector<float> c(12, -1);
    kernel.launch(nullptr, {.a = a.data(), .b = b.data(), .c = c.data()});
    EXPECT_EQ(c, (std::vector<float>{20, 20, 20, 20, 20, 20, 80, 80, 80, 80, 80, 80}));

    kernel.launch(nullptr, {.a = a.data(), .b = b.data(), .c = c.data(), .batch_stride_b = 0});
    EXPECT_EQ(c, (std::vector<float>{20, 20, 20, 20, 20, 20, 40, 40, 40, 40, 40, 40})) << "one B for both";

    std::vector<float> rows(15, -1);  // three times: a row of each product, then a padding element
    kernel.launch(nullptr,
                  {.a = a.data(), .b = b.data(), .c = rows.data(), .ldc = 5, .alpha = 0.5, .batch_stride_c = 2});
    EXPECT_EQ(rows, (std::vector<float>{10, 10, 40, 40, -1, 10, 10, 40, 40, -1, 10, 10, 40, 40, -1}));
}

// Two products of size 1x2x3. B[i] is 3x2, and each of its elements is 10 * (i + 1).
TEST_F(OnHost, APackedBatchOfMatricesThatAreNotSquareIsReadWhereItLies) {
    auto runtime = open();
    const std::vector<float> a(6, 1);
    const std::vector<float> b{10, 10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 20};
    for (const auto* layout : {"nn", "nt"}) {
        std::vector<float> c(4, -1);
        const auto kernel = runtime.fetch(batched_gemm(2, 1, 2, 3, "f32", layout));
        kernel.launch(nullptr, {.a = a.data(), .b = b.data(), .c = c.data()});
        EXPECT_EQ(c, (std::vector<float>{30, 30, 60, 60})) << layout;
    }
}

TEST_F(OnHost, BatchStridesThatMakeNoSenseAreRefused) {
    auto runtime = open();
    const auto refusal = [&](const Problem& problem, std::optional<std::int64_t> GemmOperands::*stride,
                             std::int64_t value) {
        GemmOperands operands;
        operands.*stride = value;
        return error_of<std::invalid_argument>([&] { runtime.fetch(problem).launch(nullptr, operands); });
    };
    const auto batch = batched_gemm(2, 3, 2, 2);
    EXPECT_THAT(refusal(batch, &GemmOperands::batch_stride_a, -1), HasSubstr("batch_stride_a=-1 is less than 0"));
    EXPECT_THAT(refusal(batch, &GemmOperands::batch_stride_b, -1), HasSubstr("batch_stride_b=-1 is less than 0"));
    EXPECT_THAT(refusal(batch, &GemmOperands::batch_stride_c, 0), HasSubstr("batch_stride_c=0 is less than 1"));
    EXPECT_THAT(refusal(gemm(3, 2, 2), &GemmOperands::batch_stride_b, 0), HasSubstr("fetch a batched_gemm"));
}

TEST_F(OnHost, OperationsOtherThanGemmTakeTheirArgumentsInOrder) {
    auto runtime = open();
    const auto kernel = runtime.fetch({"transpose", "f32", "", {{"M", 3}, {"N", 5}}});
    std::string names;
    for (const auto& argument : kernel.arguments()) names += argument.name + " ";
    EXPECT_EQ(names, "M N A lda B ldb ");
    std::vector<float> from(15), to(15), turned(15);
    for (std::size_t i = 0; i < 15; ++i) {
        from[i] = static_cast<float>(i);
        turned[i % 5 * 3 + i / 5] = from[i];
    }
    int m = 3, n = 5;
    const float* a = from.data();
    float* b = to.data();
    long long lda = 5, ldb = 3;
    const std::array<void*, 6> arguments{&m, &n, &a, &lda, &b, &ldb};
    kernel.launch(nullptr, arguments);
    EXPECT_EQ(to, turned);
    EXPECT_THROW(kernel.launch(nullptr, std::span(arguments).first(5)), std::invalid_argument);
    EXPECT_THROW(kernel.launch(nullptr, GemmOperands{}), std::invalid_argument);
}

// The grid was computed for the extents of the fetch. With other extents, the kernel would skip elements or read beyond
// the matrices.
TEST_F(OnHost, OperationsOtherThanGemmRefuseOtherExtents) {
    auto runtime = open();
    const auto kernel = runtime.fetch({"transpose", "f32", "", {{"M", 3}, {"N", 5}}});
    std::vector<float> from(64), to(64);
    const float* a = from.data();
    float* b = to.data();
    long long lda = 8, ldb = 8;
    const auto refusal = [&](int m, int n) {
        const std::array<void*, 6> arguments{&m, &n, &a, &lda, &b, &ldb};
        return error_of<std::invalid_argument>([&] { kernel.launch(nullptr, arguments); });
    };
    EXPECT_THAT(refusal(4, 5), HasSubstr("M=4 is not 3, as in transpose f32 3x5"));
    EXPECT_THAT(refusal(2, 5), HasSubstr("M=2 is not 3"));
    EXPECT_THAT(refusal(3, 6), HasSubstr("N=6 is not 5"));
    EXPECT_THAT(refusal(3, 0), HasSubstr("N=0 is not 5"));
}

TEST_F(OnHost, AKernelOutlivesItsRuntime) {
    std::optional<Runtime> runtime(open());
    const auto kernel = runtime->fetch(gemm(40, 41, 42));
    runtime.reset();
    Product(40, 41, 42).expect_right(kernel);
    EXPECT_EQ(kernel.arguments().size(), 11U);
}

TEST_F(OnHost, ThreadsFetchAndLaunchAtOnce) {
    tuned(gemm(32, 32, 32), "tiled", "TILE_WIDTH=8");
    auto runtime = open(no_compiler);
    const auto shared = runtime.fetch(gemm(32, 32, 32));
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&runtime, &shared, seed] {
            for (int i = 0; i < 20; ++i) {
                const int m = 20 + i % 5;
                Product(m, 33, 34, i % 3, seed).expect_right(runtime.fetch(gemm(m, 33, 34)));
                Product(32, 32, 32, 0, seed).expect_right(shared, 2, 1);
            }
        });
    }
}

TEST_F(OnHost, ADatabaseThatIsNoneIsAnErrorThatNamesIt) {
    std::ofstream(database) << "this is not a database, and long enough to be looked at as one: "
                            << std::string(999, 'x');
    EXPECT_THAT(error_of<std::runtime_error>([&] { (void)open(); }), HasSubstr("tuning.db"));
}

TEST_F(OnHost, AnAbsentDeviceIsAnErrorThatNamesWhatThereIs) {
    EXPECT_THAT(error_of<std::runtime_error>([] { Runtime({.database = {}, .device = "99"}); }),
                AllOf(HasSubstr("'99'"), HasSubstr("host")));
}

}  // namespace
}  // namespace smemtune
