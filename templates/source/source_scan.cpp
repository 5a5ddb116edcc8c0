#include "templates/source/source_scan.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <sstream>

namespace smemtune {

namespace {

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool is_directive(const std::string& line) {
    const auto at = line.find_first_not_of(" \t");
    return at != std::string::npos && line[at] == '#';
}

std::string first_word(const std::string& text) {
    const auto begin = std::find_if_not(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; });
    return {begin, std::find_if_not(begin, text.end(), continues_word)};
}

// Reads a source line by line. Knows which preprocessor conditionals are open at the present line, and which names are
// undefined inside them.
class OpenBranches {
public:
    explicit OpenBranches(std::set<std::string> macros) : macros_(std::move(macros)) {}
    void read(const SourceLine& line) {
        const auto name = first_word(line.rest);
        if (line.directive == "define" && open_.empty()) {
            macros_.insert(name);
        } else if (line.directive == "undef") {
            macros_.erase(name);
        } else if (line.directive == "ifndef") {
            open_.push_back({{name}, {}, macros_.contains(name)});
        } else if (line.directive == "ifdef") {
            open_.push_back({{}, {name}, false, macros_.contains(name)});
        } else if (line.directive == "if") {
            open_.push_back(
                {undefined_in(line.rest), defined_in(line.rest), is_number(line.rest, "0"), is_number(line.rest, "1")});
        } else if (line.directive == "elif" && !open_.empty()) {
            auto& branch = open_.back();
            branch.undefined = undefined_in(line.rest);
            branch.undefined.insert(branch.defined.begin(), branch.defined.end());
            branch.defined.merge(defined_in(line.rest));
            branch.disabled = branch.others_disabled || is_number(line.rest, "0");
        } else if (line.directive == "else" && !open_.empty()) {
            open_.back().undefined = open_.back().defined;
            open_.back().disabled = open_.back().others_disabled;
        } else if (line.directive == "endif" && !open_.empty()) {
            open_.pop_back();
        }
    }
    // Whether the present line is never compiled, or is compiled only if `name` is undefined.
    [[nodiscard]] bool lack(const std::string& name) const {
        return std::ranges::any_of(open_,
                                   [&](const Branch& each) { return each.disabled || each.undefined.contains(name); });
    }

private:
    struct Branch {
        std::set<std::string> undefined;  // names that are undefined in this branch
        std::set<std::string> defined;    // if one of these is defined, later branches are not compiled
        bool disabled = false;            // whether the branch is never compiled, as after `#if 0`
        bool others_disabled = false;     // whether later branches are never compiled, as after `#if 1`
    };
    static bool is_number(const std::string& condition, const char* digit) {
        std::istringstream words(condition);
        std::string first;
        std::string second;
        return words >> first && first == digit && !(words >> second);
    }
    // Splits `condition` into operands at each operator `joint`. Returns the name in each operand that matches
    // `expression`.
    static std::set<std::string> decisive(const std::string& condition, const std::string& joint,
                                          const std::regex& expression) {
        std::set<std::string> names;
        for (std::size_t at = 0; at <= condition.size();) {
            const auto end = std::min(condition.find(joint, at), condition.size());
            const auto operand = condition.substr(at, end - at);
            std::smatch match;
            if (std::regex_match(operand, match, expression)) names.insert(match[1].str() + match[2].str());
            at = end + joint.size();
        }
        return names;
    }
    // Returns names that must all be undefined for `condition` to be true.
    static std::set<std::string> undefined_in(const std::string& condition) {
        if (condition.find("||") != std::string::npos) return {};
        static const std::regex expression(R"(\s*!\s*defined(?:\s*\(\s*(\w+)\s*\)|\s+(\w+))\s*)");
        return decisive(condition, "&&", expression);
    }
    // Returns names each of which makes `condition` true if it is defined.
    static std::set<std::string> defined_in(const std::string& condition) {
        if (condition.find("&&") != std::string::npos) return {};
        static const std::regex expression(R"(\s*defined(?:\s*\(\s*(\w+)\s*\)|\s+(\w+))\s*)");
        return decisive(condition, "||", expression);
    }
    std::vector<Branch> open_;
    std::set<std::string> macros_;  // the names that are certainly defined
};

// Sets SourceLine::constant of each line that defines a constant at file scope. The quick test for "const" saves most
// of the slow searches with a regular expression.
void find_constants(std::vector<SourceLine>& lines) {
    static const std::regex constant(
        R"(\b((?:static\s+)?(?:constexpr|const)\s+(?:unsigned\s+|static\s+|long\s+)*\w+\s+(\w+))\s*(?:=|\{)[^=])");
    int depth = 0;  // how many braces are open
    for (auto& line : lines) {
        if (!line.directive.empty()) continue;
        std::smatch match;
        const bool may_define = depth == 0 && line.rest.find("const") != std::string::npos;
        if (may_define && std::regex_search(line.rest, match, constant)) {
            line.constant = match[2];
            line.written_constant = match[1];
        }
        depth += static_cast<int>(std::ranges::count(line.rest, '{') - std::ranges::count(line.rest, '}'));
    }
}

}  // namespace

std::string without_comments(const std::string& source) {
    std::string result = source;
    const auto blank = [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < std::min(end, result.size()); ++i) {
            if (result[i] != '\n') result[i] = ' ';
        }
    };
    const auto is_prefix = [](char c) { return c == 'L' || c == 'u' || c == 'U' || c == '8'; };
    bool of_include = false;  // whether a quoted text is the file name of an `#include` and not a literal
    for (std::size_t at = 0; at < source.size();) {
        // This search is faster than find_first_of(), which calls memchr() for each character.
        const auto is_special = [](char c) {
            return c == '/' || c == 'R' || c == '"' || c == '\'' || c == '\n' || c == 'i';
        };
        at = static_cast<std::size_t>(
            std::find_if(source.begin() + static_cast<std::ptrdiff_t>(at), source.end(), is_special) - source.begin());
        if (at == source.size()) break;
        const auto rest = std::string_view(source).substr(at);
        auto end = at + 1;
        if (rest.starts_with("//")) {
            end = std::min(source.find('\n', at), source.size());
            blank(at, end);
        } else if (rest.starts_with("/*")) {
            const auto close = source.find("*/", at + 2);
            end = close == std::string::npos ? source.size() : close + 2;
            blank(at, end);
        } else if (rest.starts_with("R\"") &&
                   (at == 0 || !continues_word(source[at - 1]) || is_prefix(source[at - 1]))) {
            const auto open = source.find('(', at);
            const auto delimiter = open == std::string::npos ? "" : source.substr(at + 2, open - at - 2);
            const auto close = source.find(")" + delimiter + "\"", at);
            end = close == std::string::npos ? source.size() : close + delimiter.size() + 2;
            blank(at + 2, end - 1);
        } else if (rest[0] == '"' || (rest[0] == '\'' && (at == 0 || !continues_word(source[at - 1])))) {
            while (end < source.size() && source[end] != rest[0] && source[end] != '\n') {
                end += source[end] == '\\' ? 2 : 1;
            }
            // The literal "C" is kept, because has_c_linkage() searches for extern "C".
            if (!of_include && rest.substr(0, 3) != "\"C\"") blank(at + 1, end);
            ++end;
        } else if (rest[0] == '\n') {
            of_include = false;
        } else if (rest.starts_with("include")) {
            of_include = true;
            end = at + 7;
        }
        at = end;
    }
    return result;
}

std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    for (const auto* at = text.begin(); at != text.end();) {
        const auto* const end = std::find_if_not(at, text.end(), continues_word);
        if (end == at) {
            ++at;
            continue;
        }
        if (begins_word(*at)) words.emplace(at, end);
        at = end;
    }
    return words;
}

std::vector<Include> includes_of(const std::string& source) {
    std::vector<Include> result;
    static const std::regex include(R"(^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]*))");
    const auto plain = without_comments(source);
    std::istringstream written(source);
    std::istringstream clean(plain);
    std::string text;
    std::string bare;
    std::size_t disabled_depth = 0;  // number of open conditionals, counted from an `#if 0` on; 0 if no `#if 0` is open
    for (std::size_t line = 1; std::getline(written, text) && std::getline(clean, bare); ++line) {
        static const std::regex condition(R"(^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b[ \t]*(.*))");
        std::smatch match;
        if (is_directive(bare) && std::regex_match(bare, match, condition)) {
            const auto word = match[1].str();
            if (word.starts_with("if")) {
                if (disabled_depth > 0 || (word == "if" && first_word(match[2]) == "0")) ++disabled_depth;
            } else if (disabled_depth == 1 || (disabled_depth > 1 && word == "endif")) {
                --disabled_depth;
            }
        }
        if (!is_directive(text) || !std::regex_search(text, match, include)) continue;
        std::smatch of_bare;
        const bool commented = !std::regex_search(bare, of_bare, include);
        result.push_back({match[2], line, match[1] == "\"", commented || disabled_depth > 0});
    }
    return result;
}

std::vector<SourceLine> lines_of(const std::string& source) {
    std::vector<SourceLine> result;
    std::istringstream stream(without_comments(source));
    std::size_t number = 0;
    for (std::string line; std::getline(stream, line);) {
        const auto first = ++number;
        while (line.ends_with('\\') || line.ends_with("\\\r")) {
            line.resize(line.rfind('\\'));
            std::string more;
            if (!std::getline(stream, more)) break;
            ++number;
            line += more;
        }
        const auto at = line.find_first_not_of(" \t");
        if (at == std::string::npos) continue;
        if (line[at] != '#') {
            result.push_back({.rest = line, .line = first});
            continue;
        }
        const auto begin = std::find_if(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), begins_word);
        const auto end = std::find_if_not(begin, line.end(), continues_word);
        result.push_back({.directive = {begin, end}, .rest = {end, line.end()}, .line = first});
    }
    find_constants(result);
    return result;
}

std::set<std::string> names_in_conditions(const std::vector<std::span<const SourceLine>>& sources) {
    std::set<std::string> names;
    std::map<std::string, std::set<std::string>> bodies;
    for (const auto& source : sources) {
        for (const auto& line : source) {
            if (line.directive == "if" || line.directive == "elif" || line.directive == "ifdef" ||
                line.directive == "ifndef") {
                names.merge(words_of(line.rest));
            } else if (line.directive == "define") {
                const auto name = first_word(line.rest);
                bodies[name].merge(words_of(std::string_view(line.rest).substr(line.rest.find(name) + name.size())));
            }
        }
    }
    for (std::vector<std::string> open(names.begin(), names.end()); !open.empty();) {
        const auto body = bodies.find(open.back());
        open.pop_back();
        if (body == bodies.end()) continue;
        for (const auto& name : body->second) {
            if (names.insert(name).second) open.push_back(name);
        }
    }
    return names;
}

std::optional<Redefinition> redefinition(std::span<const SourceLine> source, const std::set<std::string>& names,
                                         const std::set<std::string>& macros) {
    OpenBranches open(macros);
    for (const auto& line : source) {
        open.read(line);
        if (line.directive == "define" || line.directive == "undef") {
            const auto name = first_word(line.rest);
            if (names.contains(name) && !open.lack(name)) {
                return Redefinition{name, line.line, "#" + line.directive + " " + name};
            }
        } else if (!line.constant.empty() && names.contains(line.constant) && !open.lack(line.constant)) {
            return Redefinition{line.constant, line.line, line.written_constant};
        }
    }
    return std::nullopt;
}

std::set<std::string> template_parameters(const std::string& source) {
    std::set<std::string> names;
    const auto text = without_comments(source);
    static const std::regex header(R"(template\s*<([^<>]*)>)");
    static const std::regex last_word(R"((\w+)\s*(?:=[^,]*)?(?:,|$))");
    for (auto at = text.find("template"); at != std::string::npos; at = text.find("template", at + 1)) {
        std::smatch match;
        if (at > 0 && continues_word(text[at - 1])) continue;
        if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), match, header,
                               std::regex_constants::match_continuous))
            continue;
        const auto list = match[1].str();
        for (std::sregex_iterator each(list.begin(), list.end(), last_word), end; each != end; ++each) {
            names.insert((*each)[1]);
        }
    }
    return names;
}

bool has_c_linkage(const std::string& source) {
    static const std::regex linkage(R"(\bextern\s*"C")");
    return std::regex_search(without_comments(source), linkage);
}

std::string base_name(const std::string& entry) {
    auto name = entry.substr(0, entry.find('<'));
    name.resize(name.find_last_not_of(" \t") + 1);
    const auto scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

std::string substituted(const std::string& text,
                        const std::function<std::optional<std::string>(const std::string&)>& value) {
    std::string result;
    for (auto at = text.begin(); at != text.end();) {
        const auto end = std::find_if_not(at, text.end(), continues_word);
        if (end == at) {
            result += *at++;
            continue;
        }
        const std::string word(at, end);
        result += value(word).value_or(word);
        at = end;
    }
    return result;
}

}  // namespace smemtune
