#include "tuner/authoring/signature.h"

#include <map>
#include <regex>

#include "templates/source/source_scan.h"

namespace smemtune {

namespace {

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

DeclaredArgument declared(const std::string& text) {
    static const std::regex noise(R"(\b(?:__restrict__|__restrict|__grid_constant__|restrict|struct|volatile)\b)");
    static const std::regex constant(R"(\bconst\b)");
    static const std::regex long_name(R"(\b(long|short|signed|unsigned)\s+int$)");
    auto plain = std::regex_replace(text.substr(0, text.find('=')), noise, "");
    const auto star = plain.rfind('*');
    // In `float* const a`, the pointer is constant, not the numbers.
    DeclaredArgument result{.pointer = plain.find_first_of("*[") != std::string::npos,
                            .constant = std::regex_search(plain.substr(0, star), constant)};
    if (star != std::string::npos) plain[star] = ' ';
    plain = std::regex_replace(plain, constant, "");
    plain = trimmed(plain.substr(0, plain.find('[')));
    const auto last = plain.find_last_of(" \t\n*&");
    const auto type = last == std::string::npos ? plain : trimmed(plain.substr(0, last + 1));
    result.type = std::regex_replace(type, long_name, "$1");
    result.name = last == std::string::npos ? "" : plain.substr(last + 1);
    return result;
}

std::optional<std::string> followed_number_type(const std::string& source, const std::string& name, int depth) {
    static const std::map<std::string, std::string> numbers{{"float", "f32"},
                                                            {"double", "f64"},
                                                            {"int", "i32"},
                                                            {"unsigned int", "u32"},
                                                            {"unsigned", "u32"},
                                                            {"long", "i64"},
                                                            {"unsigned long", "u64"},
                                                            {"bool", "u8"},
                                                            {"signed", "i32"},
                                                            {"long long", "i64"},
                                                            {"unsigned long long", "u64"},
                                                            {"short", "i16"},
                                                            {"unsigned short", "u16"},
                                                            {"signed char", "i8"},
                                                            {"char", "i8"},
                                                            {"unsigned char", "u8"},
                                                            {"half", "f16"},
                                                            {"__half", "f16"},
                                                            {"half2", "f16x2"},
                                                            {"__half2", "f16x2"},
                                                            {"nv_bfloat16", "bf16"},
                                                            {"__nv_bfloat16", "bf16"},
                                                            {"nv_bfloat162", "bf16x2"},
                                                            {"__nv_bfloat162", "bf16x2"},
                                                            {"int64_t", "i64"},
                                                            {"uint64_t", "u64"},
                                                            {"size_t", "u64"},
                                                            {"int32_t", "i32"},
                                                            {"uint32_t", "u32"},
                                                            {"int16_t", "i16"},
                                                            {"uint16_t", "u16"},
                                                            {"int8_t", "i8"},
                                                            {"uint8_t", "u8"},
                                                            {"uint", "u32"},
                                                            {"ushort", "u16"},
                                                            // not types, but parts of names such as uchar4
                                                            {"ulonglong", "u64"},
                                                            {"longlong", "i64"},
                                                            {"uchar", "u8"}};
    if (const auto found = numbers.find(name); found != numbers.end()) return found->second;
    std::smatch match;
    static const std::regex vector("(float|double|u?(?:int|longlong|short|char))([234])");
    if (std::regex_match(name, match, vector)) return numbers.at(match[1]) + "x" + match[2].str();
    static const std::regex plain_word(R"(\w+)");
    if (depth > 3 || !std::regex_match(name, plain_word)) return std::nullopt;
    const auto text = without_comments(source);
    const std::regex macro("#[ \\t]*define[ \\t]+" + name + R"([ \t]+([\w ]*\w))");
    const std::regex alias(R"(typedef\s+([\w ]*\w)\s+)" + name + R"(\s*;|using\s+)" + name +
                           R"(\s*=\s*([\w ]*\w)\s*;)");
    if (!std::regex_search(text, match, macro) && !std::regex_search(text, match, alias)) return std::nullopt;
    return followed_number_type(source, match[1].matched ? match[1] : match[2], depth + 1);
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

std::optional<std::string> number_type(const std::string& source, const std::string& name) {
    static const std::regex unimportant(R"(\bstd::|\s*&)");
    return followed_number_type(source, std::regex_replace(name, unimportant, ""), 0);
}

}  // namespace smemtune
