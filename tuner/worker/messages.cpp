#include "tuner/worker/messages.h"

#include <nlohmann/json.hpp>

#include "tuner/report/json.h"

namespace smemtune {

using nlohmann::json;

// These functions are static, not in an unnamed namespace, where nlohmann::json would not find them by
// argument-dependent lookup.

static void to_json(json& to, const Binary& binary) {
    to = {{"entry", binary.entry},         {"target", binary.target},
          {"compiler", binary.compiler},   {"code", json::binary(binary.code)},
          {"resources", binary.resources}, {"compile_ms", binary.compile_ms}};
}
static void from_json(const json& from, Binary& binary) {
    binary = {from.at("entry"),     from.at("target"),    from.at("compiler"), from.at("code").get_binary(),
              from.at("resources"), from.at("compile_ms")};
}

static void to_json(json& to, const TrialReport& report) {
    to = {{"verify_ms", report.verify_ms}, {"time_ms", report.time_ms}, {"verified", report.verified}};
    if (const auto* measurement = std::get_if<Measurement>(&report.outcome)) to["measurement"] = *measurement;
    if (const auto* rejection = std::get_if<Rejection>(&report.outcome)) to["rejection"] = *rejection;
}
static void from_json(const json& from, TrialReport& report) {
    report = {.outcome = {},
              .verify_ms = from.at("verify_ms"),
              .time_ms = from.at("time_ms"),
              .verified = from.at("verified")};
    if (from.contains("measurement")) {
        report.outcome = from.at("measurement").get<Measurement>();
    } else {
        report.outcome = from.at("rejection").get<Rejection>();
    }
}

static void to_json(json& to, const TrialInput& input) {
    to = {{"binary", input.binary}, {"launch", input.launch}, {"parameters", input.parameters.values}};
}
static void from_json(const json& from, TrialInput& input) {
    input = {from.at("binary"), from.at("launch"), {from.at("parameters").get<decltype(Configuration::values)>()}};
}

static void to_json(json& to, const TestbedBinaries& binaries) {
    to = {{"reference", binaries.reference},
          {"fill", binaries.fill},
          {"compare", binaries.compare},
          {"prepare", binaries.prepare},
          {"widen", binaries.widen}};
}
static void from_json(const json& from, TestbedBinaries& binaries) {
    binaries = {from.at("reference"), from.at("fill"), from.at("compare"), from.at("prepare"), from.at("widen")};
}

static void to_json(json& to, const PrepareRequest& request) {
    to = {{"problem", request.problem},
          {"files", request.files},
          {"binaries", request.binaries},
          {"only_if_room", request.only_if_room},
          {"evictable", request.evictable}};
}
static void from_json(const json& from, PrepareRequest& request) {
    request = {from.at("problem"), from.at("files"), from.at("binaries"), from.at("only_if_room"),
               from.at("evictable")};
}

static void to_json(json& to, const TrialRequest& request) {
    to = {{"input", request.input}, {"policy", request.policy}};
    if (request.best_us) to["best_us"] = *request.best_us;
    if (request.verified_best_us) to["verified_best_us"] = *request.verified_best_us;
}
static void from_json(const json& from, TrialRequest& request) {
    request = {from.at("input"), from.at("policy")};
    if (from.contains("best_us")) request.best_us = from.at("best_us").get<double>();
    if (from.contains("verified_best_us")) request.verified_best_us = from.at("verified_best_us").get<double>();
}

static void to_json(json& to, const VerifyRequest& request) {
    to = {{"input", request.input}, {"policy", request.policy}};
}
static void from_json(const json& from, VerifyRequest& request) { request = {from.at("input"), from.at("policy")}; }

static void to_json(json& to, const FinalRequest& request) {
    to = {{"inputs", request.inputs}, {"policy", request.policy}, {"rounds", request.rounds}};
}
static void from_json(const json& from, FinalRequest& request) {
    request = {from.at("inputs"), from.at("policy"), from.at("rounds")};
}

static void to_json(json& to, const ReadyReply&) { to = json::object(); }
static void from_json(const json&, ReadyReply&) {}
static void to_json(json& to, const PrepareReply&) { to = json::object(); }
static void from_json(const json&, PrepareReply&) {}
static void to_json(json& to, const TrialReply& reply) { to = {{"report", reply.report}}; }
static void from_json(const json& from, TrialReply& reply) { reply.report = from.at("report").get<TrialReport>(); }
static void to_json(json& to, const FinalReply& reply) { to = {{"measurements", reply.measurements}}; }
static void from_json(const json& from, FinalReply& reply) {
    reply.measurements = from.at("measurements").get<std::vector<Measurement>>();
}
static void to_json(json& to, const FaultReply& reply) { to = {{"reason", reply.reason}}; }
static void from_json(const json& from, FaultReply& reply) { reply.reason = from.at("reason").get<std::string>(); }
static void to_json(json& to, const ErrorReply& reply) { to = {{"reason", reply.reason}}; }
static void from_json(const json& from, ErrorReply& reply) { reply.reason = from.at("reason").get<std::string>(); }

namespace {

// Stops the parser at a message that nests deeper than any message of smemtune. The parser is recursive, so a malformed
// message of a broken worker could overflow the coordinator's stack.
class DepthLimit : public json::json_sax_t {
public:
    bool start_object(std::size_t) override { return ++depth_ <= deepest; }
    bool start_array(std::size_t) override { return ++depth_ <= deepest; }
    bool end_object() override { return --depth_ >= 0; }
    bool end_array() override { return --depth_ >= 0; }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool key(string_t&) override { return true; }
    bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }
    [[nodiscard]] bool exceeded() const { return depth_ > deepest; }

    static constexpr int deepest = 32;

private:
    int depth_ = 0;
};

// Encodes a variant as the index of its alternative and the value.
template <class... Types>
json tagged(const std::variant<Types...>& value) {
    return std::visit([&](const auto& each) { return json{{"type", value.index()}, {"value", each}}; }, value);
}

template <class Variant, std::size_t number = 0>
Variant untagged(const json& from, std::size_t type) {
    if constexpr (number == std::variant_size_v<Variant>) {
        throw std::invalid_argument("its type is " + std::to_string(type));
    } else {
        if (type != number) return untagged<Variant, number + 1>(from, type);
        return from.at("value").get<std::variant_alternative_t<number, Variant>>();
    }
}
template <class Variant>
Variant untagged(const json& from) {
    return untagged<Variant>(from, from.at("type").get<std::size_t>());
}

template <class Message, class Parse>
std::variant<Message, MalformedMessage> decode(const Bytes& bytes, const Parse& parse) {
    try {
        DepthLimit limit;
        json::sax_parse(bytes, &limit, json::input_format_t::cbor);
        if (limit.exceeded()) {
            return MalformedMessage{"it nests deeper than " + std::to_string(DepthLimit::deepest) + " levels"};
        }
        return parse(json::from_cbor(bytes));
    } catch (const json::exception& error) {
        return MalformedMessage{error.what()};
    } catch (const std::invalid_argument& error) {
        return MalformedMessage{error.what()};
    }
}

}  // namespace

Bytes encode(const Request& request) { return json::to_cbor(tagged(request)); }

Bytes encode(const Reply& reply) {
    auto message = tagged(reply.body);
    message["prepared"] = reply.prepared;
    return json::to_cbor(message);
}

std::variant<Request, MalformedMessage> decode_request(const Bytes& bytes) {
    return decode<Request>(bytes, [](const json& message) { return untagged<Request>(message); });
}

std::variant<Reply, MalformedMessage> decode_reply(const Bytes& bytes) {
    return decode<Reply>(bytes, [](const json& message) {
        return Reply{untagged<decltype(Reply::body)>(message), message.at("prepared").get<std::vector<Problem>>()};
    });
}

}  // namespace smemtune
