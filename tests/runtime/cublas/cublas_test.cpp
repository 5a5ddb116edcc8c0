// Tests calls of cuBLAS with a substitute library that computes on the CPU (tests/fixtures/cublas). The substitute gets
// the same calls as the real library on a GPU.
#include "runtime/cublas/cublas.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <span>

#include "runtime/cublas/gemm_arguments.h"
#include "templates/arguments/argument_type.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

// The operands of a matrix product. They are small integers, so that every order of summation gives the same result.
struct Product {
    GemmArguments given;
    std::string layout;
    GemmKind kind = GemmKind::single;
    std::vector<float> a, b, c;

    Product(const std::string& layout_name, int m, int n, int k, int padding) : layout(layout_name) {
        lay_out(1, m, n, k, padding, 0);
    }
    // A batch of products. `gap` is the number of unused elements between two matrices.
    Product(const std::string& layout_name, int batch, int m, int n, int k, int padding, int gap)
        : layout(layout_name), kind(GemmKind::batched) {
        lay_out(batch, m, n, k, padding, gap);
    }

    void lay_out(int batch, int m, int n, int k, int padding, int gap) {
        const bool ta = layout[0] == 't';
        const bool tb = layout[1] == 't';
        given = {.batch = batch,
                 .m = m,
                 .n = n,
                 .k = k,
                 .alpha = 2,
                 .lda = (ta ? m : k) + padding,
                 .ldb = (tb ? k : n) + padding,
                 .beta = -3,
                 .ldc = n + padding};
        given.stride_a = (ta ? k : m) * given.lda + gap;
        given.stride_b = (tb ? n : k) * given.ldb + gap;
        given.stride_c = m * given.ldc + gap;
        a.resize(static_cast<std::size_t>(batch * given.stride_a));
        b.resize(static_cast<std::size_t>(batch * given.stride_b));
        c.resize(static_cast<std::size_t>(batch * given.stride_c));
        for (auto* matrix : {&a, &b, &c}) {
            for (std::size_t i = 0; i < matrix->size(); ++i)
                (*matrix)[i] = static_cast<float>((i * 7 + matrix->size()) % 5) - 2;
        }
    }

    [[nodiscard]] std::vector<float> expected() const {
        auto result = c;
        const auto at = [](const std::vector<float>& matrix, long long from, long long stride, bool transposed, int row,
                           int column) {
            return matrix[static_cast<std::size_t>(from +
                                                   (transposed ? column * stride + row : row * stride + column))];
        };
        for (int index = 0; index < given.batch * given.m * given.n; ++index) {
            const int p = index / (given.m * given.n);
            const int i = index / given.n % given.m;
            const int j = index % given.n;
            float sum = 0;
            for (int l = 0; l < given.k; ++l) {
                sum += at(a, p * given.stride_a, given.lda, layout[0] == 't', i, l) *
                       at(b, p * given.stride_b, given.ldb, layout[1] == 't', l, j);
            }
            auto& element = result[static_cast<std::size_t>(p * given.stride_c + i * given.ldc + j)];
            element = given.alpha * sum + given.beta * element;
        }
        return result;
    }

    std::vector<float> computed_by(const BoundKernel& kernel, const std::string& type = "f32") const {
        const auto& number = *argument_type(element_type(type).number).number;
        const auto stored = [&](const std::vector<float>& matrix) {
            std::vector<std::byte> bytes(matrix.size() * static_cast<std::size_t>(number.bytes));
            for (std::size_t i = 0; i < matrix.size(); ++i) store_number(number, matrix[i], place(bytes, number, i));
            return bytes;
        };
        auto values = given;
        const auto first = stored(a);
        const auto second = stored(b);
        auto third = stored(c);
        values.a = first.data();
        values.b = second.data();
        values.c = third.data();
        const auto addresses = addresses_of(values, kind);
        kernel.launch(nullptr, addresses);
        auto result = c;
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = static_cast<float>(load_number(number, place(third, number, i)));
        }
        return result;
    }

private:
    static std::span<std::byte> place(std::vector<std::byte>& bytes, const NumberType& number, std::size_t i) {
        const auto size = static_cast<std::size_t>(number.bytes);
        return std::span(bytes).subspan(i * size, size);
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
        EXPECT_EQ(product.computed_by(*library.gemm(gemm(3, 4, 5, "f32", layout)).kernel), product.expected())
            << layout;
    }
}

TEST_F(CublasTest, ItsDefaultComputesABatchWithGapsAndWithOneMatrixForAll) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    for (const auto* layout : {"nn", "nt", "tn", "tt"}) {
        Product product(layout, 6, 3, 4, 5, 2, 7);
        const auto kernel = library.gemm(batched_gemm(6, 3, 4, 5, "f32", layout)).kernel;
        EXPECT_EQ(product.computed_by(*kernel), product.expected()) << layout;
        product.given.stride_b = 0;
        EXPECT_EQ(product.computed_by(*kernel), product.expected()) << layout;
    }
}

// The substitute library refuses a call whose compute type does not belong to the element type.
TEST_F(CublasTest, EveryTypeIsComputedInItsOwnWay) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    for (const std::string type : {"f16", "bf16", "tf32"}) {
        SCOPED_TRACE(type);
        ASSERT_TRUE(Cublas::has(type));
        const Product padded("tn", 3, 4, 5, 2);
        const auto single = library.gemm(gemm(3, 4, 5, type, "tn"));
        EXPECT_EQ(single.detail, "cublasGemmEx");
        EXPECT_EQ(padded.computed_by(*single.kernel, type), padded.expected());
        const Product gaps("nt", 6, 3, 4, 5, 2, 7);
        const auto batched = library.gemm(batched_gemm(6, 3, 4, 5, type, "nt"));
        EXPECT_EQ(batched.detail, "cublasGemmStridedBatchedEx");
        EXPECT_EQ(gaps.computed_by(*batched.kernel, type), gaps.expected());
        const Product packed("nn", 3, 4, 5, 0);
        EXPECT_EQ(packed.computed_by(*library.proposals(gemm(3, 4, 5, type), 8).back().kernel, type),
                  packed.expected());
    }
    EXPECT_FALSE(Cublas::has("f64"));
}

// smemtune compares 3xtf32 with cublasSgemm, because a program that needs this precision would otherwise call
// cublasSgemm.
TEST_F(CublasTest, ThreeProductsOfTf32AreComparedWithSgemm) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    const Product padded("tn", 3, 4, 5, 2);
    const auto single = library.gemm(gemm(3, 4, 5, "3xtf32", "tn"));
    EXPECT_EQ(single.detail, "cublasSgemm");
    EXPECT_EQ(padded.computed_by(*single.kernel), padded.expected());
    EXPECT_EQ(library.gemm(batched_gemm(6, 3, 4, 5, "3xtf32", "nt")).detail, "cublasSgemmStridedBatched");
}

TEST_F(CublasTest, AProposalComputesABatchOfPackedMatrices) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    for (const int batch : {1, 6}) {
        for (const auto* layout : {"nn", "nt", "tn", "tt"}) {
            const auto proposals = library.proposals(batched_gemm(batch, 3, 4, 5, "f32", layout), 8);
            Product product(layout, batch, 3, 4, 5, 0, 0);
            EXPECT_EQ(product.computed_by(*proposals.back().kernel), product.expected()) << layout << " " << batch;
            product.given.stride_a = 0;
            EXPECT_THAT(error_of<LaunchError>([&] { (void)product.computed_by(*proposals.back().kernel); }),
                        HasSubstr("other extents or strides"));
        }
    }
}

TEST_F(CublasTest, AProposalComputesEveryLayoutInPackedRows) {
    const Cublas library(*backend, {SMEMTUNE_FAKE_CUBLAS});
    for (const auto* layout : {"nn", "nt", "tn", "tt"}) {
        const auto proposals = library.proposals(gemm(3, 4, 5, "f32", layout), 8);
        ASSERT_EQ(proposals.size(), 3U) << "the library says of one of the four that it is not supported";
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
        product.given.*stride = (1LL << 32) + 8;  // too large for cublasSgemm's int
        EXPECT_THAT(error_of<LaunchError>([&] { (void)product.computed_by(*library.gemm(gemm(3, 4, 5)).kernel); }),
                    HasSubstr("a leading dimension of 4294967304 exceeds 2147483647"));
    }
}

TEST_F(CublasTest, EverythingIsGivenBackWithTheLastKernel) {
    std::unique_ptr<BoundKernel> last;
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
