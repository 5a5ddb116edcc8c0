// Expressions in Python, as the files of other tuners write values, conditions and sizes: evaluated, or as ours.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace smemtune {

/// An expression of numbers, texts and lists: arithmetic, comparisons, `and`, `or`, `not`, `x if c else y`, `range`,
/// `list`, `min`, `max`, `abs`, indices, list comprehensions with one `for`.
class PythonExpression {
public:
    using Names = std::map<std::string, nlohmann::json>;

    /// Throws std::invalid_argument, which names the part that it does not know.
    explicit PythonExpression(const std::string& text);

    /// Its value: a number, a text, a boolean or a list. Throws std::invalid_argument at a name outside `names`.
    [[nodiscard]] nlohmann::json value(const Names& names) const;

    /// As an expression of manifests, with names that are not in `names` left as they are. Throws
    /// std::invalid_argument where manifests have no such operator.
    [[nodiscard]] std::string in_manifest(const Names& names) const;

    struct Node;

private:
    std::shared_ptr<const Node> root_;
};

}  // namespace smemtune
