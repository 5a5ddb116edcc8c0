// Makes the JSON of `smemtune db`, which docs/json.md describes.
#include <nlohmann/json.hpp>

#include "templates/manifest/catalog.h"
#include "tuner/report/database_report.h"
#include "tuner/report/json.h"

namespace smemtune {

namespace {

nlohmann::json groups_json(const std::vector<Store::Group>& groups) {
    auto list = nlohmann::json::array();
    for (const auto& group : groups) {
        auto& row = list.emplace_back(nlohmann::json{{"name", group.name},
                                                     {"measured", group.measured},
                                                     {"rejected", group.rejected},
                                                     {"winners", group.winners},
                                                     {"first_at", group.first_at},
                                                     {"last_at", group.last_at}});
        if (group.unchecked > 0) row["unchecked"] = group.unchecked;
    }
    return list;
}

}  // namespace

nlohmann::json inventory_json(const Store::Summary& summary, std::uintmax_t bytes, const Store::Inventory& inventory) {
    auto portfolios = nlohmann::json::array();
    for (const auto& each : inventory.portfolios) {
        portfolios.push_back({{"name", each.name},
                              {"device_name", each.device},
                              {"members", each.members},
                              {"used", !each.is_outdated}});
    }
    return {{"database", summary.path.string()},
            {"bytes", bytes},
            {"database_schema", summary.schema_version},
            {"measured", summary.measured},
            {"rejected", summary.rejected},
            {"binaries", summary.binaries},
            {"runs", summary.runs},
            {"devices", groups_json(inventory.devices)},
            {"templates", groups_json(inventory.templates)},
            {"problems", groups_json(inventory.problems)},
            {"portfolios", portfolios}};
}

nlohmann::json inventory_rows(const Store::Inventory& inventory) {
    auto rows = nlohmann::json::array();
    const auto add = [&rows](const char* kind, const std::vector<Store::Group>& groups) {
        for (auto& row : groups_json(groups)) {
            row["kind"] = kind;
            rows.push_back(std::move(row));
        }
    };
    add("device", inventory.devices);
    add("template", inventory.templates);
    add("problem", inventory.problems);
    return rows;
}

nlohmann::json trial_json(const TrialFacts& trial) {
    const auto& row = trial.row;
    const auto& record = row.record;
    nlohmann::json json{{"id", row.id},
                        {"device_name", row.device},
                        {"template", row.kernel_template},
                        {"template_hash", row.template_hash},
                        {"problem", row.problem},
                        {"configuration", record.configuration},
                        {"resources", record.resources},
                        {"compile_ms", record.compile_ms},
                        {"winner", row.winner},
                        {"finished_at", row.finished_at}};
    if (trial.defaults) json["defaults"] = *trial.defaults;
    if (record.verify_ms > 0) json["verify_ms"] = record.verify_ms;
    if (record.time_ms > 0) json["time_ms"] = record.time_ms;
    if (!record.verified_by.empty()) json["verified_by"] = record.verified_by;
    if (is_unchecked(record.verified_by)) json["unchecked"] = true;
    if (!record.code_hash.empty()) json["code_hash"] = record.code_hash;
    if (!record.toolchain.empty()) json["toolchain"] = record.toolchain;
    if (record.may_be_retried()) json["attempts"] = record.attempts;
    if (row.winner) json["decided_at"] = row.decided_at;
    if (trial.is_other_version) json["other_version"] = true;
    if (trial.faster_trial) json["faster_trial"] = *trial.faster_trial;
    if (trial.flops) json["flops"] = *trial.flops;
    if (trial.share_of_peak) json["share_of_peak"] = *trial.share_of_peak;
    if (trial.times_baseline) json["times_baseline"] = *trial.times_baseline;
    if (const auto* measurement = std::get_if<Measurement>(&record.outcome)) json["measurement"] = *measurement;
    if (const auto* rejection = std::get_if<Rejection>(&record.outcome)) json["rejection"] = *rejection;
    return json;
}

nlohmann::json run_json(const RunRow& run) {
    const auto parsed = [](const std::string& text) { return nlohmann::json::parse(text, nullptr, false); };
    nlohmann::json json{{"request", parsed(run.record.request)},
                        {"policy", parsed(run.record.policy)},
                        {"versions", parsed(run.record.versions)},
                        {"started_at", run.started_at}};
    if (!run.how.empty()) {
        json["finished_at"] = run.finished_at;
        json["ended"] = run.how;
    }
    return json;
}

}  // namespace smemtune
