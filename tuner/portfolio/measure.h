// Measures what a portfolio is chosen from: every configuration at every problem where it is valid.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "db/store.h"
#include "runtime/compiler.h"
#include "templates/predict/bound_launch.h"
#include "tuner/portfolio/cross_times.h"
#include "tuner/portfolio/samples.h"
#include "tuner/tuning/tune_resources.h"

namespace smemtune {

class Progress;

/// A configuration that may become a member, with its machine code.
struct Entry {
    const KernelTemplate* kernel = nullptr;
    std::int64_t template_row = 0;
    Configuration configuration;
    Binary binary;
    std::string code_hash;
    BoundLaunch bound;
    std::vector<std::size_t> won{};  ///< the samples that it is the winner of
};

/// What the measurements of one portfolio share.
struct MeasureContext {
    const TuneResources& resources;
    const std::vector<Sample>& samples;
    const std::vector<Entry>& entries;
    std::int64_t device_row = 0;
    std::int64_t run_row = 0;
    std::string identity;   ///< what trials are verified against
    std::string toolchain;  ///< compiler and driver
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

struct MeasureCounts {
    std::size_t measured = 0, recalled = 0, rejected = 0;
};

/// Times each entry at each sample where it is valid, unless a stored trial of the same machine code says how fast it
/// is there. Every time is of a result that was right. Stores each trial, so that a later run goes on where this one
/// ended: at the deadline, or when interrupted.
MeasureCounts cross_time(const MeasureContext& context, Progress& progress, CrossTimes& times);

/// The classes (problem_class) for which each of `members` (entries) passed every check, with the machine code at hand.
/// Each class is represented by the sample that moves the fewest bytes, or by such a sample with its extents moved into
/// the class. A member that was wrong anywhere has none.
std::vector<std::set<std::string>> verify_classes(const MeasureContext& context,
                                                  const std::vector<std::size_t>& members, Progress& progress);

}  // namespace smemtune
