#include "runtime/energy_meter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace smemtune {
namespace {

// Simulates a GPU that draws `watts` and updates its energy counter every `period_ms`. Each batch has `launches`
// launches and takes `batch_ms`.
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
    meter.add(20, 150, 50);  // the first update of the counter: the measurement begins
    meter.add(100, 200, 1);
    meter.add(319, 900, 1);  // an update, but less than 300 ms after the first one
    meter.add(330, 900, 1);  // late enough, but the counter was not updated
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

TEST(EnergyMeter, TheBordersOfItsTimesBelongToThem) {
    EnergyMeter meter;
    EXPECT_FALSE(meter.finished()) << "nothing was read";
    meter.add(0, 100, 9);  // launches before the counter's first update are ignored
    meter.add(50, 101, 9);
    meter.add(350, 161, 3);  // exactly 300 ms after the update at 50 ms
    EXPECT_TRUE(meter.finished());
    EXPECT_DOUBLE_EQ(meter.launch_uj(), 60 * 1e3 / 3);
    meter.add(400, 161, 100);
    EXPECT_DOUBLE_EQ(meter.launch_uj(), 60 * 1e3 / 3) << "later launches do not count";

    EnergyMeter still;
    still.add(10, 7, 1);
    still.add(3009, 7, 1);
    EXPECT_FALSE(still.finished());
    still.add(3010, 7, 1);
    EXPECT_TRUE(still.finished()) << "3 s after the first reading";
    EXPECT_EQ(still.launch_uj(), 0);

    EnergyMeter idle;
    idle.add(0, 1, 0);
    idle.add(10, 2, 0);
    idle.add(400, 3, 0);
    EXPECT_TRUE(idle.finished());
    EXPECT_EQ(idle.launch_uj(), 0) << "no launch lay between the updates";
}

// Implements the meter's rule a second time. The rule uses two updates of the counter: the first update, and the next
// one that is at least 300 ms later. The rule divides the energy between these updates by the number of launches
// between them.
TEST(EnergyMeter, AgreesWithTheRuleForAnyReadings) {
    std::mt19937 random(3);  // NOLINT: the same readings every time
    for (int round = 0; round < 300; ++round) {
        struct Reading {
            double ms;
            std::uint64_t millijoules;
            std::size_t launches;
        };
        std::vector<Reading> readings;
        EnergyMeter meter;
        double ms = 0;
        std::uint64_t millijoules = 1000;
        while (!meter.finished()) {
            ms += static_cast<double>(random() % 120);
            if (random() % 3 == 0) millijoules += random() % 50;
            readings.push_back({ms, millijoules, random() % 4});
            meter.add(readings.back().ms, readings.back().millijoules, readings.back().launches);
        }
        double expected = 0;
        std::optional<std::size_t> begin;
        for (std::size_t i = 1; i < readings.size(); ++i) {
            if (readings[i].millijoules == readings[i - 1].millijoules) continue;
            if (!begin) {
                begin = i;
            } else if (readings[i].ms - readings[*begin].ms >= 300) {
                std::size_t launches = 0;
                for (auto k = *begin + 1; k <= i; ++k) launches += readings[k].launches;
                const auto energy = static_cast<double>(readings[i].millijoules - readings[*begin].millijoules) * 1e3;
                if (launches > 0) expected = energy / static_cast<double>(launches);
                break;
            }
        }
        EXPECT_DOUBLE_EQ(meter.launch_uj(), expected) << round;
    }
}

}  // namespace
}  // namespace smemtune
