// Tests `smemtune import`, which converts problems in the T1 format of other autotuners to manifests.
#include "tuner/authoring/t1.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* scale_source = R"(#define REAL float
#ifndef kernel_tuner
#define WIDTH 3
#endif
#define FIXED 4
extern "C" __global__ void scale(const REAL* in, float *out, const unsigned char* flags, REAL by, int n) {
    const int i = blockIdx.x * BLOCK * WIDTH + threadIdx.x;
    if (i < n) out[i] = in[i] * by + flags[i];
}
)";

json scale_file() {
    return json::parse(R"json({
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "BLOCK", "Type": "int", "Values": "[32 * i for i in range(1, 4)]", "Default": 64},
            {"Name": "WIDTH", "Type": "int", "Values": "[1, 2]", "Default": 3},
            {"Name": "FIXED", "Type": "int", "Values": "[4]", "Default": 4}
        ],
        "Conditions": [{"Expression": "BLOCK // FIXED >= 8 and WIDTH > 0", "Parameters": ["BLOCK"]}]
    },
    "KernelSpecification": {
        "Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
        "CompilerOptions": ["-std=c++11", "", "--use_fast_math"], "SharedMemory": 64,
        "ProblemSize": [1000, 1], "GridDivX": ["BLOCK", "WIDTH"], "GridDivY": [],
        "LocalSize": {"X": "BLOCK"},
        "Arguments": [
            {"Name": "in", "Type": "double", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random",
             "Size": "ProblemSize[0] * max(WIDTH)", "FillValue": 2.5},
            {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant",
             "Size": 2000, "FillValue": 0.0},
            {"Name": "flags", "Type": "uint8", "MemoryType": "Vector", "AccessType": "ReadOnly",
             "FillType": "Generator", "DataSource": "i", "Size": 2000, "FillValue": 7},
            {"Name": "by", "Type": "float", "MemoryType": "Scalar", "FillValue": 1.5},
            {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1000}
        ],
        "ReferenceArguments": [{"TargetName": "out", "ValidationThreshold": 0.25}]
}
})json");
}

TEST(T1, ParametersArgumentsAndLaunchAreCarriedOver) {
    const auto imported = import_t1(scale_file(), "scale_T1", scale_source);
    const auto& text = imported.manifest;
    EXPECT_THAT(text, HasSubstr("{ name = \"BLOCK\", values = [32,64,96], default = 64 },"));
    EXPECT_THAT(text, HasSubstr("{ name = \"WIDTH\", values = [1,2] },"));
    EXPECT_THAT(text, Not(HasSubstr("name = \"FIXED\"")));
    EXPECT_THAT(text, HasSubstr("rule = \"((BLOCK / 4) >= 8) && (WIDTH > 0)\""));
    EXPECT_THAT(text, HasSubstr("rule = \"size_x == 1000\""));
    EXPECT_THAT(text, HasSubstr("name      = \"scale_T1\""));
    EXPECT_THAT(text, HasSubstr("source    = \"scale.cu\"\nentry     = \"scale\"\n"));
    EXPECT_THAT(text, HasSubstr("options   = [\"-Dkernel_tuner=1\", \"--use_fast_math\"]"));
    EXPECT_THAT(text, HasSubstr("block = [\"BLOCK\", \"1\", \"1\"]\n"));
    EXPECT_THAT(text, HasSubstr("grid  = [\"ceil_div(size_x, BLOCK * WIDTH)\", \"1\", \"1\"]\n"));
    EXPECT_THAT(text, HasSubstr("bytes      = \"18000\""));
    EXPECT_THAT(text, HasSubstr("{ name = \"in\", kind = \"input\", type = \"f32\", shape = [\"2000\"], values = { "
                                "uniform = [0, 2.5] } },"));
    EXPECT_THAT(text, HasSubstr("{ name = \"out\", kind = \"inout\", type = \"f32\", shape = [\"2000\"], values = { "
                                "constant = 0.0 }, tolerance = { absolute = 0.25 } },"));
    EXPECT_THAT(text, HasSubstr("type = \"u8\", shape = [\"2000\"], values = { uniform = [0, 7] } },"));
    EXPECT_THAT(text, HasSubstr("{ name = \"by\", kind = \"scalar\", type = \"f32\", value = 1.5 },"));
    EXPECT_THAT(text, HasSubstr("{ name = \"n\", kind = \"scalar\", type = \"i32\", value = 1000 },"));
    EXPECT_EQ(imported.sizes, "1000");
    EXPECT_THAT(imported.left_out,
                ElementsAre("the default 3 of WIDTH, which is none of its values",
                            "parameter FIXED: the source defines it, and it has one value",
                            "the type double of 'in': the source declares f32",
                            "argument 'flags': its 'FillType' Generator; it gets random values",
                            "the option -std=c++11", "'SharedMemory' 64: the source has no dynamic shared memory"));
}

TEST(T1, GlobalSizesAreBlocksOrThreads) {
    auto file = scale_file();
    auto& specification = file["KernelSpecification"];
    for (const std::string key : {"ProblemSize", "GridDivX", "GridDivY"}) specification.erase(key);
    specification["Arguments"][0]["Size"] = 2000;
    specification["GlobalSize"] = {{"X", "4096 // BLOCK"}, {"Y", "2"}};
    auto imported = import_t1(file, "scale", scale_source);
    EXPECT_THAT(imported.manifest, HasSubstr("grid  = [\"4096 / BLOCK\", \"2\", \"1\"]"));
    EXPECT_EQ(imported.sizes, "2000");
    EXPECT_THAT(imported.manifest, Not(HasSubstr("entry")));
    specification["GlobalSizeType"] = "OpenCL";
    imported = import_t1(file, "scale", scale_source);
    EXPECT_THAT(imported.manifest, HasSubstr("grid  = [\"ceil_div(4096 / BLOCK, BLOCK)\", \"ceil_div(2, 1)\", \"1\"]"));
}

// Trailing dimensions of 1 are left out, but the first dimension always stays.
TEST(T1, AProblemOfSizeOneKeepsItsExtent) {
    for (const auto& size : {json::array({1}), json::array({1, 1, 1})}) {
        auto file = scale_file();
        file["KernelSpecification"]["ProblemSize"] = size;
        const auto imported = import_t1(file, "scale", scale_source);
        EXPECT_EQ(imported.sizes, "1") << size;
        EXPECT_THAT(imported.manifest, HasSubstr("rule = \"size_x == 1\"")) << size;
    }
}

TEST(T1, ArgumentsInAnotherOrderAreFoundByTheirNames) {
    auto file = scale_file();
    auto& arguments = file["KernelSpecification"]["Arguments"];
    std::swap(arguments[0], arguments[1]);
    const auto imported = import_t1(file, "scale", scale_source);
    EXPECT_EQ(imported.manifest, import_t1(scale_file(), "scale", scale_source).manifest);
    EXPECT_THAT(imported.left_out, Contains("the order of 'Arguments'; the manifest has the kernel's order"));
    arguments[0]["Name"] = "other";
    EXPECT_THAT(import_t1(file, "scale", scale_source).manifest, HasSubstr("{ name = \"in\", kind = \"inout\""));
}

TEST(T1, ConstantMemoryIsFilledIfTheSourceDeclaresIt) {
    auto file = scale_file();
    file["KernelSpecification"]["Arguments"][0]["MemType"] = "Constant";
    const auto absent = import_t1(file, "scale", scale_source);
    EXPECT_THAT(absent.manifest, Not(HasSubstr("symbol")));
    EXPECT_THAT(absent.left_out, Contains("the constant memory 'in', which the source does not declare"));
    const auto imported = import_t1(file, "scale", std::string("__constant__ float in[9];\n") + scale_source);
    EXPECT_THAT(imported.manifest,
                HasSubstr("{ name = \"in_symbol\", kind = \"input\", type = \"f32\", shape = [\"2000\"], symbol = "
                          "\"in\", values = { uniform = [0, 2.5] } },"));
}

// Each case edits a valid file in one place, and expects the message about the mistake.
TEST(T1, WhatAFileLacksIsNamed) {
    struct Case {
        std::string pointer, value, message;  // value: JSON, or empty to remove the entry at `pointer`
    };
    const std::string specification = "/KernelSpecification";
    const std::vector<Case> cases{
        {specification, "", "the file has no 'KernelSpecification'; add it, as format version 1.0 has it"},
        {"/ConfigurationSpace", "", "the file has no 'ConfigurationSpace'; add it"},
        {specification + "/Language", "\"OpenCL\"", "the file is for OpenCL; smemtune tunes CUDA"},
        {specification + "/KernelName", "\"other\"", "'KernelName' is 'other', which the source does not define"},
        {specification + "/KernelFile", "\"../a.cu\"",
         "'KernelFile' is '../a.cu', outside the file's folder; move it there"},
        {specification + "/ProblemSize", "\"n\"", "'ProblemSize' holds \"n\", which is no whole number"},
        {specification + "/Arguments/4", "",
         "'Arguments' lists 4, but the kernel 'scale' takes 5; complete 'Arguments'"},
        {specification + "/Arguments/1/AccessType", "\"ReadOnly\"",
         "no argument's 'AccessType' is WriteOnly or ReadWrite, so there is no result"},
        {specification + "/Arguments/1/Size", "", "argument 'out' has no 'Size'"},
        {specification + "/Arguments/1/Size", "\"max(rows)\"", "'Size': 'rows' is an unknown name"},
        {specification + "/Arguments/1/Type", "\"complex\"",
         "argument 'out' has the type 'complex', which smemtune does not have"},
        {specification + "/Arguments/1/MemoryType", "\"Scalar\"",
         "argument 'out' is a scalar, but the kernel takes a pointer"},
        {specification + "/Arguments/3/MemoryType", "\"Vector\"",
         "argument 'by' is a vector, but the kernel takes a value"},
        {specification + "/Arguments/3/FillValue", "", "argument 'by' has no number 'FillValue'"},
        {specification + "/Arguments/3/FillValue", "\"x\"", "argument 'by': 'FillValue': 'x' is an unknown name"},
        {specification + "/LocalSize/X", "\"BLOCK / 2\"",
         "'LocalSize': '/' gives a fraction; '//' is a division of whole numbers"},
        {"/ConfigurationSpace/TuningParameters", "[]", "'ConfigurationSpace' has no 'TuningParameters'"},
        {"/ConfigurationSpace/TuningParameters/0/Name", "", "a tuning parameter has no text 'Name'"},
        {"/ConfigurationSpace/TuningParameters/1/Name", "\"BLOCK\"", "parameter 'BLOCK' is there twice; take one out"},
        {"/ConfigurationSpace/TuningParameters/0/Values", "\"5\"", "parameter 'BLOCK': 'Values' are no list"},
        {"/ConfigurationSpace/TuningParameters/0/Values", "\"[x]\"", "parameter 'BLOCK': 'x' is an unknown name"},
        {"/ConfigurationSpace/TuningParameters/2/Values", "\"[4, 5]\"",
         "parameter 'FIXED': the source defines it itself, so its values would change nothing; take it out"},
        {"/ConfigurationSpace/Conditions/0/Expression", "\"BLOCK ** WIDTH\"",
         "condition 'BLOCK ** WIDTH': '**' is not in expressions of manifests"},
    };
    for (const auto& each : cases) {
        auto file = scale_file();
        const json::json_pointer pointer(each.pointer);
        if (each.value.empty()) {
            auto& parent = file[pointer.parent_pointer()];
            parent.is_array() ? parent.erase(std::stoul(pointer.back())) : (void)parent.erase(pointer.back());
        } else {
            file[pointer] = json::parse(each.value);
        }
        try {
            (void)t1_source_path(file);
            (void)import_t1(file, "scale", scale_source);
            ADD_FAILURE() << each.message;
        } catch (const std::invalid_argument& error) {
            EXPECT_EQ(error.what(), each.message);
        }
    }
}

TEST(T1, ImportWritesTheManifestBesideTheFile) {
    const Scratch scratch;
    write_text(scratch / "scale-T1.json", scale_file().dump());
    auto finished = run(scratch, {"import", "scale-T1.json"});
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr("scale.cu cannot be read"));
    write_text(scratch / "scale.cu", scale_source);
    finished = run(scratch, {"import", "scale-T1.json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("not carried over: the option -std=c++11\n"));
    EXPECT_THAT(finished.out, HasSubstr("scale-T1.toml: run 'smemtune --templates . --sizes 1000'"));
    finished = run(scratch, {"import", "scale-T1.json"});
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, HasSubstr("scale-T1.toml exists"));
    write_text(scratch / "second.json", scale_file().dump());
    EXPECT_THAT(run(scratch, {"import", "second.json"}).out,
                HasSubstr("second.toml: run 'smemtune --templates . --operation second --sizes 1000'"));
    write_text(scratch / "other.json", "{");
    EXPECT_THAT(run(scratch, {"import", "other.json"}).err, HasSubstr("other.json is no JSON"));
}

}  // namespace
}  // namespace smemtune
