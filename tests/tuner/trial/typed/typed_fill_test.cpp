#include "tuner/trial/typed/typed_fill.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::int64_t count = 2000;

// Returns, as text, the numbers with which the argument `it` is filled at n = 2000.
std::vector<std::string> filled_text(const std::string& argument, const std::string& check = "{ inputs = \"uniform\" }",
                                     std::uint64_t seed = 1) {
    const auto kernel = typed_template(
        "{ name = \"it\", shape = [\"n\"], " + argument + " }, " + R"({ name = "o", kind = "output", shape = ["n"] })",
        "", "1", check);
    const auto environment = environment_of(kernel.operation, typed_problem(count), typed_backend().device());
    OperandFactory factory(typed_backend(), kernel.operation, environment, element_type("f32"), typed_binaries().fill);
    const auto operands = factory.make(kernel.operation.checks.front(), seed);
    EXPECT_EQ(factory.changed_input(*operands, kernel.operation.checks.front()), std::nullopt);
    return numbers_of(operands->matrices.front());
}

std::vector<double> filled(const std::string& argument, const std::string& check = "{ inputs = \"uniform\" }",
                           std::uint64_t seed = 1) {
    std::vector<double> numbers;
    for (const auto& text : filled_text(argument, check, seed)) numbers.push_back(std::stod(text));
    return numbers;
}

std::pair<double, double> range_of(const std::vector<double>& numbers) {
    const auto [least, most] = std::ranges::minmax(numbers);
    return {least, most};
}

double mean(const std::vector<double>& numbers) {
    double sum = 0;
    for (const auto each : numbers) sum += each;
    return sum / static_cast<double>(numbers.size());
}

TEST(TypedFill, IntegersOfEveryTypeCoverTheirRangeAndNothingElse) {
    for (const auto& type : number_types()) {
        if (type.is_floating) continue;
        const auto numbers = filled("kind = \"input\", type = \"" + std::string(type.name) +
                                    "\", values = { uniform = [" + (type.is_signed ? "-9" : "3") + ", 12] }");
        EXPECT_EQ(range_of(numbers), std::pair(type.is_signed ? -9.0 : 3.0, 12.0)) << type.name;
        EXPECT_EQ(std::set<double>(numbers.begin(), numbers.end()).size(), type.is_signed ? 22U : 10U) << type.name;
    }
    const auto bytes = filled(R"(kind = "input", type = "u8", values = { uniform = [0, 255] })");
    EXPECT_GT(std::set<double>(bytes.begin(), bytes.end()).size(), 250U);
    const auto wide = filled(R"(kind = "input", type = "i64", values = { uniform = [-4000000000000, 4000000000000] })");
    EXPECT_LT(range_of(wide).first, -3e12);
    EXPECT_GT(range_of(wide).second, 3e12);
}

TEST(TypedFill, FloatingNumbersOfEveryTypeAreUniformInTheirRange) {
    for (const std::string type : {"f64", "f32", "f16", "bf16"}) {
        const auto numbers = filled("kind = \"input\", type = \"" + type + "\", values = { uniform = [2, 6] }");
        EXPECT_GE(range_of(numbers).first, 2) << type;
        EXPECT_LE(range_of(numbers).first, 2.02) << type;
        EXPECT_LE(range_of(numbers).second, 6) << type;
        EXPECT_NEAR(mean(numbers), 4, 0.1) << type;
        const auto by_check = filled("kind = \"input\", type = \"" + type + "\"");
        EXPECT_LT(range_of(by_check).first, -0.99) << type;
        EXPECT_GT(range_of(by_check).second, 0.99) << type;
    }
}

TEST(TypedFill, NormalNumbersHaveTheirMeanAndDeviation) {
    const auto numbers = filled(R"(kind = "input", type = "f64", values = { normal = [10, 2] })");
    double squares = 0;
    int beyond = 0;
    for (const auto each : numbers) {
        squares += (each - 10) * (each - 10);
        beyond += std::abs(each - 10) > 4 ? 1 : 0;
    }
    EXPECT_NEAR(mean(numbers), 10, 0.2);
    EXPECT_NEAR(std::sqrt(squares / count), 2, 0.1);
    EXPECT_NEAR(beyond, 0.0455 * count, 40) << "beyond two deviations";
}

TEST(TypedFill, IndicesStayBelowAnExtent) {
    const auto numbers = filled(R"(kind = "input", type = "i32", values = { below = "n" })");
    EXPECT_GE(range_of(numbers).first, 0);
    EXPECT_LE(range_of(numbers).second, count - 1);
    EXPECT_GT(range_of(numbers).second, count - 50);
}

TEST(TypedFill, SortedNumbersGoFrom0ToTheirLimit) {
    const auto numbers = filled(R"(kind = "input", type = "i32", values = { sorted = "5 * n" })");
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_EQ(numbers.front(), 0);
    EXPECT_EQ(numbers.back(), 5 * count);
    std::set<double> steps;
    for (std::size_t i = 1; i < numbers.size(); ++i) steps.insert(numbers[i] - numbers[i - 1]);
    EXPECT_GT(steps.size(), 5U) << "rows of different lengths";
}

TEST(TypedFill, APermutationHasEachIndexOnceAndIsShuffled) {
    auto numbers = filled(R"(kind = "input", type = "u16", values = { permutation = true })");
    EXPECT_FALSE(std::ranges::is_sorted(numbers));
    EXPECT_NE(numbers, filled(R"(kind = "input", type = "u16", values = { permutation = true })",
                              "{ inputs = \"uniform\" }", 2));
    std::ranges::sort(numbers);
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
}

TEST(TypedFill, ConstantsAndInoutsHoldTheirValue) {
    EXPECT_THAT(filled(R"(kind = "inout", type = "u32", values = { constant = 7 })"), Each(7));
    EXPECT_THAT(filled(R"(kind = "inout", type = "f16", values = { constant = 0.5 })"), Each(0.5));
}

TEST(TypedFill, OutputsThatAreNotReadHoldNaNs) {
    for (const std::string type : {"f64", "f32", "f16", "bf16"}) {
        EXPECT_THAT(filled_text("kind = \"output\", type = \"" + type + "\""), Each("nan")) << type;
    }
}

TEST(TypedFill, IntegerChecksHaveIntegersAndSpecialOnesAnInfinity) {
    const auto integers = filled(R"(kind = "input", type = "f64")", "{ inputs = \"integer\" }");
    EXPECT_EQ(range_of(integers), std::pair(-8.0, 8.0));
    for (const auto each : integers) EXPECT_EQ(each, std::round(each));
    EXPECT_EQ(range_of(filled(R"(kind = "input", type = "bf16")", "{ inputs = \"integer\" }")).second, 8);
    const auto special = filled(R"(kind = "input", type = "f32")", "{ inputs = \"special\" }");
    EXPECT_EQ(std::ranges::count_if(special, [](double each) { return std::isinf(each); }), 1);
    EXPECT_GT(std::ranges::count(special, 0.0), count / 5);
}

// The integers of the wide input fit the significand of its type, and no result overflows f16. The integers of the
// other input are -1, 0 and 1.
TEST(TypedFill, IntegersOfNarrowElementsNeedNoMoreBitsThanTheTypeHas) {
    const Check check{.integers = true, .wide = "A", .scalars = {{"alpha", 2}}};
    const auto magnitude_of = [&](const char* type, const Argument& argument, std::int64_t terms) {
        const auto& element = element_type(type);
        MatrixOperand matrix{.argument = &argument, .type = argument_type(element.number)};
        matrix.element = &element;
        return fill_of(matrix, check, {}, terms).second;
    };
    const Argument wide{.name = "A", .kind = Argument::Kind::input};
    const Argument other{.name = "B", .kind = Argument::Kind::input};
    for (const std::int64_t terms : {1, 16, 1024, 65536}) {
        EXPECT_LE(magnitude_of("tf32", wide, terms), 2048) << terms;
        EXPECT_LE(magnitude_of("f16", wide, terms), 2048) << terms;
        EXPECT_LE(magnitude_of("bf16", wide, terms), 256) << terms;
        const auto n = static_cast<double>(terms);
        EXPECT_LE(2 * magnitude_of("f16", wide, terms) * std::min(n, 8 * std::sqrt(n)), 65504) << terms;
        for (const auto* type : {"tf32", "f16", "bf16"}) EXPECT_EQ(magnitude_of(type, other, terms), 1);
    }
    EXPECT_EQ(magnitude_of("tf32", wide, 16), 2048) << "they need all bits";
    EXPECT_EQ(magnitude_of("bf16", wide, 16), 256);
}

TEST(TypedFill, FilesAreCopiedAndTheirSizeIsThatOfTheArray) {
    auto kernel =
        typed_template(R"({ name = "it", kind = "input", type = "u8x2", shape = ["n"], values = { constant = 0 } },
                                    { name = "o", kind = "output", shape = ["n"] })");
    auto& values = *kernel.operation.arguments.at(1).values;
    values.kind = ArgumentValues::Kind::file;
    values.path = "x.raw";
    values.data = std::make_shared<const DataFile>(DataFile{"\x01\x02\x03\xff\x05\x06", 6});
    const auto environment = environment_of(kernel.operation, typed_problem(3), typed_backend().device());
    OperandFactory factory(typed_backend(), kernel.operation, environment, element_type("f32"), typed_binaries().fill);
    const auto& check = kernel.operation.checks.front();
    const auto operands = factory.make(check, 1);
    const auto& matrix = operands->matrices.front();
    EXPECT_THAT(numbers_of(matrix), ::testing::ElementsAre("1", "2", "3", "255", "5", "6"));
    EXPECT_EQ(factory.changed_input(*operands, check), std::nullopt);
    matrix.memory->data()[matrix.guard] = std::byte{9};
    EXPECT_EQ(factory.changed_input(*operands, check), "writes to its input it");
    const Device device{.name = "made up", .l2_bytes = 1 << 20};
    EXPECT_NO_THROW(must_fit(kernel.operation, typed_problem(3), device));
    try {
        must_fit(kernel.operation, typed_problem(4), device);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("made_up f32 4: argument 'it' has 8 numbers, its file x.raw has 6; choose the "
                              "size that the file was made for"));
    }
}

TEST(TypedFill, ValuesThatDoNotFitAtASizeAreRefusedWithRemedy) {
    const auto refusal = [](const std::string& argument, std::int64_t n) -> std::string {
        const auto kernel = typed_template("{ name = \"it\", shape = [\"n\"], kind = \"input\", " + argument + " }, " +
                                           R"({ name = "o", kind = "output", shape = ["n"] })");
        try {
            must_fit(kernel.operation, typed_problem(n), Device{.name = "made up", .l2_bytes = 1 << 20});
            return "";
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
    };
    EXPECT_EQ(refusal("type = \"u8\", values = { below = \"n\" }", 256), "");
    EXPECT_THAT(refusal("type = \"u8\", values = { below = \"n\" }", 257),
                HasSubstr("made_up f32 257: the values of argument 'it' reach 256, which u8 does not have; change its "
                          "'values' or its type"));
    EXPECT_EQ(refusal("type = \"i8\", values = { permutation = true }", 128), "");
    EXPECT_THAT(refusal("type = \"i8\", values = { permutation = true }", 129), HasSubstr("reach 128"));
    EXPECT_THAT(refusal("type = \"i8\", values = { uniform = [5, \"n\"] }", 4),
                HasSubstr("are 5 to 4, a range without a number"));
}

}  // namespace
}  // namespace smemtune
