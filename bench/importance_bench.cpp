// Measures whether `smemtune db importance` ranks parameters as an exact analysis of variance does. Each LANDSCAPE must
// be complete: a cache of Kernel Tuner, or a database of exhaustive searches with one template and size. From each
// landscape, the benchmark takes samples of 100 to 2,000 configurations. Some samples are drawn at random; the others
// are the configurations that the default search tries first. For each sample, the benchmark compares the parameters'
// main effects and their order with the exact ones. See bench/record.sh.
//
//     importance_bench LANDSCAPE...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tuner/analysis/importance.h"
#include "tuner/replay/landscape.h"
#include "tuner/search/search.h"

namespace smemtune {
namespace {

constexpr unsigned rounds = 10;
constexpr std::size_t sample_sizes[]{100, 200, 500, 1000, 2000};

Outcome outcome_of(const std::optional<double>& cost) {
    if (!cost) return Rejection{Stage::launch, "recorded as a failure"};
    return Measurement{.median_us = *cost};
}

// Computes the main effects from their definition, without using tuner/analysis. t is the time of a configuration. For
// each value of a parameter, log t has a mean over all measured configurations with this value. The main effect of the
// parameter is the variance of these means (weighted by the number of configurations), divided by the variance of log
// t.
std::map<std::string, double> exact_main_effects(const Landscape& landscape) {
    struct Sum {
        double of_logs = 0;
        double count = 0;
    };
    std::map<std::string, std::map<std::int64_t, Sum>> groups;
    Sum all;
    double squares = 0;
    for (std::size_t i = 0; i < landscape.costs.size(); ++i) {
        if (!landscape.costs[i]) continue;
        const auto log_time = std::log(*landscape.costs[i]);
        all.of_logs += log_time;
        all.count += 1;
        squares += log_time * log_time;
        const auto configuration = (*landscape.space)[i];
        for (const auto& [name, value] : configuration.values) {
            groups[name][value].of_logs += log_time;
            groups[name][value].count += 1;
        }
    }
    const auto mean = all.of_logs / all.count;
    const auto variance = squares / all.count - mean * mean;
    std::map<std::string, double> shares;
    for (const auto& [name, values] : groups) {
        if (values.size() < 2) continue;
        double between = 0;
        for (const auto& [value, sum] : values) {
            between += sum.count * std::pow(sum.of_logs / sum.count - mean, 2);
        }
        shares[name] = between / all.count / variance;
    }
    return shares;
}

OutcomeTable random_sample(const Landscape& landscape, std::size_t size, unsigned seed) {
    std::vector<std::size_t> order(landscape.costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937(seed));
    OutcomeTable table;
    for (std::size_t i = 0; i < std::min(size, order.size()); ++i) {
        table.add((*landscape.space)[order[i]], outcome_of(landscape.costs[order[i]]));
    }
    return table;
}

OutcomeTable searched_sample(const Landscape& landscape, std::size_t size, unsigned seed) {
    const auto search = make_search("auto", {.space = landscape.space, .seed = seed});
    OutcomeTable table;
    for (std::size_t i = 0; i < size; ++i) {
        const auto configuration = search->next();
        if (!configuration) break;
        const auto& cost = landscape.costs[*landscape.space->find(*configuration)];
        search->observe(*configuration, cost);
        table.add(*configuration, outcome_of(cost));
    }
    return table;
}

// Returns the rank of each value. Equal values get the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<double> result;
    for (const auto value : values) {
        const auto less = std::ranges::count_if(values, [&](double other) { return other < value; });
        const auto equal = std::ranges::count(values, value);
        result.push_back(static_cast<double>(less) + static_cast<double>(equal + 1) / 2);
    }
    return result;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
    const auto x = ranks(a);
    const auto y = ranks(b);
    const auto mean = static_cast<double>(x.size() + 1) / 2;
    double xy = 0;
    double xx = 0;
    double yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xy / std::sqrt(xx * yy);
}

// Returns Kendall's tau-a. This variant does not correct for ties. No correction is needed, because no two of the exact
// shares are equal.
double kendall(const std::vector<double>& a, const std::vector<double>& b) {
    double agreement = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const auto product = (a[i] - a[j]) * (b[i] - b[j]);
            agreement += product > 0 ? 1 : product < 0 ? -1 : 0;
            pairs += 1;
        }
    }
    return agreement / pairs;
}

struct Agreement {
    std::vector<double> spearmans, kendalls, errors;  // one value for each round whose sample was large enough
    unsigned first_right = 0;                         // in how many rounds the most important parameter was found
};

void compare(const std::map<std::string, double>& exact, const Importance& found, Agreement& agreement) {
    if (!found.too_little.empty()) return;
    std::map<std::string, double> shares;
    for (const auto& [name, share] : exact) shares[name] = 0;  // 0 for a parameter with one value in the sample
    for (const auto& parameter : found.parameters) shares[parameter.name] = parameter.share;
    std::vector<double> wanted;
    std::vector<double> got;
    double error = 0;
    for (const auto& [name, share] : exact) {
        wanted.push_back(share);
        got.push_back(shares.at(name));
        error = std::max(error, std::abs(share - shares.at(name)));
    }
    agreement.spearmans.push_back(spearman(wanted, got));
    agreement.kendalls.push_back(kendall(wanted, got));
    agreement.errors.push_back(error);
    const auto first = std::ranges::max_element(wanted) - wanted.begin();
    agreement.first_right += first == std::ranges::max_element(got) - got.begin() ? 1 : 0;
}

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string json_of(const char* how, std::size_t size, const Agreement& agreement) {
    const auto start =
        fmt::format(R"({{"sample": "{}", "trials": {}, "results": {})", how, size, agreement.spearmans.size());
    if (agreement.spearmans.empty()) return start + "}";
    return start + fmt::format(R"(, "spearman": [{:.3f}, {:.3f}], "kendall": [{:.3f}, {:.3f}], "error": {:.3f}, )"
                               R"("first_right": {}}})",
                               median_of(agreement.spearmans), std::ranges::min(agreement.spearmans),
                               median_of(agreement.kendalls), std::ranges::min(agreement.kendalls),
                               median_of(agreement.errors), agreement.first_right);
}

std::string results_of(const std::filesystem::path& path, const Landscape& landscape) {
    const auto exact = exact_main_effects(landscape);
    std::vector<std::pair<double, std::string>> by_share;
    for (const auto& [name, share] : exact) by_share.emplace_back(share, name);
    std::ranges::sort(by_share, std::greater{});
    std::string shares;
    for (const auto& [share, name] : by_share) {
        shares += fmt::format("{}\"{}\": {:.4f}", shares.empty() ? "" : ", ", name, share);
    }
    auto text = fmt::format(
        "    {{\"landscape\": \"{}\", \"device\": \"{}\", \"configurations\": {}, \"failed\": {},\n"
        "     \"exact\": {{{}}},\n     \"samples\": [",
        path.filename().string(), landscape.device, landscape.costs.size(),
        std::ranges::count(landscape.costs, false, &std::optional<double>::has_value), shares);
    Agreement complete;
    compare(exact, importance(random_sample(landscape, landscape.costs.size(), 1), landscape.space.get()), complete);
    text += "\n       " + json_of("complete", landscape.costs.size(), complete);
    for (const auto size : sample_sizes) {
        if (size >= landscape.costs.size()) break;
        Agreement random;
        Agreement searched;
        for (unsigned seed = 1; seed <= rounds; ++seed) {
            compare(exact, importance(random_sample(landscape, size, seed), landscape.space.get()), random);
            compare(exact, importance(searched_sample(landscape, size, seed), landscape.space.get()), searched);
        }
        text += ",\n       " + json_of("random", size, random);
        text += ",\n       " + json_of("search", size, searched);
    }
    return text + "]}";
}

}  // namespace
}  // namespace smemtune

int main(int count, char** words) {
    fmt::print("  \"rounds\": {},\n", smemtune::rounds);
    fmt::print(
        "  \"meaning\": \"spearman, kendall: median and least over the rounds with a result; error: median over these "
        "rounds of the largest difference between a share and the exact share; first_right: number of rounds that rank "
        "the most important parameter first\",\n"
        "  \"landscapes\": [\n");
    for (int i = 1; i < count; ++i) {
        const std::filesystem::path path = words[i];
        fmt::print("{}{}\n", smemtune::results_of(path, smemtune::read_landscape(path)), i + 1 < count ? "," : "]");
    }
}
