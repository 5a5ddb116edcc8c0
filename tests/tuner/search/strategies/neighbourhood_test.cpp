#include "tuner/search/strategies/neighbourhood.h"

#include <gmock/gmock.h>

#include "tests/tuner/search/landscapes.h"

namespace smemtune {
namespace {

std::size_t differences(const ParameterSpace& space, std::size_t a, std::size_t b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < space.parameters().size(); ++i) count += space.point(a)[i] != space.point(b)[i] ? 1 : 0;
    return count;
}

TEST(Neighbourhood, IsExactlyTheValidPointsThatDifferInOneParameter) {
    const auto space = cube("A * B <= C * D + 3");
    for (std::size_t index = 0; index < space->size(); index += 97) {
        std::vector<std::size_t> expected;
        for (std::size_t other = 0; other < space->size(); ++other) {
            if (differences(*space, index, other) == 1) expected.push_back(other);
        }
        EXPECT_THAT(neighbours(*space, index), ::testing::UnorderedElementsAreArray(expected));
    }
}

TEST(Neighbourhood, IsAdjacentWhereThatParameterHasTheNextValue) {
    const auto space = cube();
    const auto index = space->find(parse_configuration("A=1,B=4,C=8,D=2")).value();
    std::vector<std::string> found;
    for (const auto each : adjacent_neighbours(*space, index)) found.push_back(to_text((*space)[each]));
    EXPECT_THAT(found, ::testing::UnorderedElementsAre("A=2,B=4,C=8,D=2", "A=1,B=3,C=8,D=2", "A=1,B=5,C=8,D=2",
                                                       "A=1,B=4,C=7,D=2", "A=1,B=4,C=8,D=1", "A=1,B=4,C=8,D=3"));
}

TEST(Neighbourhood, OfAParameterWithThousandsOfValuesIsBounded) {
    std::vector<std::int64_t> values(10000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
    const ParameterSpace space({{"X", values, 0, ""}}, std::vector<Constraint>{}, Environment{});
    const auto near = neighbours(space, 5000);
    EXPECT_EQ(near.size(), 140U) << "on either side 64 next to it, and those 128, 256, 512, 1024, 2048 and 4096 away";
    EXPECT_THAT(near, ::testing::IsSupersetOf({4999, 5001, 5064, 4936, 5128, 9096}));
    EXPECT_THAT(near, ::testing::Not(::testing::Contains(::testing::AnyOf(5000, 5065, 4935))));
}

TEST(Neighbourhood, AChangeTouchesAsManyParametersAsAskedOrAsHaveAChoice) {
    const auto space = cube();
    std::mt19937_64 random(3);
    for (const std::size_t changes : {0U, 1U, 2U, 4U}) {
        for (int i = 0; i < 20; ++i) EXPECT_EQ(differences(*space, 77, *changed(*space, 77, changes, random)), changes);
    }
    EXPECT_EQ(differences(*space, 77, *changed(*space, 77, 9, random)), 4U);
}

TEST(Neighbourhood, AChangeToWhatIsNotValidIsNone) {
    const auto space = cube("A == B");
    std::mt19937_64 random(3);
    for (int i = 0; i < 20; ++i) {
        const auto index = changed(*space, 10, 2, random);
        if (index) {
            EXPECT_EQ(space->point(*index)[0], space->point(*index)[1]);
        }
    }
}

}  // namespace
}  // namespace smemtune
