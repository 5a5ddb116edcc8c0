// The messages between the coordinator and a worker as types. encode() and decode...() are the only places that know
// their form on the wire (CBOR). Both sides are always the same program, so that form may change with any version.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/trial/sampling.h"
#include "tuner/trial/testbed.h"
#include "tuner/trial/trial.h"
#include "tuner/worker/channel.h"

namespace smemtune {

/// Prepares a problem: allocates its operands and computes its references.
struct PrepareRequest {
    Problem problem;
    SourceTree files;  ///< of a template of the problem's operation
    TestbedBinaries binaries;
    bool only_if_room = false;         ///< prepare it beside the current problem, or not at all without memory
    std::vector<Problem> evictable{};  ///< prepared problems that give up their memory first
};
/// Loads, verifies and times a candidate of the problem that was prepared last.
struct TrialRequest {
    TrialInput input;
    SamplingPolicy policy;
    std::optional<double> best_us{};  ///< the fastest candidate so far
};
/// Times finalists of that problem in turn, `rounds` batches of each.
struct FinalRequest {
    std::vector<TrialInput> inputs;
    SamplingPolicy policy;
    int rounds = 0;
};
using Request = std::variant<PrepareRequest, TrialRequest, FinalRequest>;

/// The first message of a worker: its device is open.
struct ReadyReply {};
struct PrepareReply {};
struct TrialReply {
    TrialReport report;
};
struct FinalReply {
    std::vector<Measurement> measurements;  ///< one for each input
};
/// A kernel made the device useless; the worker has ended.
struct FaultReply {
    std::string reason;
};
/// The worker could not go on, through no fault of a candidate; it has ended.
struct ErrorReply {
    std::string reason;
};
struct Reply {
    std::variant<ReadyReply, PrepareReply, TrialReply, FinalReply, FaultReply, ErrorReply> body;
    std::vector<Problem> prepared{};  ///< the problems that are prepared now
};

/// Bytes that are no message, and what is wrong with them.
struct MalformedMessage {
    std::string reason;
};

Bytes encode(const Request& request);
Bytes encode(const Reply& reply);
std::variant<Request, MalformedMessage> decode_request(const Bytes& bytes);
std::variant<Reply, MalformedMessage> decode_reply(const Bytes& bytes);

}  // namespace smemtune
