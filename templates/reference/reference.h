// The reference with which the outputs of a kernel are compared.
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
        kernel,         ///< the kernel `reference` in the file Operation::reference_path
        host,           ///< the C++ function `reference` in the file Operation::reference_path, called on the host
        configuration,  ///< the default configuration of the kernel itself
        answer,         ///< stored outputs
        program,        ///< a program that reads inputs and writes outputs as .npy files
        none,           ///< outputs are not compared
        verify_kernel,  ///< the kernel `verify` in the file Operation::reference_path checks the outputs
        verify_host,    ///< the C++ function `verify` in the file Operation::reference_path checks the outputs
    };
    struct Answer {
        std::string path;  ///< path of the file in the templates folder
        std::string type;  ///< type of the stored numbers: the output's type, or f64
        DataFile data;
    };
    Kind kind = Kind::kernel;
    std::map<std::string, Answer> answers;             ///< the stored values of each output
    std::vector<std::string> command;                  ///< the program's command; words may have {inputs} and {outputs}
    std::map<std::string, std::string> program_files;  ///< words of `command` that name files -> content of the files
    int time_limit_s = 60;                             ///< time limit of the program, in seconds
    /// For Kind::configuration: the kernel whose default configuration is the reference. Inside that kernel,
    /// `configured` is null.
    std::shared_ptr<const KernelTemplate> configured;

    /// Whether the reference has a source file, Operation::reference_path.
    [[nodiscard]] bool has_source() const { return kind == Kind::kernel || kind == Kind::host || is_verifier(); }
    /// Whether the reference is a verifier: code that computes no outputs, but decides whether outputs are right.
    [[nodiscard]] bool is_verifier() const { return kind == Kind::verify_kernel || kind == Kind::verify_host; }
    /// Whether reference_program() of runtime/compiler.h compiles the reference.
    [[nodiscard]] bool has_program() const { return has_source() || kind == Kind::configuration; }
    /// Whether the reference's values come from the host, which is slow, and not from a kernel.
    [[nodiscard]] bool is_on_host() const {
        return kind == Kind::host || kind == Kind::answer || kind == Kind::program;
    }
};

}  // namespace smemtune
