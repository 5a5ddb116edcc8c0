#include "templates/predict/correction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

TimeModel off_by(std::vector<Residual> residuals) { return {.coefficients = {1}, .residuals = std::move(residuals)}; }

Correction::Corrected at(const Correction& correction, std::size_t model, const std::vector<double>& place) {
    std::vector<Correction::Near> near;
    correction.find(place, near);
    return correction.of(model, near);
}

TEST(Correction, AtAMeasuredProblemAPredictionMovesMostOfTheWayToTheMeasuredTime) {
    const std::vector models{off_by({{{3, 4}, std::log(2.0)}}), off_by({{{3, 4}, -std::log(2.0)}})};
    const Correction correction(models);
    EXPECT_GT(at(correction, 0, {3, 4}).factor, 1.5);
    EXPECT_LT(at(correction, 0, {3, 4}).factor, 2.0);
    EXPECT_NEAR(at(correction, 1, {3, 4}).factor, 1 / at(correction, 0, {3, 4}).factor, 1e-12);
    EXPECT_GT(at(correction, 0, {3, 4}).trust, 0.7);
}

TEST(Correction, ErrorsAreSmallNearMeasuredProblemsButNeverZero) {
    const std::vector models{off_by({{{3, 4}, 1}})};
    const Correction correction(models);
    EXPECT_DOUBLE_EQ(at(correction, 0, {3, 10}).error(0.3), 0.3) << "far away";
    EXPECT_LT(at(correction, 0, {3, 4}).error(0.3), 0.15);
    EXPECT_GT(at(correction, 0, {3, 4}).error(0.3), at(correction, 0, {3, 4}).error(0.2));
    EXPECT_GT(at(correction, 0, {3, 4}).error(0), 0.01);
}

TEST(Correction, FallsWithTheDistanceAndEndsFarAway) {
    const std::vector models{off_by({{{3, 4}, 1}})};
    const Correction correction(models);
    auto before = at(correction, 0, {3, 4});
    for (const double away : {0.5, 1.0, 2.0}) {
        const auto now = at(correction, 0, {3 + away, 4});
        EXPECT_LT(now.factor, before.factor) << away;
        EXPECT_LT(now.trust, before.trust) << away;
        before = now;
    }
    EXPECT_EQ(at(correction, 0, {3, 10}).factor, 1);
    EXPECT_EQ(at(correction, 0, {3, 10}).trust, 0);
}

TEST(Correction, ReachesFartherWithFewerMeasuredProblems) {
    double before = 0;
    for (const int count : {2000, 1300, 650, 325, 100}) {
        std::vector<Residual> residuals{{{1, 1, 1}, 1}};
        for (int i = 1; i < count; ++i) residuals.push_back({{9, 9, 0.001 * i}, 0});
        const auto trust = at(Correction(std::vector{off_by(residuals)}), 0, {1, 2, 1}).trust;
        if (count == 1300) {
            EXPECT_NEAR(trust, before, 1e-12) << "the least reach";
        } else {
            EXPECT_GT(trust, before) << count;
        }
        before = trust;
    }
}

TEST(Correction, ReachesFartherWithMoreExtents) {
    const auto trust = [](std::size_t extents) {
        std::vector<double> place(extents, 1);
        std::vector<Residual> residuals{{place, 1}};
        for (int i = 1; i < 400; ++i) residuals.push_back({std::vector(extents, 9 + 0.001 * i), 0});
        place.front() = 2;
        return at(Correction(std::vector{off_by(residuals)}), 0, place).trust;
    };
    EXPECT_LT(trust(2), trust(3)) << "400 problems of two extents are dense";
    EXPECT_LT(trust(3), trust(4));
}

TEST(Correction, EachModelHasItsOwnResidualsAtPlacesThatAreShared) {
    const std::vector models{off_by({{{1, 1}, 0.5}, {{2, 2}, 0.5}}), off_by({{{2, 2}, -0.5}}), off_by({})};
    const Correction correction(models);
    EXPECT_GT(at(correction, 0, {1, 1}).factor, 1);
    EXPECT_LT(at(correction, 1, {1, 1}).factor, 1);
    EXPECT_GT(at(correction, 0, {1, 1}).trust, at(correction, 1, {1, 1}).trust);
    EXPECT_EQ(at(correction, 2, {1, 1}).factor, 1);
}

TEST(Correction, ResidualsOfOtherNumbersOfExtentsAreIgnored) {
    const std::vector models{off_by({{{1, 1}, 0.5}, {{1}, -9}})};
    const Correction correction(models);
    EXPECT_GT(at(correction, 0, {1, 1}).factor, 1);
    EXPECT_EQ(at(correction, 0, {1, 1, 1}).factor, 1);
    EXPECT_EQ(at(Correction(), 0, {1, 1}).factor, 1) << "without models there is nothing to be off by";
}

TEST(Correction, OnlyProblemsOfTheSameRowAlignmentCount) {
    const auto place = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        std::vector<double> result;
        place_of(gemm(m, n, k), result);
        return result;
    };
    const std::vector models{off_by({{place(64, 64, 64), 0.5}, {place(64, 63, 64), -0.5}})};
    const auto kernel = std::ranges::find(builtin_templates(), "tiled", &KernelTemplate::name);
    const Correction aligned(models, RowAlignment(kernel->operation, gemm(1, 1, 1), model_device("sm_90")));
    EXPECT_NEAR(at(aligned, 0, place(64, 64, 64)).factor, std::exp(0.5 / 1.2), 1e-3);
    EXPECT_NEAR(at(aligned, 0, place(65, 60, 64)).factor, std::exp(0.25 * 0.5 / (0.25 + 0.2)), 1e-2)
        << "a quarter of the weight: 60 elements are 240 bytes, which are not whole units of 32 bytes, in B and C";
    EXPECT_NEAR(at(aligned, 0, place(65, 64, 68)).factor, std::exp(0.5 * 0.5 / (0.5 + 0.2)), 1e-2);
    EXPECT_NEAR(at(aligned, 0, place(64, 65, 64)).factor, std::exp(-0.5 / 1.2), 1e-2);
    EXPECT_EQ(at(aligned, 0, place(64, 64, 65)).factor, 1) << "no measured problem has misaligned rows of A alone";
    EXPECT_NEAR(at(Correction(models), 0, place(64, 64, 64)).factor, 1, 1e-2) << "without alignments, both count";

    Correction::Scratch scratch;
    for (const auto& problem : {gemm(64, 64, 64), gemm(65, 60, 64), gemm(64, 65, 64), gemm(64, 64, 65)}) {
        std::vector<double> logarithms;
        place_of(problem, logarithms);
        aligned.find(problem, scratch);
        EXPECT_EQ(aligned.of(0, scratch.near).factor, at(aligned, 0, logarithms).factor) << to_text(problem);
    }
}

TEST(Correction, TheExtentsAtAPlaceAreThoseOfTheProblem) {
    for (const std::int64_t extent : {1, 2, 63, 4095, 4999, 16384, 28672, 2147483647}) {
        const std::vector place{std::log(static_cast<double>(extent))};
        EXPECT_EQ(extents_at(place), std::vector{extent});
        const std::vector rounded{std::round(1e4 * place[0]) * 1e-4};
        if (extent <= 5000) {
            EXPECT_EQ(extents_at(rounded), std::vector{extent});
        }
    }
    EXPECT_EQ(extents_at(std::vector{0.0, 1e9}).front(), 1) << "a logarithm that no problem has is no error";
}

TEST(Correction, APlaceIsTheLogarithmsOfTheExtents) {
    std::vector<double> place{9};
    place_of(gemm(1, 8, 64), place);
    ASSERT_EQ(place.size(), 3);
    EXPECT_EQ(place[0], 0);
    EXPECT_NEAR(place[2], 2 * place[1], 1e-12);
}

// Implements the formula of docs/design.md a second time: with few measured problems, the weight of an error at
// distance d < 4.2 is exp(-d^2 / (2 * 1.4^2)), and the weight of the model is 0.2.
TEST(Correction, IsAWeightedMeanOfTheLogarithmsOfTheErrorsNearby) {
    std::vector<Residual> residuals;
    for (int i = 0; i < 11; ++i) residuals.push_back({{0.4 * i, 1 - 0.3 * i}, 0.1 * i - 0.3});
    const std::vector models{off_by(residuals), off_by({residuals[3], {{9, 9}, 5}})};
    const Correction correction(models);
    for (const auto& place : {std::vector{0.0, 1.0}, {1.1, 0.2}, {2.0, -2.0}, {4.0, -2.0}, {0.0, 3.9}}) {
        for (std::size_t model = 0; model < models.size(); ++model) {
            double weights = 0;
            double sum = 0;
            for (const auto& each : models[model].residuals) {
                const double squared = std::pow(each.place[0] - place[0], 2) + std::pow(each.place[1] - place[1], 2);
                if (squared >= 4.2 * 4.2) continue;
                weights += std::exp(-squared / 3.92);
                sum += std::exp(-squared / 3.92) * each.log_ratio;
            }
            const auto found = at(correction, model, place);
            EXPECT_NEAR(found.factor, std::exp(sum / (0.2 + weights)), 1e-12);
            EXPECT_NEAR(found.trust, weights / (0.2 + weights), 1e-12);
        }
    }
    EXPECT_EQ(at(Correction(std::vector{off_by({{{0.0}, 1}})}), 0, {4.2}).trust, 0) << "three times the reach";
    EXPECT_GT(at(Correction(std::vector{off_by({{{0.0}, 1}})}), 0, {4.199}).trust, 0);
}

TEST(Correction, APlaceWithoutExtentsOrWithOtherOnesHasNone) {
    const std::vector models{off_by({{{1, 1}, 0.5}})};
    const Correction correction(models);
    std::vector<Correction::Near> near(3);
    correction.find(std::vector{1.0}, near);
    EXPECT_TRUE(near.empty()) << "what was there before is gone";
    correction.find(std::vector{1.0, 1.0}, near);
    ASSERT_EQ(near.size(), 1U);
    EXPECT_EQ(near[0].weight, 1);
    std::vector<double> place;
    place_of(gemm(1, 8, 64), place);
    EXPECT_DOUBLE_EQ(place[1], std::log(8.0));
    EXPECT_DOUBLE_EQ(place[2], std::log(64.0));
}

}  // namespace
}  // namespace smemtune
