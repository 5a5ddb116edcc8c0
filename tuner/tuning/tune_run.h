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
    std::int64_t device_row;  ///< row in the store, like `run_row`
    std::int64_t run_row;
    CompilePool& pool;
    std::size_t ahead;  ///< candidates that compile or wait for a worker
    TuneReport& report;
    Progress& progress;
    std::string toolchain{};  ///< compiler and driver: text that changes when one of them does
};

}  // namespace smemtune
