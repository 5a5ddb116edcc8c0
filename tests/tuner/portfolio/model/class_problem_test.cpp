#include "tuner/portfolio/model/class_problem.h"

#include <gtest/gtest.h>

#include "db/portfolio/portfolio.h"

namespace smemtune {
namespace {

Problem product(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {"gemm", "f32", "nn", {{"M", m}, {"N", n}, {"K", k}}};
}

const std::vector<Problem> samples{product(16, 16, 16), product(4096, 512, 4096), product(4096, 8, 4096)};

std::string chosen(const std::string& wanted, const std::function<bool(const Problem&)>& is_valid,
                   std::int64_t element_bytes = 4) {
    const auto problem = class_problem(samples, wanted, element_bytes, 256, is_valid);
    if (!problem) return "none";
    EXPECT_EQ(problem_class(*problem, element_bytes), wanted);
    return size_text(*problem);
}

TEST(ClassProblem, LeavesARemainderForEveryTileAndHasSeveralOfThem) {
    const auto any = [](const Problem&) { return true; };
    EXPECT_EQ(chosen("111", any), "260x260x260");
    EXPECT_EQ(chosen("000", any), "257x257x257");
    EXPECT_EQ(chosen("010", any), "257x260x257");
    EXPECT_EQ(chosen("101", any, 8), "258x257x258");
    EXPECT_EQ(chosen("111", any, 16), "257x257x257");
    EXPECT_EQ(chosen("110", any, 16), "none") << "every extent is a multiple of 16 bytes";
}

TEST(ClassProblem, EachExtentIsAsOddAsTheConfigurationAllows) {
    const auto extent = [](const Problem& problem, std::size_t i) { return problem.extents[i].second; };
    EXPECT_EQ(chosen("111", [&](const Problem& each) { return extent(each, 0) % 64 == 0; }), "320x260x260");
    EXPECT_EQ(chosen("111", [&](const Problem& each) { return extent(each, 2) % 256 == 0; }), "260x260x256");
    EXPECT_EQ(chosen("000", [&](const Problem& each) { return extent(each, 1) % 2 == 0; }), "257x258x257");
    EXPECT_EQ(chosen("000", [&](const Problem& each) { return extent(each, 1) % 4 == 0; }), "none");
}

TEST(ClassProblem, HasTheProportionsOfASampleWhereOnlyThoseAreValid) {
    const auto narrow = [](const Problem& each) { return each.extents[1].second <= 8 && each.extents[0].second > 16; };
    EXPECT_EQ(chosen("111", narrow), "260x4x260");
    EXPECT_EQ(chosen("101", narrow), "260x7x260");
    EXPECT_EQ(chosen("101", [](const Problem& each) { return each.extents[0].second > 1000; }), "4100x9x4100")
        << "the smallest of the large samples";
    EXPECT_EQ(chosen("111", [](const Problem&) { return false; }), "none");
}

TEST(ClassProblem, AnOperationWithTooManyClassesIsRefused) {
    Operation operation{.name = "wide"};
    for (std::size_t i = 0; i < most_classified_extents; ++i) operation.extents.push_back("E" + std::to_string(i));
    EXPECT_NO_THROW(require_few_classes(operation));
    operation.extents.emplace_back("F");
    try {
        require_few_classes(operation);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()),
                  "operation 'wide' has 9 extents, but a portfolio supports at most 8, because its members are "
                  "verified for each combination of aligned and unaligned extents; tune the sizes with "
                  "'smemtune tune'");
    }
}

}  // namespace
}  // namespace smemtune
