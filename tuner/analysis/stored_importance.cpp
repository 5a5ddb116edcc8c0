#include "tuner/analysis/stored_importance.h"

#include <map>
#include <stdexcept>
#include <tuple>

#include "templates/manifest/catalog.h"

namespace smemtune {

namespace {

// Loads the template that database row `row` holds. Returns nothing if the template cannot be loaded.
std::optional<KernelTemplate> readable_template(const Store& store, std::int64_t row) {
    try {
        if (const auto record = store.recall_template(row)) return load_template(record->files);
    } catch (const std::exception&) {  // the template is damaged or was written by a newer smemtune
    }
    return std::nullopt;
}

// The trials of one device, template and problem. `mixed` is true if the trials have different parameters, which can
// happen if an older version of the database schema stored some of them.
struct TrialTable {
    TrialKey key;
    std::string device, kernel_template;
    Problem problem;
    OutcomeTable outcomes;
    bool mixed = false;
};

std::vector<TrialTable> trial_tables(const std::vector<TrialRow>& rows) {
    std::vector<TrialTable> tables;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> places;
    for (const auto& row : rows) {
        const auto& key = row.record.key;
        const auto [place, added] = places.try_emplace({key.device, key.problem, key.kernel_template}, tables.size());
        if (added) tables.push_back({key, row.device, row.kernel_template, row.problem, {}});
        auto& table = tables[place->second];
        try {
            table.outcomes.add(row.record.configuration, row.record.outcome);
        } catch (const std::invalid_argument&) {
            table.mixed = true;
        }
    }
    return tables;
}

}  // namespace

std::optional<ParameterSpace> valid_configurations(const KernelTemplate* kernel, const Problem& problem,
                                                   const Device& device) {
    if (kernel == nullptr) return std::nullopt;
    std::uint64_t raw = 1;
    for (const auto& parameter : kernel->parameters) {
        raw *= parameter.values.size();
        if (raw > most_raw_points) return std::nullopt;
    }
    try {
        return ParameterSpace(kernel->parameters, kernel->constraints,
                              environment_of(kernel->operation, problem, device));
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::vector<StoredImportance> stored_importance(const Store& store, Store::Filter filter) {
    filter.sort = Store::Filter::Sort::id;
    filter.limit = {};
    std::map<std::int64_t, Device> devices;
    for (auto& [row, device] : store.devices()) devices.emplace(row, std::move(device));
    std::vector<StoredImportance> all;
    for (const auto& table : trial_tables(store.rows(filter))) {
        auto& entry = all.emplace_back(StoredImportance{table.device, table.kernel_template, table.problem, {}});
        if (table.mixed) {
            entry.importance.too_little = "its trials have different parameters; tune again with --retune";
            continue;
        }
        const auto kernel = readable_template(store, table.key.kernel_template);
        const auto space =
            valid_configurations(kernel ? &*kernel : nullptr, table.problem, devices.at(table.key.device));
        entry.importance = importance(table.outcomes, space ? &*space : nullptr);
    }
    return all;
}

}  // namespace smemtune
