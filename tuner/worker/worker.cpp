#include "tuner/worker/worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

namespace smemtune {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto start_deadline = 60s;  // creating a context takes a fifth of a second, on a busy machine several

}  // namespace

void Worker::prepare(const Problem& problem, const SourceTree& files, TestbedBinaries binaries) {
    preparation_ = {problem, files, std::move(binaries)};
    prepared_ = false;
}

void Worker::lay_out(const std::atomic<bool>& interrupted) { ensure_prepared(&interrupted); }

void Worker::lay_out_ahead(const Problem& problem, const SourceTree& files, const TestbedBinaries& binaries,
                           const std::atomic<bool>& interrupted) {
    ensure_started();
    json answer;
    const auto wait =
        ask(question_of({problem, files, binaries}, true), answer, options_.prepare_deadline, &interrupted);
    // Whatever is wrong with it will show when it is its turn.
    if (wait != Channel::Wait::message || !answer.contains("laid_out")) reap();
}

bool Worker::has(const Problem& problem) const { return std::ranges::find(laid_out_, problem) != laid_out_.end(); }

json Worker::question_of(const Preparation& preparation, bool ahead) const {
    return {{"do", "prepare"},
            {"problem", preparation.problem},
            {"files", preparation.files},
            {"binaries", preparation.binaries},
            {"ahead", ahead},
            {"over", over_}};
}

void Worker::ensure_started() {
    if (channel_) return;
    stop();
    const auto begin = Clock::now();
    start();
    starting_ += Clock::now() - begin;
}

void Worker::start() {
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0) {
        throw WorkerError("cannot start a worker: no pipes");
    }
    const auto seed = std::to_string(options_.seed);
    const std::array<const char*, 7> arguments{
        options_.executable.c_str(), "worker", "--device", options_.device.c_str(), "--seed", seed.c_str(), nullptr};
    const auto coordinator = getpid();
    const auto child = fork();
    if (child < 0) {
        const std::string why = std::strerror(errno);
        for (const auto end : {down[0], down[1], up[0], up[1]}) close(end);
        throw WorkerError("cannot start a worker: " + why);
    }
    if (child == 0) {
        // Only calls that are safe between fork and exec. A worker must not outlive a coordinator that is killed, not
        // even inside a kernel that never returns.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != coordinator) _exit(127);
        const auto read_end = fcntl(down[0], F_DUPFD, 10);
        const auto write_end = fcntl(up[1], F_DUPFD, 10);
        dup2(read_end, from_coordinator);
        dup2(write_end, to_coordinator);
        close(read_end);
        close(write_end);
        execv(arguments[0], const_cast<char* const*>(arguments.data()));
        _exit(127);
    }
    process_ = child;
    close(down[0]);
    close(up[1]);
    channel_ = std::make_unique<Channel>(up[0], down[1]);
    json greeting;
    if (channel_->receive(greeting, Clock::now() + start_deadline) != Channel::Wait::message) {
        throw WorkerError("the worker for device " + options_.device + " " + reap().text + " before it was ready");
    }
    if (greeting.contains("error")) throw WorkerError(greeting.at("error").get<std::string>());
    prepared_ = false;
}

void Worker::stop() {
    channel_.reset();  // a worker that waits for a question goes by itself
    laid_out_.clear();
    over_.clear();
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

// Of a worker that hung up, or that is to go.
Worker::Ending Worker::reap() {
    channel_.reset();
    laid_out_.clear();
    int status = 0;
    kill(process_, SIGKILL);
    waitpid(process_, &status, 0);
    process_ = 0;
    if (WIFSIGNALED(status)) return {true, std::string("died: ") + strsignal(WTERMSIG(status))};
    return {false, "ended with exit code " + std::to_string(WEXITSTATUS(status))};
}

Channel::Wait Worker::ask(const json& question, json& answer, std::chrono::milliseconds limit,
                          const std::atomic<bool>* interrupted) {
    if (!channel_->send(question)) return Channel::Wait::closed;
    const auto deadline = Clock::now() + limit;
    if (interrupted != nullptr) {
        while (!*interrupted && Clock::now() < deadline && !channel_->has_news(50ms)) {
        }
        if (*interrupted) return Channel::Wait::overdue;
    }
    const auto wait = channel_->receive(answer, deadline);
    if (wait == Channel::Wait::message && answer.contains("laid_out")) {
        laid_out_ = answer.at("laid_out").get<std::vector<Problem>>();
        over_.clear();
    }
    return wait;
}

// An operator or a system out of memory may end a worker at any time: that is no fault of what it was asked, so it is
// asked once more, and only a second death counts.
Channel::Wait Worker::ask_prepared(const json& question, json& answer, std::chrono::milliseconds limit) {
    for (bool again = false;; again = true) {
        ensure_prepared();
        const auto wait = ask(question, answer, limit);
        if (wait == Channel::Wait::message) return wait;
        const auto ending = reap();
        ending_ = ending.text;
        if (wait == Channel::Wait::overdue || again || !ending.by_signal) return wait;
    }
}

void Worker::ensure_prepared(const std::atomic<bool>* interrupted) {
    for (bool again = false;; again = true) {
        ensure_started();
        if (prepared_) return;
        json answer;
        const auto wait = ask(question_of(*preparation_, false), answer, options_.prepare_deadline, interrupted);
        if (wait == Channel::Wait::message) {
            if (answer.contains("error")) throw WorkerError(answer.at("error").get<std::string>());
            if (answer.contains("rejection")) throw WorkerError(answer.at("rejection").at("reason").get<std::string>());
            prepared_ = true;
            return;
        }
        const auto ending = reap();
        const bool overdue = wait == Channel::Wait::overdue;
        if (!overdue && ending.by_signal && !again) continue;
        throw WorkerError("the worker could not prepare " + to_text(preparation_->problem) + ": it " +
                          (overdue ? "took too long" : ending.text));
    }
}

TrialReport Worker::trial(const TrialInput& input, double best_us) {
    json answer;
    const auto wait =
        ask_prepared({{"do", "trial"}, {"input", input}, {"best_us", best_us}, {"policy", options_.sampling}}, answer,
                     options_.trial_deadline);
    if (wait == Channel::Wait::overdue) {
        return {Rejection{Stage::timeout,
                          "ran past its deadline of " + std::to_string(options_.trial_deadline.count() / 1000) + " s"}};
    }
    if (wait == Channel::Wait::closed) return {Rejection{Stage::crash, "the worker " + ending_}};
    if (answer.contains("report")) return answer.at("report").get<TrialReport>();
    reap();  // after a fault, which it told
    if (answer.contains("error")) throw WorkerError(answer.at("error").get<std::string>());
    return {answer.at("rejection").get<Rejection>()};
}

std::optional<std::vector<Measurement>> Worker::final_round(const std::vector<TrialInput>& inputs, int rounds,
                                                            bool energy) {
    auto policy = options_.sampling;
    policy.energy = policy.energy || energy;
    json answer;
    const auto wait = ask_prepared({{"do", "final"}, {"inputs", inputs}, {"rounds", rounds}, {"policy", policy}},
                                   answer, options_.prepare_deadline);
    if (wait != Channel::Wait::message) return std::nullopt;
    if (answer.contains("measurements")) return answer.at("measurements").get<std::vector<Measurement>>();
    reap();
    return std::nullopt;
}

}  // namespace smemtune
