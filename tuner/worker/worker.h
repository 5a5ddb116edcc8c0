// The coordinator's side of a worker. A worker is a process that uses one device: it loads, verifies and times
// kernels. An illegal access, a hang or a malformed answer therefore ends the worker, not the run.
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
    std::string executable;  ///< path of this program, which is started as `EXECUTABLE worker ...`
    std::string device;
    unsigned seed = 0;
    std::chrono::milliseconds trial_deadline{30000};
    std::chrono::milliseconds prepare_deadline{300000};  ///< for the inputs and reference outputs of a problem
    std::chrono::milliseconds final_deadline{300000};    ///< for one measurement of finalists
    SamplingPolicy sampling;
};

/// Sets the deadlines of a command with `--deadline DEADLINE`. Inputs and reference outputs may take ten times as long
/// as a trial, because a reference is slower than a kernel. If the reference is a program, they may take at least the
/// time limits of its runs.
void set_deadlines(WorkerOptions& options, std::chrono::seconds deadline, const Operation& operation);

/// Returns the time limit of a trial or of a preparation that begins now, if the budget ends at `end`. The limit is
/// what is left of the budget, but at least 5 s, because a normal trial that begins within the budget should finish.
std::chrono::milliseconds budget_limit(std::chrono::steady_clock::time_point end);

/// The worker's main loop: answers the coordinator on file descriptors 3 and 4. When the coordinator hangs up, ends the
/// process.
[[noreturn]] void serve_as_worker(const std::string& device, unsigned seed);

/// No worker can be used: the device is gone, or the worker processes end before they answer.
class WorkerError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Starts a worker process at the first request. If the process dies, hangs or sends a malformed answer, the class
/// starts another one.
class Worker {
public:
    explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Ends the worker process. The next request starts another one. A thread that made requests should call this
    /// before it ends, because the system kills a worker process when the thread that started the process ends.
    void release() { stop(); }

    [[nodiscard]] const std::string& device() const { return options_.device; }

    /// Starts a worker process unless one is running. Throws WorkerError.
    void ensure_started();
    /// Selects the problem of later requests. `files` are the source files of one template of the problem's operation;
    /// any will do. The operation must not change until the worker is released. The problem is prepared by prepare(),
    /// or else by the first request.
    void select(const Problem& problem, const SourceTree& files, TestbedBinaries binaries);
    /// Prepares the selected problem. If `limit` is less than the prepare deadline and the preparation takes longer
    /// than `limit`, returns false. Throws WorkerError if the preparation exceeds the prepare deadline, fails or is
    /// interrupted. In all these cases, the worker process is lost.
    bool prepare(const std::atomic<bool>& interrupted,
                 std::chrono::milliseconds limit = std::chrono::milliseconds::max());
    /// Prepares another problem beside the selected one, so that selecting it later takes no time. Does nothing if
    /// memory is short (see is_prepared()). If the worker process is lost meanwhile, the next request starts a new one.
    /// If the preparation exceeds its deadline, a later request for this problem throws WorkerError at once. If `limit`
    /// is less than that deadline and the preparation runs longer than `limit`, it is stopped, and the function returns
    /// false. Throws WorkerError if no worker process can be started.
    bool prepare_ahead(const Problem& problem, const SourceTree& files, const TestbedBinaries& binaries,
                       const std::atomic<bool>& interrupted,
                       std::chrono::milliseconds limit = std::chrono::milliseconds::max());
    [[nodiscard]] bool is_prepared(const Problem& problem) const;
    /// Makes the problem evictable: it stays prepared until another problem needs its memory. Evictable problems are
    /// released before all others.
    void allow_eviction(const Problem& problem) { evictable_.push_back(problem); }
    /// The total time spent on starting worker processes so far.
    [[nodiscard]] std::chrono::duration<double> starting() const { return starting_; }

    /// Runs a trial. `best_us` and `verified_best_us` are as in try_candidate(). Without `sampling`, the policy is that
    /// of the options. If the worker process is lost, the trial is rejected, and the next request starts a new process.
    /// If something other than the candidate may be the cause (a signal, a malformed answer), a new process first tries
    /// the candidate once more. If the trial runs longer than `limit`, which is less than the trial deadline, the
    /// report says that it is `unfinished`. Throws WorkerError.
    TrialReport trial(const TrialInput& input, std::optional<double> best_us,
                      std::optional<double> verified_best_us = std::nullopt,
                      const std::optional<SamplingPolicy>& sampling = std::nullopt,
                      std::chrono::milliseconds limit = std::chrono::milliseconds::max());

    /// Verifies in full a candidate that was timed before. `limit` and a lost worker process are handled as in trial().
    /// Throws WorkerError.
    TrialReport verify(const TrialInput& input, std::chrono::milliseconds limit = std::chrono::milliseconds::max());

    /// Times `inputs` alternately. If `energy` is true, also measures the energy of each input, even if the sampling
    /// policy does not ask for energy. Returns nothing if the worker process was lost. If something other than the
    /// inputs may be the cause of a loss, a new process first tries once more, as in trial(). Throws WorkerError.
    std::optional<std::vector<Measurement>> final_round(const std::vector<TrialInput>& inputs, int rounds,
                                                        bool energy = false);

private:
    /// How a worker process was lost during a request.
    struct Loss {
        enum class Cause { ended, overdue, malformed, fault, error };
        Cause cause;
        std::string reason;      ///< completes "the worker ..."; for a fault or an error, the message
        bool by_signal = false;  ///< whether a signal ended the process (cause `ended`)

        /// Whether something other than the request may be the cause.
        [[nodiscard]] bool is_worth_a_retry() const { return by_signal || cause == Cause::malformed; }
    };
    template <class Expected>
    using Answer = std::variant<Expected, Loss>;

    void start();
    void stop();
    [[nodiscard]] WorkerError too_slow() const;
    /// Returns false if the preparation was stopped after `limit`, which is less than the deadline.
    bool ensure_prepared(const std::atomic<bool>* interrupted = nullptr,
                         std::chrono::milliseconds limit = std::chrono::milliseconds::max());
    /// Sends a request and waits for the answer until `limit` is over. An interruption ends the wait at once. After a
    /// loss, the worker's process has ended, with one exception: if the request is too long to be sent, the process
    /// keeps running.
    template <class Expected>
    Answer<Expected> ask(const Request& request, std::chrono::milliseconds limit,
                         const std::atomic<bool>* interrupted = nullptr);
    template <class Expected>
    Answer<Expected> receive(std::chrono::steady_clock::time_point deadline);
    template <class Expected>
    Answer<Expected> ask_prepared(const Request& request, std::chrono::milliseconds limit);
    TrialReport report_on(const Request& request, std::chrono::milliseconds limit);
    /// Kills the worker process and waits for its end. Returns how the process ended; the cause is `ended`.
    Loss reap();

    WorkerOptions options_;
    pid_t process_ = 0;
    std::unique_ptr<Channel> channel_;
    std::optional<PrepareRequest> selected_;
    bool selected_is_current_ = false;  // whether the running worker has prepared `selected_`
    std::vector<Problem> too_slow_;     // problems whose preparation exceeded its deadline
    std::vector<Problem> prepared_;     // the problems that the running worker has prepared
    std::vector<Problem> evictable_;    // evictable problems that the worker does not know of yet
    std::chrono::duration<double> starting_{};
};

}  // namespace smemtune
