// The threads of a tuning run: one for each worker.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tuner/problem_tuner.h"
#include "tuner/tune.h"

namespace smemtune {

/// Workers take tasks from the first problem that has one; a problem that plays its finals leaves the other workers to
/// the next.
class Crew {
public:
    using Clock = std::chrono::steady_clock;

    /// After `deadline` no trial is begun.
    Crew(const TuningContext& context, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
         Clock::time_point deadline);
    /// Until everything is done, or the run is interrupted; the results go to the context's report. Throws what a
    /// worker's thread met that is not a candidate's fault, WorkerError when the last worker is lost.
    void work();

private:
    struct Work {
        ProblemTuner* tuner;
        Task task;
    };

    void serve(Worker& worker);
    std::optional<Work> take(const Worker& worker, std::unique_lock<std::mutex>& lock);
    [[nodiscard]] std::size_t workers_on(const ProblemTuner& tuner) const;
    std::optional<Work> take_one(ProblemTuner& tuner);
    std::optional<Work> take_from(std::size_t problems, bool at_once);
    ProblemTuner& tuner_of(std::size_t problem);
    [[nodiscard]] bool interrupted();
    [[nodiscard]] bool budget_is_spent();

    void perform(Worker& worker, Work& work, std::unique_lock<std::mutex>& lock);
    void try_one(Worker& worker, ProblemTuner& tuner, const Proposal& candidate, std::unique_lock<std::mutex>& lock);
    void play(Worker& worker, ProblemTuner& tuner, const FinalTask& task, std::unique_lock<std::mutex>& lock);
    void prepare(Worker& worker, ProblemTuner& tuner, std::unique_lock<std::mutex>& lock);

    const TuningContext& context_;
    const std::vector<std::vector<PlannedSpace>>& spaces_;
    const Tools& tools_;
    Clock::time_point deadline_;
    std::mutex mutex_;  // over everything below, the tuners, the store, the report and the progress
    std::condition_variable changed_;
    std::size_t workers_ = 0;
    std::vector<std::unique_ptr<ProblemTuner>> tuners_;
    std::map<const Worker*, ProblemTuner*> prepared_;
    std::exception_ptr failure_;
};

}  // namespace smemtune
