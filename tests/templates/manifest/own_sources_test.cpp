// Tests templates whose source was not written for smemtune and stays as it is: macros, includes, entry points,
// options, and values that are not whole numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "templates/manifest/catalog.h"
#include "templates/source/source_scan.h"
#include "templates/space/value.h"

namespace smemtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* manifest = R"toml([operation]
name       = "copy"
extents    = ["n"]
operations = "0"
bytes      = "8 * n"
terms      = "0"
reference  = "reference.cu"
argument   = [{ name = "n", kind = "extent" },
              { name = "in", kind = "input", rows = "1", columns = "n" },
              { name = "out", kind = "output", rows = "1", columns = "n" }]
check      = [{ inputs = "uniform" }]

[template]
name      = "copy"
operation = "copy"
types     = ["f32"]

[[parameter]]
name   = "TILE"
values = [16, 32]

[launch]
block = ["TILE"]
grid  = ["ceil_div(n, TILE)"]
)toml";

constexpr const char* source = R"(__global__ void copy(int n, const float* in, float* out) {
#if TILE > 16
    int i = 0;
#endif
}
)";

SourceTree own(const std::string& text = source, const std::string& from = "", const std::string& to = "") {
    std::string toml = manifest;
    if (!from.empty()) {
        const auto at = toml.find(from);
        if (at == std::string::npos) throw std::logic_error("the manifest does not hold " + from);
        toml.replace(at, from.size(), to);
    }
    return {{"copy.toml", toml},
            {"copy.cu", text},
            {"reference.cu", "#include \"configuration.h\"\nextern \"C\" __global__ void reference() {}\n"}};
}

KernelTemplate loaded(const SourceTree& tree) { return load_templates(tree).at(0); }

std::string configuration_of(const SourceTree& tree, const Configuration& configuration) {
    return render(loaded(tree), configuration, {.operation = "copy", .type = "f32", .extents = {{"n", 5}}});
}

std::string message_of(const SourceTree& tree) {
    try {
        (void)load_templates(tree);
        return "";
    } catch (const ManifestError& error) {
        return error.what();
    }
}

TEST(OwnSources, ASourceThatIncludesNothingOfOursGetsItsParametersAsMacros) {
    const auto kernel = loaded(own());
    EXPECT_TRUE(kernel.source_needs.configuration);
    EXPECT_FALSE(kernel.reference_needs.configuration);
    EXPECT_THAT(configuration_of(own(), {{{"TILE", 32}}}), HasSubstr("\n#define TILE 32\n"));
}

TEST(OwnSources, WhatThePreprocessorAsksForIsAMacroEvenWithConfigurationH) {
    const std::string include = "#include \"configuration.h\"\n";
    EXPECT_THAT(configuration_of(own(include + source), {{{"TILE", 32}}}), HasSubstr("#define TILE 32\n"));
    const std::string plain = include + "__global__ void copy(int n, const float* in, float* out) { int i = TILE; }\n";
    EXPECT_THAT(configuration_of(own(plain), {{{"TILE", 32}}}), HasSubstr("constexpr int TILE = 32;\n"));
    const std::string indirect = include + "#define ELEMENTS \\\n  (TILE * 4)\n#if ELEMENTS > 64\n#endif\n";
    EXPECT_THAT(configuration_of(own(indirect), {{{"TILE", 32}}}), HasSubstr("#define TILE 32\n"));
    const std::string unused = include + "#define ELEMENTS (TILE * 4)\n// #if TILE\n";
    EXPECT_THAT(configuration_of(own(unused), {{{"TILE", 32}}}), HasSubstr("constexpr int TILE = 32;\n"));
}

// Earlier versions of smemtune compiled a source with `#if TILE` as if the line were `#if 0`. The source has a
// different hash now, so the trials of these versions are not used.
TEST(OwnSources, AConditionThatNowWorksChangesTheHash) {
    const std::string include = "#include \"configuration.h\"\n";
    const auto with_condition = loaded(own(include + source));
    EXPECT_THAT(with_condition.macros, ElementsAre("TILE"));
    EXPECT_EQ(loaded(own(include + "void f();\n")).macros.size(), 0U);
    for (const auto& kernel : builtin_templates()) {
        // Of the built-in sources, only those of the wgmma templates have preprocessor conditions on parameters.
        EXPECT_EQ(kernel.macros.size(), kernel.name.starts_with("wgmma") ? 3U : 0U) << kernel.name;
        EXPECT_FALSE(kernel.source_needs.configuration || kernel.source_needs.system_headers) << kernel.name;
        EXPECT_FALSE(kernel.reference_needs.configuration || kernel.reference_needs.system_headers) << kernel.name;
    }
}

TEST(OwnSources, ADefaultInTheSourceGivesWay) {
    EXPECT_EQ(message_of(own(std::string("#ifndef TILE\n#define TILE 256\n#endif\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("#if !defined(TILE) && 1\n#define TILE 256\n#endif\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("#ifdef TILE\n#else\n#define TILE 256\n#endif\n") + source)), "");
    EXPECT_EQ(
        message_of(own(std::string("#ifdef TILE\n#elif A\n#define TILE 2\n#else\n#define TILE 3\n#endif\n") + source)),
        "");
    EXPECT_EQ(message_of(own(std::string("#if A || defined(TILE)\n#else\n#define TILE 256\n#endif\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("#if 0\n#if 1\n#define TILE 256\n#endif\n#endif\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("#if 1\n#else\n#define TILE 256\n#endif\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("const char* s = R\"(\n#define TILE 1\n)\";\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("#ifndef TILE\nconstexpr int TILE = 256;\n#endif\n") + source)), "");
    EXPECT_EQ(message_of(own(std::string("// #define TILE 256\n/*\n#define TILE 1\n*/\n#define TILES 2\n") + source)),
              "");
}

// Kernel Tuner defines the macro `kernel_tuner`. Sources for Kernel Tuner define default values only if this macro is
// not defined.
TEST(OwnSources, DefaultsWhereAMacroIsMissingThatIsDefined) {
    const auto text = std::string("#ifndef kernel_tuner\n#define TILE 256\n#endif\n") + source;
    EXPECT_THAT(message_of(own(text)), HasSubstr("replaces the value of 'TILE'"));
    EXPECT_EQ(message_of(own("extern \"C\" {\n#define kernel_tuner 1\n" + text + "}\n")), "");
    for (const std::string option : {"-Dkernel_tuner=1", "-Dkernel_tuner", "--define-macro=kernel_tuner=1"}) {
        EXPECT_EQ(message_of(own(text, "[template]\n", "[template]\noptions = [\"" + option + "\"]\n")), "") << option;
    }
    EXPECT_EQ(message_of(own("#define kernel_tuner\n#ifdef kernel_tuner\n#else\n#define TILE 2\n#endif\n" + text)), "");
}

TEST(OwnSources, AConditionOnARuntimeParameterIsRefused) {
    const auto message = message_of(own(source, "values = [16, 32]", "values = [16, 32]\nruntime = true"));
    EXPECT_THAT(message, HasSubstr("'TILE' is a run-time parameter"));
    EXPECT_THAT(message, HasSubstr("take runtime = true away"));
}

TEST(OwnSources, AConditionOnAParameterOfTheLaunchIsRefused) {
    EXPECT_THAT(
        message_of(own(source, "values = [16, 32]", "values = [16, 32]\nlaunch = true")),
        HasSubstr("'TILE' is a parameter of the launch, and a preprocessor condition of the source uses it, which is "
                  "always 0 there; take launch = true away"));
}

// In an earlier version of smemtune, preprocessor conditions could not use parameters, and a source could replace a
// parameter's value. Databases may contain templates that the earlier version stored.
TEST(OwnSources, AStoredTemplateCompilesAsItDidWhenItWasStored) {
    const auto kernel = loaded(own(std::string("#include \"configuration.h\"\n") + source));
    const auto plain = std::string("#include \"configuration.h\"\nvoid f();\n");
    ASSERT_THAT(kernel.macros, ElementsAre("TILE"));
    EXPECT_THAT(load_template(kernel.files, kernel.hash).macros, ElementsAre("TILE"));
    EXPECT_THAT(load_template(kernel.files, "another").macros, ElementsAre("TILE"));
    const std::string old_hash = "851d6e92-f5e6-57c2-a980-289f247d2e75";
    const auto stored = load_template(kernel.files, old_hash);
    EXPECT_EQ(stored.macros.size(), 0U);
    EXPECT_EQ(stored.hash, old_hash);

    auto overriding = kernel.files;
    overriding.at("copy.cu") += "#define TILE 4\n";
    EXPECT_EQ(load_template(overriding).name, "copy");
}

struct Overriding {
    std::string before;
    std::string line;
};
TEST(OwnSources, WhatWouldReplaceTheTunersValueIsRefusedWithItsLine) {
    for (const auto& [before, line] :
         {Overriding{"", "#define TILE 256"},
          Overriding{"\n\n", "  #  define TILE (256)"},
          Overriding{"#ifdef TILE\n", "#define TILE 256\n#endif"},
          Overriding{"#ifndef TILE\n#else\n", "#define TILE 1\n#endif"},
          Overriding{"#ifndef OTHER\n", "#define TILE 256\n#endif"},
          Overriding{"#ifndef TILE\n#endif\n", "#undef TILE"},
          Overriding{"#if defined(TILE)\n", "#define TILE 256\n#endif"},
          Overriding{"", "constexpr int TILE = 256;"},
          Overriding{"int x;\n", "static const unsigned int TILE = 2;"},
          Overriding{"#if !defined(TILE) || FORCE\n", "#define TILE 256\n#endif"},
          Overriding{"#if !(defined(TILE))\n#else\n", "#define TILE 256\n#endif"},
          Overriding{"#if !(!defined(TILE) && A)\n", "#define TILE 256\n#endif"},
          Overriding{"#if defined(TILE) && A\n#else\n", "#define TILE 256\n#endif"},
          Overriding{"#ifndef TILE\n#elif 1\n", "#define TILE 256\n#endif"},
          Overriding{"#define kernel_tuner\n#undef kernel_tuner\n#ifndef kernel_tuner\n", "#define TILE 256\n#endif"},
          Overriding{"#if 0\n#else\n", "#define TILE 256\n#endif"},
          Overriding{"#if 0\n#elif 1\n", "#define TILE 256\n#endif"},
          Overriding{"#if 0\n#if 1\n#endif\n#endif\n", "#define TILE 256"},
          Overriding{"", "#def\\\nine TILE 256"},
          Overriding{"const char* s = R\"x(\n/*)x\";\n", "#define TILE 256"}}) {
        const auto number = 1 + std::ranges::count(before, '\n');
        const auto message = message_of(own(before + line + "\n" + source));
        EXPECT_THAT(message, StartsWith("copy.cu:" + std::to_string(number) + ": '")) << line;
        EXPECT_THAT(message, HasSubstr("replaces the value of 'TILE'")) << line;
        EXPECT_THAT(message, HasSubstr("#ifndef TILE")) << line;
    }
    auto in_header = own(std::string("#include \"sizes.h\"\n") + source);
    in_header["sizes.h"] = "\n#define TILE 4\n";
    EXPECT_THAT(message_of(in_header), StartsWith("sizes.h:2: '#define TILE'"));
}

TEST(OwnSources, HeadersAreFoundBesideTheIncludingFileAndInIncludeFolders) {
    auto tree = own(std::string("#include \"common/a.h\"\n#include <b.h>\n#include <stdint.h>\n") + source,
                    "[template]\n", "[template]\ninclude = [\"folder\"]\n");
    tree["common/a.h"] = "#include \"beside.h\"\n";
    tree["common/beside.h"] = "int beside;\n";
    tree["folder/b.h"] = "int b;\n";
    const auto kernel = loaded(tree);
    EXPECT_TRUE(kernel.files.contains("common/beside.h"));
    EXPECT_TRUE(kernel.files.contains("folder/b.h"));
    EXPECT_TRUE(kernel.source_needs.system_headers);
    tree["folder/b.h"] = "int c;\n";
    EXPECT_NE(loaded(tree).hash, kernel.hash);
    EXPECT_EQ(load_template(kernel.files).hash, kernel.hash);
}

TEST(OwnSources, OneSpellingOfTwoHeadersIsRefused) {
    auto tree = own(std::string("#include \"a/x.h\"\n#include \"b/y.h\"\n") + source);
    tree["a/x.h"] = "#include \"util.h\"\n";
    tree["a/util.h"] = "int a;\n";
    tree["b/y.h"] = "\n#include \"util.h\"\n";
    tree["b/util.h"] = "int b;\n";
    EXPECT_THAT(message_of(tree), StartsWith("b/y.h:2: 'util.h' is b/util.h here, and a/util.h at a/x.h:1; write"));
    tree["b/y.h"] = "#include \"b/util.h\"\n";
    EXPECT_EQ(message_of(tree), "");
}

TEST(OwnSources, IncludesThatTheCompilerSkipsMayBeMissing) {
    for (const auto* skipped :
         {"#if 0\n#include \"gone.h\"\n#endif\n", "/*\n#include \"gone.h\"\n*/\n",
          "#if 0\n#if 1\n#endif\n#include \"gone.h\"\n#else\n#endif\n", "#include \"cuda_fp16.h\"\n"}) {
        EXPECT_EQ(message_of(own(std::string(skipped) + source)), "") << skipped;
    }
    for (const auto* wanted : {"#include \"gone.h\"\n", "#if 0\n#else\n#include \"gone.h\"\n#endif\n",
                               "#if 0\n#endif\n#include \"gone.h\"\n", "#if 01 - 0\n#include \"gone.h\"\n#endif\n"}) {
        EXPECT_THAT(message_of(own(std::string(wanted) + source)), HasSubstr(": file 'gone.h' is missing; put it"))
            << wanted;
    }
    for (const auto* outside :
         {"#include \"/usr/include/x.h\"\n", "#include \"../x.h\"\n", "#include </usr/include/x.h>\n",
          "#include <../x.h>\n", "#include <./a/../../x.h>\n", "#include_next </usr/include/x.h>\n",
          "# /* c */ include /* d */ <../x.h>\n", "#inc\\\nlude <../x.h>\n"}) {
        const auto message = message_of(own(std::string(outside) + source));
        EXPECT_THAT(message, StartsWith("copy.cu:1: file '"));
        EXPECT_THAT(message, HasSubstr("a folder above both with --templates"));
    }
    EXPECT_EQ(message_of(own(std::string("#include <..x.h>\n") + source)), "") << "the name only looks like a path";
}

TEST(OwnSources, AMacroNamesNoFile) {
    EXPECT_THAT(message_of(own(std::string("#define H <x.h>\n#include H\n") + source)),
                StartsWith("copy.cu:2: #include takes its file from a macro"));
}

// Earlier versions accepted such a source, so databases may have it.
TEST(OwnSources, AnIncludeOutsideIsRefusedUnlessTheTemplateIsStored) {
    const auto tree = own(std::string("#include </usr/include/x.h>\n") + source);
    EXPECT_THAT(message_of(tree), StartsWith("copy.cu:1: file '/usr/include/x.h' is outside the templates folder"));
    EXPECT_EQ(load_template(tree).name, "copy");
}

TEST(OwnSources, AnEntryPointNamesOnlyParametersThatAreCompiledIn) {
    for (const std::string key : {"runtime", "launch"}) {
        auto tree = own("template <int TILE> __global__ void copy_(int n, const T*, T*) {}\n", "[template]\n",
                        "[template]\nentry = \"copy_<TILE>\"\n");
        auto& manifest = tree.at("copy.toml");
        const std::string values = "values = [16, 32]";
        manifest.replace(manifest.find(values), values.size(), values + "\n" + key + " = true");
        EXPECT_THAT(message_of(tree), HasSubstr("'entry' 'copy_<TILE>' names the")) << key;
        EXPECT_THAT(message_of(tree), HasSubstr("take " + key + " = true away")) << key;
    }
}

TEST(OwnSources, EntryPointsAreCppExpressionsWithTheParametersValues) {
    const auto tree = own("template <typename T, int TILE> __global__ void copy_(int n, const T*, T*) {}\n",
                          "[template]\n", "[template]\nentry = \"ns::copy_<float, TILE>\"\n");
    const auto kernel = loaded(tree);
    EXPECT_EQ(entry_of(kernel, {{{"TILE", 32}}}), "ns::copy_<float, 32>");
    EXPECT_EQ(kernel.entry_name(), "copy_");
    // TILE must not be a macro, because a macro would replace the name of the C++ template parameter by a number.
    EXPECT_EQ(kernel.macros.size(), 0U);
    EXPECT_NE(kernel.hash, loaded(own(tree.at("copy.cu"))).hash);
    EXPECT_EQ(loaded(own()).entry_name(), "copy");
    EXPECT_EQ(entry_of(loaded(own()), {{{"TILE", 32}}}), "copy");
}

TEST(OwnSources, OptionsBelongToTheHash) {
    const auto plain = loaded(own());
    const auto fast = loaded(own(source, "[template]\n", "[template]\noptions = [\"--use_fast_math\"]\n"));
    EXPECT_THAT(fast.options, ElementsAre("--use_fast_math"));
    EXPECT_NE(fast.hash, plain.hash);
}

Parameter parameter(const std::string& values) {
    return loaded(own("__global__ void copy();\n", "values = [16, 32]", "values = " + values + "\n")).parameters.at(0);
}

TEST(OwnSources, ValuesAreListsAndRanges) {
    EXPECT_THAT(parameter("\"3..6\"").values, ElementsAre(3, 4, 5, 6));
    EXPECT_THAT(parameter("\"5..5\"").values, ElementsAre(5));
    EXPECT_THAT(parameter("\"-2..6:4\"").values, ElementsAre(-2, 2, 6));
    EXPECT_THAT(parameter("\"1..20:*3\"").values, ElementsAre(1, 3, 9));
    EXPECT_THAT(parameter("[0, \"4..8:4\", 100]").values, ElementsAre(0, 4, 8, 100));
    EXPECT_THAT(parameter("[true, false]\ndefault = true").values, ElementsAre(1, 0));
    EXPECT_EQ(parameter("[false, true]\ndefault = true").default_value, 1);
}

TEST(OwnSources, ValuesMayBeFractionsAndText) {
    const std::string rest = "\n\n[launch]\nblock = [\"TILE\"]\ngrid  = [\"ceil_div(n, TILE)\"]";
    const auto fractions = loaded(own("__global__ void copy();\n", "values = [16, 32]" + rest,
                                      "values = [0.5, 2.0]\n[launch]\nblock = [\"32\"]\ngrid = [\"n\"]"))
                               .parameters.at(0);
    EXPECT_EQ(value_text(fractions.values.at(0)), "0.5");
    EXPECT_EQ(value_text(fractions.values.at(1)), "2.0");
    const auto types = own("__global__ void copy(TILE*);\n", "values = [16, 32]\n\n[launch]\nblock = [\"TILE\"]",
                           "values = [\"float\", \"float4\"]\ndefault = \"float4\"\n\n[[constraint]]\nrule = \"n > 4 "
                           "|| TILE == 'float'\"\nreason = \"r\"\n\n"
                           "[launch]\nblock = [\"TILE != 'float4' ? 32 : 64\"]");
    auto tree = types;
    auto& toml = tree.at("copy.toml");
    toml.replace(toml.find("ceil_div(n, TILE)"), 17, "n");
    const auto kernel = loaded(tree);
    const auto configuration = default_configuration(kernel);
    EXPECT_EQ(to_text(configuration), "TILE=float4");
    EXPECT_EQ(parse_configuration("TILE=float4"), configuration);
    EXPECT_THAT(configuration_of(tree, configuration), HasSubstr("#define TILE float4\n"));
    Environment environment{{"TILE", configuration.values.at("TILE")}, {"n", 4}};
    EXPECT_EQ(kernel.block[0].evaluate(environment), 64);
    EXPECT_EQ(kernel.constraints.at(0).rule.evaluate(environment), 0);
    environment["TILE"] = text_value("float");
    EXPECT_EQ(kernel.block[0].evaluate(environment), 32);
    EXPECT_EQ(kernel.constraints.at(0).rule.evaluate(environment), 1);
}

struct ManifestMistake {
    std::string from, to;
    std::string at;       // a text in the line that the message names
    std::string message;  // the message after FILE:LINE:
};

TEST(OwnSources, MistakesAreNamedWithLineAndRemedy) {
    const std::string values = "values = [16, 32]";
    const std::string p = "[[parameter]] ";
    const std::string head = "[template]\n";
    const std::string t = "[template] ";
    const std::vector<ManifestMistake> mistakes{
        {values, "values = \"9..1\"", "values = ", p + "'values' holds '9..1': the range runs backwards; write 1..9"},
        {values, "values = \"1..9:0\"",
         "values = ", p + "'values' holds '1..9:0': the range never ends; use a step above 0"},
        {values, "values = \"1..9:*1\"",
         "values = ", p + "'values' holds '1..9:*1': the range never ends; use a step above 1, and begin above 0"},
        {values, "values = \"0..9:*2\"",
         "values = ", p + "'values' holds '0..9:*2': the range never ends; use a step above 1, and begin above 0"},
        {values, "values = \"1..x\"",
         "values = ", p + "'values' holds '1..x', which is no range; write \"1..16\", \"0..64:8\" or \"1..64:*2\""},
        {values, "values = [\"1...3\"]",
         "values = ", p + "'values' holds '1...3', which is no range; write \"1..16\", \"0..64:8\" or \"1..64:*2\""},
        {values, "values = \"1..9999999999\"", "values = ", p + "'values' holds 9999999999, which is no C++ int"},
        {values, "values = \"0..65535\"",
         "values = ", p + "'values' holds '0..65535', which has more than 65535 values; use a larger step"},
        {values, "values = 16", "values = ",
         p + "'values' must be a list or a range; write for example values = [8, 16, 32] or values = \"1..16\""},
        {values, "values = \"16\"", "values = ",
         p + "'values' must be a list or a range; write for example values = [8, 16, 32] or values = \"1..16\""},
        {values, "values = [\"1..3\", 2]", "values = ", p + "'values' holds 2 twice"},
        {values, "values = [\"float\", \"float\"]", "values = ", p + "'values' holds float twice"},
        {values, "values = [true, 1]", "values = ", p + "'values' holds 1 twice"},
        {values, "values = [\"16\", \"32\"]",
         "values = ", p + "'values' holds \"16\" in quotes; write 16 without them"},
        {values, "values = [\"true\"]", "values = ", p + "'values' holds \"true\" in quotes; write true without them"},
        {values, "values = [\"pair<int, int>\"]", "values = ",
         p + "'values' holds 'pair<int, int>'; a text begins with a letter and has no commas, '=', quotes, backslashes "
             "and comments: give "
             "other "
             "types a name with 'using' in the source, and write the name"},
        {values, "values = [[1]]", "values = ",
         p + "'values' holds neither a number nor true, false or a text; write for example [8, 16, 32] or [\"float\", "
             "\"float4\"]"},
        {values, "values = [\"float\"]\ndefault = \"flaot\"",
         "default = ", p + "'default' flaot is not among 'values'"},
        {values, "values = [16]\ndefault = 17", "default = ", p + "'default' 17 is not among 'values'"},
        {values, "values = [0.5]\nruntime = true",
         "values = ", p + "'values' holds '0.5', but a run-time parameter is an int; take runtime = true away"},
        {values, "values = [0.5]\nlaunch = true",
         "values = ", p + "'values' holds '0.5', but a parameter of the launch is an int; take launch = true away"},
        {values, "values = [1]\nruntime = true\nlaunch = true", "launch = ",
         p + "'TILE' has runtime = true, so the kernel takes it, and launch = true, so it does not; take one of them "
             "away"},
        {values, "values = [\"float\"]", "block =",
         "[launch] 'block' uses 'TILE', which is text, as a number; compare it with == or !=, as in TYPE == 'float4'"},
        {"block = [\"TILE\"]", "block = [\"TILE == 'float' ? 1 : 2\"]",
         "block =", "[launch] 'block' compares with 'float', which is no value of a parameter; check its spelling"},
        {"block = [\"TILE\"]", "block = [\"'a\"]",
         "block =", "[launch] 'block': expression ''a', column 1: the quote is not closed"},
        {"block = [\"TILE\"]", "block = [\"TILE == '9x'\"]",
         "block =", "[launch] 'block': expression 'TILE == '9x'', column 9: no parameter can have this value"},
        {head, head + "entry = 3\n",
         "entry = ", t + "'entry' has the wrong type; write for example entry = \"kernel<float, TILE>\""},
        {head, head + "entry = \"<float>\"\n",
         "entry = ", t + "'entry' '<float>' names no function; write for example \"kernel<float, TILE>\""},
        {head, head + "options = \"-O3\"\n",
         "options = ", t + "'options' must be a list; write for example options = [\"--use_fast_math\"]"},
        {head, head + "options = [\"use_fast_math\"]\n", "options = ",
         t + "'options' holds 'use_fast_math', which is no single option; write for example [\"--maxrregcount=64\"]"},
        {head, head + "options = [\"--maxrregcount 64\"]\n", "options = ",
         t + "'options' holds '--maxrregcount 64', which is no single option; write for example "
             "[\"--maxrregcount=64\"]"},
        {head, head + "options = [\"-Icommon\"]\n", "options = ",
         t + "'options' holds '-Icommon', which smemtune sets; leave it out, and write include = [\"FOLDER\"] instead"},
        {head, head + "options = [\"-arch=sm_80\"]\n",
         "options = ", t + "'options' holds '-arch=sm_80', which smemtune sets; leave it out"},
        {head, head + "options = [\"-UTILE\"]\n",
         "options = ", t + "'options' holds '-UTILE', which replaces the value of the parameter 'TILE'; leave it out"},
        {head, head + "options = [\"--define-macro=TILE=4\"]\n", "options = ",
         t + "'options' holds '--define-macro=TILE=4', which replaces the value of the parameter 'TILE'; leave it out"},
        {head, head + "options = [\"-DTILE=4\"]\n", "options = ",
         t + "'options' holds '-DTILE=4', which replaces the value of the parameter 'TILE'; leave it out"},
        {head, head + "include = \"common\"\n",
         "include = ", t + "'include' must be a list; write for example include = [\"common\"]"},
        {head, head + "include = [\"../common\"]\n", "include = ",
         t + "'include' names '../common', which is outside the templates folder; move it there, or pass a folder "
             "above "
             "both with --templates"},
        {head, head + "include = [\"common\"]\n", "include = ",
         t + "'include' names 'common', which holds no header; check its spelling (paths start at the manifest's "
             "folder)"},
        {head, head + "includes = [\"common\"]\n", "includes = ",
         t + "has an unknown key 'includes'; known: baseline entry include layouts name operation options same_code "
             "source starts summary types"},
    };
    for (const auto& [from, to, at, message] : mistakes) {
        const auto tree = own("__global__ void copy();\n", from, to);
        const auto& text = tree.at("copy.toml");
        const auto place = text.find(at);
        ASSERT_NE(place, std::string::npos) << at;
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
        EXPECT_EQ(message_of(tree), "copy.toml:" + std::to_string(line) + ": " + message) << to;
    }
}

TEST(OwnSources, AFileThatSmemtuneWritesIsRefusedInsteadOfIgnored) {
    auto tree = own();
    tree["sub/configuration.h"] = "";
    EXPECT_THAT(message_of(tree), StartsWith("sub/configuration.h:1: smemtune writes a file of this name"));
}

TEST(SourceScan, CommentsAndLiteralsAreBlankAndLinesKeepTheirNumbers) {
    EXPECT_EQ(without_comments("a // b\nc /* d\ne */ f \"g // h\" 'i' 1'000\n"),
              "a     \nc     \n     f \"      \" ' ' 1'000\n");
    EXPECT_EQ(without_comments("extern \"C\" \"\\\"x\""), "extern \"C\" \"   \"");
    EXPECT_EQ(without_comments("#include \"a//b.h\"\n"), "#include \"a//b.h\"\n");
}

TEST(Values, NumbersThatAreNotFiniteAndTooManyValuesAreRefused) {
    for (const auto* wrong : {"[inf]", "[nan, 1.5]", "[-inf]"}) {
        EXPECT_THAT(message_of(own(source, "[16, 32]", wrong)), HasSubstr("not finite")) << wrong;
    }
    std::string many = "[0";
    for (int i = 1; i < 65'536; ++i) many += "," + std::to_string(i);
    EXPECT_EQ(message_of(own(source, "[16, 32]", many.substr(0, many.rfind(',')) + "]")), "");
    EXPECT_THAT(message_of(own(source, "[16, 32]", many + "]")), HasSubstr("65536 values, more than 65535"));
}

// Here TILE is a parameter of a C++ template, and its values are texts such as `float`. If configuration.h also defined
// a constant TILE, code outside the C++ template could use the constant without an error. The value of the constant
// would be the number that represents the text.
TEST(Values, ATextThatATemplateDeclaresIsNoConstant) {
    const auto tree = own("template <typename TILE> __global__ void copy_(int n, const TILE*, TILE*) {}\n",
                          "values = [16, 32]", "values = [\"float\", \"int\"]");
    auto in_grid = tree;
    auto& toml = in_grid.at("copy.toml");
    toml.replace(toml.find("block = [\"TILE\"]"), 16, "block = [\"32\"]");
    toml.replace(toml.find("ceil_div(n, TILE)"), 17, "ceil_div(n, 32)");
    EXPECT_THAT(configuration_of(in_grid, {{{"TILE", text_value("float")}}}), Not(HasSubstr("constexpr")));
}

TEST(Values, TextsDifferFromNumbersAndFromOneAnother) {
    EXPECT_TRUE(is_text_value(text_value("float4")));
    EXPECT_FALSE(is_text_value(-2147483648LL));
    EXPECT_NE(text_value("float4"), text_value("float"));
    EXPECT_EQ(value_text(text_value("float4")), "float4");
    EXPECT_EQ(value_text(-7), "-7");
    // This number stands for this text in databases and other processes, so it must never change.
    EXPECT_EQ(text_value("row_major"), -2769816627127315440LL);
    for (const auto* good : {"float", "_x", "::ns::type", "a b", "0.5", "-1e-3", "vec<4>"})
        EXPECT_TRUE(is_value_text(good)) << good;
    for (const auto* bad :
         {"", "4x", "a,b", "a=b", "a ", " a", "'a'", "\"", "1", "+16", "nan\n", "a\\", "a//b", "a/*"}) {
        EXPECT_FALSE(is_value_text(bad)) << bad;
    }
}

TEST(OwnSources, HeadersOfTheToolkitMayBeQuotedAndMissing) {
    for (const std::string header :
         {"cuda_fp16.h", "cuda/std/array", "cooperative_groups.h", "cooperative_groups/reduce.h", "cub/cub.cuh",
          "thrust/pair.h", "nv/target", "cccl/cub/cub.cuh", "mma.h", "curand_kernel.h", "math.h"}) {
        EXPECT_EQ(message_of(own("#include \"" + header + "\"\n" + source)), "") << header;
        EXPECT_TRUE(loaded(own("#include \"" + header + "\"\n" + source)).source_needs.system_headers) << header;
    }
    for (const std::string header : {"cub", "my/cub/cub.cuh", "mycuda.h", "nvtx.h", "cubs/a.h"}) {
        EXPECT_THAT(message_of(own("#include \"" + header + "\"\n" + source)), HasSubstr("is missing")) << header;
    }
}

TEST(OwnSources, AnIncludeThatTheCompilerSkipsIsNoNeed) {
    const auto needs =
        loaded(own("#if 0\n#include \"configuration.h\"\n#include <cub/cub.cuh>\n#endif\n" + std::string(source)))
            .source_needs;
    EXPECT_TRUE(needs.configuration) << "smemtune includes it";
    EXPECT_FALSE(needs.system_headers);
    const auto others =
        loaded(own("#include \"configuration.h\"\n#include <cub/cub.cuh>\n" + std::string(source))).source_needs;
    EXPECT_FALSE(others.configuration);
    EXPECT_TRUE(others.system_headers);
}

TEST(OwnSources, TheFolderOfTheManifestMayBeAnIncludeFolder) {
    EXPECT_EQ(message_of(own(source, "[template]\n", "[template]\ninclude = [\".\"]\n")), "");
}

// Earlier versions accepted a preprocessor condition on a run-time parameter, so databases may have such a template.
TEST(OwnSources, AConditionOnARuntimeParameterIsRefusedUnlessTheTemplateIsStored) {
    const auto tree = own(source, "values = [16, 32]", "values = [16, 32]\nruntime = true");
    EXPECT_THAT(message_of(tree), HasSubstr("'TILE' is a run-time parameter, and a preprocessor condition"));
    EXPECT_EQ(load_template(tree).name, "copy");
}

TEST(OwnSources, TextIsNoMacroWhereACppTemplateDeclaresItsName) {
    const std::string rest = "\n\n[launch]\nblock = [\"TILE\"]\ngrid  = [\"ceil_div(n, TILE)\"]";
    const auto macros = [&](const std::string& text) {
        return loaded(own(text, "values = [16, 32]" + rest,
                          "values = [\"float\", \"float4\"]\n[launch]\nblock = [\"32\"]\ngrid = [\"n\"]"))
            .macros;
    };
    const std::string include = "#include \"configuration.h\"\n";
    EXPECT_THAT(macros(include + "template <class TILE> __global__ void copy();\n"), testing::IsEmpty());
    EXPECT_THAT(macros(include + "__global__ void copy(TILE*);\n"), ElementsAre("TILE"));
}

TEST(OwnSources, AnOperationOfOnesOwnReplacesABuiltInOneAndNoOther) {
    auto tree = own("__global__ void copy() {}\n");
    auto& toml = tree.at("copy.toml");
    for (auto at = toml.find("\"copy\""); at != std::string::npos; at = toml.find("\"copy\"", at + 1)) {
        toml.replace(at, 6, "\"gemm\"");
    }
    EXPECT_EQ(loaded(tree).operation.path, "copy.toml");
    tree["other.toml"] = toml.substr(0, toml.find("[template]"));
    EXPECT_EQ(message_of(tree), "other.toml:1: operation 'gemm' is also in copy.toml; rename one");
}

// If an author adds an `entry` that equals the kernel's name, the hash stays the same. Stored trials remain usable.
TEST(OwnSources, AnEntryWithTheKernelsNameIsTheSameAsNone) {
    const auto with_entry = [](const std::string& entry) {
        return loaded(own(source, "[template]\n", "[template]\nentry = \"" + entry + "\"\n")).hash;
    };
    EXPECT_EQ(with_entry("copy"), loaded(own()).hash);
    EXPECT_NE(with_entry("copy<TILE>"), loaded(own()).hash);
}

}  // namespace
}  // namespace smemtune
