#include "tuner/finals/paired_elimination.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Plays until it is decided; `sample(finalist, round)`. Returns the rounds played.
int play(PairedElimination& finals, const std::function<double(std::size_t, int)>& sample,
         int rounds = EliminationPolicy{}.rounds) {
    int played = 0;
    while (!finals.playing().empty()) {
        std::vector<std::vector<double>> samples;
        for (const auto finalist : finals.playing()) {
            auto& own = samples.emplace_back();
            for (int i = 0; i < rounds; ++i) own.push_back(sample(finalist, played + i));
        }
        finals.add(samples);
        played += rounds;
        if (played > 1000) throw std::runtime_error("the finals never end");
    }
    return played;
}

TEST(PairedElimination, WhoIsClearlyBehindLeavesAfterTheFirstRounds) {
    PairedElimination finals(3, {});
    EXPECT_EQ(play(finals, [](std::size_t finalist, int) { return 100.0 + 10 * static_cast<double>(finalist); }),
              EliminationPolicy{}.rounds);
    EXPECT_THAT(finals.equals(), ElementsAre(0));
}

TEST(PairedElimination, EqualsAreCertainAtOnceWhenTheyAreSteady) {
    PairedElimination finals(3, {});
    EXPECT_EQ(play(finals, [](std::size_t finalist,
                              int) { return finalist == 2 ? 105 : 100 + 0.1 * static_cast<double>(finalist); }),
              EliminationPolicy{}.rounds);
    EXPECT_THAT(finals.equals(), ElementsAre(0, 1));
}

// The clock sags by a fifth over the rounds; a comparison of medians taken one after the other would be off by far more
// than the two percent between them.
TEST(PairedElimination, ADriftThatAllMeetDoesNotMatter) {
    PairedElimination finals(2, {});
    play(finals, [](std::size_t finalist, int round) { return (finalist == 1 ? 100 : 102) * (1 + 0.03 * round); });
    EXPECT_THAT(finals.equals(), ElementsAre(1));
}

TEST(PairedElimination, NoiseIsAnsweredWithMoreRoundsUpToAnEnd) {
    std::mt19937 random(7);  // NOLINT: the same noise every time
    const auto noise = [&] { return 1 + 0.04 * (static_cast<double>(random() % 1000) / 1000 - 0.5); };
    PairedElimination finals(2, {});
    EXPECT_EQ(play(finals, [&](std::size_t finalist, int) { return (finalist == 0 ? 100.3 : 100.0) * noise(); }),
              EliminationPolicy{}.most_rounds);
    EXPECT_FALSE(finals.equals().empty());
}

TEST(PairedElimination, OneAloneHasNothingToPlay) {
    const PairedElimination finals(1, {});
    EXPECT_THAT(finals.playing(), IsEmpty());
    EXPECT_THAT(finals.equals(), ElementsAre(0));
}

TEST(PairedElimination, WhoFailsIsOutAndTheLastOneLeftWins) {
    PairedElimination finals(3, {});
    finals.drop(0);
    EXPECT_THAT(finals.playing(), ElementsAre(1, 2));
    finals.drop(2);
    EXPECT_THAT(finals.playing(), IsEmpty());
    EXPECT_THAT(finals.equals(), ElementsAre(1));
}

TEST(PairedElimination, WhoFailsTwiceIsOutOnce) {
    PairedElimination finals(2, {});
    finals.drop(0);
    finals.drop(0);
    EXPECT_THAT(finals.equals(), ElementsAre(1));
}

TEST(PairedElimination, WhenAllFailNobodyWins) {
    PairedElimination finals(2, {});
    finals.drop(0);
    finals.drop(1);
    EXPECT_THAT(finals.playing(), IsEmpty());
    EXPECT_THAT(finals.equals(), IsEmpty());
}

}  // namespace
}  // namespace smemtune
