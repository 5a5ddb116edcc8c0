// Merges devices, problems, runs and templates: equal rows of several databases become one row.
#include "db/integrity/row_hash.h"
#include "db/merge/merging.h"

namespace smemtune {

namespace {

std::vector<std::int64_t> limits_of(const Device& device) {
    std::vector<std::int64_t> limits;
    for (const auto& field : device_fields()) limits.push_back(device.*field.member);
    return limits;
}

// Returns a row number for each key: 1, 2, 3, ... in the order of the keys.
template <class Key>
std::map<Key, std::int64_t> numbered(const std::set<Key>& keys) {
    std::map<Key, std::int64_t> numbers;
    for (const auto& key : keys) numbers.emplace(key, static_cast<std::int64_t>(numbers.size()) + 1);
    return numbers;
}

// A template with one name and hash, collected from all databases.
struct Version {
    std::string first{}, newest{};  // the dates of the template's first and newest trial
    const TemplateRecord* record = nullptr;
    bool differs = false;

    void add(const TemplateRecord& other, const std::string& first_trial, const std::string& newest_trial) {
        if (first.empty() || (!first_trial.empty() && first_trial < first)) first = first_trial;
        if (record != nullptr && *record != other) differs = true;
        if (record != nullptr && std::pair(newest_trial, row_sha256(other)) <= std::pair(newest, row_sha256(*record))) {
            return;
        }
        record = &other;
        newest = newest_trial;
    }
};

// Returns the dates of each template's first and newest trial.
std::map<std::int64_t, std::pair<std::string, std::string>> dates_of(const DatabaseContent& database) {
    std::map<std::int64_t, std::pair<std::string, std::string>> dates;
    for (const auto& trial : database.trials) {
        auto& [first, newest] = dates[trial.record.key.kernel_template];
        if (first.empty() || trial.finished_at < first) first = trial.finished_at;
        newest = std::max(newest, trial.finished_at);
    }
    return dates;
}

}  // namespace

void Merge::devices() {
    const auto key = [](const Device& device) { return std::pair(device.name, limits_of(device)); };
    std::set<std::pair<std::string, std::vector<Number>>> keys;
    for (const auto& database : databases_) {
        for (const auto& [row, device] : database.devices) keys.insert(key(device));
    }
    const auto numbers = numbered(keys);
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        for (const auto& [row, device] : databases_[i].devices) {
            const auto number = numbers.at(key(device));
            renumbered_[i].devices[row] = number;
            result.content.devices[number] = device;
        }
    }
}

void Merge::problems() {
    std::set<Problem> keys;
    for (const auto& database : databases_) {
        for (const auto& [row, problem] : database.problems) keys.insert(problem);
    }
    const auto numbers = numbered(keys);
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        for (const auto& [row, problem] : databases_[i].problems) {
            const auto number = numbers.at(problem);
            renumbered_[i].problems[row] = number;
            result.content.problems[number] = problem;
        }
    }
}

void Merge::runs() {
    const auto key = [](const RunRow& run) {
        return std::tuple(run.started_at, run.record.request, run.record.policy, run.record.versions);
    };
    std::set<std::tuple<std::string, std::string, std::string, std::string>> keys;
    for (const auto& database : databases_) {
        for (const auto& [row, run] : database.runs) keys.insert(key(run));
    }
    const auto numbers = numbered(keys);
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        for (const auto& [row, run] : databases_[i].runs) {
            const auto number = numbers.at(key(run));
            renumbered_[i].runs[row] = number;
            auto& kept = result.content.runs.try_emplace(number, run).first->second;
            if (std::pair(run.finished_at, run.how) > std::pair(kept.finished_at, kept.how)) kept = run;
        }
    }
}

// Templates get their row numbers in the order of their first trials. Other code assumes that, of two versions of a
// template, the version with the higher row number is newer.
void Merge::templates() {
    using Key = std::pair<std::string, std::string>;  // name and hash of a template
    std::map<Key, Version> versions;
    for (const auto& database : databases_) {
        auto dates = dates_of(database);
        for (const auto& [row, record] : database.templates) {
            versions[Key(record.name, record.hash)].add(record, dates[row].first, dates[row].second);
        }
    }
    std::set<std::tuple<std::string, std::string, std::string>> keys;
    for (const auto& [name, version] : versions) keys.emplace(version.first, name.first, name.second);
    std::map<Key, Number> numbers;
    for (const auto& [place, number] : numbered(keys)) {
        const Key name(std::get<1>(place), std::get<2>(place));
        const auto& version = versions.at(name);
        numbers[name] = number;
        result.content.templates[number] = *version.record;
        if (version.differs) defaults_[number] = defaults_of_(*version.record);
    }
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        for (const auto& [row, record] : databases_[i].templates) {
            renumbered_[i].templates[row] = numbers.at(Key(record.name, record.hash));
        }
    }
}

}  // namespace smemtune
