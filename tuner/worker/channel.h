// Messages between coordinator and worker: length-prefixed bytes over two pipes.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace smemtune {

/// A worker's ends of the two pipes, as file descriptors.
constexpr int from_coordinator = 3;
constexpr int to_coordinator = 4;

/// The longest messages in bytes, so that a broken peer cannot use up the memory: machine code, and measurements.
constexpr std::uint64_t longest_request = std::uint64_t{1} << 28;
constexpr std::uint64_t longest_reply = std::uint64_t{1} << 24;

using Bytes = std::vector<std::uint8_t>;

/// Both directions of a connection. Owns its file descriptors.
class Channel {
public:
    using Clock = std::chrono::steady_clock;

    /// Messages that arrive have at most `longest` bytes.
    Channel(int read_end, int write_end, std::uint64_t longest = longest_reply);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    enum class Status { message, closed, overdue };
    /// Waits until the pipe has taken the whole message, but no longer than `deadline`: the other side may be stopped.
    /// The caller must ignore SIGPIPE.
    Status send(const Bytes& message, Clock::time_point deadline = Clock::time_point::max());

    /// Whether receive() would return without blocking: a message has begun, or the other side is gone. Waits up to
    /// `limit`.
    [[nodiscard]] bool readable_within(std::chrono::milliseconds limit) const;

    /// Waits for a whole message until `deadline`. Returns `closed` also if the length is over the limit.
    Status receive(Bytes& message, Clock::time_point deadline);

private:
    int read_end_, write_end_;
    std::uint64_t longest_;
};

}  // namespace smemtune
