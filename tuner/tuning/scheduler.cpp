#include "tuner/tuning/scheduler.h"

#include <algorithm>
#include <thread>

#include "db/store.h"
#include "tuner/report/progress.h"
#include "tuner/search/search.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

// Shows in the progress line that a worker prepares a problem.
class ShownPreparation {
public:
    explicit ShownPreparation(Progress& progress) : progress_(progress) { progress_.prepare(true); }
    ~ShownPreparation() { progress_.prepare(false); }
    ShownPreparation(const ShownPreparation&) = delete;
    ShownPreparation& operator=(const ShownPreparation&) = delete;

private:
    Progress& progress_;
};

}  // namespace

Scheduler::Scheduler(const TuneRun& run, const std::vector<std::vector<PlannedSpace>>& spaces,
                     Clock::time_point deadline, EventCount& events)
    : run_(run), spaces_(spaces), deadline_(deadline), events_(events), testbeds_(run.resources.compiler, run.pool) {
    for (auto* worker : run.resources.workers) {
        slots_.push_back({.worker = worker, .time = {.device = worker->device()}});
    }
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
    for (const auto& tuner : tuners_) run_.report.problems.push_back(tuner->result());
    for (const auto& slot : slots_) run_.report.workers.push_back(slot.time);
}

// The body of a worker's thread. A WorkerError means that the worker is lost. This ends the run only if no other worker
// is left. Any other exception ends the run.
void Scheduler::serve(WorkerSlot& slot) {
    Lock lock(mutex_);
    std::optional<Work> work;
    try {
        try {
            while ((work = take(slot, lock))) {
                perform(slot, *work, lock);
                work.reset();
                events_.notify();
            }
        } catch (const WorkerError& error) {
            if (!lock.owns_lock()) lock.lock();
            lose(slot, work, error);
        }
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!failure_) failure_ = std::current_exception();
    }
    events_.notify();
}

// Handles the loss of a worker. Throws `error` if no worker is left.
void Scheduler::lose(WorkerSlot& slot, std::optional<Work>& work, const WorkerError& error) {
    if (work) work->tuner->give_back(std::move(work->task));
    slot.prepared = nullptr;
    if (interrupted()) return;  // the signal that interrupted this program may have ended the worker
    if (--workers_ == 0) throw error;
    run_.progress.say(std::string(error.what()) + "; going on without this device");
}

// Waits for a task. Returns nothing if there will be no more tasks.
std::optional<Scheduler::Work> Scheduler::take(WorkerSlot& slot, Lock& lock) {
    while (!failure_ && !interrupted()) {
        const auto seen = events_.count();
        end_spent_shares();
        const auto problems = budget_is_spent() ? tuners_.size() : run_.request.problems.size();
        auto work = take_at_once(*slot.worker, problems);
        if (transfers_) compile_ahead();
        speculate(!work);
        if (work) return work;
        const bool all_done = tuners_.size() == problems &&
                              std::ranges::all_of(tuners_, [](const auto& tuner) { return tuner->is_done(); });
        if (all_done) {
            if (!begin_transfer()) return std::nullopt;
            continue;
        }
        if (!prepare_ahead(slot, problems, lock)) wait(slot, seen, lock);
    }
    return std::nullopt;
}

// Returns a task whose program is compiled, or nothing if there is none now. Problems that the worker has prepared
// come first, because memory may be too short to keep another problem prepared as well. With several workers, a
// worker passes over a problem without a ready task if is_well_known() is true for this problem. A single worker
// finishes one problem before the next, which makes its search repeatable.
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

// The transfer begins even if the budget is spent. Its candidates are then not tried, but the run ends with "budget"
// instead of "complete", so the user learns that repeating the command would try more.
bool Scheduler::begin_transfer() {
    if (transfers_ || tuners_.size() < 2 || !learns(run_.request.search) || !has_new_trials()) return false;
    transfers_ = true;
    for (const auto& tuner : tuners_) tuner->begin_transfer();
    events_.notify();
    return true;
}

// Whether there may be winners that were not transferred yet. If this run had no trial, all winners are from earlier
// runs. If the last of these runs was complete, it has transferred all winners.
bool Scheduler::has_new_trials() const {
    if (run_.report.measured > 0 || !run_.report.rejected.empty()) return true;
    std::int64_t last_run = 0;
    for (const auto& tuner : tuners_) last_run = std::max(last_run, tuner->last_run());
    return last_run > 0 && run_.resources.store.how_ended(last_run) != "complete";
}

// Submits programs of the transfer. A problem has too few of them to keep all compiler threads busy. So while a worker
// is busy with one problem, the programs of the next problems are compiled.
void Scheduler::compile_ahead() {
    auto room = run_.ahead;
    for (const auto& tuner : tuners_) room -= std::min(room, tuner->compile_ahead(room));
}

// Starts speculative compiles for a problem once a worker waits for the compiler during that problem's search. They
// continue until the search ends.
void Scheduler::speculate(bool waits) {
    const auto first = std::ranges::find_if(tuners_, [](const auto& tuner) { return tuner->is_searching(); });
    const ProblemTuner* tuner = first == tuners_.end() ? nullptr : first->get();
    if (tuner != speculated_for_ && !(waits && tuner != nullptr && tuner->is_compiling())) tuner = nullptr;
    const auto searches = tuner == nullptr ? 0 : tuner->open_searches();
    if (tuner == speculated_for_ && searches == speculated_searches_) return;
    run_.pool.speculate(tuner == nullptr ? std::vector<CompilePool::LazyProgram>{} : tuner->speculative_programs());
    speculated_for_ = tuner;
    speculated_searches_ = searches;
}

// Prepares the next problem that the worker has not prepared, in the order in which problems are tuned. With a budget,
// only problems whose search has begun are prepared, because the run may never reach the other problems. Returns false
// if there is no such problem, or if memory was short when the worker last tried to prepare it.
bool Scheduler::prepare_ahead(WorkerSlot& slot, std::size_t problems, Lock& lock) {
    auto& worker = *slot.worker;
    const bool open_ended = deadline_ == Clock::time_point::max();
    const auto most = open_ended ? problems : std::min(problems, tuners_.size());
    for (std::size_t i = 0; i < most; ++i) {
        const auto& problem = run_.request.problems[i];
        const bool over = i < tuners_.size() && (open_ended ? tuners_[i]->is_done() : !tuners_[i]->is_searching());
        if (over || worker.is_prepared(problem)) continue;
        if (slot.tried_ahead.contains(i)) return false;
        const auto binaries = testbeds_.of(template_of(i), problem);
        bool in_time = true;
        time_preparation(slot, lock, [&] {
            const auto& testbed = binaries.get();
            const ShownPreparation shown(run_.progress);
            in_time = worker.prepare_ahead(problem, template_of(i).files, testbed, run_.resources.interrupted,
                                           budget_limit(deadline_));
        });
        if (!in_time) count_unprepared(i);
        slot.tried_ahead.insert(i);
        return true;
    }
    return false;
}

void Scheduler::wait(WorkerSlot& slot, std::uint32_t seen, Lock& lock) {
    const auto compiling = std::ranges::find_if(tuners_, [](const auto& tuner) { return tuner->is_compiling(); });
    auto* const tuner = compiling == tuners_.end() ? nullptr : compiling->get();
    const auto begin = Clock::now();
    lock.unlock();
    events_.wait(seen);
    lock.lock();
    const auto waited = seconds_since(begin);
    (tuner == nullptr ? slot.time.idle : slot.time.compiler) += waited;
    if (tuner != nullptr) tuner->add_wait(waited);
}

// Returns the tuner of a problem, and creates it if the problem has not begun. Problems begin in the order of the
// request.
ProblemTuner& Scheduler::tuner_of(std::size_t problem) {
    if (problem == tuners_.size()) {
        const auto& begun = run_.request.problems[problem];
        const auto share = next_share(run_.request.problems.size() - problem);
        tuners_.push_back(std::make_unique<ProblemTuner>(run_, begun, spaces_[problem]));
        shares_.push_back(share);
        // The testbed is compiled first, because no candidate can be tried without it.
        if (tuners_.back()->open_searches() > 0) (void)testbeds_.of(template_of(problem), begun);
    }
    return *tuners_[problem];
}

const KernelTemplate& Scheduler::template_of(std::size_t problem) const {
    return *spaces_[problem].front().kernel_template;
}

bool Scheduler::interrupted() {
    if (!run_.resources.interrupted) return false;
    run_.report.ended = "interrupted";
    for (const auto& tuner : tuners_) tuner->stop("interrupted");
    return true;
}

// Whether the budget is spent. If it is, ends all searches. Problems that have begun still get a winner.
bool Scheduler::budget_is_spent() {
    if (Clock::now() < deadline_) return false;
    const bool through = tuners_.size() == run_.request.problems.size() &&
                         std::ranges::none_of(tuners_, [](const auto& tuner) { return tuner->is_searching(); });
    if (!through) run_.report.ended = "budget";
    for (const auto& tuner : tuners_) tuner->end_search("budget");
    return true;
}

// Returns the share of the budget of the next problem. `left` is the number of problems that have not begun, including
// this one. All of them have equal shares of the time that is left. So the time that one problem does not need goes to
// later problems. If there are several workers, a problem may begin before the share of the previous problem ends. Its
// own share then begins at that end.
Scheduler::Share Scheduler::next_share(std::size_t left) const {
    auto begin = Clock::now();
    if (deadline_ == Clock::time_point::max() || !run_.request.shares_budget) return {begin, deadline_};
    if (!shares_.empty() && tuners_.back()->is_searching()) begin = std::max(begin, shares_.back().end);
    return {begin, begin + (deadline_ - begin) / static_cast<std::int64_t>(left)};
}

// Ends the searches that have used their shares of the budget. While no candidate of a problem has passed all checks,
// its search may use twice its share.
void Scheduler::end_spent_shares() {
    if (transfers_) return;
    const auto now = Clock::now();
    bool any = false;
    for (std::size_t i = 0; i < tuners_.size(); ++i) {
        auto& tuner = *tuners_[i];
        const auto& [begin, end] = shares_[i];
        if (now < end || !tuner.is_searching() || tuner.open_searches() == 0) continue;
        if (!tuner.best_us() && now - end < end - begin) continue;
        run_.report.ended = "budget";
        tuner.end_search("budget");
        any = true;
    }
    if (any) events_.notify();
}

void Scheduler::perform(WorkerSlot& slot, Work& work, Lock& lock) {
    if (const auto* trial = std::get_if<TrialTask>(&work.task)) {
        try_candidate(slot, *work.tuner, trial->candidate, lock);
        return;
    }
    const auto& task = std::get<FinalTask>(work.task);
    if (task.purpose == FinalTask::Purpose::verify) {
        verify_finalist(slot, *work.tuner, task, lock);
    } else {
        measure_finalists(slot, *work.tuner, task, lock);
    }
}

void Scheduler::try_candidate(WorkerSlot& slot, ProblemTuner& tuner, const Proposal& candidate, Lock& lock) {
    lock.unlock();
    auto begin = Clock::now();
    candidate.compiled.wait();
    const auto waited = seconds_since(begin);
    lock.lock();
    tuner.add_wait(waited);
    slot.time.compiler += waited;
    if (tuner.settle_without_trial(candidate)) return;
    const bool only_verify = tuner.needs_only_verification(candidate);
    const auto input = candidate.input(tuner.problem(), run_.resources.device);
    if (!prepare(slot, tuner, lock, deadline_)) return tuner.abandon();
    const auto best_us = tuner.best_us();
    const auto verified_best_us = tuner.verified_best_us(*candidate.search);
    lock.unlock();
    begin = Clock::now();
    const auto limit = budget_limit(deadline_);
    const auto report = only_verify ? slot.worker->verify(input, limit)
                                    : slot.worker->trial(input, best_us, verified_best_us, std::nullopt, limit);
    lock.lock();
    slot.time.trials += seconds_since(begin);
    if (report.unfinished) {
        ++run_.report.unfinished;
        return tuner.abandon();
    }
    // The signal that interrupts this program may have ended the worker. The crash is then not the candidate's fault.
    const auto* lost = std::get_if<Rejection>(&report.outcome);
    if (run_.resources.interrupted && lost != nullptr && lost->stage == Stage::crash) return;
    tuner.finish(candidate, report);
}

void Scheduler::measure_finalists(WorkerSlot& slot, ProblemTuner& tuner, const FinalTask& task, Lock& lock) {
    (void)prepare(slot, tuner, lock);
    std::vector<TrialInput> inputs;
    std::vector<Outcome> outcomes(task.candidates.size());
    for (std::size_t i = 0; i < task.candidates.size(); ++i) {
        const auto& compiled = task.candidates[i].compiled.get();
        if (const auto* rejection = std::get_if<Rejection>(&compiled)) {
            outcomes[i] = *rejection;
        } else {
            inputs.push_back(task.candidates[i].input(tuner.problem(), run_.resources.device));
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

// Verifies the task's only candidate. If the candidate does not compile, the compiler's rejection is the outcome.
void Scheduler::verify_finalist(WorkerSlot& slot, ProblemTuner& tuner, const FinalTask& task, Lock& lock) {
    const auto& candidate = task.candidates.front();
    if (candidate.binary() == nullptr) {
        return tuner.finish(task, std::vector<Outcome>{std::get<Rejection>(candidate.compiled.get())}, 0);
    }
    (void)prepare(slot, tuner, lock);
    const auto input = candidate.input(tuner.problem(), run_.resources.device);
    lock.unlock();
    const auto begin = Clock::now();
    const auto report = slot.worker->verify(input);
    lock.lock();
    const auto seconds = seconds_since(begin);
    slot.time.finals += seconds;
    const auto* lost = std::get_if<Rejection>(&report.outcome);
    // The signal that interrupts this program may have ended the worker. The crash is then not the candidate's fault.
    const bool ended_by_us = run_.resources.interrupted && lost != nullptr && lost->stage == Stage::crash;
    tuner.finish(task, ended_by_us ? std::nullopt : std::optional(std::vector{report.outcome}), seconds);
}

// Prepares a problem on the worker. This takes no time if the problem is still prepared. Returns false if the
// preparation was stopped because the budget ends at `end`.
bool Scheduler::prepare(WorkerSlot& slot, const ProblemTuner& tuner, Lock& lock, Clock::time_point end) {
    if (slot.prepared == &tuner) return true;
    auto& worker = *slot.worker;
    const auto own = std::ranges::find(tuners_, &tuner, [](const auto& each) { return each.get(); });
    const auto problem = static_cast<std::size_t>(own - tuners_.begin());
    const auto binaries = testbeds_.of(template_of(problem), run_.request.problems[problem]);
    for (const auto& each : tuners_) {
        if (each->is_done() && worker.is_prepared(each->problem())) {
            worker.allow_eviction(each->problem());
        }
    }
    bool in_time = true;
    slot.prepared = nullptr;
    time_preparation(slot, lock, [&] {
        worker.select(tuner.problem(), template_of(problem).files, binaries.get());
        const ShownPreparation shown(run_.progress);
        in_time = worker.prepare(run_.resources.interrupted, budget_limit(end));
    });
    if (in_time) {
        slot.prepared = &tuner;
    } else {
        count_unprepared(problem);
    }
    return in_time;
}

// Counts each problem once, although its preparation may be stopped on several workers.
void Scheduler::count_unprepared(std::size_t problem) {
    unprepared_.insert(problem);
    run_.report.unprepared = unprepared_.size();
}

// Runs `work` without the lock, and measures its time. `work` first waits for compiles. The worker process is started
// before `work`, so that it starts while these compiles run.
void Scheduler::time_preparation(WorkerSlot& slot, Lock& lock, const std::function<void()>& work) {
    const auto started = slot.worker->starting();
    lock.unlock();
    const auto begin = Clock::now();
    slot.worker->ensure_started();
    work();
    lock.lock();
    const auto start = (slot.worker->starting() - started).count();
    slot.time.start += start;
    slot.time.prepare += seconds_since(begin) - start;
}

}  // namespace smemtune
