// The JSON form of values that reports and messages share. nlohmann::json finds these functions by itself:
// `nlohmann::json value = problem;` and `value.get<Problem>()`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "db/outcome.h"
#include "templates/launch/limits.h"
#include "templates/space/device.h"
#include "templates/space/problem.h"
#include "tuner/trial/sampling.h"

namespace smemtune {

/// from_json() throws nlohmann::json::exception when a field is absent or of another type, and std::invalid_argument
/// when a rejection's stage is unknown.
void to_json(nlohmann::json& to, const Problem& problem);
void from_json(const nlohmann::json& from, Problem& problem);
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
