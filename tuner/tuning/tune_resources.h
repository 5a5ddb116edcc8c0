// The resources of a tuning run.
#pragma once

#include <atomic>
#include <vector>

namespace smemtune {

class Compiler;
class Store;
class Worker;
struct Device;
struct SamplingPolicy;

/// The caller owns all resources, which must outlive the run.
struct TuneResources {
    const Device& device;
    const Compiler& compiler;
    Store& store;
    std::vector<Worker*> workers;  ///< one for each of several equal devices; the run goes on while one is left
    const SamplingPolicy& sampling;
    const std::atomic<bool>& interrupted;
};

}  // namespace smemtune
