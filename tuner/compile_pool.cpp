#include "tuner/compile_pool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

#include "templates/hash.h"

namespace smemtune {

namespace {

constexpr std::size_t most_sources = 16;  // more templates are seldom tuned at once
constexpr std::string_view generated = "configuration.h";

// All files but the one that is written for each candidate.
bool same_sources(const SourceTree& a, const SourceTree& b) {
    auto other = b.begin();
    const auto skip = [](auto at, const SourceTree& tree) {
        return at != tree.end() && at->first == generated ? std::next(at) : at;
    };
    for (auto each = skip(a.begin(), a); each != a.end(); each = skip(std::next(each), a)) {
        other = skip(other, b);
        if (other == b.end() || *each != *other) return false;
        ++other;
    }
    return skip(other, b) == b.end();
}

}  // namespace

CompilePool::CompilePool(const Compiler& compiler, unsigned threads, std::function<void()> finished,
                         std::size_t most_kept)
    : compiler_(compiler), finished_(std::move(finished)), most_kept_(most_kept) {
    for (unsigned i = 0; i < threads; ++i) {
        threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    }
}

CompilePool::~CompilePool() {
    for (auto& thread : threads_) thread.request_stop();
}

// Comparing the sources with those seen before is far cheaper than their digest, which is made once per template.
std::string CompilePool::key_of(const Program& program) {
    auto known = std::ranges::find_if(
        sources_, [&](const Sources& sources) { return same_sources(sources.files, program.files); });
    if (known == sources_.end()) {
        std::string text;
        for (const auto& [path, content] : program.files) {
            if (path != generated) text += path + '\0' + content + '\0';
        }
        sources_.push_front({program.files, content_hash(text)});
        if (sources_.size() > most_sources) sources_.pop_back();
    } else {
        sources_.splice(sources_.begin(), sources_, known);
    }
    const auto configuration = program.files.find(std::string(generated));
    return program.entry + '\0' + program.source_path + '\0' + sources_.front().digest +
           (configuration == program.files.end() ? "" : '\0' + configuration->second);
}

std::shared_future<CompilePool::Result> CompilePool::submit(const Program& program) {
    const std::scoped_lock lock(mutex_);
    auto key = key_of(program);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        known_.splice(known_.begin(), known_, found->second);
        return known_.front().result;
    }
    std::packaged_task<Result()> task([this, program] { return compiler_.compile(program); });
    known_.push_front({std::move(key), task.get_future().share()});
    by_key_.emplace(known_.front().key, known_.begin());
    queue_.push_back(std::move(task));
    changed_.notify_one();
    auto result = known_.front().result;
    forget_oldest();
    return result;
}

// What is still to be compiled stays, whatever its age.
void CompilePool::forget_oldest() {
    for (auto at = known_.end(); known_.size() > most_kept_ && at != known_.begin();) {
        --at;
        if (at->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
        by_key_.erase(at->key);
        at = known_.erase(at);
    }
}

void CompilePool::serve(const std::stop_token& stop) {
    while (true) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested()) return;
        auto task = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        task();
        if (finished_) finished_();
    }
}

}  // namespace smemtune
