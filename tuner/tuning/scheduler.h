// Runs the threads of a tuning run, one for each worker.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "tuner/compile/testbed_compiles.h"
#include "tuner/problem/problem_tuner.h"
#include "tuner/tuning/event_count.h"
#include "tuner/worker/worker.h"

namespace smemtune {

/// Each worker takes the next task that is ready. take_at_once() decides which problem the task is from. While no
/// task is ready, the worker prepares a later problem, or waits if there is none to prepare. When all problems are
/// done, the cross-size transfer begins. It runs once.
class Scheduler {
public:
    using Clock = std::chrono::steady_clock;

    /// After `deadline`, no further trial begins. A trial that runs then is stopped (budget_limit()), and is not
    /// stored. The preparation of a problem is also stopped, unless finals need it. The owner of `events` must notify
    /// it whenever a compile is done.
    Scheduler(const TuneRun& run, const std::vector<std::vector<PlannedSpace>>& spaces, Clock::time_point deadline,
              EventCount& events);
    /// Returns when all problems are done or the run is interrupted. Writes the results to the run's report. Throws
    /// WorkerError if the last worker is lost. Rethrows all other exceptions of the workers' threads.
    void work();

private:
    using Lock = std::unique_lock<std::mutex>;
    struct Work {
        ProblemTuner* tuner;
        Task task;
    };
    struct Share {  // the part of the budget in which a problem is searched
        Clock::time_point begin, end;
    };
    struct WorkerSlot {
        Worker* worker;
        WorkerTime time{};
        const ProblemTuner* prepared = nullptr;
        std::set<std::size_t> tried_ahead{};  // problems that were prepared ahead, or for which memory was short
    };

    void serve(WorkerSlot& slot);
    std::optional<Work> take(WorkerSlot& slot, Lock& lock);
    std::optional<Work> take_at_once(const Worker& worker, std::size_t problems);
    void wait(WorkerSlot& slot, std::uint32_t seen, Lock& lock);
    void lose(WorkerSlot& slot, std::optional<Work>& work, const WorkerError& error);
    ProblemTuner& tuner_of(std::size_t problem);
    [[nodiscard]] bool interrupted();
    [[nodiscard]] bool budget_is_spent();
    [[nodiscard]] Share next_share(std::size_t left) const;
    void end_spent_shares();

    bool begin_transfer();
    [[nodiscard]] bool has_new_trials() const;
    void compile_ahead();
    void speculate(bool waits);

    void perform(WorkerSlot& slot, Work& work, Lock& lock);
    void try_candidate(WorkerSlot& slot, ProblemTuner& tuner, const Proposal& candidate, Lock& lock);
    void measure_finalists(WorkerSlot& slot, ProblemTuner& tuner, const FinalTask& task, Lock& lock);
    void verify_finalist(WorkerSlot& slot, ProblemTuner& tuner, const FinalTask& task, Lock& lock);

    bool prepare(WorkerSlot& slot, const ProblemTuner& tuner, Lock& lock,
                 Clock::time_point end = Clock::time_point::max());
    void count_unprepared(std::size_t problem);
    bool prepare_ahead(WorkerSlot& slot, std::size_t problems, Lock& lock);
    static void time_preparation(WorkerSlot& slot, Lock& lock, const std::function<void()>& work);
    [[nodiscard]] const KernelTemplate& template_of(std::size_t problem) const;

    const TuneRun& run_;
    const std::vector<std::vector<PlannedSpace>>& spaces_;
    Clock::time_point deadline_;
    EventCount& events_;
    std::mutex mutex_;  // guards the members below, the tuners, the store, the report and the progress
    std::vector<WorkerSlot> slots_;
    std::size_t workers_ = 0;  // the number of workers that are not lost
    std::vector<std::unique_ptr<ProblemTuner>> tuners_;
    std::vector<Share> shares_;  // of each tuner
    TestbedCompiles testbeds_;
    bool transfers_ = false;            // whether the cross-size transfer has begun
    std::set<std::size_t> unprepared_;  // the problems whose preparation was stopped when the budget was spent
    const ProblemTuner* speculated_for_ = nullptr;  // the problem for which the pool compiles speculatively
    // What open_searches() of the problem `speculated_for_` returned when the speculative programs were chosen.
    std::size_t speculated_searches_ = 0;
    std::exception_ptr failure_;
};

}  // namespace smemtune
