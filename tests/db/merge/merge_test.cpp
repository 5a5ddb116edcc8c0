#include "db/merge/merge.h"

#include <algorithm>
#include <functional>

#include "db/file/schema.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

const std::vector<std::uint8_t> first_code{1, 2, 3};
const std::vector<std::uint8_t> second_code{4, 5};

std::string hash_of_bytes(const std::vector<std::uint8_t>& code) { return sha256(std::as_bytes(std::span(code))); }

// Returns a database's content with one device, one template and one problem. Each of them has the number `row`.
DatabaseContent content_at(std::int64_t row) {
    DatabaseContent content;
    content.devices[row] = model_device("sm_90");
    content.templates[row] = tiled();
    content.problems[row] = gemm(512, 512, 512);
    return content;
}

DatedTrial dated(TrialRecord trial, const std::string& day, bool is_winner = false) {
    const auto date = "2026-01-" + day + "T00:00:00.000Z";
    return {std::move(trial), date, is_winner ? date : ""};
}

TrialKey key_of(std::int64_t row) { return {row, row, row}; }

BinaryRecord binary_of(std::int64_t row, const std::vector<std::uint8_t>& code) {
    return {row, tile(16), "sm_90a f32 nn", "NVRTC", code, {.registers = 40}};
}

PortfolioMember member_of(std::int64_t row, const std::vector<std::uint8_t>& code, double error) {
    return {.kernel_template = row,
            .configuration = tile(16),
            .model = {.coefficients = {1}, .error = error},
            .registers = 40,
            .classes = {"111"},
            .verified_by = "operation/testbed",
            .code_hash = hash_of_bytes(code)};
}

MergedContent merged(const std::vector<DatabaseContent>& databases) {
    return merge(databases, [](const TemplateRecord&) { return Configuration{}; });
}

// Merges a database that has trial `a` with a database that has trial `b`, in both orders. Returns the trial that the
// merged database keeps.
TrialRecord kept(DatedTrial a, DatedTrial b) {
    auto first = content_at(1);
    auto second = content_at(7);
    a.record.key = key_of(1);
    b.record.key = key_of(7);
    first.trials = {a};
    second.trials = {b};
    const auto forwards = merged({first, second});
    EXPECT_EQ(forwards.content, merged({second, first}).content);
    EXPECT_EQ(forwards.shared_trials, 1U);
    EXPECT_EQ(forwards.content.trials.size(), 1U);
    return forwards.content.trials.at(0).record;
}

TrialRecord cut_short(double median_us) {
    auto trial = measured(key_of(1), tile(16), median_us);
    std::get<Measurement>(trial.outcome).cut_short = true;
    trial.verified_by.clear();
    return trial;
}

TEST(Merge, RowsAreNumberedAnewAndTrialsFollowTheirDates) {
    auto first = content_at(5);
    first.trials = {dated(measured(key_of(5), tile(16), 9), "03")};
    first.runs[4] = {{"{}", "{}", "{}"}, "2026-01-03T00:00:00.000Z", "", ""};
    first.trials[0].record.run = 4;
    auto second = content_at(9);
    second.problems[9] = gemm(256, 256, 256);
    second.devices[9].name = "another";
    second.trials = {dated(measured(key_of(9), tile(16), 3), "01")};
    const auto both = merged({first, second}).content;
    EXPECT_EQ(both.devices.size(), 2U);
    EXPECT_EQ(both.templates.size(), 1U);
    EXPECT_EQ(both.problems.at(1), gemm(256, 256, 256));
    ASSERT_EQ(both.trials.size(), 2U);
    EXPECT_EQ(both.trials[0].record.key.problem, 1);
    EXPECT_EQ(both.devices.at(both.trials[0].record.key.device).name, "another");
    EXPECT_EQ(both.trials[1].record.key.problem, 2);
    EXPECT_EQ(both.trials[1].record.run, 1);
    EXPECT_EQ(both, merged({second, first}).content);
}

// Trial 2 is a finalist: it is measured again at the end, so its date is late. It was first tried before trials 3 and
// 4.
TEST(Merge, ATrialThatWasRepeatedKeepsItsPlace) {
    auto first = content_at(1);
    first.trials = {dated(measured(key_of(1), tile(1), 9), "02"), dated(measured(key_of(1), tile(2), 5), "08", true),
                    dated(measured(key_of(1), tile(3), 9), "04"), dated(measured(key_of(1), tile(4), 9), "06")};
    auto second = content_at(1);
    second.trials = {dated(measured(key_of(1), tile(5), 9), "03"), dated(measured(key_of(1), tile(6), 9), "05")};
    const auto both = merged({first, second}).content;
    std::vector<std::string> order;
    for (const auto& trial : both.trials) order.push_back(to_text(trial.record.configuration));
    const std::vector<std::string> wanted{"TILE_WIDTH=1", "TILE_WIDTH=5", "TILE_WIDTH=2",
                                          "TILE_WIDTH=3", "TILE_WIDTH=6", "TILE_WIDTH=4"};
    EXPECT_EQ(order, wanted);
    EXPECT_EQ(merged({both, second, first}).content, both);
    EXPECT_EQ(merged({both, both}).content, both);
}

TEST(Merge, ATrialOfSeveralDatabasesHasThePlaceOfItsFirstAttempt) {
    auto early = content_at(1);
    early.trials = {dated(measured(key_of(1), tile(2), 9), "01")};
    auto late = content_at(1);
    late.trials = {dated(measured(key_of(1), tile(1), 9), "03"), dated(measured(key_of(1), tile(2), 5), "05")};
    for (const auto& databases : {std::vector{early, late}, std::vector{late, early}}) {
        const auto both = merged(databases).content;
        ASSERT_EQ(both.trials.size(), 2U);
        EXPECT_EQ(both.trials[0].record, measured(key_of(1), tile(2), 5)) << "the outcome is the newer one";
        EXPECT_EQ(both.trials[1].record.configuration, tile(1));
    }
}

TEST(Merge, OfOneTrialTheNewestStays) {
    EXPECT_EQ(kept(dated(measured({}, tile(16), 5), "01"), dated(measured({}, tile(16), 6), "02")),
              measured(key_of(1), tile(16), 6));
    EXPECT_EQ(kept(dated(measured({}, tile(16), 5), "01"), dated(rejected({}, tile(16), Stage::wrong), "02")),
              rejected(key_of(1), tile(16), Stage::wrong));
    EXPECT_EQ(kept(dated(rejected({}, tile(16), Stage::wrong), "01"), dated(measured({}, tile(16), 5), "02")),
              measured(key_of(1), tile(16), 5));
}

TEST(Merge, WhatSaysLessDoesNotReplaceAVerifiedMeasurementHoweverNewItIs) {
    const auto verified = measured(key_of(1), tile(16), 5);
    auto of_unknown_checks = measured({}, tile(16), 4);
    of_unknown_checks.verified_by = unrecorded;
    for (const auto& weaker : {cut_short(4), of_unknown_checks, rejected({}, tile(16), Stage::crash),
                               rejected({}, tile(16), Stage::timeout)}) {
        EXPECT_EQ(kept(dated(verified, "01"), dated(weaker, "20")), verified);
    }
}

TEST(Merge, OfTwoTrialsOfOneMomentTheOneWithMoreSamplesStays) {
    auto more = measured(key_of(1), tile(16), 5);
    std::get<Measurement>(more.outcome).samples_us = {5, 5, 5, 5, 5};
    for (const double median_us : {4.0, 6.0}) {
        EXPECT_EQ(kept(dated(measured({}, tile(16), median_us), "01"), dated(more, "01")), more) << median_us;
    }
    // If two trials differ only in their times, the order of the databases must not matter.
    const auto one = kept(dated(measured({}, tile(16), 4), "01"), dated(measured({}, tile(16), 5), "01"));
    const auto other = kept(dated(measured({}, tile(16), 5), "01"), dated(measured({}, tile(16), 4), "01"));
    EXPECT_EQ(one, other);
}

TEST(Merge, EqualTrialsAreStoredOnceAndAreNoDifference) {
    auto content = content_at(1);
    content.trials = {dated(measured(key_of(1), tile(16), 5), "01", true),
                      dated(rejected(key_of(1), tile(32), Stage::compile), "02")};
    content.binaries = {binary_of(1, first_code)};
    const auto once = merged({content});
    const auto twice = merged({content, content, once.content});
    EXPECT_EQ(twice.content, once.content);
    EXPECT_EQ(twice.shared_trials, 2U);
    EXPECT_EQ(twice.differing_trials, 0U);
    EXPECT_TRUE(twice.left_out.empty());
}

TEST(Merge, OfTwoWinnersTheFasterStaysWithItsDate) {
    auto first = content_at(1);
    first.trials = {dated(measured(key_of(1), tile(16), 5), "01", true)};
    auto second = content_at(1);
    second.trials = {dated(measured(key_of(1), tile(32), 6), "02", true)};
    for (const auto& databases : {std::vector{first, second}, std::vector{second, first}}) {
        const auto both = merged(databases);
        EXPECT_EQ(both.shared_winners, 1U);
        EXPECT_EQ(both.content.trials[0].record.configuration, tile(16));
        EXPECT_EQ(both.content.trials[0].decided_at, first.trials[0].decided_at);
        EXPECT_EQ(both.content.trials[1].decided_at, "");
    }
}

TEST(Merge, OfTwoWinnersThatAreEquallyFastTheOneThatWasDeclaredLastStays) {
    for (const auto& [day, other_day] : {std::pair{"01", "02"}, {"02", "01"}}) {
        auto first = content_at(1);
        first.trials = {dated(measured(key_of(1), tile(16), 5), day, true)};
        auto second = content_at(1);
        second.trials = {dated(measured(key_of(1), tile(32), 5), other_day, true)};
        for (const auto& trial : merged({first, second}).content.trials) {
            EXPECT_EQ(trial.decided_at, trial.finished_at.substr(0, 10) == "2026-01-02" ? trial.finished_at : "");
        }
    }
}

TEST(Merge, AWinnerThatIsWrongElsewhereGivesWayAndTheLossIsNamed) {
    auto first = content_at(1);
    first.trials = {dated(measured(key_of(1), tile(16), 5), "01", true)};
    auto second = content_at(1);
    second.trials = {dated(rejected(key_of(1), tile(16), Stage::wrong), "02")};
    const auto without = merged({first, second});
    EXPECT_EQ(without.content.trials.at(0).decided_at, "");
    ASSERT_EQ(without.left_out.size(), 1U);
    EXPECT_NE(
        without.left_out[0].find("the winner of gemm f32 nn 512x512x512: its trial in the new file is not a verified"),
        std::string::npos);
    auto third = content_at(1);
    third.trials = {dated(measured(key_of(1), tile(32), 8), "01", true)};
    const auto with = merged({first, second, third});
    EXPECT_TRUE(with.left_out.empty());
    EXPECT_TRUE(std::ranges::any_of(with.content.trials, [](const DatedTrial& trial) {
        return !trial.decided_at.empty() && trial.record.configuration == tile(32);
    }));
}

TEST(Merge, MachineCodeOfThePortfolioStaysAndWhatTheOtherCodeVerifiedIsUnrecorded) {
    auto first = content_at(1);
    first.trials = {dated(with_code(measured(key_of(1), tile(16), 5), first_code), "01")};
    first.binaries = {binary_of(1, first_code)};
    first.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, first_code, 0.1)}}};
    auto second = content_at(1);
    second.problems[1] = gemm(64, 64, 64);
    second.trials = {dated(with_code(measured(key_of(1), tile(16), 1), second_code), "09", true)};
    second.binaries = {binary_of(1, second_code)};
    for (const auto& databases : {std::vector{first, second}, std::vector{second, first}}) {
        const auto both = merged(databases);
        ASSERT_EQ(both.content.binaries.size(), 1U);
        EXPECT_EQ(both.content.binaries[0].code, first_code);
        EXPECT_EQ(both.unrecorded_trials, 1U);
        for (const auto& trial : both.content.trials) {
            const bool is_of_first = trial.record.code_hash == hash_of_bytes(first_code);
            EXPECT_EQ(trial.record.verified_by == unrecorded, !is_of_first);
        }
        EXPECT_EQ(both.content.portfolios.size(), 1U);
    }
}

TEST(Merge, MachineCodeOfAWinnerStaysAlthoughOtherCodeWasVerifiedLater) {
    auto first = content_at(1);
    first.trials = {dated(with_code(measured(key_of(1), tile(16), 5), first_code), "01", true)};
    first.binaries = {binary_of(1, first_code)};
    auto second = content_at(1);
    second.problems[1] = gemm(64, 64, 64);
    second.trials = {dated(with_code(measured(key_of(1), tile(16), 5), second_code), "08")};
    second.binaries = {binary_of(1, second_code)};
    for (const auto& databases : {std::vector{first, second}, std::vector{second, first}}) {
        EXPECT_EQ(merged(databases).content.binaries, std::vector{binary_of(1, first_code)});
    }
}

TEST(Merge, ThePortfolioThatWasMeasuredLastStaysWhole) {
    for (const auto& [day, other_day] : {std::pair{"05", "08"}, {"08", "05"}}) {
        auto first = content_at(1);
        first.trials = {dated(with_code(measured(key_of(1), tile(16), 5), first_code), day)};
        first.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, first_code, 0.1)}}};
        first.binaries = {binary_of(1, first_code)};
        auto second = first;
        second.trials = {dated(with_code(measured(key_of(1), tile(16), 5), second_code), other_day)};
        second.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, second_code, 0.2)}}};
        second.binaries = {binary_of(1, second_code)};
        const bool is_second = day < std::string_view(other_day);
        for (const auto& databases : {std::vector{first, second}, std::vector{second, first}}) {
            const auto both = merged(databases).content;
            EXPECT_EQ(both.portfolios, is_second ? second.portfolios : first.portfolios);
            EXPECT_EQ(both.binaries, is_second ? second.binaries : first.binaries);
        }
    }
}

TEST(Merge, AMemberWhoseCodeAnotherOneReplacesIsLeftOut) {
    auto first = content_at(1);
    first.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, first_code, 0.1)}}};
    first.binaries = {binary_of(1, first_code)};
    auto second = content_at(1);
    second.devices[1].name = "another";
    second.trials = {dated(with_code(measured(key_of(1), tile(16), 5), second_code), "08")};
    second.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, second_code, 0.2)}}};
    second.binaries = {binary_of(1, second_code)};
    for (const auto& databases : {std::vector{first, second}, std::vector{second, first}}) {
        const auto both = merged(databases);
        ASSERT_EQ(both.content.binaries.size(), 1U);
        EXPECT_EQ(both.content.binaries[0].code, second_code) << "that of a trial";
        ASSERT_EQ(both.content.portfolios.size(), 1U);
        EXPECT_EQ(both.content.portfolios[0].members.at(0).code_hash, hash_of_bytes(second_code));
        ASSERT_EQ(both.left_out.size(), 1U);
        EXPECT_NE(both.left_out[0].find("has other machine code"), std::string::npos) << both.left_out[0];
    }
}

TEST(Merge, AMemberWhoseCodeIsWrongAnywhereIsLeftOut) {
    auto first = content_at(1);
    first.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, first_code, 0.1)}}};
    first.binaries = {binary_of(1, first_code)};
    auto second = content_at(1);
    second.trials = {dated(with_code(rejected(key_of(1), tile(16), Stage::wrong), first_code), "01")};
    const auto both = merged({first, second});
    EXPECT_TRUE(both.content.portfolios.empty());
    ASSERT_EQ(both.left_out.size(), 1U);
    EXPECT_NE(both.left_out[0].find("gave a wrong result"), std::string::npos);
}

TEST(Merge, ANewParameterOfATemplateGetsItsDefaultInOlderTrials) {
    const auto with_pad = [](std::int64_t pad) { return Configuration{{{"PAD", pad}, {"TILE_WIDTH", 16}}}; };
    auto older = content_at(1);
    older.trials = {dated(measured(key_of(1), tile(16), 5), "01", true)};
    older.binaries = {binary_of(1, first_code)};
    auto newer = content_at(1);
    newer.templates[1].files["gemm/tiled.toml"] = "with PAD";
    newer.trials = {dated(measured(key_of(1), with_pad(1), 6), "02")};
    for (const auto& databases : {std::vector{older, newer}, std::vector{newer, older}}) {
        const auto both = merge(databases, [](const TemplateRecord& record) {
                              EXPECT_EQ(record.files.at("gemm/tiled.toml"), "with PAD");
                              return Configuration{{{"PAD", 0}, {"TILE_WIDTH", 32}}};
                          }).content;
        EXPECT_EQ(both.templates.at(1).files.at("gemm/tiled.toml"), "with PAD");
        ASSERT_EQ(both.trials.size(), 2U);
        EXPECT_EQ(both.trials[0].record.configuration, with_pad(0));
        EXPECT_NE(both.trials[0].decided_at, "");
        EXPECT_EQ(both.binaries.at(0).configuration, with_pad(0));
    }
}

TEST(Merge, ARunThatEndedIsNewerThanTheSameRunBefore) {
    auto running = content_at(1);
    running.runs[1] = {{"{}", "{}", "{}"}, "2026-01-03T00:00:00.000Z", "", ""};
    auto ended = content_at(1);
    ended.runs[2] = {{"{}", "{}", "{}"}, "2026-01-03T00:00:00.000Z", "2026-01-03T01:00:00.000Z", "complete"};
    for (const auto& databases : {std::vector{running, ended}, std::vector{ended, running}}) {
        const auto both = merged(databases).content;
        ASSERT_EQ(both.runs.size(), 1U);
        EXPECT_EQ(both.runs.at(1).how, "complete");
    }
}

TEST(Merge, APortfolioOfAnotherVersionOfTheTermsIsNamed) {
    auto content = content_at(1);
    content.outdated_portfolios = {{1, "gemm", "f32", "nn"}};
    const auto both = merged({content, content_at(1)});
    ASSERT_EQ(both.left_out.size(), 1U);
    EXPECT_NE(both.left_out[0].find("the portfolio of gemm f32 nn on sm_90"), std::string::npos) << both.left_out[0];
}

// Whichever single field differs between two trials, the order of the databases must not matter, and the difference
// must be counted.
TEST(Merge, TrialsThatDifferInOneFieldAloneAreMergedTheSameInAnyOrder) {
    const auto measurement = [](TrialRecord& trial) -> Measurement& { return std::get<Measurement>(trial.outcome); };
    const std::vector<std::function<void(TrialRecord&)>> changes{
        [](TrialRecord& trial) { trial.resources.registers += 1; },
        [](TrialRecord& trial) { trial.resources.spill_bytes += 1; },
        [](TrialRecord& trial) { trial.resources.static_shared_bytes += 1; },
        [](TrialRecord& trial) { trial.resources.dynamic_shared_bytes += 1; },
        [](TrialRecord& trial) { trial.compile_ms += 1; },
        [](TrialRecord& trial) { trial.verify_ms += 1; },
        [](TrialRecord& trial) { trial.time_ms += 1; },
        [](TrialRecord& trial) { trial.verified_by = "operation/another"; },
        [](TrialRecord& trial) { trial.code_hash = "another"; },
        [](TrialRecord& trial) { trial.toolchain = "another"; },
        [](TrialRecord& trial) { trial.attempts += 1; },
        [&](TrialRecord& trial) { measurement(trial).median_us += 1; },
        [&](TrialRecord& trial) { measurement(trial).spread_us += 1; },
        [&](TrialRecord& trial) { measurement(trial).samples_us[1] += 1; },
        [&](TrialRecord& trial) { measurement(trial).clock_khz += 1; },
        [&](TrialRecord& trial) { measurement(trial).energy_uj += 1; },
        [](TrialRecord& trial) {
            trial.outcome = Rejection{Stage::wrong, "because"};
        },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto content = content_at(1);
        content.trials = {dated(measured(key_of(1), tile(16), 5), "01")};
        auto changed = content;
        changes[i](changed.trials[0].record);
        const auto forwards = merged({content, changed});
        EXPECT_EQ(forwards.content, merged({changed, content}).content) << i;
        EXPECT_EQ(forwards.shared_trials, 1U) << i;
        EXPECT_EQ(forwards.differing_trials, 1U) << i;
    }
    for (const auto& other : {Rejection{Stage::compile, "because"}, Rejection{Stage::wrong, "of this"}}) {
        auto content = content_at(1);
        content.trials = {dated(rejected(key_of(1), tile(16), Stage::wrong), "01")};
        auto changed = content;
        changed.trials[0].record.outcome = other;
        EXPECT_EQ(merged({content, changed}).content, merged({changed, content}).content) << other.reason;
    }
    // If two trials differ only in the run that made them, the order of the databases must not matter.
    auto content = content_at(1);
    content.runs[1] = {{"{}", "{}", "{}"}, "2026-01-01T00:00:00.000Z", "", ""};
    content.runs[2] = {{"{}", "{}", "{}"}, "2026-01-02T00:00:00.000Z", "", ""};
    content.trials = {dated(measured(key_of(1), tile(16), 5), "03")};
    content.trials[0].record.run = 1;
    auto changed = content;
    changed.trials[0].record.run = 2;
    EXPECT_EQ(merged({content, changed}).content, merged({changed, content}).content);
}

TEST(Merge, OfTwoTrialsTheOneThatSaysMoreStaysWhateverTheirDatesAre) {
    auto of_unknown_checks = measured(key_of(1), tile(16), 4);
    of_unknown_checks.verified_by = unrecorded;
    auto never_verified = measured(key_of(1), tile(16), 4);
    never_verified.verified_by.clear();
    for (const auto& weakest : {cut_short(4), never_verified, rejected(key_of(1), tile(16), Stage::crash),
                                rejected(key_of(1), tile(16), Stage::timeout)}) {
        EXPECT_EQ(kept(dated(of_unknown_checks, "01"), dated(weakest, "20")), of_unknown_checks);
        for (const auto stage : {Stage::limits, Stage::compile, Stage::launch, Stage::wrong}) {
            const auto lasting = rejected(key_of(1), tile(16), stage);
            EXPECT_EQ(kept(dated(lasting, "01"), dated(weakest, "20")), lasting);
            EXPECT_EQ(kept(dated(lasting, "01"), dated(of_unknown_checks, "20")), lasting);
        }
    }
    const auto crashed = rejected(key_of(1), tile(16), Stage::crash);
    EXPECT_EQ(kept(dated(cut_short(4), "01"), dated(crashed, "02")), crashed) << "of equals, the newer one";
    EXPECT_EQ(kept(dated(cut_short(4), "02"), dated(crashed, "01")), cut_short(4));
}

TEST(Merge, EachRowKeepsItsContentUnderItsNewNumber) {
    auto first = content_at(3);
    first.devices[8] = model_device("sm_80");
    first.templates[8] = {"naive", "gemm", "hash of naive", {{"a", "b"}}};
    first.problems[8] = gemm(64, 64, 64, "f16", "tt");
    first.runs[5] = {{R"({"a":1})", "{}", "{}"}, "2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00.000Z", "complete"};
    first.runs[6] = {{R"({"a":2})", "{}", "{}"}, "2026-01-01T00:00:00.000Z", "2026-01-01T02:00:00.000Z", "budget"};
    auto trial = dated(measured({8, 8, 8}, tile(2), 4), "02", true);
    trial.record.run = 6;
    first.trials = {dated(measured(key_of(3), tile(1), 9), "01"), trial};
    first.trials[0].record.run = 5;
    auto binary = binary_of(8, first_code);
    binary.resources = {1, 2, 3, 4};
    first.binaries = {binary};
    first.portfolios = {{{8, "gemm", "f16", "tt"}, {member_of(8, first_code, 0.25)}}};
    const auto alone = merged({first}).content;
    ASSERT_EQ(alone.trials.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& before = first.trials[i];
        const auto& after = alone.trials[i];
        EXPECT_EQ(alone.devices.at(after.record.key.device), first.devices.at(before.record.key.device));
        EXPECT_EQ(alone.templates.at(after.record.key.kernel_template),
                  first.templates.at(before.record.key.kernel_template));
        EXPECT_EQ(alone.problems.at(after.record.key.problem), first.problems.at(before.record.key.problem));
        EXPECT_EQ(alone.runs.at(after.record.run), first.runs.at(before.record.run));
        EXPECT_EQ(after.finished_at, before.finished_at);
        EXPECT_EQ(after.decided_at, before.decided_at);
        auto renumbered = before.record;
        renumbered.key = after.record.key;
        renumbered.run = after.record.run;
        EXPECT_EQ(after.record, renumbered);
    }
    const auto naive = alone.trials[1].record.key.kernel_template;
    binary.kernel_template = naive;
    EXPECT_EQ(alone.binaries, std::vector{binary});
    ASSERT_EQ(alone.portfolios.size(), 1U);
    EXPECT_EQ(alone.portfolios[0].key, (PortfolioKey{alone.trials[1].record.key.device, "gemm", "f16", "tt"}));
    EXPECT_EQ(alone.portfolios[0].members, std::vector{member_of(naive, first_code, 0.25)});
    EXPECT_TRUE(alone.devices.contains(1) && alone.devices.contains(2));
    EXPECT_TRUE(alone.templates.contains(1) && alone.templates.contains(2));
    EXPECT_TRUE(alone.problems.contains(1) && alone.problems.contains(2));
    EXPECT_EQ(alone.runs.size(), 2U) << "started at one moment, with different requests";
}

TEST(Merge, RunsThatDifferInRequestPolicyVersionsOrStartAreDifferentRuns) {
    const RunRow run{{"{}", "{}", "{}"}, "2026-01-01T00:00:00.000Z", "", ""};
    std::vector<RunRow> runs(5, run);
    runs[1].record.request = R"({"a":1})";
    runs[2].record.policy = R"({"a":1})";
    runs[3].record.versions = R"({"a":1})";
    runs[4].started_at = "2026-01-02T00:00:00.000Z";
    std::vector<DatabaseContent> databases;
    for (const auto& each : runs) databases.emplace_back().runs[7] = each;
    const auto all = merged(databases).content.runs;
    ASSERT_EQ(all.size(), 5U);
    for (const auto& each : runs) {
        EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& row) { return row.second == each; }));
    }
    auto longer = run;
    longer.finished_at = "2026-01-01T02:00:00.000Z";
    longer.how = "interrupted";
    auto shorter = run;
    shorter.finished_at = "2026-01-01T01:00:00.000Z";
    shorter.how = "complete";
    for (const auto& two : {std::vector{longer, shorter}, std::vector{shorter, longer}}) {
        std::vector<DatabaseContent> both(2);
        both[0].runs[1] = two[0];
        both[1].runs[1] = two[1];
        EXPECT_EQ(merged(both).content.runs.at(1), longer) << "the later end";
    }
}

TEST(Merge, ATemplatesFilesAreThoseOfItsNewestTrialAndItsNumberComesFromItsFirst) {
    const auto with_text = [](const std::string& text) {
        auto record = tiled();
        record.files["gemm/tiled.cu"] = text;
        return record;
    };
    const TemplateRecord later{"another", "gemm", "hash of another", {}};
    for (const bool swapped : {false, true}) {
        DatabaseContent first;
        first.devices[1] = model_device("sm_90");
        first.problems[1] = gemm(512, 512, 512);
        auto second = first;
        first.templates[1] = with_text("older text");
        first.templates[2] = later;
        first.trials = {dated(measured({1, 1, 1}, tile(1), 1), "05"), dated(measured({1, 2, 1}, tile(1), 1), "02"),
                        dated(measured({1, 1, 1}, tile(2), 1), "01")};
        second.templates[1] = with_text("newest text");
        second.trials = {dated(measured({1, 1, 1}, tile(3), 1), "04"), dated(measured({1, 1, 1}, tile(4), 1), "06")};
        const auto both = merged(swapped ? std::vector{second, first} : std::vector{first, second}).content;
        EXPECT_EQ(both.templates.at(1), with_text("newest text"));
        EXPECT_EQ(both.templates.at(2), later) << "its first trial is of day 2, that of template 1 is of day 1";
    }
}

TEST(Merge, WhatIsLeftOutIsNamedWithItsReason) {
    auto first = content_at(1);
    first.trials = {dated(measured(key_of(1), tile(16), 5), "01", true)};
    first.outdated_portfolios = {{1, "gemm", "f32", "nn"}, {1, "gemm", "f32", "tt"}, {1, "scale", "f32", ""}};
    auto second = content_at(1);
    second.trials = {dated(with_code(rejected(key_of(1), tile(16), Stage::wrong), first_code), "02")};
    second.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, first_code, 0.1)}},
                         {{1, "gemm", "f32", "tt"}, {member_of(1, second_code, 0.1)}}};
    const auto both = merged({first, second});
    EXPECT_EQ(
        both.left_out,
        (std::vector<std::string>{
            "the winner of gemm f32 nn 512x512x512: its trial in the new file is not a verified measurement; tune this "
            "problem again",
            "the portfolio of scale f32 on sm_90: its models are of another version; run 'smemtune portfolio --refit' "
            "on its database first",
            "a portfolio's member tiled TILE_WIDTH=16: its machine code gave a wrong result"}));
    ASSERT_EQ(both.content.portfolios.size(), 1U);
    EXPECT_EQ(both.content.portfolios[0].key.layout, "tt");
}

TEST(Merge, OfTwoPortfoliosThatWereNeverMeasuredHereTheOneWithMoreMembersStays) {
    auto first = content_at(1);
    auto another = member_of(1, first_code, 0.9);
    another.configuration = tile(8);
    first.portfolios = {{{1, "gemm", "f32", "nn"}, {another, member_of(1, first_code, 0.1)}}};
    auto second = content_at(1);
    second.portfolios = {{{1, "gemm", "f32", "nn"}, {member_of(1, first_code, 0.95)}}};
    for (const auto& databases : {std::vector{first, second}, std::vector{second, first}}) {
        EXPECT_EQ(merged(databases).content.portfolios, first.portfolios);
    }
    // If the members of two portfolios differ only in one field, the order of the databases must not matter.
    const std::vector<std::function<void(PortfolioMember&)>> changes{
        [](PortfolioMember& member) { member.configuration = tile(99); },
        [](PortfolioMember& member) { member.code_hash = "another"; },
        [](PortfolioMember& member) { member.model.coefficients[3] = 7; },
        [](PortfolioMember& member) { member.model.error = 0.5; },
        [](PortfolioMember& member) { member.classes = {"000"}; },
        [](PortfolioMember& member) { member.verified_by = "another/one"; },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto changed = second;
        changes[i](changed.portfolios[0].members[0]);
        EXPECT_EQ(merged({second, changed}).content, merged({changed, second}).content) << i;
    }
}

TEST(Merge, OfMachineCodeThatWasVerifiedWithoutWinningTheNewestStaysForEachTarget) {
    auto first = content_at(1);
    first.trials = {dated(with_code(measured(key_of(1), tile(16), 5), first_code), "03")};
    first.binaries = {binary_of(1, first_code)};
    auto second = content_at(1);
    second.problems[1] = gemm(64, 64, 64);
    second.trials = {dated(with_code(measured(key_of(1), tile(16), 5), second_code), "08")};
    second.binaries = {binary_of(1, second_code)};
    auto elsewhere = binary_of(1, first_code);
    elsewhere.target = "sm_80 f32 nn";
    auto third = content_at(1);
    third.binaries = {elsewhere};
    for (const auto& databases : {std::vector{first, second, third}, std::vector{third, second, first}}) {
        const auto all = merged(databases);
        ASSERT_EQ(all.content.binaries.size(), 2U);
        EXPECT_EQ(all.content.binaries[0], elsewhere) << "in the order of their targets";
        EXPECT_EQ(all.content.binaries[1].code, second_code);
        EXPECT_EQ(all.unrecorded_trials, 0U) << "the first code is still there, for another target";
    }
}

TEST(Merge, AWinnerInOneDatabaseAloneIsNotShared) {
    auto first = content_at(1);
    first.trials = {dated(measured(key_of(1), tile(16), 5), "01", true)};
    const auto both = merged({first, content_at(1)});
    EXPECT_EQ(both.shared_winners, 0U);
    EXPECT_EQ(both.shared_trials, 0U);
    EXPECT_EQ(both.unrecorded_trials, 0U);
    EXPECT_EQ(merged({first, first}).shared_winners, 1U);
    EXPECT_EQ(merged({first, first}).differing_trials, 0U);
}

}  // namespace
}  // namespace smemtune
