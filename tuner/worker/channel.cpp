#include "tuner/worker/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace smemtune {

namespace {

using Clock = Channel::Clock;

constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;

// Calls `transfer`, which reads or writes without blocking, until `count` bytes are transferred. The argument of
// `transfer` is the number of bytes that are transferred already.
template <class Transfer>
Channel::Status transfer_exactly(pollfd ready, std::size_t count, Clock::time_point deadline,
                                 const Transfer& transfer) {
    for (std::size_t done = 0; done < count;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        const auto polled = poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000)));
        if (polled < 0 && errno == EINTR) continue;
        if (polled == 0 && left <= 0) return Channel::Status::overdue;
        if (polled == 0) continue;
        const auto now = transfer(done);
        if (now < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (now <= 0) return Channel::Status::closed;
        done += static_cast<std::size_t>(now);
    }
    return Channel::Status::message;
}

Channel::Status read_exactly(int descriptor, void* to, std::size_t count, Clock::time_point deadline) {
    auto* at = static_cast<char*>(to);
    return transfer_exactly({descriptor, POLLIN, 0}, count, deadline,
                            [&](std::size_t done) { return read(descriptor, at + done, count - done); });
}

Channel::Status write_exactly(int descriptor, const void* from, std::size_t count, Clock::time_point deadline) {
    const auto* at = static_cast<const char*>(from);
    return transfer_exactly({descriptor, POLLOUT, 0}, count, deadline,
                            [&](std::size_t done) { return write(descriptor, at + done, count - done); });
}

}  // namespace

Channel::Channel(int read_end, int write_end, std::uint64_t longest)
    : read_end_(read_end), write_end_(write_end), longest_(longest) {
    fcntl(write_end_, F_SETFL, fcntl(write_end_, F_GETFL) | O_NONBLOCK);
}

Channel::~Channel() {
    close(read_end_);
    if (write_end_ != read_end_) close(write_end_);
}

Channel::Status Channel::send(const Bytes& message, Clock::time_point deadline) {
    const std::uint64_t size = message.size();
    const auto status = write_exactly(write_end_, &size, sizeof(size), deadline);
    return status == Status::message ? write_exactly(write_end_, message.data(), message.size(), deadline) : status;
}

bool Channel::readable_within(std::chrono::milliseconds limit) const {
    pollfd ready{read_end_, POLLIN, 0};
    return poll(&ready, 1, static_cast<int>(limit.count())) > 0;
}

Channel::Status Channel::receive(Bytes& message, Clock::time_point deadline) {
    std::uint64_t size = 0;
    if (const auto status = read_exactly(read_end_, &size, sizeof(size), deadline); status != Status::message) {
        return status;
    }
    if (size > longest_) return Status::closed;
    message.clear();
    // The message is read in chunks. So if a broken worker sends a wrong length, the memory that is allocated here
    // stays in proportion to what the worker sends.
    while (message.size() < size) {
        const auto begin = message.size();
        message.resize(begin + std::min(chunk_bytes, size - begin));
        const auto status = read_exactly(read_end_, message.data() + begin, message.size() - begin, deadline);
        if (status != Status::message) return status;
    }
    return Status::message;
}

}  // namespace smemtune
