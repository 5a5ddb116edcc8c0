// Tests arguments that declare types, shapes, values and tolerances.
#include "templates/manifest/argument_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "templates/manifest/catalog.h"
#include "util/temporary_folder.h"

namespace smemtune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string manifest_with(const std::string& arguments, const std::string& check = "inputs = \"uniform\"") {
    return R"toml([operation]
name       = "count"
extents    = ["n"]
operations = "0"
bytes      = "n"
terms      = "0"
reference  = "count.cu"
argument   = [{ name = "n", kind = "extent" },
)toml" + arguments +
           "]\ncheck      = [{ " + check + R"toml( }]
[template]
name      = "count"
operation = "count"
types     = ["f32"]
[launch]
block = ["64"]
grid  = ["1"]
[requires]
host = true
)toml";
}

KernelTemplate loaded(const std::string& text) {
    return load_templates({{"count.toml", text}, {"count.cu", "__global__ void count() {}"}}).at(0);
}

Argument argument_of(const std::string& text) {
    const auto kernel = loaded(
        manifest_with("{ name = \"it\", " + text + " }, " + R"({ name = "o", kind = "output", shape = ["n"] })"));
    EXPECT_TRUE(kernel.operation.typed);
    return kernel.operation.arguments.at(1);
}

TEST(ArgumentSection, InoutsAreRestoredUnlessTheManifestSaysOtherwise) {
    const std::string inout = R"(kind = "inout", type = "f32", shape = ["n"])";
    EXPECT_TRUE(argument_of(inout).is_restored);
    EXPECT_FALSE(argument_of(inout + ", restore = false").is_restored);
    EXPECT_FALSE(argument_of(R"(kind = "input", type = "f32", shape = ["n"])").is_restored);
}

std::string argument_refusal(const std::string& argument, const std::string& check = "inputs = \"uniform\"") {
    try {
        (void)loaded(manifest_with(
            "{ name = \"it\", " + argument + " }, " + R"({ name = "o", kind = "output", shape = ["n"] })", check));
        return "";
    } catch (const ManifestError& error) {
        return error.what();
    }
}

TEST(TypedArgument, HasTypeShapeValuesAndTolerance) {
    const Environment environment{{"n", 6}};
    const auto input =
        argument_of(R"(kind = "input", type = "u8x2", shape = ["2", "n", "n + 1"], values = { below = "n" })");
    EXPECT_EQ(input.type, argument_type("u8x2"));
    EXPECT_EQ(shape_of(input, environment).rows, 12);
    EXPECT_EQ(shape_of(input, environment).columns, 7);
    EXPECT_EQ(input.values->kind, ArgumentValues::Kind::uniform);
    EXPECT_EQ(input.values->first.value(environment), 0);
    EXPECT_EQ(input.values->second.value(environment), 5);
    const auto output = argument_of(
        R"(kind = "inout", shape = ["n"], tolerance = { absolute = 1e-6, relative = 0.5, share = 0.25, equal_nans = true })");
    EXPECT_TRUE(output.is_read);
    EXPECT_EQ(shape_of(output, environment).rows, 1);
    EXPECT_EQ(output.tolerance->absolute, 1e-6);
    EXPECT_EQ(output.tolerance->relative, 0.5);
    EXPECT_EQ(output.tolerance->share, 0.25);
    EXPECT_TRUE(output.tolerance->equal_nans);
    EXPECT_FALSE(output.has_magnitude()) << "the tolerance takes the place of the bound";
    EXPECT_EQ(argument_of(R"(kind = "scalar", type = "i32", value = 7)").value, 7);
    EXPECT_EQ(
        argument_of(R"(kind = "input", type = "i32", shape = ["n"], values = { sorted = 9 })").values->second.value({}),
        9);
}

TEST(TypedArgument, AShareAloneKeepsTheErrorBound) {
    EXPECT_TRUE(
        argument_of(R"(kind = "output", type = "f32", shape = ["n"], tolerance = { share = 0.1 })").has_magnitude());
    EXPECT_FALSE(argument_of(R"(kind = "output", type = "u32", shape = ["n"])").has_magnitude());
}

TEST(TypedArgument, EitherDistanceOfAToleranceTakesThePlaceOfTheErrorBound) {
    for (const std::string distance : {"absolute", "relative"}) {
        const auto its = argument_of("kind = \"output\", shape = [\"n\"], tolerance = { " + distance + " = 0.1 }");
        EXPECT_TRUE(its.tolerance->has_distance) << distance;
        EXPECT_FALSE(its.has_magnitude()) << distance;
    }
}

// A scalar has the value that the check gives it, or else the value that its argument declares.
TEST(TypedArgument, AScalarsValueIsTheChecksOrItsOwn) {
    const auto value_with = [](const std::string& check) {
        return loaded(manifest_with(R"({ name = "it", kind = "scalar", type = "i32", value = 7 },
                                       { name = "o", kind = "output", shape = ["n"] })",
                                    check))
            .operation.checks.at(0)
            .scalars.at("it");
    };
    EXPECT_EQ(value_with("inputs = \"uniform\""), 7);
    EXPECT_EQ(value_with("inputs = \"uniform\", scalars = { it = 3 }"), 3);
}

TEST(TypedArgument, AScalarWithoutCheckNeedsAValueOfItsOwn) {
    auto text = manifest_with(
        R"({ name = "it", kind = "scalar", type = "i32" }, { name = "o", kind = "output", shape = ["n"] })");
    const std::string check = "check      = [{ inputs = \"uniform\" }]";
    text.erase(text.find(check), check.size());
    try {
        (void)loaded(text);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const ManifestError& error) {
        EXPECT_THAT(error.what(), HasSubstr("gives scalar 'it' no value; write for example value = 1 there"));
    }
}

TEST(TypedArgument, ATypeChangesTheTemplatesHash) {
    const auto hash_with = [](const std::string& type) {
        return loaded(manifest_with("{ name = \"o\", kind = \"output\", shape = [\"n\"]" + type + " }")).hash;
    };
    EXPECT_NE(hash_with(""), hash_with(", type = \"u32\""));
    EXPECT_NE(hash_with(", type = \"i32\""), hash_with(", type = \"u32\""));
}

TEST(TypedArgument, OfTypesThatTheHostDeviceLacksIsRefusedThere) {
    const auto reason = [](const std::string& type) {
        const auto kernel =
            loaded(manifest_with("{ name = \"o\", kind = \"output\", shape = [\"n\"], type = \"" + type + "\" }"));
        return why_unsupported(kernel, {.operation = "count", .type = "f32", .extents = {{"n", 5}}},
                               Device{.name = "host"})
            .value_or("");
    };
    EXPECT_EQ(reason("f64"), "");
    EXPECT_EQ(reason("f16x2"), "argument 'o' has type f16x2, which the host device lacks; tune it on a GPU");
}

SourceTree with_file(const std::string& content, const std::string& name = "data.raw") {
    SourceTree tree{
        {"count.toml",
         manifest_with(R"({ name = "it", kind = "input", type = "u16", shape = ["n"], values = { file = ")" + name +
                       R"(" } }, { name = "o", kind = "output", shape = ["n"] })")},
        {"count.cu", "__global__ void count() {}"}};
    if (!content.empty()) tree["data.raw"] = content;
    return tree;
}

TEST(TypedArgument, AFilesContentIsVerifiedWithAndKeptWithTheTemplate) {
    const Problem problem{.operation = "count", .type = "f32", .extents = {{"n", 2}}};
    const auto kernel = load_templates(with_file("abcd")).at(0);
    EXPECT_EQ(kernel.operation.arguments.at(1).values->data->count, 2);
    const auto stored = load_template(kernel.files);
    EXPECT_EQ(stored.operation.arguments.at(1).values->data->bytes, "abcd");
    EXPECT_EQ(operation_identity(stored, problem), operation_identity(kernel, problem));
    const auto other = load_templates(with_file("abce")).at(0);
    EXPECT_NE(operation_identity(other, problem), operation_identity(kernel, problem));
    EXPECT_EQ(other.hash, kernel.hash) << "the machine code is the same";
}

TEST(TypedArgument, AFileThatIsMissingOutsideOrUnfitIsRefused) {
    const auto message_of = [](const SourceTree& tree) -> std::string {
        try {
            (void)load_templates(tree);
            return "";
        } catch (const ManifestError& error) {
            return error.what();
        }
    };
    EXPECT_THAT(message_of(with_file("")), HasSubstr("count.toml:1: file 'data.raw' is missing"));
    EXPECT_THAT(message_of(with_file("abc")),
                HasSubstr("data.raw:1: file 'data.raw', the values of argument 'it', has 3 bytes"));
    EXPECT_THAT(message_of(with_file("", "../data.raw")),
                HasSubstr("names '../data.raw', which is outside the templates folder"));
    EXPECT_THAT(message_of(with_file("", "data.txt")),
                HasSubstr("'file', which names a file NAME.npy, NAME.bin or NAME.raw"));
}

TEST(TypedArgument, OnlyTheDataFilesThatAManifestNamesAreRead) {
    const TemporaryFolder folder("smemtune_data");
    for (const auto& [path, text] : with_file("abcd")) std::ofstream(folder / path) << text;
    std::ofstream(folder / "unnamed.npy") << "abcd";
    std::ofstream(folder / "data.rawer") << "abcd";
    std::ofstream(folder / "noted.npy") << "abcd";
    std::ofstream(folder / "count.toml", std::ios::app) << "# not \"noted.npy\"\n";
    const auto tree = read_sources(folder.path());
    EXPECT_EQ(tree.at("data.raw"), "abcd");
    EXPECT_FALSE(tree.contains("unnamed.npy"));
    EXPECT_FALSE(tree.contains("data.rawer"));
    EXPECT_FALSE(tree.contains("noted.npy"));
    std::ofstream(folder / "other.toml") << "values = \"unnamed.npy\"";  // no line break after the quote
    EXPECT_EQ(read_sources(folder.path()).at("unnamed.npy"), "abcd");
    std::filesystem::resize_file(folder / "data.raw", largest_data_file);
    EXPECT_EQ(read_sources(folder.path()).at("data.raw").size(), largest_data_file);
    std::filesystem::resize_file(folder / "data.raw", largest_data_file + 1);
    try {
        (void)read_sources(folder.path());
        ADD_FAILURE() << "nothing was thrown";
    } catch (const ManifestError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("data.raw:1: has 16777217 bytes; a file that a manifest names has at most 16777216"));
    }
}

TEST(TypedArgument, ASymbolMakesAnotherKernelAndCountsAsTyped) {
    const auto kernel_of = [](const std::string& symbol) {
        return load_templates({{"count.toml", manifest_with(R"({ name = "it", kind = "input", shape = ["n"])" + symbol +
                                                            R"( }, { name = "o", kind = "output", shape = ["n"] })")},
                               {"count.cu", "__global__ void count() {}"}})
            .at(0);
    };
    EXPECT_FALSE(kernel_of("").operation.typed);
    EXPECT_TRUE(kernel_of(", symbol = \"s\"").operation.typed);
    EXPECT_EQ(kernel_of(", symbol = \"s\"").operation.arguments.at(1).symbol, "s");
    EXPECT_NE(kernel_of(", symbol = \"s\"").hash, kernel_of(", symbol = \"t\"").hash);
}

TEST(TypedArgument, ARangeMayHoldASingleNumber) {
    for (const std::string type : {"f32", "i32"}) {
        const auto argument =
            argument_of("kind = \"input\", type = \"" + type + "\", shape = [\"n\"], values = { uniform = [2, 2] }");
        EXPECT_EQ(argument.values->second.number, 2) << type;
    }
}

TEST(TypedArgument, DistancesAndSharesMayBeAtTheEndsOfTheirRanges) {
    const auto tolerance = [](const std::string& text) {
        return *argument_of("kind = \"output\", shape = [\"n\"], tolerance = { " + text + " }").tolerance;
    };
    EXPECT_EQ(tolerance("share = 1").share, 1);
    EXPECT_EQ(tolerance("share = 0").share, 0);
    EXPECT_EQ(tolerance("absolute = 0").absolute, 0);
    EXPECT_TRUE(tolerance("absolute = 0").has_distance) << "outputs must be exact";
    EXPECT_EQ(tolerance("relative = 3").relative, 3);
}

TEST(TypedArgument, ALimitIsOneLessThanTheWholeExpression) {
    const auto second = [](const std::string& limit, std::int64_t n) {
        return argument_of(R"(kind = "input", type = "i32", shape = ["n"], values = { below = ")" + limit + "\" }")
            .values->second.value({{"n", n}});
    };
    EXPECT_EQ(second("n < 5 ? 100 : n", 4), 99);
    EXPECT_EQ(second("n < 5 ? 100 : n", 9), 8);
    EXPECT_EQ(second("n & 6", 7), 5);
}

TEST(TypedArgument, StructsMayBePrepared) {
    EXPECT_EQ(argument_refusal(R"(kind = "input", type = "bytes:8", shape = ["n"], values = { constant = 0 })"), "");
    EXPECT_THAT(argument_refusal(R"(kind = "input", type = "bytes:8", shape = ["n"], values = { prepared = true })"),
                HasSubstr("has no 'prepare', which computes argument 'it'"))
        << "the values themselves are accepted";
}

struct ArgumentMistake {
    std::string argument, message, check = "inputs = \"uniform\"";
};

TEST(TypedArgument, MistakesAreNamedWithPlaceAndRemedy) {
    const std::vector<ArgumentMistake> mistakes{
        {R"(kind = "input", type = "float", shape = ["n"])", "type 'float' is unknown; known: f64 f32 f16 bf16 i64"},
        {R"(kind = "stride", type = "f32")", "'type' is f32, but extents and strides are one of i32, u32, i64, u64"},
        {R"(kind = "stride", type = "i16")", "'type' is i16, but extents and strides are one of i32, u32, i64, u64"},
        {R"(kind = "scalar", type = "f32x2", value = 1)", "a scalar is a single number; write one of its type, f32"},
        {R"(kind = "scalar", type = "u8", value = 256)", "'value' is not a value of u8"},
        {R"(kind = "scalar", type = "u8", value = "x")", "'value' must be a number; write for example value = 1"},
        {R"(kind = "scalar", type = "u8")", "gives scalar 'it' no value; write scalars = { it = 1 }"},
        {R"(kind = "scalar", type = "i32")", "'scalars' gives 'it' a value that i32 does not have",
         "inputs = \"uniform\", scalars = { it = 0.5 }"},
        {R"(kind = "input", type = "i32", shape = ["n"])",
         "gives 'it' of type i32 no range; write for example values = { uniform = [0, 100] }"},
        {R"(kind = "inout", type = "i32", shape = ["n"])", "gives 'it' of type i32 no range"},
        {R"(kind = "input", type = "f32", shape = ["n"], rows = "n")", "'rows' and 'shape' both give the size"},
        {R"(kind = "input", type = "f32", shape = ["m"])", "'shape' names 'm', which is no parameter, extent"},
        {R"(kind = "input", type = "f32", shape = [])", "'shape' must be a list"},
        {R"(kind = "output", type = "i32", shape = ["n"], values = { constant = 0 })",
         "'values' is only for inputs and inouts; leave it out"},
        {R"(kind = "input", type = "f32", shape = ["n"], tolerance = { share = 0 })",
         "'tolerance' is only for outputs and inouts; leave it out"},
        {R"(kind = "input", type = "f32", shape = ["n"], value = 1)", "'value' is only for scalars; leave it out"},
        {R"(kind = "output", shape = ["n"], symbol = "s")", "'symbol' is only for inputs; leave it out"},
        {R"(kind = "input", shape = ["n"], symbol = "a::b")", "'symbol' is 'a::b', which is no C++ identifier; name a"},
        {R"(kind = "input", rows = "n", columns = "n", stride = "lda", symbol = "s")",
         "'symbol' and a stride do not fit together: a symbol is dense; leave the stride out"},
        {R"(kind = "input", rows = "n", columns = "n", count = "n", batch_stride = "sa", symbol = "s")",
         "'symbol' and a stride do not fit together: a symbol is dense; leave the stride out"},
        {R"(kind = "input", shape = ["n"], values = { gamma = 1 })",
         "'values' knows no 'gamma'; known: uniform normal constant below sorted permutation file"},
        {R"(kind = "input", shape = ["n"], values = { uniform = [0, 1], constant = 1 })",
         "'values' holds 2 distributions instead of one"},
        {R"(kind = "input", shape = ["n"], values = { uniform = 1 })", "'uniform', which takes two numbers"},
        {R"(kind = "input", shape = ["n"], values = { uniform = [2, 1] })", "whose range runs backwards"},
        {R"(kind = "input", shape = ["n"], values = { uniform = [0, inf] })",
         "'values' holds 'uniform' with a number that is not finite; write for example values = { uniform = [-1, 1] }"},
        {R"(kind = "input", shape = ["n"], values = { normal = [nan, 1] })",
         "'normal' with a number that is not finite"},
        {R"(kind = "input", type = "u8", shape = ["n"], values = { uniform = [0, 256] })",
         "'values' holds a number that u8 does not have"},
        {R"(kind = "input", type = "u8", shape = ["n"], values = { constant = true })",
         "holds what is neither a number nor an expression"},
        {R"(kind = "input", type = "u8", shape = ["n"], values = { uniform = [false, true] })",
         "holds what is neither a number nor an expression"},
        {R"(kind = "input", type = "u8", shape = ["n"], values = { normal = [0, 1] })",
         "'normal', which is for floating types, but the type is u8"},
        {R"(kind = "input", shape = ["n"], values = { below = "n" })",
         "'below', which is for integers, but the type is f32"},
        {R"(kind = "input", shape = ["n"], values = { sorted = "n" })", "'sorted', which is for integers"},
        {R"(kind = "input", shape = ["n"], values = { permutation = true })", "'permutation', which is for integers"},
        {R"(kind = "input", type = "i32", shape = ["n"], values = { permutation = 1 })",
         "which is written permutation = true"},
        {R"(kind = "input", type = "i32", shape = ["n"], values = { below = 1.5 })",
         "'below', which takes a number or an expression"},
        {R"(kind = "input", type = "i32", shape = ["n"], values = { below = "m" })", "'values' names 'm'"},
        {R"(kind = "input", type = "i32x2", shape = ["n"], values = { permutation = true })",
         "'values' orders single numbers, but the type is i32x2; declare the numbers, as type = \"i32\""},
        {R"(kind = "output", shape = ["n"], tolerance = { relativ = 1 })",
         "'tolerance' knows no 'relativ'; known: absolute relative share equal_nans"},
        {R"(kind = "output", shape = ["n"], tolerance = { relative = -1 })", "'relative', which is a number from 0;"},
        {R"(kind = "output", shape = ["n"], tolerance = { share = 2 })", "'share', which is a number from 0 to 1;"},
        {R"(kind = "output", shape = ["n"], tolerance = { equal_nans = 1 })", "'equal_nans', which is true or false"},
        {R"(kind = "inout", shape = ["n"])", "write kind = \"inout\" for an output that the kernel reads",
         "inputs = \"uniform\", poison = false"},
        {R"(kind = "input", type = "f32", shape = ["n"])", "'wide' is not for operations whose arguments declare types",
         "inputs = \"integer\", wide = \"it\""},
        {R"(kind = "input", type = "f32", shape = ["n"], restore = true)", "'restore' is only for inouts"},
        {R"(kind = "inout", type = "f32", shape = ["n"], restore = 1)", "'restore' has the wrong type"},
        {R"(kind = "input", type = "bytes:", shape = ["n"])", "type 'bytes:' is no struct of 1 to 4096 bytes"},
        {R"(kind = "input", type = "bytes:8x", shape = ["n"])", "type 'bytes:8x' is no struct of 1 to 4096 bytes"},
        {R"(kind = "input", type = "bytes:5000", shape = ["n"])", "type 'bytes:5000' is no struct of 1 to 4096 bytes"},
        {R"(kind = "input", type = "bytes:8", shape = ["n"])",
         "gives 'it' of type bytes:8 no values; write for example values = { file = \"it.bin\" }"},
        {R"(kind = "input", type = "bytes:8", shape = ["n"], values = { below = 3 })",
         "'values' computes numbers, but the type is bytes:8"},
        {R"(kind = "output", type = "bytes:8", shape = ["n"], tolerance = { relative = 1 })",
         "'tolerance' is about numbers, but bytes:8 is compared byte by byte; leave it out"},
        {R"(kind = "scalar", type = "bytes:8", value = 1)", "a scalar is a single number; pass structs in arrays"},
        {R"(kind = "extent", type = "bytes:4")", "extents and strides are one of i32, u32, i64, u64"},
        {R"(kind = "inputs", shape = ["n"])",
         "'kind' is 'inputs', which is none of extent, stride, batch_stride, scalar, input, output, inout"},
    };
    for (const auto& [argument, message, check] : mistakes) {
        const auto refused = argument_refusal(argument, check);
        EXPECT_THAT(refused, HasSubstr(message)) << argument;
        EXPECT_THAT(refused, testing::MatchesRegex("count.toml:[1-9][0-9]*: .*")) << argument;
    }
}

}  // namespace
}  // namespace smemtune
