// The user's own judgement of outputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/trial/reference/user_program.h"

namespace smemtune {

/// Asks the kernel or C++ function `verify` of the operation. All arguments must outlive it but `binary`.
class Verifier {
public:
    /// `binary`: of reference_program(). Throws OutOfMemory, LaunchError.
    Verifier(Backend& backend, const Operation& operation, const Binary& binary);

    /// What the operands hold before a launch that it needs to judge what they hold after it: the values of inouts, one
    /// for each output. Throws OutOfMemory.
    std::vector<OutputReference> before(const Operands& operands);
    /// What is wrong with the outputs; nothing if they are right. Throws OutOfMemory, LaunchError, ReferenceError.
    std::optional<std::string> judgement(const Operands& operands, const std::vector<OutputReference>& before);

private:
    Backend& backend_;
    bool on_host_;
    UserProgram program_;
    std::unique_ptr<Memory> answer_;
};

}  // namespace smemtune
