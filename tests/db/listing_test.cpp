// Tests queries whose answers people read: their orders, filters and counts. Every date in the databases is known.
#include "db/store.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using Sort = Store::Filter::Sort;

std::string day(int number) {
    return "2026-01-" + std::string(number < 10 ? "0" : "") + std::to_string(number) + "T00:00:00.000Z";
}

// The tests list trials of two devices, three templates, and problems of two operations:
//
//   id  device  template  problem          outcome   day
//   1   b       tiled     gemm 512 nn      9 us      5
//   2   b       tiled     gemm 512 nn      wrong     1
//   3   b       naive     gemm 512 nn      7 us      5    winner since day 6
//   4   a       tiled     gemm 512 nn      3 us      2
//   5   b       tiled     gemm 64 tn       8 us      3
//   6   b       turned    transpose 32     2 us      4    compared with no reference
//   7   b       tiled     gemm 512 nn      limits    1
class ListingTest : public ::testing::Test {
protected:
    ListingTest() {
        DatabaseContent content;
        content.devices[1] = model_device("sm_90");
        content.devices[2] = model_device("sm_80");
        content.devices[1].name = "b";
        content.devices[2].name = "a";
        content.templates[1] = tiled();
        content.templates[2] = {"naive", "gemm", "hash of naive", {}};
        content.templates[3] = {"turned", "transpose", "hash of turned", {}};
        content.problems[1] = gemm(512, 512, 512);
        content.problems[2] = gemm(64, 64, 64, "f32", "tn");
        content.problems[3] = {"transpose", "f16", "", {{"M", 32}, {"N", 8}}};
        auto turned = measured({1, 3, 3}, tile(1), 2);
        turned.verified_by = "unchecked-x/testbed";
        content.trials = {{measured({1, 1, 1}, tile(1), 9), day(5)},
                          {rejected({1, 1, 1}, tile(2), Stage::wrong), day(1)},
                          {measured({1, 2, 1}, tile(1), 7), day(5), day(6)},
                          {measured({2, 1, 1}, tile(1), 3), day(2)},
                          {measured({1, 1, 2}, tile(1), 8), day(3)},
                          {turned, day(4)},
                          {rejected({1, 1, 1}, tile(3), Stage::limits), day(1)}};
        store.fill(content);
    }

    [[nodiscard]] std::vector<std::int64_t> ids(const Store::Filter& filter) const {
        std::vector<std::int64_t> found;
        for (const auto& row : store.rows(filter)) found.push_back(row.id);
        EXPECT_EQ(store.count(filter), filter.limit ? ids_without_limit(filter) : found.size());
        return found;
    }
    [[nodiscard]] std::size_t ids_without_limit(Store::Filter filter) const {
        filter.limit.reset();
        return store.rows(filter).size();
    }

    Scratch scratch;
    std::filesystem::path path = scratch / "tuned.db";
    Store store{path};
};

TEST_F(ListingTest, RowsAreSortedByTimeWithinTheirDeviceAndProblemOrByDateOrNumber) {
    // Rows are sorted by the device's name, then by operation, type, layout and problem, then by measured time. The
    // rejected trials of a problem come after its measured trials, in the order of their numbers.
    EXPECT_THAT(ids({}), ElementsAre(4, 3, 1, 2, 7, 5, 6));
    EXPECT_THAT(ids({.sort = Sort::date}), ElementsAre(3, 1, 6, 5, 4, 7, 2)) << "of one date, the latest row first";
    EXPECT_THAT(ids({.sort = Sort::id}), ElementsAre(1, 2, 3, 4, 5, 6, 7));
    EXPECT_THAT(ids({.sort = Sort::date, .limit = 3}), ElementsAre(3, 1, 6));
    EXPECT_THAT(ids({.limit = 0}), IsEmpty());
    EXPECT_THAT(ids({.limit = 99}), ElementsAre(4, 3, 1, 2, 7, 5, 6));
}

TEST_F(ListingTest, EachFilterLooksAtItsOwnColumnAndAllMustMatch) {
    EXPECT_THAT(ids({.devices = {"a"}}), ElementsAre(4));
    EXPECT_THAT(ids({.kernel_templates = {"naive", "turned"}}), ElementsAre(3, 6));
    EXPECT_THAT(ids({.sizes = {"64x64x64", "32x8"}}), ElementsAre(5, 6));
    EXPECT_THAT(ids({.operations = {"transpose"}}), ElementsAre(6));
    EXPECT_THAT(ids({.devices = {"b"}, .kernel_templates = {"tiled"}, .sizes = {"512*"}}), ElementsAre(1, 2, 7));
    EXPECT_THAT(ids({.devices = {"a"}, .operations = {"transpose"}}), IsEmpty());
    EXPECT_THAT(ids({.best_only = true}), ElementsAre(4, 3, 5, 6));
    EXPECT_THAT(ids({.rejected_only = true}), ElementsAre(2, 7));
    EXPECT_THAT(ids({.best_only = true, .rejected_only = true}), IsEmpty());
    EXPECT_THAT(ids({.devices = {"", "*a*"}}), ElementsAre(4)) << "an empty pattern matches an empty name alone";
    for (const auto* pattern : {"_", "%", "\\", "?", "b_"})
        EXPECT_THAT(ids({.devices = {pattern}}), IsEmpty()) << pattern;
}

TEST_F(ListingTest, ARowHasTheNamesAndDatesBehindItsNumbers) {
    const auto row = *store.row(3);
    EXPECT_EQ(row.id, 3);
    EXPECT_EQ(row.device, "b");
    EXPECT_EQ(row.kernel_template, "naive");
    EXPECT_EQ(row.template_hash, "hash of naive");
    EXPECT_EQ(row.problem, gemm(512, 512, 512));
    EXPECT_EQ(row.record, measured({1, 2, 1}, tile(1), 7));
    EXPECT_TRUE(row.winner);
    EXPECT_EQ(row.finished_at, day(5));
    EXPECT_EQ(row.decided_at, day(6));
    EXPECT_EQ(store.row(1)->decided_at, "");
    EXPECT_FALSE(store.row(1)->winner);
}

// Returns each group as `name: measured rejected winners first last unchecked`. Dates are reduced to their day.
std::vector<std::string> texts_of(const std::vector<Store::Group>& groups) {
    std::vector<std::string> texts;
    for (const auto& each : groups) {
        texts.push_back(each.name + ": " + std::to_string(each.measured) + " " + std::to_string(each.rejected) + " " +
                        std::to_string(each.winners) + " " + each.first_at.substr(8, 2) + " " +
                        each.last_at.substr(8, 2) + " " + std::to_string(each.unchecked));
    }
    return texts;
}

TEST_F(ListingTest, TheInventoryHasEveryCountAndDateOfItsGroups) {
    const auto all = store.inventory({});
    EXPECT_THAT(texts_of(all.devices), ElementsAre("a: 1 0 0 02 02 0", "b: 4 2 1 01 05 1"));
    EXPECT_THAT(texts_of(all.templates),
                ElementsAre("naive: 1 0 1 05 05 0", "tiled: 3 2 0 01 05 0", "turned: 1 0 0 04 04 1"));
    EXPECT_THAT(texts_of(all.problems),
                ElementsAre("gemm f32 nn 512x512x512: 3 2 1 01 05 0", "gemm f32 tn 64x64x64: 1 0 0 03 03 0",
                            "transpose f16 32x8: 1 0 0 04 04 1"));
    const auto some = store.inventory({.kernel_templates = {"tiled"}, .rejected_only = true});
    EXPECT_THAT(texts_of(some.devices), ElementsAre("b: 0 2 0 01 01 0"));
    EXPECT_THAT(texts_of(some.templates), ElementsAre("tiled: 0 2 0 01 01 0"));
    EXPECT_THAT(texts_of(some.problems), ElementsAre("gemm f32 nn 512x512x512: 0 2 0 01 01 0"));
}

TEST_F(ListingTest, DevicesOfOneNameAreTwoGroupsAndVersionsOfATemplateAreOne) {
    auto other = model_device("sm_90");
    other.name = "b";
    other.memory_bytes = 1;
    const auto key = TrialKey{store.remember(other), store.remember(TemplateRecord{"naive", "gemm", "newer", {}}), 1};
    store.remember(measured(key, tile(4), 1));
    const auto all = store.inventory({});
    EXPECT_EQ(all.devices.size(), 3U);
    EXPECT_EQ(all.devices[1].name + all.devices[2].name, "bb");
    EXPECT_EQ(all.templates.size(), 3U);
    EXPECT_EQ(all.templates[0].measured, 2);
}

TEST_F(ListingTest, TrialsAreCountedWhateverTheirOutcomeAndOnlyOfTheirDeviceProblemAndVersion) {
    const auto b = store.devices().at(0).second;
    const auto a = store.devices().at(1).second;
    EXPECT_EQ(store.count(b, "tiled", tiled().hash, gemm(512, 512, 512)), 3U);
    EXPECT_EQ(store.count(a, "tiled", tiled().hash, gemm(512, 512, 512)), 1U);
    EXPECT_EQ(store.count(b, "tiled", tiled().hash, gemm(64, 64, 64, "f32", "tn")), 1U);
    EXPECT_EQ(store.count(b, "naive", tiled().hash, gemm(512, 512, 512)), 0U);
    EXPECT_EQ(store.count(b, "tiled", tiled().hash, gemm(7, 7, 7)), 0U);
}

TEST_F(ListingTest, TheFastestIsTheFirstOfEquals) {
    store.remember(measured({1, 1, 1}, tile(8), 7));
    store.set_winner({1, 1, 1}, tile(8), {});
    EXPECT_EQ(store.fastest(1, 1)->id, 3);
    EXPECT_EQ(store.best(1, 1)->record.configuration, tile(8)) << "the winner";
    EXPECT_EQ(store.fastest(2, 1)->id, 4);
    EXPECT_EQ(store.fastest(2, 2), std::nullopt);
    EXPECT_EQ(store.best_us(1, 1, "tiled"), 7);
    EXPECT_EQ(store.best_us(1, 2, "tiled"), 8);
    EXPECT_EQ(store.best_us(2, 1, "tiled"), 3);
    EXPECT_EQ(store.best_us(1, 1, "turned"), std::nullopt);
}

TEST_F(ListingTest, TheBestOfAnOperationComesInTheOrderOfTheProblems) {
    store.remember(measured({1, 1, store.remember(gemm(32, 32, 32))}, tile(1), 1));
    for (const auto* name : {"", "tiled"}) {
        std::vector<std::string> sizes;
        for (const auto& row : store.best_of(1, "gemm", "f32", "nn", name)) sizes.push_back(size_text(row.problem));
        EXPECT_THAT(sizes, ElementsAre("512x512x512", "32x32x32")) << name;
    }
}

TEST_F(ListingTest, TheTemplatesOfAnOperationAreThoseOfAllVersions) {
    const auto newer = store.remember(TemplateRecord{"naive", "gemm", "newer", {}});
    EXPECT_THAT(store.templates_of("gemm"), ::testing::UnorderedElementsAre(1, 2, newer));
    EXPECT_THAT(store.templates_of("transpose"), ElementsAre(3));
    EXPECT_THAT(store.templates_of("gem"), IsEmpty());
}

TEST_F(ListingTest, TheSummaryCountsEachTable) {
    auto code = std::vector<std::uint8_t>{1};
    store.set_winner(with_code(measured({1, 1, 1}, tile(9), 1), code), {1, tile(9), "sm_90a", "NVRTC", code, {}});
    store.start_run({});
    store.start_run({});
    const auto summary = store.summary();
    EXPECT_EQ(summary.devices, 2);
    EXPECT_EQ(summary.templates, 3);
    EXPECT_EQ(summary.problems, 3);
    EXPECT_EQ(summary.measured, 6);
    EXPECT_EQ(summary.rejected, 2);
    EXPECT_EQ(summary.binaries, 1);
    EXPECT_EQ(summary.runs, 2);
}

TEST_F(ListingTest, ARunComesBackWithEveryFieldAndWithoutOneAsAnEmptyObject) {
    const auto run = store.start_run({R"({"a":1})", R"({"b":2})", R"({"c":3})"});
    const auto empty = store.start_run({});
    EXPECT_EQ(store.recall_run(run)->record, (RunRecord{R"({"a":1})", R"({"b":2})", R"({"c":3})"}));
    EXPECT_EQ(store.recall_run(empty)->record, (RunRecord{"{}", "{}", "{}"}));
    EXPECT_EQ(store.recall_run(run)->finished_at, "");
    EXPECT_EQ(store.how_ended(run), std::nullopt);
    store.finish_run(run, "budget");
    EXPECT_EQ(store.how_ended(run), "budget");
    EXPECT_EQ(store.how_ended(empty), std::nullopt);
    EXPECT_EQ(store.how_ended(run + 99), std::nullopt);
    EXPECT_EQ(store.recall_run(run)->started_at.size(), day(1).size());
    EXPECT_EQ(store.recall_run(run)->finished_at.size(), day(1).size());
}

// Compares the filters of the SQL queries with the same rules written in C++, for all combinations of a few patterns.
TEST_F(ListingTest, FiltersFindWhatAPlainSearchFinds) {
    const auto matches = [](const std::vector<std::string>& patterns, const std::string& name) {
        return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
                   return pattern == "*" || pattern == name ||
                          (pattern.back() == '*' && name.starts_with(pattern.substr(0, pattern.size() - 1)));
               });
    };
    const std::vector<std::vector<std::string>> devices{{}, {"a"}, {"*"}, {"a", "b"}, {"c"}};
    const std::vector<std::vector<std::string>> templates{{}, {"t*"}, {"naive"}};
    const std::vector<std::vector<std::string>> sizes{{}, {"512x*"}, {"64x64x64", "32x8"}};
    const auto all = store.rows({.sort = Sort::id});
    for (const auto& device : devices) {
        for (const auto& name : templates) {
            for (const auto& size : sizes) {
                std::vector<std::int64_t> wanted;
                for (const auto& row : all) {
                    if (matches(device, row.device) && matches(name, row.kernel_template) &&
                        matches(size, size_text(row.problem))) {
                        wanted.push_back(row.id);
                    }
                }
                EXPECT_THAT(ids({.devices = device, .kernel_templates = name, .sizes = size, .sort = Sort::id}),
                            ElementsAreArray(wanted));
            }
        }
    }
}

}  // namespace
}  // namespace smemtune
