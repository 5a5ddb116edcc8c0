// Structs that the host backend shares with the kernels that it runs. The file includes nothing, because all these
// kernels include it.
#pragma once

struct SmemtuneIndex {
    unsigned x = 1, y = 1, z = 1;
};

// Memory from `begin` to `end` that a kernel may access. The surrounding addresses from `around_begin` to `around_end`
// belong to no other memory.
struct SmemtuneRange {
    const char *around_begin, *begin, *end, *around_end;
};

// The values that a lane exchanges with the other lanes of its warp in a collective such as __shfl_sync.
struct SmemtuneLane {
    unsigned mask = 0;             // mask of the collective at which the lane waits
    unsigned present = 0;          // mask of the lanes that took part
    unsigned long long given = 0;  // the lane's own value: up to 8 bytes of any type
    unsigned long long values[32] = {};
};

// The state of a CUDA thread, which runs as a fiber.
struct SmemtuneThread {
    SmemtuneIndex thread, block, block_size, grid_size;
    void* dynamic_shared = nullptr;
    void* scheduler = nullptr;
    void (*barrier)(void* scheduler) = nullptr;
    void (*meet_warp)(void* scheduler) = nullptr;  // returns when all lanes of lane->mask have called meet_warp
    SmemtuneLane* lane = nullptr;
    unsigned lane_index = 0, lanes = 32;  // the thread's index in its warp; the number of threads of the warp
    // The next two are called in checked mode at an invalid access. They do not return, because the launch ends.
    void (*outside)(void* scheduler, const void* address, long long bytes, bool write, const void* code) = nullptr;
    void (*out_of_bounds)(void* scheduler, const char* file, unsigned line, const char* array,
                          long long index) = nullptr;
    const SmemtuneRange* ranges = nullptr;  // stacks, dynamic shared memory and device memory, in checked mode
    long long range_count = 0;
};
