#include "tuner/cli/suggestion.h"

#include <algorithm>
#include <cctype>

namespace smemtune {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

}  // namespace

// Row i of the table holds the distances between the first i letters of `a` and every prefix of `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
            table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
            }
        }
    }
    return table[a.size()][b.size()];
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    const auto wanted = lower(word);
    if (wanted.empty()) return {};
    std::string nearest;
    std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    for (const auto& each : known) {
        const auto distance = edit_distance(wanted, lower(each));
        if (distance >= least) continue;
        least = distance;
        nearest = each;
    }
    if (!nearest.empty()) return nearest;
    const auto begins = [&](const std::string& each) { return lower(each).starts_with(wanted); };
    const auto only = std::ranges::find_if(known, begins);
    return std::ranges::count_if(known, begins) == 1 ? *only : std::string();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const auto nearest = nearest_word(word, known);
    return nearest.empty() ? "." : "; did you mean '" + nearest + "'?";
}

}  // namespace smemtune
