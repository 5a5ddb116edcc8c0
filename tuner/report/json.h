// Converts values to JSON and back, for reports and for messages between processes. Also makes the outer object of all
// `--json` output (docs/json.md). nlohmann::json calls to_json() and from_json() itself, for example in
// `nlohmann::json value = problem;` and `value.get<Problem>()`.
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

/// The version of the schema in docs/json.md. It increases when a key is renamed or removed, or when a key's meaning
/// changes.
constexpr int json_schema = 1;

/// Adds two keys to the object `content`: the schema version, and the command that prints `content`, such as `db best`.
nlohmann::json document(const std::string& command, nlohmann::json content);

/// to_json() leaves out unknown values. from_json() throws nlohmann::json::exception if a field is missing or has the
/// wrong type. It throws std::invalid_argument if a rejection's stage is unknown, or if a measurement is negative or
/// not finite. It also reads problems that older versions wrote.
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
