#include "tuner/crew.h"

#include <algorithm>
#include <thread>

#include "tuner/progress.h"

namespace smemtune {

namespace {

double seconds_since(Crew::Clock::time_point begin) {
    return std::chrono::duration<double>(Crew::Clock::now() - begin).count();
}

}  // namespace

Crew::Crew(const TuningContext& context, const std::vector<std::vector<PlannedSpace>>& spaces, const Tools& tools,
           Clock::time_point deadline)
    : context_(context), spaces_(spaces), tools_(tools), deadline_(deadline) {}

void Crew::work() {
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

// A worker's life. What one thread meets that is not the candidate's fault ends the run, but for a lost worker.
void Crew::serve(Worker& worker) {
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
std::optional<Crew::Work> Crew::take(const Worker& worker, std::unique_lock<std::mutex>& lock) {
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

std::size_t Crew::workers_on(const ProblemTuner& tuner) const {
    const auto count = std::ranges::count_if(prepared_, [&](const auto& each) { return each.second == &tuner; });
    return static_cast<std::size_t>(count);
}

std::optional<Crew::Work> Crew::take_one(ProblemTuner& tuner) {
    auto task = tuner.next(workers_on(tuner));
    return task ? std::optional(Work{&tuner, std::move(*task)}) : std::nullopt;
}

// With `at_once`, only what needs no compiler any more: rather than wait for it, a worker goes on to the next
// problem, once enough is known of this one for that to start from.
std::optional<Crew::Work> Crew::take_from(std::size_t problems, bool at_once) {
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
ProblemTuner& Crew::tuner_of(std::size_t problem) {
    if (problem == tuners_.size()) {
        tuners_.push_back(
            std::make_unique<ProblemTuner>(context_, context_.request.problems[problem], spaces_[problem]));
    }
    return *tuners_[problem];
}

bool Crew::interrupted() {
    if (!tools_.interrupted) return false;
    context_.report.ended = "interrupted";
    for (const auto& tuner : tuners_) tuner->stop("interrupted");
    return true;
}

// No further trials, but what was begun gets its winner.
bool Crew::budget_is_spent() {
    if (Clock::now() < deadline_) return false;
    const bool through = tuners_.size() == context_.request.problems.size() &&
                         std::ranges::none_of(tuners_, [](const auto& tuner) { return tuner->is_searching(); });
    if (!through) context_.report.ended = "budget";
    for (const auto& tuner : tuners_) tuner->end_search("budget");
    return true;
}

void Crew::perform(Worker& worker, Work& work, std::unique_lock<std::mutex>& lock) {
    if (const auto* trial = std::get_if<TrialTask>(&work.task)) {
        try_one(worker, *work.tuner, trial->candidate, lock);
    } else {
        play(worker, *work.tuner, std::get<FinalTask>(work.task), lock);
    }
}

void Crew::try_one(Worker& worker, ProblemTuner& tuner, const Proposal& candidate, std::unique_lock<std::mutex>& lock) {
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

void Crew::play(Worker& worker, ProblemTuner& tuner, const FinalTask& task, std::unique_lock<std::mutex>& lock) {
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
void Crew::prepare(Worker& worker, ProblemTuner& tuner, std::unique_lock<std::mutex>& lock) {
    auto& prepared = prepared_[&worker];
    if (prepared == &tuner) return;
    const auto workspace = tuner.workspace();
    lock.unlock();
    const auto& binaries = workspace.get();
    lock.lock();
    worker.prepare(tuner.problem(), tuner.files(), binaries);
    prepared = &tuner;
}

}  // namespace smemtune
