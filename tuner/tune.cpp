#include "tuner/tune.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "tuner/problem_tuner.h"
#include "tuner/progress.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_hopeless = 1000;  // configurations of a template that break limits, recorded one by one

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// For a search that learns, what the device can hold; run-time arguments stay at their defaults, to be swept at the
// end. When everything is tried, what only the device's limits remove is proposed as well: it costs nothing and is
// stored as rejected, with its reason. Unless there is a lot of it: then it is pruned like everything else, and only
// counted.
ParameterSpace space_to_search(const TuneRequest& request, const KernelTemplate& kernel, const Problem& problem,
                               const Device& device) {
    if (learns(request.search)) {
        auto fixed = kernel;
        for (auto& parameter : fixed.parameters) {
            if (parameter.runtime) parameter.values = {parameter.preset};
        }
        return feasible_space(fixed, problem, device);
    }
    auto feasible = feasible_space(kernel, problem, device);
    std::uint64_t hopeless = 0;
    for (auto i = kernel.constraints.size(); i < feasible.census().size(); ++i) hopeless += feasible.census()[i].points;
    return hopeless > most_hopeless ? std::move(feasible) : declared_space(kernel, problem, device);
}

// A space's census goes on with the device's limits after the template's own rules.
void count_left_out(const PlannedSpace& planned, TuneReport& report) {
    const auto& kernel = *planned.kernel_template;
    const auto& census = planned.space->census();
    for (auto i = kernel.constraints.size(); i < census.size(); ++i) {
        if (census[i].points > 0) report.left_out[kernel.name + ": " + census[i].constraint.reason] += census[i].points;
    }
}

// The threads of a run: one for each worker. They take tasks from the first problem that has one; a problem that plays
// its finals leaves the other workers to the next.
class Crew {
public:
    Crew(const TuningContext& context, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
         Clock::time_point deadline)
        : context_(context), spaces_(spaces), tools_(tools), deadline_(deadline) {}

    void work() {
        {
            std::vector<std::jthread> threads;
            workers_ = tools_.workers.size();
            for (auto* worker : tools_.workers) {
                threads.emplace_back([this, worker] {
                    serve(*worker);
                    worker->release();
                });
            }
        }
        if (failure_) std::rethrow_exception(failure_);
        for (const auto& tuner : tuners_) context_.report.problems.push_back(tuner->result());
    }

private:
    struct Work {
        ProblemTuner* tuner;
        Task task;
    };

    // A worker's life. What one thread meets that is not the candidate's fault ends the run, but for a lost worker.
    void serve(Worker& worker) {
        std::unique_lock lock(mutex_);
        try {
            while (auto work = take(worker, lock)) {
                try {
                    perform(worker, *work, lock);
                } catch (const WorkerError& error) {
                    if (!lock.owns_lock()) lock.lock();
                    work->tuner->give_back(std::move(work->task));
                    prepared_.erase(&worker);
                    changed_.notify_all();
                    if (tools_.interrupted) return;  // it was ended together with this program
                    if (--workers_ == 0) throw;
                    context_.progress.say(std::string(error.what()) + "; going on without this device");
                    return;
                }
                changed_.notify_all();
            }
        } catch (...) {
            if (!lock.owns_lock()) lock.lock();
            if (!failure_) failure_ = std::current_exception();
            changed_.notify_all();
        }
    }

    // Waits until there is a task; nothing when there will be none.
    std::optional<Work> take(const Worker& worker, std::unique_lock<std::mutex>& lock) {
        while (!failure_ && !interrupted()) {
            const auto problems = budget_is_spent() ? tuners_.size() : context_.request.problems.size();
            // A worker stays with the problem that it has laid out, and waits for the compiler there when it is alone:
            // every move costs laying another one out.
            if (const auto own = prepared_.find(&worker); own != prepared_.end()) {
                auto& tuner = *own->second;
                if (tuner.is_ready() || workers_on(tuner) == 1) {
                    if (auto work = take_one(tuner)) return work;
                }
            }
            if (auto work = take_from(problems, true)) return work;
            if (auto work = take_from(problems, false)) return work;
            const bool all_done = tuners_.size() == problems &&
                                  std::ranges::all_of(tuners_, [](const auto& tuner) { return tuner->is_done(); });
            if (all_done) return std::nullopt;
            changed_.wait(lock);
        }
        return std::nullopt;
    }

    [[nodiscard]] std::size_t workers_on(const ProblemTuner& tuner) const {
        const auto count = std::ranges::count_if(prepared_, [&](const auto& each) { return each.second == &tuner; });
        return static_cast<std::size_t>(count);
    }

    std::optional<Work> take_one(ProblemTuner& tuner) {
        auto task = tuner.next(workers_on(tuner));
        return task ? std::optional(Work{&tuner, std::move(*task)}) : std::nullopt;
    }

    // With `at_once`, only what needs no compiler any more: rather than wait for it, a worker goes on to the next
    // problem, once enough is known of this one for that to start from.
    std::optional<Work> take_from(std::size_t problems, bool at_once) {
        for (std::size_t i = 0; i < problems; ++i) {
            auto& tuner = tuner_of(i);
            if (!at_once || tuner.is_ready()) {
                if (auto work = take_one(tuner)) return work;
            }
            const bool alone = tools_.workers.size() == 1;
            if (tuner.is_searching() && (!at_once || alone || !tuner.is_well_known())) break;
        }
        return std::nullopt;
    }

    // Problems are begun in their order.
    ProblemTuner& tuner_of(std::size_t problem) {
        if (problem == tuners_.size()) {
            tuners_.push_back(
                std::make_unique<ProblemTuner>(context_, context_.request.problems[problem], spaces_[problem]));
        }
        return *tuners_[problem];
    }

    [[nodiscard]] bool interrupted() {
        if (!tools_.interrupted) return false;
        context_.report.ended = "interrupted";
        for (const auto& tuner : tuners_) tuner->stop("interrupted");
        return true;
    }

    // No further trials, but what was begun gets its winner.
    [[nodiscard]] bool budget_is_spent() {
        if (Clock::now() < deadline_) return false;
        const bool through = tuners_.size() == context_.request.problems.size() &&
                             std::ranges::none_of(tuners_, [](const auto& tuner) { return tuner->is_searching(); });
        if (!through) context_.report.ended = "budget";
        for (const auto& tuner : tuners_) tuner->end_search("budget");
        return true;
    }

    void perform(Worker& worker, Work& work, std::unique_lock<std::mutex>& lock) {
        if (const auto* trial = std::get_if<TrialTask>(&work.task)) {
            try_one(worker, *work.tuner, trial->candidate, lock);
        } else {
            play(worker, *work.tuner, std::get<FinalTask>(work.task), lock);
        }
    }

    void try_one(Worker& worker, ProblemTuner& tuner, const Proposal& candidate, std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        const auto begin = Clock::now();
        const auto& compiled = candidate.compiled.get();
        const auto waited = seconds_since(begin);
        lock.lock();
        tuner.waited(waited);
        if (tuner.settle_without_trial(candidate)) return;
        const auto input = tuner.input_of(candidate, std::get<Binary>(compiled));
        const auto best_us = tuner.best_us();
        prepare(worker, tuner, lock);
        lock.unlock();
        const auto report = worker.trial(input, best_us);
        lock.lock();
        // A worker that was ended together with this program says nothing about the candidate.
        const auto* lost = std::get_if<Rejection>(&report.outcome);
        if (tools_.interrupted && lost != nullptr && lost->stage == Stage::crash) return;
        tuner.finish(candidate, report);
    }

    void play(Worker& worker, ProblemTuner& tuner, const FinalTask& task, std::unique_lock<std::mutex>& lock) {
        prepare(worker, tuner, lock);
        lock.unlock();
        const auto begin = Clock::now();
        std::vector<TrialInput> inputs;
        std::vector<Outcome> outcomes(task.candidates.size());
        for (std::size_t i = 0; i < task.candidates.size(); ++i) {
            const auto& compiled = task.candidates[i].compiled.get();
            if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
                outcomes[i] = *rejection;
            } else {
                inputs.push_back(tuner.input_of(task.candidates[i], std::get<Binary>(compiled)));
            }
        }
        auto measured = worker.final_round(inputs, task.rounds, task.purpose == FinalTask::Purpose::energy);
        lock.lock();
        if (!measured) return tuner.finish(task, std::nullopt, seconds_since(begin));
        auto next = measured->begin();
        for (auto& outcome : outcomes) {
            if (std::holds_alternative<Measurement>(outcome)) outcome = *next++;
        }
        tuner.finish(task, outcomes, seconds_since(begin));
    }

    // The problem is laid out on the device only when there is something to try.
    void prepare(Worker& worker, ProblemTuner& tuner, std::unique_lock<std::mutex>& lock) {
        auto& prepared = prepared_[&worker];
        if (prepared == &tuner) return;
        const auto workspace = tuner.workspace();
        lock.unlock();
        const auto& binaries = workspace.get();
        lock.lock();
        worker.prepare(tuner.problem(), tuner.files(), binaries);
        prepared = &tuner;
    }

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

}  // namespace

std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device) {
    std::vector<std::vector<PlannedSpace>> spaces;
    for (const auto& problem : request.problems) {
        auto& row = spaces.emplace_back();
        for (const auto& kernel : request.templates) {
            if (!supports(kernel, problem, device)) continue;
            row.push_back(
                {&kernel, std::make_shared<ParameterSpace>(space_to_search(request, kernel, problem, device))});
        }
        if (row.empty()) {
            std::string names;
            for (const auto& kernel : request.templates) names += " " + kernel.name;
            throw std::invalid_argument("no template can compute " + to_text(problem) + " on " + device.name +
                                        "; looked at:" + names + "; see 'smemtune templates'");
        }
        // A good candidate early lets the others be cut short.
        std::ranges::stable_sort(row, std::ranges::greater{}, [&](const PlannedSpace& planned) {
            const auto& kernel = *planned.kernel_template;
            return reuse_of(kernel, default_configuration(kernel), problem, device).operations_per_load();
        });
    }
    return spaces;
}

TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
                Progress& progress) {
    const auto begin = Clock::now();
    TuneReport report{.device = tools.device,
                      .devices = tools.workers.size(),
                      .search = request.search == "auto" ? std::string(auto_search()) : request.search};
    for (const auto& row : spaces) {
        std::size_t valid = 0;
        for (const auto& planned : row) {
            valid += planned.space->size();
            count_left_out(planned, report);
        }
        report.planned += std::min(valid, request.evaluations.value_or(valid));
    }
    const nlohmann::json policy{{"checks", "whole output on every check of the operation"},
                                {"operands", "rotate over twice the L2, in up to 64 sets"},
                                {"batches", "one graph of launches between two events"},
                                {"sampling", tools.sampling},
                                {"finals", "rounds of one sample each, in turn"}};
    const nlohmann::json versions{{"smemtune", SMEMTUNE_VERSION},
                                  {"compiler", tools.compiler.version()},
                                  {"platform", platform_versions(tools.device)}};
    const auto run = tools.store.start_run({request.text, policy.dump(), versions.dump()});
    {
        CompilePool pool(tools.compiler, request.jobs);
        const TuningContext context{.request = request,
                                    .device = tools.device,
                                    .device_row = tools.store.remember(tools.device),
                                    .compiler = tools.compiler,
                                    .pool = pool,
                                    .store = tools.store,
                                    .run = run,
                                    .ahead = request.jobs + tools.workers.size(),
                                    .report = report,
                                    .progress = progress};
        Crew(context, spaces, tools, request.budget ? begin + *request.budget : Clock::time_point::max()).work();
    }
    report.seconds = seconds_since(begin);
    tools.store.finish_run(run, report.ended);
    return report;
}

}  // namespace smemtune
