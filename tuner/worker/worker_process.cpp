// The worker process: answers requests on its device until the coordinator hangs up.
#include <chrono>
#include <csignal>
#include <memory>

#include "tuner/worker/messages.h"
#include "tuner/worker/testbed_cache.h"
#include "tuner/worker/worker.h"

namespace smemtune {

namespace {

// Runs `work`. Memory may be short in the first batch, which allocates rotating operands, although it sufficed when the
// problem was prepared. All other problems are then released, and `work` runs once more. It also runs once more if
// there are no other problems, because another process may have released memory in the meantime.
template <class Work>
auto with_room(TestbedCache& cache, const Work& work) {
    try {
        return work();
    } catch (const OutOfMemory&) {
        cache.evict_all_but_current();
    }
    return work();
}

// Runs `work`, which tries or verifies one candidate, and returns its report.
template <class Work>
TrialReport try_one(TestbedCache& cache, const Work& work) {
    TrialReport report;
    try {
        report = with_room(cache, work);
    } catch (const NoRoomForWorkspace& error) {
        report.outcome = Rejection{Stage::launch, error.what()};
    }
    // A wrong kernel may have overwritten the operands of other problems.
    const auto* rejection = std::get_if<Rejection>(&report.outcome);
    if (rejection != nullptr && rejection->stage == Stage::wrong) cache.evict_all_but_current();
    return report;
}

Reply answer(Backend& backend, TestbedCache& cache, const Request& request) {
    Reply reply;
    if (const auto* prepare = std::get_if<PrepareRequest>(&request)) {
        cache.prepare(*prepare);
        reply.body = PrepareReply{};
    } else if (const auto* trial = std::get_if<TrialRequest>(&request)) {
        reply.body = TrialReply{try_one(cache, [&] {
            return try_candidate(backend, cache.current(), trial->input, trial->policy, trial->best_us,
                                 trial->verified_best_us);
        })};
    } else if (const auto* verify = std::get_if<VerifyRequest>(&request)) {
        reply.body = TrialReply{
            try_one(cache, [&] { return verify_candidate(backend, cache.current(), verify->input, verify->policy); })};
    } else if (const auto* final = std::get_if<FinalRequest>(&request)) {
        reply.body = FinalReply{with_room(
            cache, [&] { return play_final(backend, cache.current(), final->inputs, final->policy, final->rounds); })};
    }
    reply.prepared = cache.problems();
    return reply;
}

}  // namespace

void serve_as_worker(const std::string& device, unsigned seed) {
    // SIGINT and SIGTERM often reach all processes of the group: Ctrl-C, for instance, sends SIGINT to all of them. The
    // worker ignores both signals, because the coordinator ends the run after the current trial. Without SIGPIPE,
    // send() returns an error instead of ending the process.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    Channel channel(from_coordinator, to_coordinator, longest_request);
    std::unique_ptr<Backend> backend;
    std::unique_ptr<TestbedCache> cache;
    try {
        backend = open_backend(device, {.seed = seed});
        backend->make_current();
        cache = std::make_unique<TestbedCache>(*backend, seed);
        channel.send(encode(Reply{ReadyReply{}}));
        Bytes bytes;
        while (channel.receive(bytes, std::chrono::steady_clock::time_point::max()) == Channel::Status::message) {
            const auto request = decode_request(bytes);
            if (const auto* malformed = std::get_if<MalformedMessage>(&request)) {
                throw std::runtime_error("a request is malformed: " + malformed->reason);
            }
            const auto reply = encode(answer(*backend, *cache, std::get<Request>(request)));
            if (channel.send(reply) != Channel::Status::message) break;
        }
    } catch (const DeviceFault& fault) {
        channel.send(encode(Reply{FaultReply{fault.what()}}));
        std::_Exit(1);  // runs no destructors: after a fault, even a call that frees memory fails
    } catch (const std::exception& error) {
        channel.send(encode(Reply{ErrorReply{error.what()}}));
        std::_Exit(1);
    }
    // The coordinator is gone. Ending the process frees all memory faster than freeing each allocation.
    std::_Exit(0);
}

}  // namespace smemtune
