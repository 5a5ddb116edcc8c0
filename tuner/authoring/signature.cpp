#include "tuner/authoring/signature.h"

#include <regex>

#include "templates/source/source_scan.h"

namespace smemtune {

namespace {

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

DeclaredArgument declared(const std::string& text) {
    static const std::regex noise(R"(\b(?:__restrict__|__restrict|__grid_constant__|restrict|struct)\b)");
    static const std::regex constant(R"(\bconst\b)");
    auto plain = std::regex_replace(text, noise, "");
    DeclaredArgument result{.pointer = plain.find_first_of("*[") != std::string::npos,
                            .constant = std::regex_search(plain, constant)};
    plain = std::regex_replace(plain, constant, "");
    std::erase(plain, '*');
    plain = trimmed(plain.substr(0, plain.find('[')));
    const auto last = plain.find_last_of(" \t\n&");
    result.type = last == std::string::npos ? plain : trimmed(plain.substr(0, last));
    result.name = last == std::string::npos ? "" : plain.substr(last + 1);
    return result;
}

}  // namespace

std::vector<DeclaredArgument> declared_arguments(const std::string& list) {
    std::vector<DeclaredArgument> result;
    std::size_t begin = 0;
    for (std::size_t at = 0, depth = 0; at <= list.size(); ++at) {
        const auto c = at < list.size() ? list[at] : ',';
        if (c == '<' || c == '(') ++depth;
        if (c == '>' || c == ')') --depth;
        if (c != ',' || depth > 0) continue;
        if (const auto text = trimmed(list.substr(begin, at - begin)); !text.empty() && text != "void") {
            result.push_back(declared(text));
        }
        begin = at + 1;
    }
    return result;
}

std::optional<std::vector<DeclaredArgument>> kernel_arguments(const std::string& source, const std::string& name) {
    const auto plain = without_comments(source);
    const std::regex definition("\\b" + name + R"(\s*\(([^{;]*)\)\s*\{)");
    std::smatch match;
    if (!std::regex_search(plain, match, definition)) return std::nullopt;
    return declared_arguments(match[1]);
}

}  // namespace smemtune
