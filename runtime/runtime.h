// The library that applications link: ask for the tuned kernel of a problem, launch it on a stream.
//
//     smemtune::Runtime runtime({.database = "tuning.db"});
//     const auto kernel = runtime.fetch(smemtune::gemm(4096, 4096, 128));
//     kernel.launch(stream, {.a = a, .b = b, .c = c});
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The path is relative, so it works in the source tree and where it is installed, with any include path.
#include "../templates/space/problem.h"

struct CUstream_st;  // cudaStream_t points to it; declared here, so no CUDA header is needed

namespace smemtune {

/// How closely the chosen kernel matches problem and device. The best match first.
enum class Match {
    exact,        ///< tuned for this problem on this kind of device
    predicted,    ///< of a portfolio, the member that is predicted to be the fastest for this problem
    nearest,      ///< the winner of the closest tuned problem, valid here too (of this one, if its code was replaced)
    transferred,  ///< a winner of the most similar other device, valid here too
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
    double uncertainty = 0;  ///< of a prediction: two of three are within a factor of 1 + this of the measured time
    std::string why{};       ///< of a prediction: what the time consists of, and how far the next member is behind
};

/// There is no kernel: no template supports the problem, or none compiles and loads on this device.
class FetchError : public std::runtime_error {
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
    /// Open the host device, whose kernels run as code of this process.
    bool host_code = true;
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

/// A kernel that is ready to run on one problem. It is a small handle that can be copied and used from any thread. It
/// may outlive its Runtime. Its machine code stays loaded as long as a copy of it or its Runtime lives. Destroying the
/// last of them waits for running launches and unloads the code. Do not destroy it during a stream capture.
class Kernel {
public:
    [[nodiscard]] const Choice& choice() const;
    [[nodiscard]] const Problem& problem() const;

    /// Enqueues the kernel on `stream` (null: the default stream) of the runtime's GPU, which must be current. Without
    /// a workspace, a launch takes no lock and allocates nothing. On the host device the kernel runs at once, one
    /// launch at a time.
    /// A kernel with a workspace takes locks to launch. All kernels of a Runtime share one memory for each stream,
    /// which is allocated by the first launch on each further stream, and grows by doubling. A launch that is captured
    /// takes memory of the kernel's own, one for each stream, which the first one allocates. So graphs captured on one
    /// stream must not run at the same time, and a graph must not outlive the last copy of its kernels. A stream must
    /// be idle when it is destroyed. Throws std::invalid_argument if the kernel is neither gemm nor batched_gemm or a
    /// stride is invalid, std::runtime_error if the device refuses.
    void launch(CUstream_st* stream, const GemmOperands& operands) const;

    /// For any operation. `arguments[i]` points to the value of the kernel's i-th argument; argument_names() gives
    /// their order and the operation's manifest their types. Run-time parameters are added automatically. The extents
    /// must be those of problem(); a matrix product with others throws std::invalid_argument.
    void launch(CUstream_st* stream, std::span<void* const> arguments) const;
    [[nodiscard]] std::vector<std::string> argument_names() const;
    /// Bytes of device memory that the kernel needs beside its operands (its workspace); 0 for most kernels.
    [[nodiscard]] std::int64_t workspace_bytes() const;

private:
    friend class Runtime;
    struct State;
    explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

class Runtime {
public:
    struct Options {
        /// Empty: everything is untuned.
        std::filesystem::path database;
        /// Whether a database that does not exist is the same as none, instead of an error.
        bool database_may_be_absent = false;
        /// "0", "1", ... for a GPU, "auto" for the first GPU, "host" for the CPU.
        std::string device = "auto";
        /// The application's kernels; each replaces the built-in one of its name.
        std::vector<std::filesystem::path> template_folders;
        /// For the host device.
        std::string host_compiler = "c++";
        Trust trust;
        /// How many problems are remembered. Beyond that, those that were not fetched for long are forgotten, and a
        /// later fetch chooses for them anew.
        std::size_t remembered_problems = 4096;
    };

    /// Throws std::runtime_error when the device is absent or the database cannot be read, UntrustedFile when other
    /// users can change what it would run.
    explicit Runtime(const Options& options);
    ~Runtime();
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    /// Chooses a kernel for this problem. Loads its machine code from the database or compiles it, which works during a
    /// stream capture, too. Remembers the result for later calls with the same problem: those take no lock and allocate
    /// nothing, whatever other threads compile or load. A thread that fetches what another one is fetching for the
    /// first time waits for that one. A failure is not remembered. With `kernel_template`, only that template is
    /// considered. Throws FetchError, std::invalid_argument if the problem is invalid, and UntrustedFile if a file took
    /// the place of the database that other users can change.
    [[nodiscard]] Kernel fetch(const Problem& problem, std::string_view kernel_template = {});

private:
    friend class RuntimeInspector;  // smemtune's own tools
    struct State;
    explicit Runtime(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
