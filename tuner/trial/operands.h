// The operands that candidates are launched on: matrices between guard bands, how they are filled, what they take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

constexpr std::int64_t block_threads = 256;  ///< of the testbed's own kernels

/// The matrices of one argument: `count` of them in memory, `batch_stride` elements apart.
struct Matrix {
    const Argument* argument = nullptr;
    long long rows = 0, columns = 0, stride = 0, count = 0, batch_stride = 0;
    bool broadcast = false;  ///< there is one for the whole batch, and kernels get 0 as its batch stride
    std::unique_ptr<Memory> memory;
    std::uint64_t seed = 0;
    long long guard = 0;  ///< elements in the band before it, and in that behind it

    [[nodiscard]] long long elements() const { return 2 * guard + count * batch_stride; }
};

/// One set of operands for one check. Values live here: a launch takes their addresses.
struct Operands {
    std::vector<Matrix> matrices;  ///< in the order of the operation's arguments
    std::vector<int> extents;
    std::vector<long long> strides;
    std::vector<float> scalars;
    std::vector<void*> addresses;
    std::vector<void*> pointers;  ///< what a launch takes: one for each argument
};

/// Operands and references of every check, in bytes.
double check_bytes(const Operation& operation, const Environment& environment, long long element_bytes);

/// How many sets of operands rotate: together more than twice the L2 cache, if that takes not too many.
int rotating_sets(const Operation& operation, const Environment& environment, long long element_bytes,
                  const Device& device);

/// What a testbed of the problem allocates, in bytes: operands and references of every check, rotating operands.
double testbed_bytes(const Operation& operation, const Problem& problem, const Device& device);

/// Throws std::invalid_argument when the device's memory cannot hold even what a testbed cannot do without: operands
/// and references of one check at a time, and operands to time on.
void must_fit(const Operation& operation, const Problem& problem, const Device& device);

/// Makes the operands of one problem and fills them, on the device. What it is given must outlive it.
class OperandFactory {
public:
    /// `fill` is kernels/fill.cu. Compiled to be checked, like the candidates, it gives matrices without bands around
    /// them: then every access outside is found where it happens.
    OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                   long long element_bytes, const Binary& fill);

    /// Throws OutOfMemory.
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t operand_seed);
    void refill_outputs(const Operands& operands, const Check& check);
    /// What is wrong with the first input that is no longer as it was filled. `report` has room for a long long of
    /// every thread.
    std::optional<std::string> changed_input(const Operands& operands, const Check& check, Memory& report);

    /// Of a launch that goes over a matrix.
    [[nodiscard]] std::int64_t threads() const { return threads_; }

private:
    void fill(const Matrix& matrix, const Check& check, Memory* changed = nullptr);

    Backend& backend_;
    const Operation& operation_;
    const Environment& environment_;
    long long element_bytes_;
    std::int64_t terms_;
    std::int64_t threads_;
    long long guard_;
    std::unique_ptr<LoadedKernel> kernel_;
};

}  // namespace smemtune
