// Messages between coordinator and worker: length-prefixed bytes over two pipes.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace smemtune {

/// A worker's ends of the two pipes, as file descriptors.
constexpr int from_coordinator = 3;
constexpr int to_coordinator = 4;

/// The longest messages, in bytes. The limits keep a broken process on the other side from using up the memory. A
/// request contains machine code, and a reply contains measurements.
constexpr std::uint64_t longest_request = std::uint64_t{1} << 28;
constexpr std::uint64_t longest_reply = std::uint64_t{1} << 24;

using Bytes = std::vector<std::uint8_t>;

/// Both directions of a connection. Owns its file descriptors.
class Channel {
public:
    using Clock = std::chrono::steady_clock;

    /// receive() accepts messages of at most `longest` bytes.
    Channel(int read_end, int write_end, std::uint64_t longest = longest_reply);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    enum class Status { message, closed, overdue };
    /// Waits until the pipe has taken the whole message, but not past `deadline`, because the receiver may be stopped.
    /// The caller must ignore SIGPIPE.
    Status send(const Bytes& message, Clock::time_point deadline = Clock::time_point::max());

    /// Waits up to `limit` until a message begins to arrive or the other side hangs up. Returns false if neither
    /// happens.
    [[nodiscard]] bool readable_within(std::chrono::milliseconds limit) const;

    /// Waits for a whole message until `deadline`. Returns `closed` if the other side hangs up, or if the message is
    /// too long.
    Status receive(Bytes& message, Clock::time_point deadline);

private:
    int read_end_, write_end_;
    std::uint64_t longest_;
};

}  // namespace smemtune
