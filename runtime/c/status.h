// Turns exceptions into statuses: no exception leaves a function of smemtune.h.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/c/smemtune.h"

namespace smemtune {

/// An error whose status is chosen by the code that throws it.
class CallError : public std::runtime_error {
public:
    CallError(smemtune_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
    [[nodiscard]] smemtune_status status() const { return status_; }

private:
    smemtune_status status_;
};

/// Returns the status of the exception that is being handled. Keeps the exception's message as the thread's error
/// message (smemtune_error_message).
smemtune_status status_of_current_exception() noexcept;

/// Calls `work` and returns SMEMTUNE_OK, or the status of its exception.
template <class Work>
smemtune_status status_of(const Work& work) noexcept {
    try {
        work();
        return SMEMTUNE_OK;
    } catch (...) {
        return status_of_current_exception();
    }
}

/// Returns the object that `pointer` points to. If `pointer` is null, throws std::invalid_argument with the parameter's
/// `name` in the message.
template <class Object>
Object& required(Object* pointer, const char* name) {
    if (pointer == nullptr) throw std::invalid_argument(std::string(name) + " is null");
    return *pointer;
}

}  // namespace smemtune
