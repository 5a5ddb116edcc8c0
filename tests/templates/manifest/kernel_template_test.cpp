#include "templates/manifest/kernel_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

KernelTemplate builtin(const std::string& name) {
    const auto& all = builtin_templates();
    return *std::ranges::find(all, name, &KernelTemplate::name);
}

std::string problem_refusal(const Problem& problem) {
    try {
        (void)environment_of(builtin("tiled").operation, problem, Device{});
        return "accepted";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TEST(KernelTemplate, SupportsItsOperationTypesAndLayouts) {
    const auto tiled = builtin("tiled");
    const auto device = model_device("sm_90");
    EXPECT_TRUE(supports(tiled, gemm(1, 1, 1), device));
    EXPECT_FALSE(supports(tiled, gemm(1, 1, 1, "bf16"), device));
    EXPECT_FALSE(supports(tiled, gemm(1, 1, 1, "f32", "nt"), device));
    EXPECT_FALSE(supports(tiled, {.operation = "transpose", .extents = {{"M", 1}, {"N", 1}}}, device));
}

TEST(KernelTemplate, WithoutLayoutsSupportsThoseOfTheProblem) {
    auto tiled = builtin("tiled");
    tiled.layouts.clear();
    EXPECT_TRUE(supports(tiled, gemm(1, 1, 1, "f32", "tt"), model_device("sm_90")));
}

TEST(KernelTemplate, SupportsDevicesFromItsComputeCapabilityOn) {
    auto tiled = builtin("tiled");
    tiled.compute_capability = 80;
    EXPECT_FALSE(supports(tiled, gemm(1, 1, 1), model_device("sm_75")));
    EXPECT_TRUE(supports(tiled, gemm(1, 1, 1), model_device("sm_80")));
    EXPECT_TRUE(supports(tiled, gemm(1, 1, 1), model_device("sm_120")));
}

TEST(KernelTemplate, RunsOnTheHostOnlyWhereItSaysSo) {
    auto tiled = builtin("tiled");
    const Device host{.name = "host"};
    tiled.compute_capability = 90;  // the host device ignores this requirement
    EXPECT_TRUE(supports(tiled, gemm(1, 1, 1), host));
    tiled.host = false;
    EXPECT_FALSE(supports(tiled, gemm(1, 1, 1), host));
}

TEST(KernelTemplate, TheEnvironmentHoldsExtentsLayoutConstantsAndLimits) {
    const auto environment =
        environment_of(builtin("tiled").operation, gemm(4096, 11008, 128, "f32", "tn"), model_device("sm_90"));
    EXPECT_EQ(environment.at("M"), 4096);
    EXPECT_EQ(environment.at("N"), 11008);
    EXPECT_EQ(environment.at("K"), 128);
    EXPECT_EQ(environment.at("TRANSPOSE_A"), 1);
    EXPECT_EQ(environment.at("TRANSPOSE_B"), 0);
    EXPECT_EQ(environment.at("element_bytes"), 4);
    EXPECT_EQ(environment.at("device.shared_bytes_per_block"), 227 * 1024);
}

TEST(KernelTemplate, AProblemThatDoesNotFitTheOperationIsRefused) {
    EXPECT_THAT(problem_refusal(gemm(1, 1, 1, "f64")), HasSubstr("type 'f64' is unknown; known: f32"));
    EXPECT_EQ(problem_refusal(gemm(1, 1, 1, "f32", "xx")), "layout 'xx' is unknown to gemm; known: nn nt tn tt");
    EXPECT_EQ(problem_refusal({.operation = "gemm", .layout = "nn", .extents = {{"M", 4}, {"N", 5}}}),
              "size '4x5' does not fit gemm; write MxNxK");
    EXPECT_THAT(problem_refusal({.operation = "gemm", .layout = "nn", .extents = {{"M", 4}, {"K", 5}, {"N", 6}}}),
                HasSubstr("write MxNxK"));
    EXPECT_EQ(problem_refusal(gemm(1, 0, 1)), "extent N=0 is not in 1..2147483647");
    EXPECT_EQ(problem_refusal(gemm(-4, 1, 1)), "extent M=-4 is not in 1..2147483647");
    EXPECT_EQ(problem_refusal(gemm(1, 1, 2147483648)), "extent K=2147483648 is not in 1..2147483647");
    EXPECT_EQ(problem_refusal(gemm(2147483647, 1, 1)), "accepted");
}

TEST(KernelTemplate, StartsFromItsDefaults) {
    EXPECT_EQ(to_text(default_configuration(builtin("joint_tiled"))), "TSZ_COLS=32,TSZ_ROWS=64,TSZ_STRIPS=8");
}

TEST(KernelTemplate, RendersOneConstantPerParameterAndLayoutConstant) {
    const auto text = render(builtin("tiled"), {{{"TILE_WIDTH", 32}}}, gemm(1, 2, 3, "f32", "nt"));
    EXPECT_EQ(text,
              "// tiled: TILE_WIDTH=32\n"
              "#pragma once\n"
              "using Element = float;\n"
              "constexpr int TRANSPOSE_A = 0;\n"
              "constexpr int TRANSPOSE_B = 1;\n"
              "constexpr int TILE_WIDTH = 32;\n");
}

TEST(KernelTemplate, RendersDerivedConstantsInOrderAndNoOtherDerivedNames) {
    auto kernel = builtin("tiled");
    const auto add = [&](const std::string& name, const std::string& value, bool constant) {
        kernel.derived.push_back(
            {.name = name, .value = value, .summary = "", .constant = constant, .expression = Expression(value)});
    };
    add("THREADS", "TILE_WIDTH * TILE_WIDTH * element_bytes - TRANSPOSE_B", true);
    add("TILES", "M / TILE_WIDTH", false);
    add("MANY", "TILE_WIDTH << 40", true);
    add("FEW", "0 - (TILE_WIDTH << 40)", true);
    EXPECT_THAT(render(kernel, {{{"TILE_WIDTH", 32}}}, gemm(1, 2, 3, "f32", "nt")),
                testing::EndsWith("constexpr int TILE_WIDTH = 32;\n"
                                  "constexpr int THREADS = 4095;\n"
                                  "constexpr long long MANY = 35184372088832;\n"
                                  "constexpr long long FEW = -35184372088832;\n"));
}

TEST(KernelTemplate, RendersTheSameForEverySizeSoThatOneBinaryServesAll) {
    const auto tiled = builtin("tiled");
    const auto configuration = default_configuration(tiled);
    EXPECT_EQ(render(tiled, configuration, gemm(1, 2, 3)), render(tiled, configuration, gemm(4, 5, 6)));
}

TEST(KernelTemplate, RendersTheSameForEveryValueOfARuntimeParameter) {
    auto kernel = builtin("joint_tiled");
    std::ranges::find(kernel.parameters, "TSZ_STRIPS", &Parameter::name)->runtime = true;
    auto configuration = default_configuration(kernel);
    const auto text = render(kernel, configuration, gemm(1, 2, 3));
    EXPECT_THAT(text, testing::Not(HasSubstr("TSZ_STRIPS")));
    EXPECT_THAT(text, HasSubstr("constexpr int TSZ_ROWS = 64;"));
    configuration.values["TSZ_STRIPS"] = 4;
    EXPECT_EQ(render(kernel, configuration, gemm(1, 2, 3)), text);
    configuration.values["TSZ_ROWS"] = 32;
    EXPECT_NE(render(kernel, configuration, gemm(1, 2, 3)), text);
}

TEST(KernelTemplate, RendersWithoutLayoutConstantsWhereThereAreNone) {
    const auto transpose = builtin("tiled_transpose");
    const Problem problem{.operation = "transpose", .extents = {{"M", 3}, {"N", 4}}};
    EXPECT_THAT(render(transpose, default_configuration(transpose), problem), testing::Not(HasSubstr("TRANSPOSE_A")));
}

TEST(ElementType, KnowsItsRounding) {
    EXPECT_EQ(element_type("f32").unit_roundoff, 0x1p-24);
    EXPECT_EQ(element_type("f16").unit_roundoff, 0x1p-11);
    EXPECT_EQ(element_type("bf16").unit_roundoff, 0x1p-8);
    EXPECT_THROW((void)element_type("F32"), std::invalid_argument);
}

TEST(ElementType, OfSixteenBitsIsAStructOfItsBitsBesideScalarsInFp32) {
    for (const auto& [type, bits] : std::map<std::string, std::string>{{"f16", "11"}, {"bf16", "8"}}) {
        const auto problem = gemm(1, 2, 3, type, "nt");
        const auto tiled = builtin("tiled");
        EXPECT_THAT(render(tiled, default_configuration(tiled), problem),
                    HasSubstr("struct Element {\n    static constexpr int significand_bits = " + bits +
                              ";\n    unsigned short bits;\n};\n"));
        EXPECT_EQ(environment_of(tiled.operation, problem, model_device("sm_90")).at("element_bytes"), 2);
        for (const auto& argument : tiled.operation.arguments) {
            if (argument.is_matrix()) {
                EXPECT_EQ(type_of(argument, type).name(), type);
            }
            if (argument.kind == Argument::Kind::scalar) {
                EXPECT_EQ(type_of(argument, type).name(), "f32");
            }
        }
    }
}

TEST(ElementType, IsNarrowIfItsInputsHaveFewerBitsThanTheSums) {
    for (const auto* narrow : {"f16", "bf16", "tf32"}) EXPECT_TRUE(element_type(narrow).is_narrow()) << narrow;
    for (const auto* wide : {"f32", "3xtf32"}) EXPECT_FALSE(element_type(wide).is_narrow()) << wide;
}

class Fp32InMemory : public testing::TestWithParam<std::string> {};

TEST_P(Fp32InMemory, IsATypeOfItsOwn) {
    const auto problem = gemm(1, 2, 3, GetParam(), "nt");
    const auto tiled = builtin("tiled");
    EXPECT_THAT(render(tiled, default_configuration(tiled), problem), HasSubstr("using Element = float;\n"));
    EXPECT_EQ(environment_of(tiled.operation, problem, model_device("sm_90")).at("element_bytes"), 4);
    for (const auto& argument : tiled.operation.arguments) {
        if (argument.is_matrix()) {
            EXPECT_EQ(type_of(argument, GetParam()).name(), "f32");
        }
    }
    EXPECT_EQ(why_unsupported(tiled, problem, model_device("sm_90")), "types: f32") << "another precision";
    const auto wgmma = builtin("wgmma_tiled");
    EXPECT_EQ(why_unsupported(wgmma, gemm(64, 64, 64, "f16"), model_device("sm_90")), std::nullopt);
    EXPECT_EQ(why_unsupported(wgmma, gemm(64, 64, 64, "f16"), model_device("sm_100")),
              "runs up to compute capability 9.0 only");
    EXPECT_EQ(why_unsupported(wgmma, gemm(64, 64, 64, "f16"), model_device("sm_89")), "needs compute capability 9.0");
}

INSTANTIATE_TEST_SUITE_P(Types, Fp32InMemory, testing::Values("tf32", "3xtf32"),
                         [](const auto& instance) { return "Of_" + instance.param; });

TEST(ElementType, ThatATemplateDoesNotListIsNotSupported) {
    EXPECT_EQ(why_unsupported(builtin("tiled"), gemm(1, 2, 3, "bf16"), model_device("sm_90")), "types: f32");
}

TEST(Problem, IsSpelledWithItsLayoutWhereItHasOne) {
    EXPECT_EQ(to_text(gemm(4096, 11008, 128)), "gemm f32 nn 4096x11008x128");
    EXPECT_EQ(to_text(Problem{.operation = "transpose", .extents = {{"M", 3}, {"N", 4}}}), "transpose f32 3x4");
}

}  // namespace
}  // namespace smemtune
