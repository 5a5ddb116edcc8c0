#include "tuner/search/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smemtune {
namespace {

TEST(GaussianProcess, KnowsWhatItWasToldAndNothingFarAway) {
    Posterior posterior({{10.0}, 1e-4}, {{0.0F}, {0.5F}, {1.0F}});
    posterior.add({0.0F});
    const auto [mean, variance] = posterior.predict({-2.0});
    EXPECT_NEAR(mean[0], -2, 1e-2);
    EXPECT_NEAR(variance[0], 0, 1e-3);
    EXPECT_NEAR(mean[2], 0, 1e-2);
    EXPECT_NEAR(variance[2], 1, 1e-3);
    EXPECT_GT(variance[1], variance[0]);
    EXPECT_LT(variance[1], variance[2]);
}

TEST(GaussianProcess, AgreesWithTheFormulaForTwoPoints) {
    const Covariance kernel{{1.5, 0.5}, 0.02};
    const Rows points{{0.1F, 0.9F}, {0.7F, 0.3F}};
    const std::vector<float> candidate{0.4F, 0.4F};
    Posterior posterior(kernel, {candidate});
    for (const auto& point : points) posterior.add(point);
    const auto [mean, variance] = posterior.predict({0.8, -1.1});
    // The expected values come from the inverse of [[a, b], [b, a]], computed by hand.
    const auto a = 1.02;
    const auto b = kernel(points[0], points[1]);
    const auto k0 = kernel(points[0], candidate);
    const auto k1 = kernel(points[1], candidate);
    const auto determinant = a * a - b * b;
    EXPECT_NEAR(mean[0], (k0 * (a * 0.8 + b * 1.1) + k1 * (-a * 1.1 - b * 0.8)) / determinant, 1e-5);
    EXPECT_NEAR(variance[0], 1 - (a * k0 * k0 - 2 * b * k0 * k1 + a * k1 * k1) / determinant, 1e-5);
}

TEST(GaussianProcess, TheFitFindsWhichColumnMatters) {
    Rows points;
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) {
        const auto x = static_cast<float>((i * 7) % 40) / 39;
        const auto y = static_cast<float>((i * 11) % 40) / 39;
        points.push_back({x, y});
        values.push_back(1.4 * std::sin(6 * x));
    }
    const Covariance prior{{1.0, 1.0}, 0.01};
    const auto kernel = fitted(prior, prior, points, values, 30);
    EXPECT_GT(kernel.inverse_scales[0], 4 * kernel.inverse_scales[1]);
    EXPECT_LT(kernel.noise, 0.01);
}

// Without a prior, a fit to a single point would make the noise as large as allowed.
TEST(GaussianProcess, AFitToLittleStaysNearThePrior) {
    const Covariance prior{{1.0}, 0.01};
    const auto kernel = fitted(prior, prior, {{0.5F}}, {3.0}, 50);
    EXPECT_NEAR(kernel.noise, 0.01, 0.005);
    EXPECT_DOUBLE_EQ(kernel.inverse_scales[0], 1);
}

TEST(GaussianProcess, TheFitCallsNoiseWhatNoColumnExplains) {
    Rows points;
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) {
        points.push_back({static_cast<float>(i / 2) / 20});  // each point occurs twice, with opposite values
        values.push_back(i % 2 == 0 ? 1 : -1);
    }
    const Covariance prior{{1.0}, 0.01};
    EXPECT_GT(fitted(prior, prior, points, values, 30).noise, 0.5);
}

TEST(Posterior, IsSurerOfWhatIsAwaitedAndExpectsNothingElseOfIt) {
    const Rows candidates{{0.2F}, {0.5F}, {0.9F}};
    Posterior posterior(Covariance{{2.0}}, candidates);
    posterior.add({0.1F});
    const auto before = posterior.predict({-2.0});
    posterior.add({0.5F});
    const auto awaited = posterior.predict({-2.0, std::nullopt});
    EXPECT_EQ(awaited.mean, before.mean);
    for (std::size_t c = 0; c < candidates.size(); ++c) EXPECT_LT(awaited.variance[c], before.variance[c]);
    EXPECT_LT(posterior.predict({-2.0, -2.0}).mean[1], before.mean[1]) << "the answer counts once it is there";
}

}  // namespace
}  // namespace smemtune
