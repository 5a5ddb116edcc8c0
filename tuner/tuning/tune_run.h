// State that all problems of one run share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tuner/compile/compile_pool.h"
#include "tuner/tuning/tune_report.h"
#include "tuner/tuning/tune_request.h"
#include "tuner/tuning/tune_resources.h"

namespace smemtune {

class Progress;

struct TuneRun {
    const TuneRequest& request;
    const TuneResources& resources;
    std::int64_t device_row;  ///< the device's row in the store
    std::int64_t run_row;     ///< the run's row in the store
    CompilePool& pool;
    std::size_t ahead;  ///< how many candidates may compile or wait for a worker at once
    TuneReport& report;
    Progress& progress;
    std::string toolchain{};  ///< names and versions of compiler and driver
};

}  // namespace smemtune
