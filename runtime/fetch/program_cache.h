// The loaded machine code of a Runtime. Problems of several sizes share machine code.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/backend.h"
#include "runtime/fetch/single_flight.h"

namespace smemtune {

/// Keeps machine code loaded even while no kernel uses it, because unloading waits for the device and is impossible
/// during a stream capture. Any thread may use the cache.
class ProgramCache {
public:
    /// If the cache already has `most` programs when another one is added, it unloads all programs that no kernel uses.
    explicit ProgramCache(std::size_t most = 1024) : most_(most) {}

    /// Machine code; or a null `kernel` and the reason in `why_not`.
    struct Loaded {
        std::shared_ptr<const LoadedKernel> kernel;
        std::string why_not;
    };

    /// Returns the machine code of `key`. If it is not loaded yet, calls `make` to load it. Threads that ask for the
    /// same key at the same time share one call of `make`. No lock is held during the call. Throws what `make` throws.
    Loaded get(const std::string& key, const std::function<Loaded()>& make);

    [[nodiscard]] std::size_t size() const;

private:
    [[nodiscard]] std::shared_ptr<const LoadedKernel> find(const std::string& key) const;
    void remember(const std::string& key, const std::shared_ptr<const LoadedKernel>& kernel);

    SingleFlight<std::string, Loaded> loading_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const LoadedKernel>> loaded_;
    const std::size_t most_;
};

}  // namespace smemtune
