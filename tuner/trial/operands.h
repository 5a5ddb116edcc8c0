// The operands that candidates are launched on: matrices between guard bands, how they are filled, and their size.
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
/// Threads of a launch that goes over all elements of a matrix: a multiple of `block_threads`.
std::int64_t matrix_threads(const Device& device);

/// The matrices of one argument: `count` of them in memory, `batch_stride` elements apart.
struct MatrixOperand {
    const Argument* argument = nullptr;
    long long rows = 0, columns = 0, stride = 0, count = 0, batch_stride = 0;
    bool broadcast = false;  ///< one matrix for the whole batch: kernels get 0 as its batch stride
    std::unique_ptr<Memory> memory;
    std::uint64_t seed = 0;
    long long guard = 0;  ///< elements in the guard band before it, and in the one behind it

    [[nodiscard]] long long elements() const { return 2 * guard + count * batch_stride; }
};

/// One set of operands for one check. Values live here: a launch takes their addresses.
struct Operands {
    std::vector<MatrixOperand> matrices;  ///< in the order of the operation's arguments
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

/// The bytes that a testbed of the problem allocates: operands and references of every check, rotating operands.
double testbed_bytes(const Operation& operation, const Problem& problem, const Device& device);

/// Throws std::invalid_argument when the device's memory cannot hold the least that a testbed needs: operands and
/// references of one check at a time, and rotating operands.
void must_fit(const Operation& operation, const Problem& problem, const Device& device);

/// Makes the operands of one problem and fills them, on the device. What it is given must outlive it.
class OperandFactory {
public:
    /// `fill` is kernels/fill.cu. When it is a checked binary, like the candidates, matrices have no guard bands: then
    /// every access outside is found where it happens.
    OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                   long long element_bytes, const Binary& fill);

    /// Throws OutOfMemory.
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t operand_seed);
    void refill_outputs(const Operands& operands, const Check& check);
    /// Names the first input that is no longer as it was filled; nothing when all are.
    std::optional<std::string> changed_input(const Operands& operands, const Check& check);

private:
    void fill(const MatrixOperand& matrix, const Check& check, Memory* changed = nullptr);

    Backend& backend_;
    const Operation& operation_;
    const Environment& environment_;
    long long element_bytes_;
    std::int64_t terms_;
    std::int64_t threads_;
    long long guard_;
    std::unique_ptr<LoadedKernel> kernel_;
    std::unique_ptr<Memory> first_changed_;  // what each thread reports
};

}  // namespace smemtune
