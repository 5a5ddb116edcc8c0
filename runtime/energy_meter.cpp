#include "runtime/energy_meter.h"

namespace smemtune {

void EnergyMeter::add(double ms, std::uint64_t millijoules, std::size_t launches) {
    const bool updated = read_ && millijoules != last_millijoules_;
    if (!read_) first_ms_ = ms;
    if (begun_ && !ended_) launches_ += launches;
    if (updated && begun_ && ms - begin_ms_ >= least_ms) ended_ = true;
    if (updated && !begun_) {
        begun_ = true;
        begin_ms_ = ms;
        begin_millijoules_ = millijoules;
    }
    read_ = true;
    last_ms_ = ms;
    last_millijoules_ = millijoules;
}

bool EnergyMeter::finished() const { return ended_ || (read_ && last_ms_ - first_ms_ >= most_ms); }

double EnergyMeter::launch_uj() const {
    // A counter that decreased was reset, for example because the driver was loaded again.
    if (!ended_ || launches_ == 0 || last_millijoules_ < begin_millijoules_) return 0;
    return static_cast<double>(last_millijoules_ - begin_millijoules_) * 1e3 / static_cast<double>(launches_);
}

}  // namespace smemtune
