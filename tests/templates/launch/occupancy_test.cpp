// Compares our occupancy with cases that were computed by hand and with NVIDIA's own calculator.
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "templates/launch/limits.h"
#include "templates/launch/occupancy.h"

namespace smemtune {
namespace {

Launch launch(std::int64_t threads, std::int64_t shared_bytes, std::int64_t registers = 0) {
    return {.block = {threads, 1, 1}, .static_shared_bytes = shared_bytes, .registers = registers};
}

TEST(Occupancy, GivesTheTextbooksNumbers) {
    const auto device = model_device("threads_per_multiprocessor=1536,shared_bytes_per_multiprocessor=16384");
    const auto small = occupancy(launch(16 * 16, 2 * 1024), device);  // for TILE_WIDTH=16
    EXPECT_EQ(small.by_shared_memory, 8);
    EXPECT_EQ(small.by_threads, 6);
    EXPECT_EQ(small.blocks(), 6);
    EXPECT_EQ(small.limiter(), "threads");
    const auto large = occupancy(launch(32 * 32, 8 * 1024), device);  // for TILE_WIDTH=32
    EXPECT_EQ(large.by_shared_memory, 2);
    EXPECT_EQ(large.by_threads, 1);
    EXPECT_EQ(large.blocks(), 1);
    EXPECT_EQ(large.limiter(), "threads");
}

TEST(Occupancy, IsLimitedByBlocksWhenTheyAreSmall) {
    const auto result = occupancy(launch(32, 0, 16), model_device("sm_90"));
    EXPECT_EQ(result.by_threads, 64);
    EXPECT_EQ(result.blocks(), 32);
    EXPECT_EQ(result.limiter(), "blocks");
}

TEST(Occupancy, CountsTheSharedMemoryThatIsReservedPerBlock) {
    // A block needs 56 KiB, and the system reserves 1 KiB for each block. So 228 KiB hold 4 blocks. With one more
    // byte, a block takes 57.125 KiB.
    const auto device = model_device("sm_90");
    EXPECT_EQ(occupancy(launch(128, 56 * 1024), device).by_shared_memory, 4);
    EXPECT_EQ(occupancy(launch(128, 56 * 1024 + 1), device).by_shared_memory, 3);
    EXPECT_EQ(occupancy(launch(128, 56 * 1024), device).limiter(), "shared memory");
    EXPECT_EQ(occupancy(launch(128, 227 * 1024), device).blocks(), 1);
    // Compute capability 7.5 reserves nothing and rounds up to 256 bytes. So 64 KiB of shared memory hold 64 blocks of
    // 1 KiB.
    EXPECT_EQ(occupancy(launch(32, 1024), model_device("sm_75")).by_shared_memory, 64);
    EXPECT_EQ(occupancy(launch(32, 1025), model_device("sm_75")).by_shared_memory, 51);
}

TEST(Occupancy, CountsStaticAndDynamicSharedMemoryTogether) {
    const auto device = model_device("sm_90");
    const Launch both{.block = {128, 1, 1}, .static_shared_bytes = 40000, .dynamic_shared_bytes = 17344};
    EXPECT_EQ(occupancy(both, device).by_shared_memory, occupancy(launch(128, 57344), device).by_shared_memory);
}

TEST(Occupancy, GivesOutRegistersPerWarp) {
    const auto device = model_device("sm_90");
    // 65 x 32 = 2,080 registers per warp are rounded up to 2,304. 65,536 registers hold 28 such warps, which are 3
    // blocks of 8 warps.
    const auto rounded = occupancy(launch(256, 0, 65), device);
    EXPECT_EQ(rounded.by_registers, 3);
    EXPECT_EQ(rounded.limiter(), "registers");
    // 64 x 32 = 2,048 registers per warp need no rounding. 65,536 registers hold 32 such warps, which are 4 blocks of 8
    // warps.
    EXPECT_EQ(occupancy(launch(256, 0, 64), device).by_registers, 4);
    // 255 x 32 registers per warp are rounded up to 8,192. 65,536 registers hold 8 such warps, which are 1 block of 8
    // warps.
    EXPECT_EQ(occupancy(launch(256, 0, 255), device).by_registers, 1);
    // 160 x 32 = 5,120 registers per warp. Each of the 4 schedulers has 16,384 registers, which hold 3 such warps. The
    // 12 warps are 6 blocks of 2 warps.
    EXPECT_EQ(occupancy(launch(64, 0, 160), device).by_registers, 6);
    // 144 x 32 = 4,608 registers per warp. 65,536 registers would hold 14 such warps, but each scheduler's 16,384 hold
    // only 3. Of the 12 warps that fit, 9 are 1 block, and 3 are too few for another one.
    EXPECT_EQ(occupancy(launch(288, 0, 144), device).by_registers, 1);
    // 224 x 32 = 7,168 registers per warp. 65,536 registers would hold 9 such warps, but each scheduler's 16,384 hold
    // only 2. The 8 warps that fit are too few for a block of 9 warps.
    EXPECT_EQ(occupancy(launch(288, 0, 224), device).by_registers, 0);
    // The least that the hardware allocates to a warp is 256 registers: 65,536 registers hold 256 warps.
    EXPECT_EQ(occupancy(launch(32, 0, 1), device).by_registers, 256);
}

TEST(Occupancy, AnUnfinishedWarpTakesAWholeOne) {
    const auto device = model_device("sm_90");
    EXPECT_EQ(occupancy(launch(33, 0), device).by_threads, 32);
    EXPECT_EQ(occupancy(launch(1, 0), device).by_threads, 64);
    EXPECT_EQ(occupancy(launch(1000, 0), device).by_threads, 2);
}

TEST(Occupancy, WhatIsNotUsedDoesNotLimit) {
    const auto result = occupancy(launch(1024, 0), model_device("sm_75"));
    EXPECT_EQ(result.by_threads, 1);
    EXPECT_GT(result.by_shared_memory, 1 << 30);
    EXPECT_GT(result.by_registers, 1 << 30);
}

TEST(Occupancy, AnEmptyBlockIsNoDivisionByZero) {
    EXPECT_EQ(occupancy(launch(0, 0), model_device("sm_90")).blocks(), 32);
}

TEST(Occupancy, AgreesWithNvidiasCalculator) {
    for (const auto* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
        const auto device = model_device(name);
        cudaOccDeviceProp properties;
        properties.computeMajor = static_cast<int>(device.compute_capability / 10);
        properties.computeMinor = static_cast<int>(device.compute_capability % 10);
        properties.maxThreadsPerBlock = static_cast<int>(device.threads_per_block);
        properties.maxThreadsPerMultiprocessor = static_cast<int>(device.threads_per_multiprocessor);
        properties.regsPerBlock = static_cast<int>(device.registers_per_block);
        properties.regsPerMultiprocessor = static_cast<int>(device.registers_per_multiprocessor);
        properties.warpSize = static_cast<int>(device.warp_size);
        properties.sharedMemPerBlock = static_cast<std::size_t>(device.static_shared_bytes_per_block);
        properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_bytes_per_multiprocessor);
        properties.numSms = static_cast<int>(device.multiprocessors);
        properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_bytes_per_block);
        properties.reservedSharedMemPerBlock = static_cast<std::size_t>(device.shared_bytes_reserved_per_block);
        std::mt19937 random(7);
        const auto between = [&](std::int64_t low, std::int64_t high) {
            return std::uniform_int_distribution<std::int64_t>(low, high)(random);
        };
        int resident = 0;
        for (int i = 0; i < 2000; ++i) {
            const auto dynamic = i % 2 == 0 ? between(0, 8192) : between(0, device.shared_bytes_per_block);
            const Launch sample{.block = {between(1, 64), between(1, 16), 1},
                                .dynamic_shared_bytes = dynamic,
                                .registers = between(16, 255)};
            cudaOccFuncAttributes attributes;
            attributes.maxThreadsPerBlock = INT_MAX;
            attributes.numRegs = static_cast<int>(sample.registers);
            attributes.sharedSizeBytes = 0;
            attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
            attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
            attributes.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
            cudaOccDeviceState state;
            state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
            cudaOccResult theirs{};
            ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &properties, &attributes, &state,
                                                              static_cast<int>(sample.threads()),
                                                              static_cast<std::size_t>(dynamic)),
                      CUDA_OCC_SUCCESS);
            const auto ours = occupancy(sample, device);
            const bool fits = !broken_limit(sample, device);
            EXPECT_EQ(fits ? ours.blocks() : 0, theirs.activeBlocksPerMultiprocessor)
                << name << ": " << sample.threads() << " threads, " << dynamic << " bytes, " << sample.registers
                << " registers";
            EXPECT_TRUE(!fits || ours.blocks() > 0);  // a launch within the limits can run
            resident += fits ? 1 : 0;
        }
        EXPECT_GT(resident, 500) << name;
    }
}

}  // namespace
}  // namespace smemtune
