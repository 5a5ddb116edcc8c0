#include "tuner/report/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "templates/space/value.h"

namespace smemtune {

using nlohmann::json;

namespace {

// Writes a number, unless it is 0, which means unknown.
template <class Number>
void set_known(json& to, const char* name, Number value) {
    if (value != 0) to[name] = value;
}

}  // namespace

json document(const std::string& command, json content) {
    content["schema"] = json_schema;
    content["command"] = command;
    return content;
}

// The members of a JSON object have no order, but extents do. So `dimensions` lists the names of the extents in order.
void to_json(json& to, const Problem& problem) {
    to = {{"operation", problem.operation},
          {"type", problem.type},
          {"size", size_text(problem)},
          {"dimensions", json::array()},
          {"extents", json::object()}};
    if (!problem.layout.empty()) to["layout"] = problem.layout;
    for (const auto& [name, value] : problem.extents) {
        to["dimensions"].push_back(name);
        to["extents"][name] = value;
    }
}
void from_json(const json& from, Problem& problem) {
    problem = {from.at("operation"), from.at("type"), from.value("layout", ""), {}};
    const auto& extents = from.at("extents");
    if (extents.is_array()) {  // older versions wrote pairs of name and value
        problem.extents = extents;
        return;
    }
    for (const auto& name : from.at("dimensions")) {
        problem.extents.emplace_back(name, extents.at(name.get<std::string>()));
    }
}

void to_json(json& to, const Configuration& configuration) {
    to = json::object();
    for (const auto& [name, value] : configuration.values) {
        if (is_text_value(value)) {
            to[name] = value_text(value);
        } else {
            to[name] = value;
        }
    }
}

void to_json(json& to, const Device& device) {
    to = {{"name", device.name}};
    for (const auto& field : device_fields()) to[std::string(field.name)] = device.*field.member;
    if (device.clock_khz == 0) to.erase("clock_khz");
}
void from_json(const json& from, Device& device) {
    device.name = from.at("name");
    device.clock_khz = 0;
    for (const auto& field : device_fields()) {
        if (field.member == &Device::clock_khz && !from.contains(field.name)) continue;
        device.*field.member = from.at(std::string(field.name));
    }
}

// Registers and spills are left out if they are unknown. The host's compiler does not report them.
void to_json(json& to, const Resources& resources) {
    to = {{"static_shared_bytes", resources.static_shared_bytes},
          {"dynamic_shared_bytes", resources.dynamic_shared_bytes}};
    set_known(to, "registers", resources.registers);
    if (resources.registers > 0 || resources.spill_bytes > 0) to["spill_bytes"] = resources.spill_bytes;
}
void from_json(const json& from, Resources& resources) {
    resources = {from.value("registers", std::int64_t{0}), from.value("spill_bytes", std::int64_t{0}),
                 from.at("static_shared_bytes"), from.at("dynamic_shared_bytes")};
}

void to_json(json& to, const Measurement& measurement) {
    to = {{"median_us", measurement.median_us},
          {"spread_us", measurement.spread_us},
          {"samples_us", measurement.samples_us},
          {"cut_short", measurement.cut_short}};
    set_known(to, "clock_khz", measurement.clock_khz);
    set_known(to, "energy_uj", measurement.energy_uj);
}
void from_json(const json& from, Measurement& measurement) {
    measurement = {from.at("median_us"),
                   from.at("spread_us"),
                   from.at("samples_us"),
                   from.at("cut_short"),
                   from.value("clock_khz", std::int64_t{0}),
                   from.value("energy_uj", 0.0)};
    const auto& [median, spread, samples, cut_short, clock, energy] = measurement;
    const auto possible = [](double value) { return std::isfinite(value) && value >= 0; };
    if (!possible(median) || !possible(spread) || !possible(energy) || clock < 0 ||
        !std::ranges::all_of(samples, possible)) {
        throw std::invalid_argument("a measurement is negative or not finite");
    }
}

void to_json(json& to, const Rejection& rejection) {
    to = {{"stage", to_text(rejection.stage)}, {"reason", rejection.reason}};
}
void from_json(const json& from, Rejection& rejection) {
    rejection = {parse_stage(from.at("stage").get<std::string>()), from.at("reason")};
}

static void to_json(json& to, const TensorMapArgument& map) {
    to = {{"matrix", map.matrix},
          {"stride", map.stride},
          {"rows", map.rows},
          {"columns", map.columns},
          {"box_rows", map.box_rows},
          {"box_columns", map.box_columns},
          {"element_bytes", map.element_bytes},
          {"swizzle", map.swizzle}};
    if (map.copy_at) to["copy_at"] = *map.copy_at;
    if (map.is_copy) to["is_copy"] = true;
}
static void from_json(const json& from, TensorMapArgument& map) {
    map = {from.at("matrix"),   from.at("stride"),      from.at("rows"),          from.at("columns"),
           from.at("box_rows"), from.at("box_columns"), from.at("element_bytes"), from.at("swizzle")};
    if (from.contains("copy_at")) map.copy_at = from.at("copy_at").get<std::int64_t>();
    map.is_copy = from.value("is_copy", false);
}

void to_json(json& to, const Launch& launch) {
    to = {{"grid", launch.grid},
          {"block", launch.block},
          {"static_shared_bytes", launch.static_shared_bytes},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"registers", launch.registers},
          {"runtime_arguments", launch.runtime_arguments}};
    for (const auto& [name, place, bytes] : launch.symbols) {
        to["symbols"].push_back({{"name", name}, {"place", place}, {"bytes", bytes}});
    }
    if (!launch.tensor_maps.empty()) to["tensor_maps"] = launch.tensor_maps;
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
    launch.tensor_maps = from.value("tensor_maps", std::vector<TensorMapArgument>{});
    for (const auto& symbol : from.value("symbols", json::array())) {
        launch.symbols.push_back({symbol.at("name"), symbol.at("place"), symbol.at("bytes")});
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
