// Lets the user's own program decide whether outputs are right.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/trial/reference/user_program.h"

namespace smemtune {

/// Calls `verify`, a kernel or C++ function of the operation. `backend` and `operation` must outlive the object.
class Verifier {
public:
    /// `binary` is the compiled reference_program(). Throws OutOfMemory, LaunchError.
    Verifier(Backend& backend, const Operation& operation, const Binary& binary);

    /// Copies the outputs that the kernel also reads, because `verify` needs their values from before the launch.
    /// Must be called before each launch. Returns one element for each output. OutputReference::value is null if the
    /// kernel does not read the output. Throws OutOfMemory.
    std::vector<OutputReference> before(const Operands& operands);
    /// Describes what is wrong with the outputs; returns nothing if they are right. `before` is the result of before().
    /// Throws OutOfMemory, LaunchError, ReferenceError.
    std::optional<std::string> judgement(const Operands& operands, const std::vector<OutputReference>& before);

private:
    Backend& backend_;
    bool on_host_;
    UserProgram program_;
    std::unique_ptr<Memory> answer_;
};

}  // namespace smemtune
