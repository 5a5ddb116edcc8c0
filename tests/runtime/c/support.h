// A fixture for the tests of the C interface, with a runtime on the host device.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "runtime/c/smemtune.h"
#include "util/temporary_folder.h"

namespace smemtune {

struct ReleaseHandle {
    void operator()(smemtune_runtime* runtime) const { smemtune_close(runtime); }
    void operator()(smemtune_kernel* kernel) const { smemtune_release(kernel); }
};
using RuntimeHandle = std::unique_ptr<smemtune_runtime, ReleaseHandle>;
using KernelHandle = std::unique_ptr<smemtune_kernel, ReleaseHandle>;

class CInterface : public testing::Test {
protected:
    CInterface() {
        options.device = "host";
        options.host_compiler = SMEMTUNE_CXX;
    }

    [[nodiscard]] smemtune_status try_to_open() const {
        smemtune_runtime* opened = nullptr;
        const auto status = smemtune_open(&options, &opened);
        EXPECT_EQ(opened == nullptr, status != SMEMTUNE_OK);
        smemtune_close(opened);
        return status;
    }
    [[nodiscard]] RuntimeHandle open() const {
        smemtune_runtime* opened = nullptr;
        EXPECT_EQ(smemtune_open(&options, &opened), SMEMTUNE_OK) << smemtune_error_message();
        return RuntimeHandle(opened);
    }
    static KernelHandle fetch(smemtune_runtime* runtime, const smemtune_problem& problem, const char* name = nullptr) {
        smemtune_kernel* fetched = nullptr;
        EXPECT_EQ(smemtune_fetch(runtime, &problem, name, &fetched), SMEMTUNE_OK) << smemtune_error_message();
        return KernelHandle(fetched);
    }

    TemporaryFolder scratch;
    smemtune_options options = SMEMTUNE_OPTIONS_INIT;
};

}  // namespace smemtune
