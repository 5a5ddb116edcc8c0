// What a stored trial means: its row with what its template, operation and device add.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "db/store.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct TrialFacts {
    TrialRow row;
    Device device;
    std::optional<Configuration> defaults;     ///< of the template; nothing when its manifest cannot be read
    std::optional<double> flops;               ///< per second; nothing for a rejected trial and where nobody can tell
    std::optional<double> share_of_peak;       ///< of the device's FP32 peak
    std::optional<double> times_baseline;      ///< how many times as fast as the baseline's best trial
    std::optional<std::int64_t> faster_trial;  ///< of a winner: the trial whose stored time is shorter

    /// The parameters that differ from the defaults, or all of them when nobody knows the defaults.
    [[nodiscard]] std::string differences() const;
};

/// Looks up the facts of trials of one database, and keeps what several of them share. `store` must outlive it.
class TrialReader {
public:
    explicit TrialReader(const Store& store);

    [[nodiscard]] TrialFacts read(TrialRow row);

private:
    const KernelTemplate* kernel(std::int64_t row);
    const std::string& baseline_of(const std::string& operation);

    const Store& store_;
    std::map<std::int64_t, Device> devices_;
    std::map<std::int64_t, std::unique_ptr<KernelTemplate>> kernels_;  // null when the manifest cannot be read
    std::map<std::string, std::string> baselines_;                     // the name of each operation's, or nothing
};

}  // namespace smemtune
