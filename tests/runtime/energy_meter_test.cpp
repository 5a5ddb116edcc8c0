#include "runtime/energy_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace smemtune {
namespace {

// Simulates a GPU that draws `watts` and updates its counter every `period_ms`. A batch of `launches` takes `batch_ms`.
EnergyMeter metered(double watts, double period_ms, double batch_ms, std::size_t launches) {
    EnergyMeter meter;
    for (double ms = batch_ms + 7; !meter.finished(); ms += batch_ms) {
        const auto updated_ms = std::floor(ms / period_ms) * period_ms;
        meter.add(ms, 1'000'000 + static_cast<std::uint64_t>(watts * updated_ms), launches);
    }
    return meter;
}

TEST(EnergyMeter, ALaunchGetsItsShareWhateverTheCountersPeriod) {
    for (const double period_ms : {20.0, 33.0, 100.0}) {
        const auto energy = metered(500, period_ms, 2, 10).launch_uj();
        EXPECT_NEAR(energy, 500 * 2 * 1000 / 10.0, 0.02 * 500 * 2 * 1000 / 10) << period_ms;
    }
}

TEST(EnergyMeter, LaunchesLongerThanThePeriodAreMeasuredToo) {
    EXPECT_NEAR(metered(300, 100, 450, 1).launch_uj(), 300 * 450 * 1000.0, 0.3 * 300 * 450 * 1000.0);
}

TEST(EnergyMeter, OnlyWhatRunsBetweenTwoUpdatesFarEnoughApartCounts) {
    EnergyMeter meter;
    meter.add(0, 100, 50);
    meter.add(10, 100, 50);
    EXPECT_FALSE(meter.finished());
    meter.add(20, 150, 50);  // an update: the measurement begins
    meter.add(100, 200, 1);
    meter.add(319, 900, 1);  // too soon after the first update
    meter.add(330, 900, 1);  // late enough, but not an update
    EXPECT_FALSE(meter.finished());
    EXPECT_EQ(meter.launch_uj(), 0);
    meter.add(400, 1150, 2);
    EXPECT_TRUE(meter.finished());
    EXPECT_DOUBLE_EQ(meter.launch_uj(), (1150 - 150) * 1e3 / 5);
}

TEST(EnergyMeter, ACounterThatStandsStillIsGivenUp) {
    const auto meter = metered(0, 20, 2, 10);
    EXPECT_TRUE(meter.finished());
    EXPECT_EQ(meter.launch_uj(), 0);
}

TEST(EnergyMeter, ACounterThatWentBackSaysNothing) {
    EnergyMeter meter;
    meter.add(0, 1000, 1);
    meter.add(10, 1100, 1);
    meter.add(400, 5, 1);
    EXPECT_TRUE(meter.finished());
    EXPECT_EQ(meter.launch_uj(), 0);
}

}  // namespace
}  // namespace smemtune
