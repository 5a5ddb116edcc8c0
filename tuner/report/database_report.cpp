#include "tuner/report/database_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "templates/manifest/catalog.h"
#include "templates/space/value.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

std::string date_text(const std::string& time) { return time.substr(0, 10); }

std::string minute_text(const std::string& time) {
    return time.size() < 16 ? time : date_text(time) + " " + time.substr(11, 5) + " UTC";
}

std::string bytes_text(std::uintmax_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    const auto number = static_cast<double>(bytes);
    return bytes < 1 << 20 ? fmt::format("{:.1f} KiB", number / 1024) : fmt::format("{:.1f} MiB", number / (1 << 20));
}

std::string group_table(const char* heading, const std::vector<Store::Group>& groups, bool with_winners,
                        std::size_t width) {
    std::vector<Column> columns{{heading}, {"measured"}, {"rejected"}};
    if (with_winners) columns.push_back({"winners"});
    columns.push_back({"first trial"});
    columns.push_back({"last trial"});
    Table table(columns);
    for (const auto& group : groups) {
        std::vector<std::string> cells{group.name + (group.unchecked > 0 ? " (NOT CHECKED)" : ""),
                                       count_text(static_cast<std::uint64_t>(group.measured)),
                                       count_text(static_cast<std::uint64_t>(group.rejected))};
        if (with_winners) cells.push_back(count_text(static_cast<std::uint64_t>(group.winners)));
        cells.push_back(date_text(group.first_at));
        cells.push_back(date_text(group.last_at));
        table.add(std::move(cells));
    }
    return table.empty() ? "" : "\n" + table.to_text(width);
}

std::string portfolio_table(const std::vector<Store::ListedPortfolio>& portfolios, std::size_t width) {
    Table table({{"portfolio"}, {"device", true}, {"members"}, {"used"}});
    for (const auto& each : portfolios) {
        table.add({each.name, each.device, std::to_string(each.members),
                   each.is_outdated ? "no: run 'portfolio --refit'" : "yes"});
    }
    return table.empty() ? "" : "\n" + table.to_text(width);
}

std::string or_dash(const std::optional<double>& value, const std::function<std::string(double)>& text) {
    return value ? text(*value) : "-";
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string ratio_text(double ratio) { return fmt::format("{:.2f}", ratio); }

bool is_alike(const TrialRow& a, const TrialRow& b) {
    return a.problem.operation == b.problem.operation && a.problem.type == b.problem.type &&
           a.problem.layout == b.problem.layout;
}

// Formats one table for each device, operation, type and layout. `add` adds the row of one trial. The name of a device
// is above its tables.
std::string grouped(std::span<const TrialFacts> trials, const Table& empty, std::size_t width,
                    const std::function<void(Table&, const TrialFacts&)>& add) {
    std::string text;
    std::int64_t device = 0;
    for (std::size_t begin = 0; begin < trials.size();) {
        const auto& first = trials[begin].row;
        text += text.empty() ? "" : "\n";
        if (device != first.record.key.device) text += first.device + "\n";
        device = first.record.key.device;
        auto table = empty;
        auto end = begin;
        for (; end < trials.size() && trials[end].row.record.key.device == device && is_alike(first, trials[end].row);
             ++end) {
            add(table, trials[end]);
        }
        text += table.to_text(width);
        begin = end;
    }
    return text;
}

// The text in the column `outcome`. `won the finals` marks a winner that is not the trial with the shortest time.
std::string outcome_text(const TrialFacts& trial) {
    const auto* measured = std::get_if<Measurement>(&trial.row.record.outcome);
    if (measured == nullptr) return std::string(to_text(std::get<Rejection>(trial.row.record.outcome).stage));
    const std::string unchecked = is_unchecked(trial.row.record.verified_by) ? "NOT CHECKED" : "";
    const auto with = [&](const std::string& outcome) { return outcome + (unchecked.empty() ? "" : ", " + unchecked); };
    if (trial.row.winner) return with(trial.faster_trial ? "won the finals" : "winner");
    return measured->cut_short ? "cut short" : unchecked;
}

constexpr const char* about_finals =
    "won the finals: a trial is timed with few samples; the finals then time the fastest trials in turn with many, and "
    "decide the winner";

}  // namespace

std::string inventory_text(const Store::Summary& summary, std::uintmax_t bytes, const Store::Inventory& inventory,
                           std::size_t width) {
    const auto count = [](std::int64_t number, const char* thing) {
        return counted(static_cast<std::uint64_t>(number), thing);
    };
    auto text =
        folded(fmt::format("{}: {}, schema {}, {}, {} of machine code", summary.path.string(), bytes_text(bytes),
                           summary.schema_version, count(summary.runs, "run"), count(summary.binaries, "piece")),
               width, 0, 2);
    if (inventory.devices.empty()) text += "no trial matches\n";
    return text + group_table("device", inventory.devices, true, width) +
           group_table("template", inventory.templates, true, width) +
           group_table("problem", inventory.problems, false, width) + portfolio_table(inventory.portfolios, width);
}

std::string best_text(std::span<const TrialFacts> winners, std::size_t width) {
    const Table empty(
        {{"problem"}, {"template"}, {"time"}, {"FLOP/s"}, {"of peak"}, {"x baseline"}, {"date", true}, {"trial", true}},
        "differs from default");
    return grouped(winners, empty, width, [](Table& table, const TrialFacts& winner) {
        const auto& row = winner.row;
        table.add({to_text(row.problem),
                   row.kernel_template + (is_unchecked(row.record.verified_by) ? " (NOT CHECKED)" : "") +
                       (winner.is_other_version ? " (other version)" : ""),
                   time_text(std::get<Measurement>(row.record.outcome).median_us), or_dash(winner.flops, rate_text),
                   or_dash(winner.share_of_peak, share_text), or_dash(winner.times_baseline, ratio_text),
                   date_text(row.decided_at.empty() ? row.finished_at : row.decided_at), std::to_string(row.id)},
                  winner.differences());
    });
}

std::string trials_text(std::span<const TrialFacts> trials, std::size_t more, std::size_t width) {
    const Table empty({{"problem"}, {"trial"}, {"template"}, {"time"}, {"outcome"}, {"date", true}},
                      "differs from default");
    auto text = grouped(trials, empty, width, [](Table& table, const TrialFacts& trial) {
        const auto& row = trial.row;
        const auto* measured = std::get_if<Measurement>(&row.record.outcome);
        const auto* rejection = std::get_if<Rejection>(&row.record.outcome);
        table.add({to_text(row.problem), std::to_string(row.id), row.kernel_template,
                   measured == nullptr ? "-" : time_text(measured->median_us), outcome_text(trial),
                   date_text(row.finished_at)},
                  trial.differences() + (rejection == nullptr ? "" : ": " + rejection->reason));
    });
    if (std::ranges::any_of(trials, [](const TrialFacts& trial) { return trial.faster_trial.has_value(); })) {
        text += "\n" + folded(about_finals, width);
    }
    if (more > 0) text += fmt::format("\n{} more: --limit 0 lists all\n", count_text(more));
    return text;
}

namespace {

class Facts {
public:
    explicit Facts(std::size_t width) : width_(width) {}
    void add(const std::string& name, const std::string& value) {
        if (!value.empty()) text_ += folded(fmt::format("  {:<15}{}", name, value), width_, 0, 17);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::size_t width_;
    std::string text_;
};

void add_measurement(Facts& facts, const TrialFacts& trial, const Measurement& measured) {
    const auto& row = trial.row;
    facts.add("time", fmt::format("{} +- {}, the median of {}{}", time_text(measured.median_us),
                                  time_text(measured.spread_us), counted(measured.samples_us.size(), "sample"),
                                  measured.cut_short ? ", cut short: clearly slower than the best" : ""));
    if (trial.flops) facts.add("rate", rate_text(*trial.flops) + "FLOP/s");
    if (trial.share_of_peak) facts.add("of peak", share_text(*trial.share_of_peak));
    if (trial.times_baseline) facts.add("x baseline", ratio_text(*trial.times_baseline));
    if (measured.clock_khz > 0) facts.add("clock", fmt::format("{} MHz", measured.clock_khz / 1000));
    if (measured.energy_uj > 0) facts.add("energy", fmt::format("{:.4g} uJ a launch", measured.energy_uj));
    if (!row.winner) return;
    facts.add("winner", "since " + minute_text(row.decided_at) +
                            (trial.faster_trial ? fmt::format("; it won the finals, although trial {} was faster "
                                                              "when it was tried",
                                                              *trial.faster_trial)
                                                : ""));
}

// Formats a JSON object as `a: 1; b: x`. Text that is no JSON object is returned unchanged.
std::string flat_text(const std::string& json_text) {
    const auto parsed = nlohmann::json::parse(json_text, nullptr, false);
    if (!parsed.is_object()) return json_text;
    std::string text;
    for (const auto& [key, value] : parsed.items()) {
        auto shown = value.is_string() ? value.get<std::string>() : value.dump();
        if (shown.empty() || value.is_object()) continue;
        text += (text.empty() ? "" : "; ") + key + ": " + shown;
    }
    return text;
}

void add_run(Facts& facts, const RunRow& run, std::int64_t number) {
    const auto versions = nlohmann::json::parse(run.record.versions, nullptr, false);
    if (versions.is_object()) {
        facts.add("smemtune", versions.value("smemtune", ""));
        facts.add("compiler", versions.value("compiler", ""));
        facts.add("driver", versions.value("platform", ""));
    }
    facts.add("verification", flat_text(run.record.policy));
    facts.add("run", fmt::format("{}, begun {}, {}", number, minute_text(run.started_at),
                                 run.how.empty() ? "without an end: it goes on, or was killed"
                                                 : "ended " + minute_text(run.finished_at) + ": " + run.how));
    facts.add("asked for", flat_text(run.record.request));
}

// The text after "verified". It says against which version of the operation the trial was verified or rejected.
std::string verification_text(const TrialFacts& trial) {
    const auto& record = trial.row.record;
    const bool rejected = std::holds_alternative<Rejection>(record.outcome);
    if (record.verified_by.empty()) return rejected ? "" : "not in full: it cannot win and is not served";
    if (record.verified_by == unrecorded) return "in full, but it is unknown against what; 'tune' verifies it again";
    if (is_unchecked(record.verified_by) && !rejected) {
        return "NOT CHECKED: the operation has no reference, so the kernel may be wrong (" + record.verified_by + ")";
    }
    const auto same = trial.operation_identity && record.was_verified_as(*trial.operation_identity);
    return fmt::format("{} {} ({})", rejected ? "tried against" : "in full, against", record.verified_by,
                       same ? "the operation as it is stored with the template"
                            : "another version of the operation than the one stored with the template");
}

std::string parameter_lines(const TrialFacts& trial) {
    std::size_t longest = 0;
    const auto& values = trial.row.record.configuration.values;
    for (const auto& value : values) longest = std::max(longest, value.first.size());
    std::string text;
    for (const auto& [name, value] : values) {
        const auto known = trial.defaults ? trial.defaults->values.find(name) : values.end();
        const bool differs = trial.defaults && known != trial.defaults->values.end() && known->second != value;
        text += fmt::format("  {:<{}}  {}{}\n", name, longest, value_text(value),
                            differs ? fmt::format("  (default {})", value_text(known->second)) : "");
    }
    return text;
}

}  // namespace

std::string trial_text(const TrialFacts& trial, const RunRow* run, std::size_t width) {
    const auto& [row, record] = std::pair(trial.row, trial.row.record);
    Facts facts(width);
    facts.add("problem", to_text(row.problem));
    facts.add("device", row.device);
    facts.add("template", row.kernel_template + ", version " + row.template_hash);
    facts.add("tried", minute_text(row.finished_at));
    if (const auto* rejection = std::get_if<Rejection>(&record.outcome)) {
        facts.add("rejected", fmt::format("{}: {}", to_text(rejection->stage), rejection->reason));
    } else {
        add_measurement(facts, trial, std::get<Measurement>(record.outcome));
    }
    const auto& resources = record.resources;
    if (resources.registers > 0) {
        facts.add("registers",
                  fmt::format("{} a thread, {} bytes spilled", resources.registers, resources.spill_bytes));
    }
    if (resources.static_shared_bytes + resources.dynamic_shared_bytes > 0) {
        facts.add("shared memory", fmt::format("{} bytes static, {} dynamic", resources.static_shared_bytes,
                                               resources.dynamic_shared_bytes));
    }
    facts.add("verified", verification_text(trial));
    facts.add("machine code", record.code_hash.empty() ? "" : "SHA-256 " + record.code_hash);
    facts.add("toolchain", record.toolchain);
    if (record.may_be_retried()) {
        facts.add(
            "attempts",
            fmt::format("{}; a crash or timeout is tried again once in a later run, and again when the compiler or "
                        "driver has changed",
                        record.attempts));
    }
    const auto cost = [](double ms) { return time_text(ms * 1e3); };
    facts.add("cost", fmt::format("compiled in {}{}{}", cost(record.compile_ms),
                                  record.verify_ms > 0 ? ", verified in " + cost(record.verify_ms) : "",
                                  record.time_ms > 0 ? ", timed in " + cost(record.time_ms) : ""));
    if (run != nullptr) add_run(facts, *run, record.run);
    return fmt::format("trial {}\n{}\nparameters\n{}", row.id, facts.text(), parameter_lines(trial));
}

}  // namespace smemtune
