#include "tuner/analysis/random_forest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace smemtune {
namespace {

// Returns a table of all combinations of three columns with four levels each.
LevelTable grid() {
    LevelTable table{.columns = 3};
    for (std::uint16_t a = 0; a < 4; ++a) {
        for (std::uint16_t b = 0; b < 4; ++b) {
            for (std::uint16_t c = 0; c < 4; ++c) table.levels.insert(table.levels.end(), {a, b, c});
        }
    }
    return table;
}

template <class Function>
std::vector<double> values_of(const LevelTable& table, Function function) {
    std::vector<double> values;
    for (std::size_t i = 0; i < table.rows(); ++i) values.push_back(function(table.row(i)[0], table.row(i)[1]));
    return values;
}

TEST(RandomForest, LearnsStepsAndSumsOfItsColumns) {
    const auto table = grid();
    const auto values = values_of(table, [](int a, int b) { return 10.0 * (a >= 2 ? 1 : 0) + b; });
    const RandomForest forest(table, values);
    EXPECT_GT(forest.explained(), 0.95);
    EXPECT_LE(forest.explained(), 1);
    for (std::size_t i = 0; i < table.rows(); ++i) EXPECT_NEAR(forest.predict(table.row(i)), values[i], 1.0) << i;
}

TEST(RandomForest, OfEqualValuesPredictsThatValue) {
    const auto table = grid();
    const RandomForest forest(table, std::vector<double>(table.rows(), 7.5));
    EXPECT_DOUBLE_EQ(forest.predict(table.row(5)), 7.5);
    EXPECT_EQ(forest.explained(), 0) << "there is no variance";
}

TEST(RandomForest, OfFewExamplesIsTheirMean) {
    const LevelTable table{.columns = 1, .levels = {0, 1}};
    const RandomForest forest(table, std::vector{2.0, 4.0});
    for (const auto level : {std::uint16_t{0}, std::uint16_t{1}}) {
        EXPECT_NEAR(forest.predict(std::vector<std::uint16_t>{level}), 3, 0.7)
            << "no leaf has fewer than three examples";
    }
    EXPECT_EQ(forest.predict(std::vector<std::uint16_t>{0}), forest.predict(std::vector<std::uint16_t>{1}));
}

TEST(RandomForest, ExplainsNothingOfWhatItsColumnsDoNotDecide) {
    const auto table = grid();
    std::vector<double> values;
    unsigned state = 1;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        state = state * 1103515245U + 12345U;
        values.push_back(static_cast<double>(state >> 16U & 1023U));
    }
    EXPECT_LT(RandomForest(table, values).explained(), 0.3);
}

TEST(RandomForest, TheSameExamplesGiveTheSameForest) {
    const auto table = grid();
    const auto values = values_of(table, [](int a, int b) { return 1.0 * a * b; });
    const RandomForest first(table, values);
    const RandomForest second(table, values);
    EXPECT_EQ(first.explained(), second.explained());
    for (std::size_t i = 0; i < table.rows(); ++i) EXPECT_EQ(first.predict(table.row(i)), second.predict(table.row(i)));
}

}  // namespace
}  // namespace smemtune
