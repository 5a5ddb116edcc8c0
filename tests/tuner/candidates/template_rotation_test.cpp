#include "tuner/candidates/template_rotation.h"

#include <gtest/gtest.h>

#include "tests/tuner/support/fake_run.h"

namespace smemtune {
namespace {

// Two equal templates with nine configurations each. In its first turn, a template makes four proposals.
class TemplateRotationTest : public ::testing::Test {
protected:
    void SetUp() override {
        fake_.add_copy("other");
        (void)fake_.start();
        searches_ = fake_.searches();
        ASSERT_EQ(searches_.size(), 2U);
    }
    std::string proposals(TemplateRotation& rotation, int count, std::optional<double> best = {}) {
        std::string names;
        for (int i = 0; i < count; ++i) {
            const auto next = rotation.next(best);
            names += !next ? '-' : next->search == searches_[0].get() ? 'a' : 'b';
        }
        return names;
    }

    FakeRun fake_;
    TemplateSearches searches_;
};

TEST_F(TemplateRotationTest, TheTemplatesProposeInTurnsUntilAllIsProposed) {
    TemplateRotation rotation(searches_, std::nullopt);
    EXPECT_EQ(proposals(rotation, 20), "aaaabbbbaaaabbbbab--");
}

TEST_F(TemplateRotationTest, ALimitOfEvaluationsIsSharedEqually) {
    TemplateRotation rotation(searches_, 4);
    EXPECT_EQ(proposals(rotation, 6), "aabbaa");
}

TEST_F(TemplateRotationTest, ASlowTemplateIsPassedOver) {
    TemplateRotation rotation(searches_, std::nullopt);
    for (int i = 0; i < 4; ++i) searches_[0]->observe(rotation.next(100)->configuration, 300);
    EXPECT_EQ(proposals(rotation, 5, 100), "bbbb-") << "no more until its first turn is judged";
    searches_[1]->observe({{{"WORK", 64}}}, 100);
    EXPECT_EQ(proposals(rotation, 10, 100), "bbbbb-----");
}

}  // namespace
}  // namespace smemtune
