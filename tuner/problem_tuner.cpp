#include "tuner/problem_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/selection.h"
#include "templates/hash.h"
#include "tuner/progress.h"

namespace smemtune {

namespace {

constexpr std::size_t most_finalists = 8;
// Within this of the best, a candidate is worth measuring again: a multiple of its spread, between bounds.
constexpr double noise_margin = 8;
constexpr double least_margin = 0.02;
constexpr double most_margin = 0.05;
constexpr double still_behind = 1.2;   // what was cut short is no candidate while it is this many times the best
constexpr std::size_t most_swept = 4;  // finalists whose run-time arguments are swept

double seconds_since(ProblemTuner::Clock::time_point begin) {
    return std::chrono::duration<double>(ProblemTuner::Clock::now() - begin).count();
}

// The configuration with every other combination of its run-time parameters' values that is valid.
std::vector<Configuration> runtime_variants(const KernelTemplate& kernel, const Configuration& configuration,
                                            const Problem& problem, const Device& device) {
    std::vector<Configuration> variants{configuration};
    for (const auto& parameter : kernel.parameters) {
        if (!parameter.runtime) continue;
        std::vector<Configuration> more;
        for (const auto& variant : variants) {
            for (const auto value : parameter.values) {
                more.push_back(variant);
                more.back().values[parameter.name] = value;
            }
        }
        variants = std::move(more);
    }
    std::erase_if(variants, [&](const Configuration& variant) {
        return variant == configuration || objection(kernel, variant, problem, device);
    });
    return variants;
}

// Equal machine code launched alike takes equally long.
std::string code_key(const TrialInput& input) {
    const auto& launch = input.launch;
    auto key = std::string(input.binary.code.begin(), input.binary.code.end());
    for (const auto& extents : {launch.grid, launch.block}) {
        for (const auto each : extents) key += ',' + std::to_string(each);
    }
    key += ',' + std::to_string(launch.dynamic_shared_bytes);
    for (const auto argument : launch.runtime_arguments) key += ',' + std::to_string(argument);
    return content_hash(key);
}

}  // namespace

ProblemTuner::ProblemTuner(const TuningContext& context, const Problem& problem,
                           const std::vector<PlannedSpace>& spaces)
    : context_(context), problem_(problem) {
    const auto problem_row = context.store.remember(problem);
    for (const auto& planned : spaces) {
        const auto& kernel = *planned.kernel_template;
        const auto row =
            context.store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files},
                                   default_configuration(kernel));
        const TrialKey key{context.device_row, row, problem_row};
        if (context.request.retune) context.store.forget(key);
        const auto elsewhere = transfer(context.store, context.device_row, context.device, problem, kernel);
        lanes_.push_back(std::make_unique<Lane>(planned, key, context.request, problem, context.device, elsewhere));
    }
    learn_what_is_stored();
}

void ProblemTuner::learn_what_is_stored() {
    std::vector<std::pair<Lane*, TrialRecord>> stored;
    for (const auto& lane : lanes_) {
        for (auto& record : context_.store.trials(lane->key())) {
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
    for (const auto& lane : lanes_) lane->resume();
}

// Not every stored trial answers what is asked now: its energy may not have been measured, and one that was cut short
// beside a faster candidate, on its first check alone, may be the best of those that are left.
bool ProblemTuner::says_enough(const TrialRecord& record) const {
    const auto* measured = std::get_if<Measurement>(&record.outcome);
    if (measured == nullptr) return true;
    if (measured->cut_short) return best_us_ > 0 && measured->median_us > still_behind * best_us_;
    return context_.request.objective == Objective::time || measured->energy_uj > 0;
}

std::optional<TrialRecord> ProblemTuner::recall(const Lane& lane, const Configuration& configuration) const {
    auto record = context_.store.recall(lane.key(), configuration);
    return record && says_enough(*record) ? std::move(record) : std::nullopt;
}

std::optional<Task> ProblemTuner::next(std::size_t workers) {
    if (is_searching()) {
        fill_pipeline();
        if (!pipeline_.empty()) {
            TrialTask task{std::move(pipeline_.front())};
            pipeline_.pop_front();
            ++in_hand_;
            return task;
        }
        if (in_hand_ > 0) return std::nullopt;  // their outcomes may open a lane again
        if (phase_ == Phase::search) {
            ended_ = why_no_more();
            start_sweep();
            return next(workers);
        }
        start_finals(workers);
    }
    if (phase_ != Phase::finals) return std::nullopt;
    auto final = playoff_->next();
    if (!final) return std::nullopt;
    ++in_hand_;
    return std::move(*final);
}

bool ProblemTuner::is_ready() {
    if (!is_searching()) return true;
    fill_pipeline();
    if (pipeline_.empty()) return in_hand_ == 0;  // then its finals begin
    return pipeline_.front().compiled.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Keeps enough compiles in flight that the device does not wait for them.
void ProblemTuner::fill_pipeline() {
    while (phase_ == Phase::search && pipeline_.size() < context_.ahead) {
        if (is_good_enough()) return;
        if (known_.size() + pipeline_.size() + in_hand_ >= context_.request.evaluations.value_or(SIZE_MAX)) return;
        auto* lane = lane_in_turn();
        if (lane == nullptr) return;
        if (auto configuration = lane->next()) submit(*lane, std::move(*configuration));
    }
}

// In turns, so that a template that is far behind costs little, and one that is ahead does not starve the others.
Lane* ProblemTuner::lane_in_turn() {
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

void ProblemTuner::submit(Lane& lane, Configuration configuration) {
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
    candidate.compiled = context_.pool.submit(program_of(kernel, candidate.configuration, problem_));
    candidate.compiled_before = candidate.compiled.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    pipeline_.push_back(std::move(candidate));
}

TrialInput ProblemTuner::input_of(const Proposal& candidate, const Binary& binary) const {
    return trial_input(candidate.lane->kernel_template(), candidate.configuration, problem_, context_.device, binary);
}

TrialRecord ProblemTuner::record_of(const Proposal& candidate) const {
    return {.key = candidate.lane->key(), .configuration = candidate.configuration, .run = context_.run};
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
        record.resources = compiled->resources;
        record.resources.dynamic_shared_bytes = input.launch.dynamic_shared_bytes;
        record.compile_ms = compiled->compile_ms;
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
    auto record = record_of(candidate);
    record.outcome = report.outcome;
    record.resources = binary.resources;
    record.resources.dynamic_shared_bytes = input.launch.dynamic_shared_bytes;
    record.compile_ms = binary.compile_ms;
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
    ended_ = why;
    pipeline_.clear();
}

void ProblemTuner::stop(const std::string& why) {
    if (is_done()) return;
    ended_ = why;
    pipeline_.clear();
    done();
}

void ProblemTuner::remember(const Lane& lane, TrialRecord record) {
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

void ProblemTuner::learn(const Lane& lane, TrialRecord record, bool recalled) {
    known_.push_back({&lane, std::move(record)});
    const auto& known = known_.back();
    const auto* measured = known.measurement();
    const auto cost = measured != nullptr ? cost_of(*measured) : std::nullopt;
    const auto own = std::ranges::find(lanes_, &lane, [](const auto& each) { return each.get(); });
    (*own)->observe(known.record.configuration, cost);
    if (measured != nullptr && (best_us_ == 0 || measured->median_us < best_us_)) best_us_ = measured->median_us;
    if (cost && (!best_cost_ || *cost < *best_cost_)) {
        best_cost_ = cost;
        best_text_ = fmt::format("best {} {}, {:.4g} us", lane.kernel_template().name,
                                 to_text(known.record.configuration), measured->median_us);
    }
    context_.progress.step(size_text(problem_), best_text_, recalled);
}

// Energy is not measured of what is clearly slower than the best: then it is taken for proportional to time.
std::optional<double> ProblemTuner::cost_of(const Measurement& measurement) const {
    if (context_.request.objective == Objective::time) return measurement.median_us;
    if (measurement.energy_uj > 0) return measurement.energy_uj;
    if (best_cost_ && best_us_ > 0) return *best_cost_ * std::max(1.0, measurement.median_us / best_us_);
    return std::nullopt;
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

// A run-time argument needs no other machine code, so the search leaves it at its default and the best few are tried
// with every value.
void ProblemTuner::start_sweep() {
    phase_ = Phase::sweep;
    if (!learns(context_.request.search) || is_good_enough()) return;
    std::set<std::pair<const Lane*, std::string>> tried;
    for (const auto& known : known_) tried.emplace(known.lane, to_text(known.record.configuration));
    auto best = by_cost();
    best.resize(std::min(best.size(), most_swept));
    std::vector<std::pair<Lane*, Configuration>> swept;
    for (const auto* known : best) {
        const auto own = std::ranges::find(lanes_, known->lane, [](const auto& each) { return each.get(); });
        for (auto& variant :
             runtime_variants(known->lane->kernel_template(), known->record.configuration, problem_, context_.device)) {
            if (tried.emplace(known->lane, to_text(variant)).second) swept.emplace_back(own->get(), std::move(variant));
        }
    }
    const auto most = context_.request.evaluations.value_or(SIZE_MAX);
    for (auto& [lane, configuration] : swept) {
        if (known_.size() + pipeline_.size() >= most) return;
        submit(*lane, std::move(configuration));
    }
}

// Whether the finals among what is known were played before, for the same objective: their winner is one of the best.
bool ProblemTuner::is_settled() const {
    const auto& key = players_.front()->record.key;
    const auto champion = context_.store.best(key.device, key.problem);
    if (!champion || !champion->winner) return false;
    if (competes(*champion)) return true;  // from elsewhere, and it stood its ground
    const auto cost = cost_of(std::get<Measurement>(champion->record.outcome));
    const auto best = cost_of(*players_.front()->measurement());
    return cost && *cost <= (1 + least_margin) * *best;
}

// Finalists are measured again, in turn with one another; of equals, the one that asks for the least wins.
void ProblemTuner::start_finals(std::size_t workers) {
    phase_ = Phase::finals;
    players_ = by_cost();
    if (players_.empty()) return done();
    if (new_trials_ == 0 && is_settled()) return done();

    const auto& best = *players_.front()->measurement();
    const auto margin = std::clamp(noise_margin * best.spread_us / best.median_us, least_margin, most_margin);
    const auto limit = *cost_of(best) * (1 + margin);
    const auto baseline = std::ranges::find_if(players_, &is_baseline);
    auto* const compared_with = baseline == players_.end() ? nullptr : *baseline;
    std::erase_if(players_, [&](const Known* known) { return *cost_of(*known->measurement()) > limit; });
    players_.resize(std::min(players_.size(), most_finalists));
    const auto finalists = players_.size();
    std::optional<std::size_t> baseline_player;
    if (compared_with != nullptr) {
        baseline_player = static_cast<std::size_t>(std::ranges::find(players_, compared_with) - players_.begin());
        if (*baseline_player == finalists) players_.push_back(compared_with);
    }
    std::vector<Proposal> proposals;
    for (const auto* player : players_) {
        const auto& configuration = player->record.configuration;
        proposals.push_back(
            {player->lane, configuration,
             context_.pool.submit(program_of(player->lane->kernel_template(), configuration, problem_))});
    }
    const bool by_time = context_.request.objective == Objective::time;
    playoff_.emplace(std::move(proposals), finalists, baseline_player,
                     Playoff::Settings{.objective = context_.request.objective,
                                       .workers = std::max<std::size_t>(1, workers),
                                       .launch_us = best.median_us,
                                       .energy = by_time && !context_.device.is_host(),
                                       .launch = [this](const Proposal& candidate) {
                                           return input_of(candidate, *candidate.binary()).launch;
                                       }});
    if (playoff_->is_over()) crown();
}

void ProblemTuner::finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes, double seconds) {
    --in_hand_;
    effort_.finals += seconds;
    if (is_done()) return;
    playoff_->finish(task, outcomes);
    if (playoff_->is_over()) crown();
}

void ProblemTuner::crown() {
    for (const auto& [player, outcome] : playoff_->outcomes()) {
        auto& record = players_[player]->record;
        record.outcome = outcome;
        record.run = context_.run;
        context_.store.remember(record);
    }
    if (!playoff_->winner()) return done();
    const auto* winner = players_[*playoff_->winner()];
    const auto& best = winner->record;
    const auto champion = context_.store.best(best.key.device, best.key.problem);
    // An earlier run may have found better: another template, or a configuration not proposed this time.
    const bool stands = champion && champion->winner && competes(*champion) &&
                        cost_of(std::get<Measurement>(champion->record.outcome)) < cost_of(*winner->measurement());
    if (!stands) {
        const auto compiled =
            context_.pool.submit(program_of(winner->lane->kernel_template(), best.configuration, problem_));
        const auto& binary = std::get<Binary>(compiled.get());
        context_.store.crown(
            best.key, best.configuration,
            BinaryRecord{best.key.kernel_template, best.configuration, binary_key(binary.target, problem_),
                         binary.compiler, binary.code, best.resources});
        winner_ = winner;
    }
    done();
}

// Whether an earlier winner stands against what is known here. Not when it is known here, nor when it is an older
// version of a template that was changed since.
bool ProblemTuner::competes(const TrialRow& champion) const {
    const bool superseded = std::ranges::any_of(lanes_, [&](const auto& lane) {
        return lane->kernel_template().name == champion.kernel_template &&
               lane->kernel_template().hash != champion.template_hash;
    });
    return !superseded && std::ranges::none_of(known_, [&](const Known& known) {
        return known.record.key == champion.record.key && known.record.configuration == champion.record.configuration;
    });
}

void ProblemTuner::done() {
    phase_ = Phase::done;
    effort_.total = seconds_since(begin_);
}

ProblemResult ProblemTuner::result() const {
    ProblemResult result{.problem = problem_, .ended = ended_, .effort = effort_};
    for (const auto& lane : lanes_) result.valid += lane->space().size();
    result.evaluations = known_.size();
    const auto& operation = lanes_.front()->kernel_template().operation;
    result.operations =
        static_cast<double>(operation.operations.evaluate(environment_of(operation, problem_, context_.device)));
    const auto measured = by_time();
    if (measured.empty()) return result;
    for (const auto* known : measured) {
        result.best_us.try_emplace(known->lane->kernel_template().name, known->measurement()->median_us);
    }
    if (const auto* baseline = fastest_baseline()) result.baseline_us = baseline->measurement()->median_us;
    const auto* best = winner_ != nullptr ? winner_ : crowned_earlier(measured);
    result.best = {best->lane->kernel_template().name, best->record.configuration, *best->measurement(),
                   best->record.resources};
    return result;
}

const ProblemTuner::Known* ProblemTuner::crowned_earlier(const std::vector<const Known*>& measured) const {
    const auto& key = measured.front()->record.key;
    const auto champion = context_.store.best(key.device, key.problem);
    for (const auto* known : measured) {
        if (champion && known->record.key == champion->record.key &&
            known->record.configuration == champion->record.configuration) {
            return known;
        }
    }
    return measured.front();
}

}  // namespace smemtune
