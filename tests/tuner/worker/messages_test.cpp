#include "tuner/worker/messages.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "templates/space/device.h"
#include "tuner/report/json.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

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
            .tensor_maps = {{4, 5, 100, 200, 16, 64, 2, true, 0}, {6, 7, 30, 40, 8, 32, 4, false, 128, true}},
            .workspace = WorkspaceArgument{std::int64_t{1} << 40, 63},
            .symbols = {{"filter", 2, 64}, {"other", 3, 8}}};
}

bool same(const Binary& a, const Binary& b) {
    return a.entry == b.entry && a.target == b.target && a.compiler == b.compiler && a.code == b.code &&
           a.resources == b.resources && a.compile_ms == b.compile_ms;
}
bool same(const Launch& a, const Launch& b) {
    return a.grid == b.grid && a.block == b.block && a.static_shared_bytes == b.static_shared_bytes &&
           a.dynamic_shared_bytes == b.dynamic_shared_bytes && a.registers == b.registers &&
           a.runtime_arguments == b.runtime_arguments && a.tensor_maps == b.tensor_maps && a.workspace == b.workspace &&
           a.symbols == b.symbols;
}

template <class T>
T through_json(const T& value) {
    return json(value).template get<T>();
}

// Encodes a request or a reply, and decodes it as the receiver does.
template <class Body>
Body through_the_wire(const Body& body) {
    if constexpr (std::is_constructible_v<Request, Body>) {
        return std::get<Body>(std::get<Request>(decode_request(encode(Request{body}))));
    } else {
        return std::get<Body>(std::get<Reply>(decode_reply(encode(Reply{body}))).body);
    }
}

std::string complaint_about(const json& reply) {
    const auto decoded = decode_reply(json::to_cbor(reply));
    const auto* malformed = std::get_if<MalformedMessage>(&decoded);
    return malformed == nullptr ? "" : malformed->reason;
}

TEST(Json, EveryValueComesBackAsItWas) {
    const auto problem = gemm(4096, 11008, 128);
    EXPECT_EQ(through_json(problem), problem) << "extents keep their order";
    const auto device = model_device("sm_90");
    EXPECT_EQ(through_json(device), device);
    EXPECT_EQ(through_json(binary().resources), binary().resources);
    EXPECT_TRUE(same(through_json(launch()), launch()));
    EXPECT_TRUE(same(through_json(Launch{}), Launch{}));
    const Measurement measurement{1.0 / 3, 0.1, {0.25, 1e300, 5e-324}, true, 1980000, 350.5};
    EXPECT_EQ(through_json(measurement), measurement) << "to the last bit";
    const SamplingPolicy policy{1, 2, 3, 4, 0.5, 6, 7, true};
    const auto other = through_json(policy);
    EXPECT_EQ(std::tie(other.batch_us, other.most_launches, other.least_samples, other.most_samples,
                       other.steady_spread, other.behind, other.longest_us, other.energy),
              std::tie(policy.batch_us, policy.most_launches, policy.least_samples, policy.most_samples,
                       policy.steady_spread, policy.behind, policy.longest_us, policy.energy));
}

TEST(Messages, ARequestArrivesAsItWasSent) {
    auto fill = binary();
    fill.entry = "fill";
    const auto prepare = through_the_wire(PrepareRequest{.problem = gemm(2, 3, 4),
                                                         .files = {{"a.cu", "text"}, {"a.toml", ""}},
                                                         .binaries = {binary(), fill, binary()},
                                                         .only_if_room = true,
                                                         .evictable = {gemm(5, 6, 7), gemm(8, 9, 10)}});
    EXPECT_EQ(prepare.problem, gemm(2, 3, 4));
    EXPECT_EQ(prepare.files, (SourceTree{{"a.cu", "text"}, {"a.toml", ""}}));
    EXPECT_TRUE(same(prepare.binaries.reference, binary()) && same(prepare.binaries.fill, fill) &&
                same(prepare.binaries.compare, binary()));
    EXPECT_TRUE(prepare.only_if_room);
    EXPECT_EQ(prepare.evictable, (std::vector{gemm(5, 6, 7), gemm(8, 9, 10)}));
    for (const auto& best_us : {std::optional<double>(), std::optional(1.0 / 3)}) {
        const auto trial = through_the_wire(TrialRequest{{binary(), launch()}, {.behind = 3}, best_us});
        EXPECT_TRUE(same(trial.input.binary, binary()) && same(trial.input.launch, launch()));
        EXPECT_EQ(trial.policy.behind, 3);
        EXPECT_EQ(trial.best_us, best_us);
        EXPECT_EQ(trial.verified_best_us, std::nullopt);
    }
    const auto trial = through_the_wire(TrialRequest{{binary(), launch()}, {}, 2.5, 7.5});
    EXPECT_EQ(trial.best_us, 2.5);
    EXPECT_EQ(trial.verified_best_us, 7.5);
    const auto verify = through_the_wire(VerifyRequest{{binary(), launch()}, {.behind = 3}});
    EXPECT_TRUE(same(verify.input.binary, binary()) && same(verify.input.launch, launch()));
    EXPECT_EQ(verify.policy.behind, 3);
    const auto final = through_the_wire(FinalRequest{{{binary(), launch()}, {fill, {}}}, {.energy = true}, 24});
    ASSERT_EQ(final.inputs.size(), 2U);
    EXPECT_TRUE(same(final.inputs[1].binary, fill) && same(final.inputs[1].launch, Launch{}));
    EXPECT_TRUE(final.policy.energy);
    EXPECT_EQ(final.rounds, 24);
}

TEST(Messages, AReplyArrivesAsItWasSent) {
    const auto ready = std::get<Reply>(decode_reply(encode(Reply{ReadyReply{}, {gemm(1, 2, 3), gemm(4, 5, 6)}})));
    EXPECT_TRUE(std::holds_alternative<ReadyReply>(ready.body));
    EXPECT_EQ(ready.prepared, (std::vector{gemm(1, 2, 3), gemm(4, 5, 6)}));
    (void)through_the_wire(PrepareReply{});
    const Measurement measurement{1.0 / 3, 0.1, {0.25, 1e300, 5e-324}, true, 1980000, 350.5};
    const TrialReport measured{measurement, 1.0 / 3, 20, true};
    EXPECT_EQ(through_the_wire(TrialReply{measured}).report, measured);
    for (const auto stage :
         {Stage::limits, Stage::compile, Stage::launch, Stage::wrong, Stage::crash, Stage::timeout}) {
        const TrialReport rejected{Rejection{stage, "\"quoted\"\nand\tso on \xc3\xa4"}, 0.5, 0};
        EXPECT_EQ(through_the_wire(TrialReply{rejected}).report, rejected);
    }
    EXPECT_EQ(through_the_wire(FinalReply{{measurement, {}}}).measurements,
              (std::vector<Measurement>{measurement, {}}));
    EXPECT_EQ(through_the_wire(FaultReply{"an illegal access"}).reason, "an illegal access");
    EXPECT_EQ(through_the_wire(ErrorReply{"no driver"}).reason, "no driver");
}

TEST(Messages, TextThatIsNotUtf8StillArrives) {
    EXPECT_EQ(through_the_wire(FaultReply{"broken \xff\xfe bytes"}).reason, "broken \xff\xfe bytes");
}

TEST(Messages, BytesThatAreNoMessageAreAnErrorValue) {
    for (const std::string text : {"\xff\xff\xff\xff", "\x9f", "garbled!", "", "terminate called after throwing"}) {
        const Bytes bytes(text.begin(), text.end());
        EXPECT_TRUE(std::holds_alternative<MalformedMessage>(decode_reply(bytes))) << text;
        EXPECT_TRUE(std::holds_alternative<MalformedMessage>(decode_request(bytes))) << text;
    }
}

// A million nested CBOR arrays would overflow the stack of a recursive parser.
TEST(Messages, NestingIsLimited) {
    const auto reason = [](std::size_t depth) {
        return std::get<MalformedMessage>(decode_reply(Bytes(depth, 0x81))).reason;  // 0x81 is an array of one element
    };
    EXPECT_EQ(reason(33), "it nests deeper than 32 levels");
    EXPECT_EQ(reason(1'000'000), "it nests deeper than 32 levels");
    EXPECT_EQ(reason(32).find("nests"), std::string::npos) << "it ends too early, which is another error";
}

TEST(Messages, AFieldThatIsAbsentOrOfAnotherTypeIsNamed) {
    const auto reply = json::from_cbor(encode(Reply{TrialReply{{Rejection{Stage::wrong, "why"}, 1, 2}}}));
    EXPECT_EQ(complaint_about(reply), "");
    for (const auto* path : {"/type", "/value", "/value/report", "/value/report/time_ms", "/value/report/rejection",
                             "/value/report/rejection/stage", "/prepared"}) {
        const json::json_pointer pointer(path);
        auto without = reply;
        without.at(pointer.parent_pointer()).erase(pointer.back());
        EXPECT_THAT(complaint_about(without), HasSubstr("key")) << path;
        auto other = reply;
        other.at(pointer) = true;
        EXPECT_NE(complaint_about(other), "") << path;
    }
    auto unknown = reply;
    unknown["value"]["report"]["rejection"]["stage"] = "nonsense";
    EXPECT_THAT(complaint_about(unknown), HasSubstr("'nonsense' is not a stage"));
    unknown = reply;
    unknown["type"] = 6;
    EXPECT_THAT(complaint_about(unknown), HasSubstr("6"));
}

}  // namespace
}  // namespace smemtune
