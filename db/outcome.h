// The outcome of a trial: a measurement, or a rejection with its stage and reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smemtune {

/// The stage at which a candidate failed. A new stage needs a migration, because the database schema lists the names.
enum class Stage {
    limits,   ///< the kernel needs more than the device has, by the manifest's estimate or the compiler's report
    compile,  ///< the compiler rejected the kernel
    launch,   ///< the device did not load or launch the kernel
    wrong,    ///< the kernel gave a wrong result, or wrote out of bounds
    crash,    ///< the kernel made an illegal access, or the worker process died
    timeout,  ///< the trial took longer than its time limit
};
std::string_view to_text(Stage stage);
/// Throws std::invalid_argument for an unknown name.
Stage parse_stage(std::string_view text);

struct Rejection {
    Stage stage = Stage::limits;
    std::string reason;

    bool operator==(const Rejection&) const = default;
};

struct Measurement {
    double median_us = 0;            ///< median device time of one launch
    double spread_us = 0;            ///< half the interquartile range of the samples
    std::vector<double> samples_us;  ///< each sample is the mean time of a batch of launches
    bool cut_short = false;          ///< timing ended early, because the kernel was clearly slower than the best so far
    std::int64_t clock_khz = 0;      ///< multiprocessor clock during timing; 0 when unknown
    double energy_uj = 0;            ///< energy that the whole device uses during one launch; 0 when unknown

    bool operator==(const Measurement&) const = default;
};

using Outcome = std::variant<Measurement, Rejection>;

/// The resources that a kernel needs, as its compiler reports them. A value is 0 if the compiler did not run or does
/// not report this value.
struct Resources {
    std::int64_t registers = 0;  ///< registers per thread
    std::int64_t spill_bytes = 0;
    std::int64_t static_shared_bytes = 0;
    std::int64_t dynamic_shared_bytes = 0;

    bool operator==(const Resources&) const = default;
};

}  // namespace smemtune
