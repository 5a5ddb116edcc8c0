#include "tuner/portfolio/check.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/tuner/support/fake_run.h"
#include "tuner/portfolio/portfolio_report.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Checks a portfolio whose members are WORK=1 and WORK=4. All times are stored beforehand, so nothing is measured. The
// models predict 10 us for WORK=1 and 12 us for WORK=4, at any problem. WORK=12 is not valid where M is 16.
class CheckPortfolio : public ::testing::Test {
protected:
    void SetUp() override {
        auto sources = read_sources(fixture("work"));
        sources.at("work.toml") += "\n[[constraint]]\nrule = \"WORK != 12 || M != 16\"\nreason = \"for this test\"\n";
        fake_.request.templates = load_templates(sources);
        (void)fake_.start();
        store_portfolio({"00", "11"});
    }

    [[nodiscard]] std::int64_t template_row() {
        const auto& kernel = fake_.request.templates.front();
        return fake_.store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
    }
    [[nodiscard]] Binary code(std::int64_t value) const {
        return std::get<Binary>(
            fake_.compiler.compile(program_of(fake_.request.templates.front(), work(value), transpose(16))));
    }
    void store_portfolio(const std::vector<std::string>& classes, const Device& device = model_device("sm_90"),
                         double first_us = 10) {
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto& [value, us] : {std::pair{1, first_us}, {4, 12.0}}) {
            const auto binary = code(value);
            members.push_back({.kernel_template = template_row(),
                               .configuration = work(value),
                               .model = {.coefficients = {us}},
                               .registers = 32,
                               .classes = classes,
                               .verified_by = fake_.identity(),
                               .code_hash = code_hash_of(binary)});
            binaries.push_back({.kernel_template = template_row(),
                                .configuration = work(value),
                                .target = "fake f32",
                                .compiler = binary.compiler,
                                .code = binary.code});
        }
        fake_.store.set_portfolio({fake_.store.remember(device), "transpose", "f32", ""}, members, binaries);
    }
    TrialRecord know(std::int64_t size, std::int64_t value, const Outcome& outcome) {
        const TrialRecord trial{.key = {fake_.run->device_row, template_row(), fake_.store.remember(transpose(size))},
                                .configuration = work(value),
                                .outcome = outcome,
                                .resources = {.registers = 32},
                                .verified_by = fake_.identity(),
                                .code_hash = code_hash_of(code(value))};
        fake_.store.remember(trial);
        return trial;
    }
    void know(std::int64_t size, const std::map<std::int64_t, double>& times) {
        for (const auto& [value, us] : times) know(size, value, steady(us));
    }
    void tuned(std::int64_t size, std::int64_t value) {
        const auto winner = know(size, value, steady(50));
        fake_.store.set_winner(winner.key, winner.configuration, std::nullopt);
    }
    [[nodiscard]] PortfolioReport check(const std::vector<std::int64_t>& sizes) {
        CheckRequest request{.samples = {}, .templates = fake_.request.templates, .text = "{}"};
        for (const auto size : sizes) request.samples.push_back({transpose(size)});
        return check_portfolio(request, fake_.resources, fake_.progress);
    }

    FakeRun fake_;
};

TEST_F(CheckPortfolio, TheLossOfEachRuleIsRelativeToTheShortestTimeKnown) {
    tuned(20, 8);
    tuned(1000, 12);
    know(18, 16, steady(1));  // the fastest at 18, but not declared the winner
    know(16, {{1, 10}, {4, 8}, {8, 9}});
    know(500, {{1, 20}, {4, 30}, {8, 16}, {12, 24}});
    know(64, {{1, 20}, {4, 30}, {8, 40}, {64, 10}});
    const auto report = check({16, 500, 64});
    EXPECT_EQ(report.ended, "complete");
    EXPECT_EQ(report.device.name, fake_.device.name);
    EXPECT_EQ(report.measured_on, fake_.device);
    EXPECT_THAT(to_text(report, 100), Not(HasSubstr("was measured on")));
    EXPECT_EQ(report.configurations, 4U) << "two members, and two winners of other problems";
    EXPECT_EQ(report.counts.recalled, 10U);
    EXPECT_EQ(report.counts.measured, 0U);
    ASSERT_EQ(report.members.size(), 2U);
    EXPECT_EQ(report.members[1].configuration, work(4));
    EXPECT_EQ(report.members[1].defaults, work(64));
    EXPECT_EQ(report.members[1].model.coefficients[0], 12);
    EXPECT_THAT(report.members[1].classes, ElementsAre("00", "11"));

    ASSERT_EQ(report.served.size(), 3U);
    const auto& first = report.served[0];
    EXPECT_EQ(first.sample.problem, transpose(16));
    EXPECT_EQ(first.kind, "small");
    EXPECT_EQ(first.best_us, 8);
    EXPECT_EQ(first.predicted_us, 10);
    EXPECT_FALSE(first.searched);
    EXPECT_EQ(first.left_out.problem, 0U);
    EXPECT_EQ(first.left_out.predicted, 0.25) << "WORK=1 is served";
    EXPECT_EQ(first.left_out.one_for_all, 0.25) << "WORK=1 is the first member";
    EXPECT_EQ(first.left_out.best_member, 0) << "WORK=4";
    EXPECT_EQ(first.left_out.nearest, 0.125) << "WORK=8, the winner of 20";
    const auto& second = report.served[1];
    EXPECT_EQ(second.best_us, 16);
    EXPECT_EQ(second.left_out.problem, 1U);
    EXPECT_EQ(second.left_out.predicted, 0.25);
    EXPECT_EQ(second.left_out.best_member, 0.25);
    EXPECT_EQ(second.left_out.nearest, 0.5) << "WORK=12, the winner of 1000";
    const auto& third = report.served[2];
    EXPECT_EQ(third.best_us, 10) << "WORK=64, which is neither a member nor a winner";
    EXPECT_EQ(third.left_out.predicted, 1);
    EXPECT_EQ(third.left_out.nearest, 3);
}

TEST_F(CheckPortfolio, TheNearestWinnerIsTheNearestOneThatIsValidAndOfAnotherProblem) {
    tuned(17, 12);  // size 17 is the nearest to 16, but WORK=12 is not valid at 16
    tuned(128, 24);
    tuned(64, 8);
    know(16, {{1, 10}, {4, 10}, {8, 12}, {24, 20}});
    tuned(16, 32);  // the winner of the sample itself takes 50 us
    const auto report = check({16});
    EXPECT_EQ(report.configurations, 5U) << "not the winner of the sample";
    ASSERT_EQ(report.served.size(), 1U);
    EXPECT_EQ(report.served[0].best_us, 10) << "not the time of the winner, which a member beats";
    EXPECT_NEAR(report.served[0].left_out.nearest.value(), 0.2, 1e-12);
}

TEST_F(CheckPortfolio, AMemberThatFailedOrServesAnotherClassHasNoLoss) {
    store_portfolio({"11"});
    know(16, 1, Rejection{Stage::launch, "too large"});
    know(16, 4, steady(8));
    know(18, {{1, 10}, {4, 5}});
    know(80, 64, steady(5));  // neither a member nor the winner of another problem
    const auto report = check({16, 18, 40, 80});
    ASSERT_EQ(report.served.size(), 3U) << "nothing is known of 40";
    EXPECT_EQ(report.served[2].best_us, 5);
    EXPECT_EQ(report.served[2].left_out.problem, 3U);
    EXPECT_EQ(report.served[2].left_out.best_member, std::nullopt) << "no member was timed";
    const auto& failed = report.served[0].left_out;
    EXPECT_EQ(report.served[0].predicted_us, 10);
    EXPECT_EQ(failed.predicted, std::nullopt);
    EXPECT_EQ(failed.one_for_all, std::nullopt);
    EXPECT_EQ(failed.best_member, 0);
    EXPECT_EQ(failed.nearest, std::nullopt) << "nothing else is tuned";
    const auto& other = report.served[1].left_out;
    EXPECT_EQ(report.served[1].predicted_us, 0) << "18 elements are no multiple of 16 bytes";
    EXPECT_EQ(other.predicted, std::nullopt);
    EXPECT_EQ(other.one_for_all, 1);
    EXPECT_EQ(other.best_member, 0);
}

TEST_F(CheckPortfolio, ATemplateOfAnotherVersionGivesNeitherMembersNorWinners) {
    tuned(20, 8);
    know(16, {{1, 10}, {4, 8}, {8, 9}});
    auto sources = fake_.request.templates.front().files;
    sources.at("work.cu") += "// edited\nextern \"C\" __device__ int more;\n";
    fake_.request.templates = load_templates(sources);
    const auto report = check({16});
    EXPECT_TRUE(report.members.empty());
    EXPECT_EQ(report.configurations, 0U);
    EXPECT_TRUE(report.served.empty());
}

Device sm_90_with(const std::string& name, std::int64_t multiprocessors) {
    auto device = model_device("sm_90");
    device.name = name;
    device.multiprocessors = multiprocessors;
    return device;
}

TEST_F(CheckPortfolio, ADeviceWithoutAPortfolioIsServedByThatOfTheMostSimilarDevice) {
    store_portfolio({"00", "11"}, sm_90_with("half", 66), 30);
    store_portfolio({"00", "11"}, sm_90_with("almost", 114), 11);
    fake_.device = sm_90_with("this", 120);
    (void)fake_.start();
    know(16, {{1, 10}, {4, 8}});
    const auto report = check({16});
    EXPECT_EQ(report.measured_on->name, "almost");
    EXPECT_EQ(report.members.size(), 2U);
    ASSERT_EQ(report.served.size(), 1U);
    EXPECT_NEAR(report.served[0].predicted_us, 11, 2) << "scaled to the clock and the multiprocessors";
    EXPECT_EQ(report.served[0].left_out.predicted, 0.25);
    EXPECT_THAT(to_text(report, 100), HasSubstr("The portfolio was measured on almost. this has none of its own."));
    EXPECT_EQ(to_json(report).at("measured_on").at("name"), "almost");
}

TEST_F(CheckPortfolio, ACheckEndsWithItsBudget) {
    know(16, {{1, 10}});
    CheckRequest request{.samples = {{transpose(16)}},
                         .templates = fake_.request.templates,
                         .budget = std::chrono::seconds(0),
                         .text = "{}"};
    const auto report = check_portfolio(request, fake_.resources, fake_.progress);
    EXPECT_EQ(report.ended, "budget");
    EXPECT_EQ(report.counts.measured, 0U);
    EXPECT_EQ(report.served.size(), 1U) << "what was known before is reported";
}

TEST_F(CheckPortfolio, AnInterruptedCheckReportsNoLosses) {
    know(16, {{1, 10}, {4, 8}});
    fake_.interrupted = true;
    const auto report = check({16});
    EXPECT_EQ(report.ended, "interrupted");
    EXPECT_TRUE(report.served.empty());
}

}  // namespace
}  // namespace smemtune
