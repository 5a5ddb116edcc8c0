#include "tuner/lane.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

TEST(Lane, AGainThatWasInFlightWhenItEndedOpensItNeitherThenNorInALaterRun) {
    const TuneRequest request{
        .problems = {{.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 16}, {"N", 16}}}},
        .templates = load_templates(read_sources(fixture("work"))),
        .stopping = {.patience = 2}};
    const auto device = model_device("sm_90");
    const auto spaces = plan(request, device);
    const auto lane = [&] {
        return Lane(spaces.front().front(), {}, request, request.problems.front(), device, Transfer{});
    };
    auto first = lane();
    std::vector<Configuration> asked;
    for (int i = 0; i < 4; ++i) asked.push_back(first.next().value());
    auto later = lane();
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(first.is_open(100));
        first.observe(asked[i], 100);
        later.observe(asked[i], 100);
    }
    EXPECT_FALSE(first.is_open(100));
    first.observe(asked[3], 50);
    later.observe(asked[3], 50);
    later.resume();
    EXPECT_FALSE(first.is_open(50));
    EXPECT_FALSE(later.is_open(50));
}

}  // namespace
}  // namespace smemtune
