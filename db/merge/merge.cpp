#include "db/merge/merge.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "db/merge/merging.h"

namespace smemtune {

namespace {

// Returns the content of a trial as text, without device, template, problem, configuration, run and dates.
std::string text_of_trial(const TrialRecord& trial) {
    nlohmann::json json{trial.resources.registers,
                        trial.resources.spill_bytes,
                        trial.resources.static_shared_bytes,
                        trial.resources.dynamic_shared_bytes,
                        trial.compile_ms,
                        trial.verify_ms,
                        trial.time_ms,
                        trial.verified_by,
                        trial.code_hash,
                        trial.toolchain,
                        trial.attempts};
    if (const auto* measured = std::get_if<Measurement>(&trial.outcome)) {
        json.insert(json.end(), {measured->median_us, measured->spread_us, measured->samples_us, measured->cut_short,
                                 measured->clock_khz, measured->energy_uj});
    } else {
        const auto& rejection = std::get<Rejection>(trial.outcome);
        json.insert(json.end(), {std::string(to_text(rejection.stage)), rejection.reason});
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Rates how well a trial shows whether its configuration gives right results, from 2 (certain) to 0 (not at all).
int certainty(const TrialRecord& trial) {
    if (trial.is_verified()) return trial.verified_by == unrecorded ? 1 : 2;
    return std::holds_alternative<Rejection>(trial.outcome) && !trial.may_be_retried() ? 2 : 0;
}

std::size_t samples_of(const TrialRecord& trial) {
    const auto* measured = std::get_if<Measurement>(&trial.outcome);
    return measured == nullptr ? 0 : measured->samples_us.size();
}

// Whether to keep `a` and drop `b`, if both have the same device, template, problem and configuration.
bool outranks(const DatedTrial& a, const DatedTrial& b) {
    const auto rank = [](const DatedTrial& trial) {
        return std::tuple<int, const std::string&, std::size_t>(certainty(trial.record), trial.finished_at,
                                                                samples_of(trial.record));
    };
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    const auto text = text_of_trial(a.record);
    const auto other = text_of_trial(b.record);
    return text != other ? text > other : a.record.run > b.record.run;
}

// Returns the latest possible date of each trial's first attempt. The database has only the date of a trial's last
// attempt. But `trials` are in the order of their first attempts. Therefore the first attempt of a trial came before
// the dates of all trials that follow it in `trials`.
std::vector<std::string> first_dates(const std::vector<DatedTrial>& trials) {
    std::vector<std::string> dates(trials.size());
    for (std::size_t i = trials.size(); i-- > 0;) {
        const auto& own = trials[i].finished_at;
        dates[i] = i + 1 < trials.size() ? std::min(own, dates[i + 1]) : own;
    }
    return dates;
}

double median_of(const DatedTrial& trial) { return std::get<Measurement>(trial.record.outcome).median_us; }

}  // namespace

Merge::Merge(const std::vector<DatabaseContent>& databases, const DefaultsOf& defaults_of)
    : databases_(databases), defaults_of_(defaults_of), renumbered_(databases.size()) {
    devices();
    problems();
    runs();
    templates();
    trials();
    winners();
    portfolios();
    machine_code();
    sort_trials();
}

Configuration Merge::complete(Number kernel_template, const Configuration& configuration) const {
    const auto defaults = defaults_.find(kernel_template);
    return defaults == defaults_.end() ? configuration : completed(configuration, defaults->second);
}

Merge::TrialPlace Merge::place_of(const TrialRecord& trial) {
    return {trial.key.device, trial.key.kernel_template, trial.key.problem, to_text(trial.configuration)};
}

void Merge::trials() {
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        const auto& rows = renumbered_[i];
        const auto dates = first_dates(databases_[i].trials);
        for (std::size_t t = 0; t < dates.size(); ++t) {
            auto trial = databases_[i].trials[t];
            auto& record = trial.record;
            record.key = {rows.devices.at(record.key.device), rows.templates.at(record.key.kernel_template),
                          rows.problems.at(record.key.problem)};
            record.configuration = complete(record.key.kernel_template, record.configuration);
            if (record.run != 0) record.run = rows.runs.at(record.run);
            add(std::move(trial), i, dates[t]);
        }
    }
    for (const auto& [place, differs] : shared_) {
        ++result.shared_trials;
        result.differing_trials += differs ? 1 : 0;
    }
}

// `trial` already has the row numbers of the merged database. Its first attempt was at `first_at` or earlier.
void Merge::add(DatedTrial trial, std::size_t database, const std::string& first_at) {
    const auto& record = trial.record;
    const auto place = place_of(record);
    if (!trial.decided_at.empty()) {
        auto& declared = declared_[{record.key.device, record.key.problem}];
        auto& decided = declared.by_trial[place];
        decided = std::max(decided, trial.decided_at);
        declared.databases.insert(database);
        trial.decided_at.clear();
    }
    if (!record.code_hash.empty()) {
        auto& newest = measured_at_[{record.key.device, code_of(record)}];
        newest = std::max(newest, trial.finished_at);
    }
    auto& first = first_at_.try_emplace(place, first_at).first->second;
    first = std::min(first, first_at);
    const auto [known, added] = trials_.try_emplace(place, trial);
    if (added) return;
    shared_[place] |= known->second != trial;
    if (outranks(trial, known->second)) known->second = std::move(trial);
}

void Merge::winners() {
    for (const auto& [where, declared] : declared_) {
        result.shared_winners += declared.databases.size() > 1 ? 1 : 0;
        DatedTrial* best = nullptr;
        std::string decided_at;
        for (const auto& [place, date] : declared.by_trial) {
            auto& trial = trials_.at(place);
            if (!trial.record.is_verified()) continue;
            const bool is_better = best == nullptr || median_of(trial) < median_of(*best) ||
                                   (median_of(trial) == median_of(*best) && date > decided_at);
            if (!is_better) continue;
            best = &trial;
            decided_at = date;
        }
        if (best != nullptr) {
            best->decided_at = decided_at;
        } else {
            leave_out("the winner of " + to_text(result.content.problems.at(where.second)),
                      "its trial in the new file is not a verified measurement; tune this problem again");
        }
    }
}

// Sorts the trials by the dates of their first attempts. first_dates() may give a repeated trial the date of a trial
// that follows it. The two dates are then equal, but the repeated trial ended later. Therefore, among trials with equal
// dates, the trial that ended later comes first.
void Merge::sort_trials() {
    std::vector<std::pair<std::string, DatedTrial>> dated;
    for (auto& [place, trial] : trials_) dated.emplace_back(first_at_.at(place), std::move(trial));
    std::ranges::stable_sort(dated, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.finished_at > b.second.finished_at;
    });
    for (auto& [first, trial] : dated) result.content.trials.push_back(std::move(trial));
}

MergedContent merge(const std::vector<DatabaseContent>& databases, const DefaultsOf& defaults_of) {
    return std::move(Merge(databases, defaults_of).result);
}

}  // namespace smemtune
