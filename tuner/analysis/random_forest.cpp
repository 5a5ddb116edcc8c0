#include "tuner/analysis/random_forest.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace smemtune {

namespace {

constexpr std::size_t forest_trees = 64;
constexpr std::size_t most_examples_of_tree = 8192;  // more examples per tree hardly change the shares
constexpr std::size_t least_examples_of_leaf = 3;

// std::uniform_int_distribution is not used, because its results differ between standard libraries.
std::size_t draw(std::mt19937_64& random, std::size_t below) { return random() % below; }

}  // namespace

class RandomForest::Growth {
public:
    Growth(const LevelTable& examples, std::span<const double> values, std::mt19937_64& random)
        : examples_(examples), values_(values), random_(random), columns_(examples.columns) {
        std::iota(columns_.begin(), columns_.end(), std::uint16_t{0});
        const auto most = std::ranges::max(examples.levels);
        sums_.resize(most + std::size_t{1});
        counts_.resize(most + std::size_t{1});
    }

    // Grows a subtree from the examples `members` and appends its nodes to `tree`, in depth-first order.
    void grow(Tree& tree, std::span<std::uint32_t> members) {
        const auto node = tree.size();
        double sum = 0;
        for (const auto member : members) sum += values_[member];
        tree.push_back({.value = sum / static_cast<double>(members.size())});
        const auto split = best_split(members, sum);
        if (split.gain <= 0) return;
        const auto right = std::partition(members.begin(), members.end(), [&](std::uint32_t member) {
            return examples_.row(member)[split.column] <= split.level;
        });
        tree[node].column = split.column;
        tree[node].level = split.level;
        const auto left = static_cast<std::size_t>(right - members.begin());
        grow(tree, members.first(left));
        tree[node].right = static_cast<std::uint32_t>(tree.size());
        grow(tree, members.subspan(left));
    }

private:
    struct Split {
        std::uint16_t column = 0, level = 0;
        double gain = 0;
    };

    // Returns the split that gives the least squared error: it maximises sum_left^2 / n_left + sum_right^2 / n_right.
    Split best_split(std::span<const std::uint32_t> members, double sum) {
        Split best;
        if (members.size() < 2 * least_examples_of_leaf) return best;
        const auto count = static_cast<double>(members.size());
        const auto tried = (5 * columns_.size() + 5) / 6;
        for (std::size_t i = 0; i < tried; ++i) {
            std::swap(columns_[i], columns_[i + draw(random_, columns_.size() - i)]);
            tally(members, columns_[i]);
            double left = 0;
            std::size_t left_count = 0;
            for (std::size_t level = 0; level < sums_.size(); ++level) {
                left += sums_[level];
                left_count += counts_[level];
                if (counts_[level] == 0 || left_count < least_examples_of_leaf) continue;
                if (members.size() - left_count < least_examples_of_leaf) break;
                const auto n = static_cast<double>(left_count);
                const auto gain = left * left / n + (sum - left) * (sum - left) / (count - n) - sum * sum / count;
                // The threshold keeps rounding errors from splitting equal values.
                if (gain > best.gain && gain > 1e-12 * (1 + sum * sum / count)) {
                    best = {columns_[i], static_cast<std::uint16_t>(level), gain};
                }
            }
        }
        return best;
    }

    void tally(std::span<const std::uint32_t> members, std::uint16_t column) {
        std::ranges::fill(sums_, 0.0);
        std::ranges::fill(counts_, std::size_t{0});
        for (const auto member : members) {
            const auto level = examples_.levels[member * examples_.columns + column];
            sums_[level] += values_[member];
            ++counts_[level];
        }
    }

    const LevelTable& examples_;
    std::span<const double> values_;
    std::mt19937_64& random_;
    std::vector<std::uint16_t> columns_;
    std::vector<double> sums_;
    std::vector<std::size_t> counts_;
};

RandomForest::RandomForest(const LevelTable& examples, std::span<const double> values) {
    std::mt19937_64 random(1);
    const auto rows = examples.rows();
    std::vector<double> unseen_sum(rows);
    std::vector<std::size_t> unseen_trees(rows);
    for (std::size_t i = 0; i < forest_trees; ++i) {
        std::vector<std::uint32_t> members(std::min(rows, most_examples_of_tree));
        std::vector<bool> seen(rows);
        for (auto& member : members) {
            member = static_cast<std::uint32_t>(draw(random, rows));
            seen[member] = true;
        }
        auto& tree = trees_.emplace_back();
        Growth(examples, values, random).grow(tree, members);
        for (std::size_t row = 0; row < rows; ++row) {
            if (seen[row]) continue;
            unseen_sum[row] += predict(tree, examples.row(row));
            ++unseen_trees[row];
        }
    }
    const auto mean = std::reduce(values.begin(), values.end()) / static_cast<double>(rows);
    double variance = 0;
    double error = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (unseen_trees[row] == 0) continue;
        const auto predicted = unseen_sum[row] / static_cast<double>(unseen_trees[row]);
        variance += (values[row] - mean) * (values[row] - mean);
        error += (values[row] - predicted) * (values[row] - predicted);
    }
    explained_ = variance > 0 ? 1 - error / variance : 0;
}

double RandomForest::predict(const Tree& tree, std::span<const std::uint16_t> levels) {
    std::size_t node = 0;
    while (tree[node].right != 0) {
        node = levels[tree[node].column] <= tree[node].level ? node + 1 : tree[node].right;
    }
    return tree[node].value;
}

double RandomForest::predict(std::span<const std::uint16_t> levels) const {
    double sum = 0;
    for (const auto& tree : trees_) sum += predict(tree, levels);
    return sum / static_cast<double>(trees_.size());
}

}  // namespace smemtune
