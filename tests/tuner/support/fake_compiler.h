// A fake compiler for tests. It needs no processes and no CUDA Toolkit. The test decides when each compile ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/compiler.h"
#include "tests/tuner/support.h"

namespace smemtune {

/// Compiles a program to its text: the configuration header, or the source if there is no such header. The text "wrong"
/// is rejected. The text "broken" makes the compiler throw a CompilerError.
class FakeCompiler : public Compiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        const auto text = text_of(program);
        std::string suffix;
        {
            std::unique_lock lock(mutex_);
            suffix.assign(static_cast<std::size_t>(std::ranges::count(begun_, text)) % variants, ' ');
            begun_.push_back(text);
            changed_.wait_for(lock, 10min, [&] { return !is_held(text); });  // a failing test might not release it
        }
        std::this_thread::sleep_for(delay);
        if (text == "broken") throw CompilerError("the compiler is gone");
        if (text == "wrong") return Rejection{Stage::compile, "line 1: wrong"};
        const auto code = text + suffix;
        return Binary{
            .entry = program.entry, .target = target(), .compiler = version(), .code = {code.begin(), code.end()}};
    }
    [[nodiscard]] std::string target() const override { return "fake"; }
    [[nodiscard]] std::string version() const override { return number; }

    /// From now on, the compile of a text that contains `part` waits for release() of the text or for release_all().
    void hold(const std::string& part) {
        const std::scoped_lock lock(mutex_);
        held_.insert(part);
    }
    void hold_all() { hold(""); }
    void release(const std::string& text) {
        const std::scoped_lock lock(mutex_);
        released_.insert(text);
        changed_.notify_all();
    }
    void release_all() {
        const std::scoped_lock lock(mutex_);
        held_.clear();
        changed_.notify_all();
    }
    /// Returns the texts in the order in which their compiles began.
    [[nodiscard]] std::vector<std::string> begun() const {
        const std::scoped_lock lock(mutex_);
        return begun_;
    }
    [[nodiscard]] bool has_begun(std::size_t programs) const {
        return soon([&] { return begun().size() == programs; });
    }

    std::chrono::milliseconds delay{0};  ///< duration of each compile
    std::string number = "1";            ///< the compiler's version
    std::size_t variants = 1;            ///< how many different machine codes the compiles of one program give in turn

private:
    static std::string text_of(const Program& program) {
        const auto configuration = program.files.find("configuration.h");
        return configuration == program.files.end() ? program.files.at(program.source_path) : configuration->second;
    }
    [[nodiscard]] bool is_held(const std::string& text) const {
        return !released_.contains(text) &&
               std::ranges::any_of(held_, [&](const auto& part) { return text.find(part) != std::string::npos; });
    }

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    mutable std::vector<std::string> begun_;
    std::set<std::string> held_, released_;
};

}  // namespace smemtune
