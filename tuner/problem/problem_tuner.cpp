#include "tuner/problem/problem_tuner.h"

#include <algorithm>

#include "runtime/selection.h"
#include "templates/launch/limits.h"
#include "tuner/compile/speculation.h"
#include "tuner/report/text.h"
#include "util/hash.h"

namespace smemtune {

namespace {

constexpr double still_behind = 1.2;  // what was cut short is no candidate while it is this many times the best

// Equal machine code launched alike takes equally long.
std::string code_key(const TrialInput& input) {
    const auto& launch = input.launch;
    auto key = std::string(input.binary.code.begin(), input.binary.code.end());
    for (const auto& extents : {launch.grid, launch.block}) {
        for (const auto each : extents) key += ',' + std::to_string(each);
    }
    key += ',' + std::to_string(launch.dynamic_shared_bytes);
    for (const auto argument : launch.runtime_arguments) key += ',' + std::to_string(argument);
    if (launch.workspace) key += ',' + std::to_string(launch.workspace->bytes);
    return content_hash(key);
}

}  // namespace

ProblemTuner::ProblemTuner(const TuningContext& context, const Problem& problem,
                           const std::vector<PlannedSpace>& spaces)
    : context_(context), problem_(problem) {
    const auto problem_row = context.store.remember(problem);
    for (const auto& planned : spaces) {
        const auto& kernel = *planned.kernel_template;
        const auto row = context.store.remember(
            TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files, kernel.same_code_as},
            default_configuration(kernel));
        const TrialKey key{context.device_row, row, problem_row};
        if (context.request.retune) context.store.forget(key);
        const auto elsewhere = transfer(context.store, context.device_row, context.device, problem, kernel);
        lanes_.push_back(
            std::make_unique<TemplateSearch>(planned, key, context.request, problem, context.device, elsewhere));
    }
    learn_what_is_stored();
}

void ProblemTuner::learn_what_is_stored() {
    std::vector<std::pair<TemplateSearch*, TrialRecord>> stored;
    for (const auto& lane : lanes_) {
        for (auto& record : context_.store.trials(lane->key())) {
            last_run_ = std::max(last_run_, record.run);
            if (!lane->space().find(record.configuration)) continue;
            // What was measured in full tells what the others are worth.
            const auto* measured = std::get_if<Measurement>(&record.outcome);
            if (measured != nullptr && !measured->cut_short && (best_us_ == 0 || measured->median_us < best_us_)) {
                best_us_ = measured->median_us;
            }
            stored.emplace_back(lane.get(), std::move(record));
        }
    }
    if (context_.request.objective == Objective::energy) {
        std::stable_partition(stored.begin(), stored.end(), [](const auto& each) {
            const auto* measured = std::get_if<Measurement>(&each.second.outcome);
            return measured != nullptr && measured->energy_uj > 0;
        });
    }
    for (auto& [lane, record] : stored) {
        if (!says_enough(record)) continue;
        ++context_.report.recalled;
        learn(*lane, std::move(record), true);
    }
    const bool complete = last_run_ > 0 && context_.store.how_ended(last_run_) == "complete";
    for (const auto& lane : lanes_) lane->resume(complete);
}

// Not every stored trial answers what is asked now: its energy may not have been measured, and one that was cut short
// beside a faster candidate, on its first check alone, may be the best of those that are left.
bool ProblemTuner::says_enough(const TrialRecord& record) const {
    const auto* measured = std::get_if<Measurement>(&record.outcome);
    if (measured == nullptr) return true;
    if (measured->cut_short) return best_us_ > 0 && measured->median_us > still_behind * best_us_;
    return context_.request.objective == Objective::time || measured->energy_uj > 0;
}

std::optional<TrialRecord> ProblemTuner::recall(const TemplateSearch& lane, const Configuration& configuration) const {
    auto record = context_.store.recall(lane.key(), configuration);
    return record && says_enough(*record) ? std::move(record) : std::nullopt;
}

std::optional<Task> ProblemTuner::next(std::size_t workers) {
    if (is_searching()) {
        fill_pipeline();
        if (!pipeline_.empty()) {
            const auto first = first_in_turn(workers);
            TrialTask task{std::move(*first)};
            pipeline_.erase(first);
            ++in_hand_;
            return task;
        }
        if (in_hand_ > 0) return std::nullopt;  // their outcomes may open a lane again
        if (phase_ != Phase::sweep) {
            if (phase_ == Phase::search) ended_ = why_no_more();
            start_sweep();
            return next(workers);
        }
        looks_again_ ? choose_challengers() : choose_finalists();
    }
    if (phase_ != Phase::finals || is_compiling()) return std::nullopt;
    if (!playoff_) start_playoff(workers);
    auto final = playoff_->next();
    if (!final) return std::nullopt;
    ++in_hand_;
    return std::move(*final);
}

bool ProblemTuner::is_ready(std::size_t workers) {
    if (!is_searching()) return true;
    fill_pipeline();
    if (pipeline_.empty()) return in_hand_ == 0;  // then its finals begin
    return first_in_turn(workers)->is_compiled();
}

// A program may take ten times as long to compile as those proposed after it: several workers, whose outcomes arrive in
// no order anyway, do not wait for it.
std::deque<Proposal>::iterator ProblemTuner::first_in_turn(std::size_t workers) {
    const auto compiled = workers > 1 ? std::ranges::find_if(pipeline_, &Proposal::is_compiled) : pipeline_.begin();
    return compiled == pipeline_.end() ? pipeline_.begin() : compiled;
}

bool ProblemTuner::is_compiling() const {
    if (is_searching()) return !pipeline_.empty();
    return phase_ == Phase::finals && !playoff_ && !std::ranges::all_of(lineup_.players, &Proposal::is_compiled);
}

// Keeps enough compiles in flight that the device does not wait for them.
void ProblemTuner::fill_pipeline() {
    if (!begin_) begin_ = Clock::now();
    compile_ahead(context_.ahead);
}

std::size_t ProblemTuner::compile_ahead(std::size_t most) {
    while (pipeline_.size() < most && !is_good_enough() && !is_full()) {
        if (phase_ == Phase::search) {
            auto* lane = lane_in_turn();
            if (lane == nullptr) break;
            if (auto configuration = lane->next()) submit(*lane, std::move(*configuration));
        } else if (phase_ == Phase::exchange && !newcomers_.empty()) {
            auto [lane, configuration] = std::move(newcomers_.front());
            newcomers_.pop_front();
            submit(*lane, std::move(configuration));
        } else {
            break;
        }
    }
    return pipeline_.size();
}

// With a limit to what is tried, most would be in vain; on the host, they would take their time from what is measured.
std::vector<CompilePool::Guess> ProblemTuner::guesses() const {
    if (phase_ != Phase::search || context_.request.evaluations || context_.device.is_host()) return {};
    return guesses_of(lanes_, best_cost_, problem_, context_.device);
}

std::size_t ProblemTuner::open_lanes() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(lanes_, [this](const auto& lane) { return lane->is_open(best_cost_); }));
}

// In turns, so that a template that is far behind costs little, and one that is ahead does not starve the others.
TemplateSearch* ProblemTuner::lane_in_turn() {
    const auto share = std::max<std::size_t>(1, context_.request.evaluations.value_or(SIZE_MAX) / lanes_.size());
    for (std::size_t passed = 0; passed <= lanes_.size(); ++passed) {
        auto& lane = *lanes_[turn_];
        if (lane.is_open(best_cost_) && proposed_ < std::min(share, lane.turn())) {
            ++proposed_;
            return &lane;
        }
        turn_ = (turn_ + 1) % lanes_.size();
        proposed_ = 0;
    }
    return nullptr;
}

void ProblemTuner::submit(TemplateSearch& lane, Configuration configuration) {
    if (auto known = recall(lane, configuration)) {  // swept before, or by another process
        ++context_.report.recalled;
        learn(lane, std::move(*known), true);
        return;
    }
    Proposal candidate{&lane, std::move(configuration)};
    const auto& kernel = lane.kernel_template();
    auto record = record_of(candidate);
    // By the manifest, before anything is compiled.
    try {
        const auto launch = launch_of(kernel, candidate.configuration, problem_, context_.device);
        if (auto broken = broken_limit(launch, context_.device)) record.outcome = Rejection{Stage::limits, *broken};
    } catch (const ExpressionError& error) {  // so far out that its launch does not fit 64 bits
        record.outcome = Rejection{Stage::limits, error.what()};
    }
    if (std::holds_alternative<Rejection>(record.outcome)) return remember(lane, std::move(record));
    const auto program = program_of(kernel, candidate.configuration, problem_);
    candidate.compiled_before = context_.pool.was_asked_for(program);
    candidate.compiled = context_.pool.submit(program);
    pipeline_.push_back(std::move(candidate));
}

TrialInput ProblemTuner::input_of(const Proposal& candidate, const Binary& binary) const {
    return trial_input(candidate.lane->kernel_template(), candidate.configuration, problem_, context_.device, binary);
}

TrialRecord ProblemTuner::record_of(const Proposal& candidate) const {
    return {.key = candidate.lane->key(), .configuration = candidate.configuration, .run = context_.run};
}

// With what the compiler told.
TrialRecord ProblemTuner::record_of(const Proposal& candidate, const Binary& binary, const Launch& launch) const {
    auto record = record_of(candidate);
    record.resources = binary.resources;
    record.resources.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    record.compile_ms = binary.compile_ms;
    return record;
}

bool ProblemTuner::settle_without_trial(const Proposal& candidate) {
    const auto* compiled = std::get_if<Binary>(&candidate.compiled.get());
    if (compiled != nullptr && !candidate.compiled_before) effort_.compile += compiled->compile_ms * 1e-3;
    const auto& lane = *candidate.lane;
    // Another process that tunes into the same database may have been faster.
    if (auto known = recall(lane, candidate.configuration)) {
        --in_hand_;
        ++context_.report.recalled;
        learn(lane, std::move(*known), true);
        return true;
    }
    auto record = record_of(candidate);
    if (compiled == nullptr) {
        record.outcome = std::get<Rejection>(candidate.compiled.get());
    } else {
        const auto input = input_of(candidate, *compiled);
        record = record_of(candidate, *compiled, input.launch);
        const auto twin = by_code_.find(code_key(input));
        if (const auto broken = broken_limit(input.launch, context_.device)) {
            record.outcome = Rejection{Stage::limits, *broken};
        } else if (twin != by_code_.end()) {
            record.outcome = twin->second->record.outcome;
            ++context_.report.same_code;
        } else {
            return false;
        }
    }
    --in_hand_;
    remember(lane, std::move(record));
    return true;
}

void ProblemTuner::finish(const Proposal& candidate, const TrialReport& report) {
    --in_hand_;
    const auto& binary = std::get<Binary>(candidate.compiled.get());
    const auto input = input_of(candidate, binary);
    auto record = record_of(candidate, binary, input.launch);
    record.outcome = report.outcome;
    record.verify_ms = report.verify_ms;
    record.time_ms = report.time_ms;
    remember(*candidate.lane, std::move(record));
    const auto* measured = known_.back().measurement();
    if (measured == nullptr) return;
    by_code_.emplace(code_key(input), &known_.back());
    if (context_.request.objective == Objective::energy && !measured->cut_short && measured->energy_uj <= 0) {
        throw DeviceError(context_.device.name +
                          " does not tell the energy of a launch (NVML's counter: compute capability 7.0 and up, the "
                          "whole GPU, launches of less than 3 s); tune for --objective time");
    }
}

void ProblemTuner::give_back(Task task) {
    --in_hand_;
    if (auto* trial = std::get_if<TrialTask>(&task)) {
        pipeline_.push_front(std::move(trial->candidate));
    } else {
        playoff_->give_back(std::move(std::get<FinalTask>(task)));
    }
}

void ProblemTuner::end_search(const std::string& why) {
    if (!is_searching()) return;
    phase_ = Phase::sweep;
    if (!looks_again_) ended_ = why;
    newcomers_.clear();
    pipeline_.clear();
}

void ProblemTuner::stop(const std::string& why) {
    if (is_done()) return;
    if (!looks_again_) ended_ = why;
    newcomers_.clear();
    pipeline_.clear();
    done();
}

void ProblemTuner::remember(const TemplateSearch& lane, TrialRecord record) {
    context_.store.remember(record);
    auto& report = context_.report;
    if (const auto* rejection = std::get_if<Rejection>(&record.outcome)) {
        ++report.rejected[rejection->stage];
        ++report.reasons[lane.kernel_template().name + " " + std::string(to_text(rejection->stage)) + ": " +
                         rejection->reason];
    } else {
        ++report.measured;
    }
    effort_.verify += record.verify_ms * 1e-3;
    effort_.time += record.time_ms * 1e-3;
    ++new_trials_;
    learn(lane, std::move(record), false);
}

void ProblemTuner::learn(const TemplateSearch& lane, TrialRecord record, bool recalled) {
    known_.push_back({&lane, std::move(record), looks_again_});
    const auto& known = known_.back();
    const auto* measured = known.measurement();
    const auto cost = measured != nullptr ? cost_of(*measured) : std::nullopt;
    const auto own = std::ranges::find(lanes_, &lane, [](const auto& each) { return each.get(); });
    (*own)->observe(known.record.configuration, cost);
    if (measured != nullptr && (best_us_ == 0 || measured->median_us < best_us_)) best_us_ = measured->median_us;
    if (cost && (!best_cost_ || *cost < *best_cost_)) {
        best_cost_ = cost;
        best_shown_ = shown(known);
    }
    context_.progress.step(size_text(problem_), best_shown_, recalled);
}

Progress::Best ProblemTuner::shown(const Known& known) {
    const auto& kernel = known.lane->kernel_template();
    return {time_text(known.measurement()->median_us),
            kernel.name + " " + differences_text(known.record.configuration, default_configuration(kernel))};
}

// Energy is not measured of what is clearly slower than the best: then it is taken for proportional to time.
std::optional<double> ProblemTuner::cost_of(const Measurement& measurement) const {
    if (context_.request.objective == Objective::time) return measurement.median_us;
    if (measurement.energy_uj > 0) return measurement.energy_uj;
    if (best_cost_ && best_us_ > 0) return *best_cost_ * std::max(1.0, measurement.median_us / best_us_);
    return std::nullopt;
}

bool ProblemTuner::is_full() const {
    return known_.size() + pipeline_.size() + in_hand_ >= context_.request.evaluations.value_or(SIZE_MAX);
}

bool ProblemTuner::is_good_enough() const {
    const auto peak = peak_fp32_flops(context_.device);
    if (!context_.request.roofline || peak <= 0 || best_us_ <= 0) return false;
    const auto& operation = lanes_.front()->kernel_template().operation;
    const auto operations = operation.operations.evaluate(environment_of(operation, problem_, context_.device));
    return static_cast<double>(operations) / (best_us_ * 1e-6) >= *context_.request.roofline * peak;
}

std::string ProblemTuner::why_no_more() const {
    if (is_good_enough()) return "roofline";
    if (known_.size() >= context_.request.evaluations.value_or(SIZE_MAX)) return "evaluations";
    if (!best_cost_) return "nothing was right";
    const bool used_up = std::ranges::all_of(lanes_, [](const auto& lane) { return lane->is_used_up(); });
    return used_up ? "all tried" : "gain unlikely";
}

std::vector<ProblemTuner::Known*> ProblemTuner::by_cost() {
    std::vector<Known*> measured;
    for (auto& known : known_) {
        if (known.measurement() != nullptr && cost_of(*known.measurement())) measured.push_back(&known);
    }
    std::ranges::stable_sort(measured, {}, [this](const Known* known) { return *cost_of(*known->measurement()); });
    return measured;
}

std::vector<const ProblemTuner::Known*> ProblemTuner::by_time() const {
    std::vector<const Known*> measured;
    for (const auto& known : known_) {
        if (known.measurement() != nullptr) measured.push_back(&known);
    }
    std::ranges::stable_sort(measured, {}, [](const Known* known) { return known->measurement()->median_us; });
    return measured;
}

bool ProblemTuner::is_baseline(const Known* known) { return known->lane->kernel_template().baseline; }

const ProblemTuner::Known* ProblemTuner::fastest_baseline() const {
    const auto measured = by_time();
    const auto found = std::ranges::find_if(measured, &is_baseline);
    return found == measured.end() ? nullptr : *found;
}

}  // namespace smemtune
