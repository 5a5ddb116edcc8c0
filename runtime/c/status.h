// Turns exceptions into statuses: no exception leaves a function of smemtune.h.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/c/smemtune.h"

namespace smemtune {

/// A failure with a status of its own.
class CallError : public std::runtime_error {
public:
    CallError(smemtune_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
    [[nodiscard]] smemtune_status status() const { return status_; }

private:
    smemtune_status status_;
};

/// The status of the exception that is being handled. Its message becomes the thread's error message.
smemtune_status status_of_current_exception() noexcept;

/// Runs `work` and returns its status.
template <class Work>
smemtune_status status_of(const Work& work) noexcept {
    try {
        work();
        return SMEMTUNE_OK;
    } catch (...) {
        return status_of_current_exception();
    }
}

/// The object that `pointer` points to. Throws std::invalid_argument if it is null; `name` is the parameter's.
template <class Object>
Object& required(Object* pointer, const char* name) {
    if (pointer == nullptr) throw std::invalid_argument(std::string(name) + " is null");
    return *pointer;
}

}  // namespace smemtune
