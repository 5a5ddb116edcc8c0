// What the outputs of a kernel are compared with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "templates/arguments/data_file.h"

namespace smemtune {

struct KernelTemplate;

struct OperationReference {
    enum class Kind {
        kernel,         ///< the kernel `reference` of Operation::reference_path
        host,           ///< the C++ function `reference` of Operation::reference_path, called on the host
        configuration,  ///< the default configuration of the kernel itself
        answer,         ///< stored outputs
        program,        ///< a program that reads and writes .npy files
        none,           ///< nothing
        verify_kernel,  ///< the kernel `verify` of Operation::reference_path judges the outputs
        verify_host,    ///< the C++ function `verify` of Operation::reference_path judges the outputs
    };
    struct Answer {
        std::string path;  ///< in the templates folder
        std::string type;  ///< of its numbers: the output's type, or f64
        DataFile data;
    };
    Kind kind = Kind::kernel;
    std::map<std::string, Answer> answers;             ///< of each output
    std::vector<std::string> command;                  ///< of the program; words may contain {inputs} and {outputs}
    std::map<std::string, std::string> program_files;  ///< the words of `command` that name files, and their content
    int time_limit_s = 60;                             ///< of the program
    /// For Kind::configuration. Its own reference has none.
    std::shared_ptr<const KernelTemplate> configured;

    /// Whether Operation::reference_path names its source.
    [[nodiscard]] bool has_source() const { return kind == Kind::kernel || kind == Kind::host || is_verifier(); }
    /// Whether it computes nothing, but says whether outputs are right.
    [[nodiscard]] bool is_verifier() const { return kind == Kind::verify_kernel || kind == Kind::verify_host; }
    /// Whether a compiler makes it: reference_program() of runtime/compiler.h.
    [[nodiscard]] bool has_program() const { return has_source() || kind == Kind::configuration; }
    /// Whether its values come from the host. They are slow to compute.
    [[nodiscard]] bool is_on_host() const {
        return kind == Kind::host || kind == Kind::answer || kind == Kind::program;
    }
};

}  // namespace smemtune
