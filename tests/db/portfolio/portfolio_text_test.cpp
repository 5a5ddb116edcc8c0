#include "db/portfolio/portfolio_text.h"

#include <gmock/gmock.h>

#include <cmath>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

PortfolioRow shipped_member(std::int64_t width) {
    return {.member = {.configuration = {{{"TILE_WIDTH", width}, {"PAD", 1}}},
                       .model = {.coefficients = {2.5, 0, 1, 0.000123456, 0, 0, 1e9, 0, 3, 0.25},
                                 .error = 0.07,
                                 .residuals = {}},
                       .registers = 40,
                       .static_shared_bytes = 1024,
                       .classes = {"000", "111"},
                       .verified_by = "operation/testbed",
                       .code_hash = "hash of code " + std::to_string(width)},
            .kernel_template = "tiled",
            .template_hash = "hash of tiled"};
}

Residual residual_at(std::int64_t m, std::int64_t n, double log_ratio) {
    return {{std::log(static_cast<double>(m)), std::log(static_cast<double>(n))}, log_ratio};
}

PortfolioText shipped_portfolio() {
    auto device = model_device("sm_90");
    device.name = "a \"quoted\" GPU";
    return {.device = device,
            .operation = "gemm",
            .type = "f32",
            .layout = "nt",
            .target = "sm_90a",
            .compiler = "nvrtc 13.0 --some-option",
            .toolchain = "nvrtc 13.0; driver 580",
            .measured_at = "2026-11-23T00:00:00.000Z",
            .commit = "abc",
            .members = {shipped_member(16), shipped_member(32)}};
}

void expect_equal(const PortfolioText& found, const PortfolioText& wanted) {
    EXPECT_EQ(found.device, wanted.device);
    EXPECT_EQ(found.operation, wanted.operation);
    EXPECT_EQ(found.type, wanted.type);
    EXPECT_EQ(found.layout, wanted.layout);
    EXPECT_EQ(found.target, wanted.target);
    EXPECT_EQ(found.compiler, wanted.compiler);
    EXPECT_EQ(found.toolchain, wanted.toolchain);
    EXPECT_EQ(found.measured_at, wanted.measured_at);
    EXPECT_EQ(found.commit, wanted.commit);
    ASSERT_EQ(found.members.size(), wanted.members.size());
    for (std::size_t i = 0; i < wanted.members.size(); ++i) {
        EXPECT_EQ(found.members[i].member, wanted.members[i].member);
        EXPECT_EQ(found.members[i].kernel_template, wanted.members[i].kernel_template);
        EXPECT_EQ(found.members[i].template_hash, wanted.members[i].template_hash);
    }
}

TEST(PortfolioText, EveryFieldComesBack) {
    const auto portfolio = shipped_portfolio();
    expect_equal(parse_portfolio_text("a.toml", to_toml(portfolio)), portfolio);
}

TEST(PortfolioText, WhatIsUnknownIsLeftOut) {
    auto portfolio = shipped_portfolio();
    portfolio.layout = portfolio.toolchain = portfolio.measured_at = portfolio.commit = "";
    const auto text = to_toml(portfolio);
    EXPECT_EQ(text.find("commit"), std::string::npos);
    expect_equal(parse_portfolio_text("a.toml", text), portfolio);
}

TEST(PortfolioText, AMemberThatDiffersFromTheOthersSaysSo) {
    auto portfolio = shipped_portfolio();
    portfolio.members[1].template_hash = "hash of an earlier tiled";
    portfolio.members[1].member.verified_by = "operation/another";
    portfolio.members.push_back(shipped_member(64));
    portfolio.members[2].kernel_template = "naive";
    portfolio.members[2].template_hash = "hash of naive";
    expect_equal(parse_portfolio_text("a.toml", to_toml(portfolio)), portfolio);
}

TEST(PortfolioText, ResidualsComeBackInThousandthsWhereTheyWereMeasured) {
    auto portfolio = shipped_portfolio();
    portfolio.members[0].member.model.residuals = {residual_at(12000, 1, 0.031), residual_at(64, 977, -1.5)};
    portfolio.members[1].member.model.residuals = {residual_at(64, 977, 0.25), residual_at(7, 7, 0)};
    portfolio.members.push_back(shipped_member(64));
    const auto text = to_toml(portfolio);
    EXPECT_THAT(text, HasSubstr("problems = [\"12000x1\",\"64x977\",\"7x7\"]"));
    EXPECT_THAT(text, HasSubstr("residuals = \"31 -1500 -\""));
    expect_equal(parse_portfolio_text("a.toml", text), portfolio);
    portfolio.members[0].member.model.residuals[0].log_ratio = 0.03149;
    EXPECT_EQ(to_toml(portfolio), text);
}

TEST(PortfolioText, CoefficientsAreRoundedOnceToSixDigits) {
    auto portfolio = shipped_portfolio();
    portfolio.members[0].member.model.coefficients[0] = 1.0 / 3;
    portfolio.members[0].member.model.error = 123456789;
    const auto text = to_toml(portfolio);
    const auto read = parse_portfolio_text("a.toml", text);
    EXPECT_EQ(read.members[0].member.model.coefficients[0], 0.333333);
    EXPECT_EQ(read.members[0].member.model.error, 123457000.0);
    EXPECT_EQ(to_toml(read), text);
}

TEST(PortfolioText, APortfolioWithoutMembersIsRefused) {
    auto portfolio = shipped_portfolio();
    portfolio.members.clear();
    EXPECT_THROW((void)to_toml(portfolio), std::invalid_argument);
}

std::string error_of_text(const std::string& text) {
    try {
        (void)parse_portfolio_text("a.toml", text);
    } catch (const ManifestError& error) {
        return error.what();
    }
    return {};
}

TEST(PortfolioText, AMistakeIsNamedWithFileAndLine) {
    const auto text = to_toml(shipped_portfolio());
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        const auto at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        changed.replace(at, from.size(), to);
        const auto message = error_of_text(changed);
        EXPECT_THAT(message, Not(StartsWith("a.toml:0:")));
        return message;
    };
    EXPECT_EQ(error_of_text(text), "");
    EXPECT_THAT(with("format = 1", "format = 2"), StartsWith("a.toml:5: the portfolio 'format' is 2"));
    EXPECT_THAT(with("terms_version = ", "terms_version = 9"), HasSubstr("'terms_version' is 9"));
    EXPECT_THAT(with("compiler = \"nvrtc 13.0 --some-option\"", "compiler = \"\""), HasSubstr("'compiler' is empty"));
    EXPECT_THAT(with("type = \"f32\"", ""), HasSubstr("has no 'type'"));
    EXPECT_THAT(with("layout", "lay_out"), HasSubstr("unknown key 'lay_out'"));
    EXPECT_THAT(with("warp_size = 32", "warp_size = 0"), HasSubstr("[device] 'warp_size' is 0"));
    EXPECT_THAT(with("clock_khz = 1980000", "clock_khz = -1"), HasSubstr("[device] 'clock_khz' is negative"));
    EXPECT_THAT(with("clock_khz = 1980000", ""), HasSubstr("[device] has no 'clock_khz'"));
    EXPECT_THAT(with("clock_khz", "clock"), HasSubstr("clock"));
    EXPECT_THAT(with("grid_x = 2147483647", "grid_x = 2147483647\nsockets = 1"), HasSubstr("unknown key 'sockets'"));
    EXPECT_THAT(with("\"tiled\" = ", "\"naive\" = "), HasSubstr("[templates] has no 'tiled'"));
    EXPECT_THAT(with("PAD=1", "PAD"), HasSubstr("[[member]] 'configuration' cannot be read"));
    EXPECT_THAT(with("launch = 2.5", "launch = -2.5"),
                HasSubstr("coefficients 'launch' is not a number from 0 to 1e9"));
    EXPECT_THAT(with("launch = 2.5", "launch = nan"), HasSubstr("coefficients 'launch' is not a number from 0 to 1e9"));
    EXPECT_THAT(with("launch = 2.5", "launch = inf"), HasSubstr("coefficients 'launch' is not a number from 0 to 1e9"));
    EXPECT_THAT(with("launch = 2.5", "lunch = 2.5"), HasSubstr("unknown key 'lunch'"));
    EXPECT_THAT(with("error = 0.07", "error = -1.0"), HasSubstr("'error' is not a number from 0 to 1e9"));
    EXPECT_THAT(with("registers = 40", "registers = -1"), HasSubstr("'registers' is negative"));
    EXPECT_THAT(with("static_shared_bytes = 1024", "static_shared_bytes = -1"), HasSubstr("'static_shared_bytes' is"));
    EXPECT_THAT(with("code = \"hash of code 16\"", "code = \"\""), HasSubstr("'code' is empty"));
    EXPECT_THAT(with("code = ", "codes = "), HasSubstr("unknown key 'codes'"));
    EXPECT_THAT(with("verified_by = \"operation/testbed\"", ""), HasSubstr("has no 'verified_by'"));
    const std::string error = "error = 0.07\n";
    EXPECT_THAT(with(error, error + "residuals = \"1\"\n"), HasSubstr("'residuals' has 1 numbers for 0 problems"));
    EXPECT_THAT(with("launch = 2.5", "launch = 1e300"), HasSubstr("'launch' is not a number from 0 to 1e9"));
    EXPECT_THAT(with("error = 0.07", "error = 1e300"), HasSubstr("'error' is not a number from 0 to 1e9"));
    EXPECT_THAT(with("TILE_WIDTH=32", "TILE_WIDTH=16"),
                HasSubstr("has the [[member]] tiled PAD=1,TILE_WIDTH=16 twice"));
    const auto with_problems = [&](const std::string& problems, const std::string& residuals) {
        auto changed = text;
        changed.insert(changed.find("\n[device]"), "problems = [" + problems + "]\n");
        return error_of_text(changed.insert(changed.find(error) + error.size(), "residuals = \"" + residuals + "\"\n"));
    };
    EXPECT_EQ(with_problems("\"8x9\", \"9x8\"", "20000 -20000"), "");
    EXPECT_THAT(with_problems("\"8x9\"", "20001"), HasSubstr("'residuals' has 20001; residuals are -20000 to 20000"));
    EXPECT_THAT(with_problems("\"8x9\"", "-9223372036854775808"), HasSubstr("'residuals' has -9223372036854775808"));
    EXPECT_THAT(with_problems("\"8x9\", \"8x9\"", "1 1"), HasSubstr("'problems' has '8x9' twice"));
    EXPECT_THAT(with_problems("\"8x9\", \"8x9x1\"", "1 1"),
                HasSubstr("'problems' has '8x9x1', whose number of extents"));
    EXPECT_THAT(with_problems("\"8x9x\"", "1"), HasSubstr("'problems' has '', which is no whole number"));
    EXPECT_THAT(with_problems("\"\"", "1"), HasSubstr("'problems' has '', which is no whole number"));
    EXPECT_THAT(with_problems("\"8x2147483648\"", "1"), HasSubstr("extents are 1 to 2147483647"));
    EXPECT_THAT(with("\n[device]", "problems = [\"8xy\"]\n[device]"), HasSubstr("'problems' has 'y'"));
    EXPECT_THAT(with("\n[device]", "problems = [\"8x0\"]\n[device]"), HasSubstr("'problems' has the extent 0"));
    EXPECT_THAT(error_of_text(text.substr(0, text.find("[[member]]"))), HasSubstr("has no [[member]]"));
    EXPECT_THAT(error_of_text("format = ["), StartsWith("a.toml:1: not valid TOML"));
}

}  // namespace
}  // namespace smemtune
