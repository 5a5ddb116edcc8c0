// The end of a problem's tuning: what is swept, who plays the finals, who is crowned, and what there is to report.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "runtime/selection.h"
#include "templates/launch/limits.h"
#include "tuner/problem/problem_tuner.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

constexpr std::size_t most_swept = 4;  // finalists whose run-time arguments are swept
// Within this of the best, a candidate is worth measuring again: a multiple of its spread, between bounds.
constexpr double noise_margin = 8;
constexpr double least_margin = 0.02;
constexpr double most_margin = 0.05;

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
        return variant == configuration || infeasibility(kernel, variant, problem, device);
    });
    return variants;
}

}  // namespace

// A run-time argument needs no other machine code, so the search leaves it at its default and the best few are tried
// with every value; in a second look the newcomers among them.
void ProblemTuner::start_sweep() {
    phase_ = Phase::sweep;
    if (!learns(context_.request.search) || is_good_enough()) return;
    std::set<std::pair<const TemplateSearch*, std::string>> tried;
    for (const auto& known : known_) tried.emplace(known.lane, to_text(known.record.configuration));
    auto best = by_cost();
    std::erase_if(best, [](const Known* known) { return !known->lane->space().find(known->record.configuration); });
    best.resize(std::min(best.size(), most_swept));
    if (looks_again_) std::erase_if(best, [](const Known* known) { return !known->is_newcomer; });
    std::vector<std::pair<TemplateSearch*, Configuration>> swept;
    for (const auto* known : best) {
        const auto own = std::ranges::find(lanes_, known->lane, [](const auto& each) { return each.get(); });
        for (auto& variant :
             runtime_variants(known->lane->kernel_template(), known->record.configuration, problem_, context_.device)) {
            if (tried.emplace(known->lane, to_text(variant)).second) swept.emplace_back(own->get(), std::move(variant));
        }
    }
    for (auto& [lane, configuration] : swept) {
        if (is_full()) return;
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

// Where nothing new is to be decided, there are none.
void ProblemTuner::choose_finalists() {
    phase_ = Phase::finals;
    players_ = by_cost();
    if (players_.empty()) return done();
    if (new_trials_ == 0 && is_settled()) return done();

    const auto limit = worth_finals(*players_.front());
    std::erase_if(players_, [&](const Known* known) { return *cost_of(*known->measurement()) > limit; });
    players_.resize(std::min(players_.size(), most_finalists));
    line_up();
}

// What costs no more than that may in truth be faster than `best`.
double ProblemTuner::worth_finals(const Known& best) const {
    const auto& measured = *best.measurement();
    const auto margin = std::clamp(noise_margin * measured.spread_us / measured.median_us, least_margin, most_margin);
    return *cost_of(measured) * (1 + margin);
}

// The baseline is measured beside the winner, be it a finalist or not.
void ProblemTuner::line_up() {
    lineup_ = {.finalists = players_.size()};
    const auto measured = by_cost();
    const auto baseline = std::ranges::find_if(measured, &is_baseline);
    if (baseline != measured.end()) {
        lineup_.baseline = static_cast<std::size_t>(std::ranges::find(players_, *baseline) - players_.begin());
        if (*lineup_.baseline == lineup_.finalists) players_.push_back(*baseline);
    }
    for (const auto* player : players_) {
        const auto& configuration = player->record.configuration;
        lineup_.players.push_back(
            {player->lane, configuration,
             context_.pool.submit(program_of(player->lane->kernel_template(), configuration, problem_))});
    }
}

// Finalists are measured again, in turn with one another; of equals, the one that asks for the least wins.
void ProblemTuner::start_playoff(std::size_t workers) {
    const bool by_time = context_.request.objective == Objective::time;
    std::vector<Measurement> known;
    for (const auto* player : players_) known.push_back(*player->measurement());
    playoff_.emplace(lineup_.players, lineup_.finalists, lineup_.baseline,
                     FinalsScheduler::Settings{.objective = context_.request.objective,
                                               .workers = std::max<std::size_t>(1, workers),
                                               .launch_us = players_.front()->measurement()->median_us,
                                               .energy = by_time && !context_.device.is_host(),
                                               .known = std::move(known),
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
        const auto& binary = *lineup_.players[*playoff_->winner()].binary();
        context_.store.set_winner(
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
               !lane->kernel_template().is_same_code(champion.template_hash);
    });
    return !superseded && std::ranges::none_of(known_, [&](const Known& known) {
        return known.record.key == champion.record.key && known.record.configuration == champion.record.configuration;
    });
}

void ProblemTuner::done() {
    phase_ = Phase::done;
    if (begin_) effort_.total += seconds_since(*begin_);
    const auto measured = by_time();
    const auto* best = winner_ != nullptr || measured.empty() ? winner_ : crowned_earlier(measured);
    context_.progress.finish(size_text(problem_), best == nullptr ? Progress::Best{} : shown(*best), known_.size(),
                             effort_.total, ended_);
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
    const auto& kernel = best->lane->kernel_template();
    result.best = {kernel.name, best->record.configuration, default_configuration(kernel), *best->measurement(),
                   best->record.resources};
    return result;
}

// Where none of them was, what costs the least.
const ProblemTuner::Known* ProblemTuner::crowned_earlier(const std::vector<const Known*>& measured) const {
    const auto& key = measured.front()->record.key;
    const auto champion = context_.store.best(key.device, key.problem);
    for (const auto* known : measured) {
        if (champion && champion->winner && known->record.key == champion->record.key &&
            known->record.configuration == champion->record.configuration) {
            return known;
        }
    }
    return *std::ranges::min_element(measured, {}, [this](const Known* known) {
        return cost_of(*known->measurement()).value_or(std::numeric_limits<double>::infinity());
    });
}

}  // namespace smemtune
