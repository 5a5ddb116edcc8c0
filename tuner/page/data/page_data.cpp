#include "tuner/page/data/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "templates/manifest/catalog.h"
#include "tuner/analysis/timestamp.h"
#include "tuner/page/data/configuration_dictionary.h"
#include "tuner/page/data/importance_data.h"
#include "tuner/page/data/launch_facts.h"
#include "tuner/page/data/page_comparison.h"
#include "tuner/page/data/trial_columns.h"
#include "tuner/report/json.h"

namespace smemtune {

namespace {

using nlohmann::json;

// How many of the fastest trials of each device and problem get launch facts in the page.
constexpr std::size_t explained_trials = 8;

// Numbers the rows of a database table from 0 on, in the order of their first use.
class Numbering {
public:
    std::size_t operator()(std::int64_t row) {
        const auto [place, added] = numbers_.try_emplace(row, rows_.size());
        if (added) rows_.push_back(row);
        return place->second;
    }
    [[nodiscard]] const std::vector<std::int64_t>& rows() const { return rows_; }

private:
    std::map<std::int64_t, std::size_t> numbers_;
    std::vector<std::int64_t> rows_;
};

// Evaluates an expression of the operation's manifest. Returns 0 if the expression has no value for the problem.
double evaluated(const Expression& expression, const Environment& environment) {
    try {
        return std::max(0.0, static_cast<double>(expression.evaluate(environment)));
    } catch (const std::exception&) {  // the manifest is of another version of smemtune
        return 0;
    }
}

class PageBuilder {
public:
    explicit PageBuilder(const Store& store) : store_(store) {
        for (auto& [row, device] : store.devices()) known_devices_.emplace(row, std::move(device));
    }

    void add(TrialRow row) {
        const auto& key = row.record.key;
        const auto kernel_template = template_(key.kernel_template);
        if (kernel_template == dictionaries_.size()) dictionaries_.emplace_back();
        const TrialPlace place{.device = device_(key.device),
                               .kernel_template = kernel_template,
                               .problem = problem_(key.problem),
                               .configuration = dictionaries_[kernel_template].number_of(row.record.configuration),
                               .run = run_(row.record.run)};
        if (row.winner) winners_.push_back(columns_.size());
        columns_.add(row, place);
        if (place.problem == problems_.size()) problems_.push_back({row.problem, key});
        importance_.add({place.device, place.problem, place.kernel_template}, row.record.configuration,
                        row.record.outcome);
        if (const auto* measured = std::get_if<Measurement>(&row.record.outcome)) {
            const auto time = measured->median_us;
            keep_fastest(place, time, row.winner, {columns_.size() - 1, std::move(row.record)});
        }
    }

    // Returns the data of the page. The trials' columns are JSON text already. They are inserted before the last brace.
    std::string to_json(const PageRequest& request) {
        json page{{"schema", 1},
                  {"database", store_.summary().path.filename().string()},
                  {"unfinished", request.unfinished},
                  {"devices", devices()},
                  {"problems", problems()},
                  {"templates", templates()},
                  {"runs", runs()},
                  {"winners", winners_},
                  {"launches", launches()},
                  {"importance", importance_.to_json([this](const auto& group) { return origin_of(group); })}};
        if (request.against) page["against"] = compared_winners(store_, *request.against, request.filter);
        if (!request.bench.empty()) page["bench"] = vendor_times(request.bench);
        auto text = page.dump(-1, ' ', true, json::error_handler_t::replace);
        text.pop_back();
        return text + ",\"trials\":" + columns_.to_json() + "}";
    }

private:
    struct StoredProblem {
        Problem problem;
        TrialKey key;  // the key of one trial of the problem; the trial's template has the operation
    };
    struct Fast {
        double time;
        bool winner;
        std::size_t trial;
        TrialRecord record;
    };

    void keep_fastest(const TrialPlace& place, double time, bool winner, std::pair<std::size_t, TrialRecord> trial) {
        auto& fastest = fastest_[{place.device, place.problem}];
        fastest.push_back({time, winner, trial.first, std::move(trial.second)});
        if (fastest.size() < 4 * explained_trials) return;
        trim(fastest);
    }

    // Keeps the fastest trials and the winner. The finals may have chosen a winner that is not among the fastest
    // trials.
    static void trim(std::vector<Fast>& fastest) {
        std::ranges::sort(
            fastest, [](const Fast& a, const Fast& b) { return a.winner != b.winner ? a.winner : a.time < b.time; });
        if (fastest.size() > explained_trials) fastest.erase(fastest.begin() + explained_trials, fastest.end());
    }

    // Loads a stored template. Returns null if the template's files cannot be read.
    const KernelTemplate* kernel(std::int64_t row) {
        const auto [place, added] = kernels_.try_emplace(row);
        if (added) {
            try {
                if (const auto record = store_.recall_template(row)) {
                    place->second = std::make_unique<KernelTemplate>(load_template(record->files));
                }
            } catch (const std::exception&) {  // the template is damaged, or a newer smemtune wrote it
            }
        }
        return place->second.get();
    }

    ImportanceData::Origin origin_of(const ImportanceData::Group& group) {
        return {.kernel = kernel(template_.rows()[group.kernel_template]),
                .problem = problems_[group.problem].problem,
                .device = known_devices_[device_.rows()[group.device]]};
    }

    json devices() {
        auto list = json::array();
        for (const auto row : device_.rows()) {
            const auto& device = known_devices_[row];
            json value = device;
            value["peak_flops"] = peak_fp32_flops(device);
            value["host"] = device.is_host();
            list.push_back(std::move(value));
        }
        return list;
    }

    json problems() {
        auto list = json::array();
        for (const auto& [problem, key] : problems_) {
            json value{{"operation", problem.operation},
                       {"type", problem.type},
                       {"layout", problem.layout},
                       {"size", size_text(problem)},
                       {"extents", problem.extents}};
            if (const auto* known = kernel(key.kernel_template)) {
                try {
                    const auto environment = environment_of(known->operation, problem, known_devices_[key.device]);
                    value["operations"] = evaluated(known->operation.operations, environment);
                    value["bytes"] = evaluated(known->operation.bytes, environment);
                } catch (const std::exception&) {  // the problem does not fit the stored operation
                }
            }
            list.push_back(std::move(value));
        }
        return list;
    }

    json templates() {
        auto list = json::array();
        for (std::size_t i = 0; i < template_.rows().size(); ++i) {
            const auto record = recalled(template_.rows()[i]);
            auto value = dictionaries_[i].to_json();
            value["name"] = record.name;
            value["operation"] = record.operation;
            value["hash"] = record.hash;
            if (const auto* known = kernel(template_.rows()[i])) {
                value["baseline"] = known->baseline;
                value["summary"] = known->summary;
                value["defaults"] = default_configuration(*known).values;
                auto summaries = json::object();
                for (const auto& parameter : known->parameters) summaries[parameter.name] = parameter.summary;
                value["summaries"] = std::move(summaries);
            }
            list.push_back(std::move(value));
        }
        return list;
    }

    // Reads the record of a template. If the row is damaged, returns a record without files. The page then shows the
    // trials of the template, but nothing for which its manifest is needed.
    [[nodiscard]] TemplateRecord recalled(std::int64_t row) const {
        try {
            if (auto record = store_.recall_template(row)) return *record;
        } catch (const DamagedRow&) {
        }
        return {.name = fmt::format("template {}", row), .operation = "", .hash = ""};
    }

    json runs() {
        auto list = json::array();
        for (const auto row : run_.rows()) {
            json value{{"id", row}};
            if (const auto run = store_.recall_run(row)) {
                value["started"] = milliseconds_of(run->started_at);
                value["finished"] = milliseconds_of(run->finished_at);
                value["how"] = run->how;
                value["request"] = json::parse(run->record.request, nullptr, false);
                value["versions"] = json::parse(run->record.versions, nullptr, false);
            }
            list.push_back(std::move(value));
        }
        return list;
    }

    json launches() {
        auto list = json::array();
        for (auto& [place, fastest] : fastest_) {
            trim(fastest);
            for (const auto& [time, winner, trial, record] : fastest) {
                const auto* known = kernel(record.key.kernel_template);
                if (known == nullptr) continue;
                const auto& problem = problems_[place.second].problem;
                auto facts = launch_facts(*known, record, problem, known_devices_[record.key.device]);
                if (facts.is_null()) continue;
                facts["trial"] = trial;
                list.push_back(std::move(facts));
            }
        }
        return list;
    }

    const Store& store_;
    Numbering device_, template_, problem_, run_;
    std::map<std::int64_t, Device> known_devices_;
    std::map<std::int64_t, std::unique_ptr<KernelTemplate>> kernels_;
    std::vector<ConfigurationDictionary> dictionaries_;  // the configurations of each template
    std::vector<StoredProblem> problems_;
    // The fastest trials, by device and problem.
    std::map<std::pair<std::size_t, std::size_t>, std::vector<Fast>> fastest_;
    std::vector<std::size_t> winners_;
    TrialColumns columns_;
    ImportanceData importance_;
};

}  // namespace

std::string page_data(const Store& store, const PageRequest& request) {
    auto filter = request.filter;
    filter.sort = Store::Filter::Sort::id;
    filter.limit = {};
    PageBuilder page(store);
    for (auto& row : store.rows(filter)) page.add(std::move(row));
    return page.to_json(request);
}

}  // namespace smemtune
