// Memory with a wide range of faulting addresses before and after it. Even an access that is wrong by gigabytes faults.
#pragma once

#include "runtime/backend.h"

struct SmemtuneRange;

namespace smemtune {

class GuardedMemory : public Memory {
public:
    static constexpr std::size_t moat = std::size_t{4} << 30;

    /// Allocates `bytes` bytes. Throws OutOfMemory.
    explicit GuardedMemory(std::size_t bytes);
    ~GuardedMemory() override;
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] SmemtuneRange range() const;

private:
    std::byte* base_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t size_, reserved_ = 0;
};

}  // namespace smemtune
