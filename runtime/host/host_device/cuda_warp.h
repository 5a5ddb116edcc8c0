// Shuffles and votes of a warp, whose threads are fibers that wait for one another. Included by cuda_on_cpu.h.
#pragma once

#include "current_thread.h"

namespace smemtune_host {

// Gives `value` to the lanes of `mask`, and waits until all of them have given their values. Returns these values.
template <class T>
inline const SmemtuneLane& meet_warp(unsigned mask, T value) {
    static_assert(sizeof(T) <= sizeof(unsigned long long), "a shuffle moves at most 8 bytes");
    auto& lane = *current->lane;
    lane.mask = mask;
    lane.given = 0;
    __builtin_memcpy(&lane.given, &value, sizeof(value));
    current->meet_warp(current->scheduler);
    return lane;
}

// Returns the value of lane `source`. Returns the calling lane's own `value` if `source` takes no part in the shuffle,
// or if `is_inside` is false because `source` is outside the shuffle's `width`.
template <class T>
inline T shuffled(unsigned mask, T value, int source, bool is_inside) {
    const auto& lane = meet_warp(mask, value);
    if (!is_inside || ((lane.present >> static_cast<unsigned>(source)) & 1U) == 0) return value;
    T result;
    __builtin_memcpy(&result, &lane.values[source], sizeof(result));
    return result;
}

template <class T, class Join>
inline T reduced(unsigned mask, T value, Join join) {
    const auto& lane = meet_warp(mask, value);
    bool first = true;
    T result{};
    for (unsigned i = 0; i < 32; ++i) {
        if (((lane.present >> i) & 1U) == 0) continue;
        T other;
        __builtin_memcpy(&other, &lane.values[i], sizeof(other));
        result = first ? other : join(result, other);
        first = false;
    }
    return result;
}

}  // namespace smemtune_host

// Returns the values that the 32 lanes of the warp pass. From these values, device/tensor_core.h computes the results
// of a GPU's tensor core instructions.
inline const unsigned long long* smemtune_gather(unsigned long long value) {
    return smemtune_host::meet_warp(0xffffffffU, value).values;
}

inline unsigned __activemask() {
    const auto lanes = smemtune_host::current->lanes;
    return lanes == 32 ? 0xffffffffU : (1U << lanes) - 1;
}
inline void __syncwarp(unsigned mask = 0xffffffffU) { smemtune_host::meet_warp(mask, 0); }
template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const int self = static_cast<int>(smemtune_host::current->lane_index);
    return smemtune_host::shuffled(mask, value, self / width * width + (source & (width - 1)), true);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
    const int self = static_cast<int>(smemtune_host::current->lane_index);
    const int source = self - static_cast<int>(distance);
    const bool is_inside = source >= self / width * width;
    return smemtune_host::shuffled(mask, value, is_inside ? source : self, is_inside);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
    const int self = static_cast<int>(smemtune_host::current->lane_index);
    const int source = self + static_cast<int>(distance);
    const bool is_inside = source < self / width * width + width;
    return smemtune_host::shuffled(mask, value, is_inside ? source : self, is_inside);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
    const int self = static_cast<int>(smemtune_host::current->lane_index);
    const int source = self ^ lanes;
    const bool is_inside = source < self / width * width + width;
    return smemtune_host::shuffled(mask, value, is_inside ? source : self, is_inside);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    const auto& lane = smemtune_host::meet_warp(mask, predicate != 0 ? 1U : 0U);
    unsigned result = 0;
    for (unsigned i = 0; i < 32; ++i) {
        if (((lane.present >> i) & 1U) != 0 && lane.values[i] != 0) result |= 1U << i;
    }
    return result;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class T>
inline T __reduce_add_sync(unsigned mask, T value) {
    return smemtune_host::reduced(mask, value, [](T a, T b) { return a + b; });
}
template <class T>
inline T __reduce_min_sync(unsigned mask, T value) {
    return smemtune_host::reduced(mask, value, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
inline T __reduce_max_sync(unsigned mask, T value) {
    return smemtune_host::reduced(mask, value, [](T a, T b) { return a < b ? b : a; });
}
