#include "tuner/problem/trial_ledger.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "db/store.h"
#include "tuner/report/text.h"
#include "tuner/trial/pruning_policy.h"
#include "util/hash.h"

namespace smemtune {

namespace {

constexpr std::size_t most_verified_again = 8;  // limit for each problem and run: the largest number of finalists
constexpr std::size_t most_retries = 8;         // limit for each problem and run, because each timeout takes long
constexpr std::int64_t most_attempts = 2;       // limit of tries with one toolchain after crashes and timeouts

std::string code_key(const TrialInput& input) {
    const auto& launch = input.launch;
    auto key = std::string(input.binary.code.begin(), input.binary.code.end());
    for (const auto& extents : {launch.grid, launch.block}) {
        for (const auto each : extents) key += ',' + std::to_string(each);
    }
    key += ',' + std::to_string(launch.dynamic_shared_bytes);
    for (const auto argument : launch.runtime_arguments) key += ',' + std::to_string(argument);
    for (const auto& [name, value] : input.parameters.values) key += ',' + std::to_string(value);
    if (launch.workspace) key += ',' + std::to_string(launch.workspace->bytes);
    return content_hash(key);
}

std::string full_reason(const TemplateSearch& search, const Rejection& rejection) {
    return search.kernel_template().name + " " + std::string(to_text(rejection.stage)) + ": " + rejection.reason;
}

}  // namespace

std::string code_hash_of(const Binary& binary) { return sha256(std::as_bytes(std::span(binary.code))); }

Progress::Best TrialLedger::Trial::shown() const {
    const auto& kernel = search->kernel_template();
    const bool is_checked = kernel.operation.reference.kind != OperationReference::Kind::none;
    return {time_text(measurement()->median_us) + (is_checked ? "" : " (NOT CHECKED)"),
            kernel.name + " " + differences_text(record.configuration, default_configuration(kernel))};
}

TrialLedger::TrialLedger(const TuneRun& run, const Problem& problem, std::string identity)
    : run_(run), problem_(problem), identity_(std::move(identity)) {}

void TrialLedger::load(const TemplateSearches& searches) {
    for (const auto& search : searches) {
        for (auto& record : run_.resources.store.trials(search->key())) {
            last_run_ = std::max(last_run_, record.run);
            if (!search->space().find(record.configuration)) continue;
            stored_.push_back({search.get(), std::move(record)});
        }
    }
    sort_stored();
    // Only complete measurements with this run's verification identity give the best time. The best time decides
    // whether trials that were cut short are ruled out.
    for (const auto& [search, record] : stored_) {
        const auto* measured = std::get_if<Measurement>(&record.outcome);
        if (measured == nullptr || !is_current(record)) continue;
        best_us_ = std::min(best_us_.value_or(measured->median_us), measured->median_us);
        const auto cost = cost_of(*measured);
        if (cost) best_stored_cost_ = std::min(best_stored_cost_.value_or(*cost), *cost);
    }
}

// Divides the stored trials into those to try again and those to use as they are.
void TrialLedger::sort_stored() {
    std::vector<Stored> others;
    for (auto& stored : stored_) {
        const auto* measured = std::get_if<Measurement>(&stored.record.outcome);
        if (measured != nullptr) {
            const bool foreign = !measured->cut_short && !is_current(stored.record);
            foreign_ = foreign_ || (foreign && stored.record.is_verified());
            if (foreign) {
                unverified_.push_back(std::move(stored));
            } else {
                others.push_back(std::move(stored));
            }
            continue;
        }
        if (still_counts(stored.record)) {
            others.push_back(std::move(stored));
        } else if (is_due_for_retry(stored.record)) {
            if (retries_.size() < most_retries) retries_.push_back({stored.search, stored.record.configuration});
        } else {
            foreign_ = true;  // the search may propose this configuration like an untried one
        }
    }
    stored_ = std::move(others);
    const auto cost = [this](const Stored& stored) {
        return cost_of(std::get<Measurement>(stored.record.outcome)).value_or(HUGE_VAL);
    };
    std::ranges::stable_sort(unverified_, {}, cost);
}

std::optional<TemplateConfiguration> TrialLedger::next_unverified() {
    while (!unverified_.empty() && unverified_.front().record.verified_by.empty() &&
           !may_be_among_the_fastest(unverified_.front().record)) {
        stored_.push_back(std::move(unverified_.front()));
        unverified_.pop_front();
    }
    if (!unverified_.empty() && verified_again_ + awaited_.size() < most_verified_again &&
        may_be_among_the_fastest(unverified_.front().record)) {
        awaited_.push_back(std::move(unverified_.front()));
        unverified_.pop_front();
        return TemplateConfiguration{awaited_.back().search, awaited_.back().record.configuration};
    }
    if (retries_.empty()) return std::nullopt;
    auto retry = std::move(retries_.front());
    retries_.pop_front();
    ++run_.report.retried;
    return retry;
}

bool TrialLedger::may_be_among_the_fastest(const TrialRecord& record) const {
    const auto cost = cost_of(std::get<Measurement>(record.outcome));
    if (!cost) return false;
    // A run verifies each candidate that is faster than all verified ones. If a stored measurement was never verified,
    // the winner of its run was therefore at least as fast. Such a measurement is tried again only if it is clearly
    // faster than the best trial now.
    const auto margin = record.verified_by.empty() ? -pruning::least_finals_margin : pruning::most_finals_margin;
    const auto is_behind = [&](const std::optional<double>& best) { return best && *cost > (1 + margin) * *best; };
    return !is_behind(best_stored_cost_) && !is_behind(best_cost_) &&
           std::ranges::none_of(awaited_, [&](const Stored& stored) {
               return is_behind(cost_of(std::get<Measurement>(stored.record.outcome)));
           });
}

void TrialLedger::stop_awaiting(const Trial& trial) {
    const auto erased = std::erase_if(awaited_, [&](const Stored& stored) {
        return stored.search == trial.search && stored.record.configuration == trial.record.configuration;
    });
    if (is_verified(trial)) verified_again_ += erased;
}

void TrialLedger::release() {
    if (run_.request.objective == Objective::energy) {
        std::stable_partition(stored_.begin(), stored_.end(), [](const auto& each) {
            const auto* measured = std::get_if<Measurement>(&each.record.outcome);
            return measured != nullptr && measured->energy_uj > 0;
        });
    }
    std::ranges::move(unverified_, std::back_inserter(stored_));
    unverified_.clear();
    for (auto& [search, record] : stored_) {
        if (!answers_request(record)) continue;
        learn(*search, std::move(record), true);
    }
    stored_.clear();
}

// Whether this run can use a stored trial as it is. A trial that was cut short can be used only if it is certainly
// slower than the best, because its time is not exact. If the objective is energy, a complete measurement can be used
// only if its energy is known.
bool TrialLedger::answers_request(const TrialRecord& record) const {
    const auto* measured = std::get_if<Measurement>(&record.outcome);
    if (measured == nullptr) return still_counts(record);
    if (measured->cut_short) {
        return best_us_ && measured->median_us > pruning::slow_stored_candidate * *best_us_;
    }
    return run_.request.objective == Objective::time || measured->energy_uj > 0;
}

bool TrialLedger::is_current(const TrialRecord& record) const {
    return record.is_verified() && record.verified_by == identity_;
}

// Whether a stored rejection is still valid. A rejection for a limit or a refused launch does not depend on
// verification. Any other rejection must have this run's verification identity or none, and must not be due for a
// retry.
bool TrialLedger::still_counts(const TrialRecord& rejected) const {
    const auto stage = std::get<Rejection>(rejected.outcome).stage;
    if (stage == Stage::limits || stage == Stage::launch) return true;
    if (is_due_for_retry(rejected)) return false;
    return rejected.verified_by.empty() || rejected.verified_by == identity_;
}

// Whether a crash or timeout is tried again. Another program, the compiler or the driver may have caused it. So the
// configuration is tried again once in a later run, when the device may be quiet, and again with each new toolchain.
bool TrialLedger::is_due_for_retry(const TrialRecord& rejected) const {
    if (!rejected.may_be_retried() || rejected.run == run_.run_row) return false;
    return rejected.attempts < most_attempts || rejected.toolchain != run_.toolchain;
}

std::optional<TrialRecord> TrialLedger::timed_before(const TemplateSearch& search, const Configuration& configuration,
                                                     const std::string& code_hash) const {
    auto record = run_.resources.store.recall(search.key(), configuration);
    if (!record || !record->is_verified() || is_current(*record)) return std::nullopt;
    if (record->code_hash != code_hash || !answers_request(*record)) return std::nullopt;
    return record;
}

bool TrialLedger::recall(TemplateSearch& search, const Configuration& configuration) {
    auto record = run_.resources.store.recall(search.key(), configuration);
    if (!record || !answers_request(*record)) return false;
    const auto* measured = std::get_if<Measurement>(&record->outcome);
    const bool unverified = measured != nullptr && !measured->cut_short && !is_current(*record);
    const bool is_awaited = std::ranges::any_of(awaited_, [&](const Stored& stored) {
        return stored.search == &search && stored.record.configuration == configuration;
    });
    if (unverified && (is_awaited || record->is_verified() || may_be_among_the_fastest(*record))) return false;
    learn(search, std::move(*record), true);
    return true;
}

const TrialLedger::Trial& TrialLedger::add(TemplateSearch& search, TrialRecord record, bool timed) {
    auto& store = run_.resources.store;
    if (record.may_be_retried()) {
        const auto before = store.recall(record.key, record.configuration);
        const bool again = before && before->may_be_retried() && before->toolchain == record.toolchain;
        record.attempts = again ? before->attempts + 1 : 1;
    }
    store.remember(record);
    auto& report = run_.report;
    if (const auto* rejection = std::get_if<Rejection>(&record.outcome)) {
        ++report.rejected[rejection->stage];
        ++report.reasons[full_reason(search, *rejection)];
    } else {
        ++(timed ? report.measured : report.verified_again);
    }
    ++added_;
    return learn(search, std::move(record), false);
}

std::optional<double> TrialLedger::verified_best_us(const TemplateSearch& search) const {
    std::optional<double> best;
    for (const auto& trial : trials_) {
        if (trial.search != &search || trial.measurement() == nullptr || !is_verified(trial)) continue;
        best = std::min(best.value_or(HUGE_VAL), trial.measurement()->median_us);
    }
    return best;
}

bool TrialLedger::may_stand(const TrialRecord& stored) const {
    return stored.was_verified_as(identity_.substr(0, identity_.find('/')));
}

void TrialLedger::sign(TrialRecord& record, const Binary* binary, bool verified) const {
    record.code_hash = binary == nullptr ? "" : code_hash_of(*binary);
    record.toolchain = run_.toolchain;
    const bool rejected = std::holds_alternative<Rejection>(record.outcome);
    record.verified_by = verified || rejected ? identity_ : "";
}

void TrialLedger::replace(Trial& trial, TrialRecord record) {
    trial.record = std::move(record);
    trial.record.run = run_.run_row;
    run_.resources.store.remember(trial.record);
    if (trial.measurement() != nullptr) return;
    best_us_.reset();
    best_cost_.reset();
    best_shown_ = {};
    for (const auto& each : trials_) compare_with_best(each);
}

void TrialLedger::replace_as_winner(Trial& trial, TrialRecord record, const BinaryRecord& binary) {
    trial.record = std::move(record);
    trial.record.run = run_.run_row;
    run_.resources.store.set_winner(trial.record, binary);
}

const TrialLedger::Trial& TrialLedger::learn(TemplateSearch& search, TrialRecord record, bool recalled) {
    trials_.push_back({&search, std::move(record), transfers_});
    const auto& trial = trials_.back();
    if (recalled) {
        ++run_.report.recalled;
        const auto* rejection = std::get_if<Rejection>(&trial.record.outcome);
        if (rejection != nullptr) ++run_.report.recalled_reasons[full_reason(search, *rejection)];
    }
    stop_awaiting(trial);
    const auto* measured = trial.measurement();
    const auto cost = measured != nullptr ? cost_of(*measured) : std::nullopt;
    search.observe(trial.record.configuration, cost);
    compare_with_best(trial);
    run_.progress.step(size_text(problem_), best_shown_, recalled);
    return trial;
}

// Updates the best time and the best cost. A trial that was not verified in full may be wrong, so it does not count.
void TrialLedger::compare_with_best(const Trial& trial) {
    if (!is_verified(trial)) return;
    const auto us = trial.measurement()->median_us;
    best_us_ = std::min(best_us_.value_or(us), us);
    const auto cost = cost_of(*trial.measurement());
    if (!cost || (best_cost_ && *cost >= *best_cost_)) return;
    best_cost_ = cost;
    best_shown_ = trial.shown();
}

const TrialLedger::Trial* TrialLedger::equal_code(const TrialInput& input) const {
    const auto found = by_code_.find(code_key(input));
    return found == by_code_.end() ? nullptr : found->second;
}

void TrialLedger::index_code(const TrialInput& input, const Trial& trial) { by_code_.emplace(code_key(input), &trial); }

// The energy of a clearly slow candidate is not measured. It is estimated from the best cost, in proportion to the
// candidate's time.
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

std::vector<TrialLedger::Trial*> TrialLedger::measured_by_cost() {
    auto trials = by_cost();
    std::erase_if(trials, [this](const Trial* trial) {
        const bool foreign = !trial->record.verified_by.empty() && !is_verified(*trial);
        return foreign || trial->measurement()->cut_short;
    });
    return trials;
}

std::vector<TrialLedger::Trial*> TrialLedger::verified_by_cost() {
    auto trials = by_cost();
    std::erase_if(trials, [this](const Trial* trial) { return !is_verified(*trial); });
    return trials;
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
