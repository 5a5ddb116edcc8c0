#include "tuner/report/json.h"

#include <gmock/gmock.h>

#include <limits>
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

TEST(Json, EveryFieldHasItsName) {
    const Launch launch{.grid = {1, 2, 3},
                        .block = {4, 5, 6},
                        .static_shared_bytes = 7,
                        .dynamic_shared_bytes = 8,
                        .registers = 9,
                        .runtime_arguments = {10, 11},
                        .tensor_maps = {{12, 13, 14, 15, 16, 17, 18, true, 19}, {20, 21, 22, 23, 24, 25, 26, false}},
                        .workspace = WorkspaceArgument{27, 28},
                        .symbols = {{"s", 29, 30}}};
    EXPECT_EQ(json(launch), json::parse(R"({
        "grid": [1, 2, 3], "block": [4, 5, 6], "static_shared_bytes": 7, "dynamic_shared_bytes": 8, "registers": 9,
        "runtime_arguments": [10, 11],
        "tensor_maps": [{"matrix": 12, "stride": 13, "rows": 14, "columns": 15, "box_rows": 16, "box_columns": 17,
                         "element_bytes": 18, "swizzle": true, "copy_at": 19},
                        {"matrix": 20, "stride": 21, "rows": 22, "columns": 23, "box_rows": 24, "box_columns": 25,
                         "element_bytes": 26, "swizzle": false}],
        "workspace": {"bytes": 27, "place": 28}, "symbols": [{"name": "s", "place": 29, "bytes": 30}]})"));
    EXPECT_EQ(json(Launch{}), json::parse(R"({
        "grid": [1, 1, 1], "block": [1, 1, 1], "static_shared_bytes": 0, "dynamic_shared_bytes": 0, "registers": 0,
        "runtime_arguments": []})"))
        << "what it lacks is absent";
    EXPECT_EQ(
        json(Measurement{
            .median_us = 1, .spread_us = 2, .samples_us = {3, 4}, .cut_short = true, .clock_khz = 5, .energy_uj = 6}),
        json::parse(R"({"median_us": 1.0, "spread_us": 2.0, "samples_us": [3.0, 4.0], "cut_short": true,
                              "clock_khz": 5, "energy_uj": 6.0})"));
    EXPECT_EQ(json(Rejection{Stage::wrong, "because"}), (json{{"stage", "wrong"}, {"reason", "because"}}));
    EXPECT_EQ(json(Rejection{Stage::wrong, "because"}).get<Rejection>(), (Rejection{Stage::wrong, "because"}));
    EXPECT_EQ(json(Resources{.registers = 1, .spill_bytes = 2, .static_shared_bytes = 3, .dynamic_shared_bytes = 4}),
              (json{{"registers", 1}, {"spill_bytes", 2}, {"static_shared_bytes", 3}, {"dynamic_shared_bytes", 4}}));
    EXPECT_EQ(json(Resources{.spill_bytes = 2}),
              (json{{"spill_bytes", 2}, {"static_shared_bytes", 0}, {"dynamic_shared_bytes", 0}}));
    const SamplingPolicy policy{.batch_us = 1,
                                .most_launches = 2,
                                .least_samples = 3,
                                .most_samples = 4,
                                .steady_spread = 5,
                                .behind = 6,
                                .longest_us = 7,
                                .energy = true};
    EXPECT_EQ(json(policy), json::parse(R"({"batch_us": 1.0, "most_launches": 2, "least_samples": 3, "most_samples": 4,
                                            "steady_spread": 5.0, "behind": 6.0, "longest_us": 7.0, "energy": true})"));
    Device device{.name = "GPU"};
    json expected{{"name", "GPU"}};
    std::int64_t number = 100;
    for (const auto& field : device_fields()) expected[std::string(field.name)] = device.*field.member = ++number;
    EXPECT_EQ(json(device), expected);
    EXPECT_EQ(json(device).get<Device>(), device);
    EXPECT_EQ(json(parse_configuration("T=float4,N=-1")), (json{{"T", "float4"}, {"N", -1}}));
}

TEST(Json, AMeasurementThatCannotBeIsRefused) {
    const json right = Measurement{.median_us = 1, .samples_us = {1, 2}};
    EXPECT_NO_THROW((void)right.get<Measurement>());
    for (const auto* field : {"median_us", "spread_us", "energy_uj", "clock_khz"}) {
        auto wrong = right;
        wrong[field] = -1;
        EXPECT_THROW((void)wrong.get<Measurement>(), std::invalid_argument) << field;
    }
    for (const char* field : {"median_us", "spread_us", "energy_uj"}) {
        auto wrong = right;
        wrong[field] = std::numeric_limits<double>::infinity();
        EXPECT_THROW((void)wrong.get<Measurement>(), std::invalid_argument) << field;
    }
    auto wrong = right;
    wrong["samples_us"] = {1, -2};
    EXPECT_THROW((void)wrong.get<Measurement>(), std::invalid_argument);
    wrong["samples_us"] = json::array();
    EXPECT_NO_THROW((void)wrong.get<Measurement>());
}

}  // namespace
}  // namespace smemtune
