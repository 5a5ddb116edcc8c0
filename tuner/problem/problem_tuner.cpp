#include "tuner/problem/problem_tuner.h"

#include <algorithm>

#include "db/store.h"
#include "templates/launch/limits.h"
#include "tuner/candidates/predicted_starts.h"
#include "tuner/compile/speculation.h"
#include "tuner/problem/runtime_sweep.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

constexpr std::size_t well_known = 32;  // the number of evaluations after which is_well_known() is true

TemplateSearches make_searches(const TuneRun& run, const Problem& problem, const std::vector<PlannedSpace>& spaces) {
    auto& store = run.resources.store;
    const auto problem_row = store.remember(problem);
    const auto predicted = predicted_starts(problem, run.resources.device, spaces);
    TemplateSearches searches;
    for (const auto& planned : spaces) {
        const auto& kernel = *planned.kernel_template;
        const auto row = store.remember(
            TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files, kernel.same_code_as},
            default_configuration(kernel));
        const TrialKey key{run.device_row, row, problem_row};
        store.forget_damaged(key);
        if (run.request.retune) store.forget(key);
        auto elsewhere = warm_start(store, run.device_row, run.resources.device, problem, kernel, row);
        if (const auto found = predicted.find(kernel.name); found != predicted.end()) {
            elsewhere.starts.insert(elsewhere.starts.begin(), found->second.begin(), found->second.end());
        }
        searches.push_back(
            std::make_unique<TemplateSearch>(planned, key, run.request, problem, run.resources.device, elsewhere));
    }
    return searches;
}

}  // namespace

ProblemTuner::ProblemTuner(const TuneRun& run, const Problem& problem, const std::vector<PlannedSpace>& spaces)
    : run_(run),
      problem_(problem),
      searches_(make_searches(run, problem, spaces)),
      ledger_(run, problem, verification_identity(*spaces.front().kernel_template, problem, run.resources.compiler)),
      rotation_(searches_, run.request.evaluations),
      pipeline_(run, problem, ledger_, searches_.front()->kernel_template().operation, effort_),
      finals_(run, problem, searches_, ledger_),
      cross_size_(run, problem, searches_, ledger_) {
    ledger_.load(searches_);
    if (compile_ahead(1) == 0) begin_search();
}

// Goes from the state `unverified` to the state `search`. Called when no stored trial is left to try again, or when the
// search ends early.
void ProblemTuner::begin_search() {
    ledger_.release();
    const bool complete = last_run() > 0 && run_.resources.store.how_ended(last_run()) == "complete";
    for (const auto& search : searches_) search->resume(complete && !ledger_.has_foreign_trials());
    state_ = State::search;
}

bool ProblemTuner::is_searching() const { return !is_in_finals() && !is_done(); }

bool ProblemTuner::is_transferring() const {
    return state_ == State::transfer || state_ == State::transfer_sweep || state_ == State::transfer_finals;
}

std::optional<Task> ProblemTuner::next(std::size_t workers) {
    while (is_searching()) {
        if (!begin_) begin_ = Clock::now();
        compile_ahead(run_.ahead);
        if (auto proposal = pipeline_.take(workers)) return TrialTask{std::move(*proposal)};
        if (pipeline_.taken() > 0) return std::nullopt;  // pending outcomes may make further proposals worthwhile
        advance();
    }
    if (!is_in_finals() || is_compiling()) return std::nullopt;
    auto task = finals_.next(workers);
    if (finals_.is_over()) end();
    if (!task) return std::nullopt;
    return std::move(*task);
}

// Enters the next state. Called when the present state has nothing left to try.
void ProblemTuner::advance() {
    switch (state_) {
        case State::unverified: return begin_search();
        case State::search:
            ended_ = why_no_more();
            state_ = State::sweep;
            return submit_sweep();
        case State::transfer: state_ = State::transfer_sweep; return submit_sweep();
        case State::sweep: state_ = State::finals; return begin_finals(finals_.choose_finalists());
        case State::transfer_sweep:
            state_ = State::transfer_finals;
            return begin_finals(cross_size_.choose_finalists(finals_.winner()));
        case State::finals:
        case State::transfer_finals:
        case State::done: return;
    }
}

void ProblemTuner::submit_sweep() {
    if (!learns(run_.request.search) || pipeline_.is_good_enough()) return;
    for (auto& candidate : sweep_candidates(ledger_, problem_, run_.resources.device, is_transferring())) {
        if (pipeline_.is_full()) return;
        pipeline_.submit(std::move(candidate));
    }
}

void ProblemTuner::begin_finals(FinalsStage::Trials finalists) {
    if (finalists.empty()) return end();
    finals_.start(std::move(finalists));
}

void ProblemTuner::end() {
    state_ = State::done;
    if (begin_) effort_.total += seconds_since(*begin_);
    const auto* best = finals_.winner();
    run_.progress.finish(size_text(problem_), best == nullptr ? Progress::Best{} : best->shown(),
                         ledger_.trials().size(), effort_.total, ended_);
}

bool ProblemTuner::is_ready(std::size_t workers) {
    if (!is_searching()) return true;
    if (!begin_) begin_ = Clock::now();
    compile_ahead(run_.ahead);
    if (pipeline_.empty()) return pipeline_.taken() == 0;  // if no outcome is pending, the next state can begin
    return pipeline_.is_ready(workers);
}

bool ProblemTuner::is_compiling() const {
    if (is_searching()) return !pipeline_.empty();
    return is_in_finals() && finals_.is_compiling();
}

bool ProblemTuner::is_well_known() const {
    const bool is_new = state_ == State::unverified || state_ == State::search || state_ == State::sweep;
    return !is_new || ledger_.trials().size() >= well_known;
}

std::size_t ProblemTuner::compile_ahead(std::size_t most) {
    if (state_ == State::unverified) return pipeline_.fill_with_unverified(most);
    if (state_ == State::search) {
        pipeline_.drop_ended();
        return pipeline_.fill(most, [this] { return rotation_.next(ledger_.best_cost()); });
    }
    if (state_ == State::transfer) return pipeline_.fill(most, [this] { return cross_size_.next(); });
    return pipeline_.fill(most, [] { return std::nullopt; });
}

// Returns nothing if there is a limit of evaluations, because most speculative programs would be wasted. Also returns
// nothing on the host, where compilers would take processor time from the kernels that are measured.
std::vector<CompilePool::LazyProgram> ProblemTuner::speculative_programs() const {
    if (state_ != State::search || run_.request.evaluations || run_.resources.device.is_host()) return {};
    return smemtune::speculative_programs(searches_, ledger_.best_cost(), problem_, run_.resources.device);
}

std::size_t ProblemTuner::open_searches() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(searches_, [this](const auto& search) { return search->is_open(ledger_.best_cost()); }));
}

void ProblemTuner::finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes, double seconds) {
    effort_.finals += seconds;
    if (is_done()) return;
    finals_.finish(task, outcomes);
    if (finals_.is_over()) end();
}

void ProblemTuner::give_back(Task task) {
    if (auto* trial = std::get_if<TrialTask>(&task)) {
        pipeline_.give_back(std::move(trial->candidate));
    } else {
        finals_.give_back(std::move(std::get<FinalTask>(task)));
    }
}

void ProblemTuner::begin_transfer() {
    if (!is_done() || finals_.winner() == nullptr || !pipeline_.wants_more() || !cross_size_.find()) return;
    finals_.keep_winner();
    ledger_.begin_transfer();
    begin_.reset();
    state_ = State::transfer;
}

void ProblemTuner::end_search(const std::string& why) {
    if (!is_searching()) return;
    if (state_ == State::unverified) begin_search();
    if (state_ == State::search) ended_ = why;
    state_ = is_transferring() ? State::transfer_sweep : State::sweep;
    cross_size_.clear();
    pipeline_.clear();
}

void ProblemTuner::stop(const std::string& why) {
    if (is_done()) return;
    if (state_ == State::unverified) begin_search();
    if (!is_transferring()) ended_ = why;
    cross_size_.clear();
    pipeline_.clear();
    end();
}

std::string ProblemTuner::why_no_more() const {
    if (pipeline_.is_good_enough()) return "roofline";
    if (ledger_.trials().size() >= run_.request.evaluations.value_or(SIZE_MAX)) return "evaluations";
    if (std::ranges::all_of(searches_, [](const auto& search) { return search->space().size() == 0; })) {
        return "nothing is valid";
    }
    if (!ledger_.best_cost()) return "nothing was right";
    const bool used_up = std::ranges::all_of(searches_, [](const auto& search) { return search->is_used_up(); });
    return used_up ? "all tried" : "gain unlikely";
}

ProblemResult ProblemTuner::result() const {
    ProblemResult result{.problem = problem_, .ended = ended_, .effort = effort_};
    for (const auto& search : searches_) result.valid += search->space().size();
    if (result.valid == 0) {
        for (const auto& search : searches_) {
            const auto& kernel = search->kernel_template();
            const auto why = infeasibility(kernel, default_configuration(kernel), problem_, run_.resources.device);
            result.invalid[kernel.name] = why.value_or("");
        }
    }
    result.evaluations = ledger_.trials().size();
    const auto& operation = searches_.front()->kernel_template().operation;
    result.unchecked = operation.reference.kind == OperationReference::Kind::none;
    result.operations =
        static_cast<double>(operation.operations.evaluate(environment_of(operation, problem_, run_.resources.device)));
    for (const auto* trial : ledger_.by_time()) {
        const auto us = trial->measurement()->median_us;
        result.best_us.try_emplace(trial->search->kernel_template().name, us);
        if (trial->is_baseline() && !result.baseline_us) result.baseline_us = us;
    }
    if (const auto* best = finals_.winner()) {
        const auto& kernel = best->search->kernel_template();
        result.best = {kernel.name, best->record.configuration, default_configuration(kernel), *best->measurement(),
                       best->record.resources};
    }
    return result;
}

}  // namespace smemtune
