#include "tuner/tuning/scheduler.h"

#include <algorithm>
#include <thread>

#include "tuner/report/progress.h"
#include "util/stopwatch.h"

namespace smemtune {

Scheduler::Scheduler(const TuningContext& context, const std::vector<std::vector<PlannedSpace>>& spaces,
                     const Tools& tools, Clock::time_point deadline, Bell& bell)
    : context_(context), spaces_(spaces), tools_(tools), deadline_(deadline), bell_(bell) {
    for (auto* worker : tools.workers) slots_.push_back({.worker = worker, .time = {.device = worker->device()}});
}

void Scheduler::work() {
    {
        std::vector<std::jthread> threads;
        workers_ = slots_.size();
        for (auto& slot : slots_) {
            threads.emplace_back([this, &slot] {
                serve(slot);
                slot.worker->release();
            });
        }
    }
    if (failure_) std::rethrow_exception(failure_);
    for (const auto& tuner : tuners_) context_.report.problems.push_back(tuner->result());
    for (const auto& slot : slots_) context_.report.workers.push_back(slot.time);
}

// A worker's life. What one thread meets that is not the candidate's fault ends the run, but for a lost worker.
void Scheduler::serve(WorkerSlot& slot) {
    Lock lock(mutex_);
    std::optional<Work> work;
    try {
        try {
            while ((work = take(slot, lock))) {
                perform(slot, *work, lock);
                work.reset();
                bell_.ring();
            }
        } catch (const WorkerError& error) {
            if (!lock.owns_lock()) lock.lock();
            lose(slot, work, error);
        }
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!failure_) failure_ = std::current_exception();
    }
    bell_.ring();
}

// Throws the error when there is nobody to go on.
void Scheduler::lose(WorkerSlot& slot, std::optional<Work>& work, const WorkerError& error) {
    if (work) work->tuner->give_back(std::move(work->task));
    slot.prepared = nullptr;
    if (interrupted()) return;  // it was ended together with this program
    if (--workers_ == 0) throw error;
    context_.progress.say(std::string(error.what()) + "; going on without this device");
}

// Waits until there is a task; nothing when there will be none.
std::optional<Scheduler::Work> Scheduler::take(WorkerSlot& slot, Lock& lock) {
    while (!failure_ && !interrupted()) {
        const auto noted = bell_.rung();
        const auto problems = budget_is_spent() ? tuners_.size() : context_.request.problems.size();
        auto work = take_at_once(*slot.worker, problems);
        if (looks_again_) compile_ahead();
        guess(!work);
        if (work) return work;
        const bool all_done = tuners_.size() == problems &&
                              std::ranges::all_of(tuners_, [](const auto& tuner) { return tuner->is_done(); });
        if (all_done) {
            if (!look_again()) return std::nullopt;
            continue;
        }
        if (!lay_out_ahead(slot, problems, lock)) wait(slot, noted, lock);
    }
    return std::nullopt;
}

// What needs no compiler any more, and first what is laid out already: where memory is short, every move costs laying
// something out. Rather than wait, one of several workers goes on to the next problem, once enough is known of this one
// for that to start from. Who is alone keeps to the order, which makes its search repeatable.
std::optional<Scheduler::Work> Scheduler::take_at_once(const Worker& worker, std::size_t problems) {
    for (const bool anywhere : {false, true}) {
        for (std::size_t i = 0; i < (anywhere ? problems : std::min(problems, tuners_.size())); ++i) {
            auto& tuner = tuner_of(i);
            if (tuner.is_ready(workers_) && (anywhere || worker.is_prepared(tuner.problem()))) {
                if (auto task = tuner.next(workers_)) return Work{&tuner, std::move(*task)};
            }
            if (slots_.size() == 1 ? !tuner.is_done() : !tuner.is_well_known()) break;
        }
    }
    return std::nullopt;
}

// When the budget is spent by then, what there is to try shows whether something is left to go on with.
bool Scheduler::look_again() {
    if (looks_again_ || tuners_.size() < 2 || !learns(context_.request.search) || !has_news()) return false;
    looks_again_ = true;
    for (const auto& tuner : tuners_) tuner->look_again();
    bell_.ring();
    return true;
}

// What a search tried is news to those before it. What is only recalled was heard of by the run that tried it, unless
// that was cut short.
bool Scheduler::has_news() const {
    if (context_.report.measured > 0 || !context_.report.rejected.empty()) return true;
    std::int64_t last_run = 0;
    for (const auto& tuner : tuners_) last_run = std::max(last_run, tuner->last_run());
    return last_run > 0 && context_.store.how_ended(last_run) != "complete";
}

// A second look has few programs for each problem: while a worker keeps to one, the compilers go on to the next.
void Scheduler::compile_ahead() {
    auto room = context_.ahead;
    for (const auto& tuner : tuners_) room -= std::min(room, tuner->compile_ahead(room));
}

// Once somebody waits for a search's programs, threads without work compile what it may ask for next, until it has
// ended.
void Scheduler::guess(bool waits) {
    const auto first = std::ranges::find_if(tuners_, [](const auto& tuner) { return tuner->is_searching(); });
    const ProblemTuner* tuner = first == tuners_.end() ? nullptr : first->get();
    if (tuner != guessed_for_ && !(waits && tuner != nullptr && tuner->is_compiling())) tuner = nullptr;
    const auto lanes = tuner == nullptr ? 0 : tuner->open_lanes();
    if (tuner == guessed_for_ && lanes == guessed_lanes_) return;
    context_.pool.guess(tuner == nullptr ? std::vector<CompilePool::Guess>{} : tuner->guesses());
    guessed_for_ = tuner;
    guessed_lanes_ = lanes;
}

// The next problem that is not, in the order in which they will be needed; within a budget, which this must not overrun
// for nothing, only what is being searched. False when there is none, or no memory.
bool Scheduler::lay_out_ahead(WorkerSlot& slot, std::size_t problems, Lock& lock) {
    auto& worker = *slot.worker;
    const bool open_ended = deadline_ == Clock::time_point::max();
    const auto most = open_ended ? problems : std::min(problems, tuners_.size());
    for (std::size_t i = 0; i < most; ++i) {
        const auto& problem = context_.request.problems[i];
        const bool over = i < tuners_.size() && (open_ended ? tuners_[i]->is_done() : !tuners_[i]->is_searching());
        if (over || worker.is_prepared(problem)) continue;
        if (slot.not_ahead.contains(i)) return false;
        const auto binaries = testbed_of(i);
        lay_out(slot, lock, [&] {
            worker.prepare_ahead(problem, spaces_[i].front().kernel_template->files, binaries.get(),
                                 tools_.interrupted);
        });
        slot.not_ahead.insert(i);
        return true;
    }
    return false;
}

void Scheduler::wait(WorkerSlot& slot, std::uint64_t noted, Lock& lock) {
    const auto compiling = std::ranges::find_if(tuners_, [](const auto& tuner) { return tuner->is_compiling(); });
    auto* const tuner = compiling == tuners_.end() ? nullptr : compiling->get();
    const auto begin = Clock::now();
    lock.unlock();
    bell_.wait(noted);
    lock.lock();
    const auto waited = seconds_since(begin);
    (tuner == nullptr ? slot.time.idle : slot.time.compiler) += waited;
    if (tuner != nullptr) tuner->waited(waited);
}

// Problems are begun in their order.
ProblemTuner& Scheduler::tuner_of(std::size_t problem) {
    if (problem == tuners_.size()) {
        tuners_.push_back(
            std::make_unique<ProblemTuner>(context_, context_.request.problems[problem], spaces_[problem]));
        // Ahead of its candidates, none of which can be tried without.
        if (tuners_.back()->open_lanes() > 0) (void)testbed_of(problem);
    }
    return *tuners_[problem];
}

bool Scheduler::interrupted() {
    if (!tools_.interrupted) return false;
    context_.report.ended = "interrupted";
    for (const auto& tuner : tuners_) tuner->stop("interrupted");
    return true;
}

// No further trials, but what was begun gets its winner.
bool Scheduler::budget_is_spent() {
    if (Clock::now() < deadline_) return false;
    const bool through = tuners_.size() == context_.request.problems.size() &&
                         std::ranges::none_of(tuners_, [](const auto& tuner) { return tuner->is_searching(); });
    if (!through) context_.report.ended = "budget";
    for (const auto& tuner : tuners_) tuner->end_search("budget");
    return true;
}

void Scheduler::perform(WorkerSlot& slot, Work& work, Lock& lock) {
    if (const auto* trial = std::get_if<TrialTask>(&work.task)) {
        try_one(slot, *work.tuner, trial->candidate, lock);
    } else {
        play(slot, *work.tuner, std::get<FinalTask>(work.task), lock);
    }
}

void Scheduler::try_one(WorkerSlot& slot, ProblemTuner& tuner, const Proposal& candidate, Lock& lock) {
    lock.unlock();
    auto begin = Clock::now();
    const auto& compiled = candidate.compiled.get();
    const auto waited = seconds_since(begin);
    lock.lock();
    tuner.waited(waited);
    slot.time.compiler += waited;
    if (tuner.settle_without_trial(candidate)) return;
    const auto input = tuner.input_of(candidate, std::get<Binary>(compiled));
    prepare(slot, tuner, lock);
    const auto best_us = tuner.best_us();
    lock.unlock();
    begin = Clock::now();
    const auto report = slot.worker->trial(input, best_us);
    lock.lock();
    slot.time.trials += seconds_since(begin);
    // A worker that was ended together with this program says nothing about the candidate.
    const auto* lost = std::get_if<Rejection>(&report.outcome);
    if (tools_.interrupted && lost != nullptr && lost->stage == Stage::crash) return;
    tuner.finish(candidate, report);
}

void Scheduler::play(WorkerSlot& slot, ProblemTuner& tuner, const FinalTask& task, Lock& lock) {
    prepare(slot, tuner, lock);
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
    lock.unlock();
    const auto begin = Clock::now();
    auto measured = slot.worker->final_round(inputs, task.rounds, task.purpose == FinalTask::Purpose::energy);
    lock.lock();
    const auto seconds = seconds_since(begin);
    slot.time.finals += seconds;
    if (!measured) return tuner.finish(task, std::nullopt, seconds);
    auto next = measured->begin();
    for (auto& outcome : outcomes) {
        if (std::holds_alternative<Measurement>(outcome)) outcome = *next++;
    }
    tuner.finish(task, outcomes, seconds);
}

// What is laid out ahead, or was before and still is, takes no time here.
void Scheduler::prepare(WorkerSlot& slot, const ProblemTuner& tuner, Lock& lock) {
    if (slot.prepared == &tuner) return;
    auto& worker = *slot.worker;
    const auto own = std::ranges::find(tuners_, &tuner, [](const auto& each) { return each.get(); });
    const auto problem = static_cast<std::size_t>(own - tuners_.begin());
    const auto binaries = testbed_of(problem);
    for (const auto& each : tuners_) {
        if (each->is_done() && worker.is_prepared(each->problem())) {
            worker.allow_eviction(each->problem());
        }
    }
    lay_out(slot, lock, [&] {
        worker.select(tuner.problem(), spaces_[problem].front().kernel_template->files, binaries.get());
        worker.prepare(tools_.interrupted);
    });
    slot.prepared = &tuner;
}

// A worker starts while its first programs compile.
void Scheduler::lay_out(WorkerSlot& slot, Lock& lock, const std::function<void()>& work) {
    const auto started = slot.worker->starting();
    lock.unlock();
    const auto begin = Clock::now();
    slot.worker->ensure_started();
    work();
    lock.lock();
    const auto start = (slot.worker->starting() - started).count();
    slot.time.start += start;
    slot.time.layout += seconds_since(begin) - start;
}

// Of one operation: its programs depend on type and layout, not on extents.
std::shared_future<TestbedBinaries> Scheduler::testbed_of(std::size_t problem) {
    const auto& of = context_.request.problems[problem];
    auto& testbed = testbeds_[of.type + " " + of.layout];
    if (!testbed.valid()) {
        const auto& kernel = *spaces_[problem].front().kernel_template;
        testbed = std::async(std::launch::async, [this, &kernel, &of, held = context_.pool.step_back()]() mutable {
                      const auto until_done = std::move(held);
                      return compile_testbed(context_.compiler, kernel, of);
                  }).share();
    }
    return testbed;
}

}  // namespace smemtune
