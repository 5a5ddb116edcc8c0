// A random forest: learns from examples to predict a number from the levels of parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace smemtune {

/// Examples, each a row of levels. A level is the rank of a parameter's value among all values of the parameter.
struct LevelTable {
    std::size_t columns = 0;
    std::vector<std::uint16_t> levels;  ///< row after row: rows() * `columns` levels

    [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : levels.size() / columns; }
    [[nodiscard]] std::span<const std::uint16_t> row(std::size_t index) const {
        return std::span(levels).subspan(index * columns, columns);
    }
};

/// Regression trees on bootstrap samples (Breiman, Random Forests, 2001). Each node draws five sixths of the columns at
/// random (as in Hutter et al., An Efficient Approach for Assessing Hyperparameter Importance, 2014). It then splits by
/// the drawn column that lowers the sum of squared errors most. The same examples give the same forest.
class RandomForest {
public:
    /// Precondition: `examples` has at least one row, and `values` has one element for each row.
    RandomForest(const LevelTable& examples, std::span<const double> values);

    /// Returns the mean of the predictions of all trees.
    [[nodiscard]] double predict(std::span<const std::uint16_t> levels) const;
    /// Returns the share of the variance that the trees explain at examples they were not trained on (out of bag), at
    /// most 1. Negative if the mean of all values is a better prediction.
    [[nodiscard]] double explained() const { return explained_; }

private:
    struct Node {
        std::uint32_t right = 0;  ///< index of the right child; the left child follows its parent; 0 in a leaf
        std::uint16_t column = 0;
        std::uint16_t level = 0;  ///< rows with at most this level in `column` go left
        double value = 0;         ///< the value that a leaf predicts
    };
    using Tree = std::vector<Node>;
    class Growth;
    static double predict(const Tree& tree, std::span<const std::uint16_t> levels);

    std::vector<Tree> trees_;
    double explained_ = 0;
};

}  // namespace smemtune
