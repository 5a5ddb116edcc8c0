#include "templates/source/source_scan.h"

#include <gmock/gmock.h>

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::set<std::string>;

TEST(SourceScan, CommentsAndLiteralsBecomeBlanksOfTheSameLength) {
    const auto blanks = [](std::size_t count) { return std::string(count, ' '); };
    const std::vector<std::pair<std::string, std::string>> texts{
        {"a // b\nc", "a " + blanks(4) + "\nc"},
        {"a /* b\n c */ d", "a " + blanks(4) + "\n" + blanks(5) + " d"},
        {"a /* never closed", "a " + blanks(15)},
        {"// at the end", blanks(13)},
        {"x = a / b;", "x = a / b;"},
        {"s = \"// no /* comment\"; t", "s = \"" + blanks(16) + "\"; t"},
        {"s = \"a\\\"b\"; t", "s = \"" + blanks(4) + "\"; t"},
        {"s = \"not closed\nt", "s = \"" + blanks(10) + "\nt"},
        {"c = '\"'; d = '\\''; e", "c = ' '; d = '  '; e"},
        {"n = 1'000'000; s = 'x'", "n = 1'000'000; s = ' '"},
        {"extern \"C\" f", "extern \"C\" f"},
        {"s = R\"(a\" // b)\"; t", "s = R\"" + blanks(9) + "\"; t"},
        {"s = R\"x(a)\" )x\"; t", "s = R\"" + blanks(8) + "\"; t"},
        {"s = LR\"(a)\"; t", "s = LR\"" + blanks(3) + "\"; t"},
        {"s = u8R\"(\" //)\"; t", "s = u8R\"" + blanks(6) + "\"; t"},
        {"s = uR\"(\" //)\"; t", "s = uR\"" + blanks(6) + "\"; t"},
        {"s = UR\"(\" //)\"; t", "s = UR\"" + blanks(6) + "\"; t"},
        {"FOR\"(a)\" b", "FOR\"" + blanks(3) + "\" b"},
        {"#include \"a//b.h\"\ns = \"ab\"", "#include \"a//b.h\"\ns = \"  \""},
        {"#include <a.h> // c\n", "#include <a.h> " + blanks(4) + "\n"},
        {"", ""},
    };
    for (const auto& [source, expected] : texts) EXPECT_EQ(without_comments(source), expected) << source;
}

TEST(SourceScan, WordsAreIdentifiers) {
    EXPECT_EQ(words_of("a_1 + 2b - _c(d.e), 0x1F"), (Names{"a_1", "_c", "d", "e"}));
    EXPECT_THAT(words_of(""), IsEmpty());
    EXPECT_THAT(words_of("1 2 3 + -"), IsEmpty());
    EXPECT_EQ(words_of("last"), Names{"last"});
}

std::vector<std::string> texts_of(const std::vector<Include>& includes) {
    std::vector<std::string> texts;
    for (const auto& each : includes) {
        texts.push_back(std::to_string(each.line) + (each.quoted ? " \"" : " <") + each.name +
                        (each.disabled ? " disabled" : ""));
    }
    return texts;
}

TEST(SourceScan, IncludesHaveTheirLineTheirFormAndWhetherTheCompilerMaySkipThem) {
    EXPECT_THAT(texts_of(includes_of("#include \"a.h\"\n"
                                     "  # include\t<b/c.h>  // why\n"
                                     "int x; // #include \"no.h\"\n"
                                     "// #include \"commented.h\"\n"
                                     "/*\n"
                                     "#include \"in_comment.h\"\n"
                                     "*/\n"
                                     "#include \"last.h\"")),
                ElementsAre("1 \"a.h", "2 <b/c.h", "6 \"in_comment.h disabled", "8 \"last.h"));
    EXPECT_THAT(texts_of(includes_of("#if 0\n"
                                     "#include \"never.h\"\n"
                                     "#ifdef A\n"
                                     "#include \"nested.h\"\n"
                                     "#else\n"
                                     "#include \"nested_else.h\"\n"
                                     "#endif\n"
                                     "#include \"still.h\"\n"
                                     "#else\n"
                                     "#include \"otherwise.h\"\n"
                                     "#endif\n"
                                     "#include \"behind.h\"\n")),
                ElementsAre("2 \"never.h disabled", "4 \"nested.h disabled", "6 \"nested_else.h disabled",
                            "8 \"still.h disabled", "10 \"otherwise.h", "12 \"behind.h"));
    EXPECT_THAT(
        texts_of(includes_of("#if 1\n#include \"a.h\"\n#elif B\n#include \"b.h\"\n#endif\n"
                             "#ifndef X\n#include \"c.h\"\n#endif\n#if 0\n#elif 1\n#include \"d.h\"\n#endif\n")),
        ElementsAre("2 \"a.h", "4 \"b.h", "7 \"c.h", "11 \"d.h"));
    EXPECT_THAT(includes_of(""), IsEmpty());
}

TEST(SourceScan, NamesInConditionsAreThoseThatThePreprocessorNeedsDirectlyOrThroughMacros) {
    EXPECT_EQ(names_in_conditions({lines_of("#if A > 1\n#elif defined(B)\n#endif\n#ifdef C\n#endif\n#ifndef D\n#endif\n"
                                            "int E;\n#define F G\n// #if H\n")}),
              (Names{"A", "defined", "B", "C", "D"}));
    EXPECT_EQ(names_in_conditions({lines_of("#if A\n#endif\n#define A B * C\n#define B D\n#define X Y\n")}),
              (Names{"A", "B", "C", "D"}));
    EXPECT_EQ(names_in_conditions({lines_of("#if A\n#endif\n"), lines_of("#define A \\\n  B\n")}), (Names{"A", "B"}))
        << "in another file, on a continued line";
    EXPECT_EQ(names_in_conditions({lines_of("#if A\n#endif\n#define A A + B\n#define B A\n")}), (Names{"A", "B"}))
        << "a circle";
    EXPECT_THAT(names_in_conditions({lines_of("#pragma A\n#undef B\n#else C\n")}), IsEmpty());
}

// Returns the redefinition of A or B in a source as `line: text`; empty if there is none.
std::string redefined(const std::string& source, const Names& macros = {}) {
    const auto found = redefinition(lines_of(source), {"A", "B"}, macros);
    return found ? std::to_string(found->line) + ": " + found->written + " (" + found->name + ")" : "";
}

TEST(SourceScan, ADefinitionReplacesAParameterWhereTheCompilerReadsIt) {
    EXPECT_EQ(redefined("#define A 1"), "1: #define A (A)");
    EXPECT_EQ(redefined("int x;\n\n#undef B\n"), "3: #undef B (B)");
    EXPECT_EQ(redefined("#define AB 1\n#define C A\n"), "");
    EXPECT_EQ(redefined("// #define A 1\n\"#define A 1\"\n"), "");
    EXPECT_EQ(redefined("#define \\\n A 1\n#define B 2"), "1: #define A (A)") << "the first line of a continued one";
    EXPECT_EQ(redefined("x\\\ny\n#define A 1"), "3: #define A (A)");
    const std::vector<std::pair<std::string, bool>> conditions{
        {"#ifndef A", false},
        {"#ifdef A", true},
        {"#ifndef B", true},
        {"#if !defined(A)", false},
        {"#if ! defined A", false},
        {"#if defined(A)", true},
        {"#if !defined(A) && X > 1", false},
        {"#if X > 1 && !defined ( A )", false},
        {"#if !defined(A) || X", true},
        {"#if !defined(B)", true},
        {"#if 0", false},
        {"#if 1", true},
        {"#if 0 + 1", true},
        {"#if X", true},
        {"#ifdef X\n#else", true},
        {"#ifdef A\n#else", false},
        {"#ifdef A\n#elif X", false},
        {"#ifdef B\n#else", true},
        {"#ifndef A\n#else", true},
        {"#if defined(A) || X\n#else", false},
        {"#if defined(A) && X\n#else", true},
        {"#if X\n#elif defined(A)\n#else", false},
        {"#if X\n#elif !defined(A)", false},
        {"#if X\n#elif Y\n#elif 0", false},
        {"#if 0\n#else", true},
        {"#if 0\n#elif 1", true},
        {"#if 1\n#else", false},
        {"#if 1\n#elif X", false},
        {"#ifndef A\n#ifdef X", false},
        {"#ifdef X\n#ifndef A", false},
        {"#ifndef A\n#endif", true},
        {"#ifndef A\n#ifdef X\n#endif", false},
        {"#else", true},
        {"#endif", true},
        {"#elif 0", true},
    };
    for (const auto& [condition, is_read] : conditions) {
        EXPECT_EQ(redefined(condition + "\n#define A 1\n") != "", is_read) << condition;
    }
}

TEST(SourceScan, AMacroThatIsCertainlyDefinedDecidesConditions) {
    EXPECT_EQ(redefined("#ifndef X\n#define A 1\n#endif\n"), "2: #define A (A)");
    EXPECT_EQ(redefined("#ifndef X\n#define A 1\n#endif\n", {"X"}), "");
    EXPECT_EQ(redefined("#define X\n#ifndef X\n#define A 1\n#endif\n"), "");
    EXPECT_EQ(redefined("#define X\n#undef X\n#ifndef X\n#define A 1\n#endif\n"), "4: #define A (A)");
    EXPECT_EQ(redefined("#ifdef Y\n#define X\n#endif\n#ifndef X\n#define A 1\n#endif\n"), "5: #define A (A)")
        << "perhaps it is defined";
    EXPECT_EQ(redefined("#ifdef X\n#else\n#define A 1\n#endif\n", {"X"}), "") << "the other branch of a macro";
    EXPECT_EQ(redefined("#ifdef X\n#else\n#define A 1\n#endif\n"), "3: #define A (A)");
}

TEST(SourceScan, AConstantReplacesAParameterAtFileScopeAlone) {
    EXPECT_EQ(redefined("constexpr int A = 1;"), "1: constexpr int A (A)");
    EXPECT_EQ(redefined("static const unsigned B{2};"), "1: static const unsigned B (B)");
    EXPECT_EQ(redefined("const unsigned long A=1;"), "1: const unsigned long A (A)");
    EXPECT_EQ(redefined("void f() {\n  const int A = 1;\n}\nconst int B = 2;\n"), "4: const int B (B)");
    EXPECT_EQ(redefined("int A = 1;\nbool b = A == 1; const int C = A;\nif (const int A == 1) {}"), "");
    EXPECT_EQ(redefined("#ifndef A\nconstexpr int A = 1;\n#endif\n"), "");
    EXPECT_EQ(redefined("#ifdef A\nconstexpr int A = 1;\n#endif\n"), "2: constexpr int A (A)");
}

TEST(SourceScan, TemplateParametersLinkageAndBaseNames) {
    EXPECT_EQ(template_parameters("template <int N, class T = float, typename... More>\nvoid f();\n"
                                  "template<>void g();  // template <int C>\n"
                                  "my_template<int D>; template < bool B > struct S;"),
              (Names{"N", "T", "More", "B"}));
    EXPECT_THAT(template_parameters("int template_;"), IsEmpty());
    EXPECT_TRUE(has_c_linkage("extern \"C\" __global__ void f();"));
    EXPECT_TRUE(has_c_linkage("extern\n  \"C\" {"));
    EXPECT_FALSE(has_c_linkage("extern int c; // extern \"C\""));
    EXPECT_FALSE(has_c_linkage("my_extern \"C\""));
    EXPECT_EQ(base_name("kernel"), "kernel");
    EXPECT_EQ(base_name("ns::inner::kernel<float, 4>"), "kernel");
    EXPECT_EQ(base_name("kernel <ns::type>"), "kernel");
}

TEST(SourceScan, WordsAreSubstitutedWholeAndOnce) {
    const auto value = [](const std::string& word) -> std::optional<std::string> {
        if (word == "A") return "B";
        if (word == "B") return "(1)";
        return std::nullopt;
    };
    EXPECT_EQ(substituted("A + AB*B-A1,x.A", value), "B + AB*(1)-A1,x.B");
    EXPECT_EQ(substituted("", value), "");
    EXPECT_EQ(substituted("A", value), "B");
    EXPECT_EQ(substituted("  A  ", value), "  B  ");
}

}  // namespace
}  // namespace smemtune
