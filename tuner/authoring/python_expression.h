// Evaluates Python expressions, and translates them for manifests. Files of other tuners have such expressions for
// values, conditions and sizes.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace smemtune {

/// A Python expression with numbers, texts and lists. Supported are arithmetic, comparisons, `and`, `or`, `not`,
/// `x if c else y`, `range`, `list`, `min`, `max`, `abs`, indices, and list comprehensions with one `for`.
class PythonExpression {
public:
    using Names = std::map<std::string, nlohmann::json>;

    /// Parses `text`. Throws std::invalid_argument, whose message names the part that is not supported.
    explicit PythonExpression(const std::string& text);

    /// The value of the expression: a number, a text, a boolean or a list. Throws std::invalid_argument if a name is
    /// not in `names`.
    [[nodiscard]] nlohmann::json value(const Names& names) const;

    /// Translates the expression to the syntax of manifests. Names in `names` are replaced by their values, other names
    /// stay. Throws std::invalid_argument if the syntax of manifests lacks an operator of the expression.
    [[nodiscard]] std::string in_manifest(const Names& names) const;

    struct Node;

private:
    std::shared_ptr<const Node> root_;
};

}  // namespace smemtune
