// Runs the user's reference program, which reads and writes .npy files.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tuner/trial/reference/reference_source.h"

namespace smemtune {

/// A call writes every argument that a kernel reads, and every parameter of the operation, to a file NAME.npy in one
/// folder. It then runs the program, and reads every output from NAME.npy in another folder. If the files have the
/// same content as in an earlier call, the program does not run again: the earlier outputs are used. `operation` and
/// `backend` must outlive the object.
class ProgramReference : public ReferenceSource {
public:
    ProgramReference(Backend& backend, const Operation& operation, Environment environment, const Problem& problem);

    void compute(const Operands& operands, const std::vector<OutputReference>& results) override;

private:
    struct Output {
        std::string type;  // the type of `numbers`: the output's type, or f64
        std::string numbers;
    };
    using Files = std::map<std::string, std::string>;

    [[nodiscard]] Files inputs_of(const Operands& operands) const;
    [[nodiscard]] std::vector<Output> run(const Files& inputs, const Operands& operands) const;

    Backend& backend_;
    const Operation& operation_;
    Environment environment_;
    std::string element_;
    std::map<std::string, std::vector<Output>> known_;  // outputs of earlier runs, by the content of the arguments
};

}  // namespace smemtune
