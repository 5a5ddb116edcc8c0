#include "tuner/candidates/template_search.h"

#include <gtest/gtest.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

// Two evaluations without a gain end the search. Then a trial that was in flight brings a gain.
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

}  // namespace
}  // namespace smemtune
