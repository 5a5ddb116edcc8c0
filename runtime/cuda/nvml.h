// The clock of a GPU, from the driver's management library where it is installed.
#pragma once

#include <cstdint>
#include <string>

namespace smemtune {

/// Reads one GPU's multiprocessor clock. Opens libnvidia-ml at construction; without it the clock is unknown.
class ClockReader {
public:
    /// `bus_id` as the CUDA runtime gives it: `0000:1b:00.0`.
    explicit ClockReader(const std::string& bus_id);
    ~ClockReader();
    ClockReader(const ClockReader&) = delete;
    ClockReader& operator=(const ClockReader&) = delete;

    /// Now, in kHz; 0 when unknown.
    [[nodiscard]] std::int64_t khz() const;

private:
    void* library_ = nullptr;
    void* device_ = nullptr;
};

}  // namespace smemtune
