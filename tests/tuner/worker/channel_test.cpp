#include "tuner/worker/channel.h"

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto enough = 10min;

// A channel, and the file descriptors at the other ends of its two pipes.
struct Wire {
    Wire() {
        int down[2];
        int up[2];
        if (pipe(down) != 0 || pipe(up) != 0) throw std::runtime_error("pipe failed");
        channel = std::make_unique<Channel>(down[0], up[1]);
        write_end = down[1];
        read_end = up[0];
    }
    ~Wire() {
        hang_up();
        close(read_end);
    }
    void hang_up() {
        if (write_end >= 0) close(write_end);
        write_end = -1;
    }
    void put(const void* bytes, std::size_t count) const {
        ASSERT_EQ(write(write_end, bytes, count), static_cast<ssize_t>(count));
    }
    void put_size(std::uint64_t size) const { put(&size, sizeof size); }

    std::unique_ptr<Channel> channel;
    int write_end, read_end;
};

TEST(Channel, AMessageLargerThanAPipeArrives) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Channel channel(ends[0], ends[1]);
    Bytes large(5'000'000);
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::uint8_t>(i * i >> 8);
    std::jthread sender(
        [&] { EXPECT_EQ(channel.send(large), Channel::Status::message); });  // a pipe buffers only 64 KiB
    Bytes received;
    ASSERT_EQ(channel.receive(received, Clock::now() + enough), Channel::Status::message);
    EXPECT_EQ(received, large);
}

TEST(Channel, AnAnswerThatDoesNotComeIsOverdue) {
    const Wire wire;
    Bytes message;
    const auto begin = Clock::now();
    EXPECT_EQ(wire.channel->receive(message, begin + 50ms), Channel::Status::overdue);
    EXPECT_GE(Clock::now() - begin, 50ms);
}

TEST(Channel, HalfAnAnswerIsOverdueToo) {
    const Wire wire;
    wire.put_size(100);
    wire.put("half", 4);
    Bytes message;
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + 50ms), Channel::Status::overdue);
}

TEST(Channel, ADeadlineThatHasPassedStillTakesWhatIsThere) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Channel channel(ends[0], ends[1]);
    ASSERT_EQ(channel.send({1, 2, 3}), Channel::Status::message);
    Bytes message;
    EXPECT_EQ(channel.receive(message, Clock::now() - 1s), Channel::Status::message);
}

TEST(Channel, APipeThatClosesIsSeenAtOnceAtEveryPointOfAMessage) {
    for (const std::size_t bytes : {0U, 3U, 8U, 12U}) {
        Wire wire;
        const std::uint64_t size = 100;
        std::string message(reinterpret_cast<const char*>(&size), sizeof size);
        message += "and then some";
        wire.put(message.data(), bytes);
        wire.hang_up();
        Bytes received;
        EXPECT_EQ(wire.channel->receive(received, Clock::now() + enough), Channel::Status::closed) << bytes;
    }
}

TEST(Channel, ALengthThatCannotBeIsNotWaitedFor) {
    for (const auto size : {~std::uint64_t{0}, std::uint64_t{1} << 40}) {
        const Wire wire;
        wire.put_size(size);
        Bytes message;
        EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Status::closed) << size;
    }
}

TEST(Channel, ALengthUpToTheLimitIsWaitedForAndOneByteMoreIsNot) {
    const Wire wire;
    Bytes message;
    wire.put_size(longest_reply);
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + 50ms), Channel::Status::overdue);
    wire.put_size(longest_reply + 1);
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Status::closed);
}

TEST(Channel, APeerThatDoesNotReadMakesAMessageOverdue) {
    const Wire wire;
    const auto begin = Clock::now();
    EXPECT_EQ(wire.channel->send(Bytes(5'000'000), begin + 50ms), Channel::Status::overdue);
    EXPECT_GE(Clock::now() - begin, 50ms);
}

// If a worker prints text into the pipe, the channel reads the first bytes of the text as the length of a message.
TEST(Channel, TextInPlaceOfAMessageIsNotBelieved) {
    Wire wire;
    const std::string text = "terminate called after throwing an instance of 'std::bad_alloc'\n";
    wire.put(text.data(), text.size());
    wire.hang_up();
    Bytes message;
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Status::closed);
}

TEST(Channel, AnEmptyMessageIsAMessage) {
    const Wire wire;
    wire.put_size(0);
    Bytes message{1, 2, 3};
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Status::message);
    EXPECT_TRUE(message.empty());
}

TEST(Channel, SendingToNobodyIsNoCrash) {
    std::signal(SIGPIPE, SIG_IGN);  // smemtune ignores SIGPIPE, too
    Wire wire;
    close(wire.read_end);
    EXPECT_EQ(wire.channel->send({1, 2, 3}), Channel::Status::closed);
    wire.read_end = open("/dev/null", O_RDONLY);
}

}  // namespace
}  // namespace smemtune
