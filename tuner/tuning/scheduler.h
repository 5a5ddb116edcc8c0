// The threads of a tuning run: one for each worker.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/problem/problem_tuner.h"
#include "tuner/tuning/tune.h"

namespace smemtune {

/// Wakes who waits for news. Whoever rings waits for nobody: the lock is held over the count alone.
class Bell {
public:
    void ring() {
        const std::scoped_lock lock(mutex_);
        ++rung_;
        changed_.notify_all();
    }
    /// How often; to be noted before looking for what may be new.
    [[nodiscard]] std::uint64_t rung() const {
        const std::scoped_lock lock(mutex_);
        return rung_;
    }
    /// Until it has rung since `noted`.
    void wait(std::uint64_t noted) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return rung_ != noted; });
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t rung_ = 0;
};

/// Workers take tasks from the first problem that has one ready; rather than wait, they go on to the next problem or
/// lay out those that are to come. When all are done, each problem hears once what has won at the others.
class Scheduler {
public:
    using Clock = std::chrono::steady_clock;

    /// After `deadline` no trial is begun. Something rings `bell` when a compile is done.
    Scheduler(const TuningContext& context, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
              Clock::time_point deadline, Bell& bell);
    /// Until everything is done, or the run is interrupted; the results go to the context's report. Throws what a
    /// worker's thread met that is not a candidate's fault, WorkerError when the last worker is lost.
    void work();

private:
    using Lock = std::unique_lock<std::mutex>;
    struct Work {
        ProblemTuner* tuner;
        Task task;
    };
    // A worker, and what it is at.
    struct WorkerSlot {
        Worker* worker;
        WorkerTime time{};
        const ProblemTuner* prepared = nullptr;
        std::set<std::size_t> not_ahead{};  // problems that were laid out so, or for which there was no memory to spare
    };

    void serve(WorkerSlot& slot);
    std::optional<Work> take(WorkerSlot& slot, Lock& lock);
    std::optional<Work> take_at_once(const Worker& worker, std::size_t problems);
    bool look_again();
    [[nodiscard]] bool has_news() const;
    void compile_ahead();
    void guess(bool waits);
    bool lay_out_ahead(WorkerSlot& slot, std::size_t problems, Lock& lock);
    void wait(WorkerSlot& slot, std::uint64_t noted, Lock& lock);
    void lose(WorkerSlot& slot, std::optional<Work>& work, const WorkerError& error);
    ProblemTuner& tuner_of(std::size_t problem);
    [[nodiscard]] bool interrupted();
    [[nodiscard]] bool budget_is_spent();

    void perform(WorkerSlot& slot, Work& work, Lock& lock);
    void try_one(WorkerSlot& slot, ProblemTuner& tuner, const Proposal& candidate, Lock& lock);
    void play(WorkerSlot& slot, ProblemTuner& tuner, const FinalTask& task, Lock& lock);
    void prepare(WorkerSlot& slot, const ProblemTuner& tuner, Lock& lock);
    static void lay_out(WorkerSlot& slot, Lock& lock, const std::function<void()>& work);
    std::shared_future<TestbedBinaries> testbed_of(std::size_t problem);

    const TuningContext& context_;
    const std::vector<std::vector<PlannedSpace>>& spaces_;
    const Tools& tools_;
    Clock::time_point deadline_;
    Bell& bell_;
    std::mutex mutex_;  // over everything below, the tuners, the store, the report and the progress
    std::vector<WorkerSlot> slots_;
    std::size_t workers_ = 0;  // that are left
    std::vector<std::unique_ptr<ProblemTuner>> tuners_;
    bool looks_again_ = false;                                             // at problems that were done
    const ProblemTuner* guessed_for_ = nullptr;                            // what the pool was last told to guess,
    std::size_t guessed_lanes_ = 0;                                        // and for how many templates
    std::map<std::string, std::shared_future<TestbedBinaries>> testbeds_;  // by type and layout
    std::exception_ptr failure_;
};

}  // namespace smemtune
