// The operands of candidates: matrices between guard bands, their values, and their size in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

constexpr std::int64_t block_threads = 256;  ///< block size of the testbed's own kernels
/// Threads for a launch that visits all elements of a matrix: a multiple of `block_threads`.
std::int64_t matrix_threads(const Device& device);

/// The matrices of one argument: `count` matrices, `batch_stride` elements apart.
struct MatrixOperand {
    const Argument* argument = nullptr;
    long long rows = 0, columns = 0, stride = 0, count = 0, batch_stride = 0;
    bool broadcast = false;  ///< one matrix for the whole batch: its batch stride is 0
    std::unique_ptr<Memory> memory;
    std::uint64_t seed = 0;
    long long guard = 0;  ///< elements in each guard band, before and after it

    [[nodiscard]] long long elements() const { return 2 * guard + count * batch_stride; }
};

/// Integers in -magnitude..magnitude for one matrix of a check, small enough that an Element of 24 bits holds every
/// partial sum of `terms` products, times a scalar. A sum of n products of at most m exceeds 8 m sqrt(n) with
/// probability 2 exp(-32) at most (Hoeffding, Probability inequalities for sums of bounded random variables, 1963).
int integer_magnitude(std::int64_t terms, const Check& check, const Argument& matrix);

/// One set of operands for one check. It owns the values, because a launch takes their addresses.
struct Operands {
    std::vector<MatrixOperand> matrices;  ///< in the order of the operation's arguments
    std::vector<int> extents;
    std::vector<long long> strides;
    std::vector<float> scalars;
    std::vector<void*> addresses;
    std::vector<void*> pointers;  ///< arguments of a launch: one address for each
};

/// Bytes of the operands and references of all checks.
double check_bytes(const Operation& operation, const Environment& environment, long long element_bytes);

/// The number of operand sets that rotate: together they exceed twice the L2 cache, unless that takes too many sets.
int rotating_sets(const Operation& operation, const Environment& environment, long long element_bytes,
                  const Device& device);

/// The bytes that a testbed allocates for the problem: operands and references of all checks, and rotating operands.
double testbed_bytes(const Operation& operation, const Problem& problem, const Device& device);

/// Throws std::invalid_argument if the device's memory is too small for a testbed. A testbed needs at least the
/// operands and references of one check, and the rotating operands.
void must_fit(const Operation& operation, const Problem& problem, const Device& device);

/// Allocates and fills the operands of one problem on the device. All arguments must outlive it.
class OperandFactory {
public:
    /// `fill` is kernels/fill.cu. If it is a checked binary, the candidates are, too. Matrices then have no guard
    /// bands, because checked kernels report each access out of bounds where it happens.
    OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                   long long element_bytes, const Binary& fill);

    /// Throws OutOfMemory.
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t operand_seed);
    void refill_outputs(const Operands& operands, const Check& check);
    /// Names the first input that has changed since it was filled; nothing if none has.
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
    std::unique_ptr<Memory> first_changed_;  // each thread's report
};

}  // namespace smemtune
