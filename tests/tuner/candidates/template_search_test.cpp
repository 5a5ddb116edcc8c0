#include "tuner/candidates/template_search.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

// Two evaluations without a gain end the search. The outcome of a trial in flight arrives after that, and is a gain.
TEST(TemplateSearch, ALateGainReopensItUnlessTheRunWasComplete) {
    const TuneRequest request{
        .problems = {{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 16}, {"N", 16}}}},
        .templates = load_templates(read_sources(fixture("work"))),
        .stopping = {.patience = 2}};
    const auto device = model_device("sm_90");
    const auto spaces = plan(request, device);
    const auto search = [&] {
        return TemplateSearch(spaces.front().front(), {}, request, request.problems.front(), device, WarmStart{});
    };
    auto first = search();
    std::vector<Configuration> asked;
    for (int i = 0; i < 4; ++i) asked.push_back(first.next().value());
    auto interrupted = search();
    auto complete = search();
    const auto observe = [&](std::size_t i, double cost) {
        for (auto* each : {&first, &interrupted, &complete}) each->observe(asked[i], cost);
    };
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(first.is_open(100));
        observe(i, 100);
    }
    EXPECT_FALSE(first.is_open(100));
    observe(3, 50);
    interrupted.resume(false);
    complete.resume(true);
    EXPECT_TRUE(first.is_open(50));
    EXPECT_TRUE(interrupted.is_open(50));
    EXPECT_FALSE(complete.is_open(50)) << "it came from another size";
}

// A search over 100 invented configurations. After 1.5 * sqrt(100) = 15 evaluations, its best cost is compared with the
// least cost of all templates.
class HundredPoints : public ::testing::Test {
protected:
    HundredPoints() {
        for (std::int64_t x = 0; x < 100; ++x) parameter.values.push_back(x);
        request.search = "genetic";
    }
    TemplateSearch search(const WarmStart& elsewhere = {}) {
        PlannedSpace planned{.kernel_template = &kernels.front()};
        planned.space =
            std::make_shared<ParameterSpace>(std::vector{parameter}, std::vector<Constraint>{}, Environment{});
        return {planned, {}, request, gemm(64, 64, 64), model_device("sm_90"), elsewhere};
    }
    static Configuration at(std::int64_t x) { return {{{"X", x}}}; }

    Parameter parameter{"X", {}, 0, ""};
    TuneRequest request;
    std::vector<KernelTemplate> kernels = builtin_templates();
};

TEST_F(HundredPoints, WithoutAValidOneGetAsManyEvaluationsAsThePatienceOrFourTimesTheOpening) {
    for (const auto patience : {std::size_t{10}, std::size_t{80}}) {
        request.stopping.patience = patience;
        auto search = this->search();
        std::int64_t tried = 0;
        for (; tried < 100 && search.is_open(1); ++tried) search.observe(at(tried), std::nullopt);
        EXPECT_EQ(tried, patience == 10 ? 4 * 15 : 80);
    }
}

TEST_F(HundredPoints, AreTriedFromNeighbouringSizesThenFromTheManifest) {
    kernels.front().starts = {at(70), at(200), at(30)};  // 200 is outside the space
    auto search = this->search({.starts = {at(50)}});
    std::vector<Configuration> first;
    for (int i = 0; i < 3; ++i) first.push_back(search.next().value());
    EXPECT_EQ(first, (std::vector{at(50), at(70), at(30)}));
}

TEST_F(HundredPoints, MayBeBehindByLessTheFewerAreLeft) {
    auto search = this->search();
    search.observe(at(0), 1.3);
    EXPECT_TRUE(search.keeps_up(1)) << "the limit is 1.495 with 99 % left";
    for (std::int64_t x = 1; x < 60; ++x) search.observe(at(x), 2);
    EXPECT_FALSE(search.keeps_up(1)) << "the limit is 1.2 with 40 % left";
    EXPECT_TRUE(search.keeps_up(1.1));
}

TEST_F(HundredPoints, AreJudgedAfterOneEvaluationWhereANeighbouringSizeWasSlow) {
    for (const auto behind : {1.4, 10.0}) {
        auto search = this->search({.starts = {}, .behind = behind});
        search.observe(at(0), 3);
        EXPECT_EQ(search.is_open(1), behind == 1.4) << behind;
    }
}

TEST_F(HundredPoints, WhatIsGivenBackCountsAsUntried) {
    request.search = "random";
    auto search = this->search();
    search.observe(at(0), 1.3);
    std::vector<Configuration> proposed;
    while (proposed.size() < 60) proposed.push_back(search.next().value());
    EXPECT_FALSE(search.keeps_up(1)) << "the limit is 1.195 with 39 % left";
    for (const auto& each : proposed) search.give_back(each);
    EXPECT_TRUE(search.keeps_up(1)) << "the limit is 1.495 with 99 % left";
    EXPECT_EQ(search.untried().size(), 99U);
}

// An adaptive search tries only the default values of run-time parameters. A sweep after the search tries other values.
TEST(TemplateSearch, AStartHasTheDefaultsOfRunTimeArguments) {
    const TuneRequest request{
        .problems = {{.operation = "grouping", .type = "f32", .layout = "", .extents = {{"N", 64}}}},
        .templates = load_templates(read_sources(fixture("grouped")))};
    const auto device = model_device("sm_90");
    const auto spaces = plan(request, device);
    const WarmStart elsewhere{.starts = {parse_configuration("GROUP=2,THREADS=64,BACKWARDS=1")}};
    TemplateSearch search(spaces.front().front(), {}, request, request.problems.front(), device, elsewhere);
    EXPECT_EQ(search.untried_among({parse_configuration("GROUP=2,THREADS=64,BACKWARDS=1")}),
              (std::vector{parse_configuration("GROUP=4,THREADS=64,BACKWARDS=0")}));
    EXPECT_EQ(search.next(), parse_configuration("GROUP=4,THREADS=64,BACKWARDS=0"));
    EXPECT_EQ(search.next(), parse_configuration("GROUP=4,THREADS=32,BACKWARDS=0")) << "the default comes next";
}

// Uses a space of nine points. After four evaluations, the search's best cost is compared with the least cost of all
// templates.
TEST(TemplateSearch, OneThatDoesNotKeepUpProposesNoMoreThanItsOpeningUntilThatIsJudged) {
    const TuneRequest request{
        .problems = {{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 16}, {"N", 16}}}},
        .templates = load_templates(read_sources(fixture("work")))};
    const auto device = model_device("sm_90");
    const auto spaces = plan(request, device);
    TemplateSearch search(spaces.front().front(), {}, request, request.problems.front(), device, WarmStart{});
    std::vector<Configuration> asked;
    const auto ask = [&] { asked.push_back(search.next().value()); };
    while (search.may_propose(1)) ask();
    ASSERT_EQ(asked.size(), 4U);
    EXPECT_TRUE(search.is_open(1)) << "what is proposed is still worthwhile";
    EXPECT_TRUE(search.may_propose(std::nullopt)) << "nothing is known to be faster";
    search.give_back(asked.back());
    asked.pop_back();
    EXPECT_TRUE(search.may_propose(1)) << "another one in its place";
    ask();
    search.observe(asked[0], 10);
    EXPECT_FALSE(search.may_propose(1));
    search.observe(asked[1], 1.1);
    EXPECT_TRUE(search.may_propose(1)) << "it keeps up";
    for (auto i : {2U, 3U}) search.observe(asked[i], 10);
    EXPECT_TRUE(search.may_propose(1)) << "judged";
    EXPECT_FALSE(search.may_propose(0.1)) << "judged";
}

}  // namespace
}  // namespace smemtune
