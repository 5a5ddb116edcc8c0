#include "tuner/compile/compile_pool.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

// Answers with what the source says, after `time`.
class PretendCompiler : public Compiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        ++begun;
        std::this_thread::sleep_for(time);
        const auto& text = program.files.at(program.source_path);
        if (text == "broken") throw CompilerError("the compiler is gone");
        if (text == "wrong") return Rejection{Stage::compile, "line 1: wrong"};
        return Binary{.entry = program.entry, .target = target(), .compiler = version(), .code = {1}};
    }
    [[nodiscard]] std::string target() const override { return "pretended"; }
    [[nodiscard]] std::string version() const override { return "1"; }

    mutable std::atomic<int> begun = 0;
    std::chrono::milliseconds time{0};
};

// Begins what it is asked to and ends it when the test says so, or has waited in vain.
class GuidedCompiler : public Compiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        std::unique_lock lock(mutex_);
        begun_.push_back(program.files.at(program.source_path));
        changed_.notify_all();
        changed_.wait_for(lock, 10s, [&] { return open_ || ended_.contains(program.files.at(program.source_path)); });
        return Binary{.entry = program.entry, .target = target(), .compiler = version(), .code = {1}};
    }
    [[nodiscard]] std::string target() const override { return "pretended"; }
    [[nodiscard]] std::string version() const override { return "1"; }

    void end(const std::string& text) {
        const std::scoped_lock lock(mutex_);
        ended_.insert(text);
        changed_.notify_all();
    }
    void end_all() {
        const std::scoped_lock lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] std::vector<std::string> begun() const {
        const std::scoped_lock lock(mutex_);
        return begun_;
    }
    [[nodiscard]] bool has_begun(std::size_t programs) const {
        return soon([&] { return begun().size() == programs; });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    mutable std::vector<std::string> begun_;
    std::set<std::string> ended_;
    bool open_ = false;
};

Program source(const std::string& text, const std::string& entry = "kernel") {
    return {.entry = entry, .source_path = "kernel.cu", .files = {{"kernel.cu", text}}};
}

TEST(CompilePool, MachineCodeAndRejectionsArrive) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 2);
    const auto right = pool.submit(source("right"));
    const auto wrong = pool.submit(source("wrong"));
    EXPECT_EQ(std::get<Binary>(right.get()).entry, "kernel");
    EXPECT_EQ(std::get<Rejection>(wrong.get()), (Rejection{Stage::compile, "line 1: wrong"}));
}

TEST(CompilePool, WhatTheCompilerThrowsArrivesAndThePoolGoesOn) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 1);
    const auto broken = pool.submit(source("broken"));
    const auto right = pool.submit(source("right"));
    EXPECT_THROW((void)broken.get(), CompilerError);
    EXPECT_TRUE(std::holds_alternative<Binary>(right.get()));
}

TEST(CompilePool, TheSameProgramIsCompiledOnce) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 4);
    for (int i = 0; i < 20; ++i) (void)pool.submit(source("right")).get();
    EXPECT_EQ(compiler.begun, 1);
}

TEST(CompilePool, ProgramsThatDifferInAnythingAreCompiledEach) {
    const PretendCompiler compiler;
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
    for (const auto& each : {source("right"), source("other"), source("right", "entry"), with_header, other_header,
                             other_source, other_path}) {
        results.push_back(pool.submit(each));
    }
    for (const auto& result : results) (void)result.get();
    EXPECT_EQ(compiler.begun, 7);
}

TEST(CompilePool, WhatWasLastUsedIsKeptAndWhatIsOlderIsCompiledAgain) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 1, {}, 2);
    const auto ask = [&](const std::string& text) { (void)pool.submit(source(text)).get(); };
    for (const auto* text : {"a", "b", "a", "c"}) ask(text);
    EXPECT_EQ(compiler.begun, 3);
    ask("a");  // used after b
    EXPECT_EQ(compiler.begun, 3);
    ask("b");
    EXPECT_EQ(compiler.begun, 4);
}

TEST(CompilePool, WhatIsStillToBeCompiledIsKeptHoweverMuchThatIs) {
    PretendCompiler compiler;
    compiler.time = 1ms;
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

TEST(CompilePool, MoreTemplatesThanItRemembersTheFilesOfAreToldApart) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 2);
    for (int time = 0; time < 2; ++time) {
        for (int i = 0; i < 40; ++i) (void)pool.submit(source("template " + std::to_string(i))).get();
    }
    EXPECT_EQ(compiler.begun, 40);
}

TEST(CompilePool, SeveralCompileAtOnce) {
    PretendCompiler compiler;
    compiler.time = 300ms;
    CompilePool pool(compiler, 4);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::shared_future<CompilePool::Result>> results;
    for (const auto* text : {"a", "b", "c", "d"}) results.push_back(pool.submit(source(text)));
    for (const auto& result : results) (void)result.get();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 900ms);
}

std::vector<CompilePool::Guess> guesses(const std::vector<std::string>& texts) {
    std::vector<CompilePool::Guess> guesses;
    for (const auto& text : texts) guesses.emplace_back([text] { return source(text); });
    return guesses;
}

TEST(CompilePool, WhatWasGuessedIsThereWhenItIsAskedFor) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 2);
    pool.guess(guesses({"a", "b"}));
    ASSERT_TRUE(soon([&] { return compiler.begun == 2; }));
    EXPECT_FALSE(pool.was_asked_for(source("a")));
    EXPECT_EQ(std::get<Binary>(pool.submit(source("a")).get()).entry, "kernel");
    EXPECT_TRUE(pool.was_asked_for(source("a")));
    EXPECT_FALSE(pool.was_asked_for(source("b")));
    EXPECT_EQ(compiler.begun, 2);
}

TEST(CompilePool, WhatIsAskedForComesBeforeGuessesAndIsNotCompiledTwice) {
    GuidedCompiler compiler;
    CompilePool pool(compiler, 2);
    (void)pool.submit(source("a"));
    (void)pool.submit(source("b"));
    ASSERT_TRUE(compiler.has_begun(2));
    pool.guess(guesses({"guessed", "c"}));
    const auto last = pool.submit(source("c"));
    compiler.end("a");
    ASSERT_TRUE(compiler.has_begun(3));
    EXPECT_EQ(compiler.begun().back(), "c");
    compiler.end_all();
    (void)last.get();
    EXPECT_TRUE(compiler.has_begun(4));
    EXPECT_EQ(compiler.begun().back(), "guessed");
}

TEST(CompilePool, AThreadIsKeptForWhatIsAskedFor) {
    GuidedCompiler compiler;
    CompilePool pool(compiler, 2);
    pool.guess(guesses({"guessed", "guessed later"}));
    ASSERT_TRUE(compiler.has_begun(1));
    (void)pool.submit(source("a"));
    ASSERT_TRUE(compiler.has_begun(2));
    EXPECT_EQ(compiler.begun(), (std::vector<std::string>{"guessed", "a"}));
    compiler.end_all();
}

TEST(CompilePool, AloneAThreadGuessesNothing) {
    const PretendCompiler compiler;
    CompilePool pool(compiler, 1);
    pool.guess(guesses({"guessed"}));
    (void)pool.submit(source("a")).get();
    (void)pool.submit(source("b")).get();
    EXPECT_EQ(compiler.begun, 2);
}

TEST(CompilePool, LaterGuessesReplaceThoseThatHaveNotBegun) {
    GuidedCompiler compiler;
    CompilePool pool(compiler, 2);
    pool.guess(guesses({"begun", "dropped"}));
    ASSERT_TRUE(compiler.has_begun(1));
    pool.guess(guesses({"later"}));
    compiler.end_all();
    ASSERT_TRUE(compiler.has_begun(2));
    EXPECT_EQ(compiler.begun(), (std::vector<std::string>{"begun", "later"}));
}

TEST(CompilePool, AQuarterOfTheThreadsCompilesWhileItStepsBack) {
    GuidedCompiler compiler;
    CompilePool pool(compiler, 8);
    auto first = pool.step_back();
    auto second = pool.step_back();
    pool.guess(guesses({"guessed"}));
    for (const auto* text : {"a", "b", "c", "d"}) (void)pool.submit(source(text));
    ASSERT_TRUE(compiler.has_begun(2));
    first.reset();
    EXPECT_EQ(compiler.begun().size(), 2U) << "another steps back still";
    second.reset();
    EXPECT_TRUE(compiler.has_begun(5));
    EXPECT_THAT(compiler.begun(), ::testing::Contains("guessed"));
    compiler.end_all();
}

TEST(CompilePool, GoesAwayWithGuessesLeft) {
    PretendCompiler compiler;
    compiler.time = 50ms;
    {
        CompilePool pool(compiler, 2);
        std::vector<std::string> many;
        for (int i = 0; i < 1000; ++i) many.push_back(std::to_string(i));
        pool.guess(guesses(many));
        ASSERT_TRUE(soon([&] { return compiler.begun > 0; }));
    }
    EXPECT_LT(compiler.begun, 100);
}

TEST(CompilePool, GoesAwayWithWorkStillQueued) {
    PretendCompiler compiler;
    compiler.time = 50ms;
    {
        CompilePool pool(compiler, 2);
        for (int i = 0; i < 1000; ++i) (void)pool.submit(source(std::to_string(i)));
        ASSERT_TRUE(soon([&] { return compiler.begun > 0; }));
    }
    EXPECT_LT(compiler.begun, 100) << "what has not begun is dropped";
}

TEST(CompilePool, GoesAwayIdle) {
    const PretendCompiler compiler;
    const CompilePool pool(compiler, 3);
    EXPECT_EQ(compiler.begun, 0);
}

}  // namespace
}  // namespace smemtune
