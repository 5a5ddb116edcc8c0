// Compiles the programs of a run's testbeds.
#pragma once

#include <future>
#include <map>
#include <string>

#include "tuner/compile/compile_pool.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

/// Compiles a testbed's programs once for each type and layout of one operation. The programs do not depend on extents.
/// The pool is throttled during these compiles, because no candidate can be tried without a testbed.
class TestbedCompiles {
public:
    /// The pool and the compiler must outlive the object.
    TestbedCompiles(const Compiler& compiler, CompilePool& pool) : compiler_(compiler), pool_(pool) {}

    /// Begins the compile if necessary. The future throws the compiler's exceptions. `kernel_template` is any template
    /// of the operation. `kernel_template` and `problem` must outlive the compile.
    std::shared_future<TestbedBinaries> of(const KernelTemplate& kernel_template, const Problem& problem);

private:
    const Compiler& compiler_;
    CompilePool& pool_;
    std::map<std::string, std::shared_future<TestbedBinaries>> by_type_and_layout_;
};

}  // namespace smemtune
