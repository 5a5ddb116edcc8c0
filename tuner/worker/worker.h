// The coordinator's side of a worker: the process that touches the device. It loads, verifies and times, and nothing
// else, so an illegal access, a hang or a malformed answer costs the worker, not the run.
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

/// No worker can be had: the device is gone, or the workers are lost before they answer.
class WorkerError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Starts a worker when there is something to do, and another one when it dies, hangs or answers nonsense.
class Worker {
public:
    explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Ends the worker process; the next request starts another one. Must be called by the thread that made the
    /// requests: a worker dies with the thread that started it.
    void release() { stop(); }

    [[nodiscard]] const std::string& device() const { return options_.device; }

    /// Starts a worker unless one lives. Throws WorkerError.
    void ensure_started();
    /// The requests that follow are about this problem. `files` are those of a template of its operation, which is the
    /// same for all problems until the worker is released. prepare() prepares it, or else the first request does.
    void select(const Problem& problem, const SourceTree& files, TestbedBinaries binaries);
    /// Prepares the selected problem. Throws WorkerError, also when it is interrupted: then the worker is lost.
    void prepare(const std::atomic<bool>& interrupted);
    /// Prepares another problem beside the selected one, so that selecting it takes no time. Without enough memory it
    /// does nothing: is_prepared() tells. A worker that is lost meanwhile is replaced by the next request. Throws
    /// WorkerError when none can be had.
    void prepare_ahead(const Problem& problem, const SourceTree& files, const TestbedBinaries& binaries,
                       const std::atomic<bool>& interrupted);
    [[nodiscard]] bool is_prepared(const Problem& problem) const;
    /// The problem stays prepared until another one needs its memory; it gives it up before all others.
    void allow_eviction(const Problem& problem) { evictable_.push_back(problem); }
    /// The time that starting workers took so far.
    [[nodiscard]] std::chrono::duration<double> starting() const { return starting_; }

    /// `best_us`: the fastest candidate so far. A lost worker is a rejection, and the next request starts a new one.
    /// When something else may have ended it (a signal, a malformed answer), a new worker tries once more first.
    /// Throws WorkerError.
    TrialReport trial(const TrialInput& input, std::optional<double> best_us);

    /// Times `inputs` in turn. With `energy`, it measures the energy of each as well, whatever the sampling policy
    /// says. Nothing when the worker was lost, as in trial(). Throws WorkerError.
    std::optional<std::vector<Measurement>> final_round(const std::vector<TrialInput>& inputs, int rounds,
                                                        bool energy = false);

private:
    /// How a request lost its worker.
    struct Loss {
        enum class Cause { ended, overdue, malformed, fault, error };
        Cause cause;
        std::string reason;      ///< after "the worker"; of a fault or an error, what the worker said
        bool by_signal = false;  ///< `ended` alone

        /// Something else than the request may have been the cause.
        [[nodiscard]] bool is_worth_a_retry() const { return by_signal || cause == Cause::malformed; }
    };
    template <class Expected>
    using Answer = std::variant<Expected, Loss>;

    void start();
    void stop();
    void ensure_prepared(const std::atomic<bool>* interrupted = nullptr);
    /// When it is interrupted, it is overdue at once. After a loss no worker lives.
    template <class Expected>
    Answer<Expected> ask(const Request& request, std::chrono::milliseconds limit,
                         const std::atomic<bool>* interrupted = nullptr);
    template <class Expected>
    Answer<Expected> receive(std::chrono::steady_clock::time_point deadline);
    template <class Expected>
    Answer<Expected> ask_prepared(const Request& request, std::chrono::milliseconds limit);
    /// Ends a worker that hung up or must go; `ended`.
    Loss reap();

    WorkerOptions options_;
    pid_t process_ = 0;
    std::unique_ptr<Channel> channel_;
    std::optional<PrepareRequest> selected_;
    bool selected_is_current_ = false;  // in the worker that lives now
    std::vector<Problem> prepared_;     // likewise
    std::vector<Problem> evictable_;    // the worker does not know yet
    std::chrono::duration<double> starting_{};
};

}  // namespace smemtune
