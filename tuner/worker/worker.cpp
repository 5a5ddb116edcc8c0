#include "tuner/worker/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "templates/manifest/catalog.h"
#include "tuner/trial/reference/reference_source.h"
#include "util/process.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto start_deadline = 60s;  // creating a context takes 0.2 s, but several seconds on a busy machine
constexpr auto least_budget_limit = 5s;

}  // namespace

void set_deadlines(WorkerOptions& options, std::chrono::seconds deadline, const Operation& operation) {
    options.trial_deadline = deadline;
    options.prepare_deadline = 10 * deadline;
    options.final_deadline = std::max(options.final_deadline, options.prepare_deadline);
    const auto& reference = operation.reference;
    if (reference.kind != OperationReference::Kind::program) return;
    const auto runs = static_cast<std::int64_t>(operation.checks.size());  // a program runs once for each check
    options.prepare_deadline = std::max<std::chrono::milliseconds>(
        options.prepare_deadline, runs * std::chrono::seconds(reference.time_limit_s) + deadline);
}

std::chrono::milliseconds budget_limit(Clock::time_point end) {
    return std::max<std::chrono::milliseconds>(
        least_budget_limit, std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
}

void Worker::select(const Problem& problem, const SourceTree& files, TestbedBinaries binaries) {
    selected_ = {problem, files, std::move(binaries)};
    selected_is_current_ = false;
}

bool Worker::prepare(const std::atomic<bool>& interrupted, std::chrono::milliseconds limit) {
    return ensure_prepared(&interrupted, limit);
}

bool Worker::prepare_ahead(const Problem& problem, const SourceTree& files, const TestbedBinaries& binaries,
                           const std::atomic<bool>& interrupted, std::chrono::milliseconds limit) {
    ensure_started();
    // A loss of the worker is not reported here. If the problem is the cause, prepare() fails later and reports it.
    const auto answer = ask<PrepareReply>(PrepareRequest{problem, files, binaries, true, evictable_},
                                          std::min(limit, options_.prepare_deadline), &interrupted);
    const auto* loss = std::get_if<Loss>(&answer);
    if (loss == nullptr || loss->cause != Loss::Cause::overdue || interrupted) return true;
    if (limit < options_.prepare_deadline) return false;
    too_slow_.push_back(problem);
    return true;
}

bool Worker::is_prepared(const Problem& problem) const {
    return std::ranges::find(prepared_, problem) != prepared_.end();
}

void Worker::ensure_started() {
    if (channel_) return;
    stop();
    const auto begin = Clock::now();
    start();
    starting_ += Clock::now() - begin;
}

void Worker::start() {
    const auto down = make_pipe();
    const auto up = make_pipe();
    const auto close_all = [&] {
        for (const auto end : {down.read_end, down.write_end, up.read_end, up.write_end}) close(end);
    };
    if (down.read_end < 0 || up.read_end < 0) {
        close_all();
        throw WorkerError("cannot start a worker: too many files are open; raise 'ulimit -n'");
    }
    const auto seed = std::to_string(options_.seed);
    const std::array<const char*, 7> arguments{
        options_.executable.c_str(), "worker", "--device", options_.device.c_str(), "--seed", seed.c_str(), nullptr};
    const auto coordinator = getpid();
    const auto child = fork();
    if (child < 0) {
        const std::string why = std::strerror(errno);
        close_all();
        throw WorkerError("cannot start a worker: " + why);
    }
    if (child == 0) {
        // Only async-signal-safe calls are allowed between fork and exec. With PR_SET_PDEATHSIG, the system kills the
        // worker if the coordinator is killed, even while the worker waits for a GPU kernel that never returns.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != coordinator) _exit(127);
        const auto read_end = fcntl(down.read_end, F_DUPFD, 10);
        const auto write_end = fcntl(up.write_end, F_DUPFD, 10);
        dup2(read_end, from_coordinator);
        dup2(write_end, to_coordinator);
        dup2(STDERR_FILENO, STDOUT_FILENO);  // what kernels print goes to stderr, because stdout has the --json output
        close(read_end);
        close(write_end);
        execv(arguments[0], const_cast<char* const*>(arguments.data()));
        _exit(127);
    }
    process_ = child;
    close(down.read_end);
    close(up.write_end);
    channel_ = std::make_unique<Channel>(up.read_end, down.write_end);
    selected_is_current_ = false;
    const auto greeting = receive<ReadyReply>(Clock::now() + start_deadline);
    if (const auto* loss = std::get_if<Loss>(&greeting)) {
        if (loss->cause == Loss::Cause::error) throw WorkerError(loss->reason);
        throw WorkerError("the worker for device " + options_.device + " " + loss->reason + " before it was ready");
    }
}

void Worker::stop() {
    channel_.reset();  // the closed channel ends a worker that waits for a request
    prepared_.clear();
    evictable_.clear();
    if (process_ == 0) return;
    for (int i = 0; i < 200; ++i) {
        if (waitpid(process_, nullptr, WNOHANG) != 0) {
            process_ = 0;
            return;
        }
        usleep(10'000);
    }
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
}

Worker::Loss Worker::reap() {
    // The process is killed before the channel is closed. If the channel were closed first, the worker might exit by
    // itself. The request would then seem to be the cause of the loss.
    kill(process_, SIGKILL);
    channel_.reset();
    prepared_.clear();
    int status = 0;
    const bool known = waitpid(process_, &status, 0) == process_;  // waitpid() fails if SIGCHLD is ignored
    process_ = 0;
    if (!known) return {Loss::Cause::ended, "ended"};
    if (WIFSIGNALED(status)) return {Loss::Cause::ended, std::string("died: ") + strsignal(WTERMSIG(status)), true};
    return {Loss::Cause::ended, "ended with exit code " + std::to_string(WEXITSTATUS(status))};
}

template <class Expected>
Worker::Answer<Expected> Worker::receive(Clock::time_point deadline) {
    Bytes bytes;
    const auto status = channel_->receive(bytes, deadline);
    if (status == Channel::Status::message) {
        auto decoded = decode_reply(bytes);
        if (auto* reply = std::get_if<Reply>(&decoded)) {
            if (auto* expected = std::get_if<Expected>(&reply->body)) {
                prepared_ = std::move(reply->prepared);
                return std::move(*expected);
            }
            reap();
            if (const auto* fault = std::get_if<FaultReply>(&reply->body))
                return Loss{Loss::Cause::fault, fault->reason};
            if (const auto* error = std::get_if<ErrorReply>(&reply->body))
                return Loss{Loss::Cause::error, error->reason};
            return Loss{Loss::Cause::malformed, "sent the answer to another request"};
        }
        reap();
        return Loss{Loss::Cause::malformed, "sent a malformed answer: " + std::get<MalformedMessage>(decoded).reason};
    }
    auto ending = reap();
    if (status == Channel::Status::overdue) return Loss{Loss::Cause::overdue, "took too long"};
    return ending;
}

template <class Expected>
Worker::Answer<Expected> Worker::ask(const Request& request, std::chrono::milliseconds limit,
                                     const std::atomic<bool>* interrupted) {
    const auto message = encode(request);
    if (message.size() > longest_request) {
        return Loss{Loss::Cause::fault, "its machine code and launch have " + std::to_string(message.size()) +
                                            " bytes, more than the " + std::to_string(longest_request) +
                                            " that a worker accepts"};
    }
    const auto deadline = Clock::now() + limit;
    switch (channel_->send(message, deadline)) {
        case Channel::Status::message: break;
        case Channel::Status::closed: return reap();
        case Channel::Status::overdue: reap(); return Loss{Loss::Cause::overdue, "took too long"};
    }
    if (interrupted != nullptr) {
        while (!*interrupted && Clock::now() < deadline && !channel_->readable_within(50ms)) {
        }
        if (*interrupted) {
            reap();
            return Loss{Loss::Cause::overdue, "was interrupted"};
        }
    }
    auto answer = receive<Expected>(deadline);
    if constexpr (std::is_same_v<Expected, PrepareReply>) {
        if (std::holds_alternative<PrepareReply>(answer)) evictable_.clear();
    }
    return answer;
}

// Sends a request. A user or the system (out of memory) may kill a worker at any time. So if something other than the
// request may be the cause of a loss, sends the request once more, to a new worker. Returns the second answer, even if
// it is a loss.
template <class Expected>
Worker::Answer<Expected> Worker::ask_prepared(const Request& request, std::chrono::milliseconds limit) {
    ensure_prepared();
    auto answer = ask<Expected>(request, limit);
    if (const auto* loss = std::get_if<Loss>(&answer); loss == nullptr || !loss->is_worth_a_retry()) return answer;
    ensure_prepared();
    return ask<Expected>(request, limit);
}

WorkerError Worker::too_slow() const {
    const auto step = selected_->files.empty()
                          ? to_text(selected_->problem)
                          : preparation_text(load_template(selected_->files).operation, selected_->problem);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.prepare_deadline).count();
    const auto text = fmt::format(
        "{} took longer than {} s; make sure that this code ends, tune smaller sizes, or give a longer --deadline: ten "
        "times the deadline is allowed",
        step, seconds);
    return WorkerError{text};
}

bool Worker::ensure_prepared(const std::atomic<bool>* interrupted, std::chrono::milliseconds limit) {
    if (std::ranges::find(too_slow_, selected_->problem) != too_slow_.end()) throw too_slow();
    for (bool again = false;; again = true) {
        ensure_started();
        if (selected_is_current_) return true;
        auto request = *selected_;
        request.evictable = evictable_;
        const auto answer = ask<PrepareReply>(request, std::min(limit, options_.prepare_deadline), interrupted);
        const auto* loss = std::get_if<Loss>(&answer);
        selected_is_current_ = loss == nullptr;
        if (loss == nullptr) return true;
        if (loss->is_worth_a_retry() && !again) continue;
        if (loss->cause == Loss::Cause::overdue && (interrupted == nullptr || !*interrupted)) {
            if (limit < options_.prepare_deadline) return false;
            throw too_slow();
        }
        const bool told = loss->cause == Loss::Cause::fault || loss->cause == Loss::Cause::error;
        throw WorkerError(told
                              ? loss->reason
                              : "the worker could not prepare " + to_text(selected_->problem) + ": it " + loss->reason);
    }
}

TrialReport Worker::trial(const TrialInput& input, std::optional<double> best_us,
                          std::optional<double> verified_best_us, const std::optional<SamplingPolicy>& sampling,
                          std::chrono::milliseconds limit) {
    return report_on(TrialRequest{input, sampling.value_or(options_.sampling), best_us, verified_best_us}, limit);
}

TrialReport Worker::verify(const TrialInput& input, std::chrono::milliseconds limit) {
    return report_on(VerifyRequest{input, options_.sampling}, limit);
}

TrialReport Worker::report_on(const Request& request, std::chrono::milliseconds limit) {
    const auto answer = ask_prepared<TrialReply>(request, std::min(limit, options_.trial_deadline));
    if (const auto* reply = std::get_if<TrialReply>(&answer)) return reply->report;
    const auto& loss = std::get<Loss>(answer);
    switch (loss.cause) {
        case Loss::Cause::error: throw WorkerError(loss.reason);
        case Loss::Cause::fault: return {Rejection{Stage::crash, loss.reason}};
        case Loss::Cause::overdue: {
            if (limit < options_.trial_deadline) {
                return {.outcome = Rejection{Stage::timeout, "was stopped when the budget was spent"},
                        .unfinished = true};
            }
            const auto seconds = std::to_string(options_.trial_deadline.count() / 1000);
            return {Rejection{Stage::timeout, "ran past its deadline of " + seconds + " s"}};
        }
        case Loss::Cause::ended:
        case Loss::Cause::malformed: break;
    }
    return {Rejection{Stage::crash, "the worker " + loss.reason}};
}

std::optional<std::vector<Measurement>> Worker::final_round(const std::vector<TrialInput>& inputs, int rounds,
                                                            bool energy) {
    auto policy = options_.sampling;
    policy.energy = policy.energy || energy;
    auto answer = ask_prepared<FinalReply>(FinalRequest{inputs, policy, rounds}, options_.final_deadline);
    auto* reply = std::get_if<FinalReply>(&answer);
    if (reply == nullptr) return std::nullopt;
    if (reply->measurements.size() == inputs.size()) return std::move(reply->measurements);
    reap();
    return std::nullopt;
}

}  // namespace smemtune
