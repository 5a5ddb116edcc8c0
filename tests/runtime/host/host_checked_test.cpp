// Tests accesses out of bounds on the host device. Checked mode reports them. Without checked mode, they end the
// process.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Source of a kernel that accesses memory out of bounds. Its argument `what` selects one of several accesses. The
// comment on the line of an access is its mark, by which a test finds the line number.
const std::string misbehaving = R"(#include "configuration.h"
#include "device/shared.h"

extern "C" __global__ void k(Element* data, Element* sink, int what, long long at) {
    __shared__ Element tile[8][16];
    Element* panel = dynamic_shared<Element>();
    tile[threadIdx.y % 8][threadIdx.x % 16] = 1;
    __syncthreads();
    const bool chosen = threadIdx.x == 3 && threadIdx.y == 1 && blockIdx.x == 2;
    if (!chosen) return;
    if (what == 0) *sink = data[at];                // reads an argument
    if (what == 1) data[at] = 1;                    // writes an argument
    if (what == 2) *sink = tile[1][at];             // reads a row
    if (what == 3) tile[at][1] = 2;                 // writes a column
    if (what == 4) *sink = panel[at];               // reads dynamic
    if (what == 5) panel[at] = 3;                   // writes dynamic
}
)";
enum What { reads_argument, writes_argument, reads_row, writes_column, reads_dynamic, writes_dynamic };
constexpr std::array marks{"reads an argument", "writes an argument", "reads a row",
                           "writes a column",   "reads dynamic",      "writes dynamic"};

constexpr long long elements = 37;  // an odd number, so that the array does not end at an aligned address
constexpr long long shared_elements = 50;
constexpr Launch shape{.grid = {3, 1, 1}, .block = {16, 2, 1}, .dynamic_shared_bytes = shared_elements * 4};

class Misbehaving {
public:
    explicit Misbehaving(bool checked)
        : kernel_(backend_->load(must_compile(*host_compiler(checked), program(misbehaving)), 0)) {}

    // Launches the kernel. Returns the message of the fault; empty if there is no fault.
    std::string run(What what, long long at) {
        void* data = data_->data();
        void* sink = sink_->data();
        int which = what;
        const std::array<void*, 4> arguments{&data, &sink, &which, &at};
        return error_of<DeviceFault>([&] { kernel_->launch(nullptr, shape, arguments.data()); });
    }

private:
    std::unique_ptr<Backend> backend_ = open_backend("host", {.threads = 2});
    std::unique_ptr<Memory> data_ = backend_->allocate(elements * 4), sink_ = backend_->allocate(4);
    std::unique_ptr<LoadedKernel> kernel_;
};

class Checked : public testing::Test {
protected:
    // The file, line and thread that the message should name.
    static testing::Matcher<std::string> named(What what) {
        return AllOf(HasSubstr("k.cu:" + line_of(misbehaving, marks[what]) + ":"),
                     HasSubstr("thread (3,1,0) of block (2,0,0)"));
    }
    static Misbehaving& kernel() {
        static Misbehaving one(true);
        return one;
    }
};

TEST_F(Checked, WhatStaysInBoundsRuns) {
    for (const auto& [what, last] : {std::pair{reads_argument, elements - 1},
                                     {writes_argument, elements - 1},
                                     {reads_row, 15LL},
                                     {writes_column, 7LL},
                                     {reads_dynamic, shared_elements - 1},
                                     {writes_dynamic, shared_elements - 1}}) {
        EXPECT_EQ(kernel().run(what, 0), "");
        EXPECT_EQ(kernel().run(what, last), "") << marks[what];
    }
}

TEST_F(Checked, AnArgumentsEndIsExact) {
    EXPECT_THAT(kernel().run(reads_argument, elements),
                AllOf(named(reads_argument), HasSubstr("reads 4 bytes out of bounds, 148 bytes into memory of 148")));
    EXPECT_THAT(kernel().run(writes_argument, elements), AllOf(named(writes_argument), HasSubstr("writes 4 bytes")));
}

TEST_F(Checked, AnArgumentsBeginningIsExact) {
    EXPECT_THAT(kernel().run(reads_argument, -1),
                AllOf(named(reads_argument), HasSubstr("4 bytes before memory of 148 bytes")));
    EXPECT_THAT(kernel().run(writes_argument, -1), named(writes_argument));
}

TEST_F(Checked, AccessesFarAwayAreFoundToo) {
    for (const long long at : {10'000LL, 200'000'000LL, 1'000'000'000LL, -10'000LL, -1'000'000'000LL}) {
        EXPECT_THAT(kernel().run(reads_argument, at), named(reads_argument)) << at;
        EXPECT_THAT(kernel().run(writes_argument, at), named(writes_argument)) << at;
        EXPECT_THAT(kernel().run(writes_dynamic, at), named(writes_dynamic)) << at;
    }
}

TEST_F(Checked, AStaticSharedArrayIsExactInEitherDimension) {
    EXPECT_THAT(kernel().run(reads_row, 16), AllOf(named(reads_row), HasSubstr("index 16"), HasSubstr("[16]")));
    EXPECT_THAT(kernel().run(reads_row, -1), AllOf(named(reads_row), HasSubstr("index -1")));
    EXPECT_THAT(kernel().run(writes_column, 8), AllOf(named(writes_column), HasSubstr("index 8"), HasSubstr("[8]")));
}

TEST_F(Checked, DynamicSharedMemoryIsAsLargeAsTheLaunchSays) {
    EXPECT_THAT(kernel().run(reads_dynamic, shared_elements), AllOf(named(reads_dynamic), HasSubstr("of 200 bytes")));
    EXPECT_THAT(kernel().run(writes_dynamic, shared_elements), named(writes_dynamic));
    EXPECT_THAT(kernel().run(writes_dynamic, -1), named(writes_dynamic));
}

TEST_F(Checked, AfterAFaultTheNextLaunchRuns) {
    for (int again = 0; again < 20; ++again) {
        EXPECT_NE(kernel().run(writes_argument, elements), "");
        EXPECT_EQ(kernel().run(writes_argument, elements - 1), "");
        EXPECT_NE(kernel().run(reads_row, 16), "");
        EXPECT_EQ(kernel().run(reads_row, 15), "");
    }
}

// Threads of a block run one after another, in a random order that the seed gives.
TEST(CheckedBlock, EndsAtTheFirstFault) {
    const auto backend = open_backend("host", {.seed = 1, .threads = 1});
    const auto kernel = backend->load(
        must_compile(*host_compiler(true), program("extern \"C\" __global__ void k(int* data, int* count) {\n"
                                                   "    if (threadIdx.x == 5) data[1] = 1;\n"
                                                   "    ++*count;\n"
                                                   "}\n")),
        0);
    const auto data = backend->allocate(sizeof(int));
    const auto count = backend->allocate_zeroed(sizeof(int));
    void* data_pointer = data->data();
    void* count_pointer = count->data();
    const std::array<void*, 2> arguments{&data_pointer, &count_pointer};
    EXPECT_THAT(error_of<DeviceFault>([&] {
                    kernel->launch(nullptr, {.grid = {1, 1, 1}, .block = {64, 1, 1}}, arguments.data());
                }),
                HasSubstr("thread (5,0,0)"));
    int threads = 64;
    backend->copy_to_host(std::as_writable_bytes(std::span(&threads, 1)), *count);
    EXPECT_LT(threads, 63) << "threads that come after thread 5 do not run";
}

TEST(Unchecked, AnAccessFarAwayEndsTheProcess) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // fork would lose the device's threads
    const auto died = [](int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; };
    EXPECT_EXIT(Misbehaving(false).run(writes_argument, 100'000'000), died, "");
    EXPECT_EXIT(Misbehaving(false).run(reads_argument, -500'000'000), died, "");
}

}  // namespace
}  // namespace smemtune
