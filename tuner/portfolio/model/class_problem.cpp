#include "tuner/portfolio/model/class_problem.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

namespace smemtune {

namespace {

constexpr std::int64_t most_even = 256;  // the highest power of two by which an extent may have to be divisible

// Returns extents near `base`. If `multiple` is true, rows of these lengths are multiples of 16 bytes; otherwise, none
// is. The extents are sorted by the highest power of two that divides them, the lowest first. For each power, there is
// one extent above `base` and one below, or a single extent that is not below `base`. Example for f32, multiples of 16
// bytes, and base 256: 260, 252, 264, 248, 272, 240, ..., 256.
std::vector<std::int64_t> forms_of(std::int64_t base, bool multiple, std::int64_t element_bytes) {
    const auto unit = 16 / std::gcd(std::int64_t{16}, element_bytes);
    std::vector<std::int64_t> forms;
    for (auto power = multiple ? unit : 1; power <= (multiple ? most_even : unit / 2); power *= 2) {
        const auto above = (base + power - 1) / power | 1;
        const auto below = (base / power - 1) | 1;
        forms.push_back(above * power);
        if (below >= 1 && below < above) forms.push_back(below * power);
    }
    return forms;
}

double elements_in(const Problem& problem) {
    double product = 1;
    for (const auto& [name, extent] : problem.extents) product *= static_cast<double>(extent);
    return product;
}

// Returns a valid problem of class `wanted` near one sample, or nothing.
std::optional<Problem> problem_near(const Problem& sample, const std::string& wanted, std::int64_t element_bytes,
                                    const std::function<bool(const Problem&)>& is_valid) {
    std::vector<std::vector<std::int64_t>> forms;
    std::size_t most = 0;
    for (std::size_t i = 0; i < sample.extents.size(); ++i) {
        forms.push_back(forms_of(sample.extents[i].second, wanted[i] == '1', element_bytes));
        if (forms.back().empty()) return std::nullopt;
        most = std::max(most, forms.back().size());
    }
    auto problem = sample;
    const auto set = [&](std::size_t i, std::size_t form) {
        problem.extents[i].second = forms[i][std::min(form, forms[i].size() - 1)];
    };
    std::size_t form = 0;
    for (; form < most; ++form) {
        for (std::size_t i = 0; i < forms.size(); ++i) set(i, form);
        if (is_valid(problem)) break;
    }
    if (form == most) return std::nullopt;
    for (std::size_t i = 0; i < forms.size(); ++i) {  // gives each extent the first of its forms that is valid
        for (std::size_t lower = 0; lower <= form; ++lower) {
            set(i, lower);
            if (is_valid(problem)) break;
        }
    }
    return problem;
}

}  // namespace

void require_few_classes(const Operation& operation) {
    const auto extents = operation.extents.size();
    if (extents <= most_classified_extents) return;
    throw std::invalid_argument("operation '" + operation.name + "' has " + std::to_string(extents) +
                                " extents, but a portfolio supports at most " +
                                std::to_string(most_classified_extents) +
                                ", because its members are verified for each combination of aligned and unaligned "
                                "extents; tune the sizes with 'smemtune tune'");
}

std::optional<Problem> class_problem(const std::vector<Problem>& samples, const std::string& wanted,
                                     std::int64_t element_bytes, std::int64_t limit,
                                     const std::function<bool(const Problem&)>& is_valid) {
    std::set<Problem> limited;
    std::set<Problem> larger;
    for (const auto& sample : samples) {
        auto smaller = sample;
        for (auto& [name, extent] : smaller.extents) extent = std::min(extent, limit);
        if (smaller != sample) larger.insert(sample);
        limited.insert(std::move(smaller));
    }
    std::vector<Problem> bases(limited.begin(), limited.end());
    std::ranges::stable_sort(bases, std::ranges::greater{}, elements_in);
    const auto first_larger = static_cast<std::ptrdiff_t>(bases.size());
    bases.insert(bases.end(), larger.begin(), larger.end());
    std::ranges::stable_sort(bases.begin() + first_larger, bases.end(), {}, elements_in);
    for (const auto& base : bases) {
        if (auto problem = problem_near(base, wanted, element_bytes, is_valid)) return problem;
    }
    return std::nullopt;
}

}  // namespace smemtune
