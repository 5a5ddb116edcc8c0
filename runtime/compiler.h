// Compilers turn a template's source and one configuration into machine code for one kind of device. Compiling needs no
// device.
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
    std::string entry;        ///< C++ name of the entry point: `kernel`, `kernel<float, 16>`
    std::string source_path;  ///< path of the source among `files`
    SourceTree files;
    std::vector<std::string> options;          ///< the template's options; HostCompiler uses only -D, -U and -std
    std::vector<std::string> include_folders;  ///< where to search for headers; paths in the same tree as `files`
    SourceNeeds needs;
    std::vector<std::string> symbols{};  ///< arrays of the source that LoadedKernel::fill_symbol fills
    bool on_host = false;                ///< a C++ function for the CPU (HostFunction) instead of a kernel
};

/// Text in a compiler's message about a kernel whose parameters differ from the manifest's. It separates the path of
/// the source from the name of the entry point.
constexpr const char* signature_check_mark = ": its manifest's entry point '";
/// Returns a compiler's error message as a user should see it. If the error comes from the check of a kernel's
/// parameters, the result lacks the line number and the column. smemtune appends this check to the source, so these
/// numbers would not fit the user's file.
std::string readable_error(std::string line);

/// The program of one candidate. It does not depend on the problem's extents.
Program program_of(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem);

/// The program that computes the right result of the template's operation, or that decides whether outputs are right. A
/// program that computes is an FP64 kernel or C++ function with the entry point `reference`, or the template in its
/// default configuration. A program that decides is a kernel or C++ function with the entry point `verify`.
/// Precondition: OperationReference::has_program().
Program reference_program(const KernelTemplate& kernel_template, const Problem& problem);

/// The program that computes inputs for the template's operation: a kernel or C++ function with the entry point
/// `prepare`. Precondition: Operation::prepare_path is not empty.
Program prepare_program(const KernelTemplate& kernel_template, const Problem& problem);

struct Binary {
    std::string entry;
    std::string target;    ///< what the code runs on: "sm_90a", "host-x86_64"
    std::string compiler;  ///< the compiler's name, version and options
    std::vector<std::uint8_t> code;
    Resources resources;
    double compile_ms = 0;

    /// Whether the code reports accesses outside its arguments and arrays (CompilerOptions::checked; host device only).
    [[nodiscard]] bool is_checked() const { return target.ends_with("-checked"); }
};

/// The compiler itself is absent or broken. An invalid source causes a Rejection instead.
class CompilerError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Compiler {
public:
    virtual ~Compiler() = default;
    /// Returns machine code, or a rejection with the compiler's first error and its line. Many threads may call
    /// compile() at once. Throws CompilerError.
    [[nodiscard]] virtual std::variant<Binary, Rejection> compile(const Program& program) const = 0;
    /// All machine code from this compiler has target() as its Binary::target and version() as its Binary::compiler.
    /// Stored machine code can be reused if it has the same two values.
    [[nodiscard]] virtual std::string target() const = 0;
    [[nodiscard]] virtual std::string version() const = 0;
};

struct CompilerOptions {
    std::string host_compiler = "c++";  ///< for the host device: a g++ or clang++ command
    bool checked = false;               ///< host device: report accesses outside shared arrays and arguments
    std::chrono::seconds time_limit{60};
    std::vector<std::string> toolkits;  ///< folders of CUDA Toolkits; their `include/` is searched first for headers
};

/// Makes a compiler: NVRTC for a GPU, the system's C++ compiler for the host device. The library or program is located
/// at the first compile.
std::unique_ptr<Compiler> make_compiler(const Device& device, const CompilerOptions& options = {});

}  // namespace smemtune
