// Checks that libsmemtune.so exports exactly the symbols in runtime/c/exports.map, and that this list has every public
// symbol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>

namespace {

using Names = std::set<std::string>;

std::string read(const std::string& path) {
    std::ifstream file(std::filesystem::path(SMEMTUNE_SOURCE_DIR) / path);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.empty()) throw std::runtime_error(path + " is empty or absent");
    return text;
}

/// Returns the first group of each match.
Names matches(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    Names names;
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) names.insert((*at)[1]);
    return names;
}

std::string output_of(const std::string& command) {
    struct Close {
        void operator()(FILE* pipe) const { pclose(pipe); }
    };
    const std::unique_ptr<FILE, Close> pipe(popen(command.c_str(), "r"));
    std::string text;
    for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
    return text;
}

Names listed_in_c() { return matches(read("runtime/c/exports.map"), R"(\n +(smemtune_\w+);)"); }
Names listed_in_cpp() { return matches(read("runtime/c/exports.map"), R"(\n +"(smemtune::[^"]+)\";)"); }

TEST(Exports, AreThoseOfTheList) {
    const auto symbols =
        output_of(SMEMTUNE_NM " -D --defined-only " SMEMTUNE_SHARED_LIBRARY " | sed 's/@.*//' | c++filt");
    auto listed = listed_in_c();
    listed.merge(listed_in_cpp());
    EXPECT_EQ(matches(symbols, R"([0-9a-f]+ [^A] (.+)\n)"), listed);
}

TEST(Exports, ListEveryFunctionOfTheHeaderForC) {
    const auto code = std::regex_replace(read("runtime/c/smemtune.h"), std::regex("//.*"), "");
    const auto declared = matches(code, R"([\w*] [*]?(smemtune_\w+)\()");
    EXPECT_GE(declared.size(), 19U);
    EXPECT_EQ(declared, listed_in_c());
}

// nm prints T for members that are compiled into the library, and W for members that are compiled into applications.
TEST(Exports, ListEveryPublicMemberOfTheCppInterface) {
    auto members =
        matches(output_of(SMEMTUNE_NM " -C " SMEMTUNE_LAYER " 2>/dev/null | grep -F ' T smemtune::'"),
                R"([0-9a-f]+ T (smemtune::(?:(?:Runtime|Kernel)::|to_text\(smemtune::Match|must_take\().+)\n)");
    std::erase_if(members, [](const auto& name) { return name.find("::State") != name.npos; });  // State is private
    EXPECT_GE(members.size(), 12U);
    EXPECT_EQ(members, listed_in_cpp());
}

}  // namespace
