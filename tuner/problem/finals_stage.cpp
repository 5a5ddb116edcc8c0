#include "tuner/problem/finals_stage.h"

#include <algorithm>
#include <limits>
#include <span>

#include "db/store.h"
#include "runtime/selection.h"
#include "tuner/trial/pruning_policy.h"
#include "util/hash.h"

namespace smemtune {

namespace {

// Returns the measurement of a winner's row. Every winner was measured.
const Measurement& measurement_in(const TrialRow& row) { return std::get<Measurement>(row.record.outcome); }

}  // namespace

FinalsStage::FinalsStage(const TuneRun& run, const Problem& problem, const TemplateSearches& searches,
                         TrialLedger& ledger)
    : run_(run), problem_(problem), searches_(searches), ledger_(ledger) {}

FinalsStage::Trials FinalsStage::choose_finalists() const {
    const auto verified = ledger_.verified_by_cost();
    if (verified.empty()) return first_by_cost();
    const auto& best = *verified.front();
    if (ledger_.added() == 0 && is_settled(best)) return {};
    auto finalists = ledger_.measured_by_cost();
    const auto limit = *ledger_.cost_of(*best.measurement()) * pruning::finals_limit(*best.measurement());
    std::erase_if(finalists, [&](const auto* trial) { return *ledger_.cost_of(*trial->measurement()) > limit; });
    finalists.resize(std::min(finalists.size(), most_finalists));
    return finalists;
}

// Chooses finalists if no trial is verified. The finals measure and verify them.
FinalsStage::Trials FinalsStage::first_by_cost() const {
    auto finalists = ledger_.by_cost();
    finalists.resize(std::min(finalists.size(), most_finalists));
    return finalists;
}

// Whether an earlier run has decided among the same trials for the same objective. This is the case if the winner's
// machine code is stored and no trial is clearly better than the stored winner.
bool FinalsStage::is_settled(const TrialLedger::Trial& best) const {
    const auto stored = run_.resources.store.best(best.record.key.device, best.record.key.problem);
    if (!stored || !stored->winner || is_superseded(*stored) || !has_its_code(*stored)) return false;
    if (competes(*stored)) return true;  // the stored winner beat this run's trials, and is not one of them
    const auto cost = ledger_.cost_of(measurement_in(*stored));
    const auto best_cost = ledger_.cost_of(*best.measurement());
    return cost && *cost <= (1 + pruning::least_finals_margin) * *best_cost;
}

// Whether the stored machine code of a winner is undamaged and is the code that was verified. Otherwise, new finals
// store the code of their winner.
bool FinalsStage::has_its_code(const TrialRow& stored) const {
    try {
        const auto& record = stored.record;
        const auto key = binary_key(run_.resources.compiler.target(), problem_);
        const auto code = run_.resources.store.recall_binary(record.key.kernel_template, record.configuration, key);
        return code && sha256(std::as_bytes(std::span(code->code))) == record.code_hash;
    } catch (const DamagedRow&) {
        return false;
    }
}

// Whether this run has another version of the template of a stored winner.
bool FinalsStage::is_superseded(const TrialRow& stored) const {
    return std::ranges::any_of(searches_, [&](const auto& search) {
        return search->kernel_template().name == stored.kernel_template &&
               !search->kernel_template().is_same_code(stored.template_hash);
    });
}

// Whether a stored winner competes with this run's trials. It does not compete if it is itself one of these trials, if
// it is superseded, or if it was verified with other checks or another reference.
bool FinalsStage::competes(const TrialRow& stored) const {
    return !is_superseded(stored) && ledger_.may_stand(stored.record) &&
           !ledger_.contains(stored.record.key, stored.record.configuration);
}

void FinalsStage::start(Trials finalists) {
    winner_ = nullptr;
    scheduler_.reset();
    proposals_.clear();
    baseline_.reset();
    entrants_ = std::move(finalists);
    finalists_ = entrants_.size();
    const auto measured = ledger_.by_cost();
    const auto baseline = std::ranges::find_if(measured, &TrialLedger::Trial::is_baseline);
    if (baseline != measured.end()) {
        baseline_ = static_cast<std::size_t>(std::ranges::find(entrants_, *baseline) - entrants_.begin());
        if (*baseline_ == finalists_) entrants_.push_back(*baseline);
    }
    for (const auto* entrant : entrants_) {
        const auto& configuration = entrant->record.configuration;
        proposals_.push_back(
            {entrant->search, configuration,
             run_.pool.submit(program_of(entrant->search->kernel_template(), configuration, problem_))});
    }
}

bool FinalsStage::is_compiling() const {
    return !scheduler_ && !std::ranges::all_of(proposals_, &Proposal::is_compiled);
}

std::optional<FinalTask> FinalsStage::next(std::size_t workers) {
    if (!scheduler_) start_scheduler(workers);
    return scheduler_ ? scheduler_->next() : std::nullopt;
}

void FinalsStage::start_scheduler(std::size_t workers) {
    const bool by_time = run_.request.objective == Objective::time;
    std::vector<Measurement> known;
    for (const auto* entrant : entrants_) known.push_back(*entrant->measurement());
    const auto launch = [this](const Proposal& each) { return each.input(problem_, run_.resources.device).launch; };
    scheduler_.emplace(
        proposals_, finalists_, baseline_,
        FinalsScheduler::Settings{.objective = run_.request.objective,
                                  .workers = std::max<std::size_t>(1, workers),
                                  .launch_us = entrants_.front()->measurement()->median_us,
                                  .energy = by_time && !run_.resources.device.is_host(),
                                  .verify_baseline = baseline_ && !ledger_.is_verified(*entrants_[*baseline_]),
                                  .known = std::move(known),
                                  .launch = launch});
    if (scheduler_->is_over()) set_winner();
}

void FinalsStage::finish(const FinalTask& task, const std::optional<std::vector<Outcome>>& outcomes) {
    scheduler_->finish(task, outcomes);
    if (scheduler_->is_over()) set_winner();
}

void FinalsStage::give_back(FinalTask task) { scheduler_->give_back(std::move(task)); }

void FinalsStage::set_winner() {
    const auto chosen = scheduler_->winner();
    for (const auto& [entrant, outcome] : scheduler_->outcomes()) {
        if (entrant != chosen) ledger_.replace(*entrants_[entrant], renewed(entrant));
    }
    if (!chosen) {
        if (scheduler_->was_interrupted()) return;
        if (auto others = choose_finalists(); !others.empty()) start(std::move(others));
        return;
    }
    auto& winner = *entrants_[*chosen];
    auto record = renewed(*chosen);
    const auto stored = run_.resources.store.best(record.key.device, record.key.problem);
    // An earlier run may have stored a faster winner, because it searched a template or proposed a configuration that
    // this run did not.
    const bool stands =
        stored && stored->winner && competes(*stored) &&
        ledger_.cost_of(measurement_in(*stored)) < ledger_.cost_of(std::get<Measurement>(record.outcome));
    if (stands) return ledger_.replace(winner, std::move(record));
    const auto& binary = *proposals_[*chosen].binary();
    const BinaryRecord code{record.key.kernel_template,
                            record.configuration,
                            binary_key(binary.target, problem_),
                            binary.compiler,
                            binary.code,
                            record.resources};
    ledger_.replace_as_winner(winner, std::move(record), code);
    winner_ = &winner;
}

// Returns the entrant's record after the finals. The outcome must belong to the machine code in the record. A
// measurement of new, unverified machine code therefore does not replace the measurement of verified code.
TrialRecord FinalsStage::renewed(std::size_t entrant) const {
    const auto& trial = *entrants_[entrant];
    auto record = trial.record;
    const auto* binary = proposals_[entrant].binary();
    const bool same_code = binary != nullptr && record.code_hash == code_hash_of(*binary);
    const auto measured = scheduler_->outcomes().find(entrant);
    const auto verified = scheduler_->verified().find(entrant);
    const bool is_verified = verified != scheduler_->verified().end();
    if (measured != scheduler_->outcomes().end()) {
        if (!is_verified && !same_code && std::holds_alternative<Measurement>(measured->second)) return record;
        record.outcome = measured->second;
    } else if (is_verified && (!same_code || trial.measurement()->cut_short)) {
        record.outcome = verified->second;
    }
    ledger_.sign(record, binary, is_verified || ledger_.is_verified(trial));
    return record;
}

const TrialLedger::Trial* FinalsStage::winner() const {
    if (winner_ != nullptr) return winner_;
    auto measured = ledger_.by_time();
    std::erase_if(measured, [this](const auto* trial) { return !ledger_.is_verified(*trial); });
    if (measured.empty()) return nullptr;
    const auto& key = measured.front()->record.key;
    const auto stored = run_.resources.store.best(key.device, key.problem);
    for (const auto* trial : measured) {
        if (stored && stored->winner && trial->record.key == stored->record.key &&
            trial->record.configuration == stored->record.configuration) {
            return trial;
        }
    }
    return *std::ranges::min_element(measured, {}, [this](const auto* trial) {
        return ledger_.cost_of(*trial->measurement()).value_or(std::numeric_limits<double>::infinity());
    });
}

}  // namespace smemtune
