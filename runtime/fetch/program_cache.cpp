#include "runtime/fetch/program_cache.h"

#include <iterator>
#include <utility>
#include <vector>

namespace smemtune {

ProgramCache::Loaded ProgramCache::get(const std::string& key, const std::function<Loaded()>& make) {
    if (auto kernel = find(key)) return {std::move(kernel), {}};
    return loading_.run(key, [&] {
        if (auto kernel = find(key)) return Loaded{std::move(kernel), {}};  // another thread loaded this program
        auto loaded = make();
        if (loaded.kernel) remember(key, loaded.kernel);
        return loaded;
    });
}

std::size_t ProgramCache::size() const {
    const std::scoped_lock lock(mutex_);
    return loaded_.size();
}

std::shared_ptr<const LoadedKernel> ProgramCache::find(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    const auto known = loaded_.find(key);
    return known == loaded_.end() ? nullptr : known->second;
}

void ProgramCache::remember(const std::string& key, const std::shared_ptr<const LoadedKernel>& kernel) {
    std::vector<std::shared_ptr<const LoadedKernel>> unused;  // unloaded by the destructor, after the lock is released
    const std::scoped_lock lock(mutex_);
    if (loaded_.size() >= most_) {
        for (auto at = loaded_.begin(); at != loaded_.end();) {
            const auto next = std::next(at);
            if (at->second.use_count() == 1) {
                unused.push_back(std::move(at->second));
                loaded_.erase(at);
            }
            at = next;
        }
    }
    loaded_[key] = kernel;
}

}  // namespace smemtune
