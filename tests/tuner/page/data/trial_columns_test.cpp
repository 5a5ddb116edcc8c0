#include "tuner/page/data/trial_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tuner/analysis/timestamp.h"

namespace smemtune {

namespace {

using ::testing::ElementsAre;

TrialRow column_row(std::int64_t id, Outcome outcome, const std::string& finished_at) {
    TrialRow row{.id = id, .finished_at = finished_at};
    row.record.outcome = std::move(outcome);
    row.record.resources = {.registers = 40, .static_shared_bytes = 100, .dynamic_shared_bytes = 28};
    row.record.compile_ms = 123.456;
    return row;
}

nlohmann::json columns_of(const std::vector<TrialRow>& rows, const std::vector<TrialPlace>& places) {
    TrialColumns columns;
    for (std::size_t i = 0; i < rows.size(); ++i) columns.add(rows[i], places[i]);
    EXPECT_EQ(columns.size(), rows.size());
    return nlohmann::json::parse(columns.to_json());
}

TEST(TrialColumns, NumbersOfListsAndTimesAreDifferences) {
    const auto json = columns_of(
        {column_row(7, Measurement{.median_us = 12.345678, .spread_us = 0.0123456}, "2026-11-23T01:30:35.428Z"),
         column_row(9, Measurement{.median_us = 2000000.4}, "2026-11-23T01:30:36.000Z"),
         column_row(10, Measurement{.median_us = 3}, "2026-11-23T01:30:35.000Z")},
        {{.problem = 4, .configuration = 2}, {.problem = 1}, {.device = 1, .problem = 1}});
    EXPECT_THAT(json["id"], ElementsAre(7, 2, 1));
    EXPECT_THAT(json["problem"], ElementsAre(4, -3, 0));
    EXPECT_THAT(json["configuration"], ElementsAre(2, -2, 0));
    EXPECT_THAT(json["device"], ElementsAre(0, 0, 1));
    EXPECT_THAT(json["at"], ElementsAre(0, 572, -1000));
    EXPECT_EQ(json["begin"], milliseconds_of("2026-11-23T01:30:35.428Z"));
    EXPECT_THAT(json["median"], ElementsAre(12.346, 2e6, 3));
    EXPECT_THAT(json["spread"], ElementsAre(0.0123, 0, 0));
    EXPECT_THAT(json["compile"], ElementsAre(123, 123, 123));
    EXPECT_THAT(json["shared"], ElementsAre(128, 128, 128));
}

TEST(TrialColumns, AStateIsALetter) {
    auto verified = column_row(1, Measurement{.median_us = 1}, "");
    verified.record.verified_by = "identity";
    auto unchecked = verified;
    unchecked.record.verified_by = "unchecked-0123/45";
    std::vector<TrialRow> rows{verified, unchecked, column_row(2, Measurement{.median_us = 1}, ""),
                               column_row(3, Measurement{.median_us = 1, .cut_short = true}, "")};
    for (const auto stage :
         {Stage::limits, Stage::compile, Stage::launch, Stage::wrong, Stage::crash, Stage::timeout}) {
        rows.push_back(column_row(4, Rejection{stage, stage == Stage::crash ? "\xff</script>" : "too large"}, ""));
    }
    const auto json = columns_of(rows, std::vector<TrialPlace>(rows.size()));
    EXPECT_EQ(json["state"], "vumsLCAWXT");
    EXPECT_THAT(json["reason"], ElementsAre(-1, -1, -1, -1, 0, 0, 0, 0, 1, 0));
    EXPECT_THAT(json["reasons"], ElementsAre("too large", "\xEF\xBF\xBD</script>"));
}

TEST(TrialColumns, AnInfiniteDurationIsUnknown) {
    auto row = column_row(1, Measurement{.median_us = 1}, "");
    row.record.compile_ms = std::numeric_limits<double>::infinity();
    EXPECT_THAT(columns_of({row}, {{}})["compile"], ElementsAre(0));
}

TEST(TrialColumns, NoTrialIsAnObjectWithoutColumns) {
    EXPECT_EQ(nlohmann::json::parse(TrialColumns().to_json())["state"], "");
}

}  // namespace

}  // namespace smemtune
