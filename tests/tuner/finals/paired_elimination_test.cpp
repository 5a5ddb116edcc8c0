#include "tuner/finals/paired_elimination.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Measures the finalists until the finals are decided. In each round, each remaining finalist takes
// `sample(finalist, round)` us. Returns the number of rounds. `rounds` is the number of rounds that are added at once.
int measure(PairedElimination& finals, const std::function<double(std::size_t, int)>& sample,
            int rounds = EliminationPolicy{}.rounds) {
    int measured = 0;
    while (!finals.remaining().empty()) {
        std::vector<std::vector<double>> samples;
        for (const auto finalist : finals.remaining()) {
            auto& own = samples.emplace_back();
            for (int i = 0; i < rounds; ++i) own.push_back(sample(finalist, measured + i));
        }
        finals.add(samples);
        measured += rounds;
        if (measured > 1000) throw std::runtime_error("the finals never end");
    }
    return measured;
}

TEST(PairedElimination, ASlowFinalistIsEliminatedAfterTheFirstRounds) {
    PairedElimination finals(3, {});
    EXPECT_EQ(measure(finals, [](std::size_t finalist, int) { return 100.0 + 10 * static_cast<double>(finalist); }),
              EliminationPolicy{}.rounds);
    EXPECT_THAT(finals.equals(), ElementsAre(0));
}

TEST(PairedElimination, EqualsAreCertainAtOnceWhenTheyAreSteady) {
    PairedElimination finals(3, {});
    EXPECT_EQ(measure(finals, [](std::size_t finalist,
                                 int) { return finalist == 2 ? 105 : 100 + 0.1 * static_cast<double>(finalist); }),
              EliminationPolicy{}.rounds);
    EXPECT_THAT(finals.equals(), ElementsAre(0, 1));
}

// The clock slows down: in each round, the times of both finalists grow by 3 % of their first times. If the finalists
// were measured one after the other, their medians would differ by far more than the real 2 %.
TEST(PairedElimination, ADriftThatAffectsAllDoesNotMatter) {
    PairedElimination finals(2, {});
    measure(finals, [](std::size_t finalist, int round) { return (finalist == 1 ? 100 : 102) * (1 + 0.03 * round); });
    EXPECT_THAT(finals.equals(), ElementsAre(1));
}

TEST(PairedElimination, AMedianAtTheBarIsEqual) {
    PairedElimination finals(2, {.equal = 0.5});
    measure(finals, [](std::size_t finalist, int round) { return finalist == 0 ? 100.0 : round % 2 == 0 ? 147 : 153; });
    EXPECT_THAT(finals.equals(), ElementsAre(0, 1));
}

// Returns the finalists that count as equal after all rounds. The second finalist's times alternate between 3 us below
// and 3 us above `second`. Because of this noise, the interval of the ratios is never narrow enough to end the
// finals early.
std::vector<std::size_t> equals_of_a_noisy_race(double second) {
    PairedElimination finals(2, {});
    const auto sample = [&](std::size_t finalist, int round) {
        return finalist == 0 ? 100 : second + (round % 2 == 0 ? -3 : 3);
    };
    EXPECT_EQ(measure(finals, sample), EliminationPolicy{}.most_rounds);
    return finals.equals();
}

TEST(PairedElimination, AfterTheLastRoundTheMediansDecide) {
    EXPECT_THAT(equals_of_a_noisy_race(100.3), ElementsAre(0, 1));
    EXPECT_THAT(equals_of_a_noisy_race(101.5), ElementsAre(0));
    EXPECT_THAT(equals_of_a_noisy_race(99), ElementsAre(1));
}

TEST(PairedElimination, ASoleFinalistWins) {
    const PairedElimination finals(1, {});
    EXPECT_THAT(finals.remaining(), IsEmpty());
    EXPECT_THAT(finals.equals(), ElementsAre(0));
}

TEST(PairedElimination, TheLastOneThatDoesNotFailWins) {
    PairedElimination finals(3, {});
    finals.drop(0);
    EXPECT_THAT(finals.remaining(), ElementsAre(1, 2));
    finals.drop(2);
    EXPECT_THAT(finals.remaining(), IsEmpty());
    EXPECT_THAT(finals.equals(), ElementsAre(1));
}

TEST(PairedElimination, AFinalistMayFailTwice) {
    PairedElimination finals(2, {});
    finals.drop(0);
    finals.drop(0);
    EXPECT_THAT(finals.equals(), ElementsAre(1));
}

TEST(PairedElimination, WhenAllFailNoneWins) {
    PairedElimination finals(2, {});
    finals.drop(0);
    finals.drop(1);
    EXPECT_THAT(finals.remaining(), IsEmpty());
    EXPECT_THAT(finals.equals(), IsEmpty());
}

}  // namespace
}  // namespace smemtune
