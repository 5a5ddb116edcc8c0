// Tests each field of the JSON that `smemtune db` prints. docs/json.md describes the fields.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tuner/report/database_report.h"
#include "tuner/report/json.h"

namespace smemtune {
namespace {

using nlohmann::json;

TEST(DatabaseJson, AnInventoryHasEachCountUnderItsName) {
    const Store::Summary summary{.path = "t.db",
                                 .schema_version = 7,
                                 .devices = 100,
                                 .templates = 101,
                                 .problems = 102,
                                 .measured = 1,
                                 .rejected = 2,
                                 .binaries = 3,
                                 .runs = 4};
    const auto group = [](const std::string& name, std::int64_t first) {
        return Store::Group{.name = name,
                            .measured = first,
                            .rejected = first + 1,
                            .winners = first + 2,
                            .first_at = "at first",
                            .last_at = "at last"};
    };
    Store::Inventory inventory{{group("d", 10)},
                               {group("t", 20)},
                               {group("p", 30)},
                               {{"gemm f32 nn", "GPU", 5, false}, {"x f16", "GPU", 6, true}}};
    inventory.templates[0].unchecked = 9;
    const auto expected = [](const std::string& name, std::int64_t first) {
        return json{{"name", name},         {"measured", first},      {"rejected", first + 1},
                    {"winners", first + 2}, {"first_at", "at first"}, {"last_at", "at last"}};
    };
    auto with_unchecked = expected("t", 20);
    with_unchecked["unchecked"] = 9;
    const auto portfolios =
        json::array({{{"name", "gemm f32 nn"}, {"device_name", "GPU"}, {"members", 5}, {"used", true}},
                     {{"name", "x f16"}, {"device_name", "GPU"}, {"members", 6}, {"used", false}}});
    EXPECT_EQ(inventory_json(summary, 4096, inventory), (json{{"database", "t.db"},
                                                              {"bytes", 4096},
                                                              {"database_schema", 7},
                                                              {"measured", 1},
                                                              {"rejected", 2},
                                                              {"binaries", 3},
                                                              {"runs", 4},
                                                              {"devices", json::array({expected("d", 10)})},
                                                              {"templates", json::array({with_unchecked})},
                                                              {"problems", json::array({expected("p", 30)})},
                                                              {"portfolios", portfolios}}));
    const auto rows = inventory_rows(inventory);
    ASSERT_EQ(rows.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(rows[i].at("kind"), (std::vector{"device", "template", "problem"}[i]));
        EXPECT_EQ(rows[i].at("name"), (std::vector{"d", "t", "p"}[i]));
    }
}

TrialFacts trial() {
    TrialFacts facts;
    auto& row = facts.row;
    row.id = 17;
    row.device = "GPU";
    row.kernel_template = "tiled";
    row.template_hash = "hash";
    row.problem = gemm(1, 2, 3);
    row.finished_at = "finished";
    row.record.configuration = {{{"W", 8}}};
    row.record.resources = {.registers = 40, .static_shared_bytes = 1, .dynamic_shared_bytes = 2};
    row.record.compile_ms = 12.5;
    row.record.outcome = Measurement{.median_us = 5, .spread_us = 1, .samples_us = {5}};
    return facts;
}

TEST(DatabaseJson, ATrialHasWhatIsKnownOfIt) {
    auto facts = trial();
    json expected{{"id", 17},
                  {"device_name", "GPU"},
                  {"template", "tiled"},
                  {"template_hash", "hash"},
                  {"problem", gemm(1, 2, 3)},
                  {"configuration", {{"W", 8}}},
                  {"resources", facts.row.record.resources},
                  {"compile_ms", 12.5},
                  {"winner", false},
                  {"finished_at", "finished"},
                  {"measurement", std::get<Measurement>(facts.row.record.outcome)}};
    EXPECT_EQ(trial_json(facts), expected);

    facts.defaults = Configuration{{{"W", 16}}};
    facts.flops = 1;
    facts.share_of_peak = 2;
    facts.times_baseline = 3;
    facts.faster_trial = 4;
    facts.row.winner = true;
    facts.row.decided_at = "decided";
    auto& record = facts.row.record;
    record.verify_ms = 5;
    record.time_ms = 6;
    record.verified_by = "unchecked-x/y";
    record.code_hash = "code";
    record.toolchain = "tools";
    record.attempts = 7;
    expected.update(json{{"defaults", {{"W", 16}}},
                         {"flops", 1.0},
                         {"share_of_peak", 2.0},
                         {"times_baseline", 3.0},
                         {"faster_trial", 4},
                         {"winner", true},
                         {"decided_at", "decided"},
                         {"verify_ms", 5.0},
                         {"time_ms", 6.0},
                         {"verified_by", "unchecked-x/y"},
                         {"unchecked", true},
                         {"code_hash", "code"},
                         {"toolchain", "tools"}});
    EXPECT_EQ(trial_json(facts), expected) << "attempts count for crashes and timeouts alone";
    record.verified_by = "operation/testbed";
    EXPECT_FALSE(trial_json(facts).contains("unchecked"));
}

TEST(DatabaseJson, ARejectedTrialHasItsRejectionAndItsAttemptsIfItIsTriedAgain) {
    auto facts = trial();
    facts.row.record.outcome = Rejection{Stage::crash, "died"};
    facts.row.record.attempts = 3;
    const auto found = trial_json(facts);
    EXPECT_EQ(found.at("rejection"), (json{{"stage", "crash"}, {"reason", "died"}}));
    EXPECT_EQ(found.at("attempts"), 3);
    EXPECT_FALSE(found.contains("measurement"));
    facts.row.record.outcome = Rejection{Stage::wrong, "C[0] is 1"};
    EXPECT_FALSE(trial_json(facts).contains("attempts"));
}

TEST(DatabaseJson, ARunHasItsEndOnlyIfItEnded) {
    RunRow run{{R"({"sizes":"512"})", R"({"samples":3})", "no JSON"}, "begun", "over", ""};
    auto found = run_json(run);
    EXPECT_EQ(found.at("request"), (json{{"sizes", "512"}}));
    EXPECT_EQ(found.at("policy"), (json{{"samples", 3}}));
    EXPECT_TRUE(found.at("versions").is_discarded());
    EXPECT_EQ(found.at("started_at"), "begun");
    EXPECT_EQ(found.size(), 4U);
    run.how = "budget";
    found = run_json(run);
    EXPECT_EQ(found.at("finished_at"), "over");
    EXPECT_EQ(found.at("ended"), "budget");
}

}  // namespace
}  // namespace smemtune
