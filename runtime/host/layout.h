// What a kernel compiled for the host device and the backend that runs it both know. Plain C++: kernels see it as well.
#pragma once

struct SmemtuneIndex {
    unsigned x = 1, y = 1, z = 1;
};

// Memory that may be accessed, and the wider stretch around it that holds nothing else.
struct SmemtuneRange {
    const char *around_begin, *begin, *end, *around_end;
};

// What a lane gives to the other lanes of its warp at __shfl_sync and the like, and what it gets from them.
struct SmemtuneLane {
    unsigned mask = 0;             // of the collective that it waits for
    unsigned present = 0;          // the lanes that took part
    unsigned long long given = 0;  // 8 bytes of any type
    unsigned long long values[32] = {};
};

// What the running fiber knows of itself.
struct SmemtuneThread {
    SmemtuneIndex thread, block, block_size, grid_size;
    void* dynamic_shared = nullptr;
    void* scheduler = nullptr;
    void (*barrier)(void* scheduler) = nullptr;
    void (*meet_warp)(void* scheduler) = nullptr;  // returns when all lanes of lane->mask have called it
    SmemtuneLane* lane = nullptr;
    unsigned lane_index = 0, lanes = 32;  // of this thread in its warp; how many threads the warp has
    // Checked mode. Neither returns: the launch is abandoned.
    void (*outside)(void* scheduler, const void* address, long long bytes, bool write, const void* code) = nullptr;
    void (*out_of_bounds)(void* scheduler, const char* file, unsigned line, const char* array,
                          long long index) = nullptr;
    const SmemtuneRange* ranges = nullptr;  // arguments and dynamic shared memory
    long long range_count = 0;
};
