// The coordinator's side of a worker. A worker is the process that touches the device: it loads, verifies and times,
// and does nothing else. An illegal access, a hang or a malformed answer therefore ends the worker, not the run.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

#include "tuner/worker/messages.h"

namespace smemtune {

/// Where a worker runs and how to start it.
struct WorkerOptions {
    std::string executable;  ///< this program; it is started as `EXECUTABLE worker ...`
    std::string device;
    unsigned seed = 0;
    std::chrono::milliseconds trial_deadline{30000};
    std::chrono::milliseconds prepare_deadline{300000};
    SamplingPolicy sampling;
};

/// The worker's main loop: answers the coordinator on file descriptors 3 and 4 until it hangs up, then ends the
/// process.
[[noreturn]] void serve_as_worker(const std::string& device, unsigned seed);

/// No worker can be used: the device is gone, or workers are lost before they answer.
class WorkerError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Starts a worker at the first request, and another one if it dies, hangs or sends a malformed answer.
class Worker {
public:
    explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Ends the worker process. The next request starts another one. Call this on the thread that makes the requests: a
    /// worker ends with the thread that started it.
    void release() { stop(); }

    [[nodiscard]] const std::string& device() const { return options_.device; }

    /// Starts a worker unless one is running. Throws WorkerError.
    void ensure_started();
    /// Selects the problem of later requests. `files` belong to any template of its operation. The operation must not
    /// change until the worker is released. prepare() prepares the problem; otherwise the first request does.
    void select(const Problem& problem, const SourceTree& files, TestbedBinaries binaries);
    /// Prepares the selected problem. Throws WorkerError, even if it is interrupted; the worker is then lost.
    void prepare(const std::atomic<bool>& interrupted);
    /// Prepares another problem beside the selected one, so that selecting it later takes no time. Does nothing if
    /// memory is short: see is_prepared(). If the worker is lost meanwhile, the next request starts a new one. Throws
    /// WorkerError if no worker can be started.
    void prepare_ahead(const Problem& problem, const SourceTree& files, const TestbedBinaries& binaries,
                       const std::atomic<bool>& interrupted);
    [[nodiscard]] bool is_prepared(const Problem& problem) const;
    /// Makes the problem evictable: it stays prepared until another problem needs its memory, and is released before
    /// all others.
    void allow_eviction(const Problem& problem) { evictable_.push_back(problem); }
    /// The total time spent on starting workers so far.
    [[nodiscard]] std::chrono::duration<double> starting() const { return starting_; }

    /// Runs a trial, with the times of try_candidate(). If the worker is lost, the trial is
    /// rejected and the next request starts a new worker. If the candidate may not be the cause (a signal, a malformed
    /// answer), a new worker tries once more first. Throws WorkerError.
    TrialReport trial(const TrialInput& input, std::optional<double> best_us,
                      std::optional<double> verified_best_us = std::nullopt);

    /// Verifies a candidate in full that was timed before. Losses are handled as in trial(). Throws WorkerError.
    TrialReport verify(const TrialInput& input);

    /// Times `inputs` alternately. With `energy`, also measures the energy of each, whatever the sampling policy says.
    /// Returns nothing if the worker was lost as in trial(). Throws WorkerError.
    std::optional<std::vector<Measurement>> final_round(const std::vector<TrialInput>& inputs, int rounds,
                                                        bool energy = false);

private:
    /// How a worker was lost during a request.
    struct Loss {
        enum class Cause { ended, overdue, malformed, fault, error };
        Cause cause;
        std::string reason;      ///< continues "the worker"; after a fault or an error, the worker's own message
        bool by_signal = false;  ///< for `ended` only

        /// Whether the request may not be the cause.
        [[nodiscard]] bool is_worth_a_retry() const { return by_signal || cause == Cause::malformed; }
    };
    template <class Expected>
    using Answer = std::variant<Expected, Loss>;

    void start();
    void stop();
    void ensure_prepared(const std::atomic<bool>* interrupted = nullptr);
    /// If interrupted, the deadline is over at once. After a loss, no worker is running.
    template <class Expected>
    Answer<Expected> ask(const Request& request, std::chrono::milliseconds limit,
                         const std::atomic<bool>* interrupted = nullptr);
    template <class Expected>
    Answer<Expected> receive(std::chrono::steady_clock::time_point deadline);
    template <class Expected>
    Answer<Expected> ask_prepared(const Request& request, std::chrono::milliseconds limit);
    TrialReport report_on(const Request& request);
    /// Ends a worker that hung up or must end. Returns `ended`.
    Loss reap();

    WorkerOptions options_;
    pid_t process_ = 0;
    std::unique_ptr<Channel> channel_;
    std::optional<PrepareRequest> selected_;
    bool selected_is_current_ = false;  // whether it is the current problem of the running worker
    std::vector<Problem> prepared_;     // in the running worker
    std::vector<Problem> evictable_;    // not sent to the worker yet
    std::chrono::duration<double> starting_{};
};

}  // namespace smemtune
