// Messages between coordinator and worker: length-prefixed bytes over two pipes.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace smemtune {

/// A worker's ends of the two pipes, as file descriptors.
constexpr int from_coordinator = 3;
constexpr int to_coordinator = 4;

using Bytes = std::vector<std::uint8_t>;

/// Both directions of a connection. Owns its file descriptors.
class Channel {
public:
    Channel(int read_end, int write_end) : read_end_(read_end), write_end_(write_end) {}
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// Blocks while the pipe is full. False if the other side is gone. The caller must ignore SIGPIPE.
    bool send(const Bytes& message);

    /// Whether receive() would return without blocking: a message has begun, or the other side is gone. Waits up to
    /// `limit`.
    [[nodiscard]] bool readable_within(std::chrono::milliseconds limit) const;

    enum class Status { message, closed, overdue };
    /// Waits for a whole message until `deadline`. Returns `closed` also if the length is impossible.
    Status receive(Bytes& message, std::chrono::steady_clock::time_point deadline);

private:
    int read_end_, write_end_;
};

}  // namespace smemtune
