// Against a library of our own that computes on the CPU (tests/fixtures/cublas): the calls are those that a GPU gets.
#include "runtime/cuda/cublas.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>

#include "runtime/gemm_arguments.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

// Integers, so that every order of summation gives the same.
struct Product {
    GemmArguments given;
    std::string layout;
    std::vector<float> a, b, c;

    Product(const std::string& layout_name, int m, int n, int k, int padding) : layout(layout_name) {
        const bool ta = layout[0] == 't';
        const bool tb = layout[1] == 't';
        given = {.m = m,
                 .n = n,
                 .k = k,
                 .alpha = 2,
                 .lda = (ta ? m : k) + padding,
                 .ldb = (tb ? k : n) + padding,
                 .beta = -3,
                 .ldc = n + padding};
        a.resize(static_cast<std::size_t>((ta ? k : m) * given.lda));
        b.resize(static_cast<std::size_t>((tb ? n : k) * given.ldb));
        c.resize(static_cast<std::size_t>(m * given.ldc));
        for (auto* matrix : {&a, &b, &c}) {
            for (std::size_t i = 0; i < matrix->size(); ++i)
                (*matrix)[i] = static_cast<float>((i * 7 + matrix->size()) % 5) - 2;
        }
    }

    [[nodiscard]] std::vector<float> expected() const {
        auto result = c;
        const auto at = [](const std::vector<float>& matrix, long long stride, bool transposed, int row, int column) {
            return matrix[static_cast<std::size_t>(transposed ? column * stride + row : row * stride + column)];
        };
        for (int i = 0; i < given.m; ++i) {
            for (int j = 0; j < given.n; ++j) {
                float sum = 0;
                for (int l = 0; l < given.k; ++l) {
                    sum += at(a, given.lda, layout[0] == 't', i, l) * at(b, given.ldb, layout[1] == 't', l, j);
                }
                auto& element = result[static_cast<std::size_t>(i * given.ldc + j)];
                element = given.alpha * sum + given.beta * element;
            }
        }
        return result;
    }

    std::vector<float> computed_by(const LoadedKernel& kernel) {
        auto values = given;
        auto result = c;
        const void* a_data = a.data();
        const void* b_data = b.data();
        void* c_data = result.data();
        const std::array<void*, 11> addresses{&values.m,    &values.n,   &values.k,  &values.alpha,
                                              &a_data,      &values.lda, &b_data,    &values.ldb,
                                              &values.beta, &c_data,     &values.ldc};
        kernel.launch(nullptr, {}, addresses.data());
        return result;
    }
};

class CublasTest : public ::testing::Test {
protected:
    [[nodiscard]] int open_handles() const {
        auto* library = dlopen(SMEMTUNE_FAKE_CUBLAS, RTLD_NOW | RTLD_NOLOAD);
        const auto count = reinterpret_cast<int (*)()>(dlsym(library, "fake_open_handles"))();
        dlclose(library);
        return count;
    }

    std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_F(CublasTest, ItsDefaultComputesEveryLayoutStrideAndScalar) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    EXPECT_EQ(library.version(), "10.20.30");
    for (const auto* layout : {"nn", "nt", "tn", "tt"}) {
        Product product(layout, 3, 4, 5, 2);
        EXPECT_EQ(product.computed_by(*library.gemm(gemm(3, 4, 5, "f32", layout))), product.expected()) << layout;
    }
}

TEST_F(CublasTest, AProposalComputesEveryLayoutInPackedRows) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    for (const auto* layout : {"nn", "nt", "tn", "tt"}) {
        const auto proposals = library.proposals(gemm(3, 4, 5, "f32", layout), 8);
        ASSERT_EQ(proposals.size(), 3U) << "one of four is unfit by the library's own word";
        Product product(layout, 3, 4, 5, 0);
        EXPECT_EQ(product.computed_by(*proposals.back().kernel), product.expected()) << layout;
        EXPECT_EQ(proposals.back().detail, "algorithm 3");
    }
}

TEST_F(CublasTest, NoMoreIsProposedThanWasAskedFor) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    EXPECT_EQ(library.proposals(gemm(3, 4, 5), 2).size(), 1U);
}

TEST_F(CublasTest, WhatTheLibraryRefusesIsALaunchErrorWithItsName) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    const auto proposals = library.proposals(gemm(3, 4, 5), 8);
    Product product("nn", 3, 4, 5, 0);
    EXPECT_EQ(error_of<LaunchError>([&] { (void)product.computed_by(*proposals.front().kernel); }),
              "cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(CublasTest, AProposalIsNotRunOnOtherStridesThanItWasMadeFor) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    const auto proposals = library.proposals(gemm(3, 4, 5), 8);
    Product padded("nn", 3, 4, 5, 1);
    EXPECT_THAT(error_of<LaunchError>([&] { (void)padded.computed_by(*proposals.back().kernel); }),
                HasSubstr("other extents or strides"));
}

TEST_F(CublasTest, AStrideThatDoesNotFitItsDefaultIsRefused) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    for (const auto stride : {&GemmArguments::lda, &GemmArguments::ldb, &GemmArguments::ldc}) {
        Product product("nn", 3, 4, 5, 0);
        product.given.*stride = (1LL << 32) + 8;  // as an int it would do
        EXPECT_THAT(error_of<LaunchError>([&] { (void)product.computed_by(*library.gemm(gemm(3, 4, 5))); }),
                    HasSubstr("a leading dimension of 4294967304 exceeds 2147483647"));
    }
}

TEST_F(CublasTest, EverythingIsGivenBackWithTheLastKernel) {
    std::unique_ptr<LoadedKernel> last;
    {
        const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
        last = std::move(library.proposals(gemm(3, 4, 5), 8).back().kernel);
    }
    Product product("nn", 3, 4, 5, 0);
    EXPECT_EQ(product.computed_by(*last), product.expected()) << "a kernel keeps what it needs";
    last.reset();
    EXPECT_EQ(open_handles(), 0);
}

TEST_F(CublasTest, ALibraryThatIsNowhereIsNamed) {
    EXPECT_THAT(error_of<VendorError>([&] {
                    const Cublas library(*backend, {"libnone.so.1", "libnone.so"});
                }),
                HasSubstr("not found as libnone.so.1, libnone.so; install"));
}

TEST_F(CublasTest, ALibraryThatIsNotCublasIsRefused) {
    EXPECT_THAT(error_of<VendorError>([&] {
                    const Cublas library(*backend, {"libnone.so", "libc.so.6"});
                }),
                HasSubstr("lacks cublasCreate_v2"));
}

}  // namespace
}  // namespace smemtune
