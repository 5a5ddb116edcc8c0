#include "tuner/portfolio/entries.h"

#include <gmock/gmock.h>

#include <set>

#include "templates/manifest/catalog.h"
#include "tests/tuner/support.h"
#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Trials of tests/fixtures/work at two samples.
class PortfolioEntries : public ::testing::Test {
protected:
    PortfolioEntries() { (void)fake_.start(); }

    [[nodiscard]] TrialRecord trial(const Problem& problem, std::int64_t value, double us) {
        const auto& kernel = fake_.request.templates.front();
        const TemplateRecord record{kernel.name, kernel.operation.name, kernel.hash, kernel.files};
        return {.key = {fake_.run->device_row, fake_.store.remember(record, default_configuration(kernel)),
                        fake_.store.remember(problem)},
                .configuration = work(value),
                .outcome = steady(us),
                .resources = {.registers = 40},
                .verified_by = identity,
                .code_hash = "code of " + std::to_string(value),
                .toolchain = toolchain};
    }
    void know(std::int64_t value, double us, const Problem& problem = transpose(16)) {
        fake_.store.remember(trial(problem, value, us));
    }
    [[nodiscard]] std::vector<Entry> entries() const {
        return collect_entries({.resources = fake_.resources,
                                .samples = samples,
                                .templates = fake_.request.templates,
                                .device_row = fake_.run->device_row,
                                .identity = identity,
                                .toolchain = toolchain});
    }
    [[nodiscard]] std::vector<std::int64_t> values() const {
        std::vector<std::int64_t> result;
        for (const auto& entry : entries()) result.push_back(entry.configuration.values.at("WORK"));
        return result;
    }

    const std::string identity = "operation/testbed";
    const std::string toolchain = "fake 1";
    const std::vector<Sample> samples{{transpose(16)}, {transpose(32)}};
    FakeRun fake_;
};

TEST_F(PortfolioEntries, AreTheFastestFourOfASampleThatTakeAtMost15PercentLonger) {
    for (const auto& [value, us] : {std::pair{1, 100.0}, {4, 116}, {8, 114}, {12, 101}}) know(value, us);
    EXPECT_THAT(values(), ElementsAre(1, 12, 8));
    for (const auto& [value, us] : {std::pair{16, 102.0}, {24, 103}}) know(value, us);
    EXPECT_THAT(values(), ElementsAre(1, 12, 16, 24));
}

TEST_F(PortfolioEntries, KnowWhereTheyWereFoundAndWhereTheyWon) {
    for (const auto& [value, us] : {std::pair{1, 100.0}, {4, 101}}) know(value, us);
    for (const auto& [value, us] : {std::pair{4, 200.0}, {8, 201}}) know(value, us, transpose(32));
    know(12, 1, transpose(64));  // transpose(64) is no sample
    const auto found = entries();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_THAT(values(), ElementsAre(1, 4, 8));
    EXPECT_THAT(found[0].found, ElementsAre(0));
    EXPECT_THAT(found[0].won, ElementsAre(0));
    EXPECT_THAT(found[1].found, ElementsAre(0, 1));
    EXPECT_THAT(found[1].won, ElementsAre(1));
    EXPECT_THAT(found[2].found, ElementsAre(1));
    EXPECT_THAT(found[2].won, IsEmpty());
    EXPECT_EQ(found[1].code_hash, "code of 4");
}

TEST_F(PortfolioEntries, IncludeStoredMembersThatAreNoLongerTheFastestAnywhere) {
    const auto row = trial(transpose(16), 4, 1).key.kernel_template;
    const std::vector<std::uint8_t> code{1, 2, 3};
    const auto hash = sha256(std::as_bytes(std::span(code)));
    const auto member = [&](std::int64_t value, const std::string& verified_by) {
        return PortfolioMember{.kernel_template = row,
                               .configuration = work(value),
                               .classes = {"11"},
                               .verified_by = verified_by,
                               .code_hash = hash};
    };
    std::vector<BinaryRecord> binaries;
    for (const auto value : {1, 4, 8}) {
        binaries.push_back({.kernel_template = row,
                            .configuration = work(value),
                            .target = "fake f32",
                            .compiler = "fake 1",
                            .code = code,
                            .resources = {}});
    }
    fake_.store.set_portfolio({fake_.run->device_row, "transpose", "f32", ""},
                              {member(1, identity), member(4, identity), member(8, "another/testbed")}, binaries);
    EXPECT_THAT(values(), ElementsAre(1, 4)) << "no sample is tuned";
    EXPECT_THAT(entries()[0].won, IsEmpty());
    know(1, 100);
    const auto all = entries();
    EXPECT_THAT(values(), ElementsAre(1, 4));
    EXPECT_THAT(all[0].won, ElementsAre(0));
    EXPECT_THAT(all[1].found, IsEmpty());
    EXPECT_EQ(all[1].code_hash, hash);
}

TEST_F(PortfolioEntries, AreNotMadeOfTimesThatSayTooLittle) {
    know(1, 100);
    const auto without = [&](std::int64_t value, const std::function<void(TrialRecord&)>& change) {
        auto record = trial(transpose(16), value, 90);
        change(record);
        fake_.store.remember(record);
    };
    without(4, [](TrialRecord& its) { std::get<Measurement>(its.outcome).cut_short = true; });
    without(8, [](TrialRecord& its) { its.code_hash.clear(); });
    without(12, [](TrialRecord& its) { its.toolchain = "fake 0"; });
    without(16, [](TrialRecord& its) { its.verified_by = "another operation/testbed"; });
    without(24, [](TrialRecord& its) { its.outcome = Rejection{Stage::wrong, "C[0,0] is nan"}; });
    EXPECT_THAT(values(), ElementsAre(1));
    without(32, [](TrialRecord& its) { its.verified_by.clear(); });
    EXPECT_THAT(values(), ElementsAre(32, 1)) << "cross-timing verifies it";
}

TEST_F(PortfolioEntries, OfEqualMachineCodeTheFasterOneCounts) {
    know(1, 100);
    auto same_code = trial(transpose(16), 4, 99);
    same_code.code_hash = "code of 1";
    fake_.store.remember(same_code);
    EXPECT_THAT(values(), ElementsAre(4));
}

// Refuses every program.
class RefusingCompiler : public FakeCompiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program&) const override {
        return Rejection{Stage::compile, "refused"};
    }
};

// Entries that the shipped portfolios predict for two sizes of gemm. Nothing is tuned.
class PredictedEntries : public ::testing::Test {
protected:
    [[nodiscard]] EntrySource source(const TuneResources& resources) {
        return {.resources = resources,
                .samples = samples,
                .templates = templates,
                .device_row = fake_.store.remember(fake_.device),
                .identity = "operation/testbed",
                .toolchain = toolchain};
    }
    [[nodiscard]] std::vector<Entry> entries() {
        std::vector<Entry> added;
        add_transferred_entries(source(fake_.resources), added);
        return added;
    }
    void know_trial_of(const Entry& entry, const std::string& code_hash, const std::string& with_toolchain) {
        fake_.store.remember(TrialRecord{.key = {fake_.store.remember(fake_.device), entry.template_row,
                                                 fake_.store.remember(samples.back().problem)},
                                         .configuration = entry.configuration,
                                         .outcome = steady(1000),
                                         .resources = {.registers = 100},
                                         .code_hash = code_hash,
                                         .toolchain = with_toolchain});
    }

    const std::string toolchain = "fake 1";
    const std::vector<KernelTemplate> templates = builtin_templates();
    const std::vector<Sample> samples{{gemm(4096, 4096, 4096)}, {gemm(4096, 16, 4096)}};
    FakeRun fake_;
};

TEST_F(PredictedEntries, AreCompiledAndValidWhereTheyWereFound) {
    const auto added = entries();
    ASSERT_FALSE(added.empty());
    std::set<std::size_t> found;
    for (const auto& entry : added) {
        ASSERT_TRUE(entry.binary);
        EXPECT_EQ(entry.code_hash, code_hash_of(*entry.binary));
        EXPECT_THAT(entry.won, IsEmpty());
        for (const auto i : entry.found) EXPECT_TRUE(entry.bound.terms(samples[i].problem)) << i;
        found.insert(entry.found.begin(), entry.found.end());
    }
    EXPECT_THAT(found, ElementsAre(0, 1));
}

TEST_F(PredictedEntries, WithAStoredTrialAreNotCompiledAgain) {
    const auto before = entries();
    ASSERT_GE(before.size(), 2U);
    know_trial_of(before[0], "known code", toolchain);
    know_trial_of(before[1], "code of another driver", "fake 0");
    const auto compiled_before = fake_.compiler.begun().size();
    const auto after = entries();
    ASSERT_EQ(after.size(), before.size());
    EXPECT_EQ(after[0].code_hash, "known code");
    EXPECT_FALSE(after[0].binary);
    EXPECT_EQ(after[1].code_hash, before[1].code_hash);
    EXPECT_EQ(fake_.compiler.begun().size() - compiled_before, before.size() - 1);
}

TEST_F(PredictedEntries, AddTheirSamplesToEntriesThatSearchesFound) {
    auto known = entries();
    const auto predicted = known;
    for (auto& entry : known) {
        entry.found = {0};
        entry.code_hash = "from a search";
    }
    add_transferred_entries(source(fake_.resources), known);
    ASSERT_EQ(known.size(), predicted.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
        std::set<std::size_t> both(predicted[i].found.begin(), predicted[i].found.end());
        both.insert(0);
        EXPECT_THAT(known[i].found, ::testing::ElementsAreArray(both));
        EXPECT_EQ(known[i].code_hash, "from a search");
    }
}

// The fastest configurations of stored problems that are no samples are tried at the samples that are nearest to them.
TEST_F(PredictedEntries, IncludeTheFastestConfigurationsOfOtherStoredProblems) {
    const auto& kernel = *std::ranges::find(templates, "naive", &KernelTemplate::name);
    const TemplateRecord record{kernel.name, kernel.operation.name, kernel.hash, kernel.files, kernel.same_code_as};
    const auto row = fake_.store.remember(record, default_configuration(kernel));
    const auto know = [&](const Problem& problem, std::int64_t block_y, const Outcome& outcome,
                          const std::string& code = {}) {
        auto configuration = default_configuration(kernel);
        configuration.values.at("BLOCK_Y") = block_y;
        fake_.store.remember(
            TrialRecord{.key = {fake_.store.remember(fake_.device), row, fake_.store.remember(problem)},
                        .configuration = configuration,
                        .outcome = outcome,
                        .verified_by = "operation of another layout/testbed",
                        .code_hash = code.empty() ? "code of " + std::to_string(block_y) : code});
    };
    auto cut_short = steady(50);
    cut_short.cut_short = true;
    const auto other_layout = gemm(3000, 20, 4000, "f32", "tn");
    know(other_layout, 8, steady(100));
    know(other_layout, 16, steady(114));
    know(other_layout, 32, steady(116));
    know(other_layout, 4, cut_short);
    know(other_layout, 2, Rejection{Stage::wrong, "C[0,0] is nan"});
    know(other_layout, 1, steady(101), "code of 8");
    know(gemm(3000, 20, 4000, "f16", "tn"), 4, steady(50));
    know(gemm(3900, 4000, 4000), 16, steady(50));  // the layout of the samples
    std::map<std::int64_t, std::vector<std::size_t>> found;
    for (const auto& entry : entries()) {
        if (entry.kernel->name != "naive") continue;
        found[entry.configuration.values.at("BLOCK_Y")] = entry.found;
        EXPECT_TRUE(entry.binary);
    }
    EXPECT_THAT(found, ElementsAre(Pair(8, ElementsAre(1)), Pair(16, ElementsAre(0, 1))));
}

TEST_F(PredictedEntries, AreNotCompiledAfterADeadlineOrAnInterrupt) {
    std::vector<Entry> added;
    add_transferred_entries(source(fake_.resources), added, Deadline::clock::now() - std::chrono::seconds(1));
    EXPECT_THAT(added, IsEmpty());
    fake_.interrupted = true;
    EXPECT_THAT(entries(), IsEmpty());
    EXPECT_THAT(fake_.compiler.begun(), IsEmpty());
}

TEST_F(PredictedEntries, ThatDoNotCompileAreNotAdded) {
    RefusingCompiler refusing;
    const TuneResources resources{fake_.device, refusing, fake_.store, {}, fake_.sampling, fake_.interrupted};
    std::vector<Entry> added;
    add_transferred_entries(source(resources), added);
    EXPECT_THAT(added, IsEmpty());
}

}  // namespace
}  // namespace smemtune
