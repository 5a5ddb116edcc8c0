#include "tuner/portfolio/model/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace smemtune {
namespace {

// Returns times of one template's configurations, with random terms. `us_of` gives a configuration's time (us) from its
// terms.
template <class Time>
CrossTimes synthetic(std::size_t problems, std::size_t configurations, Time us_of) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(1, 20);
    CrossTimes times;
    times.counts.assign(problems, 1);
    times.groups.assign(configurations, 0);
    times.found.resize(configurations);
    times.won.resize(configurations);
    for (std::size_t problem = 0; problem < problems; ++problem) {
        times.places.push_back({100.0 * static_cast<double>(problem)});  // all problems are far apart
        auto& cells = times.cells.emplace_back();
        for (std::size_t configuration = 0; configuration < configurations; ++configuration) {
            CrossTimes::Cell cell;
            cell.terms[0] = 1;
            for (std::size_t i = 1; i < term_count; ++i) cell.terms[i] = any(random);
            cell.us = us_of(configuration, cell.terms);
            cells.push_back(cell);
        }
    }
    return times;
}

std::vector<std::size_t> first(std::size_t count) {
    std::vector<std::size_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
    return numbers;
}

TEST(FitModels, FindsTheCoefficientsOfTimesThatFollowTheModel) {
    const TimeModel truth{.coefficients = {2, 0, 0.5, 0, 3, 0, 0, 1}, .error = 0};
    const auto times = synthetic(40, 2, [&](std::size_t, const Terms& terms) { return truth.predicted_us(terms); });
    const auto models = fit_models(times, first(40), {1});
    ASSERT_EQ(models.size(), 1);
    for (std::size_t i = 0; i < term_count; ++i) {
        EXPECT_NEAR(models[0].coefficients[i], truth.coefficients[i], 0.02) << term_names[i];
    }
    EXPECT_LT(models[0].error, 1e-3);
}

TEST(FitModels, NoCoefficientIsNegativeSoATimeGrowsWithEachTerm) {
    const auto times = synthetic(40, 1, [](std::size_t, const Terms& terms) { return 100 - 3 * terms[1] + terms[2]; });
    const auto model = fit_models(times, first(40), {0})[0];
    for (const double each : model.coefficients) EXPECT_GE(each, 0);
}

TEST(FitModels, TheErrorIsThatOfTimesThatWereLeftOut) {
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0, 0.2);
    const auto times = synthetic(
        60, 1, [&](std::size_t, const Terms& terms) { return (1 + terms[1] + terms[4]) * std::exp(noise(random)); });
    // Two thirds of the times must lie within a factor of 1 + error of the prediction. The logarithm of the noise has a
    // normal distribution with mean 0 and standard deviation 0.2. Two thirds of such values are within 0.97 standard
    // deviations of the mean, so 1 + error is about exp(0.2).
    EXPECT_NEAR(fit_models(times, first(60), {0})[0].error, std::exp(0.2) - 1, 0.07);
}

TEST(FitModels, AResidualSaysHowFarATimeIsFromThePredictionOfTheOthers) {
    auto times = synthetic(60, 1, [](std::size_t, const Terms& terms) { return 1 + terms[1] + terms[4]; });
    times.cells[7][0].us *= 1.5;
    const auto model = fit_models(times, first(60), {0})[0];
    ASSERT_EQ(model.residuals.size(), 60);
    EXPECT_EQ(model.residuals[7].place, times.places[7]);
    EXPECT_NEAR(model.residuals[7].log_ratio, std::log(1.5), 0.02);
    EXPECT_NEAR(model.residuals[8].log_ratio, 0, 0.05);
}

TEST(FitModels, WhereNeitherTimeNorPredictionIsNearTheBestThereIsNoResidual) {
    auto times = synthetic(40, 2, [](std::size_t configuration, const Terms& terms) {
        return (configuration == 0 ? 1 : 100) * (1 + terms[1]);
    });
    EXPECT_TRUE(fit_models(times, first(40), {1})[0].residuals.empty());
    times.cells[3][1].us = times.cells[3][0].us;
    EXPECT_FALSE(fit_models(times, first(40), {1})[0].residuals.empty());
}

TEST(FitModels, WithFewTimesTheCommonModelOfTheTemplateDecides) {
    auto times = synthetic(40, 3, [](std::size_t, const Terms& terms) { return 5 + 2 * terms[4] + terms[2]; });
    // Configuration 2 is timed only at the first two problems.
    for (std::size_t problem = 2; problem < 40; ++problem) times.cells[problem][2].us = 0;
    const auto model = fit_models(times, first(40), {2})[0];
    const auto& unseen = times.cells[30][1];
    EXPECT_NEAR(model.predicted_us(unseen.terms) / unseen.us, 1, 0.05);
    EXPECT_EQ(model.error, 0.3) << "two times say nothing of the error";
}

TEST(FitModels, ATermThatAConfigurationWasNeverTimedWithHasTheCoefficientOfTheCommonModel) {
    auto times = synthetic(40, 3, [](std::size_t, const Terms&) { return 1.0; });
    for (auto& row : times.cells) {
        for (std::size_t configuration = 0; configuration < 3; ++configuration) {
            auto& cell = row[configuration];
            if (configuration == 2) cell.terms[8] = 0;
            cell.us = 5 + cell.terms[4] + 3 * cell.terms[8];
        }
    }
    EXPECT_NEAR(fit_models(times, first(40), {2})[0].coefficients[8], 3, 0.05);
}

TEST(FitModels, ManyTimesOfAConfigurationOutweighTheCommonModel) {
    const auto times = synthetic(40, 10, [](std::size_t configuration, const Terms& terms) {
        return 5 + (configuration == 9 ? 6 : 3) * terms[4];
    });
    EXPECT_NEAR(fit_models(times, first(40), {9})[0].coefficients[4], 6, 0.4);
}

TEST(FitModels, ConfigurationsOfOtherTemplatesHaveNoPartInTheCommonModel) {
    auto times = synthetic(40, 2, [](std::size_t configuration, const Terms& terms) {
        return configuration == 0 ? 1000 * terms[3] : 5 + terms[4];
    });
    times.groups = {0, 1};
    const auto model = fit_models(times, first(40), {1})[0];
    EXPECT_NEAR(model.coefficients[3], 0, 1e-3);
}

TEST(FitModels, ATermThatIsZeroEverywhereHasNoCoefficient) {
    auto times = synthetic(20, 1, [](std::size_t, const Terms& terms) { return 5 + terms[4]; });
    for (auto& row : times.cells) row[0].terms[7] = 0;
    EXPECT_EQ(fit_models(times, first(20), {0})[0].coefficients[7], 0);
}

}  // namespace
}  // namespace smemtune
