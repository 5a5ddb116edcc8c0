#include "tuner/report/json.h"

#include <nlohmann/json.hpp>

namespace smemtune {

using nlohmann::json;

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

}  // namespace smemtune
