// The loaded machine code of a Runtime: problems of several sizes share it.
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
/// during a stream capture. Any thread may call it.
class ProgramCache {
public:
    /// With more programs than `most`, those that no kernel uses are unloaded.
    explicit ProgramCache(std::size_t most = 1024) : most_(most) {}

    /// Machine code, or why there is none.
    struct Loaded {
        std::shared_ptr<const LoadedKernel> kernel;
        std::string why_not;
    };

    /// The machine code of `key`, made by `make` unless it is loaded. Threads that ask for the same key at once share
    /// one call of `make`; no lock is held during the call. Throws what `make` throws.
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
