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

// A path relative to this file works in the source tree and in an installation, with any include path.
#include "../templates/space/problem.h"

struct CUstream_st;  // cudaStream_t is a pointer to this struct; declaring it here makes CUDA's headers unnecessary

namespace smemtune {

class Counted;  // internal, not for applications

/// How closely the chosen kernel matches problem and device. docs/design.md has the order of preference.
enum class Match {
    exact,        ///< tuned for this problem on this kind of device
    predicted,    ///< the member of a portfolio that is predicted to be the fastest for this problem
    nearest,      ///< the winner of the nearest problem, or this problem's winner if its stored code was replaced
    transferred,  ///< a winner or portfolio member from another device: the most similar device with a valid kernel
    untuned,      ///< a template's default configuration, because nothing tuned is valid
};
std::string_view to_text(Match match);

struct Choice {
    std::string kernel_template;
    std::string configuration;  ///< such as `TILE_WIDTH=32`
    Match match = Match::untuned;
    std::string tuned_for;  ///< the problem that the configuration was tuned for; empty for a portfolio's member and
                            ///< when untuned
    /// A time in microseconds, of one of three kinds: measured for `tuned_for` on `device`; predicted for the problem;
    /// or measured in a single launch of the problem (measure_first_calls). On a GPU, the time of a single launch
    /// includes 5 to 8 us of launch overhead. 0 when untuned.
    double expected_us = 0;
    std::string device;  ///< the device of the tuning; the Runtime's own device when untuned
    /// An estimate of the relative error of expected_us, if expected_us is predicted; otherwise 0. About half of
    /// measured times lie between expected_us / (1 + uncertainty) and expected_us * (1 + uncertainty).
    double uncertainty = 0;
    /// Why the kernel was chosen, if it is a portfolio's member or was timed in the problem's first launches. Otherwise
    /// empty.
    std::string why{};
    std::string database{};  ///< the database that has the configuration; empty when untuned
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

/// A file or folder has code that the application would run, and other users can change this file or folder. The
/// message gives the file's owner, its mode and the remedy.
class UntrustedFile : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Whose code a Runtime runs (docs/security.md). A database has executable code in it: machine code and sources of
/// kernels.
struct Trust {
    /// Also read databases and template folders that other users own or may write. Other users are all but the
    /// effective user and root.
    bool any_owner = false;
    /// Also read template folders, but not databases, that other users own or may write.
    bool any_template_owner = false;
    /// Load the database's machine code. Otherwise kernels are compiled from their sources.
    bool machine_code = true;
    /// Use templates that only the database has. Otherwise a winner is used only if the Runtime itself has the same
    /// version of the winner's template.
    bool stored_templates = true;
    /// Compile at run time. Otherwise only the database's machine code is used.
    bool jit = true;
    /// Search the databases that Options::database and Options::databases name. Otherwise search only those of
    /// Options::system_databases.
    bool named_databases = true;
    /// Open the host device, whose kernels run as code of this process.
    bool host_code = true;
};

/// Options for timing kernels during the application's first launches (Runtime::Options::measure_first_calls).
struct FirstCallsOptions {
    /// How many kernels are timed for each problem that has no winner of its own. Each of the problem's first launches
    /// times one of the candidates that rank highest. With less than 2, nothing is timed.
    std::size_t candidates = 0;
    /// Limit of the device time, in milliseconds, that a Runtime loses by timing kernels other than the fastest. When
    /// the limit is reached, no further problem is measured.
    double most_lost_ms = 1000;
};

/// C = alpha * op(A) * op(B) + beta * C, row-major. The pointers are device addresses. Leading dimensions are in
/// elements; 0 means packed rows. In a batch, a batch stride is the distance, in elements, between the starts of
/// consecutive matrices. By default the matrices follow one another without a gap. With a batch stride of 0, all
/// products read the same A or B. The matrices of C may interleave, but must not share elements.
struct GemmOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    std::int64_t lda = 0;
    std::int64_t ldb = 0;
    std::int64_t ldc = 0;
    double alpha = 1;  ///< if 0, A and B are not read
    double beta = 0;   ///< if 0, C is not read
    std::optional<std::int64_t> batch_stride_a, batch_stride_b, batch_stride_c;
};

/// One argument of a kernel. `kind` and `type` say what `arguments[i]` points to in Kernel::launch().
struct KernelArgument {
    enum class Kind {
        extent,  ///< an integer of `type`
        stride,  ///< an integer of `type`: a leading dimension or a batch stride
        scalar,  ///< a number of `type`
        matrix,  ///< a pointer: the address of a matrix or an array on the device
    };
    std::string name;
    Kind kind = Kind::extent;
    /// The type of the argument, or of the elements of a matrix. The manifest may declare it. The defaults are "i32"
    /// for extents, "i64" for strides, and "f32" for scalars. For matrices, the default is the problem's type, or
    /// "f32" if that is "tf32" or "3xtf32".
    std::string type{};
    bool is_output = false;  ///< a matrix or an array that the kernel writes
};

/// A kernel that is ready to run on one problem. It is a small handle that can be copied and used from any thread.
/// Fetch the kernel in each thread rather than copy it to other threads. A thread that fetches the kernel counts
/// references in a counter of its own; all other threads share one counter, so their copies take longer. A kernel may
/// outlive its Runtime. Its machine code stays loaded as long as the Runtime or a copy of the kernel lives. When both
/// the Runtime and all copies are destroyed, the last destructor waits for launches that still run, and unloads the
/// code. This must not happen during a stream capture.
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

    /// What fetch() chose. With Options::measure_first_calls, once all times are known, this is the Choice of the
    /// kernel that later launches run.
    [[nodiscard]] const Choice& choice() const;
    [[nodiscard]] const Problem& problem() const;

    /// Enqueues the kernel on `stream` (null means the default stream). The Runtime's GPU must be the current device of
    /// the calling thread. On the host device, launch() returns when the kernel has ended, and launches run one at a
    /// time. Throws std::invalid_argument if a stride is invalid or the kernel's operation is neither gemm nor
    /// batched_gemm; std::runtime_error if the device refuses the launch.
    ///
    /// A kernel without a workspace takes no lock and allocates nothing at a launch. A kernel with a workspace takes
    /// locks. All kernels of a Runtime share one block of memory for each stream. The first launch on a stream
    /// allocates the block, and the block grows by doubling. Captured launches use separate memory that belongs to the
    /// kernel: one block for each stream, allocated by the first captured launch on that stream. Therefore graphs
    /// captured on the same stream must not run at the same time, and a graph must not outlive the last copy of its
    /// kernels. A stream must be idle when it is destroyed.
    void launch(CUstream_st* stream, const GemmOperands& operands) const;

    /// Launches a kernel of any operation. `arguments[i]` points to the value of the kernel's i-th argument;
    /// arguments() gives their order and types. Run-time parameters are added automatically. Throws
    /// std::invalid_argument if the number of arguments is wrong or an extent differs from that of problem().
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
    Counted* counted_;  // this handle owns one reference; null after a move from the handle
};

/// The properties of a C++ type that must match the type of a kernel's argument.
struct CppType {
    std::size_t bytes = 0;      ///< size; 0 for void
    bool is_floating = false;   ///< true for float and double
    bool is_struct = false;     ///< true for structs, such as float2
    bool is_pointer = false;    ///< if true, the other members describe the type pointed to
    bool is_read_only = false;  ///< true for a pointer to const
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

/// Throws std::invalid_argument if the kernel's arguments do not have these types. The message names the first argument
/// that differs. `void*` fits any pointer.
void must_take(const Kernel& kernel, std::span<const CppType> types);

/// A kernel of any operation with its signature in C++. The constructor checks the types, launches do not.
///
///     const smemtune::TypedKernel<const unsigned char*, unsigned*, long long> histogram(runtime.fetch(problem));
///     histogram(stream, data, counts, n);
template <class... T>
class TypedKernel {
public:
    /// Throws std::invalid_argument if the types T do not fit the kernel's arguments.
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
    warning,  ///< why a database, or a candidate better than the chosen one, cannot be used
};

class Runtime {
public:
    struct Options {
        /// The first database to search, such as the user's. The constructor throws if this database cannot be used.
        std::filesystem::path database;
        /// Whether the file `database` may be absent. If false and the file is absent, the constructor throws.
        bool database_may_be_absent = false;
        /// Databases that are searched after `database`, in this order, such as the application's own (smemtune db
        /// export). The Runtime calls `log` and leaves a database out if it is absent, damaged, not trusted, or of a
        /// schema that is too new.
        std::vector<std::filesystem::path> databases{};
        /// A folder of databases (*.db) that are searched last. Unusable databases are left out, as in `databases`. The
        /// default is the folder that is installed with smemtune, which has the portfolios of some GPUs. An empty path
        /// means no folder.
        std::optional<std::filesystem::path> system_databases{};
        /// "0", "1", ... for a GPU, "auto" for the first GPU, "host" for the CPU.
        std::string device = "auto";
        /// Folders of the application's own templates. Each template replaces the built-in one of the same name.
        std::vector<std::filesystem::path> template_folders;
        /// The command of the C++ compiler for the host device.
        std::string host_compiler = "c++";
        Trust trust;
        /// How many problems are remembered. If there are more, the problems least recently fetched are forgotten. A
        /// later fetch of a forgotten problem chooses again.
        std::size_t remembered_problems = 4096;
        /// Times several kernels of a problem in its first launches, on the application's own operands. Every launch
        /// gives a right result, but the first launches run different kernels, whose results may differ in rounding. As
        /// long as the problem is remembered, later launches run the kernel that is probably the fastest, given the
        /// predicted and the measured times. Kernels without stored machine code are not timed. Captured launches are
        /// not timed; until all times are known, they run the choice of fetch().
        FirstCallsOptions measure_first_calls{};
        /// Called when a problem is fetched for the first time and when a database is left out. Several threads may
        /// call the function at once. The function must not use the Runtime.
        std::function<void(LogLevel, const std::string&)> log{};
    };

    /// Throws DatabaseAbsent if Options::database does not exist; UntrustedFile if other users can change code that the
    /// Runtime would run; std::runtime_error if the device is absent or the database cannot be read.
    explicit Runtime(const Options& options);
    ~Runtime();
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    /// Chooses a kernel for this problem and remembers it. The first call loads the kernel's machine code from the
    /// database or compiles it, even during a stream capture. Later calls with the same problem take no lock and write
    /// no memory that other threads write. They allocate memory only at a thread's first call, for the thread's
    /// reference count. If another thread is fetching the same problem for the first time, fetch() waits for it. A
    /// failure is not remembered. If `kernel_template` is given, only that template is considered. Throws FetchError;
    /// std::invalid_argument if the problem is invalid; UntrustedFile if the database was replaced by a file that other
    /// users can change.
    [[nodiscard]] Kernel fetch(const Problem& problem, std::string_view kernel_template = {});

    /// Fetches all `problems`, on as many threads as there are cores. Use it at the start of an application, or before
    /// a stream capture that must not wait for a compile. If there are more problems than Options::remembered_problems,
    /// some are forgotten again. If a fetch fails, throws the exception of fetch(); other problems may then remain
    /// unfetched.
    void warm_up(std::span<const Problem> problems);

private:
    friend class RuntimeInspector;  // smemtune's own tools
    struct State;
    explicit Runtime(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
