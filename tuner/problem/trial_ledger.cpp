#include "tuner/problem/trial_ledger.h"

#include <algorithm>

#include "db/store.h"
#include "tuner/report/text.h"
#include "tuner/trial/pruning_policy.h"
#include "util/hash.h"

namespace smemtune {

namespace {

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

Progress::Best TrialLedger::Trial::shown() const {
    const auto& kernel = search->kernel_template();
    return {time_text(measurement()->median_us),
            kernel.name + " " + differences_text(record.configuration, default_configuration(kernel))};
}

TrialLedger::TrialLedger(const TuneRun& run, const Problem& problem) : run_(run), problem_(problem) {}

void TrialLedger::load(const TemplateSearches& searches) {
    std::vector<std::pair<TemplateSearch*, TrialRecord>> stored;
    for (const auto& search : searches) {
        for (auto& record : run_.resources.store.trials(search->key())) {
            last_run_ = std::max(last_run_, record.run);
            if (!search->space().find(record.configuration)) continue;
            // Complete measurements give the best time, which decides whether a trial that was cut short is ruled out.
            const auto* measured = std::get_if<Measurement>(&record.outcome);
            if (measured != nullptr && !measured->cut_short) {
                best_us_ = std::min(best_us_.value_or(measured->median_us), measured->median_us);
            }
            stored.emplace_back(search.get(), std::move(record));
        }
    }
    if (run_.request.objective == Objective::energy) {
        std::stable_partition(stored.begin(), stored.end(), [](const auto& each) {
            const auto* measured = std::get_if<Measurement>(&each.second.outcome);
            return measured != nullptr && measured->energy_uj > 0;
        });
    }
    for (auto& [search, record] : stored) {
        if (!answers_request(record)) continue;
        ++run_.report.recalled;
        learn(*search, std::move(record), true);
    }
}

// The energy of a stored trial may be unknown. A trial that was cut short counts only while the best time rules it out:
// otherwise it might be the fastest one, and must be measured completely.
bool TrialLedger::answers_request(const TrialRecord& record) const {
    const auto* measured = std::get_if<Measurement>(&record.outcome);
    if (measured == nullptr) return true;
    if (measured->cut_short) {
        return best_us_ && measured->median_us > pruning::slow_stored_candidate * *best_us_;
    }
    return run_.request.objective == Objective::time || measured->energy_uj > 0;
}

bool TrialLedger::recall(TemplateSearch& search, const Configuration& configuration) {
    auto record = run_.resources.store.recall(search.key(), configuration);
    if (!record || !answers_request(*record)) return false;
    ++run_.report.recalled;
    learn(search, std::move(*record), true);
    return true;
}

const TrialLedger::Trial& TrialLedger::add(TemplateSearch& search, TrialRecord record) {
    run_.resources.store.remember(record);
    auto& report = run_.report;
    if (const auto* rejection = std::get_if<Rejection>(&record.outcome)) {
        ++report.rejected[rejection->stage];
        ++report.reasons[search.kernel_template().name + " " + std::string(to_text(rejection->stage)) + ": " +
                         rejection->reason];
    } else {
        ++report.measured;
    }
    ++added_;
    return learn(search, std::move(record), false);
}

void TrialLedger::replace(Trial& trial, Outcome outcome) {
    trial.record.outcome = std::move(outcome);
    trial.record.run = run_.run_row;
    run_.resources.store.remember(trial.record);
}

const TrialLedger::Trial& TrialLedger::learn(TemplateSearch& search, TrialRecord record, bool recalled) {
    trials_.push_back({&search, std::move(record), transfers_});
    const auto& trial = trials_.back();
    const auto* measured = trial.measurement();
    const auto cost = measured != nullptr ? cost_of(*measured) : std::nullopt;
    search.observe(trial.record.configuration, cost);
    if (measured != nullptr) best_us_ = std::min(best_us_.value_or(measured->median_us), measured->median_us);
    if (cost && (!best_cost_ || *cost < *best_cost_)) {
        best_cost_ = cost;
        best_shown_ = trial.shown();
    }
    run_.progress.step(size_text(problem_), best_shown_, recalled);
    return trial;
}

const TrialLedger::Trial* TrialLedger::equal_code(const TrialInput& input) const {
    const auto found = by_code_.find(code_key(input));
    return found == by_code_.end() ? nullptr : found->second;
}

void TrialLedger::index_code(const TrialInput& input, const Trial& trial) { by_code_.emplace(code_key(input), &trial); }

// The energy of a clearly slow candidate is not measured; it is estimated in proportion to its time.
std::optional<double> TrialLedger::cost_of(const Measurement& measurement) const {
    if (run_.request.objective == Objective::time) return measurement.median_us;
    if (measurement.energy_uj > 0) return measurement.energy_uj;
    if (best_cost_ && best_us_) return *best_cost_ * std::max(1.0, measurement.median_us / *best_us_);
    return std::nullopt;
}

std::vector<TrialLedger::Trial*> TrialLedger::by_cost() {
    std::vector<Trial*> measured;
    for (auto& trial : trials_) {
        if (trial.measurement() != nullptr && cost_of(*trial.measurement())) measured.push_back(&trial);
    }
    std::ranges::stable_sort(measured, {}, [this](const Trial* trial) { return *cost_of(*trial->measurement()); });
    return measured;
}

std::vector<const TrialLedger::Trial*> TrialLedger::by_time() const {
    std::vector<const Trial*> measured;
    for (const auto& trial : trials_) {
        if (trial.measurement() != nullptr) measured.push_back(&trial);
    }
    std::ranges::stable_sort(measured, {}, [](const Trial* trial) { return trial->measurement()->median_us; });
    return measured;
}

bool TrialLedger::contains(const TrialKey& key, const Configuration& configuration) const {
    return std::ranges::any_of(trials_, [&](const Trial& trial) {
        return trial.record.key == key && trial.record.configuration == configuration;
    });
}

}  // namespace smemtune
