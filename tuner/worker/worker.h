// The process that touches the device: it loads, verifies and times, and nothing else. An illegal access or a hang
// costs the worker, not the run.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tuner/worker/channel.h"

namespace smemtune {

/// Where a worker runs and how it is started.
struct WorkerOptions {
    std::string executable;  ///< this program; it is started as `EXECUTABLE worker ...`
    std::string device;
    unsigned seed = 0;
    std::chrono::milliseconds trial_deadline{30000};
    std::chrono::milliseconds prepare_deadline{300000};
    SamplingPolicy sampling;
};

/// Answers the coordinator on file descriptors 3 and 4 until it hangs up, and ends the process.
[[noreturn]] void serve_as_worker(const std::string& device, unsigned seed);

/// No worker can be had: the device is gone or the workers die before they answer.
class WorkerError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The coordinator's side: starts a worker when there is something to do, and another one when it dies or hangs.
class Worker {
public:
    explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Lets the worker process go; the next question starts another one. To be called by the thread that asked: a
    /// worker dies with the thread that started it.
    void release() { stop(); }

    [[nodiscard]] const std::string& device() const { return options_.device; }

    /// Starts a worker unless one lives. Throws WorkerError.
    void ensure_started();
    /// What follows is about this problem. `files` are those of a template of its operation, which is the same for all
    /// problems until the worker is released. It is laid out by lay_out(), or else by the first question.
    void prepare(const Problem& problem, const SourceTree& files, TestbedBinaries binaries);
    /// Throws WorkerError, also when it is interrupted: then the worker is lost, which nobody needs any more.
    void lay_out(const std::atomic<bool>& interrupted);
    /// Lays out another problem beside the present one, so that `prepare` will find it ready: if there is memory to
    /// spare, which has() then tells. A worker that is lost over it is replaced. Throws WorkerError when none can be
    /// had.
    void lay_out_ahead(const Problem& problem, const SourceTree& files, const TestbedBinaries& binaries,
                       const std::atomic<bool>& interrupted);
    /// Whether the problem is laid out.
    [[nodiscard]] bool has(const Problem& problem) const;
    /// The memory of the problem goes first where the next one has no room: until then it stays laid out.
    void forget(const Problem& problem) { over_.push_back(problem); }
    /// What starting workers took so far.
    [[nodiscard]] std::chrono::duration<double> starting() const { return starting_; }

    /// A worker that dies or overruns the deadline is a rejection; the next call meets a new one. One that a signal
    /// ends may have been ended from outside: then the trial is tried once more, by a new worker. Throws WorkerError.
    TrialReport trial(const TrialInput& input, double best_us);

    /// With `energy`, the energy of each is measured, too, whatever the sampling policy says of trials.
    /// Nothing when the worker was lost, and a second one too if it was by a signal. Throws WorkerError.
    std::optional<std::vector<Measurement>> final_round(const std::vector<TrialInput>& inputs, int rounds,
                                                        bool energy = false);

private:
    void start();
    void stop();
    void ensure_prepared(const std::atomic<bool>* interrupted = nullptr);
    /// Interrupted, it is overdue at once.
    Channel::Wait ask(const nlohmann::json& question, nlohmann::json& answer, std::chrono::milliseconds limit,
                      const std::atomic<bool>* interrupted = nullptr);
    Channel::Wait ask_prepared(const nlohmann::json& question, nlohmann::json& answer, std::chrono::milliseconds limit);

    struct Ending {
        bool by_signal = false;
        std::string text{};
    };
    Ending reap();

    struct Preparation {
        Problem problem;
        SourceTree files;
        TestbedBinaries binaries;
    };
    [[nodiscard]] nlohmann::json question_of(const Preparation& preparation, bool ahead) const;

    WorkerOptions options_;
    pid_t process_ = 0;
    std::unique_ptr<Channel> channel_;
    std::optional<Preparation> preparation_;
    bool prepared_ = false;
    std::vector<Problem> laid_out_;  // by the worker that lives now
    std::vector<Problem> over_;
    std::chrono::duration<double> starting_{};
    std::string ending_;  // of the last worker that was reaped
};

}  // namespace smemtune
