// The configurations that may become members of a portfolio, and their machine code.
#pragma once

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
    std::vector<std::size_t> found{};  ///< the samples at which tuning found it among the fastest
    std::vector<std::size_t> won{};    ///< the samples at which it was the fastest
    std::optional<Binary> binary{};    ///< provide_code() fills it
};

/// At most this many of the fastest configurations of a sample may become members, and only those that take at most
/// `slowest_of_a_sample` times as long as the fastest.
inline constexpr std::size_t most_of_a_sample = 4;
inline constexpr double slowest_of_a_sample = 1.15;

/// The source of entries: what all stored trials of a portfolio share.
struct EntrySource {
    const TuneResources& resources;
    const std::vector<Sample>& samples;
    const std::vector<KernelTemplate>& templates;
    std::int64_t device_row = 0;
    std::string identity;   ///< the verification identity
    std::string toolchain;  ///< compiler and driver
    unsigned jobs = 1;      ///< concurrent compiles
};

/// Compiler and driver, as trials record them.
std::string toolchain_of(const TuneResources& resources);

/// The fastest few configurations that were tried at each sample, without two that have the same machine code.
std::vector<Entry> collect_entries(const EntrySource& source);

/// Provides the machine code that entries of `wanted` lack: reads stored code, or compiles on several threads. An entry
/// that no longer compiles stays without code.
void provide_code(const EntrySource& source, std::vector<Entry>& entries, const std::vector<std::size_t>& wanted);

}  // namespace smemtune
