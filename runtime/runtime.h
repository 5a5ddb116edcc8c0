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

// Beside this header in the source tree and where it is installed, whatever the application's include path.
#include "../templates/space/problem.h"

struct CUstream_st;  // what cudaStream_t points to, without a CUDA header

namespace smemtune {

/// How well a choice is founded, best first.
enum class Match {
    exact,        ///< tuned for this very problem on this kind of device
    nearest,      ///< the winner of the closest tuned problem, valid here too
    transferred,  ///< a winner of the most similar other device, valid here too
    untuned,      ///< nothing is known: a template's default
};
std::string_view to_text(Match match);

struct Choice {
    std::string kernel_template;
    std::string configuration;  ///< `TILE_WIDTH=32`
    Match match = Match::untuned;
    std::string tuned_for;   ///< the problem that was tuned; empty when untuned
    double expected_us = 0;  ///< device time when it was tuned there; 0 when untuned
    std::string device;      ///< where it was tuned; this one when untuned
};

/// No kernel can be had: the problem is unknown to every template, or none compiles and loads here.
class FetchError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// C = alpha * op(A) * op(B) + beta * C, row-major. Device addresses; strides in elements, 0 for packed rows.
/// Of a batch, a batch stride is the distance of its matrices: nothing where one follows the other, 0 where all
/// products take the same A or B. The matrices of C may interleave, but not share elements.
struct GemmOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    std::int64_t lda = 0;
    std::int64_t ldb = 0;
    std::int64_t ldc = 0;
    double alpha = 1;
    double beta = 0;  ///< 0: C is not read
    std::optional<std::int64_t> batch_stride_a, batch_stride_b, batch_stride_c;
};

/// A kernel that is ready to run on one problem. A small handle: copy it, keep it, use it from any thread; it outlives
/// its Runtime.
class Kernel {
public:
    [[nodiscard]] const Choice& choice() const;
    [[nodiscard]] const Problem& problem() const;

    /// Enqueues the kernel on `stream` (null: the default stream) of the runtime's GPU, which must be current: no lock,
    /// no allocation. On the host device it runs at once, one launch at a time.
    /// A kernel with a workspace has one for each stream: a launch takes a lock, and the first on each stream but one
    /// allocates, also while the stream is captured. So a graph must not run beside launches on the stream it was
    /// captured on, nor beside other graphs from there, nor outlive the kernel; and a stream must be idle when it is
    /// destroyed.
    /// Throws std::invalid_argument when the kernel is neither gemm nor batched_gemm or a stride makes no sense,
    /// std::runtime_error when the device refuses.
    void launch(CUstream_st* stream, const GemmOperands& operands) const;

    /// For any operation: `arguments[i]` points to the value of the kernel's i-th argument, in the order and of the
    /// types that argument_names() and the operation's manifest give. The kernel's own run-time parameters are added.
    void launch(CUstream_st* stream, std::span<void* const> arguments) const;
    [[nodiscard]] std::vector<std::string> argument_names() const;
    /// Device memory that the kernel works in beside its operands, in bytes; 0 for most. It is held for each stream
    /// that the kernel was launched on, as long as the kernel or its Runtime is.
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
        std::filesystem::path database;  ///< need not exist: then everything is untuned
        std::string device = "auto";     ///< "0", "1", ... for a GPU, "host", or "auto": the first GPU, else the host
        std::vector<std::filesystem::path>
            template_folders;               ///< of the application's own kernels; each replaces what has its name
        std::string host_compiler = "c++";  ///< for the host device
    };

    /// Throws std::runtime_error when the device is absent or the database cannot be read.
    explicit Runtime(const Options& options);
    ~Runtime();
    Runtime(Runtime&&) noexcept;
    Runtime& operator=(Runtime&&) noexcept;

    /// Chooses for this problem, loads machine code from the database or else compiles it, and remembers the result for
    /// the next call with the same problem. Any thread; takes a lock. With `kernel_template`, only that one is
    /// considered. Throws FetchError, std::invalid_argument when the problem makes no sense.
    [[nodiscard]] Kernel fetch(const Problem& problem, std::string_view kernel_template = {});

private:
    friend class RuntimeInspector;  // smemtune's own tools
    struct State;
    explicit Runtime(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
