#include "tuner/problem/search_pipeline.h"

#include <gtest/gtest.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

class SearchPipelineTest : public ::testing::Test {
protected:
    SearchPipeline& pipeline() {
        (void)fake_.start();
        searches_ = fake_.searches();
        ledger_.emplace(*fake_.run, fake_.problem(), fake_.identity());
        const auto& operation = fake_.request.templates.front().operation;
        return pipeline_.emplace(*fake_.run, fake_.problem(), *ledger_, operation, effort_);
    }
    // Returns a source that proposes the values of WORK one after another.
    SearchPipeline::Source values() {
        return [this]() -> std::optional<TemplateConfiguration> {
            if (left_.empty()) return std::nullopt;
            const auto value = left_.front();
            left_.erase(left_.begin());
            return TemplateConfiguration{searches_.front().get(), work(value)};
        };
    }
    static std::int64_t value(const std::optional<Proposal>& proposal) {
        return proposal ? proposal->configuration.values.at("WORK") : 0;
    }
    [[nodiscard]] TrialRecord record(std::int64_t value, Outcome outcome) {
        return {.key = searches_.front()->key(),
                .configuration = work(value),
                .outcome = std::move(outcome),
                .verified_by = fake_.identity()};
    }

    FakeRun fake_{2};
    TemplateSearches searches_;
    Effort effort_;
    std::optional<TrialLedger> ledger_;
    std::optional<SearchPipeline> pipeline_;
    std::vector<std::int64_t> left_{64, 48, 32, 24};
};

TEST_F(SearchPipelineTest, FillsUpToAsManyAsWait) {
    auto& pipeline = this->pipeline();
    EXPECT_EQ(pipeline.fill(3, values()), 3U);
    EXPECT_EQ(value(pipeline.take(1)), 64);
    EXPECT_EQ(pipeline.fill(3, values()), 3U);
    EXPECT_TRUE(left_.empty());
    EXPECT_EQ(pipeline.fill(9, values()), 3U) << "nothing is left to propose";
    EXPECT_EQ(pipeline.taken(), 1U);
}

TEST_F(SearchPipelineTest, TheLimitOfEvaluationsCountsKnownWaitingAndTakenCandidates) {
    fake_.request.evaluations = 3;
    auto& pipeline = this->pipeline();
    ledger_->add(*searches_.front(), record(1, steady(100)));
    EXPECT_EQ(pipeline.fill(1, values()), 1U);
    EXPECT_EQ(value(pipeline.take(1)), 64);
    EXPECT_FALSE(pipeline.is_full());
    EXPECT_EQ(pipeline.fill(9, values()), 1U);
    EXPECT_TRUE(pipeline.is_full());
}

TEST_F(SearchPipelineTest, WhenGainIsUnlikelyWhatWaitsIsDroppedAndCountsAsUntried) {
    fake_.request.stopping.patience = 2;
    auto& pipeline = this->pipeline();
    auto& search = *searches_.front();
    left_.clear();
    for (int i = 0; i < 4; ++i) left_.push_back(search.next().value().values.at("WORK"));
    const auto proposed = left_;
    const auto last = work(proposed.back());
    ASSERT_EQ(pipeline.fill(9, values()), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        pipeline.drop_ended();
        ASSERT_EQ(value(pipeline.take(1)), proposed[i]) << "the search goes on";
        ledger_->add(search, record(proposed[i], steady(100)));
    }
    ASSERT_FALSE(search.is_open(100));
    EXPECT_TRUE(search.untried_among({last}).empty());
    pipeline.drop_ended();
    EXPECT_TRUE(pipeline.empty());
    EXPECT_EQ(search.untried_among({last}), std::vector{last});
}

TEST_F(SearchPipelineTest, OfASpaceThatIsUsedUpEverythingIsTried) {
    fake_.request.stopping.patience = 2;
    auto& pipeline = this->pipeline();
    auto& search = *searches_.front();
    left_.clear();
    while (const auto next = search.next()) left_.push_back(next->values.at("WORK"));
    const auto proposed = left_;
    pipeline.fill(99, values());
    for (std::size_t i = 0; i < 3; ++i) {
        (void)pipeline.take(1);
        ledger_->add(search, record(proposed[i], steady(100)));
    }
    ASSERT_FALSE(search.is_open(100));
    pipeline.drop_ended();
    EXPECT_FALSE(pipeline.empty());
}

TEST_F(SearchPipelineTest, AStoredOutcomeIsRecalledInsteadOfCompiled) {
    auto& pipeline = this->pipeline();
    fake_.store.remember(record(48, steady(100)));
    EXPECT_EQ(pipeline.fill(9, values()), 3U);
    EXPECT_EQ(fake_.report.recalled, 1U);
    EXPECT_TRUE(fake_.compiler.has_begun(3));
}

TEST_F(SearchPipelineTest, SeveralWorkersGetWhatIsCompiledAndOneTheOrder) {
    fake_.compiler.hold("WORK = 64;");
    auto& pipeline = this->pipeline();
    pipeline.fill(2, values());
    ASSERT_TRUE(soon([&] { return pipeline.is_ready(2); }));
    EXPECT_FALSE(pipeline.is_ready(1));
    EXPECT_EQ(value(pipeline.take(2)), 48);
    EXPECT_EQ(value(pipeline.take(1)), 64);
}

TEST_F(SearchPipelineTest, WhatAWorkerGivesBackIsNext) {
    auto& pipeline = this->pipeline();
    pipeline.fill(2, values());
    auto first = pipeline.take(1);
    ASSERT_TRUE(first);
    pipeline.give_back(std::move(*first));
    EXPECT_EQ(pipeline.taken(), 0U);
    EXPECT_EQ(value(pipeline.take(1)), 64);
}

TEST_F(SearchPipelineTest, EqualMachineCodeIsTimedOnce) {
    auto& pipeline = this->pipeline();
    pipeline.fill(2, values());
    const auto first = pipeline.take(1);
    auto second = pipeline.take(1);
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(pipeline.settle_without_trial(*first));
    pipeline.finish(*first, {.outcome = steady(100)});
    second->compiled = first->compiled;
    EXPECT_TRUE(pipeline.settle_without_trial(*second));
    EXPECT_EQ(fake_.report.same_code, 1U);
    EXPECT_EQ(pipeline.taken(), 0U);
    EXPECT_EQ(ledger_->trials().back().measurement()->median_us, 100);
}

TEST_F(SearchPipelineTest, EqualMachineCodeIsVerifiedIfTheOtherWas) {
    auto& pipeline = this->pipeline();
    pipeline.fill(4, values());
    for (const bool verified : {false, true}) {
        const auto first = pipeline.take(1);
        auto second = pipeline.take(1);
        ASSERT_TRUE(first && second);
        pipeline.finish(*first, {.outcome = steady(100), .verified = verified});
        second->compiled = first->compiled;
        ASSERT_TRUE(pipeline.settle_without_trial(*second));
        EXPECT_EQ(ledger_->trials().back().record.verified_by, verified ? fake_.identity() : "");
    }
}

TEST_F(SearchPipelineTest, ACompileCountsOnceHoweverOftenItsProgramIsAskedFor) {
    auto& pipeline = this->pipeline();
    pipeline.fill(2, values());
    for (const bool before : {false, true}) {
        auto proposal = pipeline.take(1);
        ASSERT_TRUE(proposal);
        std::promise<CompilePool::Result> compiled;
        compiled.set_value(Binary{.code = {1}, .compile_ms = 2000});
        proposal->compiled = compiled.get_future().share();
        proposal->compiled_before = before;
        EXPECT_FALSE(pipeline.settle_without_trial(*proposal));
        EXPECT_DOUBLE_EQ(effort_.compile, 2);
    }
}

TEST_F(SearchPipelineTest, ARefusedProgramIsARejection) {
    auto& pipeline = this->pipeline();
    pipeline.fill(1, values());
    auto proposal = pipeline.take(1);
    ASSERT_TRUE(proposal);
    std::promise<CompilePool::Result> refused;
    refused.set_value(Rejection{Stage::compile, "line 1: wrong"});
    proposal->compiled = refused.get_future().share();
    EXPECT_TRUE(pipeline.settle_without_trial(*proposal));
    EXPECT_EQ(fake_.report.rejected.at(Stage::compile), 1U);
}

TEST_F(SearchPipelineTest, TheEnergyOfWhatIsCutShortIsNotMissed) {
    fake_.request.objective = Objective::energy;
    auto& pipeline = this->pipeline();
    pipeline.fill(1, values());
    const auto proposal = pipeline.take(1);
    ASSERT_TRUE(proposal);
    auto slow = steady(100);
    slow.cut_short = true;
    EXPECT_NO_THROW(pipeline.finish(*proposal, {.outcome = slow}));
}

TEST_F(SearchPipelineTest, ATrialHasTheResourcesOfItsCodeAndTheDynamicSharedMemoryOfItsLaunch) {
    auto& launch = fake_.request.templates.front();
    launch.dynamic_shared_bytes = Expression("16 * WORK");
    auto& pipeline = this->pipeline();
    pipeline.fill(1, values());
    auto proposal = pipeline.take(1);
    ASSERT_TRUE(proposal);
    std::promise<CompilePool::Result> compiled;
    compiled.set_value(Binary{.code = {1}, .resources = {.registers = 40, .static_shared_bytes = 128}});
    proposal->compiled = compiled.get_future().share();
    pipeline.finish(*proposal, {.outcome = steady(100)});
    const auto& resources = ledger_->trials().back().record.resources;
    EXPECT_EQ(resources.registers, 40);
    EXPECT_EQ(resources.static_shared_bytes, 128);
    EXPECT_EQ(resources.dynamic_shared_bytes, 16 * 64);
}

TEST_F(SearchPipelineTest, AMissingEnergyEndsARunForEnergy) {
    fake_.request.objective = Objective::energy;
    auto& pipeline = this->pipeline();
    pipeline.fill(1, values());
    const auto proposal = pipeline.take(1);
    ASSERT_TRUE(proposal);
    EXPECT_THROW(pipeline.finish(*proposal, {.outcome = steady(100)}), DeviceError);
}

}  // namespace
}  // namespace smemtune
