// What the coordinator and a worker say to each other: length-prefixed messages over two pipes.
//
// A message is a JSON value in its binary form (CBOR), so machine code travels as bytes. Nothing in it is tied to
// pipes or to one machine.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "runtime/backend.h"
#include "tuner/sampling.h"
#include "tuner/trial.h"
#include "tuner/workspace.h"

namespace smemtune {

/// Both directions of one conversation. Owns its file descriptors.
class Channel {
public:
    Channel(int read_end, int write_end) : read_end_(read_end), write_end_(write_end) {}
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// False when the other side is gone.
    bool send(const nlohmann::json& message);

    enum class Wait { message, closed, overdue };
    /// Waits until `deadline`.
    Wait receive(nlohmann::json& message, std::chrono::steady_clock::time_point deadline);

private:
    int read_end_, write_end_;
};

void to_json(nlohmann::json& json, const Problem& problem);
void from_json(const nlohmann::json& json, Problem& problem);
void to_json(nlohmann::json& json, const Device& device);
void from_json(const nlohmann::json& json, Device& device);
void to_json(nlohmann::json& json, const Resources& resources);
void from_json(const nlohmann::json& json, Resources& resources);
void to_json(nlohmann::json& json, const Binary& binary);
void from_json(const nlohmann::json& json, Binary& binary);
void to_json(nlohmann::json& json, const Launch& launch);
void from_json(const nlohmann::json& json, Launch& launch);
void to_json(nlohmann::json& json, const Measurement& measurement);
void from_json(const nlohmann::json& json, Measurement& measurement);
void to_json(nlohmann::json& json, const Rejection& rejection);
void from_json(const nlohmann::json& json, Rejection& rejection);
void to_json(nlohmann::json& json, const SamplingPolicy& policy);
void from_json(const nlohmann::json& json, SamplingPolicy& policy);
void to_json(nlohmann::json& json, const TrialInput& input);
void from_json(const nlohmann::json& json, TrialInput& input);
void to_json(nlohmann::json& json, const WorkspaceBinaries& binaries);
void from_json(const nlohmann::json& json, WorkspaceBinaries& binaries);

}  // namespace smemtune
