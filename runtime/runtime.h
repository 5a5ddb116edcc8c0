// The library that applications link: ask for the tuned kernel of a problem, launch it on a stream.
//
//     smemtune::Runtime runtime({.database = "tuning.db"});
//     const auto kernel = runtime.fetch(smemtune::gemm(4096, 4096, 128));
//     kernel.launch(stream, {.a = a, .b = b, .c = c});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// The path is relative, so it works in the source tree and where it is installed, with any include path.
#include "../templates/space/problem.h"

struct CUstream_st;  // cudaStream_t points to it; declared here, so no CUDA header is needed

namespace smemtune {

class Counted;  // internal

/// How closely the chosen kernel matches problem and device. The best match first.
enum class Match {
    exact,        ///< tuned for this problem on this kind of device
    predicted,    ///< the member of a portfolio that is predicted to be the fastest for this problem
    nearest,      ///< the winner of the closest tuned problem, valid here too (of this one, if its code was replaced)
    transferred,  ///< a winner, or a member of a portfolio, of the most similar other device that has one valid here
    untuned,      ///< not tuned: a template's default
};
std::string_view to_text(Match match);

struct Choice {
    std::string kernel_template;
    std::string configuration;  ///< `TILE_WIDTH=32`
    Match match = Match::untuned;
    std::string tuned_for;   ///< the problem that it was tuned for; empty when predicted or untuned
    double expected_us = 0;  ///< measured time on the device and problem that it was tuned for, or predicted time for
                             ///< this problem; 0 when untuned
    std::string device;      ///< where it was tuned; this device when untuned
    double uncertainty = 0;  ///< of predicted times: two of three are within a factor of 1 + this of the measured time
    std::string why{};       ///< of a predicted member: the parts of its time, and how far the next member is behind
    std::string database{};  ///< where it is stored; empty when untuned
};

/// There is no kernel: no template supports the problem, or none compiles and loads on this device.
class FetchError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The database does not exist.
class DatabaseAbsent : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A file or folder that holds code for the application can be changed by other users. The message gives its owner, its
/// mode and the remedy.
class UntrustedFile : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Whose code a Runtime runs (docs/security.md). A database holds executable code: machine code and sources of kernels.
struct Trust {
    /// Also read databases and template folders that users other than the effective user and root own or may write.
    bool any_owner = false;
    /// Also read such template folders, but no such database.
    bool any_template_owner = false;
    /// Load the database's machine code. Otherwise kernels are compiled from their sources.
    bool machine_code = true;
    /// Use templates that only the database has. Otherwise a winner counts only if the runtime itself has its template
    /// in that version.
    bool stored_templates = true;
    /// Compile at run time. Otherwise only the database's machine code is used.
    bool jit = true;
    /// Search the databases that Options names. Otherwise only those of `system_databases`.
    bool named_databases = true;
    /// Open the host device, whose kernels run as code of this process.
    bool host_code = true;
};

/// Measuring in place (Runtime::Options::measure_first_calls).
struct FirstCallsOptions {
    /// How many kernels are timed for each problem without a winner of its own: one front runner in each of the first
    /// calls. Less than 2: none.
    std::size_t candidates = 0;
    /// Limit, in milliseconds of device time, of the total loss of a Runtime's measured calls against the fastest
    /// kernels. Beyond that, no further problem is measured.
    double most_lost_ms = 1000;
};

/// C = alpha * op(A) * op(B) + beta * C, row-major. The pointers are device addresses. Strides are in elements; 0 means
/// packed rows. In a batch, a batch stride is the distance between two matrices: by default they follow one another,
/// and with 0 all products read the same A or B. The matrices of C may interleave, but must not share elements.
struct GemmOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    std::int64_t lda = 0;
    std::int64_t ldb = 0;
    std::int64_t ldc = 0;
    double alpha = 1;  ///< with 0, A and B are not read
    double beta = 0;   ///< with 0, C is not read
    std::optional<std::int64_t> batch_stride_a, batch_stride_b, batch_stride_c;
};

/// One argument of a kernel, and what its address points to in a launch.
struct KernelArgument {
    enum class Kind {
        extent,  ///< an integer of `type`
        stride,  ///< an integer of `type`: a leading dimension or a batch stride
        scalar,  ///< a number of `type`
        matrix,  ///< a pointer: the address of a matrix or an array on the device
    };
    std::string name;
    Kind kind = Kind::extent;
    /// The type, or that of a matrix's elements. Unless the manifest declares another, "i32" for extents, "i64" for
    /// strides and the problem's type for others.
    std::string type{};
    bool is_output = false;  ///< a matrix or an array that the kernel writes
};

/// A kernel that is ready to run on one problem. It is a small handle that can be copied and used from any thread. To
/// fetch it costs less than to copy it to a thread that has not fetched it: such threads share a reference count. A
/// kernel may outlive its Runtime. Its machine code stays loaded as long as the Runtime or a copy of the kernel lives.
/// Destroying the last of them waits for running launches and unloads the code. Do not destroy it during a stream
/// capture.
class Kernel {
public:
    Kernel(const Kernel& other);
    Kernel(Kernel&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)), counted_(std::exchange(other.counted_, nullptr)) {}
    Kernel& operator=(Kernel other) noexcept {
        std::swap(state_, other.state_);
        std::swap(counted_, other.counted_);
        return *this;
    }
    ~Kernel();

    /// With Options::measure_first_calls, the choice that launches run now.
    [[nodiscard]] const Choice& choice() const;
    [[nodiscard]] const Problem& problem() const;

    /// Enqueues the kernel on `stream` (null: the default stream) of the runtime's GPU, which must be current. Without
    /// a workspace, a launch takes no lock and allocates nothing. On the host device the kernel runs at once, one
    /// launch at a time.
    /// A kernel with a workspace takes locks to launch. All kernels of a Runtime share one block of memory for each
    /// stream. The first launch on a stream allocates the block, and it grows by doubling. Captured launches use memory
    /// of the kernel's own, one block for each stream, which the first of them allocates. So graphs captured on one
    /// stream must not run at the same time, and a graph must not outlive the last copy of its kernels. A stream must
    /// be idle when it is destroyed. Throws std::invalid_argument if the kernel is neither gemm nor batched_gemm or a
    /// stride is invalid, std::runtime_error if the device refuses.
    void launch(CUstream_st* stream, const GemmOperands& operands) const;

    /// For any operation. `arguments[i]` points to the value of the kernel's i-th argument; arguments() gives their
    /// order and types. Run-time parameters are added automatically. The extents must be those of problem(); otherwise
    /// a matrix product throws std::invalid_argument.
    void launch(CUstream_st* stream, std::span<void* const> arguments) const;
    [[nodiscard]] std::vector<KernelArgument> arguments() const;
    /// Bytes of device memory that the kernel needs beside its operands (its workspace); 0 for most kernels.
    [[nodiscard]] std::int64_t workspace_bytes() const;

private:
    friend class Runtime;
    friend class FirstCalls;
    struct State;
    Kernel(const State* state, Counted* counted) : state_(state), counted_(counted) {}
    const State* state_;
    Counted* counted_;  // has a reference for this handle; null when moved from
};

/// A type in C++, as far as it must match that of an argument.
struct CppType {
    std::size_t bytes = 0;      ///< 0: void
    bool is_floating = false;   ///< float or double
    bool is_struct = false;     ///< such as float2
    bool is_pointer = false;    ///< the rest describes what it points to
    bool is_read_only = false;  ///< a pointer to const
};

template <class T>
constexpr CppType cpp_type() {
    using Element = std::remove_pointer_t<T>;
    CppType type{.is_floating = std::is_floating_point_v<Element>,
                 .is_struct = std::is_class_v<Element>,
                 .is_pointer = std::is_pointer_v<T>,
                 .is_read_only = std::is_const_v<Element>};
    if constexpr (!std::is_void_v<Element>) type.bytes = sizeof(Element);
    return type;
}

/// Throws std::invalid_argument, which names the first argument that differs, if the kernel's arguments do not have
/// these types. `void*` fits any pointer.
void must_take(const Kernel& kernel, std::span<const CppType> types);

/// A kernel of any operation with its signature in C++. The types are checked once, when it is made.
///
///     const smemtune::TypedKernel<const unsigned char*, unsigned*, long long> histogram(runtime.fetch(problem));
///     histogram(stream, data, counts, n);
template <class... T>
class TypedKernel {
public:
    /// Throws std::invalid_argument if the kernel takes other arguments.
    explicit TypedKernel(Kernel kernel) : kernel_(std::move(kernel)) {
        must_take(kernel_, std::array<CppType, sizeof...(T)>{cpp_type<T>()...});
    }
    /// Enqueues the kernel, as Kernel::launch() does.
    void operator()(CUstream_st* stream, T... arguments) const {
        kernel_.launch(stream, std::array<void*, sizeof...(T)>{static_cast<void*>(&arguments)...});
    }
    [[nodiscard]] const Kernel& kernel() const { return kernel_; }

private:
    Kernel kernel_;
};

enum class LogLevel {
    info,     ///< what was chosen for a problem that is fetched for the first time
    warning,  ///< a better candidate for it that cannot be used, and why
};

class Runtime {
public:
    struct Options {
        /// The first database to search, such as the user's. It must be usable, or there is an error.
        std::filesystem::path database;
        /// Whether a database that does not exist counts as none. Otherwise it is an error.
        bool database_may_be_absent = false;
        /// Databases that are searched next, in this order, such as the application's own (smemtune db export). A
        /// database that is absent, damaged, of a schema that is too new, or not trusted is left out, and `log` is
        /// called.
        std::vector<std::filesystem::path> databases{};
        /// A folder of databases (*.db) that are searched last, under the same rule. By default the one that is
        /// installed with smemtune: it has the portfolios of some GPUs. Empty: none.
        std::optional<std::filesystem::path> system_databases{};
        /// "0", "1", ... for a GPU, "auto" for the first GPU, "host" for the CPU.
        std::string device = "auto";
        /// The application's kernels; each replaces the built-in one of its name.
        std::vector<std::filesystem::path> template_folders;
        /// For the host device.
        std::string host_compiler = "c++";
        Trust trust;
        /// How many problems are remembered. Beyond that, the least recently fetched ones are forgotten; a later fetch
        /// of one of them chooses again.
        std::size_t remembered_problems = 4096;
        /// Times the front runners on the application's own operands. Every call computes what it was asked for, but
        /// the first calls may run different kernels, whose results may differ in their rounding. The fastest serves
        /// the later calls, as long as the problem is remembered. Only kernels whose machine code is stored take part.
        /// A launch that is captured runs the first choice and is not timed.
        FirstCallsOptions measure_first_calls{};
        /// Called by first fetches, by several threads at once if they fetch. It must not use the Runtime.
        std::function<void(LogLevel, const std::string&)> log{};
    };

    /// Throws DatabaseAbsent; UntrustedFile if other users can change code that it would run; std::runtime_error if the
    /// device is absent or the database cannot be read.
    explicit Runtime(const Options& options);
    ~Runtime();
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    /// Chooses a kernel for this problem. Loads its machine code from the database or compiles it, which works during a
    /// stream capture, too. Remembers the result for later calls with the same problem. Later calls take no lock, write
    /// to no memory that other threads write, and allocate only a reference at a thread's first call. A thread that
    /// asks for a problem that another thread is fetching for the first time waits for that thread. A failure is not
    /// remembered. With `kernel_template`, only that template is considered. Throws FetchError; std::invalid_argument
    /// if the problem is invalid; UntrustedFile if the database was replaced by a file that other users can change.
    [[nodiscard]] Kernel fetch(const Problem& problem, std::string_view kernel_template = {});

    /// Fetches all problems ahead, on as many threads as there are cores. Use it at the start of an application, or
    /// before a stream capture that must not wait for a compile. Problems beyond Options::remembered_problems are
    /// forgotten again. Throws what fetch() throws for the first of them that fails; later ones may then not be
    /// fetched.
    void warm_up(std::span<const Problem> problems);

private:
    friend class RuntimeInspector;  // smemtune's own tools
    struct State;
    explicit Runtime(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
