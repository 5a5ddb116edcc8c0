#include "tuner/analysis/timestamp.h"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace smemtune {

std::int64_t milliseconds_of(const std::string& timestamp) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hours = 0;
    int minutes = 0;
    double seconds = 0;
    if (std::sscanf(timestamp.c_str(), "%4d-%2u-%2uT%2d:%2d:%lf", &year, &month, &day, &hours, &minutes, &seconds) !=
        6) {
        return 0;
    }
    using namespace std::chrono;
    const auto date = std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
    if (!date.ok()) return 0;
    const auto whole = sys_days(date).time_since_epoch() + std::chrono::hours(hours) + std::chrono::minutes(minutes);
    return duration_cast<milliseconds>(whole).count() + std::llround(seconds * 1000);
}

}  // namespace smemtune
