#include "tuner/portfolio/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

const Operation& operation(const std::string& name) {
    static const auto& templates = builtin_templates();
    return std::ranges::find_if(templates, [&](const auto& kernel) { return kernel.operation.name == name; })
        ->operation;
}

std::vector<Sample> draw(std::size_t count, ExtentRange range = {}, unsigned seed = 0) {
    return draw_samples(operation("gemm"), "f32", "nt", count, range, seed);
}

std::string error_of(const std::string& text) {
    try {
        (void)parse_samples(text, operation("gemm"), "f32", "nn");
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

TEST(DrawSamples, TheSameSeedDrawsTheSameDistinctProblems) {
    const auto samples = draw(100);
    ASSERT_EQ(samples.size(), 100);
    EXPECT_EQ(samples[7].problem, draw(8)[7].problem);
    EXPECT_NE(samples[7].problem, draw(8, {}, 1)[7].problem);
    for (const auto& sample : samples) {
        EXPECT_EQ(std::ranges::count(samples, sample.problem, &Sample::problem), 1);
        EXPECT_EQ(sample.problem.layout, "nt");
        EXPECT_EQ(sample.count, 1);
    }
}

TEST(DrawSamples, ExtentsAreSpreadLogUniformlyWithinTheRangeAThirdOfThemMultiplesOf64) {
    const auto samples = draw(1000, {16, 12000});
    int below = 0;
    int of_64 = 0;
    int of_8 = 0;
    for (const auto& sample : samples) {
        for (const auto& [name, extent] : sample.problem.extents) {
            EXPECT_GE(extent, 16);
            EXPECT_LE(extent, 12000);
            below += extent < 438 ? 1 : 0;  // 438 is sqrt(16 * 12000), the middle of the range on a logarithmic scale
            of_64 += extent % 64 == 0 ? 1 : 0;
            of_8 += extent % 8 == 0 ? 1 : 0;
        }
    }
    EXPECT_NEAR(below / 3000.0, 0.5, 0.05);
    EXPECT_NEAR(of_64 / 3000.0, 1.0 / 3 + 0.25 / 8, 0.05);
    EXPECT_NEAR(of_8 / 3000.0, 1.0 / 3 + 0.25 + 0.42 / 8, 0.05);
}

TEST(DrawSamples, ASmallRangeGivesAsManyAsItHas) {
    EXPECT_EQ(draw(100, {5, 5}).size(), 1);
    EXPECT_LE(draw(100, {5, 6}).size(), 8);
}

TEST(DrawSamples, AnExtentThatCountsMatricesIsABatch) {
    for (const auto& sample : draw_samples(operation("batched_gemm"), "f32", "nn", 50, {100, 200}, 0)) {
        EXPECT_LE(sample.problem.extents[0].second, 64);
        EXPECT_GE(sample.problem.extents[1].second, 100);
    }
}

TEST(ParseSamples, ReadsASizeAndACountOnEachLine) {
    const auto samples =
        parse_samples("4096x11008x128 200\n\n# a comment\n512  # another\n512 0.5\n", operation("gemm"), "f32", "nn");
    ASSERT_EQ(samples.size(), 2);
    EXPECT_EQ(samples[0].problem, gemm(4096, 11008, 128));
    EXPECT_EQ(samples[0].count, 200);
    EXPECT_EQ(samples[1].problem, gemm(512, 512, 512));
    EXPECT_EQ(samples[1].count, 1.5) << "equal problems are added up";
}

TEST(ParseSamples, AMistakeIsNamedWithItsLine) {
    EXPECT_THAT(error_of("64\n64x64\n"), HasSubstr("line 2: "));
    EXPECT_THAT(error_of("64 many"), HasSubstr("the count 'many'"));
    EXPECT_THAT(error_of("64 0"), HasSubstr("the count '0'"));
    EXPECT_THAT(error_of("64 -1"), HasSubstr("the count '-1'"));
    EXPECT_THAT(error_of("64 nan"), HasSubstr("the count 'nan'"));
    EXPECT_THAT(error_of("64 1 x"), HasSubstr("'x' follows the count"));
    EXPECT_THAT(error_of("64..128"), HasSubstr("'64..128' is not one size"));
}

TEST(SpreadOrder, EachSampleIsFarFromThoseBeforeIt) {
    const auto sample = [](std::int64_t m, std::int64_t k) { return Sample{gemm(m, 64, k)}; };
    const std::vector<Sample> samples{sample(64, 64), sample(70, 64), sample(4096, 64), sample(64, 4096),
                                      sample(512, 512)};
    const auto order = spread_order(samples);
    ASSERT_EQ(order.size(), 5);
    EXPECT_EQ(order[0], 4) << "the middle";
    EXPECT_EQ(order[4], 1) << "near another one, so last";
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 5) << "each one once";
    EXPECT_TRUE(spread_order({}).empty());
    EXPECT_EQ(spread_order({sample(8, 8)}), std::vector<std::size_t>{0});
}

TEST(KindOf, TellsSmallNarrowDeepAndSquareProblemsApart) {
    const auto kind = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return kind_of(operation("gemm"), gemm(m, n, k), model_device("sm_90"));
    };
    EXPECT_EQ(kind(4096, 4096, 4096), "square");
    EXPECT_EQ(kind(4096, 8, 4096), "narrow");
    EXPECT_EQ(kind(8, 4096, 4096), "narrow");
    EXPECT_EQ(kind(128, 128, 8192), "deep");
    EXPECT_EQ(kind(128, 128, 128), "small");
}

TEST(KindOf, ChangesAtItsBorders) {
    const auto kind = [](const std::string& name, const Problem& problem) {
        return kind_of(operation(name), problem, model_device("sm_90"));
    };
    EXPECT_EQ(kind("gemm", gemm(128, 256, 256)), "square") << "2^24 operations";
    EXPECT_EQ(kind("gemm", gemm(128, 256, 255)), "small");
    EXPECT_EQ(kind("gemm", gemm(64, 4096, 4096)), "square");
    EXPECT_EQ(kind("gemm", gemm(63, 4096, 4096)), "narrow");
    EXPECT_EQ(kind("gemm", gemm(4096, 63, 4096)), "narrow");
    EXPECT_EQ(kind("gemm", gemm(256, 64, 1024)), "square") << "8 times sqrt(256 * 64)";
    EXPECT_EQ(kind("gemm", gemm(256, 64, 1025)), "deep");
    EXPECT_EQ(kind("batched_gemm", batched_gemm(100, 128, 128, 1024)), "square") << "the batch counts for nothing";
    EXPECT_EQ(kind("batched_gemm", batched_gemm(100, 128, 128, 1025)), "deep");
}

TEST(DrawSamples, EveryExtentOfASmallRangeIsDrawnAndNoOther) {
    std::set<std::int64_t> drawn;
    for (const auto& sample : draw(60, {3, 6})) {
        for (const auto& [name, extent] : sample.problem.extents) drawn.insert(extent);
        EXPECT_EQ(sample.problem.operation, "gemm");
        EXPECT_EQ(sample.problem.type, "f32");
    }
    EXPECT_EQ(drawn, (std::set<std::int64_t>{3, 4, 5, 6}));
    EXPECT_TRUE(draw(0).empty());
    std::set<std::int64_t> batches;
    for (const auto& sample : draw_samples(operation("batched_gemm"), "f32", "nn", 500, {100, 200}, 0)) {
        batches.insert(sample.problem.extents[0].second);
        EXPECT_LE(sample.problem.extents[3].second, 200);
    }
    EXPECT_EQ(*batches.begin(), 1);
    EXPECT_EQ(*batches.rbegin(), 64);
}

TEST(ParseSamples, CountsMayBeFractionsAndLinesMayBeBlank) {
    const auto samples = parse_samples("\n  \n#\n 8x9x10\t2.5e1 # often\n", operation("gemm"), "f16", "tt");
    ASSERT_EQ(samples.size(), 1U);
    EXPECT_EQ(samples[0].problem, gemm(8, 9, 10, "f16", "tt"));
    EXPECT_EQ(samples[0].count, 25);
    EXPECT_TRUE(parse_samples("", operation("gemm"), "f32", "nn").empty());
    EXPECT_EQ(error_of("8\n\n# x\n8 inf"), "line 4: the count 'inf' is no number above 0");
    EXPECT_EQ(error_of("8 1 2"), "line 1: '2' follows the count; write MxNxK COUNT");
    EXPECT_EQ(error_of("8,9"), "line 1: '8,9' is not one size");
}

// Checks the order against its definition: the next sample is the one, among those that remain, that is farthest from
// all earlier samples in the order.
TEST(SpreadOrder, TakesTheFarthestEachTimeAfterTheNearestToTheMean) {
    const auto samples = draw(25);
    const auto place = [&](std::size_t i) {
        std::vector<double> logarithms;
        for (const auto& [name, extent] : samples[i].problem.extents) {
            logarithms.push_back(std::log(static_cast<double>(extent)));
        }
        return logarithms;
    };
    const auto squared = [](const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return sum;
    };
    std::vector<double> mean(3);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) mean[k] += place(i)[k] / static_cast<double>(samples.size());
    }
    const auto order = spread_order(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        EXPECT_LE(squared(place(order[0]), mean), squared(place(i), mean) + 1e-9);
    }
    const auto nearest_before = [&](std::size_t at, std::size_t sample) {
        double least = 1e300;
        for (std::size_t i = 0; i < at; ++i) least = std::min(least, squared(place(order[i]), place(sample)));
        return least;
    };
    for (std::size_t at = 1; at < order.size(); ++at) {
        for (std::size_t later = at; later < order.size(); ++later) {
            EXPECT_GE(nearest_before(at, order[at]), nearest_before(at, order[later]) - 1e-9) << at;
        }
    }
}

}  // namespace
}  // namespace smemtune
