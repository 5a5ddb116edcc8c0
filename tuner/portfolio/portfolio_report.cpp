#include "tuner/portfolio/portfolio_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"
#include "util/statistics.h"

namespace smemtune {

namespace {

struct Rule {
    const char* name;
    const char* key;
    std::optional<double> LeftOut::*loss;
};
constexpr std::array rules{
    Rule{"predicted", "predicted", &LeftOut::predicted}, Rule{"best member", "best_member", &LeftOut::best_member},
    Rule{"nearest", "nearest", &LeftOut::nearest}, Rule{"one for all", "one_for_all", &LeftOut::one_for_all},
    Rule{"same members", "same_members", &LeftOut::same_members}};

// The loss of a rule over the samples. The mean is weighted by the counts of the samples.
struct Loss {
    double mean = 0, worst = 0, p95 = 0;
    std::size_t served = 0, samples = 0;
};

Loss loss_of(const PortfolioReport& report, const Rule& rule, const std::string& kind) {
    Loss loss;
    double weights = 0;
    std::vector<double> all;
    for (const auto& served : report.served) {
        if (!served.has_loss || (!kind.empty() && served.kind != kind)) continue;
        ++loss.samples;
        const auto& each = served.left_out.*(rule.loss);
        if (!each) continue;
        ++loss.served;
        loss.mean += served.sample.count * *each;
        weights += served.sample.count;
        loss.worst = std::max(loss.worst, *each);
        all.push_back(*each);
    }
    if (weights > 0) loss.mean /= weights;
    if (!all.empty()) loss.p95 = quantile(all, 0.95);
    return loss;
}

std::vector<std::string> kinds_of(const PortfolioReport& report) {
    std::vector<std::string> kinds;
    for (const auto* kind : {"square", "narrow", "deep", "small"}) {
        if (loss_of(report, rules.front(), kind).samples > 0) kinds.emplace_back(kind);
    }
    kinds.emplace_back("");
    return kinds;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string cell(const Loss& loss) {
    if (loss.served == 0) return "serves none";
    const auto text = percent(loss.mean) + ", " + percent(loss.worst);
    return loss.served == loss.samples ? text : text + fmt::format(" ({} not served)", loss.samples - loss.served);
}

}  // namespace

std::string to_text(const PortfolioReport& report, std::size_t width) {
    // The last rule, `same members`, has losses only after a refit, because only a refit keeps a portfolio's members.
    std::vector<Rule> shown(rules.begin(), rules.end());
    if (loss_of(report, shown.back(), "").served == 0) shown.pop_back();
    std::vector<Column> columns{{"problems"}, {"samples"}};
    for (const auto& rule : shown) columns.push_back({rule.name});
    Table table(columns);
    for (const auto& kind : kinds_of(report)) {
        std::vector<std::string> cells{kind.empty() ? "all" : kind};
        cells.push_back(std::to_string(loss_of(report, rules.front(), kind).samples));
        for (const auto& rule : shown) cells.push_back(cell(loss_of(report, rule, kind)));
        table.add(std::move(cells));
    }
    const auto searched = std::ranges::count(report.served, true, &PortfolioReport::Served::searched);
    auto text = fmt::format(
        "{}: {} of {}; {}{} timed, {} already known, {} not right or too large\n", report.device.name,
        counted(report.members.size(), "member"), counted(report.configurations, "configuration"),
        searched > 0 ? fmt::format("{} of {} searched; ", searched, counted(report.served.size(), "size")) : "",
        counted(report.counts.measured, "pair"), report.counts.recalled, report.counts.rejected);
    if (report.measured_on && *report.measured_on != report.device) {
        text += fmt::format("The portfolio was measured on {}. {} has none of its own.\n", report.measured_on->name,
                            report.device.name);
    }
    if (report.wrong > 0)
        text += fmt::format("{} left out: wrong, or not compiled or not verified\n", counted(report.wrong, "member"));
    if (report.served.empty()) return text;
    const bool is_check = std::ranges::any_of(report.served, [](const auto& each) { return each.predicted_us > 0; });
    text += is_check ? "\nLoss, mean and worst, at the checked problems:\n\n"
                     : "\nExpected loss, mean and worst, at a problem that was left out:\n\n";
    return text + table.to_text(width);
}

nlohmann::json to_json(const PortfolioReport& report) {
    auto members = nlohmann::json::array();
    for (const auto& member : report.members) {
        nlohmann::json coefficients;
        for (std::size_t i = 0; i < term_count; ++i) {
            coefficients[std::string(term_names[i])] = member.model.coefficients[i];
        }
        members.push_back({{"template", member.kernel_template},
                           {"configuration", member.configuration},
                           {"defaults", member.defaults},
                           {"coefficients", coefficients},
                           {"error", member.model.error},
                           {"classes", member.classes}});
    }
    auto samples = nlohmann::json::array();
    for (const auto& served : report.served) {
        nlohmann::json sample{{"problem", served.sample.problem},
                              {"count", served.sample.count},
                              {"kind", served.kind},
                              {"best_us", served.best_us}};
        if (served.searched) sample["searched"] = true;
        if (served.predicted_us > 0) sample["predicted_us"] = served.predicted_us;
        for (const auto& rule : rules) {
            if (const auto& loss = served.left_out.*(rule.loss)) sample["loss"][rule.key] = *loss;
        }
        samples.push_back(std::move(sample));
    }
    auto expected = nlohmann::json::array();
    for (const auto& kind : kinds_of(report)) {
        for (const auto& rule : rules) {
            const auto loss = loss_of(report, rule, kind);
            nlohmann::json each{{"kind", kind.empty() ? "all" : kind},
                                {"rule", rule.key},
                                {"samples", loss.samples},
                                {"served", loss.served}};
            if (loss.served > 0) {
                each["mean"] = loss.mean;
                each["p95"] = loss.p95;
                each["worst"] = loss.worst;
            }
            expected.push_back(std::move(each));
        }
    }
    nlohmann::json json{{"device", report.device},
                        {"members", members},
                        {"samples", samples},
                        {"expected_loss", expected},
                        {"configurations", report.configurations},
                        {"measured", report.counts.measured},
                        {"recalled", report.counts.recalled},
                        {"rejected", report.counts.rejected},
                        {"wrong", report.wrong},
                        {"tune_seconds", report.tune_seconds},
                        {"cross_seconds", report.cross_seconds},
                        {"verify_seconds", report.verify_seconds},
                        {"seconds", report.seconds},
                        {"ended", report.ended}};
    if (report.measured_on) json["measured_on"] = *report.measured_on;
    return json;
}

}  // namespace smemtune
