#include "templates/manifest/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "templates/manifest/catalog.h"
#include "templates/manifest/section.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A valid manifest of a kernel and its operation. It uses every key.
const std::string good = R"toml([operation]
name       = "scale"
summary    = "B = alpha * A"
extents    = ["M", "N"]
operations = "M * N"
bytes      = "2 * M * N * element_bytes"
terms      = "1"
reference  = "scale.cu"
layouts.up   = { FLIP = 0 }
layouts.down = { FLIP = 1 }

[[operation.argument]]
name = "M"
kind = "extent"

[[operation.argument]]
name = "alpha"
kind = "scalar"

[[operation.argument]]
name    = "A"
kind    = "input"
rows    = "FLIP ? N : M"
columns = "FLIP ? M : N"
stride  = "lda"
count   = "N"
batch_stride = "apart"

[[operation.argument]]
name = "lda"
kind = "stride"

[[operation.argument]]
name = "apart"
kind = "batch_stride"

[[operation.argument]]
name    = "B"
kind    = "output"
rows    = "M"
columns = "N"

[[operation.check]]
inputs  = "integer"
scalars = { alpha = 2.5 }
padding = 3
batch_padding = 5
broadcast = ["A"]
poison  = false

[template]
name      = "scale"
operation = "scale"
summary   = "one element per thread"
types     = ["f32"]
layouts   = ["down"]
source    = "scale.cu"
baseline  = true

[[parameter]]
name    = "WIDTH"
values  = [64, 128, 256]
default = 128
summary = "threads per block"

[[parameter]]
name   = "UNROLL"
values = [1, 2]

[[constraint]]
rule   = "WIDTH * UNROLL <= 256"
reason = "a block covers no more"

[launch]
block = ["WIDTH"]
grid  = ["ceil_div(M * N, WIDTH * UNROLL)", "1", "1"]
static_shared_bytes  = "WIDTH * element_bytes"
dynamic_shared_bytes = "0"
registers = "16 + UNROLL"

[requires]
compute_capability = 80
host = true

[model]
phases               = "1"
loads_per_phase      = "WIDTH"
operations_per_phase = "2 * WIDTH"
barriers_per_phase   = "0"
)toml";

KernelTemplate parse(const std::string& text) {
    Operations operations;
    if (auto operation = parse_operation("kernels/scale.toml", text)) operations[operation->name] = *operation;
    auto kernel = parse_template("kernels/scale.toml", text, operations);
    if (!kernel) throw std::logic_error("no [template]");
    return *kernel;
}

std::string refusal(const std::string& text) {
    try {
        return "reads " + parse(text).name;
    } catch (const ManifestError& error) {
        return error.what();
    }
}

std::size_t line_of(const std::string& text, const std::string& part) {
    return 1 + static_cast<std::size_t>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(part)), '\n'));
}

TEST(Manifest, DescribesAnOperation) {
    const auto operation = *parse_operation("kernels/scale.toml", good);
    EXPECT_EQ(operation.name, "scale");
    EXPECT_THAT(operation.extents, ElementsAre("M", "N"));
    EXPECT_EQ(operation.layouts.at("down").at("FLIP"), 1);
    EXPECT_EQ(operation.bytes.text(), "2 * M * N * element_bytes");
    EXPECT_EQ(operation.reference_path, "kernels/scale.cu");
    EXPECT_EQ(operation.path, "kernels/scale.toml");
    ASSERT_EQ(operation.arguments.size(), 6U);
    EXPECT_EQ(operation.arguments[2].kind, Argument::Kind::input);
    EXPECT_EQ(operation.arguments[2].stride, "lda");
    EXPECT_EQ(operation.arguments[2].count.text(), "N");
    EXPECT_EQ(operation.arguments[2].batch_stride, "apart");
    EXPECT_EQ(operation.arguments[4].kind, Argument::Kind::batch_stride);
    EXPECT_EQ(operation.arguments[5].kind, Argument::Kind::output);
    EXPECT_EQ(operation.arguments[5].stride, "");
    EXPECT_EQ(shape_of(operation.arguments[5], {{"M", 2}, {"N", 3}}).count, 1) << "a matrix without a count is one";
    EXPECT_EQ(shape_of(operation.arguments[2], {{"FLIP", 1}, {"M", 2}, {"N", 3}}).count, 3);
    ASSERT_EQ(operation.checks.size(), 1U);
    EXPECT_TRUE(operation.checks[0].integers);
    EXPECT_FALSE(operation.checks[0].poison);
    EXPECT_EQ(operation.checks[0].padding, 3);
    EXPECT_EQ(operation.checks[0].batch_padding, 5);
    EXPECT_THAT(operation.checks[0].broadcast, ElementsAre("A"));
    EXPECT_EQ(operation.checks[0].scalars.at("alpha"), 2.5);
}

TEST(Manifest, DescribesAKernel) {
    const auto kernel = parse(good);
    EXPECT_EQ(kernel.name, "scale");
    EXPECT_THAT(kernel.types, ElementsAre("f32"));
    EXPECT_THAT(kernel.layouts, ElementsAre("down"));
    EXPECT_EQ(kernel.source_path, "kernels/scale.cu");
    EXPECT_TRUE(kernel.baseline);
    ASSERT_EQ(kernel.parameters.size(), 2U);
    EXPECT_THAT(kernel.parameters[0].values, ElementsAre(64, 128, 256));
    EXPECT_EQ(kernel.parameters[0].default_value, 128);
    EXPECT_EQ(kernel.parameters[1].default_value, 1);  // by default, the first value
    ASSERT_EQ(kernel.constraints.size(), 1U);
    EXPECT_EQ(kernel.constraints[0].reason, "a block covers no more");
    EXPECT_EQ(kernel.block[1].text(), "1");
    EXPECT_EQ(kernel.registers->text(), "16 + UNROLL");
    EXPECT_EQ(kernel.compute_capability, 80);
    EXPECT_TRUE(kernel.host);
    EXPECT_EQ(kernel.model->operations_per_phase.text(), "2 * WIDTH");
}

TEST(Manifest, AStartHasTheDefaultsOfTheParametersThatItLeavesOut) {
    auto text = good;
    text.insert(text.find("types "), "starts = [\"WIDTH=256\", \"UNROLL=2,WIDTH=64\"]\n");
    std::vector<std::string> starts;
    for (const auto& start : parse(text).starts) starts.push_back(to_text(start));
    EXPECT_THAT(starts, ElementsAre("UNROLL=1,WIDTH=256", "UNROLL=2,WIDTH=64"));
    EXPECT_THAT(parse(good).starts, testing::IsEmpty());
}

TEST(Manifest, ARuntimeParameterMayDecideGridBlockAndDynamicSharedMemory) {
    auto text = good;
    const auto replace = [&](const std::string& from, const std::string& to) {
        ASSERT_NE(text.find(from), std::string::npos) << from;
        text.replace(text.find(from), from.size(), to);
    };
    EXPECT_FALSE(parse(text).parameters[0].runtime);
    replace("default = 128", "default = 128\nruntime = true");
    replace("static_shared_bytes  = \"WIDTH * element_bytes\"", "static_shared_bytes = \"64\"");
    replace("dynamic_shared_bytes = \"0\"", "dynamic_shared_bytes = \"WIDTH * element_bytes\"");
    const auto kernel = parse(text);
    EXPECT_TRUE(kernel.parameters[0].runtime);
    EXPECT_FALSE(kernel.parameters[1].runtime);
    EXPECT_EQ(to_text(compiled_part(kernel, default_configuration(kernel))), "UNROLL=1");
}

std::string with_derived(const std::string& derived) {
    auto text = good;
    return text.insert(text.find("[[constraint]]"), derived);
}

TEST(Manifest, ADerivedNameStandsForItsExpressionAndThoseBeforeIt) {
    auto text = with_derived(
        "[[derived]]\nname = \"THREADS\"\nvalue = \"WIDTH - UNROLL\"\nsummary = \"who works\"\n"
        "[[derived]]\nname = \"TWICE\"\nvalue = \"2 * THREADS\"\n");
    const std::string rule = "WIDTH * UNROLL <= 256";
    text.replace(text.find(rule), rule.size(), "TWICE * THREADS2 <= 256");
    text.replace(text.find("values = [1, 2]"), 15, "values = [1, 2]\n[[parameter]]\nname = \"THREADS2\"\nvalues = [3]");
    const auto kernel = parse(text);
    const auto& constraint = kernel.constraints.at(0);
    EXPECT_EQ(constraint.rule.evaluate({{"WIDTH", 64}, {"UNROLL", 2}, {"THREADS2", 1}}), 1);  // 2 * (64 - 2) * 1 <= 256
    EXPECT_EQ(constraint.rule.evaluate({{"WIDTH", 64}, {"UNROLL", 2}, {"THREADS2", 3}}), 0);
    EXPECT_EQ(constraint.text(), "TWICE * THREADS2 <= 256");
    ASSERT_EQ(kernel.derived.size(), 2U);
    EXPECT_EQ(kernel.derived[0].summary, "who works");
    EXPECT_EQ(kernel.derived[1].value, "2 * THREADS");
}

TEST(Manifest, ADerivedNameIsNewKnowsOnlyWhatStandsBeforeItAndIsNoFunction) {
    const auto derived = [](const std::string& name, const std::string& value) {
        return "[[derived]]\nname = \"" + name + "\"\nvalue = \"" + value + "\"\n";
    };
    EXPECT_THAT(refusal(with_derived(derived("WIDTH", "1"))), HasSubstr("'WIDTH' is declared twice"));
    EXPECT_THAT(refusal(with_derived(derived("A1", "1") + derived("A1", "2"))), HasSubstr("'A1' is declared twice"));
    EXPECT_THAT(refusal(with_derived(derived("A1", "B1") + derived("B1", "1"))), HasSubstr("'value' names 'B1'"));
    EXPECT_THAT(refusal(with_derived(derived("min", "1"))), HasSubstr("'min' is a function of expressions"));
    EXPECT_THAT(refusal(with_derived(derived("A1", "WIDTH +"))), HasSubstr("'value': "));
}

TEST(Manifest, ADerivedConstantUsesOnlyWhatIsKnownWhenTheKernelIsCompiled) {
    const auto constant = [](const std::string& value) {
        return with_derived("[[derived]]\nname = \"SIZE\"\nvalue = \"" + value + "\"\nconstant = true\n");
    };
    const auto kernel = parse(constant("WIDTH * UNROLL * element_bytes + FLIP"));
    EXPECT_TRUE(kernel.derived.at(0).constant);
    for (const auto* other : {"M", "device.warp_size"}) {
        const auto text = constant(std::string("WIDTH * ") + other);
        EXPECT_THAT(
            refusal(text),
            AllOf(StartsWith("kernels/scale.toml:" + std::to_string(line_of(text, "value = \"WIDTH * ")) + ": "),
                  HasSubstr(std::string("'SIZE' is a constant of the program but uses '") + other + "'"),
                  HasSubstr("take constant = true away")));
    }
    auto text = constant("2 * UNROLL");
    text.replace(text.find("values = [1, 2]"), 15, "values = [1, 2]\nruntime = true");
    EXPECT_THAT(refusal(text), HasSubstr("uses 'UNROLL'"));
    text = with_derived(
        "[[derived]]\nname = \"ALL\"\nvalue = \"M\"\n[[derived]]\nname = \"SIZE\"\n"
        "value = \"ALL\"\nconstant = true\n");
    EXPECT_THAT(refusal(text), HasSubstr("'SIZE' is a constant of the program but uses 'M'")) << "through another name";
}

TEST(Manifest, ARuntimeParameterBehindADerivedNameIsStillOne) {
    auto text = with_derived("[[derived]]\nname = \"ALL\"\nvalue = \"2 * UNROLL\"\n");
    text.replace(text.find("values = [1, 2]"), 15, "values = [1, 2]\nruntime = true");
    text.replace(text.find("16 + UNROLL"), 11, "16 + ALL");
    EXPECT_THAT(refusal(text), HasSubstr("'registers' names the run-time parameter 'UNROLL'"));
}

// A parameter of the launch may change the grid. The kernel neither takes it nor is compiled with it.
TEST(Manifest, AParameterOfTheLaunchIsNotPartOfTheProgram) {
    auto text = good;
    text.replace(text.find("values = [1, 2]"), 15, "values = [1, 2]\nlaunch = true");
    EXPECT_THAT(refusal(text), HasSubstr("'registers' names the parameter of the launch 'UNROLL'"));
    text.replace(text.find("16 + UNROLL"), 11, "16");
    const auto kernel = parse(text);
    EXPECT_TRUE(kernel.parameters[1].launch);
    auto configuration = default_configuration(kernel);
    const Problem problem{"scale", "f32", "up", {{"M", 64}, {"N", 64}}};
    const auto first = render(kernel, configuration, problem);
    EXPECT_EQ(first.find("UNROLL"), std::string::npos);
    configuration.values["UNROLL"] = 2;
    EXPECT_EQ(render(kernel, configuration, problem), first);
}

// A launch keeps all its arguments on the stack, in an array of fixed size. The limit is the size of this array.
TEST(Manifest, EveryArgumentOfALaunchCountsTowardsTheLimit) {
    const auto with = [&](std::size_t runtime_parameters) {
        std::string many;
        for (std::size_t i = 0; i < runtime_parameters; ++i) {
            many += "[[parameter]]\nname = \"P" + std::to_string(i) + "\"\nvalues = [1]\nruntime = true\n";
        }
        auto text = good;
        return text.insert(text.find("[[constraint]]"), many);
    };
    const auto kernel = parse(with(0));
    const auto without_workspace = [&](std::string text) {
        const auto at = text.find("workspace_bytes");
        return at == std::string::npos ? text : text.erase(at, text.find('\n', at) + 1 - at);
    };
    const auto with_workspace = [&](std::string text) {
        text = without_workspace(text);
        return text.insert(text.find("[launch]") + 9, "workspace_bytes = \"4\"\n");
    };
    const auto most = most_arguments - kernel.operation.arguments.size();
    EXPECT_EQ(parse(without_workspace(with(most))).parameters.size(), 2 + most);
    EXPECT_THAT(refusal(without_workspace(with(most + 1))), HasSubstr("a kernel of 65 arguments"));
    EXPECT_EQ(parse(with_workspace(with(most - 1))).parameters.size(), 2 + most - 1);
    EXPECT_THAT(refusal(with_workspace(with(most))), HasSubstr("a kernel of 65 arguments"));
    const auto with_map = [](std::string text) {
        return text.insert(text.find("[requires]"),
                           "[[tensor_map]]\nname = \"MAP\"\nmatrix = \"A\"\nbox = [\"8\", \"8\"]\n");
    };
    EXPECT_EQ(parse(with_map(without_workspace(with(most - 1)))).parameters.size(), 2 + most - 1);
    EXPECT_THAT(refusal(with_map(without_workspace(with(most)))), HasSubstr("a kernel of 65 arguments"));
}

std::string with_tensor_maps(std::size_t count, const std::string& swizzle = "") {
    std::string maps;
    for (std::size_t i = 0; i < count; ++i) {
        maps += "[[tensor_map]]\nname = \"MAP" + std::to_string(i) +
                "\"\nmatrix = \"A\"\nbox = [\"UNROLL\", \"64\"]\n" + swizzle;
    }
    auto text = good;
    return text.insert(text.find("[requires]"), maps);
}

TEST(Manifest, DescribesATensorMap) {
    const auto plain = parse(with_tensor_maps(1)).tensor_maps.at(0);
    EXPECT_EQ(plain.name, "MAP0");
    EXPECT_EQ(plain.matrix, 2U) << "M, alpha, A";
    EXPECT_EQ(plain.box_rows.text(), "UNROLL");
    EXPECT_EQ(plain.box_columns.text(), "64");
    EXPECT_FALSE(plain.swizzle);
    EXPECT_TRUE(parse(with_tensor_maps(1, "swizzle = true\n")).tensor_maps.at(0).swizzle);
}

// A launch keeps its tensor maps on the stack, in an array of fixed size. The limit is the size of this array.
TEST(Manifest, AKernelTakesAsManyTensorMapsAsALaunchHasRoomFor) {
    EXPECT_EQ(parse(with_tensor_maps(most_tensor_maps)).tensor_maps.size(), most_tensor_maps);
    EXPECT_THAT(refusal(with_tensor_maps(most_tensor_maps + 1)),
                HasSubstr("has 5 [[tensor_map]]; a kernel takes at most 4"));
}

// In this test, each of 30 names uses the name before it twice. Written out, the last expression would have 10 GiB.
TEST(Manifest, DerivedNamesThatDoubleAreRefused) {
    const auto doubling = [](int count) {
        std::string entries = "[[derived]]\nname = \"D0\"\nvalue = \"WIDTH\"\n";
        for (int i = 1; i <= count; ++i) {
            const auto before = "D" + std::to_string(i - 1);
            entries +=
                "[[derived]]\nname = \"D" + std::to_string(i) + "\"\nvalue = \"" + before + "+" + before + "\"\n";
        }
        return with_derived(entries);
    };
    EXPECT_EQ(parse(doubling(10)).derived.back().expression.text().size(), 10 * 1024 - 5U);
    EXPECT_THAT(refusal(doubling(30)),
                AllOf(HasSubstr("'D10+D10' has more than 16384 characters"), HasSubstr("use fewer of them")));
}

TEST(Manifest, TheNumberOfEntriesIsLimited) {
    const auto constraints = [](std::size_t count) {
        auto text = good;
        std::string many;
        for (std::size_t i = 0; i < count; ++i) many += "[[constraint]]\nrule = \"1\"\nreason = \"none\"\n";
        return text.insert(text.find("[[constraint]]"), many);
    };
    const auto own = parse(good).constraints.size();
    EXPECT_EQ(parse(constraints(most_entries - own)).constraints.size(), most_entries);
    EXPECT_THAT(refusal(constraints(most_entries - own + 1)), HasSubstr("has 257 [[constraint]], more than 256"));
}

TEST(Manifest, ItsSizeIsLimited) {
    const auto padded = [](std::size_t size) { return good + "#" + std::string(size - good.size() - 1, 'x'); };
    EXPECT_EQ(parse(padded(longest_manifest)).name, parse(good).name);
    EXPECT_THAT(refusal(padded(longest_manifest + 1)), HasSubstr("has 1048577 bytes, more than 1048576"));
}

// The TOML parser recurses into nested keys, and so do the destructors of its result. A limit keeps the stack from
// overflowing.
TEST(Manifest, KeysAreNotNestedWithoutLimit) {
    const auto nested = [](std::size_t dots) {
        std::string key = "a";
        for (std::size_t i = 0; i < dots; ++i) key += ".a";
        return key + " = 1\n";
    };
    EXPECT_THAT(refusal(nested(most_dots)), HasSubstr("has an unknown key 'a'"));
    EXPECT_THAT(refusal(nested(most_dots + 1)), HasSubstr("has 2001 dots, more than 2000"));
    EXPECT_THAT(refusal("a = " + std::string(100'000, '[')), HasSubstr("not valid TOML"));
}

// toml++ 3.3.0 asserts that a table header begins with a valid character of a key. A header that breaks this assertion
// must give an error message and not end the process.
TEST(Manifest, TextThatBreaksAnAssertionOfTheParserIsAnErrorWithItsLine) {
    for (const std::string header : {"[=]", "[[,]]", "[.a]", "[ # a\n]", "[\xC3\xA9]", "[\n", "[["}) {
        EXPECT_THAT(
            refusal(good + "[a]\n" + header + "\n[b]\n"),
            StartsWith("kernels/scale.toml:" + std::to_string(std::ranges::count(good, '\n') + 2) + ": not valid TOML"))
            << header;
    }
    EXPECT_THAT(refusal("[="), StartsWith("kernels/scale.toml:1: not valid TOML"));
}

TEST(Manifest, WhatIsLeftOutHasADefault) {
    const auto operation = parse_operation("scale.toml", good);
    const auto kernel = *parse_template("least.toml",
                                        "[template]\nname = \"least\"\noperation = \"scale\"\ntypes = [\"f32\"]\n"
                                        "[launch]\nblock = [\"32\"]\ngrid = [\"M\"]\n",
                                        {{"scale", *operation}});
    EXPECT_EQ(kernel.source_path, "least.cu");
    EXPECT_TRUE(kernel.parameters.empty());
    EXPECT_TRUE(kernel.layouts.empty());
    EXPECT_FALSE(kernel.host);
    EXPECT_FALSE(kernel.baseline);
    EXPECT_FALSE(kernel.registers.has_value());
    EXPECT_FALSE(kernel.model.has_value());
    EXPECT_EQ(kernel.dynamic_shared_bytes.text(), "0");
    EXPECT_EQ(kernel.compute_capability, 0);
}

TEST(Manifest, OfAnOperationAloneIsNoKernel) {
    const auto operation_only = good.substr(0, good.find("[template]"));
    EXPECT_TRUE(parse_operation("scale.toml", operation_only).has_value());
    EXPECT_FALSE(parse_template("scale.toml", operation_only, {}).has_value());
    EXPECT_FALSE(parse_operation("k.toml", "[template]\n").has_value());
}

TEST(Manifest, AloneAnOperationIsTheSame) {
    const auto alone = operation_alone("kernels/scale.toml", good);
    EXPECT_FALSE(parse_template("kernels/scale.toml", alone, {}).has_value());
    const auto before = *parse_operation("kernels/scale.toml", good);
    const auto after = *parse_operation("kernels/scale.toml", alone);
    EXPECT_EQ(after.layouts, before.layouts);
    EXPECT_EQ(after.terms, before.terms);
    EXPECT_EQ(after.arguments.size(), before.arguments.size());
    EXPECT_EQ(after.arguments[2].rows, before.arguments[2].rows);
    EXPECT_EQ(after.checks[0].scalars, before.checks[0].scalars);
    const auto operation_only = good.substr(0, good.find("[template]"));
    EXPECT_EQ(operation_alone("scale.toml", operation_only), operation_only);
}

struct Mistake {
    std::string name;
    std::string from;  // a part of the valid manifest
    std::string to;    // the text that replaces `from`
    std::string at;    // a text in the invalid manifest; the error names its line
    std::vector<std::string> words;
};

std::ostream& operator<<(std::ostream& stream, const Mistake& mistake) { return stream << mistake.name; }

const std::vector<Mistake> mistakes{
    {"NotToml", "name = \"M\"\n", "name = M\n", "name = M\n", {"not valid TOML"}},
    {"RuntimeIsNoTruth",
     "default = 128",
     "runtime = 1",
     "runtime = 1",
     {"'runtime' has the wrong type", "runtime = true"}},
    {"RuntimeInStaticSharedMemory",
     "default = 128",
     "runtime = true",
     "static_shared_bytes",
     {"'static_shared_bytes' names the run-time parameter 'WIDTH'", "fixed when the kernel is compiled"}},
    {"RuntimeInRegisters",
     "values = [1, 2]",
     "values = [1, 2]\nruntime = true",
     "registers =",
     {"'registers' names the run-time parameter 'UNROLL'", "fixed when the kernel is compiled"}},
    {"RuntimeNamedAsAnArgument",
     "name   = \"UNROLL\"",
     "name = \"lda\"\nruntime = true",
     "name = \"lda\"\nruntime",
     {"'lda' is an argument of the operation's", "rename"}},
    {"StartWithAnUnknownParameter",
     "types ",
     "starts = [\"WIDE=64\"]\ntypes ",
     "starts",
     {"'WIDE=64'", "there is no parameter 'WIDE'"}},
    {"StartWithAnUnknownValue",
     "types ",
     "starts = [\"WIDTH=65\"]\ntypes ",
     "starts",
     {"'WIDTH=65'", "65 is not among the values of WIDTH"}},
    {"StartWithoutAValue", "types ", "starts = [\"WIDTH\"]\ntypes ", "starts", {"'WIDTH' is not NAME=VALUE"}},
    {"UnfinishedString", "\"one element per thread\"", "\"one element", "\"one element", {"not valid TOML"}},
    {"KeyTwice", "baseline  = true", "types = [\"f32\"]", "types = [\"f32\"]\n\n", {"not valid TOML"}},
    {"TensorMapOfAScalar",
     "[requires]",
     "[[tensor_map]]\nname = \"T\"\nmatrix = \"alpha\"\nbox = [\"8\", \"8\"]\n[requires]",
     "matrix = \"alpha\"",
     {"'alpha' is no matrix with a stride", "name one of: A"}},
    {"TensorMapOfADenseMatrix",
     "[requires]",
     "[[tensor_map]]\nname = \"T\"\nmatrix = \"B\"\nbox = [\"8\", \"8\"]\n[requires]",
     "matrix = \"B\"",
     {"'B' is no matrix with a stride", "name one of: A"}},
    {"TensorMapWithOneExtent",
     "[requires]",
     "[[tensor_map]]\nname = \"T\"\nmatrix = \"A\"\nbox = [\"8\"]\n[requires]",
     "box = ",
     {"'box' has 1 extents", "[\"BLOCK_M\", \"BLOCK_K\"]"}},
    {"TensorMapOfACopyWithoutAWorkspace",
     "[requires]",
     "[[tensor_map]]\nname = \"T\"\nmatrix = \"A\"\nbox = [\"8\", \"8\"]\ncopy_at = \"0\"\n[requires]",
     "copy_at = ",
     {"'copy_at' needs a workspace", "[launch] 'workspace_bytes'"}},
    {"ShapeOfACopyWithoutACopy",
     "[requires]",
     "[[tensor_map]]\nname = \"T\"\nmatrix = \"A\"\nbox = [\"8\", \"8\"]\ncopy_shape = [\"8\", \"8\"]\n[requires]",
     "copy_shape = ",
     {"'copy_shape' needs a copy", "give 'copy_at'"}},
    {"TensorMapWithAnUnknownName",
     "[requires]",
     "[[tensor_map]]\nname = \"T\"\nmatrix = \"A\"\nbox = [\"8\", \"TILE\"]\n[requires]",
     "box = ",
     {"'box'", "'TILE'"}},
    {"UnknownBlock", "[requires]", "[require]", "[require]", {"unknown key 'require'", "requires"}},
    {"UnknownTemplateKey", "types ", "type ", "type ", {"[template]", "unknown key 'type'", "types"}},
    {"UnknownOperationKey", "terms ", "term ", "term ", {"[operation]", "unknown key 'term'", "terms"}},
    {"UnknownArgumentKey", "rows    = \"M\"", "row = \"M\"", "row = ", {"unknown key 'row'", "rows"}},
    {"UnknownCheckKey", "padding", "pad", "pad = 3", {"unknown key 'pad'", "padding"}},
    {"UnknownParameterKey", "summary = \"threads", "sumary = \"threads", "sumary", {"unknown key 'sumary'"}},
    {"UnknownConstraintKey", "reason =", "because =", "because", {"[[constraint]]", "unknown key 'because'"}},
    {"UnknownLaunchKey", "registers =", "regs =", "regs", {"[launch]", "unknown key 'regs'", "registers"}},
    {"UnknownRequirement", "host = true", "gpu = true", "gpu", {"[requires]", "unknown key 'gpu'", "host"}},
    {"UnknownModelKey", "phases  ", "steps  ", "steps  ", {"[model]", "unknown key 'steps'", "phases"}},
    {"NoName", "name      = \"scale\"\n", "", "[template]", {"has no 'name'", "name = \""}},
    {"NoOperation", "operation = \"scale\"\n", "", "[template]", {"has no 'operation'", "operation = \""}},
    {"NoTypes", "types     = [\"f32\"]\n", "", "[template]", {"has no 'types'", "types = [\"f32\"]"}},
    {"NoGrid", "grid  =", "# grid =", "[launch]", {"[launch]", "has no 'grid'", "grid = "}},
    {"NoBlock", "block = [\"WIDTH\"]", "", "[launch]", {"[launch]", "has no 'block'", "block = "}},
    {"NoValues", "values = [1, 2]", "", "[[parameter]]\nname   = \"UNROLL\"", {"has no 'values'", "values = ["}},
    {"NoReason", "reason = \"a block covers no more\"", "", "[[constraint]]", {"has no 'reason'"}},
    {"NoTerms", "terms      = \"1\"\n", "", "[operation]", {"has no 'terms'", "terms = "}},
    {"NoReference", "reference  = \"scale.cu\"\n", "", "[operation]", {"has no 'reference'"}},
    {"NoRows", "rows    = \"M\"\n", "", "[[operation.argument]]\nname    = \"B\"", {"has no 'rows'"}},
    {"NoLoadsInModel", "loads_per_phase      = \"WIDTH\"\n", "", "[model]", {"has no 'loads_per_phase'"}},
    {"NumberForText", "name      = \"scale\"", "name = 3", "name = 3", {"'name' has the wrong type", "name = \""}},
    {"NumberForExpression",
     "rule   = \"WIDTH * UNROLL <= 256\"",
     "rule = 1",
     "rule = 1",
     {"'rule' has the wrong type"}},
    {"TextForNumber",
     "default = 128",
     "default = \"128\"",
     "default",
     {"'default' holds \"128\" in quotes", "write 128"}},
    {"TextForTruth", "host = true", "host = \"yes\"", "host", {"'host' has the wrong type", "host = true"}},
    {"TextForList", "block = [\"WIDTH\"]", "block = \"WIDTH\"", "block = ", {"'block' must be a list", "block = ["}},
    {"NoneAsValues", "[1, 2]", "[]", "values = []", {"'values' must be a list"}},
    {"TypesNotKnown", "[\"f32\"]", "[\"f32\", \"f64\"]", "types ", {"type 'f64' is unknown; known: f32"}},
    {"LayoutNotKnown", "[\"down\"]", "[\"left\"]", "layouts   =", {"layout 'left' is unknown to operation scale"}},
    {"OperationNotKnown",
     "operation = \"scale\"",
     "operation = \"scael\"",
     "operation = \"scael\"",
     {"operation 'scael' is unknown; known: scale", "[operation]"}},
    {"MisspeltInRule", "\"WIDTH * UNROLL", "\"WIDHT * UNROLL", "rule ", {"'rule' names 'WIDHT'", "spelling"}},
    {"MisspeltInBlock", "[\"WIDTH\"]", "[\"WIDHT\"]", "block =", {"'block' names 'WIDHT'", "spelling"}},
    {"MisspeltInGrid", "ceil_div(M * N", "ceil_div(M * L", "grid ", {"'grid' names 'L'"}},
    {"MisspeltLimit", "\"16 + UNROLL\"", "\"device.warpsize\"", "registers =", {"names 'device.warpsize'"}},
    {"MisspeltInModel", "\"2 * WIDTH\"", "\"2 * WIDHT\"", "operations_per_phase", {"names 'WIDHT'"}},
    {"MisspeltInRows", "\"FLIP ? N : M\"", "\"FLOP ? N : M\"", "rows    = \"FLOP", {"'rows' names 'FLOP'"}},
    {"ParameterInOperation", "\"2 * M * N *", "\"WIDTH * M *", "bytes ", {"'bytes' names 'WIDTH'"}},
    {"MalformedRule", "<= 256", "=< 256", "rule ", {"'rule'", "column 16", "unexpected '='"}},
    {"MalformedGrid", "UNROLL)\", \"1\"", "UNROLL\", \"1\"", "grid ", {"'grid'", "expected ')'"}},
    {"FourDimensions", "\"1\", \"1\"]", "\"1\", \"1\", \"1\"]", "grid ", {"'grid' has more than three dimensions"}},
    {"FourDimensionalBlock", "[\"WIDTH\"]", "[\"1\", \"1\", \"1\", \"1\"]", "block =", {"more than three dimensions"}},
    {"ParameterTwice", "\"UNROLL\"\n", "\"WIDTH\"\n", "name   = \"WIDTH\"", {"'WIDTH' is declared twice"}},
    {"ParameterNamedAsExtent", "\"UNROLL\"\n", "\"M\"\n", "name   = \"M\"", {"'M' is declared twice, or is a name"}},
    {"ParameterNoIdentifier", "\"UNROLL\"\n", "\"UN-ROLL\"\n", "name   =", {"'UN-ROLL' is no C++ identifier"}},
    {"KernelNoIdentifier",
     "name      = \"scale\"",
     "name = \"2scale\"",
     "name = \"2",
     {"'2scale' is no C++ identifier"}},
    {"DefaultNotAmongValues", "default = 128", "default = 96", "default", {"'default' 96 is not among 'values'"}},
    {"ValueTwice", "[1, 2]", "[1, 2, 1]", "values = [1", {"'values' holds 1 twice"}},
    {"ValueNoInt", "[1, 2]", "[1, 4294967296]", "values = [1", {"4294967296, which is no C++ int"}},
    {"ValueLessThanAnInt", "[1, 2]", "[1, -2147483648]", "values = [1", {"-2147483648, which is no C++ int"}},
    {"ParametersNamedAsAnExtent",
     "terms      = \"1\"",
     "terms = \"1\"\nparameters = [\"M\"]",
     "parameters",
     {"'parameters' names 'M' twice, or it is already a name of the operation; rename one"}},
    {"ParametersTwice",
     "terms      = \"1\"",
     "terms = \"1\"\nparameters = [\"UNROLL\", \"UNROLL\"]",
     "parameters",
     {"'parameters' names 'UNROLL' twice, or it is already a name of the operation; rename one"}},
    {"ParametersOfAConfiguration",
     "reference  = \"scale.cu\"",
     "reference = { configuration = \"default\" }\nparameters = [\"UNROLL\"]",
     "parameters",
     {"'parameters' decide what outputs should be, but the reference is always the same"}},
    {"PrepareForNothing",
     "terms      = \"1\"",
     "terms = \"1\"\nprepare = \"inputs.cpp\"",
     "prepare",
     {"'prepare' computes nothing; write values = { prepared = true } in the arguments"}},
    {"NoOutput", "kind    = \"output\"", "kind = \"input\"", "[operation]", {"no argument of kind output", "add one"}},
    {"NoCheck",
     "[[operation.check]]\ninputs  = \"integer\"\nscalars = { alpha = 2.5 }\npadding = 3\nbatch_padding = 5\nbroadcast "
     "= [\"A\"]\n"
     "poison  = false\n",
     "",
     "[operation]",
     {"has no [[operation.check]]", "add one", "inputs = \"uniform\""}},
    {"StrideWithoutArgument",
     "stride  = \"lda\"",
     "stride = \"ldb\"",
     "[operation]",
     {"'A' names stride 'ldb'", "no argument of kind stride; add it"}},
    {"StrideOfNoArray",
     "stride  = \"lda\"\n",
     "",
     "[operation]",
     {"'lda' is the stride of no array; write stride = \"lda\" for the array"}},
    {"StrideOfAnotherKind", "kind = \"stride\"", "kind = \"scalar\"", "[operation]", {"no argument of kind stride"}},
    {"ArgumentTwice", "name = \"lda\"", "name = \"A\"", "[operation]", {"declares argument 'A' twice"}},
    {"ArgumentNoExtent", "name = \"M\"", "name = \"L\"", "[operation]", {"'L' is no extent", "add it to 'extents'"}},
    {"KindNotKnown",
     "kind    = \"output\"",
     "kind = \"result\"",
     "kind = \"result\"",
     {"'kind' is 'result', which is none of extent"}},
    {"ScalarWithoutValue",
     "scalars = { alpha = 2.5 }\n",
     "",
     "[[operation.check]]",
     {"gives scalar 'alpha' no value; write scalars = { alpha = 1 }"}},
    {"ScalarMisspelt",
     "{ alpha = 2.5 }",
     "{ alpha = 2.5, bata = 1 }",
     "scalars",
     {"'scalars' names 'bata'", "spelling"}},
    {"ScalarsNoTable", "{ alpha = 2.5 }", "2.5", "scalars", {"'scalars' must be a table"}},
    {"InputsNotKnown", "\"integer\"", "\"normal\"", "inputs ", {"none of uniform, integer, special"}},
    {"NegativeBatchPadding",
     "batch_padding = 5",
     "batch_padding = -5",
     "batch_padding",
     {"'batch_padding' is negative"}},
    {"BroadcastMisspelt", "[\"A\"]", "[\"a\"]", "broadcast", {"'broadcast' names 'a'", "no input with a batch stride"}},
    {"BroadcastWithoutBatchStride",
     "batch_stride = \"apart\"\n",
     "",
     "broadcast",
     {"'broadcast' names 'A'", "no input with a batch stride"}},
    {"BroadcastOutput", "[\"A\"]", "[\"B\"]", "broadcast", {"'broadcast' names 'B'"}},
    {"BatchStrideWithoutCount", "count   = \"N\"\n", "", "batch_stride =", {"needs a 'count'", "count = \"BATCH\""}},
    {"BatchStrideWithoutArgument",
     "batch_stride = \"apart\"",
     "batch_stride = \"lda\"",
     "[operation]",
     {"'A' names batch_stride 'lda'", "no argument of kind batch_stride; add it"}},
    {"CountMisspelt", "count   = \"N\"", "count = \"BATCHES\"", "count = ", {"'count' names 'BATCHES'"}},
    {"NegativeOffset", "padding = 3", "offset = -1", "offset", {"'offset' is negative"}},
    {"NoMultiple", "padding = 3", "multiple = 0", "multiple", {"'multiple' is less than 1"}},
    {"WideOutput", "padding = 3", "wide = \"B\"", "wide", {"'wide' names 'B', which is no input"}},
    {"WideWithoutIntegers",
     "inputs  = \"integer\"",
     "inputs = \"uniform\"\nwide = \"A\"",
     "wide",
     {"'wide' is about integers"}},
    {"ExtentsMisspelt", "padding = 3", "extents = { L = 0 }", "extents =", {"'extents' names 'L'", "kind extent"}},
    {"ExtentsOfAnOutput", "padding = 3", "extents = { M = 0 }", "extents =", {"on which the size of output 'B'"}},
    {"NegativePadding", "padding = 3", "padding = -1", "padding", {"'padding' is negative"}},
    {"LayoutsNoTable",
     "layouts.up   = { FLIP = 0 }\nlayouts.down = { FLIP = 1 }",
     "layouts = [\"down\"]",
     "layouts = [",
     {"'layouts' must be a table"}},
    {"LayoutNoTable", "{ FLIP = 0 }", "0", "layouts.up", {"'layouts' must be tables"}},
    {"LayoutConstantNoNumber", "{ FLIP = 0 }", "{ FLIP = false }", "layouts.up", {"'layouts' must hold whole numbers"}},
    {"LayoutConstantMissing", "{ FLIP = 0 }", "{ FLOP = 0 }", "layouts.up", {"'layouts' must give the same constants"}},
    {"LayoutConstantNamedAsExtent", "{ FLIP = 0 }", "{ FLIP = 0, M = 1 }", "layouts.up", {"'M' is declared twice"}},
    {"ExtentTwice", "[\"M\", \"N\"]", "[\"M\", \"N\", \"M\"]", "extents ", {"'M' is declared twice"}},
    {"ExtentNoIdentifier", "[\"M\", \"N\"]", "[\"M\", \"N\", \"a b\"]", "extents ", {"'a b' is no C++ identifier"}},
    {"TemplateAsList", "[template]", "[[template]]", "[[template]]", {"'template' must be a table: [template]"}},
    {"LaunchAsList", "[launch]", "[[launch]]", "[[launch]]", {"'launch' must be a table: [launch]"}},
    {"ConstraintAsTable", "[[constraint]]", "[constraint]", "[constraint]", {"must be written as [[constraint]]"}},
};

class ManifestMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(ManifestMistakes, AreNamedWithFileLineAndRemedy) {
    const auto& [name, from, to, at, words] = GetParam();
    ASSERT_NE(good.find(from), std::string::npos) << "the good manifest does not hold " << from;
    auto bad = good;
    bad.replace(bad.find(from), from.size(), to);
    const auto message = refusal(bad);
    ASSERT_NE(bad.find(at), std::string::npos);
    EXPECT_THAT(message, StartsWith("kernels/scale.toml:" + std::to_string(line_of(bad, at)) + ": "));
    for (const auto& word : words) EXPECT_THAT(message, HasSubstr(word));
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, ManifestMistakes, testing::ValuesIn(mistakes),
                         [](const auto& mistake) { return mistake.param.name; });

TEST(Manifest, AnExtentThatCountsTheMatricesOfAnOutputIsNeverZeroInACheck) {
    auto text = builtin_sources().at("batched_gemm/operation.toml");
    ASSERT_TRUE(parse_operation("operation.toml", text).has_value());
    text.replace(text.find("{ K = 0 }"), 9, "{ BATCH = 0 }");
    EXPECT_THROW((void)parse_operation("operation.toml", text), ManifestError);
}

TEST(Manifest, WithoutTemplateOrOperationSaysWhatToWrite) {
    EXPECT_THAT(refusal("# nothing yet\n"), HasSubstr("has no [template]; write [template]"));
    EXPECT_THAT(refusal(""), StartsWith("kernels/scale.toml:1: "));
}

TEST(Manifest, WithoutLaunchSaysWhatToWrite) {
    auto bad = good;
    bad.erase(bad.find("[launch]"), bad.find("[requires]") - bad.find("[launch]"));
    const auto message = refusal(bad);
    EXPECT_THAT(message, StartsWith("kernels/scale.toml:1: "));
    EXPECT_THAT(message, HasSubstr("has no [launch]; write [launch] with block and grid"));
}

TEST(Manifest, NumbersWhereBlocksBelongAreErrors) {
    auto bad = good;
    bad.insert(0, "parameter = [5]\n");
    bad.erase(bad.find("[[parameter]]"), bad.find("[[constraint]]") - bad.find("[[parameter]]"));
    EXPECT_THAT(refusal(bad),
                StartsWith("kernels/scale.toml:1: manifest 'parameter' must be written as [[parameter]]"));
}

// The manifests of one folder. Tests read `twin.toml`.
struct Extension {
    std::map<std::string, std::string> files{{"kernels/scale.toml", good}};

    KernelTemplate read() const {
        const auto find = [this](const std::string& path, const std::string& wanted_at) -> const std::string& {
            const auto found = files.find(path);
            if (found == files.end()) throw ManifestError(wanted_at + ": file '" + path + "' is missing");
            return found->second;
        };
        const auto operation = *parse_operation("kernels/scale.toml", good);
        return *parse_template("twin.toml", files.at("twin.toml"), {{"scale", operation}}, find);
    }
    std::string refusal() const {
        try {
            return "reads " + read().name;
        } catch (const ManifestError& error) {
            return error.what();
        }
    }
};

const std::string twin =
    "[template]\nname = \"twin\"\noperation = \"scale\"\ntypes = [\"f32\"]\nextends = \"kernels/scale.toml\"\n";

TEST(ManifestExtends, TakesParametersRulesLaunchAndModelFromThere) {
    const auto kernel = Extension{
        {{"kernels/scale.toml", with_derived("[[derived]]\nname = \"ALL\"\nvalue = \"WIDTH\"\n")},
         {"twin.toml",
          twin}}}.read();
    EXPECT_EQ(kernel.name, "twin");
    EXPECT_EQ(kernel.path, "twin.toml");
    EXPECT_EQ(kernel.source_path, "twin.cu");
    EXPECT_TRUE(kernel.layouts.empty()) << "[template] is its own";
    EXPECT_FALSE(kernel.baseline);
    EXPECT_EQ(to_text(default_configuration(kernel)), "UNROLL=1,WIDTH=128");
    EXPECT_EQ(kernel.derived.at(0).name, "ALL");
    EXPECT_EQ(kernel.constraints.at(0).reason, "a block covers no more");
    EXPECT_EQ(kernel.grid[0].text(), "ceil_div(M * N, WIDTH * UNROLL)");
    EXPECT_EQ(kernel.compute_capability, 80);
    EXPECT_TRUE(kernel.host);
    EXPECT_EQ(kernel.model->operations_per_phase.text(), "2 * WIDTH");
}

TEST(ManifestExtends, AddsEntriesBehindThoseAndKeysInPlaceOfThose) {
    Extension extension;
    extension.files["twin.toml"] = twin +
                                   "[[parameter]]\nname = \"ORDER\"\nvalues = [0, 1]\n"
                                   "[[derived]]\nname = \"ALL\"\nvalue = \"WIDTH * UNROLL\"\n"
                                   "[[constraint]]\nrule = \"ALL > ORDER\"\nreason = \"why not\"\n"
                                   "[launch]\ngrid = [\"N\", \"M\"]\n"
                                   "[requires]\nhost = false\n"
                                   "[model]\nphases = \"2\"\n";
    const auto kernel = extension.read();
    ASSERT_EQ(kernel.parameters.size(), 3U);
    EXPECT_EQ(kernel.parameters[0].name, "WIDTH");
    EXPECT_EQ(kernel.parameters[2].name, "ORDER");
    ASSERT_EQ(kernel.constraints.size(), 2U);
    EXPECT_EQ(kernel.constraints[1].text(), "ALL > ORDER");
    EXPECT_EQ(kernel.grid[0].text(), "N");
    EXPECT_EQ(kernel.block[0].text(), "WIDTH");
    EXPECT_EQ(kernel.registers->text(), "16 + UNROLL");
    EXPECT_FALSE(kernel.host);
    EXPECT_EQ(kernel.compute_capability, 80);
    EXPECT_EQ(kernel.model->phases.text(), "2");
    EXPECT_EQ(kernel.model->loads_per_phase.text(), "WIDTH");
}

TEST(ManifestExtends, ADerivedNameTakesThePlaceOfTheOtherOnesInItsRulesToo) {
    Extension extension;
    auto& other = extension.files["kernels/scale.toml"];
    const std::string names =
        "[[derived]]\nname = \"PARTS\"\nvalue = \"1\"\n[[derived]]\nname = \"ALL\"\nvalue = \"WIDTH * PARTS\"\n"
        "[[constraint]]\nrule = \"ALL < 7\"\nreason = \"why not\"\n";
    other.insert(other.find("[[constraint]]"), names);
    extension.files["twin.toml"] = twin + "[[derived]]\nname = \"PARTS\"\nvalue = \"N\"\n";
    const auto kernel = extension.read();
    ASSERT_EQ(kernel.derived.size(), 2U);
    EXPECT_EQ(kernel.derived[0].value, "N");
    EXPECT_EQ(kernel.constraints.front().rule.text(), "(WIDTH * (N)) < 7");
}

TEST(ManifestExtends, TakesTensorMapsAndReplacesThoseOfTheSameName) {
    Extension extension;
    extension.files["kernels/scale.toml"] = with_tensor_maps(2);
    extension.files["twin.toml"] = twin + "[[tensor_map]]\nname = \"MAP1\"\nmatrix = \"A\"\nbox = [\"4\", \"32\"]\n";
    const auto kernel = extension.read();
    ASSERT_EQ(kernel.tensor_maps.size(), 2U);
    EXPECT_EQ(kernel.tensor_maps[0].box_columns.text(), "64");
    EXPECT_EQ(kernel.tensor_maps[1].name, "MAP1");
    EXPECT_EQ(kernel.tensor_maps[1].box_columns.text(), "32");
}

TEST(ManifestExtends, MayExtendOneThatExtendsAThird) {
    Extension extension;
    extension.files["middle.toml"] = twin + "[launch]\ngrid = [\"M\"]\n[requires]\nhost = false\n";
    extension.files["twin.toml"] =
        "[template]\nname = \"twin\"\noperation = \"scale\"\ntypes = [\"f32\"]\nextends = \"middle.toml\"\n"
        "[launch]\nblock = [\"32\"]\n";
    const auto kernel = extension.read();
    EXPECT_EQ(kernel.block[0].text(), "32");
    EXPECT_EQ(kernel.grid[0].text(), "M");
    EXPECT_FALSE(kernel.host);
    EXPECT_EQ(kernel.parameters.size(), 2U);
}

TEST(ManifestExtends, NamesWhatCannotBeTakenOver) {
    Extension extension;
    const auto refused = [&](const std::string& text) {
        extension.files["twin.toml"] = text;
        return extension.refusal();
    };
    const auto extends = [](const std::string& value) {
        return "[template]\nname = \"twin\"\noperation = \"scale\"\ntypes = [\"f32\"]\nextends = " + value + "\n";
    };
    EXPECT_EQ(refused(extends("\"absent.toml\"")), "twin.toml:5: file 'absent.toml' is missing");
    EXPECT_THAT(refused(extends("3")), AllOf(StartsWith("twin.toml:5: [template] 'extends' has the wrong type"),
                                             HasSubstr("extends = \"gemm/warp_tiled.toml\"")));
    extension.files["operation.toml"] = good.substr(0, good.find("[template]"));
    EXPECT_THAT(refused(extends("\"operation.toml\"")),
                AllOf(StartsWith("twin.toml:5: "), HasSubstr("'operation.toml', which describes no kernel; name one")));
    EXPECT_THAT(refused(extends("\"twin.toml\"")),
                AllOf(StartsWith("twin.toml:5: "), HasSubstr("'extends' leads back to 'twin.toml'; name a manifest")));
    extension.files["other.toml"] = extends("\"twin.toml\"");
    EXPECT_THAT(refused(extends("\"other.toml\"")),
                AllOf(StartsWith("other.toml:5: "), HasSubstr("'extends' leads back to 'twin.toml'")));
}

TEST(ManifestExtends, LikeIsTheEarlierNameOfTheKey) {
    Extension extension;
    const auto like =
        "[template]\nname = \"twin\"\noperation = \"scale\"\ntypes = [\"f32\"]\nlike = "
        "\"kernels/scale.toml\"\n";
    extension.files["twin.toml"] = like;
    EXPECT_EQ(extension.read().parameters.size(), 2U);
    extension.files["twin.toml"] = std::string(like) + "extends = \"kernels/scale.toml\"\n";
    EXPECT_EQ(extension.refusal(),
              "twin.toml:5: [template] 'like' is the earlier name of 'extends'; write only 'extends'");
}

TEST(ManifestExtends, ANameThatIsThereAlreadyIsAnErrorWithItsLine) {
    Extension extension;
    extension.files["twin.toml"] = twin + "[[derived]]\nname = \"WIDTH\"\nvalue = \"1\"\n";
    EXPECT_EQ(extension.refusal(),
              "twin.toml:7: 'WIDTH' is also in 'kernels/scale.toml', which this manifest extends; leave it out, or "
              "rename it");
}

TEST(ManifestExtends, AParameterReplacesTheOneOfItsName) {
    Extension extension;
    extension.files["twin.toml"] = twin;
    const auto before = extension.read().parameters;
    extension.files["twin.toml"] = twin + "[[parameter]]\nname = \"WIDTH\"\nvalues = [16, 64]\ndefault = 64\n";
    const auto after = extension.read().parameters;
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].name, before[i].name) << "in its place";
    const auto width = std::ranges::find(after, "WIDTH", &Parameter::name);
    ASSERT_NE(width, after.end());
    EXPECT_THAT(width->values, testing::ElementsAre(16, 64));
    EXPECT_EQ(width->default_value, 64);
}

TEST(ManifestExtends, ErrorsNameTheFileInWhichTheMistakeStands) {
    Extension extension;
    extension.files["twin.toml"] = twin + "[launch]\ngrid = [\"L\"]\n";
    EXPECT_THAT(extension.refusal(), StartsWith("twin.toml:7: [launch] 'grid' names 'L'"));
    auto& text = extension.files["kernels/scale.toml"];
    text.replace(text.find("WIDTH * UNROLL <="), 5, "WIDHT");
    extension.files["twin.toml"] = twin + "[[constraint]]\nrule = \"UNROLL > 0\"\nreason = \"why not\"\n";
    const auto message = extension.refusal();
    EXPECT_THAT(message, StartsWith("kernels/scale.toml:" + std::to_string(line_of(text, "rule ")) + ": "));
    EXPECT_THAT(message, AllOf(HasSubstr("'rule' names 'WIDHT'"), HasSubstr("as part of twin.toml")));
}

}  // namespace
}  // namespace smemtune
