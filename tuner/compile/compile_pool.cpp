#include "tuner/compile/compile_pool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

#include "util/hash.h"

namespace smemtune {

namespace {

constexpr std::size_t most_sources = 16;  // the sources of this many templates are kept; few runs tune more templates
constexpr std::string_view generated = "configuration.h";

// Whether all files of two programs are equal. Ignores configuration.h, which is generated for each candidate.
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
    : compiler_(compiler), finished_(std::move(finished)), width_(threads), most_kept_(most_kept) {
    for (unsigned i = 0; i < threads; ++i) {
        threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    }
}

CompilePool::~CompilePool() {
    for (auto& thread : threads_) thread.request_stop();
}

// Returns a key: programs with the same key have the same machine code. The key has a digest of the template's sources.
// Sources that equal those of an earlier program get that program's digest, because comparing is far cheaper than
// computing a digest.
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
    std::string options;
    for (const auto& option : program.options) options += option + '\0';
    return options + program.entry + '\0' + program.source_path + '\0' + sources_.front().digest +
           (configuration == program.files.end() ? "" : '\0' + configuration->second);
}

// Returns the result for a key, or null. Marks the result as the most recently used.
CompilePool::Known* CompilePool::find(const std::string& key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    known_.splice(known_.begin(), known_, found->second);
    return &known_.front();
}

CompilePool::Task CompilePool::begin(std::string key, const Program& program, bool asked_for) {
    Task task([this, program] { return compiler_.compile(program); });
    known_.push_front({std::move(key), task.get_future().share(), asked_for});
    by_key_.emplace(known_.front().key, known_.begin());
    return task;
}

std::shared_future<CompilePool::Result> CompilePool::submit(const Program& program) {
    const std::scoped_lock lock(mutex_);
    auto key = key_of(program);
    if (auto* known = find(key)) {
        known->asked_for = true;
        return known->result;
    }
    queue_.push_back(begin(std::move(key), program, true));
    changed_.notify_one();
    auto result = known_.front().result;
    forget_oldest();
    return result;
}

bool CompilePool::was_asked_for(const Program& program) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_key_.find(key_of(program));
    return found != by_key_.end() && found->second->asked_for;
}

void CompilePool::speculate(std::vector<LazyProgram> programs) {
    const std::scoped_lock lock(mutex_);
    speculative_.assign(std::make_move_iterator(programs.begin()), std::make_move_iterator(programs.end()));
    changed_.notify_all();
}

// Drops the least recently used results if there are too many. Pending results are kept.
void CompilePool::forget_oldest() {
    for (auto at = known_.end(); known_.size() > most_kept_ && at != known_.begin();) {
        --at;
        if (at->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
        by_key_.erase(at->key);
        at = known_.erase(at);
    }
}

std::shared_ptr<void> CompilePool::throttle() {
    const std::scoped_lock lock(mutex_);
    ++throttles_;
    return {this, [](CompilePool* pool) {
                const std::scoped_lock again(pool->mutex_);
                --pool->throttles_;
                pool->changed_.notify_all();
            }};
}

bool CompilePool::may_begin() const { return throttles_ == 0 || compiling_ < std::max(1U, width_ / 4); }

// Whether a speculative compile may begin. One thread in eight, but at least one, is reserved for submitted programs,
// because a running compile cannot be stopped.
bool CompilePool::may_speculate() const {
    return !speculative_.empty() && throttles_ == 0 && speculating_ + std::max(1U, width_ / 8) < width_;
}

void CompilePool::run(Task task, std::unique_lock<std::mutex>& lock) {
    ++compiling_;
    lock.unlock();
    task();
    if (finished_) finished_();
    lock.lock();
    --compiling_;
}

// Compiles the next speculative program, unless its result is known or pending.
void CompilePool::compile_speculatively(std::unique_lock<std::mutex>& lock) {
    const auto program = speculative_.front()();
    speculative_.pop_front();
    auto key = key_of(program);
    if (by_key_.contains(key)) return;
    auto task = begin(std::move(key), program, false);
    forget_oldest();
    ++speculating_;
    run(std::move(task), lock);
    --speculating_;
}

void CompilePool::serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto has_work = [this] { return (!queue_.empty() && may_begin()) || (queue_.empty() && may_speculate()); };
    while (changed_.wait(lock, stop, has_work) && !stop.stop_requested()) {
        if (queue_.empty()) {
            compile_speculatively(lock);
        } else {
            auto task = std::move(queue_.front());
            queue_.pop_front();
            run(std::move(task), lock);
        }
        changed_.notify_one();  // another thread may be able to begin a compile now
    }
}

}  // namespace smemtune
