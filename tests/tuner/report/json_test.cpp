#include "tuner/report/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace smemtune {
namespace {

using nlohmann::json;

TEST(Json, ADocumentSaysItsSchemaAndCommand) {
    const auto made = document("db best", {{"winners", json::array()}});
    EXPECT_EQ(made, (json{{"schema", json_schema}, {"command", "db best"}, {"winners", json::array()}}));
}

TEST(Json, AProblemKeepsTheOrderOfItsExtents) {
    const auto problem = gemm(4096, 11008, 128);
    const json made = problem;
    EXPECT_EQ(made, json::parse(R"({"operation": "gemm", "type": "f32", "layout": "nn", "size": "4096x11008x128",
                                    "dimensions": ["M", "N", "K"], "extents": {"M": 4096, "N": 11008, "K": 128}})"));
    EXPECT_EQ(made.get<Problem>(), problem);
    EXPECT_EQ(json(batched_gemm(2, 3, 4, 5)).get<Problem>(), batched_gemm(2, 3, 4, 5));
}

TEST(Json, AProblemWithoutALayoutHasNone) {
    const Problem problem{.operation = "transpose", .extents = {{"M", 4}, {"N", 3}}};
    EXPECT_FALSE(json(problem).contains("layout"));
    EXPECT_EQ(json(problem).get<Problem>(), problem);
}

TEST(Json, ProblemsOfOlderVersionsAreRead) {
    const auto old = json::parse(R"({"operation": "gemm", "type": "f32", "layout": "nt",
                                     "extents": [["M", 512], ["N", 64], ["K", 32]]})");
    EXPECT_EQ(old.get<Problem>(), gemm(512, 64, 32, "f32", "nt"));
}

TEST(Json, UnknownValuesAreAbsent) {
    const Measurement measured{.median_us = 12, .spread_us = 1, .samples_us = {12}};
    const json made = measured;
    EXPECT_FALSE(made.contains("energy_uj"));
    EXPECT_FALSE(made.contains("clock_khz"));
    EXPECT_EQ(made.get<Measurement>(), measured);
    const Measurement full{.median_us = 12, .samples_us = {12}, .clock_khz = 1980000, .energy_uj = 3.5};
    EXPECT_EQ(json(full).get<Measurement>(), full);
    EXPECT_EQ(json(full).at("energy_uj"), 3.5);

    const Resources none{.dynamic_shared_bytes = 64};
    EXPECT_EQ(json(none), (json{{"static_shared_bytes", 0}, {"dynamic_shared_bytes", 64}}));
    EXPECT_EQ(json(none).get<Resources>(), none);
    const Resources all{.registers = 40, .static_shared_bytes = 1, .dynamic_shared_bytes = 2};
    EXPECT_EQ(json(all).at("spill_bytes"), 0);
    EXPECT_EQ(json(all).get<Resources>(), all);

    auto device = model_device("sm_90");
    EXPECT_EQ(json(device).get<Device>(), device);
    device.clock_khz = 0;
    EXPECT_FALSE(json(device).contains("clock_khz"));
    EXPECT_EQ(json(device).get<Device>(), device);
}

TEST(Json, AConfigurationIsAnObject) {
    EXPECT_EQ(json(Configuration{{{"A", 1}, {"B", 2}}}), (json{{"A", 1}, {"B", 2}}));
    EXPECT_EQ(json(Configuration{}), json::object());
}

}  // namespace
}  // namespace smemtune
