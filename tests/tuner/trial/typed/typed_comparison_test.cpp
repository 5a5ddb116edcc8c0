#include "tuner/trial/typed/typed_comparison.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <utility>

#include "tests/tuner/trial/typed/support.h"
#include "tuner/trial/tolerance.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

// Compares an output of 40 elements with its reference. A test sets the elements of both.
class Compared {
public:
    explicit Compared(const std::string& argument, const std::string& check = "{ inputs = \"uniform\" }",
                      const std::string& shape = "[\"n\"]", std::int64_t terms = 4)
        : kernel_(typed_template("{ name = \"it\", kind = \"output\", shape = " + shape + ", " + argument + " }", "",
                                 "1", check)),
          environment_(environment_of(kernel_.operation, typed_problem(40), typed_backend().device())),
          factory_(typed_backend(), kernel_.operation, environment_, element_type("f32"), typed_binaries().fill),
          operands_(factory_.make(kernel_.operation.checks.front(), 1)),
          loaded_(typed_backend().load(typed_binaries().compare, 0)),
          comparison_(typed_backend(), *loaded_, environment_, terms, 2) {
        const auto elements = static_cast<std::size_t>(matrix().columns * matrix().rows);
        value_ = typed_backend().allocate(elements * reference_bytes());
        magnitude_ = typed_backend().allocate(elements * sizeof(double));
        for (long long i = 0; i < matrix().columns * matrix().rows; ++i) set(i, 3, 3);
    }

    [[nodiscard]] const MatrixOperand& matrix() const { return operands_->matrices.front(); }
    void set_output(long long i, double number) {
        store_number(type(), number,
                     bytes(*matrix().memory, matrix().guard + i, static_cast<std::size_t>(type().bytes)));
    }
    void set(long long i, double got, double expected) {
        set_output(i, got);
        const auto to = bytes(*value_, i, reference_bytes());
        store_number(type().is_floating ? *argument_type("f64").number : type(), expected, to);
        const double magnitude = std::abs(expected);
        store_number(*argument_type("f64").number, magnitude, bytes(*magnitude_, i, sizeof(double)));
    }
    std::string difference() {
        const auto& argument = *matrix().argument;
        return comparison_
            .difference(matrix(), *value_, argument.has_magnitude() ? magnitude_.get() : nullptr,
                        kernel_.operation.checks.front(), worst)
            .value_or("");
    }
    // Returns the message about an output of which a kernel wrote only the first `written` elements. There is no
    // reference.
    std::string difference_without_reference(bool is_read, long long written) {
        auto& matrix = operands_->matrices.front();
        const auto& check = kernel_.operation.checks.front();
        factory_.refill_outputs(*operands_, check);
        for (long long i = 0; i < written; ++i) set_output(i, 3);
        auto argument = *matrix.argument;
        argument.is_read = is_read;
        const auto* declared = std::exchange(matrix.argument, &argument);
        const auto difference = comparison_.difference_without_reference(matrix, check).value_or("");
        matrix.argument = declared;
        return difference;
    }
    double worst = 0;

private:
    [[nodiscard]] const NumberType& type() const { return *matrix().type.number; }
    [[nodiscard]] std::size_t reference_bytes() const {
        return type().is_floating ? sizeof(double) : static_cast<std::size_t>(type().bytes);
    }
    static std::span<std::byte> bytes(const Memory& memory, long long i, std::size_t size) {
        return {memory.data() + static_cast<std::size_t>(i) * size, size};
    }

    KernelTemplate kernel_;
    Environment environment_;
    OperandFactory factory_;
    std::unique_ptr<Operands> operands_;
    std::unique_ptr<LoadedKernel> loaded_;
    TypedComparison comparison_;
    std::unique_ptr<Memory> value_, magnitude_;
};

std::string with_type(std::string_view type, const std::string& more = "") {
    return "type = \"" + std::string(type) + "\"" + more;
}

TEST(TypedComparison, EqualNumbersOfEveryTypeAreRightAndOthersAreNot) {
    for (const auto& type : number_types()) {
        Compared output(with_type(type.name));
        EXPECT_EQ(output.difference(), "") << type.name;
        EXPECT_EQ(output.worst, 0) << type.name;
        output.set(7, 4, 3);
        EXPECT_THAT(output.difference(), HasSubstr("it[7] is 4, not 3")) << type.name;
    }
}

// The testbed fills an output with a pattern before a launch. If the whole output keeps the pattern, the kernel wrote
// nothing, which is an error. An inout argument has initial values instead. A kernel may leave all of them unchanged.
TEST(TypedComparison, WithoutAReferenceOnlyAnOutputThatIsNotReadMustBeWritten) {
    for (const auto* type : {"u8", "f32"}) {
        Compared output(with_type(type));
        EXPECT_EQ(output.difference_without_reference(false, 0), "writes nothing to it (uniform inputs)") << type;
        EXPECT_EQ(output.difference_without_reference(false, 1), "") << type;
        EXPECT_EQ(output.difference_without_reference(true, 0), "") << type;
    }
}

TEST(TypedComparison, IntegersAreComparedToTheLastBit) {
    Compared output(with_type("i64"));
    output.set(0, 0x1p60, 0x1p60);
    EXPECT_EQ(output.difference(), "");
    output.set(0, 0x1p60 + 256, 0x1p60);
    EXPECT_EQ(output.difference(), "it[0] is 1152921504606847232, not 1152921504606846976 (uniform inputs)");
    Compared bytes(with_type("i8"));
    bytes.set(0, -1, 1);
    EXPECT_THAT(bytes.difference(), HasSubstr("it[0] is -1, not 1"));
}

// After 4 operations, the bound is about 4 units of roundoff. `unit` is the distance from 1 to the next number of the
// type, which is 2 units of roundoff.
TEST(TypedComparison, TheErrorBoundIsThatOfTheType) {
    for (const auto& [type, unit] :
         {std::pair{"f64", 0x1p-52}, std::pair{"f32", 0x1p-23}, std::pair{"f16", 0x1p-10}, std::pair{"bf16", 0x1p-7}}) {
        Compared output(with_type(type));
        output.set(5, 1 + unit, 1);
        EXPECT_EQ(output.difference(), "") << type;
        EXPECT_GT(output.worst, 0.1) << type;
        EXPECT_LT(output.worst, 1) << type;
        output.set(5, 1 + 8 * unit, 1);
        EXPECT_THAT(output.difference(), HasSubstr("it[5] is 1.")) << type;
    }
}

// After 10,000 operations, the worst-case error is 10,000 units of roundoff. Rule 1 of tolerance.h allows only
// 8 * sqrt(10,000) = 800 units.
TEST(TypedComparison, AnErrorFarFromTheWorstCaseMayStillBeTooLarge) {
    Compared output(with_type("f32"), "{ inputs = \"uniform\" }", "[\"n\"]", 10'000);
    output.set(5, 1 + 700 * 0x1p-24, 1);
    EXPECT_EQ(output.difference(), "");
    output.set(5, 1 + 900 * 0x1p-24, 1);
    EXPECT_THAT(output.difference(), HasSubstr("it[5] is 1."));
}

TEST(TypedComparison, AnErrorThatAllElementsShareIsFound) {
    Compared output(with_type("f64"), "{ inputs = \"uniform\" }", "[\"n\"]", 100);
    for (long long i = 0; i < 40; ++i) output.set(i, 1 + 16 * 0x1p-53, 1);
    EXPECT_EQ(output.difference(), "") << "no element is outside its own bound, nor are all together";
    for (long long i = 0; i < 40; ++i) output.set(i, 1 + 40 * 0x1p-53, 1);
    const auto wrong = output.difference();
    EXPECT_THAT(wrong, HasSubstr("it is less precise than its type"));
    EXPECT_THAT(wrong, HasSubstr("give it a tolerance"));
}

TEST(TypedComparison, SmallNumbersOfShortTypesMayBeOffByTheSmallest) {
    Compared output(with_type("f16"));
    output.set(0, 0x1p-24, 0x1.4p-24);
    EXPECT_EQ(output.difference(), "");
}

TEST(TypedComparison, AToleranceReplacesTheBound) {
    Compared output(with_type("f32", ", tolerance = { absolute = 0.5, relative = 0.1 }"));
    output.set(3, 102.5, 92);
    EXPECT_THAT(output.difference(), HasSubstr("it[3] is 102.5, not 92 +- 9.7"));
    output.set(3, 101.5, 92);
    EXPECT_EQ(output.difference(), "");
    EXPECT_NEAR(output.worst, 9.5 / 9.7, 1e-9);
    output.set(3, 82.25, 92);
    EXPECT_THAT(output.difference(), HasSubstr("it[3] is 82.25, not 92"));
    Compared counts(with_type("u32", ", tolerance = { absolute = 2 }"));
    counts.set(0, 5, 3);
    counts.set(1, 1, 3);
    EXPECT_EQ(counts.difference(), "");
    counts.set(1, 0, 3);
    EXPECT_THAT(counts.difference(), HasSubstr("it[1] is 0, not 3 +- 2"));
}

TEST(TypedComparison, AShareOfTheElementsMayDiffer) {
    Compared output(with_type("i32", ", tolerance = { share = 0.05 }"));
    output.set(20, 9, 3);
    output.set(30, 9, 3);
    EXPECT_EQ(output.difference(), "") << "2 of 40";
    output.set(35, 9, 3);
    EXPECT_EQ(output.difference(),
              "3 of 40 elements of it differ, more than the 2 of its tolerance; the first: it[20] is 9, not 3 (uniform "
              "inputs)");
}

TEST(TypedComparison, AWriteOutsideIsFoundWhateverTheShare) {
    for (const auto& type : number_types()) {
        Compared output(with_type(type.name, ", tolerance = { share = 1 }"));
        EXPECT_EQ(output.difference(), "") << type.name;
        output.set_output(40, 1);
        EXPECT_THAT(output.difference(), HasSubstr("writes outside it")) << type.name;
        Compared before(with_type(type.name, ", tolerance = { share = 1 }"));
        before.set_output(-1, 1);
        EXPECT_THAT(before.difference(), HasSubstr("writes outside it")) << type.name;
    }
}

TEST(TypedComparison, NaNsAreEqualOnRequestAlone) {
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    Compared output(with_type("f32"));
    output.set(2, nan, nan);
    EXPECT_THAT(
        output.difference(),
        HasSubstr("it[2] is nan, and the reference is NaN; if NaN is right, write tolerance = { equal_nans = true "));
    Compared equal(with_type("f32", ", tolerance = { equal_nans = true }"));
    equal.set(2, nan, nan);
    EXPECT_EQ(equal.difference(), "");
    equal.set(3, 1, nan);
    EXPECT_THAT(equal.difference(), HasSubstr("it[3] is 1, not nan"));
    equal.set(3, nan, 1);
    EXPECT_THAT(equal.difference(), HasSubstr("it[3] is nan, not 1"));
    Compared tolerant(with_type("f32", ", tolerance = { absolute = 1 }"));
    tolerant.set(2, nan, nan);
    EXPECT_THAT(tolerant.difference(), HasSubstr("it[2] is nan")) << "a tolerance alone is no such request";
    Compared special(with_type("f32"), "{ inputs = \"special\" }");
    special.set(2, nan, nan);
    EXPECT_EQ(special.difference(), "") << "zero times infinity";
}

TEST(TypedComparison, InfinitiesAreThoseOfTheReference) {
    const auto infinity = std::numeric_limits<double>::infinity();
    for (const std::string more : {"", ", tolerance = { relative = 1 }"}) {
        Compared output(with_type("f32", more));
        output.set(2, infinity, infinity);
        EXPECT_EQ(output.difference(), "");
        output.set(2, -infinity, infinity);
        EXPECT_THAT(output.difference(), HasSubstr("it[2] is -inf, not inf"));
        output.set(2, infinity, 1);
        EXPECT_THAT(output.difference(), HasSubstr("it[2] is inf, not 1"));
    }
}

TEST(TypedComparison, SumsOfIntegersAreExactUpToTheRoundingOfShortTypes) {
    Compared single(with_type("f32"), "{ inputs = \"integer\" }");
    single.set(0, 2049 + 0x1p-12, 2049);
    EXPECT_THAT(single.difference(), HasSubstr("(integer inputs)"));
    Compared half(with_type("f16"), "{ inputs = \"integer\" }");
    half.set(0, 2048, 2049);
    EXPECT_EQ(half.difference(), "") << "2049 rounds to 2048";
    half.set(0, 2052, 2049);
    EXPECT_THAT(half.difference(), HasSubstr("it[0] is 2052, not 2049"));
}

TEST(TypedComparison, PlacesAreIndicesOfTheDeclaredShape) {
    Compared output(with_type("f32x2"), "{ inputs = \"uniform\" }", R"(["2", "n / 8", "4"])");
    output.set(2 * (1 * 20 + 3 * 4 + 2) + 1, 9, 3);
    EXPECT_THAT(output.difference(), HasSubstr("it[1,3,2].y is 9, not 3"));
}

}  // namespace
}  // namespace smemtune
