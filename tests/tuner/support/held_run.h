// Kernels that wait until a test lets them go on. The test thereby decides when a trial ends.
#pragma once

#include <gtest/gtest.h>

#include "tests/tuner/support.h"

namespace smemtune {

/// The message that a run prints when it notices the first interrupt.
constexpr auto interrupt_noticed = "interrupted: finishing the trial in flight";

/// Runs a modified copy of a fixture's kernel. Under a given condition, the first thread of the kernel creates the
/// folder `entered` and waits while the file `hold` exists.
class HeldRun : public ::testing::Test {
protected:
    /// Writes the modified copy of the fixture `name` and returns its folder. If `condition` is true for the first
    /// thread, the first thread creates `entered` and waits while `hold` exists. Each thread for which `condition` is
    /// true executes the code `then`.
    [[nodiscard]] std::string held(const std::string& name, const std::string& condition,
                                   const std::string& then = "") const {
        const std::filesystem::path folder = scratch_ / "kernels";
        std::filesystem::remove_all(folder);
        std::filesystem::copy(fixture(name), folder);
        auto source = read_text(folder / (name + ".cu"));
        source.insert(source.find("extern \"C\" __global__"),
                      "extern \"C\" int access(const char*, int);\nextern \"C\" int mkdir(const char*, unsigned);\n"
                      "extern \"C\" int usleep(unsigned);\n");
        source.insert(source.find("    const int column"),
                      "    if (" + condition +
                          ") {\n        if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0) {\n" +
                          "            mkdir(\"" + (scratch_ / "entered") + "\", 0700);\n            while (access(\"" +
                          (scratch_ / "hold") + "\", 0) == 0) usleep(1000);\n        }\n" + then + "    }\n");
        write_text(folder / (name + ".cu"), source);
        hold();
        return folder;
    }
    void hold() const { write_text(scratch_ / "hold", ""); }
    void release() const { std::filesystem::remove(scratch_ / "hold"); }
    [[nodiscard]] bool has_entered() const { return std::filesystem::exists(scratch_ / "entered"); }
    [[nodiscard]] std::int64_t trials() const { return trials_in(scratch_ / "t.db"); }
    /// Interrupts a run whose trial waits. Lets the trial end once the run has noticed the interrupt.
    void interrupt(const Running& running, int signal = SIGINT) const {
        running.signal(signal);
        ASSERT_TRUE(soon([&] { return running.has_said(interrupt_noticed); }));
        release();
    }

    const Scratch scratch_;
};

}  // namespace smemtune
