// Compilers turn a template's source and one configuration into machine code for one kind of device. No device is
// needed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "db/outcome.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

/// A program to compile: files in memory, including `configuration.h`, and the name of its entry point.
struct Program {
    std::string entry;        ///< in C++: `kernel`, `kernel<float, 16>`
    std::string source_path;  ///< which of the files is the source
    SourceTree files;
    std::vector<std::string> options;          ///< of the template; the host device takes -D, -U and -std of them
    std::vector<std::string> include_folders;  ///< paths in `files`
    SourceNeeds needs;
    std::vector<std::string> symbols{};  ///< arrays of the source that LoadedKernel::fill_symbol fills
    bool on_host = false;                ///< not a kernel but a C++ function, for HostFunction on any device
};

/// Stands in a compiler's messages between a source and its entry point, where a signature is checked.
constexpr const char* signature_check_mark = ": its manifest's entry point '";
/// A compiler's error without the line and column of a signature's check, which are not the user's.
std::string readable_error(std::string line);

/// The program of one candidate. It does not depend on the problem's extents.
Program program_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem);

/// What computes the reference of the template's operation: its FP64 kernel or C++ function, entry `reference`, what
/// judges the outputs, entry `verify`, or the template's default configuration. Precondition:
/// OperationReference::has_program().
Program reference_program(const KernelTemplate& kernel_template, const Problem& problem);

/// The kernel or C++ function `prepare` of the template's operation, which computes inputs. Precondition:
/// Operation::prepare_path is not empty.
Program prepare_program(const KernelTemplate& kernel_template, const Problem& problem);

struct Binary {
    std::string entry;
    std::string target;    ///< where it runs: "sm_90a", "host-x86_64"
    std::string compiler;  ///< name, version and options
    std::vector<std::uint8_t> code;
    Resources resources;
    double compile_ms = 0;

    /// Whether the code reports accesses outside its arguments and arrays (CompilerOptions::checked; host device only).
    [[nodiscard]] bool is_checked() const { return target.ends_with("-checked"); }
};

/// The compiler itself is absent or broken. No candidate causes this.
class CompilerError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Compiler {
public:
    virtual ~Compiler() = default;
    /// Returns machine code, or a rejection with the compiler's first error and its line. Many threads may call it at
    /// once. Throws CompilerError.
    [[nodiscard]] virtual std::variant<Binary, Rejection> compile(const Program& program) const = 0;
    /// The target and the compiler of every Binary that it compiles. Stored machine code is reusable if both are equal.
    [[nodiscard]] virtual std::string target() const = 0;
    [[nodiscard]] virtual std::string version() const = 0;
};

struct CompilerOptions {
    std::string host_compiler = "c++";  ///< for the host device: a g++ or clang++ command
    bool checked = false;               ///< host device: report accesses outside shared arrays and arguments
    std::chrono::seconds time_limit{60};
    std::vector<std::string> toolkits;  ///< folders of CUDA Toolkits, tried first for CUDA's headers (`include/` below)
};

/// NVRTC for a GPU, the system's C++ compiler for the host. The compiler is located at the first compile.
std::unique_ptr<Compiler> make_compiler(const Device& device, const CompilerOptions& options = {});

}  // namespace smemtune
