#include "tuner/page/data/launch_facts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using nlohmann::json;

json facts_of(const Device& device, const Resources& resources = {}, std::int64_t width = 32,
              const Problem& problem = gemm(64, 96, 32)) {
    const auto& templates = builtin_templates();
    const auto& tiled = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    return launch_facts(tiled, {.configuration = {{{"TILE_WIDTH", width}}}, .outcome = {}, .resources = resources},
                        problem, device);
}

TEST(LaunchFacts, AreGridBlockSharedMemoryAndWhatLimitsTheOccupancy) {
    auto device = model_device("sm_90");
    device.multiprocessors = 2;
    const auto facts = facts_of(device, {.registers = 40});
    EXPECT_EQ(facts.at("block"), (json{32, 32, 1}));
    EXPECT_EQ(facts.at("shared"), 8192);
    EXPECT_EQ(facts.at("resident"), 1) << "40 registers of 1,024 threads fit once";
    EXPECT_EQ(facts.at("limiter"), "registers");
    EXPECT_EQ(facts.at("by"), (json{{"threads", 2}, {"shared memory", 25}, {"registers", 1}, {"blocks", 32}}));
    EXPECT_EQ(facts.at("waves"), 3.0) << "6 tiles on 2 multiprocessors";
    EXPECT_EQ(facts.at("grid").size(), 3U);
}

TEST(LaunchFacts, TakeRegistersAndStaticSharedMemoryFromTheCompilerIfItReportedThem) {
    const auto device = model_device("sm_90");
    EXPECT_EQ(facts_of(device, {.registers = 32}).at("resident"), 2);
    EXPECT_EQ(facts_of(device, {.registers = 40, .static_shared_bytes = 9000}).at("shared"), 9000);
}

TEST(LaunchFacts, OfTheHostHaveNoOccupancyAndOfRulesWithoutAValueAreNone) {
    const auto host = facts_of(Device{.name = "host"});
    EXPECT_EQ(host.size(), 3U);
    EXPECT_TRUE(host.contains("grid") && host.contains("block") && host.contains("shared"));
    EXPECT_TRUE(facts_of(model_device("sm_90"), {}, 32, {"gemm", "f32", "nn", {{"M", 1}}}).empty());
    auto without_blocks = model_device("sm_90");
    without_blocks.threads_per_multiprocessor = 1;
    EXPECT_FALSE(facts_of(without_blocks).contains("waves"));
}

}  // namespace
}  // namespace smemtune
