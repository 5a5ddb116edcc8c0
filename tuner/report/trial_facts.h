// Computes facts about a stored trial from its template, its operation and its device.
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
    std::optional<Configuration> defaults;  ///< the template's defaults; nothing if its manifest cannot be read
    /// The identity of the operation whose files are stored with the template. Nothing if the manifest cannot be read.
    std::optional<std::string> operation_identity;
    std::optional<double> flops;               ///< operations per second; nothing if rejected or unknown
    std::optional<double> share_of_peak;       ///< `flops` divided by the FP32 peak of the device
    std::optional<double> times_baseline;      ///< the best time of the baseline divided by this trial's time
    std::optional<std::int64_t> faster_trial;  ///< for a winner: a trial whose stored time is shorter than the winner's

    bool is_other_version = false;  ///< whether the trial is not of the present version of its template

    /// The parameters that differ from the defaults; all parameters if the defaults are unknown.
    [[nodiscard]] std::string differences() const;
};

/// Computes facts about the trials of one database. Caches templates, devices and baselines. `store` must outlive the
/// reader.
class TrialReader {
public:
    explicit TrialReader(const Store& store);

    [[nodiscard]] TrialFacts read(TrialRow row);

private:
    const KernelTemplate* kernel(std::int64_t row);
    const std::string& baseline_of(const std::string& operation);
    [[nodiscard]] std::optional<std::int64_t> faster_trial(const TrialRow& winner) const;

    const Store& store_;
    std::map<std::int64_t, Device> devices_;
    std::map<std::int64_t, std::unique_ptr<KernelTemplate>> kernels_;  // null if the manifest cannot be read
    // The baseline of each operation; an empty name means that it has none.
    std::map<std::string, std::string> baselines_;
};

}  // namespace smemtune
