// A random forest: predicts a number from the levels of parameters, from known examples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace smemtune {

/// Examples as rows of levels. A level is the rank of a parameter's value among its values.
struct LevelTable {
    std::size_t columns = 0;
    std::vector<std::uint16_t> levels;  ///< rows() times `columns`

    [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : levels.size() / columns; }
    [[nodiscard]] std::span<const std::uint16_t> row(std::size_t index) const {
        return std::span(levels).subspan(index * columns, columns);
    }
};

/// Regression trees on bootstrap samples (Breiman, Random Forests, 2001). Every tree splits where the sum of squared
/// errors falls most, among five sixths of the columns, drawn anew at each node (as in Hutter et al., An Efficient
/// Approach for Assessing Hyperparameter Importance, 2014). The same examples give the same forest.
class RandomForest {
public:
    /// Precondition: `values` has one element for each row of `examples`, and there is a row.
    RandomForest(const LevelTable& examples, std::span<const double> values);

    /// The mean over the trees.
    [[nodiscard]] double predict(std::span<const std::uint16_t> levels) const;
    /// The share of the variance that the trees explain at examples they have not seen (out of bag), at most 1.
    /// Negative if the mean predicts better.
    [[nodiscard]] double explained() const { return explained_; }

private:
    struct Node {
        std::uint32_t right = 0;  ///< the left child follows its parent; 0: a leaf
        std::uint16_t column = 0;
        std::uint16_t level = 0;  ///< rows up to this level go left
        double value = 0;         ///< of a leaf
    };
    using Tree = std::vector<Node>;
    class Growth;
    static double predict(const Tree& tree, std::span<const std::uint16_t> levels);

    std::vector<Tree> trees_;
    double explained_ = 0;
};

}  // namespace smemtune
