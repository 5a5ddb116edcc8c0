#include "templates/reference/reference_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;
using Kind = OperationReference::Kind;

constexpr const char* constant_input = "values = { constant = 1 }";

SourceTree sources(const std::string& reference, const std::string& input = constant_input,
                   const std::string& more = "") {
    const std::string manifest =
        "[operation]\nname = \"doubled\"\nextents = [\"n\"]\noperations = \"0\"\nbytes = "
        "\"0\"\nreference = " +
        reference + "\n" + more +
        "argument = [{ name = \"n\", kind = \"extent\" },\n"
        "{ name = \"a\", kind = \"input\", type = \"f32\", shape = [\"n\"], " +
        input + R"toml( },
{ name = "o", kind = "output", type = "f32", shape = ["n"] }]
[template]
name = "doubled"
operation = "doubled"
types = ["f32"]
[[parameter]]
name = "FACTOR"
values = [2, 3]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
)toml";
    return {{"k/doubled.toml", manifest},
            {"k/doubled.cu", "__global__ void doubled() {}"},
            {"k/o.npy", numpy_file(*argument_type("f32").number, {2}, "aaaabbbb")},
            {"k/o.raw", "aaaabbbb"},
            {"k/reference.py", "print()"},
            {"k/reference.cpp", "void reference() {}"}};
}

const std::map<std::string, std::pair<Kind, std::string>>& kinds() {
    static const std::map<std::string, std::pair<Kind, std::string>> all{
        {"\"none\"", {Kind::none, ""}},
        {"\"doubled.cu\"", {Kind::kernel, "terms = \"1\"\n"}},
        {"\"reference.cpp\"", {Kind::host, "terms = \"1\"\n"}},
        {"{ configuration = \"default\" }", {Kind::configuration, ""}},
        {"{ answer = { o = \"o.npy\" } }", {Kind::answer, ""}},
        {"{ program = \"python3 reference.py {inputs} {outputs}\" }", {Kind::program, ""}}};
    return all;
}

std::string identity_of(const SourceTree& tree) {
    return operation_identity(load_templates(tree).at(0), {"doubled", "f32", "", {{"n", 2}}});
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

TEST(Reference, EveryKindIsReadAndKeptWithTheTemplate) {
    std::set<std::string> identities;
    for (const auto& [reference, expected] : kinds()) {
        const auto tree = sources(reference, constant_input, expected.second);
        const auto kernel = load_templates(tree).at(0);
        EXPECT_EQ(kernel.operation.reference.kind, expected.first) << reference;
        EXPECT_TRUE(kernel.operation.typed) << reference;
        EXPECT_EQ(kernel.operation.checks.size(), 1U) << "uniform, unless the manifest says otherwise";
        const auto stored = load_template(kernel.files);
        EXPECT_EQ(stored.operation.reference.kind, expected.first) << reference;
        const Problem problem{"doubled", "f32", "", {{"n", 2}}};
        EXPECT_EQ(operation_identity(stored, problem), identity_of(tree)) << reference;
        EXPECT_EQ(is_unchecked(identity_of(tree) + "/testbed"), expected.first == Kind::none) << reference;
        identities.insert(identity_of(tree));
    }
    EXPECT_EQ(identities.size(), kinds().size());
}

TEST(Reference, ItsContentDecidesWhatTrialsAreVerifiedAgainst) {
    const auto differs = [](const std::string& reference, const std::string& path, const std::string& from,
                            const std::string& to, const std::string& more = "") {
        auto tree = sources(reference, constant_input, more);
        const auto before = identity_of(tree);
        tree.at(path) = with(tree.at(path), from, to);
        return identity_of(tree) != before;
    };
    const std::string answer = "{ answer = { o = \"o.raw\" } }";
    const std::string program = "{ program = \"python3 reference.py {inputs} {outputs}\" }";
    const std::string configuration = "{ configuration = \"default\" }";
    EXPECT_TRUE(differs(answer, "k/o.raw", "b", "c"));
    EXPECT_FALSE(differs(answer, "k/doubled.cu", "doubled() {}", "doubled() { }"));
    EXPECT_TRUE(differs(program, "k/reference.py", "print", "p"));
    EXPECT_TRUE(differs(program, "k/doubled.toml", "{inputs} {outputs}", "{outputs} {inputs}"));
    EXPECT_TRUE(differs("\"reference.cpp\"", "k/reference.cpp", "{}", "{ }", "terms = \"1\"\n"));
    EXPECT_TRUE(differs(configuration, "k/doubled.cu", "doubled() {}", "doubled() { }"));
    EXPECT_TRUE(differs(configuration, "k/doubled.toml", "values = [2, 3]", "values = [3, 2]")) << "another default";
    EXPECT_FALSE(differs(configuration, "k/doubled.toml", "values = [2, 3]", "values = [2, 3, 4]"));
}

TEST(Reference, OutputsWithoutErrorBoundGetTheToleranceOfTheirType) {
    const auto tolerance = load_templates(sources("{ configuration = \"default\" }")).at(0).operation.arguments[2];
    ASSERT_TRUE(tolerance.tolerance.has_value());
    EXPECT_EQ(tolerance.tolerance->relative, 1.3e-6);
    EXPECT_FALSE(tolerance.has_magnitude());
    auto tree = sources("\"none\"");
    auto& manifest = tree.at("k/doubled.toml");
    manifest = with(manifest, "kind = \"output\", type = \"f32\"",
                    "kind = \"output\", type = \"f16\", tolerance = { share = 0.5, equal_nans = true }");
    const auto half = *load_templates(tree).at(0).operation.arguments[2].tolerance;
    EXPECT_EQ(half.relative, 1e-3);
    EXPECT_EQ(half.absolute, 1e-5);
    EXPECT_EQ(half.share, 0.5);
    EXPECT_TRUE(half.equal_nans);
    manifest = with(manifest, "share = 0.5, equal_nans = true", "absolute = 0.25");
    EXPECT_EQ(load_templates(tree).at(0).operation.arguments[2].tolerance->absolute, 0.25);
    EXPECT_EQ(load_templates(tree).at(0).operation.arguments[2].tolerance->relative, 0);
    const auto host = load_templates(sources("\"reference.cpp\"", constant_input, "terms = \"1\"\n")).at(0);
    EXPECT_TRUE(host.operation.arguments[2].has_magnitude());
}

std::string refusal(const SourceTree& tree) {
    try {
        (void)load_templates(tree);
        return "";
    } catch (const ManifestError& error) {
        return error.what();
    }
}

TEST(Reference, MistakesAreNamedWithPlaceAndRemedy) {
    const std::vector<std::pair<std::string, std::string>> mistakes{
        {"{ }", "'reference' holds 0 references instead of one; write one of a kernel (\"reference.cu\")"},
        {"{ configuration = \"default\", answer = { o = \"o.npy\" } }", "holds 2 references instead of one"},
        {"{ configuration = \"FACTOR=3\" }", "a 'configuration' other than \"default\"; write \"default\""},
        {"{ python = \"x.py\" }", "'reference' knows no 'python'; write one of"},
        {"{ program = 1 }", "'reference' holds 'program', which must be a non-empty text"},
        {"{ program = \"python3 reference.py {inputs}\" }", "a 'program' without {outputs}; write for example"},
        {"{ program = \"python3 reference.py {outputs}\" }", "a 'program' without {inputs}; write for example"},
        {"{ program = \"x {inputs} {outputs}\", time_limit = 0 }", "'time_limit', which is for programs, 1 to 240"},
        {"{ program = \"x {inputs} {outputs}\", time_limit = 241 }", "'time_limit', which is for programs, 1 to 240"},
        {"{ configuration = \"default\", time_limit = 9 }", "'time_limit', which is for programs"},
        {"{ program = \"python3 other.py {inputs} {outputs}\" }", "file 'k/other.py', which the reference's program"},
        {"{ answer = \"o.npy\" }", "'answer', which must name a file for each output; write for example { answer = {"},
        {"{ answer = { o = \"o.txt\" } }", "names the answer 'o.txt', which is no file NAME.npy"},
        {"{ answer = { o = \"../../o.npy\" } }", "'../../o.npy', which is outside the templates folder; move it"},
        {"{ answer = { a = \"o.npy\", o = \"o.npy\" } }", "holds an answer for 'a', which is no output"},
        {"{ answer = { o = \"other.npy\" } }", "file 'k/other.npy', the answer of output 'o', is missing; put it"},
        {"\"absent.cpp\"", "file 'k/absent.cpp' is missing"},
    };
    for (const auto& [reference, message] : mistakes) {
        const bool has_source = reference.front() == '"';
        const auto text = refusal(sources(reference, constant_input, has_source ? "terms = \"1\"\n" : ""));
        EXPECT_THAT(text, HasSubstr(message)) << reference;
        EXPECT_THAT(text, HasSubstr("k/doubled.toml:")) << reference;
    }
    EXPECT_THAT(refusal(sources("{ answer = { o = \"o.npy\" } }", "values = { uniform = [0, 1] }")),
                HasSubstr("the values of argument 'a' are random; write values = { file = \"a.npy\" } or"));
    auto read = sources("{ answer = { o = \"o.npy\" } }", constant_input);
    read.at("k/doubled.toml") = with(read.at("k/doubled.toml"), "kind = \"output\"", "kind = \"inout\"");
    EXPECT_THAT(refusal(read), HasSubstr("the values of argument 'o' are random"));
    EXPECT_THAT(refusal(sources("{ answer = { o = \"o.npy\" } }", constant_input,
                                "check = [{ inputs = \"uniform\" }, { inputs = \"integer\" }]\n")),
                HasSubstr("holds one set of answers for 2 [[operation.check]]; keep only one of them"));
    EXPECT_THAT(refusal(sources("\"none\"", constant_input, "check = \"none\"\n")),
                HasSubstr("'check' must be a list of [[operation.check]]; write reference = \"none\""));
    auto tree = sources("{ answer = { o = \"o.npy\" } }");
    tree.at("k/o.npy") = numpy_file(*argument_type("i32").number, {2}, "aaaabbbb");
    EXPECT_THAT(refusal(tree), HasSubstr("k/o.npy:1: file 'k/o.npy', the answer of output 'o', holds numbers of type"));
}

TEST(Reference, AnOutputWithoutAnAnswerIsNamed) {
    auto tree = sources("{ answer = { o = \"o.npy\" } }");
    auto& manifest = tree.at("k/doubled.toml");
    manifest =
        with(manifest, "{ name = \"o\",", "{ name = \"p\", kind = \"output\", shape = [\"n\"] }, { name = \"o\",");
    EXPECT_THAT(refusal(tree), HasSubstr("'reference' holds no answer for output 'p'; add the file that holds it"));
}

TEST(Reference, AConfigurationIsThatOfTheOnlyKernel) {
    auto tree = sources("{ configuration = \"default\" }");
    const auto kernel = load_templates(tree).at(0);
    ASSERT_TRUE(kernel.operation.reference.configured);
    EXPECT_EQ(kernel.operation.reference.configured->name, "doubled");
    auto other = tree.at("k/doubled.toml");
    other = with(other.substr(other.find("[template]")), "name = \"doubled\"", "name = \"other\"");
    tree["k/other.toml"] = other;
    tree["k/other.cu"] = "__global__ void other() {}";
    EXPECT_THAT(refusal(tree), HasSubstr("it has two, 'doubled' and 'other'; give it another reference"));
}

TEST(Reference, ItsFunctionMayHaveAnyExtensionOfCpp) {
    for (const std::string extension : {"cpp", "cc", "cxx"}) {
        auto tree = sources("\"reference." + extension + "\"", constant_input, "terms = \"1\"\n");
        tree["k/reference." + extension] = "void reference() {}";
        EXPECT_EQ(load_templates(tree).at(0).operation.reference.kind, Kind::host) << extension;
        EXPECT_TRUE(is_host_source("k/reference." + extension)) << extension;
    }
    for (const auto* path : {"a.cu", "a.c", "cpp", "a.cpp.cu", ""}) EXPECT_FALSE(is_host_source(path)) << path;
}

// If the type of an answer changes, the bytes of its file mean different numbers. If an answer belongs to a different
// output, its file is compared with the values of that output.
TEST(Reference, TheTypeAndTheOutputOfAnAnswerDecideWhatTrialsAreVerifiedAgainst) {
    auto kernel = load_templates(sources("{ answer = { o = \"o.raw\" } }")).at(0);
    const auto text = reference_text(kernel);
    auto& answers = kernel.operation.reference.answers;
    answers.at("o").type = "f64";
    EXPECT_NE(reference_text(kernel), text);
    answers.at("o").type = "f32";
    EXPECT_EQ(reference_text(kernel), text);
    auto renamed = answers.extract("o");
    renamed.key() = "p";
    answers.insert(std::move(renamed));
    EXPECT_NE(reference_text(kernel), text);
}

}  // namespace
}  // namespace smemtune
