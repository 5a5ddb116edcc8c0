#include "tuner/shipping/portfolio_texts.h"

#include <gmock/gmock.h>

#include <span>

#include "tests/tuner/support.h"
#include "util/hash.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

class PortfolioTexts : public ::testing::Test {
protected:
    // Stores a portfolio of two members. The compiler `first` made the machine code of one member. The compiler
    // `second` made the machine code of the other member.
    void store_members(const std::string& first, const std::string& second) {
        const auto device = store.remember(model_device("sm_90"));
        const auto kernel = store.remember(TemplateRecord{"tiled", "gemm", "hash", {}});
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto& compiler : {first, second}) {
            const Configuration configuration{{{"TILE_WIDTH", static_cast<std::int64_t>(members.size())}}};
            const std::vector<std::uint8_t> code{static_cast<std::uint8_t>(members.size())};
            const auto hash = sha256(std::as_bytes(std::span(code)));
            members.push_back({kernel, configuration, {}, 32, 0, {"111"}, "operation/testbed", hash});
            binaries.push_back({.kernel_template = kernel,
                                .configuration = configuration,
                                .target = "sm_90a f32 nn",
                                .compiler = compiler,
                                .code = code,
                                .resources = {}});
        }
        store.set_portfolio({device, "gemm", "f32", "nn"}, members, binaries);
    }

    const Scratch scratch;
    Store store{scratch / "t.db"};
};

TEST_F(PortfolioTexts, NameTheCompilerOfTheirMembers) {
    store_members("NVRTC 13.0", "NVRTC 13.0");
    const auto texts = portfolio_texts(store, "abcdef");
    ASSERT_EQ(texts.size(), 1U);
    EXPECT_EQ(texts[0].compiler, "NVRTC 13.0");
    EXPECT_EQ(texts[0].target, "sm_90a");
    ASSERT_EQ(texts[0].members.size(), 2U);
    EXPECT_EQ(texts[0].members[0].member.kernel_template, 0) << "row numbers mean nothing outside their database";
    EXPECT_EQ(file_name(texts[0]), "sm_90-gemm-f32-nn.toml");
}

TEST_F(PortfolioTexts, MembersOfDifferentCompilersAreRefused) {
    store_members("NVRTC 13.0", "NVRTC 13.1");
    try {
        (void)portfolio_texts(store, "abcdef");
        FAIL();
    } catch (const StoreError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("different compilers (NVRTC 13.0, NVRTC 13.1); run 'smemtune portfolio --db "));
    }
}

TEST(PortfolioFileName, HasNoCapitalsAndNoLettersThatAShellKnows) {
    PortfolioText text{.device = {.name = "NVIDIA H200"}, .operation = "batched_gemm", .type = "3xtf32"};
    EXPECT_EQ(file_name(text), "nvidia_h200-batched_gemm-3xtf32.toml");
    text.layout = "tn";
    EXPECT_EQ(file_name(text), "nvidia_h200-batched_gemm-3xtf32-tn.toml");
}

}  // namespace
}  // namespace smemtune
