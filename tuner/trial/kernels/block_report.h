// One report of a block from those of its threads, in a fixed order: the reports of all threads would be megabytes, and
// copying them to the host took longer than a check itself.
#pragma once

constexpr int BLOCK_THREADS = 256;  // block_threads in tuner/trial/operands.h

// `mine` of thread 0, with `add(result, of_thread)` called for each other thread's. All threads call this, once in a
// kernel; only thread 0 gets the result.
template <class Report, class Add>
__device__ Report report_of_block(Report mine, Add add) {
    __shared__ Report reports[BLOCK_THREADS];
    reports[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < BLOCK_THREADS; ++i) add(mine, reports[i]);
    }
    return mine;
}

// Of two places, each -1 if there is none.
__device__ inline long long first_place(long long a, long long b) { return b >= 0 && (a < 0 || b < a) ? b : a; }
