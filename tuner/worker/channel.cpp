#include "tuner/worker/channel.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t longest_message = std::uint64_t{1} << 32;
constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;

Channel::Status read_exactly(int descriptor, void* to, std::size_t count, Clock::time_point deadline) {
    auto* at = static_cast<char*>(to);
    while (count > 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd ready{descriptor, POLLIN, 0};
        const auto polled = poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000)));
        if (polled < 0 && errno == EINTR) continue;
        if (polled == 0 && left <= 0) return Channel::Status::overdue;
        if (polled == 0) continue;
        const auto got = read(descriptor, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Channel::Status::closed;
        at += got;
        count -= static_cast<std::size_t>(got);
    }
    return Channel::Status::message;
}

bool write_exactly(int descriptor, const void* from, std::size_t count) {
    const auto* at = static_cast<const char*>(from);
    while (count > 0) {
        const auto put = write(descriptor, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        count -= static_cast<std::size_t>(put);
    }
    return true;
}

}  // namespace

Channel::~Channel() {
    close(read_end_);
    if (write_end_ != read_end_) close(write_end_);
}

bool Channel::send(const Bytes& message) {
    const std::uint64_t size = message.size();
    return write_exactly(write_end_, &size, sizeof(size)) && write_exactly(write_end_, message.data(), message.size());
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
    if (size > longest_message) return Status::closed;
    message.clear();
    // Reads in chunks, so that a wrong length from a broken worker does not allocate more than the worker sends.
    while (message.size() < size) {
        const auto begin = message.size();
        message.resize(begin + std::min(chunk_bytes, size - begin));
        const auto status = read_exactly(read_end_, message.data() + begin, message.size() - begin, deadline);
        if (status != Status::message) return status;
    }
    return Status::message;
}

}  // namespace smemtune
