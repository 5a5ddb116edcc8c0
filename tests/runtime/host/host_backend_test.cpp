#include "runtime/host/host_backend.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <set>

#include "runtime/configured_kernel.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Launches a kernel whose arguments are one device array and the integers `values`. Copies `out` to the array before
// the launch and back after it.
void launch(Backend& backend, const LoadedKernel& kernel, const Launch& launch, std::vector<int>& out,
            std::vector<int> values = {}) {
    const auto memory = backend.allocate(out.size() * sizeof(int));
    backend.copy_to_device(*memory, std::as_bytes(std::span(out)));
    void* data = memory->data();
    std::vector<void*> arguments{&data};
    for (auto& value : values) arguments.push_back(&value);
    kernel.launch(nullptr, launch, arguments.data());
    backend.synchronize();
    backend.copy_to_host(std::as_writable_bytes(std::span(out)), *memory);
}

// Compiles each source only once, because several tests use the same source.
const Binary& compiled(const std::string& source) {
    static std::map<std::string, Binary> known;
    const auto found = known.find(source);
    return found != known.end() ? found->second
                                : known.emplace(source, must_compile(*host_compiler(), program(source))).first->second;
}

// A guarded page follows the memory, with a gap of less than 16 bytes for alignment. Accesses beyond the gap fault.
TEST(HostBackend, MemoryEndsAtAGuardedPage) {
    const auto backend = open_host({});
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (const std::size_t bytes : {1U, 16U, 100U, 4096U, 5000U}) {
        const auto memory = backend->allocate(bytes);
        const auto begin = reinterpret_cast<std::uintptr_t>(memory->data());
        EXPECT_EQ(begin % 16, 0U);
        EXPECT_LT((page - (begin + bytes) % page) % page, 16U) << bytes;
    }
}

TEST(HostBackend, AnArrayThatIsAbsentOrTooShortIsNotFilled) {
    const auto backend = open_host({});
    auto with_array =
        program("__constant__ int table[4];\nextern \"C\" __global__ void k(int* out) { *out = table[3]; }\n");
    with_array.symbols = {"table"};
    const auto kernel = backend->load(must_compile(*host_compiler(), with_array), 0);
    const std::array<int, 5> numbers{1, 2, 3, 4, 5};
    const auto refusal = [&](const std::string& name, std::int64_t bytes) {
        return error_of<LaunchError>([&] { kernel->fill_symbol(nullptr, {name, 0, bytes}, numbers.data()); });
    };
    EXPECT_THAT(refusal("absent", 4), HasSubstr("symbol 'absent', but the kernel's code has no array of this name"));
    EXPECT_THAT(refusal("table", 20), AllOf(HasSubstr("has 16 bytes"), HasSubstr("20")));
    EXPECT_EQ(refusal("table", 16), "");
    std::vector<int> out(1);
    launch(*backend, *kernel, {}, out);
    EXPECT_EQ(out[0], 4);
}

// Every thread writes its position in block and grid, and their sizes, into its own row.
const char* const positions = R"(extern "C" __global__ void k(int* out) {
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int* row = out + 12 * (block * (int)(blockDim.x * blockDim.y * blockDim.z) + thread);
    row[0] = threadIdx.x, row[1] = threadIdx.y, row[2] = threadIdx.z;
    row[3] = blockIdx.x, row[4] = blockIdx.y, row[5] = blockIdx.z;
    row[6] = blockDim.x, row[7] = blockDim.y, row[8] = blockDim.z;
    row[9] = gridDim.x, row[10] = gridDim.y, row[11] = gridDim.z;
}
)";

struct Shape {
    std::array<std::int64_t, 3> grid, block;
};
class Indices : public testing::TestWithParam<Shape> {};

TEST_P(Indices, EveryThreadKnowsItsPlaceAndRunsOnce) {
    const auto& [grid, block] = GetParam();
    const auto backend = open_host({.threads = 3});
    const auto kernel = backend->load(compiled(positions), 0);
    const Launch shape{.grid = grid, .block = block};
    std::vector<int> out(static_cast<std::size_t>(12 * shape.threads() * shape.blocks()), -1);
    launch(*backend, *kernel, shape, out);
    std::size_t at = 0;
    for (int bz = 0; bz < grid[2]; ++bz)
        for (int by = 0; by < grid[1]; ++by)
            for (int bx = 0; bx < grid[0]; ++bx)
                for (int tz = 0; tz < block[2]; ++tz)
                    for (int ty = 0; ty < block[1]; ++ty)
                        for (int tx = 0; tx < block[0]; ++tx, at += 12) {
                            const std::vector<std::int64_t> expected{
                                tx, ty, tz, bx, by, bz, block[0], block[1], block[2], grid[0], grid[1], grid[2]};
                            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), &out[at])) << "row " << at / 12;
                        }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Indices,
                         testing::Values(Shape{{1, 1, 1}, {1, 1, 1}}, Shape{{7, 1, 1}, {33, 1, 1}},
                                         Shape{{3, 2, 1}, {5, 4, 1}}, Shape{{2, 3, 4}, {4, 3, 2}},
                                         Shape{{1, 1, 2}, {1, 16, 64}}, Shape{{100, 1, 1}, {1024, 1, 1}}));

// Source of a kernel whose threads pass values around a ring. After as many rounds as there are threads, each thread
// has its own value again.
const char* const ring = R"(#include "device/shared.h"
extern "C" __global__ void k(int* out, int use_dynamic) {
    __shared__ int fixed[256];
    int* values = use_dynamic ? dynamic_shared<int>() : fixed;
    const int n = blockDim.x, t = threadIdx.x;
    int mine = blockIdx.x * n + t;
    for (int round = 0; round < n; ++round) {
        values[t] = mine;
        __syncthreads();
        mine = values[(t + 1) % n];
        __syncthreads();
    }
    out[blockIdx.x * n + t] = mine;
}
)";

TEST(HostBackend, ThreadsMeetAtBarriersAndBlocksShareNothing) {
    for (const int dynamic : {0, 1}) {
        for (const unsigned seed : {0U, 1U, 2U, 77U}) {
            const auto backend = open_host({.seed = seed, .threads = 2});
            const auto kernel = backend->load(compiled(ring), 0);
            std::vector<int> out(8 * 96, -1);
            launch(*backend, *kernel, {.grid = {8, 1, 1}, .block = {96, 1, 1}, .dynamic_shared_bytes = 96 * 4}, out,
                   {dynamic});
            std::vector<int> expected(out.size());
            std::iota(expected.begin(), expected.end(), 0);
            EXPECT_EQ(out, expected) << "seed " << seed << ", dynamic " << dynamic;
        }
    }
}

// This test does not check whether the last block sees the other blocks' writes. On the host device these writes are
// visible even without a fence, so only a GPU can check that.
TEST(HostBackend, TheLastOfSeveralBlocksFindsOutThatItIs) {
    const auto last = compiled(R"(#include "device/last_block.h"
extern "C" __global__ void k(int* out) {
    const int thread = threadIdx.x + 8 * (threadIdx.y + 2 * threadIdx.z);
    out[2 + 32 * blockIdx.x + thread] = thread + 1;
    if (!last_to_arrive((unsigned*)out, gridDim.x)) return;
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += out[2 + 32 * block + (thread + 1) % 32];
    if (sum == gridDim.x * ((thread + 1) % 32 + 1)) atomicAdd(out + 1, 1);
}
)");
    for (const unsigned seed : {0U, 1U, 2U}) {
        const auto backend = open_host({.seed = seed, .threads = 2});
        const auto kernel = backend->load(last, 0);
        std::vector<int> out(2 + 7 * 32, 0);
        for (int time = 0; time < 2; ++time) {
            out[1] = 0;
            launch(*backend, *kernel, {.grid = {7, 1, 1}, .block = {8, 2, 2}}, out);
            EXPECT_EQ(out[0], 0) << "the counter is as it was";
            EXPECT_EQ(out[1], 32) << "every thread of one block, and of no other";
        }
    }
}

TEST(HostBackend, DynamicSharedMemoryGoesUpToTheOptInLimit) {
    const auto backend = open_host({.threads = 1});
    const auto kernel = backend->load(compiled(R"(#include "device/shared.h"
extern "C" __global__ void k(int* out, int count) {
    int* values = dynamic_shared<int>();
    for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = i;
    __syncthreads();
    out[threadIdx.x] = values[count - 1 - threadIdx.x];
}
)"),
                                      0);
    std::vector<int> out(64);
    const auto most = backend->device().shared_bytes_per_block;
    for (const auto bytes : {std::int64_t{256}, most}) {  // the second launch needs more memory than the first
        launch(*backend, *kernel, {.block = {64, 1, 1}, .dynamic_shared_bytes = bytes}, out,
               {static_cast<int>(bytes / 4)});
        for (int i = 0; i < 64; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], bytes / 4 - 1 - i);
    }
}

// Source of a kernel that records the order in which the threads of a block run.
const char* const queue = R"(extern "C" __global__ void k(int* out) {
    out[1 + threadIdx.x] = out[0]++;
}
)";

std::vector<int> order_of_threads(unsigned seed) {
    const auto backend = open_host({.seed = seed, .threads = 1});
    const auto kernel = backend->load(compiled(queue), 0);
    std::vector<int> out(65);
    launch(*backend, *kernel, {.block = {64, 1, 1}}, out);
    return out;
}

TEST(HostBackend, TheSeedDecidesTheOrderOfThreads) {
    EXPECT_EQ(order_of_threads(1), order_of_threads(1));
    std::set<std::vector<int>> orders;
    for (unsigned seed = 0; seed < 10; ++seed) orders.insert(order_of_threads(seed));
    EXPECT_EQ(orders.size(), 10U);
}

TEST(HostBackend, AMissingBarrierShows) {
    const auto backend = open_host({.threads = 1});
    const auto kernel = backend->load(compiled(R"(extern "C" __global__ void k(int* out) {
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = values[63 - threadIdx.x];
}
)"),
                                      0);
    std::vector<int> out(64);
    launch(*backend, *kernel, {.block = {64, 1, 1}}, out);
    std::vector<int> expected(64);
    std::iota(expected.rbegin(), expected.rend(), 0);
    EXPECT_NE(out, expected);
}

TEST(HostBackend, ABarrierThatSomeThreadsMissIsAFaultAndTheNextLaunchWorks) {
    const auto backend = open_host({.threads = 2});
    const auto partial = backend->load(compiled(R"(extern "C" __global__ void k(int* out) {
    if (threadIdx.x < 10) __syncthreads();
    out[threadIdx.x] = 1;
}
)"),
                                       0);
    const auto good = backend->load(compiled(ring), 0);
    for (int again = 0; again < 3; ++again) {
        std::vector<int> out(32);
        EXPECT_THAT(error_of<DeviceFault>([&] {
                        launch(*backend, *partial, {.grid = {5, 1, 1}, .block = {32, 1, 1}}, out);
                    }),
                    AllOf(HasSubstr("__syncthreads"), HasSubstr("10 of the 32 threads")));
        launch(*backend, *good, {.block = {32, 1, 1}}, out, {0});
        EXPECT_EQ(out[31], 31);
    }
}

TEST(HostBackend, LaunchesBeyondTheLimitsAreRefused) {
    const auto backend = open_host({.threads = 1});
    const auto kernel = backend->load(compiled(ring), 0);
    const auto refusal = [&](const Launch& shape) {
        std::vector<int> out(16);
        return error_of<LaunchError>([&] { launch(*backend, *kernel, shape, out, {0}); });
    };
    EXPECT_THAT(refusal({.block = {1025, 1, 1}}), HasSubstr("threads per block"));
    EXPECT_THAT(refusal({.block = {1, 1, 65}}), HasSubstr("threads along z"));
    EXPECT_THAT(refusal({.grid = {1, 65536, 1}}), HasSubstr("blocks along y"));
    EXPECT_THAT(refusal({.dynamic_shared_bytes = 227 * 1024 + 1}), HasSubstr("shared bytes per block"));
    EXPECT_THAT(refusal({.static_shared_bytes = 48 * 1024 + 1}), HasSubstr("static shared bytes per block"));
    EXPECT_THAT(refusal({.grid = {0, 1, 1}}), HasSubstr("empty"));
}

TEST(HostBackend, AKernelLoadedWhereAnotherWasUnloadedIsItself) {
    const auto backend = open_host({.threads = 1});
    for (int i = 0; i < 4; ++i) {
        const auto source =
            "extern \"C\" __global__ void k(int* out) { *out = " + std::to_string(100 + i % 2) + "; }\n";
        const auto kernel = backend->load(compiled(source), 0);
        std::vector<int> out(1);
        launch(*backend, *kernel, {}, out);
        EXPECT_EQ(out[0], 100 + i % 2);
    }
}

TEST(HostBackend, TheSameKernelLoadedTwiceSharesNothing) {
    const auto backend = open_host({.threads = 1});
    const auto first = backend->load(compiled(ring), 0);
    auto second = backend->load(compiled(ring), 0);
    second.reset();
    std::vector<int> out(32);
    launch(*backend, *first, {.block = {32, 1, 1}}, out, {0});
    EXPECT_EQ(out[31], 31);
}

TEST(HostBackend, WhatIsNoMachineCodeIsRefused) {
    const auto backend = open_host({.threads = 1});
    const Binary nonsense{.entry = "k", .target = "host-x86_64", .code = {1, 2, 3}};
    EXPECT_THROW((void)backend->load(nonsense, 0), LaunchError);
    EXPECT_THROW((void)backend->load({}, 0), LaunchError);
}

TEST(HostBackend, ABatchTakesTheTimeOfItsLaunches) {
    const auto backend = open_host({.threads = 1});
    const ConfiguredKernel kernel(backend->load(compiled(ring), 0), {.block = {256, 1, 1}});
    const auto memory = backend->allocate(256 * sizeof(int));
    void* data = memory->data();
    int dynamic = 0;
    const Backend::Call call{&kernel, {&data, &dynamic}};
    const auto one = backend->time_us(std::vector(1, call));
    const auto twenty = backend->time_us(std::vector(20, call));
    EXPECT_GT(one, 0);
    EXPECT_GT(twenty, one);
}

TEST(HostBackend, TheEnergyOfALaunchIsUnknown) {
    const auto backend = open_host({.threads = 1});
    const ConfiguredKernel kernel(backend->load(compiled(positions), 0), {});
    std::vector<int> out(12);
    void* data = out.data();
    const Backend::Call call{.kernel = &kernel, .arguments = {&data}};
    EXPECT_EQ(backend->energy_uj(std::span(&call, 1)), 0);
}

}  // namespace
}  // namespace smemtune
