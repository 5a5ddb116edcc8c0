// The JSON form of values that reports and messages share, and the frame of what `--json` prints: docs/json.md.
// nlohmann::json finds the conversions by itself: `nlohmann::json value = problem;` and `value.get<Problem>()`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "db/outcome.h"
#include "templates/launch/limits.h"
#include "templates/space/configuration.h"
#include "templates/space/device.h"
#include "templates/space/problem.h"
#include "tuner/trial/sampling.h"

namespace smemtune {

/// The version of the schema in docs/json.md. It grows when a key is renamed, removed, or changes its meaning.
constexpr int json_schema = 1;

/// `content`, an object, with the version of the schema and the command that prints it: `tune`, `db best`.
nlohmann::json document(const std::string& command, nlohmann::json content);

/// Unknown values are absent. from_json() throws nlohmann::json::exception when a field is absent or of another type,
/// and std::invalid_argument when a rejection's stage is unknown. Problems are also read as older versions wrote them.
void to_json(nlohmann::json& to, const Problem& problem);
void from_json(const nlohmann::json& from, Problem& problem);
void to_json(nlohmann::json& to, const Configuration& configuration);
void to_json(nlohmann::json& to, const Device& device);
void from_json(const nlohmann::json& from, Device& device);
void to_json(nlohmann::json& to, const Resources& resources);
void from_json(const nlohmann::json& from, Resources& resources);
void to_json(nlohmann::json& to, const Measurement& measurement);
void from_json(const nlohmann::json& from, Measurement& measurement);
void to_json(nlohmann::json& to, const Rejection& rejection);
void from_json(const nlohmann::json& from, Rejection& rejection);
void to_json(nlohmann::json& to, const Launch& launch);
void from_json(const nlohmann::json& from, Launch& launch);
void to_json(nlohmann::json& to, const SamplingPolicy& policy);
void from_json(const nlohmann::json& from, SamplingPolicy& policy);

}  // namespace smemtune
