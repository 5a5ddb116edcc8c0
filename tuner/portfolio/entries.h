// The configurations that may become members of a portfolio, and their machine code.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/compiler.h"
#include "templates/predict/bound_launch.h"
#include "tuner/portfolio/samples.h"
#include "tuner/tuning/tune_resources.h"

namespace smemtune {

struct Entry {
    const KernelTemplate* kernel = nullptr;
    std::int64_t template_row = 0;
    Configuration configuration;
    std::string code_hash;
    BoundLaunch bound;
    /// Samples in ascending order: those where this configuration was among the fastest, those where it was predicted
    /// to be the fastest, and those nearest to other problems where it was among the fastest.
    std::vector<std::size_t> found{};
    std::vector<std::size_t> won{};  ///< the samples at which this configuration was the fastest
    std::optional<Binary> binary{};  ///< the machine code, which provide_code() sets
};

/// The fastest configurations of each sample may become members: at most `most_of_a_sample`, and each takes at most
/// `slowest_of_a_sample` times as long as the fastest.
inline constexpr std::size_t most_of_a_sample = 4;
inline constexpr double slowest_of_a_sample = 1.15;

/// The data that collect_entries() and provide_code() need: samples and templates, and what all trials have in common.
struct EntrySource {
    const TuneResources& resources;
    const std::vector<Sample>& samples;
    const std::vector<KernelTemplate>& templates;
    std::int64_t device_row = 0;
    std::string identity;   ///< the verification identity of the trials
    std::string toolchain;  ///< names and versions of compiler and driver
    unsigned jobs = 1;      ///< the number of concurrent compiles
};

/// Returns the names and versions of compiler and driver, in the form that trials record.
std::string toolchain_of(const TuneResources& resources);

/// Collects the few fastest configurations of each sample from stored trials. If several have the same machine code,
/// only the fastest of them is taken. Also takes the members of the stored portfolio, with an empty `found` if they are
/// not among the fastest of any sample.
std::vector<Entry> collect_entries(const EntrySource& source);

using Deadline = std::chrono::steady_clock::time_point;

/// Adds configurations that are fast elsewhere:
/// - members of the portfolios in db/portfolios that are predicted to be the fastest of their portfolio at a sample
///   (predicted_fastest());
/// - the fastest configurations of stored problems that are not samples.
/// Portfolios and stored problems may have any layout, and any type whose elements have the same size. If a sample
/// has a stored trial of an added entry, the entry takes the hash of its machine code from this trial. Otherwise it
/// is compiled. A configuration is not added if it does not compile, or if its compile would begin after `deadline`
/// or an interrupt.
void add_transferred_entries(const EntrySource& source, std::vector<Entry>& entries,
                             Deadline deadline = Deadline::max());

/// Sets the machine code of each entry whose index is in `wanted`, unless the entry has code already. Reads stored
/// code, or compiles on several threads. An entry stays without code if it does not compile, or if its compile would
/// begin after `deadline` or an interrupt.
void provide_code(const EntrySource& source, std::vector<Entry>& entries, const std::vector<std::size_t>& wanted,
                  Deadline deadline = Deadline::max());

}  // namespace smemtune
