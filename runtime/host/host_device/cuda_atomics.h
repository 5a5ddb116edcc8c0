// CUDA's atomic functions. Included by cuda_on_cpu.h.
#pragma once

namespace smemtune_host {

template <class T>
struct Same {
    using Type = T;
};

// Atomically replaces the value at `address` with `change(value)`. Returns the earlier value.
template <class T, class Change>
inline T atomic_change(T* address, Change change) {
    T before;
    __atomic_load(address, &before, __ATOMIC_SEQ_CST);
    for (T after = change(before);
         !__atomic_compare_exchange(address, &before, &after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);) {
        after = change(before);
    }
    return before;
}

}  // namespace smemtune_host

template <class T>
inline T atomicAdd(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return static_cast<T>(before + value); });
}
template <class T>
inline T atomicSub(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return static_cast<T>(before - value); });
}
template <class T>
inline T atomicMin(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return value < before ? value : before; });
}
template <class T>
inline T atomicMax(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return before < value ? value : before; });
}
template <class T>
inline T atomicAnd(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return before & value; });
}
template <class T>
inline T atomicOr(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return before | value; });
}
template <class T>
inline T atomicXor(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T before) { return before ^ value; });
}
template <class T>
inline T atomicExch(T* address, typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [value](T) { return value; });
}
template <class T>
inline T atomicCAS(T* address, typename smemtune_host::Same<T>::Type expected,
                   typename smemtune_host::Same<T>::Type value) {
    return smemtune_host::atomic_change(address, [&](T before) { return before == expected ? value : before; });
}
inline unsigned atomicInc(unsigned* address, unsigned last) {
    return smemtune_host::atomic_change(address, [last](unsigned before) { return before >= last ? 0 : before + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned last) {
    return smemtune_host::atomic_change(
        address, [last](unsigned before) { return before == 0 || before > last ? last : before - 1; });
}
