// Tests cuBLAS and cublasLt as competitors. A substitute for them, tests/fixtures/cublas, computes on the CPU.
#include "tuner/bench/competitor.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cmath>

#include "runtime/cublas/gemm_arguments.h"
#include "tests/tuner/scripted.h"
#include "tuner/bench/bench.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

TEST(CublasCompetitor, ComputesWhatOursDoes) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Cublas library(backend, {SMEMTUNE_FAKE_CUBLAS});
    const auto competitor = cublas_competitor(library);
    EXPECT_EQ(competitor->version(), "10.20.30");
    const auto entry = competitor->prepare(template_of("gemm").operation, gemm(24, 24, 24), testbed);
    const auto& kernel = std::get<CompetitorKernel>(entry);
    EXPECT_EQ(kernel.description.name, "cublasSgemm");
    EXPECT_FALSE(testbed.verify(*kernel.kernel).wrong) << "padded rows and beta included";
    const auto calls = testbed.batch(*kernel.kernel, 1);
    kernel.call(calls.front().arguments);
    EXPECT_FALSE(testbed.verify(*kernel.kernel).wrong) << "after a call on another stream";
}

TEST(CublasCompetitor, ComputesBatchesAsOursDo) {
    Scripted backend;
    const auto problem = batched_gemm(5, 12, 7, 9);
    const auto& kernel = template_of("batched_gemm");
    const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
    Testbed testbed(backend, kernel.operation, problem, compile_testbed(*compiler, kernel, problem), 1);
    const Cublas library(backend, {SMEMTUNE_FAKE_CUBLAS});
    const auto by_default = cublas_competitor(library)->prepare(kernel.operation, problem, testbed);
    EXPECT_EQ(std::get<CompetitorKernel>(by_default).description.name, "cublasSgemmStridedBatched");
    EXPECT_FALSE(testbed.verify(*std::get<CompetitorKernel>(by_default).kernel).wrong)
        << "gaps between matrices and one B for all included";
    const auto light = cublaslt_competitor(library, backend, 8)->prepare(kernel.operation, problem, testbed);
    EXPECT_THAT(std::get<CompetitorKernel>(light).description.name, HasSubstr("the best of 3"));
}

TEST(CublasLtCompetitor, TakesTheFastestProposalOfThoseThatRun) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Cublas library(backend, {SMEMTUNE_FAKE_CUBLAS});
    auto* handle = dlopen(SMEMTUNE_FAKE_CUBLAS, RTLD_NOW | RTLD_NOLOAD);
    const auto last_algorithm = reinterpret_cast<int (*)()>(dlsym(handle, "fake_last_algorithm"));
    for (const int fastest : {2, 3}) {
        backend.launch_us = [&](const BoundKernel*) { return last_algorithm() == fastest ? 50.0 : 60.0; };
        const auto entry =
            cublaslt_competitor(library, backend, 8)->prepare(template_of("gemm").operation, gemm(24, 24, 24), testbed);
        ASSERT_TRUE(std::holds_alternative<CompetitorKernel>(entry));
        EXPECT_EQ(std::get<CompetitorKernel>(entry).description.name,
                  "algorithm " + std::to_string(fastest) + ", the best of 3");
    }
    const auto none =
        cublaslt_competitor(library, backend, 2)->prepare(template_of("gemm").operation, gemm(24, 24, 24), testbed);
    EXPECT_EQ(std::get<Unavailable>(none).reason, "cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE")
        << "the only one fails";
    dlclose(handle);
}

TEST(CublasLtCompetitor, TakesTheNextFastestWhenTheFastestIsWrong) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Cublas library(backend, {SMEMTUNE_FAKE_CUBLAS});
    auto* handle = dlopen(SMEMTUNE_FAKE_CUBLAS, RTLD_NOW | RTLD_NOLOAD);
    const auto last_algorithm = reinterpret_cast<int (*)()>(dlsym(handle, "fake_last_algorithm"));
    backend.launch_us = [&](const BoundKernel*) { return last_algorithm() == 2 ? 50.0 : 60.0; };
    int first_right = 3;
    backend.after = [&](const Backend::Call& call) {
        if (last_algorithm() < first_right) *static_cast<float*>(gemm_arguments(call.arguments.data()).c) = NAN;
    };
    const auto prepare = [&] {
        auto competitor = cublaslt_competitor(library, backend, 8);
        return std::get<CompetitorKernel>(
            competitor->prepare(template_of("gemm").operation, gemm(24, 24, 24), testbed));
    };
    EXPECT_EQ(prepare().description.name, "algorithm 3, the best of 3, 1 of them wrong");
    first_right = 4;
    const auto wrong = prepare();
    EXPECT_EQ(wrong.description.name, "algorithm 2, the best of 3, 2 of them wrong")
        << "for the comparison to find out";
    dlclose(handle);
}

TEST(CublasLtCompetitor, ALibraryThatRefusesAProblemIsNoContenderForIt) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Cublas library(backend, {SMEMTUNE_FAKE_CUBLAS});
    auto* handle = dlopen(SMEMTUNE_FAKE_CUBLAS, RTLD_NOW | RTLD_NOLOAD);
    auto& refuses = *static_cast<bool*>(dlsym(handle, "fake_heuristic_refuses"));
    refuses = true;
    const auto entry =
        cublaslt_competitor(library, backend, 8)->prepare(template_of("gemm").operation, gemm(24, 24, 24), testbed);
    refuses = false;
    EXPECT_EQ(std::get<Unavailable>(entry).reason, "cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_INVALID_VALUE");
    dlclose(handle);
}

TEST(CublasCompetitor, ComputesMatrixProductsAlone) {
    Scripted backend;
    auto testbed = testbed_on(backend);
    const Cublas library(backend, {SMEMTUNE_FAKE_CUBLAS});
    const auto& transpose = template_of("transpose").operation;
    const Problem problem{.operation = "transpose", .extents = {{"M", 8}, {"N", 8}}};
    for (const auto& competitor : {cublas_competitor(library), cublaslt_competitor(library, backend, 8)}) {
        EXPECT_EQ(std::get<Unavailable>(competitor->prepare(transpose, problem, testbed)).reason,
                  "only gemm and batched_gemm of f32, f16, bf16, tf32, 3xtf32 are compared with cuBLAS");
    }
}

}  // namespace
}  // namespace smemtune
