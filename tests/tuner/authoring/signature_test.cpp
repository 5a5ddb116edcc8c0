#include "tuner/authoring/signature.h"

#include <gmock/gmock.h>

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns each argument as `TYPE NAME`. A constant type begins with `const`, a pointer type ends with `*`.
std::vector<std::string> texts_of(const std::vector<DeclaredArgument>& arguments) {
    std::vector<std::string> texts;
    for (const auto& each : arguments) {
        texts.push_back((each.constant ? "const " : "") + each.type + (each.pointer ? "* " : " ") + each.name);
    }
    return texts;
}

TEST(DeclaredArguments, HaveTypeNameConstancyAndWhetherTheyPoint) {
    EXPECT_THAT(texts_of(declared_arguments("const float* __restrict__ a, float *b, int n, unsigned long long stride")),
                ElementsAre("const float* a", "float* b", "int n", "unsigned long long stride"));
    EXPECT_THAT(texts_of(declared_arguments("float const *x, double y[16], struct Params p")),
                ElementsAre("const float* x", "double* y", "Params p"));
    EXPECT_THAT(texts_of(declared_arguments("const __grid_constant__ Params p, float* restrict q, T& r")),
                ElementsAre("const Params p", "float* q", "T& r"));
    EXPECT_THAT(texts_of(declared_arguments("std::array<int, 3> a, pair<float, pair<int, int>>* b")),
                ElementsAre("std::array<int, 3> a", "pair<float, pair<int, int>>* b"))
        << "commas inside brackets separate nothing";
    EXPECT_THAT(texts_of(declared_arguments("  int\n  n  ,\tfloat\tx ")), ElementsAre("int n", "float x"));
    EXPECT_THAT(texts_of(declared_arguments("int")), ElementsAre("int ")) << "without a name";
    EXPECT_THAT(declared_arguments(""), IsEmpty());
    EXPECT_THAT(declared_arguments("void"), IsEmpty());
    EXPECT_THAT(declared_arguments(" , "), IsEmpty());
    EXPECT_THAT(texts_of(declared_arguments("int constant, int restricted")),
                ElementsAre("int constant", "int restricted"))
        << "whole words alone are qualifiers";
}

TEST(KernelArguments, AreThoseOfTheDefinitionAndNotOfAnotherNameOrADeclaration) {
    const std::string source =
        "__global__ void scale(float* x);  // scale(int wrong) {\n"
        "void my_scale(int a) {}\n"
        "extern \"C\" __global__ void scale(float* x /* the array */,\n    int n)\n{\n  f(x); }\n";
    const auto found = kernel_arguments(source, "scale");
    ASSERT_TRUE(found);
    EXPECT_THAT(texts_of(*found), ElementsAre("float* x", "int n"));
    EXPECT_EQ(kernel_arguments(source, "scal"), std::nullopt);
    EXPECT_EQ(kernel_arguments("void scale(float* x);", "scale"), std::nullopt) << "declared alone";
    EXPECT_THAT(*kernel_arguments("void scale() {}", "scale"), IsEmpty());
}

}  // namespace
}  // namespace smemtune
