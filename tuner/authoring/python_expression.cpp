#include "tuner/authoring/python_expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace smemtune {

using nlohmann::json;

// `kind` is an operator such as `+`, or one of `value`, `name`, `list`, `call`, `index`, `if`, `compare`, `negative`
// (a minus sign before a value) and `for` (a list comprehension).
struct PythonExpression::Node {
    std::string kind;
    std::vector<Node> parts;
    json value;                        // the value, if `kind` is `value`
    std::string name;                  // the name, if `kind` is `name` or `call`; the variable, if `kind` is `for`
    std::vector<std::string> compare;  // the operators between `parts`, if `kind` is `compare`
};

namespace {

using Node = PythonExpression::Node;
using Names = PythonExpression::Names;

constexpr std::int64_t most_elements = 65'535;  // the longest list that `range` returns
constexpr int most_nested = 500;                // how deep parentheses, signs and operators may nest

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

class PythonParser {
public:
    explicit PythonParser(const std::string& text) : text_(text) { next(); }
    Node all() {
        auto node = expression();
        if (!token_.empty()) fail("'" + token_ + "' is not expected here");
        return node;
    }

private:
    void next() {
        at_ = text_.find_first_not_of(" \t\r\n", at_);
        token_.clear();
        if (at_ == std::string::npos) return;
        const auto is_word = [&](std::size_t at) {
            return at < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at])) != 0 || text_[at] == '_');
        };
        auto end = at_;
        if (text_[at_] == '\'' || text_[at_] == '"') {
            end = text_.find(text_[at_], at_ + 1);
            if (end == std::string::npos) fail("a text does not end");
            ++end;
        } else if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
            const auto is_sign = [&](std::size_t at) {
                return (text_[at] == '-' || text_[at] == '+') && (text_[at - 1] == 'e' || text_[at - 1] == 'E');
            };
            while (end < text_.size() && (is_word(end) || text_[end] == '.' || is_sign(end))) ++end;
        } else if (is_word(at_)) {
            while (is_word(end)) ++end;
        } else {
            static constexpr std::array<std::string_view, 6> pairs{"//", "**", "==", "!=", "<=", ">="};
            const auto two = std::string_view(text_).substr(at_, 2);
            end += std::ranges::count(pairs, two) > 0 ? 2 : 1;
        }
        token_ = text_.substr(at_, end - at_);
        at_ = end;
    }
    bool take(const std::string& token) {
        if (token_ != token) return false;
        next();
        return true;
    }
    void expect(const std::string& token) {
        if (!take(token)) fail("'" + token + "' is missing" + (token_.empty() ? "" : " before '" + token_ + "'"));
    }
    // Counts how deeply the functions that parse an expression call one another, so that no text can overflow the
    // stack.
    class Nesting {
    public:
        explicit Nesting(int& depth) : depth_(++depth) {
            if (depth > most_nested) too_deep();
        }
        ~Nesting() { --depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        int& depth_;
    };
    [[noreturn]] static void too_deep() { fail("the expression is nested too deeply"); }

    Node expression() {
        const Nesting nesting(depth_);
        auto node = disjunction();
        if (!take("if")) return node;
        auto condition = disjunction();
        expect("else");
        auto otherwise = expression();
        return {.kind = "if", .parts = {std::move(condition), std::move(node), std::move(otherwise)}};
    }
    template <class Next>
    Node chain(std::initializer_list<const char*> operators, Next next_level) {
        auto node = next_level();
        for (int nested = 0;; ++nested) {  // `a + b + c` is (a + b) + c: each operator adds a level
            const auto* const found = std::ranges::find_if(operators, [&](const char* each) { return token_ == each; });
            if (found == operators.end()) return node;
            if (nested == most_nested) too_deep();
            next();
            auto right = next_level();
            node = {.kind = *found, .parts = {std::move(node), std::move(right)}};
        }
    }
    Node disjunction() {
        return chain({"or"}, [&] { return conjunction(); });
    }
    Node conjunction() {
        return chain({"and"}, [&] { return negation(); });
    }
    Node negation() {
        const Nesting nesting(depth_);
        if (take("not")) return {.kind = "not", .parts = {negation()}};
        return comparison();
    }
    Node comparison() {
        Node node{.kind = "compare", .parts = {sum()}};
        static constexpr std::array<std::string_view, 6> operators{"==", "!=", "<", "<=", ">", ">="};
        while (std::ranges::count(operators, token_) > 0) {
            node.compare.push_back(token_);
            next();
            node.parts.push_back(sum());
        }
        return node.compare.empty() ? node.parts.front() : node;
    }
    Node sum() {
        return chain({"+", "-"}, [&] { return product(); });
    }
    Node product() {
        return chain({"*", "//", "/", "%"}, [&] { return factor(); });
    }
    Node factor() {
        const Nesting nesting(depth_);
        if (take("-")) return {.kind = "negative", .parts = {factor()}};
        if (take("+")) return factor();
        auto node = postfix();
        if (!take("**")) return node;
        auto exponent = factor();
        return {.kind = "**", .parts = {std::move(node), std::move(exponent)}};
    }
    Node postfix() {
        auto node = atom();
        for (int nested = 0;; ++nested) {
            if (nested == most_nested) too_deep();
            if (node.kind == "name" && take("(")) {
                node.kind = "call";
                while (!take(")")) {
                    node.parts.push_back(expression());
                    if (token_ != ")") expect(",");
                }
            } else if (take("[")) {
                auto index = expression();
                expect("]");
                node = {.kind = "index", .parts = {std::move(node), std::move(index)}};
            } else {
                return node;
            }
        }
    }
    Node list() {
        Node node{.kind = "list"};
        while (!take("]")) {
            node.parts.push_back(expression());
            if (node.parts.size() == 1 && take("for")) {
                node.kind = "for";
                node.name = token_;
                next();
                expect("in");
                node.parts.push_back(disjunction());
                if (take("if")) node.parts.push_back(disjunction());
            }
            if (token_ != "]") expect(",");
        }
        return node;
    }
    Node atom() {
        const auto token = token_;
        if (token.empty()) fail("the expression ends too early");
        next();
        if (token == "(") {
            auto node = expression();
            expect(")");
            return node;
        }
        if (token == "[") return list();
        if (token == "True" || token == "False") return {.kind = "value", .value = token == "True"};
        if (token[0] == '\'' || token[0] == '"') return {.kind = "value", .value = token.substr(1, token.size() - 2)};
        if (std::isdigit(static_cast<unsigned char>(token[0])) != 0) {
            auto number = json::parse(token, nullptr, false);
            if (!number.is_number()) fail("'" + token + "' is no number");
            return {.kind = "value", .value = std::move(number)};
        }
        if (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_') {
            return {.kind = "name", .name = token};
        }
        fail("'" + token + "' is not expected here");
    }

    const std::string& text_;
    std::size_t at_ = 0;
    std::string token_;
    int depth_ = 0;
};

std::int64_t whole(const json& value) {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (!value.is_number_integer()) fail(value.dump() + " is no whole number");
    return value.get<std::int64_t>();
}

bool is_true(const json& value) {
    if (value.is_array()) return !value.empty();
    if (value.is_string()) return !value.get_ref<const std::string&>().empty();
    return value.is_boolean() ? value.get<bool>() : value.get<double>() != 0;
}

json arithmetic(const std::string& kind, const json& left, const json& right) {
    if (kind == "+" && left.is_array() && right.is_array()) {
        auto both = left;
        for (const auto& each : right) both.push_back(each);
        return both;
    }
    for (const auto* each : {&left, &right}) {
        if (!each->is_number() && !each->is_boolean()) fail("'" + kind + "' is for numbers, not for " + each->dump());
    }
    if (kind != "/" && !left.is_number_float() && !right.is_number_float()) {
        const auto a = whole(left);
        const auto b = whole(right);
        std::int64_t result = 0;
        if ((kind == "//" || kind == "%") && b == 0) fail("a division by 0");
        const bool overflows = kind == "+"   ? __builtin_add_overflow(a, b, &result)
                               : kind == "-" ? __builtin_sub_overflow(a, b, &result)
                               : kind == "*"
                                   ? __builtin_mul_overflow(a, b, &result)
                                   : (kind == "//" || kind == "%") && b == -1 && __builtin_sub_overflow(0, a, &result);
        if (overflows) fail("a number is too large");
        const bool rounds_up = (kind == "//" || kind == "%") && a % b != 0 && (a < 0) != (b < 0);
        if (kind == "//") return a / b - (rounds_up ? 1 : 0);
        if (kind == "%") return a % b + (rounds_up ? b : 0);
        if (kind != "**") return result;
        if (b >= 0) {
            result = 1;
            for (std::int64_t i = 0; i < b; ++i) {
                if (__builtin_mul_overflow(result, a, &result) || i > 64) fail("a number is too large");
            }
            return result;
        }
    }
    const auto a = left.is_boolean() ? static_cast<double>(whole(left)) : left.get<double>();
    const auto b = right.is_boolean() ? static_cast<double>(whole(right)) : right.get<double>();
    if (kind == "+") return a + b;
    if (kind == "-") return a - b;
    if (kind == "*") return a * b;
    if (kind == "**") return std::pow(a, b);
    if (b == 0) fail("a division by 0");
    if (kind == "/") return a / b;
    return kind == "//" ? std::floor(a / b) : a - b * std::floor(a / b);
}

bool compared(const std::string& operation, const json& left, const json& right) {
    if (operation == "==") return left == right;
    if (operation == "!=") return left != right;
    if (operation == "<") return left < right;
    if (operation == "<=") return left <= right;
    return operation == ">" ? left > right : left >= right;
}

json evaluated(const Node& node, const Names& names);

json called(const Node& node, const Names& names) {
    std::vector<json> arguments;
    for (const auto& each : node.parts) arguments.push_back(evaluated(each, names));
    if (node.name == "range" && !arguments.empty() && arguments.size() <= 3) {
        const auto first = arguments.size() > 1 ? whole(arguments[0]) : 0;
        const auto last = whole(arguments[arguments.size() > 1 ? 1 : 0]);
        const auto step = arguments.size() > 2 ? whole(arguments[2]) : 1;
        if (step == 0) fail("'range' has a step of 0");
        auto list = json::array();
        for (auto i = first; step > 0 ? i < last : i > last;) {
            if (list.size() == static_cast<std::size_t>(most_elements)) fail("'range' is too long");
            list.push_back(i);
            if (__builtin_add_overflow(i, step, &i)) break;  // the next number overflows, so it is beyond any `last`
        }
        return list;
    }
    const auto& first = arguments.empty() ? json() : arguments.front();
    if (node.name == "list" && arguments.size() == 1 && first.is_array()) return first;
    if (node.name == "abs" && arguments.size() == 1 && first.is_number()) {
        return first < 0 ? arithmetic("-", 0, first) : first;
    }
    if (node.name == "min" || node.name == "max") {
        const auto list = arguments.size() == 1 && first.is_array() ? first.get<std::vector<json>>() : arguments;
        if (list.empty()) fail("'" + node.name + "' has no values");
        return node.name == "min" ? *std::ranges::min_element(list) : *std::ranges::max_element(list);
    }
    fail("'" + node.name + "' is an unknown function, or has unknown arguments");
}

json evaluated(const Node& node, const Names& names) {
    const auto part = [&](std::size_t i) { return evaluated(node.parts.at(i), names); };
    if (node.kind == "value") return node.value;
    if (node.kind == "name") {
        const auto found = names.find(node.name);
        if (found == names.end()) fail("'" + node.name + "' is an unknown name");
        return found->second;
    }
    if (node.kind == "call") return called(node, names);
    if (node.kind == "list") {
        auto list = json::array();
        for (const auto& each : node.parts) list.push_back(evaluated(each, names));
        return list;
    }
    if (node.kind == "for") {
        auto list = json::array();
        auto inside = names;
        for (const auto& each : part(1)) {
            inside[node.name] = each;
            if (node.parts.size() > 2 && !is_true(evaluated(node.parts[2], inside))) continue;
            list.push_back(evaluated(node.parts[0], inside));
        }
        return list;
    }
    if (node.kind == "index") {
        const auto list = part(0);
        const auto index = whole(part(1));
        if (!list.is_array() || index < 0 || index >= static_cast<std::int64_t>(list.size())) {
            fail("the index " + std::to_string(index) + " is outside " + list.dump());
        }
        return list[static_cast<std::size_t>(index)];
    }
    if (node.kind == "if") return is_true(part(0)) ? part(1) : part(2);
    if (node.kind == "compare") {
        for (std::size_t i = 0; i < node.compare.size(); ++i) {
            if (!compared(node.compare[i], part(i), part(i + 1))) return false;
        }
        return true;
    }
    if (node.kind == "and" || node.kind == "or") {
        auto left = part(0);
        return is_true(left) == (node.kind == "or") ? left : part(1);
    }
    if (node.kind == "not") return !is_true(part(0));
    if (node.kind == "negative") return arithmetic("-", 0, part(0));
    return arithmetic(node.kind, part(0), part(1));
}

std::string written(const Node& node, const Names& names);

std::string written_value(const json& value) {
    if (value.is_number_integer() || value.is_boolean()) return std::to_string(whole(value));
    if (value.is_string()) return "'" + value.get<std::string>() + "'";
    fail(value.dump() + " is neither a whole number nor a text");
}

// Returns the value of `node` as text. Returns an empty text if `node` has an unknown name or cannot be evaluated.
std::string constant(const Node& node, const Names& names) {
    try {
        return written_value(evaluated(node, names));
    } catch (const std::invalid_argument&) {
        return "";
    }
}

std::string written(const Node& node, const Names& names) {
    if (auto text = constant(node, names); !text.empty()) return text;
    const auto part = [&](std::size_t i) {
        auto text = written(node.parts.at(i), names);
        const bool is_single = node.parts[i].kind == "name" || node.parts[i].kind == "call" ||
                               node.parts[i].kind == "index" || text.find(' ') == std::string::npos;
        return is_single ? text : "(" + text + ")";
    };
    if (node.kind == "name") return node.name;
    if (node.kind == "value") return written_value(node.value);
    if (node.kind == "compare") {
        std::string text;
        for (std::size_t i = 0; i < node.compare.size(); ++i) {
            text += (i == 0 ? "" : " && ") + part(i) + " " + node.compare[i] + " " + part(i + 1);
        }
        return text;
    }
    if (node.kind == "call" && (node.name == "min" || node.name == "max") && node.parts.size() == 2) {
        return node.name + "(" + written(node.parts[0], names) + ", " + written(node.parts[1], names) + ")";
    }
    if (node.kind == "if") return part(0) + " ? " + part(1) + " : " + part(2);
    if (node.kind == "not") return "!" + part(0);
    if (node.kind == "negative") return "-" + part(0);
    static const std::map<std::string, std::string> operators{{"or", "||"}, {"and", "&&"}, {"+", "+"}, {"-", "-"},
                                                              {"*", "*"},   {"//", "/"},   {"%", "%"}};
    if (const auto found = operators.find(node.kind); found != operators.end()) {
        return part(0) + " " + found->second + " " + part(1);
    }
    if (node.kind == "/") fail("'/' gives a fraction; '//' is a division of whole numbers");
    fail("'" + (node.name.empty() ? node.kind : node.name) + "' is not in expressions of manifests");
}

}  // namespace

PythonExpression::PythonExpression(const std::string& text)
    : root_(std::make_shared<const Node>(PythonParser(text).all())) {}

json PythonExpression::value(const Names& names) const { return evaluated(*root_, names); }

std::string PythonExpression::in_manifest(const Names& names) const { return written(*root_, names); }

}  // namespace smemtune
