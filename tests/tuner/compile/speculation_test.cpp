#include "tuner/compile/speculation.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/tuning/plan.h"

namespace smemtune {
namespace {

class Speculation : public ::testing::Test {
protected:
    std::vector<std::string> speculated(const std::vector<std::string>& names, std::optional<double> best = {}) {
        request_.templates.clear();
        for (const auto& name : names) request_.templates.push_back(find_template("", name));
        spaces_ = plan(request_, device_).front();
        searches_.clear();
        for (const auto& planned : spaces_) {
            searches_.push_back(
                std::make_unique<TemplateSearch>(planned, TrialKey{}, request_, problem_, device_, WarmStart{}));
        }
        return texts(best);
    }
    std::vector<std::string> texts(std::optional<double> best = {}) const {
        std::vector<std::string> texts;
        for (const auto& make : speculative_programs(searches_, best, problem_, device_)) {
            const auto program = make();
            texts.push_back(program.source_path + " " + program.files.at("configuration.h"));
        }
        return texts;
    }

    Device device_ = model_device("sm_90");
    TuneRequest request_{.problems = {gemm(512, 512, 512)}, .templates = {}};
    const Problem& problem_ = request_.problems.front();
    std::vector<PlannedSpace> spaces_;
    TemplateSearches searches_;
};

TEST_F(Speculation, AreEverythingUntriedOfSmallSpaces) {
    auto texts = speculated({"tiled", "naive"});
    EXPECT_EQ(texts.size(), spaces_[0].space->size() + spaces_[1].space->size());
    std::ranges::sort(texts);
    EXPECT_EQ(std::ranges::adjacent_find(texts), texts.end()) << "none twice";
    ASSERT_TRUE(searches_[0]->next());
    EXPECT_EQ(this->texts().size(), texts.size() - 1);
}

TEST_F(Speculation, BeginWithWhatNeedsTheMostRegisters) {
    const auto texts = speculated({"naive", "joint_tiled"});
    ASSERT_FALSE(texts.empty());
    EXPECT_NE(texts.front().find("joint_tiled.cu"), std::string::npos);
    EXPECT_NE(texts.front().find("TSZ_COLS = 128"), std::string::npos) << texts.front();
}

TEST_F(Speculation, LeaveOutATemplateThatIsFarBehind) {
    const auto all = speculated({"tiled", "naive"}).size();
    auto& slow = *searches_[0];
    while (slow.is_open(1.0)) {
        const auto configuration = slow.next();
        ASSERT_TRUE(configuration);
        slow.observe(*configuration, 100.0);
    }
    EXPECT_EQ(texts(1.0).size(), all - spaces_[0].space->size());
}

// The space of an exhaustive search also contains configurations that break the device's limits.
TEST_F(Speculation, LeaveOutWhatBreaksTheDevicesLimits) {
    request_.search = "exhaustive";
    device_.threads_per_block = 256;
    const auto texts = speculated({"tiled"});
    EXPECT_LT(texts.size(), spaces_[0].space->size());
    for (const auto& text : texts) EXPECT_EQ(text.find("TILE_WIDTH = 32;"), std::string::npos) << text;
}

TEST_F(Speculation, AreNotMadeOfALargeSpace) { EXPECT_TRUE(speculated({"warp_tiled"}).empty()); }

}  // namespace
}  // namespace smemtune
