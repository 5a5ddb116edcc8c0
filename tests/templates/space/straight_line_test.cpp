#include "templates/space/straight_line.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

const Environment known{{"FOUR", 4}, {"ZERO", 0}, {"MOST", INT64_MAX}};

// line_value(), part_value() and value() evaluate an expression, and return nothing if the expression has no value.
// line_value() uses a StraightLine.
std::optional<std::int64_t> line_value(const std::string& text, std::int64_t m, std::int64_t n) {
    StraightLine line({"M", "N"});
    const auto slot = line.add(Expression(text), known);
    StraightLine::Values values;
    line.evaluate({"any", "f32", "", {{"M", m}, {"N", n}}}, values);
    return values[slot].exists ? std::optional(values[slot].number) : std::nullopt;
}
// Returns the value of `text`. The line also has another expression, with many operators, and each expression is
// evaluated as a part of its own.
std::optional<std::int64_t> part_value(const std::string& text, std::int64_t m, std::int64_t n) {
    StraightLine line({"M", "N"});
    const std::vector first{
        line.add(Expression("M * 3 + N * 5 - (M / 7 + N / 11) * (M % 13 + 2) + max(M, N) - min(M, 4)"), known)};
    const auto slot = line.add(Expression(text), known);
    const auto known_part = line.part(first);
    const auto part = line.part(std::vector{slot}, known_part);
    const Problem problem{"any", "f32", "", {{"M", m}, {"N", n}}};
    StraightLine::Values values;
    line.evaluate(problem, known_part, values);
    line.evaluate(problem, part, values);
    return values[slot].exists ? std::optional(values[slot].number) : std::nullopt;
}
std::optional<std::int64_t> value(const std::string& text, std::int64_t m, std::int64_t n) {
    auto environment = known;
    environment["M"] = m;
    environment["N"] = n;
    try {
        return Expression(text).evaluate(environment);
    } catch (const ExpressionError&) {
        return std::nullopt;
    }
}

TEST(StraightLine, HasTheValueOfTheExpressionWhereverThereIsOne) {
    for (const auto* text : {"7",
                             "M",
                             "ZERO",
                             "M + N * FOUR",
                             "-M",
                             "~N",
                             "!M",
                             "M - N",
                             "M % FOUR == 0",
                             "M << 3",
                             "M >> N",
                             "M << N",
                             "ceil_div(M, FOUR) * ceil_div(N, 3)",
                             "round_up(M, N)",
                             "min(M, N)",
                             "max(M, N) / FOUR",
                             "M & N",
                             "M | N",
                             "M ^ N",
                             "M < N",
                             "M <= N",
                             "M > N",
                             "M >= N",
                             "M != N",
                             "M && N",
                             "M || N",
                             "ZERO && M",
                             "FOUR || M",
                             "M > 3 ? N : -N",
                             "ZERO ? M : N",
                             "FOUR ? M : N",
                             "M ? N ? 1 : 2 : N ? 3 : 4",
                             "M == 0 || 12 / M > 2",
                             "M != 0 && 12 / M > 2",
                             "M ? 12 / M : 0",
                             "12 / M",
                             "12 % M",
                             "ceil_div(12, M)",
                             "M / ZERO",
                             "1 / ZERO",
                             "ZERO && 1 / ZERO",
                             "FOUR || 1 / ZERO",
                             "FOUR ? 5 : 1 / ZERO",
                             "1 / ZERO ? 5 : 6",
                             "MOST + 1",
                             "MOST + M",
                             "MOST * N",
                             "-(0 - MOST - 1)",
                             "(1 / ZERO) && 0",
                             "M && (N || M == 2) ? M : N",
                             "MOST << M",
                             "(0 - M) / 1",
                             "ceil_div(0 - M, 1)",
                             "1 * (12 / M) + 0",
                             "0 + 12 / M * 1 - 0",
                             "0 - M",
                             "1 / M",
                             "(0 - M) / 3",
                             "ceil_div(0 - M, 3)",
                             "ceil_div(M, 0 - 3)",
                             "M / (0 - N)",
                             "(0 - MOST - 1) / (M - 2)",
                             "(M > N) + (M && (N > 1))",
                             "(M ? N > 1 : N) && 1",
                             "(M > 2 || N > 2) && (M < 9 && N < 9)",
                             "M == 1 ? 1 : M == 2 ? 2 : M == 3 ? 3 : 4"}) {
        for (std::int64_t m : {0, 1, 2, 3, 8, 70}) {
            for (std::int64_t n : {0, 1, 2, 5, 70}) {
                EXPECT_EQ(line_value(text, m, n), value(text, m, n)) << text << m;
                EXPECT_EQ(part_value(text, m, n), value(text, m, n)) << "in parts: " << text << m;
            }
        }
    }
}

TEST(StraightLine, ACommonPartHasOneSlotAndOneWithoutExtentsIsComputedAtOnce) {
    StraightLine line({"M", "N"});
    const auto once = line.add(Expression("ceil_div(M, FOUR) * N"), known);
    EXPECT_EQ(line.add(Expression("ceil_div(M, 4) * N"), known), once);
    EXPECT_EQ(line.add(Expression("FOUR > 3 ? ceil_div(M, 4) * N : 1 / ZERO"), known), once);
    EXPECT_NE(line.add(Expression("N * ceil_div(M, 4)"), known), once);
    EXPECT_EQ(line.add(Expression("0 + ceil_div(M * 1, 4) * (FOUR / 4 * N / 1) - ZERO"), known), once);
    EXPECT_EQ(line.add(Expression("M"), known), 0);
    EXPECT_EQ(line.add(Expression("N"), known), 1);
}

TEST(StraightLine, ValuesMayBeUsedAgainForThisAndForOtherLines) {
    StraightLine sum({"M", "N"});
    const auto slot = sum.add(Expression("M + N + FOUR"), known);
    StraightLine product({"M", "N"});
    EXPECT_EQ(product.add(Expression("M * N * 7"), known), slot) << "the lines differ in operators and a constant";
    StraightLine::Values values;
    const auto value_in = [&](const StraightLine& line, std::int64_t m) {
        line.evaluate({"any", "f32", "", {{"M", m}, {"N", 3}}}, values);
        return values[slot].number;
    };
    EXPECT_EQ(value_in(sum, 2), 9);
    EXPECT_EQ(value_in(sum, 5), 12);
    EXPECT_EQ(value_in(product, 5), 105);
    EXPECT_EQ(value_in(sum, 5), 12);
    const auto later = sum.add(Expression("M - 11"), known);
    EXPECT_EQ(value_in(sum, 5), 12);
    EXPECT_EQ(values[later].number, -6);
}

TEST(StraightLine, AConstantIsTheSameForEveryProblem) {
    StraightLine line({"M", "N"});
    EXPECT_EQ(line.constant_at(line.add(Expression("FOUR * 2"), known))->number, 8);
    EXPECT_FALSE(line.constant_at(line.add(Expression("1 / ZERO"), known))->exists);
    EXPECT_FALSE(line.constant_at(line.add(Expression("M"), known)));
    EXPECT_FALSE(line.constant_at(line.add(Expression("M * 2"), known)));
}

TEST(StraightLine, APartHasOnlyTheOperationsThatItsSlotsNeedAndNoKnownOnes) {
    StraightLine line({"M", "N"});
    const auto product = line.add(Expression("M * N"), known);
    const auto sum = line.add(Expression("M + N"), known);
    const auto both = line.add(Expression("M * N - 1"), known);
    const auto first = line.part(std::vector{product});
    const auto second = line.part(std::vector{both}, first);
    StraightLine::Values values;
    const auto problem = [](std::int64_t m) { return Problem{"any", "f32", "", {{"M", m}, {"N", 3}}}; };
    line.evaluate(problem(2), first, values);
    EXPECT_EQ(values[product].number, 6);
    EXPECT_FALSE(values[sum].exists);
    EXPECT_FALSE(values[both].exists);
    line.evaluate(problem(2), second, values);
    EXPECT_EQ(values[both].number, 5);
    EXPECT_FALSE(values[sum].exists);
    line.evaluate(problem(4), second, values);
    EXPECT_EQ(values[both].number, 5) << "the product is still that of the problem before";
    line.evaluate(problem(4), first, values);
    line.evaluate(problem(4), second, values);
    EXPECT_EQ(values[both].number, 11);
    line.evaluate(problem(5), line.part({}), values);
    EXPECT_EQ(values[both].number, 11) << "no slots need no operation";
}

TEST(StraightLine, EndsAtTheFirstRuleThatDoesNotHold) {
    StraightLine line({"M", "N"});
    const std::vector rules{line.add(Expression("M % 4 == 0"), known), line.add(Expression("12 / N > 2"), known),
                            line.add(Expression("M"), known)};
    const auto product = line.add(Expression("M * N"), known);
    StraightLine::Values values;
    const auto holds = [&](std::int64_t m, std::int64_t n) {
        return line.evaluate({"any", "f32", "", {{"M", m}, {"N", n}}}, rules, values);
    };
    EXPECT_TRUE(holds(8, 3));
    EXPECT_EQ(values[product].number, 24);
    EXPECT_FALSE(holds(6, 3)) << "the first rule";
    EXPECT_FALSE(holds(8, 6)) << "the second";
    EXPECT_FALSE(holds(8, 0)) << "the second has no value";
    EXPECT_FALSE(holds(0, 3)) << "a rule that is an extent";
    EXPECT_TRUE(holds(4, 1));
    EXPECT_EQ(values[product].number, 4) << "nothing is left of what was computed before";
}

TEST(StraightLine, AnUnknownNameIsAnError) {
    StraightLine line({"M"});
    EXPECT_THROW((void)line.add(Expression("M + N"), known), ExpressionError);
}

TEST(LoopNest, ChecksEachRuleInItsLoopAndNamesTheFirstThatFails) {
    StraightLine line({"M", "N"});
    const auto early = line.add(Expression("FOUR > 3"), known);
    const auto even = line.add(Expression("M % 2 == 0"), known);
    const auto positive = line.add(Expression("M > 0"), known);
    const auto quotient = line.add(Expression("12 / N + M / 2 > 3"), known);
    const auto same = line.add(Expression("M % 2 == 0"), known);
    LoopNest loops(line, {{early}, {even, positive}, {quotient, same}});
    EXPECT_EQ(loops.enter(0, 0), LoopNest::none);
    EXPECT_EQ(loops.enter(1, 3), 0U);
    EXPECT_TRUE(loops.exists(even)) << "it is 0";
    EXPECT_EQ(loops.enter(1, -2), 1U);
    EXPECT_EQ(loops.enter(1, 4), LoopNest::none);
    EXPECT_EQ(loops.enter(2, 6), LoopNest::none) << "12 / 6 + 4 / 2 is more than 3";
    EXPECT_EQ(loops.enter(2, 12), 0U) << "12 / 12 + 4 / 2 is 3";
    EXPECT_EQ(loops.enter(2, 0), 0U);
    EXPECT_FALSE(loops.exists(quotient)) << "a division by zero";
    EXPECT_EQ(loops.enter(1, 2), LoopNest::none);
    EXPECT_EQ(loops.enter(2, 6), 0U) << "the outer loop's new value counts";
}

TEST(LoopNest, ARuleThatIsAConstantFails) {
    StraightLine line({"M"});
    LoopNest loops(line, {{line.add(Expression("FOUR < 3"), known)}, {}});
    EXPECT_EQ(loops.enter(0, 0), 0U);
}

}  // namespace
}  // namespace smemtune
