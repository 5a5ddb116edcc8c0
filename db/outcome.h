// The outcome of a trial: a measurement, or a rejection with its stage and reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smemtune {

/// The stage at which a candidate failed. The set is closed, because its names are stored.
enum class Stage {
    limits,   ///< needs more than the device holds, by the manifest or the compiler's report
    compile,  ///< the compiler refused it
    launch,   ///< the device refused to load or launch it
    wrong,    ///< it gave a wrong result, or wrote where it must not
    crash,    ///< an illegal access, or its process died
    timeout,  ///< it overran its deadline
};
std::string_view to_text(Stage stage);
/// Throws std::invalid_argument.
Stage parse_stage(std::string_view text);

struct Rejection {
    Stage stage = Stage::limits;
    std::string reason;

    bool operator==(const Rejection&) const = default;
};

struct Measurement {
    double median_us = 0;            ///< device time of one launch
    double spread_us = 0;            ///< half the distance between the quartiles
    std::vector<double> samples_us;  ///< each one is the mean of a batch of launches
    bool cut_short = false;          ///< clearly slower than the best, so sampling ended early
    std::int64_t clock_khz = 0;      ///< multiprocessor clock while timing; 0 when unknown
    double energy_uj = 0;            ///< energy of one launch, for the whole device; 0 when unknown

    bool operator==(const Measurement&) const = default;
};

using Outcome = std::variant<Measurement, Rejection>;

/// The resources that a kernel needs, as its compiler reports them. A value is 0 if the compiler did not run or does
/// not report it.
struct Resources {
    std::int64_t registers = 0;  ///< per thread
    std::int64_t spill_bytes = 0;
    std::int64_t static_shared_bytes = 0;
    std::int64_t dynamic_shared_bytes = 0;

    bool operator==(const Resources&) const = default;
};

}  // namespace smemtune
