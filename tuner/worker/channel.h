// What the coordinator and a worker say to each other: length-prefixed messages over two pipes.
//
// A message is a JSON value in its binary form (CBOR), so machine code travels as bytes. Nothing in it is tied to
// pipes or to one machine.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "runtime/backend.h"
#include "tuner/trial/sampling.h"
#include "tuner/trial/testbed.h"
#include "tuner/trial/trial.h"

namespace smemtune {

/// A worker's ends of the conversation: file descriptors.
constexpr int from_coordinator = 3;
constexpr int to_coordinator = 4;

/// Both directions of one conversation. Owns its file descriptors.
class Channel {
public:
    Channel(int read_end, int write_end) : read_end_(read_end), write_end_(write_end) {}
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// False when the other side is gone.
    bool send(const nlohmann::json& message);

    /// Whether something is to be received, or the other side is gone; waits up to `limit` for it.
    [[nodiscard]] bool has_news(std::chrono::milliseconds limit) const;

    enum class Wait { message, closed, overdue };
    /// Waits until `deadline`.
    Wait receive(nlohmann::json& message, std::chrono::steady_clock::time_point deadline);

private:
    int read_end_, write_end_;
};

void to_json(nlohmann::json& to, const Problem& problem);
void from_json(const nlohmann::json& from, Problem& problem);
void to_json(nlohmann::json& to, const Device& device);
void from_json(const nlohmann::json& from, Device& device);
void to_json(nlohmann::json& to, const Resources& resources);
void from_json(const nlohmann::json& from, Resources& resources);
void to_json(nlohmann::json& to, const Binary& binary);
void from_json(const nlohmann::json& from, Binary& binary);
void to_json(nlohmann::json& to, const Launch& launch);
void from_json(const nlohmann::json& from, Launch& launch);
void to_json(nlohmann::json& to, const Measurement& measurement);
void from_json(const nlohmann::json& from, Measurement& measurement);
void to_json(nlohmann::json& to, const Rejection& rejection);
void from_json(const nlohmann::json& from, Rejection& rejection);
void to_json(nlohmann::json& to, const TrialReport& report);
void from_json(const nlohmann::json& from, TrialReport& report);
void to_json(nlohmann::json& to, const SamplingPolicy& policy);
void from_json(const nlohmann::json& from, SamplingPolicy& policy);
void to_json(nlohmann::json& to, const TrialInput& input);
void from_json(const nlohmann::json& from, TrialInput& input);
void to_json(nlohmann::json& to, const TestbedBinaries& binaries);
void from_json(const nlohmann::json& from, TestbedBinaries& binaries);

}  // namespace smemtune
