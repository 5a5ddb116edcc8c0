// The messages between coordinator and worker, as types. Only encode() and decode...() know the wire format (CBOR).
// Both sides are always the same program, so the format may change with any version.
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
    SourceTree files;  ///< the source files of any template of the problem's operation
    TestbedBinaries binaries;
    bool only_if_room = false;         ///< prepare beside the current problem, and not at all if memory is short
    std::vector<Problem> evictable{};  ///< prepared problems to release first if memory is short
};
/// Loads, verifies and times a candidate of the most recently prepared problem.
struct TrialRequest {
    TrialInput input;
    SamplingPolicy policy;
    std::optional<double> best_us{};           ///< microseconds of the fastest candidate so far
    std::optional<double> verified_best_us{};  ///< time of the fastest candidate of its template that passed all checks
};
/// Verifies a candidate of the most recently prepared problem. The candidate was timed before. The answer is a
/// TrialReply.
struct VerifyRequest {
    TrialInput input;
    SamplingPolicy policy;
};
/// Times finalists of the most recently prepared problem alternately: `rounds` batches of each.
struct FinalRequest {
    std::vector<TrialInput> inputs;
    SamplingPolicy policy;
    int rounds = 0;
};
using Request = std::variant<PrepareRequest, TrialRequest, FinalRequest, VerifyRequest>;

/// A worker's first message, which says that its device is open.
struct ReadyReply {};
struct PrepareReply {};
struct TrialReply {
    TrialReport report;
};
struct FinalReply {
    std::vector<Measurement> measurements;  ///< one measurement for each input
};
/// A kernel made the device unusable. The worker ends after this message.
struct FaultReply {
    std::string reason;
};
/// The worker failed, but no candidate is at fault. The worker ends after this message.
struct ErrorReply {
    std::string reason;
};
struct Reply {
    std::variant<ReadyReply, PrepareReply, TrialReply, FinalReply, FaultReply, ErrorReply> body;
    std::vector<Problem> prepared{};  ///< all problems that the worker has prepared now
};

/// The result of decoding malformed bytes. `reason` says what is wrong with them.
struct MalformedMessage {
    std::string reason;
};

Bytes encode(const Request& request);
Bytes encode(const Reply& reply);
std::variant<Request, MalformedMessage> decode_request(const Bytes& bytes);
std::variant<Reply, MalformedMessage> decode_reply(const Bytes& bytes);

}  // namespace smemtune
