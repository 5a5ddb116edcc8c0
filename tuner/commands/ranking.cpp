#include "tuner/commands/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "db/store.h"
#include "runtime/predict/predictor.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "tuner/cli/argument_parsing.h"
#include "tuner/cli/shell_text.h"
#include "tuner/report/json.h"
#include "tuner/report/table.h"
#include "tuner/report/text.h"
#include "tuner/report/trial_facts.h"

namespace smemtune {

namespace {

// The problem that the user asks about, and the portfolio that serves its device.
struct Asked {
    Problem problem;
    Device device;
    Device measured_on;        // the device of the portfolio: `device`, or a similar one if `device` has no portfolio
    Portfolio portfolio;       // empty if its time models have terms of another version
    bool is_outdated = false;  // whether the portfolio in the database has terms of another version
};

Asked question_on(const Device& device, const Store& store, const CommandLine& line) {
    Asked asked;
    asked.device = device;
    const auto choice = choose_templates(line);
    const auto& type = line.text("type");
    asked.problem =
        make_problem(choice.operation(), line.text("sizes"), type.empty() ? choice.kernels.front().types.front() : type,
                     line.text("layout").empty() ? "nn" : line.text("layout"), asked.device);
    const auto& problem = asked.problem;
    const auto key_on = [&](std::int64_t row) {
        return PortfolioKey{row, problem.operation, problem.type, problem.layout};
    };
    if (const auto row = store.find(asked.device)) {
        asked.is_outdated = std::ranges::count(store.outdated_portfolios(), key_on(*row)) > 0;
    }
    if (const auto used = device_of_portfolio(store, problem, asked.device)) {
        asked.measured_on = used->second;
        asked.portfolio = store.portfolio(key_on(used->first));
    }
    return asked;
}

// Uses the device that --device names. The device may be in the database only, not in this machine. If the database has
// several devices of this name, uses the first one with a portfolio of its own. Without --device, uses the only device
// in the database, or else the device of this machine.
Asked read_question(const Store& store, const CommandLine& line) {
    const auto devices = store.devices();
    if (!line.given("device") && devices.size() == 1) return question_on(devices.front().second, store, line);
    std::optional<Asked> found;
    for (const auto& [id, device] : devices) {
        if (device.name != line.text("device")) continue;
        auto asked = question_on(device, store, line);
        if (asked.measured_on == device || asked.is_outdated) return asked;
        if (!found) found = std::move(asked);
    }
    return found ? std::move(*found) : question_on(any_device(line.text("device")), store, line);
}

// Returns the names of the devices that have a portfolio for problems like `problem`.
std::string devices_with_portfolio(const Store& store, const Problem& problem) {
    std::vector<std::string> names;
    for (const auto& [id, device] : store.devices()) {
        const auto portfolio = store.portfolio({id, problem.operation, problem.type, problem.layout});
        if (!portfolio.members.empty()) names.push_back("'" + device.name + "'");
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string terms_text(const Terms& shares) {
    std::vector<std::size_t> order(term_count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return shares[i]; });
    std::vector<std::string> parts;
    for (const auto i : order) {
        if (shares[i] > 0) parts.push_back(fmt::format("{} {}", term_names[i], time_text(shares[i])));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

nlohmann::json to_json(const Predictor::Prediction& prediction, const std::string& why) {
    nlohmann::json terms;
    for (std::size_t i = 0; i < term_count; ++i) terms[std::string(term_names[i])] = prediction.shares[i];
    const auto& row = prediction.member->row;
    return {{"template", row.kernel_template},
            {"configuration", row.record.configuration},
            {"predicted_us", prediction.us},
            {"error", prediction.error},
            {"correction", prediction.factor},
            {"terms_us", terms},
            {"why", why}};
}

}  // namespace

bool has_portfolio(const Store& store, const CommandLine& line) {
    const auto asked = read_question(store, line);
    return !asked.portfolio.members.empty() || asked.is_outdated;
}

int explain_ranking(const CommandLine& line) {
    const Store store(line.database(), Store::Access::read);
    const auto [problem, device, measured_on, portfolio, is_outdated] = read_question(store, line);
    const auto database = line.database().string();
    const auto name = fmt::format("portfolio of {} {}{}{}", problem.operation, problem.type,
                                  problem.layout.empty() ? "" : " ", problem.layout);
    if (is_outdated) {
        throw UsageError(
            fmt::format("the {} in {} is not used, because its models are of another version of smemtune; "
                        "run {}, which needs no device",
                        name, database, command_for(database, "portfolio --refit")));
    }
    if (portfolio.members.empty()) {
        const auto others = devices_with_portfolio(store, problem);
        throw UsageError(fmt::format("{} holds no {} on {}; {}", database, name, device.name,
                                     others.empty() ? "build one with " + line.proposed("portfolio")
                                                    : "--device takes a device that has one: " + others));
    }
    const auto find_template = [&](const TrialRow& member) {
        const auto record = store.recall_template(member.record.key.kernel_template);
        return record ? std::make_shared<const KernelTemplate>(load_template(record->files)) : nullptr;
    };
    const Predictor predictor(portfolio, problem, device, find_template);
    const auto ranking = predictor.ranking(problem);
    if (line.flag("json")) {
        auto members = nlohmann::json::array();
        for (std::size_t i = 0; i < ranking.size(); ++i) members.push_back(to_json(ranking[i], why_chosen(ranking, i)));
        const nlohmann::json json{
            {"problem", problem}, {"device", device}, {"measured_on", measured_on}, {"ranking", members}};
        fmt::print("{}\n", json_text(document("explain", json)));
        return ranking.empty() ? nothing_found : success;
    }
    fmt::print("{} on {}: {} of {} can run it{}\n", to_text(problem), device.name, ranking.size(),
               counted(portfolio.members.size(), "member"),
               measured_on == device ? "" : "; by the portfolio of " + measured_on.name);
    if (ranking.empty()) return nothing_found;
    fmt::print("served: {}\nThe first row has the least predicted time * (1 + within).\n\n", why_chosen(ranking, 0));
    Table table({{"predicted"}, {"within"}, {"corrected by"}, {"template"}, {"time of each term"}, {"configuration"}});
    for (const auto& prediction : ranking) {
        const auto& member = prediction.member->row;
        table.add({time_text(prediction.us), fmt::format("{:.0f} %", 100 * prediction.error),
                   fmt::format("{:+.0f} %", 100 * (prediction.factor - 1)), member.kernel_template,
                   terms_text(prediction.shares), to_text(member.record.configuration)});
    }
    fmt::print("{}", table.to_text(line.table_width()));
    return success;
}

}  // namespace smemtune
