#include "tuner/worker/channel.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

namespace smemtune {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t longest_message = std::uint64_t{1} << 32;  // a length beyond it is not ours

Channel::Wait read_exactly(int descriptor, void* to, std::size_t count, Clock::time_point deadline) {
    auto* at = static_cast<char*>(to);
    while (count > 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd ready{descriptor, POLLIN, 0};
        const auto polled = poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000)));
        if (polled < 0 && errno == EINTR) continue;
        if (polled == 0 && left <= 0) return Channel::Wait::overdue;
        if (polled == 0) continue;
        const auto got = read(descriptor, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Channel::Wait::closed;
        at += got;
        count -= static_cast<std::size_t>(got);
    }
    return Channel::Wait::message;
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

bool Channel::send(const json& message) {
    const auto bytes = json::to_cbor(message);
    const std::uint64_t size = bytes.size();
    return write_exactly(write_end_, &size, sizeof(size)) && write_exactly(write_end_, bytes.data(), bytes.size());
}

bool Channel::has_news(std::chrono::milliseconds limit) const {
    pollfd ready{read_end_, POLLIN, 0};
    return poll(&ready, 1, static_cast<int>(limit.count())) > 0;
}

Channel::Wait Channel::receive(json& message, Clock::time_point deadline) {
    std::uint64_t size = 0;
    if (const auto wait = read_exactly(read_end_, &size, sizeof(size), deadline); wait != Wait::message) return wait;
    if (size > longest_message) return Wait::closed;
    std::vector<std::uint8_t> bytes(size);
    if (const auto wait = read_exactly(read_end_, bytes.data(), size, deadline); wait != Wait::message) return wait;
    message = json::from_cbor(bytes, true, false);
    return message.is_object() ? Wait::message : Wait::closed;  // not a discarded one, for example
}

void to_json(json& to, const Problem& problem) {
    to = {{"operation", problem.operation},
          {"type", problem.type},
          {"layout", problem.layout},
          {"extents", problem.extents}};
}
void from_json(const json& from, Problem& problem) {
    problem = {from.at("operation"), from.at("type"), from.at("layout"), from.at("extents")};
}

void to_json(json& to, const Device& device) {
    to = {{"name", device.name}};
    for (const auto& field : device_fields()) to[std::string(field.name)] = device.*field.member;
}
void from_json(const json& from, Device& device) {
    device.name = from.at("name");
    for (const auto& field : device_fields()) device.*field.member = from.at(std::string(field.name));
}

void to_json(json& to, const Resources& resources) {
    to = {{"registers", resources.registers},
          {"spill_bytes", resources.spill_bytes},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"dynamic_shared_bytes", resources.dynamic_shared_bytes}};
}
void from_json(const json& from, Resources& resources) {
    resources = {from.at("registers"), from.at("spill_bytes"), from.at("static_shared_bytes"),
                 from.at("dynamic_shared_bytes")};
}

void to_json(json& to, const Binary& binary) {
    to = {{"entry", binary.entry},         {"target", binary.target},
          {"compiler", binary.compiler},   {"code", json::binary(binary.code)},
          {"resources", binary.resources}, {"compile_ms", binary.compile_ms}};
}
void from_json(const json& from, Binary& binary) {
    binary = {from.at("entry"),     from.at("target"),    from.at("compiler"), from.at("code").get_binary(),
              from.at("resources"), from.at("compile_ms")};
}

void to_json(json& to, const Launch& launch) {
    to = {{"grid", launch.grid},
          {"block", launch.block},
          {"static_shared_bytes", launch.static_shared_bytes},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"registers", launch.registers},
          {"runtime_arguments", launch.runtime_arguments}};
    if (launch.workspace) to["workspace"] = {{"bytes", launch.workspace->bytes}, {"place", launch.workspace->place}};
}
void from_json(const json& from, Launch& launch) {
    launch = {from.at("grid"),
              from.at("block"),
              from.at("static_shared_bytes"),
              from.at("dynamic_shared_bytes"),
              from.at("registers"),
              from.at("runtime_arguments")};
    if (const auto found = from.find("workspace"); found != from.end()) {
        launch.workspace = {found->at("bytes"), found->at("place")};
    }
}

void to_json(json& to, const Measurement& measurement) {
    to = {{"median_us", measurement.median_us},   {"spread_us", measurement.spread_us},
          {"samples_us", measurement.samples_us}, {"cut_short", measurement.cut_short},
          {"clock_khz", measurement.clock_khz},   {"energy_uj", measurement.energy_uj}};
}
void from_json(const json& from, Measurement& measurement) {
    measurement = {from.at("median_us"), from.at("spread_us"), from.at("samples_us"),
                   from.at("cut_short"), from.at("clock_khz"), from.at("energy_uj")};
}

void to_json(json& to, const Rejection& rejection) {
    to = {{"stage", to_text(rejection.stage)}, {"reason", rejection.reason}};
}
void from_json(const json& from, Rejection& rejection) {
    rejection = {parse_stage(from.at("stage").get<std::string>()), from.at("reason")};
}

void to_json(json& to, const TrialReport& report) {
    to = {{"verify_ms", report.verify_ms}, {"time_ms", report.time_ms}};
    if (const auto* measurement = std::get_if<Measurement>(&report.outcome)) to["measurement"] = *measurement;
    if (const auto* rejection = std::get_if<Rejection>(&report.outcome)) to["rejection"] = *rejection;
}
void from_json(const json& from, TrialReport& report) {
    report = {.outcome = {}, .verify_ms = from.at("verify_ms"), .time_ms = from.at("time_ms")};
    if (from.contains("measurement")) {
        report.outcome = from.at("measurement").get<Measurement>();
    } else {
        report.outcome = from.at("rejection").get<Rejection>();
    }
}

void to_json(json& to, const SamplingPolicy& policy) {
    to = {{"batch_us", policy.batch_us},           {"most_launches", policy.most_launches},
          {"least_samples", policy.least_samples}, {"most_samples", policy.most_samples},
          {"steady_spread", policy.steady_spread}, {"behind", policy.behind},
          {"longest_us", policy.longest_us},       {"energy", policy.energy}};
}
void from_json(const json& from, SamplingPolicy& policy) {
    policy = {from.at("batch_us"),      from.at("most_launches"), from.at("least_samples"), from.at("most_samples"),
              from.at("steady_spread"), from.at("behind"),        from.at("longest_us"),    from.at("energy")};
}

void to_json(json& to, const TrialInput& input) { to = {{"binary", input.binary}, {"launch", input.launch}}; }
void from_json(const json& from, TrialInput& input) { input = {from.at("binary"), from.at("launch")}; }

void to_json(json& to, const TestbedBinaries& binaries) {
    to = {{"reference", binaries.reference}, {"fill", binaries.fill}, {"compare", binaries.compare}};
}
void from_json(const json& from, TestbedBinaries& binaries) {
    binaries = {from.at("reference"), from.at("fill"), from.at("compare")};
}

}  // namespace smemtune
