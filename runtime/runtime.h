// The library that applications link: ask for the tuned kernel of a problem, launch it on a stream.
//
//     smemtune::Runtime runtime({.database = "tuning.db"});
//     const auto kernel = runtime.fetch(smemtune::gemm(4096, 4096, 128));
//     kernel.launch(stream, {.a = a, .b = b, .c = c});
#pragma once

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

/// How well a choice is founded. The best first.
enum class Match {
    exact,        ///< tuned for this problem on this kind of device
    nearest,      ///< the winner of the closest tuned problem, valid here too
    transferred,  ///< a winner of the most similar other device, valid here too
    untuned,      ///< not tuned: a template's default
};
std::string_view to_text(Match match);

struct Choice {
    std::string kernel_template;
    std::string configuration;  ///< `TILE_WIDTH=32`
    Match match = Match::untuned;
    std::string tuned_for;   ///< the problem that it was tuned for; empty when untuned
    double expected_us = 0;  ///< measured time on the device and problem that it was tuned for; 0 when untuned
    std::string device;      ///< where it was tuned; this device when untuned
};

/// There is no kernel: no template supports the problem, or none compiles and loads on this device.
class FetchError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
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
/// may outlive its Runtime.
class Kernel {
public:
    [[nodiscard]] const Choice& choice() const;
    [[nodiscard]] const Problem& problem() const;

    /// Enqueues the kernel on `stream` (null: the default stream) of the runtime's GPU, which must be current. Without
    /// a workspace, a launch takes no lock and allocates nothing. On the host device the kernel runs at once, one
    /// launch at a time.
    /// A kernel with a workspace has one for each stream. A launch then takes a lock, and the first launch on each
    /// further stream allocates, even while the stream is captured. A graph uses the workspace of the stream that it
    /// was captured on. It must not run at the same time as launches on that stream or other graphs captured on it, and
    /// must not outlive the kernel. A stream must be idle when it is destroyed.
    /// Throws std::invalid_argument if the kernel is neither gemm nor batched_gemm or a stride is invalid,
    /// std::runtime_error if the device refuses.
    void launch(CUstream_st* stream, const GemmOperands& operands) const;

    /// For any operation. `arguments[i]` points to the value of the kernel's i-th argument; argument_names() gives
    /// their order and the operation's manifest their types. Run-time parameters are added automatically.
    void launch(CUstream_st* stream, std::span<void* const> arguments) const;
    [[nodiscard]] std::vector<std::string> argument_names() const;
    /// Bytes of device memory that the kernel needs beside its operands (its workspace); 0 for most kernels. Each
    /// stream that the kernel was launched on has its own workspace, for as long as the kernel or its Runtime lives.
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
        std::filesystem::path database;  ///< may be absent: then everything is untuned
        std::string device = "auto";     ///< "0", "1", ... for a GPU, "host", or "auto": the first GPU, else the host
        std::vector<std::filesystem::path>
            template_folders;               ///< the application's kernels; each replaces the built-in one of its name
        std::string host_compiler = "c++";  ///< for the host device
    };

    /// Throws std::runtime_error when the device is absent or the database cannot be read.
    explicit Runtime(const Options& options);
    ~Runtime();
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    /// Chooses a kernel for this problem. Loads its machine code from the database or compiles it. Remembers the result
    /// for later calls with the same problem. Any thread may call it; it takes a lock. With `kernel_template`, only
    /// that template is considered. Throws FetchError, and std::invalid_argument if the problem is invalid.
    [[nodiscard]] Kernel fetch(const Problem& problem, std::string_view kernel_template = {});

private:
    friend class RuntimeInspector;  // smemtune's own tools
    struct State;
    explicit Runtime(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
