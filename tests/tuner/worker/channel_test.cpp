#include "tuner/worker/channel.h"

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"
#include "tuner/worker/worker.h"

namespace smemtune {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto enough = 10s;

// A channel to the raw end of a pipe pair: what the other side would write and read.
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

// There and back through a channel whose two ends are one pipe.
json through_a_channel(const json& message) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    Channel channel(ends[0], ends[1]);
    // A pipe holds 64 KiB; longer messages need a reader meanwhile.
    std::jthread sender([&] { EXPECT_TRUE(channel.send(message)); });
    json received;
    EXPECT_EQ(channel.receive(received, Clock::now() + enough), Channel::Wait::message);
    return received;
}

template <class T>
T round_trip(const T& value) {
    return through_a_channel(json{{"value", value}}).at("value").get<T>();
}

Binary binary() {
    return {.entry = "tiled",
            .target = "sm_90a",
            .compiler = "nvrtc 13.0",
            .code = {0, 255, 10, 0, 127},
            .resources = {.registers = 40, .spill_bytes = 8, .static_shared_bytes = 2048, .dynamic_shared_bytes = 512},
            .compile_ms = 12.5};
}

Launch launch() {
    return {.grid = {2147483647, 2, 3},
            .block = {32, 8, 4},
            .static_shared_bytes = 2048,
            .dynamic_shared_bytes = 232448,
            .registers = 255,
            .runtime_arguments = {-2147483647, 8},
            .workspace = WorkspaceArgument{std::int64_t{1} << 40, 63}};
}

bool same(const Binary& a, const Binary& b) {
    return a.entry == b.entry && a.target == b.target && a.compiler == b.compiler && a.code == b.code &&
           a.resources == b.resources && a.compile_ms == b.compile_ms;
}
bool same(const Launch& a, const Launch& b) {
    return a.grid == b.grid && a.block == b.block && a.static_shared_bytes == b.static_shared_bytes &&
           a.dynamic_shared_bytes == b.dynamic_shared_bytes && a.registers == b.registers &&
           a.runtime_arguments == b.runtime_arguments && a.workspace == b.workspace;
}

TEST(Protocol, EveryKindOfMessageArrivesAsItWasSent) {
    const auto problem = gemm(4096, 11008, 128);
    EXPECT_EQ(round_trip(problem), problem) << "extents keep their order";
    const auto device = model_device("sm_90");
    EXPECT_EQ(round_trip(device), device);
    EXPECT_EQ(round_trip(binary().resources), binary().resources);
    EXPECT_TRUE(same(round_trip(binary()), binary()));
    EXPECT_TRUE(same(round_trip(launch()), launch()));
    EXPECT_TRUE(same(round_trip(Launch{}), Launch{}));
    const Measurement measurement{1.0 / 3, 0.1, {0.25, 1e300, 5e-324}, true, 1980000, 350.5};
    EXPECT_EQ(round_trip(measurement), measurement) << "to the last bit";
    for (const auto stage :
         {Stage::limits, Stage::compile, Stage::launch, Stage::wrong, Stage::crash, Stage::timeout}) {
        const Rejection rejection{stage, "\"quoted\"\nand\tso on \xc3\xa4"};
        EXPECT_EQ(round_trip(rejection), rejection);
        const TrialReport report{rejection, 0.5, 0};
        EXPECT_EQ(round_trip(report), report);
    }
    const TrialReport report{measurement, 1.0 / 3, 20};
    EXPECT_EQ(round_trip(report), report);
    const SamplingPolicy policy{1, 2, 3, 4, 0.5, 6, 7, true};
    const auto other = round_trip(policy);
    EXPECT_EQ(std::tie(other.batch_us, other.most_launches, other.least_samples, other.most_samples,
                       other.steady_spread, other.behind, other.longest_us, other.energy),
              std::tie(policy.batch_us, policy.most_launches, policy.least_samples, policy.most_samples,
                       policy.steady_spread, policy.behind, policy.longest_us, policy.energy));
    const auto input = round_trip(TrialInput{binary(), launch()});
    EXPECT_TRUE(same(input.binary, binary()) && same(input.launch, launch()));
    auto fill = binary();
    fill.entry = "fill";
    const auto binaries = round_trip(TestbedBinaries{binary(), fill, binary()});
    EXPECT_TRUE(same(binaries.reference, binary()) && same(binaries.fill, fill) && same(binaries.compare, binary()));
}

TEST(Protocol, ACompilersMessageThatIsNoTextStillArrives) {
    const Rejection rejection{Stage::compile, "broken \xff\xfe bytes"};
    EXPECT_EQ(round_trip(rejection), rejection);
}

TEST(Protocol, AMessageLargerThanAPipeArrives) {
    auto large = binary();
    large.code.assign(5'000'000, 42);
    EXPECT_TRUE(same(round_trip(large), large));
}

TEST(Protocol, AnAnswerThatDoesNotComeIsOverdue) {
    const Wire wire;
    json message;
    const auto begin = Clock::now();
    EXPECT_EQ(wire.channel->receive(message, begin + 50ms), Channel::Wait::overdue);
    EXPECT_GE(Clock::now() - begin, 50ms);
}

TEST(Protocol, HalfAnAnswerIsOverdueToo) {
    const Wire wire;
    wire.put_size(100);
    wire.put("half", 4);
    json message;
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + 50ms), Channel::Wait::overdue);
}

TEST(Protocol, ADeadlineThatHasPassedStillTakesWhatIsThere) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    Channel channel(ends[0], ends[1]);
    ASSERT_TRUE(channel.send({{"here", true}}));
    json message;
    EXPECT_EQ(channel.receive(message, Clock::now() - 1s), Channel::Wait::message);
}

TEST(Protocol, APipeThatClosesIsSeenAtOnceAtEveryPointOfAMessage) {
    for (const std::size_t bytes : {0U, 3U, 8U, 12U}) {
        Wire wire;
        const std::uint64_t size = 100;
        std::string message(reinterpret_cast<const char*>(&size), sizeof size);
        message += "and then some";
        wire.put(message.data(), bytes);
        wire.hang_up();
        json received;
        EXPECT_EQ(wire.channel->receive(received, Clock::now() + enough), Channel::Wait::closed) << bytes;
    }
}

TEST(Protocol, ALengthThatCannotBeIsNotWaitedFor) {
    for (const auto size : {~std::uint64_t{0}, std::uint64_t{1} << 40}) {
        const Wire wire;
        wire.put_size(size);
        json message;
        EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Wait::closed) << size;
    }
}

// The first bytes of a line that something printed into the pipe are a length, too.
TEST(Protocol, TextInPlaceOfAMessageIsNotBelieved) {
    Wire wire;
    const std::string text = "terminate called after throwing an instance of 'std::bad_alloc'\n";
    wire.put(text.data(), text.size());
    wire.hang_up();
    json message;
    EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Wait::closed);
}

TEST(Protocol, AMessageThatIsNoCborIsNotBelieved) {
    for (const std::string bytes : {"\xff\xff\xff\xff", "\x9f", "garbled!", ""}) {
        const Wire wire;
        wire.put_size(bytes.size());
        wire.put(bytes.data(), bytes.size());
        json message;
        EXPECT_EQ(wire.channel->receive(message, Clock::now() + enough), Channel::Wait::closed) << bytes;
    }
}

TEST(Protocol, SendingToNobodyIsNoCrash) {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    Wire wire;
    close(wire.read_end);
    EXPECT_FALSE(wire.channel->send({{"any", "body"}}));
    wire.read_end = open("/dev/null", O_RDONLY);
}

// What becomes of the first trial that a worker is asked for.
std::string first_trial(const std::string& executable, const std::string& device) {
    Worker worker({.executable = executable, .device = device});
    worker.prepare(gemm(1, 1, 1), {}, {});
    try {
        (void)worker.trial({}, 0);
    } catch (const WorkerError& error) {
        return error.what();
    }
    return "an outcome";
}

TEST(Worker, AProgramThatIsNoWorkerIsAnErrorThatSaysHowItEnded) {
    EXPECT_EQ(first_trial("/bin/true", "host"),
              "the worker for device host ended with exit code 0 before it was ready");
    EXPECT_EQ(first_trial("/no/such/program", "host"),
              "the worker for device host ended with exit code 127 before it was ready");
}

TEST(Worker, AnUnknownDeviceIsAnErrorThatNamesIt) {
    EXPECT_NE(first_trial(program(), "nonsense").find("there is no device 'nonsense'"), std::string::npos);
}

}  // namespace
}  // namespace smemtune
