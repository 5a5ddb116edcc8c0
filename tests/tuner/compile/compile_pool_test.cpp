#include "tuner/compile/compile_pool.h"

#include <gmock/gmock.h>

#include "tests/tuner/support/fake_compiler.h"

namespace smemtune {
namespace {

Program source(const std::string& text, const std::string& entry = "kernel") {
    return {.entry = entry, .source_path = "kernel.cu", .files = {{"kernel.cu", text}}};
}

TEST(CompilePool, MachineCodeAndRejectionsArrive) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 2);
    const auto right = pool.submit(source("right"));
    const auto wrong = pool.submit(source("wrong"));
    EXPECT_EQ(std::get<Binary>(right.get()).entry, "kernel");
    EXPECT_EQ(std::get<Rejection>(wrong.get()), (Rejection{Stage::compile, "line 1: wrong"}));
}

TEST(CompilePool, ThrowsTheCompilersExceptionAndGoesOn) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 1);
    const auto broken = pool.submit(source("broken"));
    const auto right = pool.submit(source("right"));
    EXPECT_THROW((void)broken.get(), CompilerError);
    EXPECT_TRUE(std::holds_alternative<Binary>(right.get()));
}

TEST(CompilePool, TheSameProgramIsCompiledOnce) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 4);
    for (int i = 0; i < 20; ++i) (void)pool.submit(source("right")).get();
    EXPECT_EQ(compiler.begun().size(), 1U);
}

TEST(CompilePool, ProgramsThatDifferInAnythingAreCompiledEach) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 2);
    auto with_header = source("right");
    with_header.files["configuration.h"] = "constexpr int TILE_WIDTH = 16;";
    auto other_header = source("right");
    other_header.files["configuration.h"] = "constexpr int TILE_WIDTH = 32;";
    auto other_source = source("right");
    other_source.files["other.cu"] = "right";
    auto other_path = other_source;
    other_path.source_path = "other.cu";
    std::vector<std::shared_future<CompilePool::Result>> results;
    auto other_options = source("right");
    other_options.options = {"-DSCALE=3"};
    for (const auto& each : {source("right"), source("other"), source("right", "entry"), with_header, other_header,
                             other_source, other_path, other_options}) {
        results.push_back(pool.submit(each));
    }
    for (const auto& result : results) (void)result.get();
    EXPECT_EQ(compiler.begun().size(), 8U);
}

TEST(CompilePool, KeepsTheResultsThatWereUsedLast) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 1, {}, 2);
    const auto ask = [&](const std::string& text) { (void)pool.submit(source(text)).get(); };
    for (const auto* text : {"a", "b", "a", "c"}) ask(text);
    EXPECT_EQ(compiler.begun().size(), 3U);
    ask("a");  // "a" is kept, because it was used after "b"
    EXPECT_EQ(compiler.begun().size(), 3U);
    ask("b");
    EXPECT_EQ(compiler.begun().size(), 4U);
}

TEST(CompilePool, KeepsEveryProgramThatIsNotCompiledYet) {
    FakeCompiler compiler;
    compiler.delay = 1ms;
    CompilePool pool(compiler, 2, {}, 2);
    std::vector<std::shared_future<CompilePool::Result>> results;
    for (int time = 0; time < 2; ++time) {
        for (int i = 0; i < 50; ++i) results.push_back(pool.submit(source(std::to_string(i))));
        if (time == 0) {
            EXPECT_EQ(std::get<Binary>(results.back().get()).entry, "kernel");
        }
    }
    for (const auto& result : results) EXPECT_TRUE(std::holds_alternative<Binary>(result.get()));
}

TEST(CompilePool, CompilesOnceWhatIsAskedForAgainBeforeItIsDone) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 1, {}, 2);
    std::vector<std::shared_future<CompilePool::Result>> results;
    for (int time = 0; time < 2; ++time) {
        for (int i = 0; i < 5; ++i) results.push_back(pool.submit(source(std::to_string(i))));
    }
    compiler.release_all();
    for (const auto& result : results) result.wait();
    EXPECT_EQ(compiler.begun().size(), 5U);
}

TEST(CompilePool, TellsApartMoreTemplatesThanItRemembers) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 2);
    for (int time = 0; time < 2; ++time) {
        for (int i = 0; i < 40; ++i) (void)pool.submit(source("template " + std::to_string(i))).get();
    }
    EXPECT_EQ(compiler.begun().size(), 40U);
}

TEST(CompilePool, SeveralCompileAtOnce) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 4);
    for (const auto* text : {"a", "b", "c", "d"}) (void)pool.submit(source(text));
    EXPECT_TRUE(compiler.has_begun(4)) << "before any has ended";
    compiler.release_all();
}

std::vector<CompilePool::LazyProgram> programs(const std::vector<std::string>& texts) {
    std::vector<CompilePool::LazyProgram> programs;
    for (const auto& text : texts) programs.emplace_back([text] { return source(text); });
    return programs;
}

TEST(CompilePool, ASpeculativeResultIsThereWhenItIsSubmitted) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 2);
    pool.speculate(programs({"a", "b"}));
    ASSERT_TRUE(soon([&] { return compiler.begun().size() == 2; }));
    EXPECT_FALSE(pool.was_asked_for(source("a")));
    EXPECT_EQ(std::get<Binary>(pool.submit(source("a")).get()).entry, "kernel");
    EXPECT_TRUE(pool.was_asked_for(source("a")));
    EXPECT_FALSE(pool.was_asked_for(source("b")));
    EXPECT_EQ(compiler.begun().size(), 2U);
}

TEST(CompilePool, SubmittedProgramsComeFirstAndAreCompiledOnce) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 2);
    (void)pool.submit(source("a"));
    (void)pool.submit(source("b"));
    ASSERT_TRUE(compiler.has_begun(2));
    pool.speculate(programs({"speculative", "c"}));
    const auto last = pool.submit(source("c"));
    compiler.release("a");
    ASSERT_TRUE(compiler.has_begun(3));
    EXPECT_EQ(compiler.begun().back(), "c");
    compiler.release_all();
    (void)last.get();
    EXPECT_TRUE(compiler.has_begun(4));
    EXPECT_EQ(compiler.begun().back(), "speculative");
}

TEST(CompilePool, KeepsAThreadForSubmittedPrograms) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 2);
    pool.speculate(programs({"speculative", "speculative later"}));
    ASSERT_TRUE(compiler.has_begun(1));
    (void)pool.submit(source("a"));
    ASSERT_TRUE(compiler.has_begun(2));
    EXPECT_EQ(compiler.begun(), (std::vector<std::string>{"speculative", "a"}));
    compiler.release_all();
}

TEST(CompilePool, OneThreadAloneDoesNotSpeculate) {
    const FakeCompiler compiler;
    CompilePool pool(compiler, 1);
    pool.speculate(programs({"speculative"}));
    (void)pool.submit(source("a")).get();
    (void)pool.submit(source("b")).get();
    EXPECT_EQ(compiler.begun().size(), 2U);
}

TEST(CompilePool, LaterSpeculationReplacesWhatHasNotBegun) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 2);
    pool.speculate(programs({"begun", "dropped"}));
    ASSERT_TRUE(compiler.has_begun(1));
    pool.speculate(programs({"later"}));
    compiler.release_all();
    ASSERT_TRUE(compiler.has_begun(2));
    EXPECT_EQ(compiler.begun(), (std::vector<std::string>{"begun", "later"}));
}

TEST(CompilePool, AQuarterOfTheThreadsCompilesWhileThrottled) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 8);
    auto first = pool.throttle();
    auto second = pool.throttle();
    pool.speculate(programs({"speculative"}));
    for (const auto* text : {"a", "b", "c", "d"}) (void)pool.submit(source(text));
    ASSERT_TRUE(compiler.has_begun(2));
    first.reset();
    EXPECT_EQ(compiler.begun().size(), 2U) << "the other throttle lives";
    second.reset();
    EXPECT_TRUE(compiler.has_begun(5));
    EXPECT_THAT(compiler.begun(), ::testing::Contains("speculative"));
    compiler.release_all();
}

TEST(CompilePool, FewThreadsCompileOneProgramAtATimeWhileThrottled) {
    FakeCompiler compiler;
    compiler.hold_all();
    CompilePool pool(compiler, 2);
    const auto throttle = pool.throttle();
    for (const auto* text : {"a", "b"}) (void)pool.submit(source(text));
    ASSERT_TRUE(compiler.has_begun(1));
    compiler.release("a");
    EXPECT_TRUE(compiler.has_begun(2));
    compiler.release_all();
}

constexpr std::size_t too_many = 4000;  // two threads would compile for 100 s

TEST(CompilePool, GoesAwayWithSpeculativeProgramsLeft) {
    FakeCompiler compiler;
    compiler.delay = 50ms;
    {
        CompilePool pool(compiler, 2);
        std::vector<std::string> many;
        for (std::size_t i = 0; i < too_many; ++i) many.push_back(std::to_string(i));
        pool.speculate(programs(many));
        ASSERT_TRUE(soon([&] { return !compiler.begun().empty(); }));
    }
    EXPECT_LT(compiler.begun().size(), too_many);
}

TEST(CompilePool, GoesAwayWithWorkStillQueued) {
    FakeCompiler compiler;
    compiler.delay = 50ms;
    {
        CompilePool pool(compiler, 2);
        for (std::size_t i = 0; i < too_many; ++i) (void)pool.submit(source(std::to_string(i)));
        ASSERT_TRUE(soon([&] { return !compiler.begun().empty(); }));
    }
    EXPECT_LT(compiler.begun().size(), too_many) << "what has not begun is dropped";
}

TEST(CompilePool, GoesAwayIdle) {
    const FakeCompiler compiler;
    const CompilePool pool(compiler, 3);
    EXPECT_EQ(compiler.begun().size(), 0U);
}

}  // namespace
}  // namespace smemtune
