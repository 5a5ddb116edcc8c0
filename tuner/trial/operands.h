// The operands of candidates: matrices between guard bands, their values, and their size in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

constexpr std::int64_t block_threads = 256;  ///< block size of the testbed's own kernels
/// Blocks for a launch that visits all elements of a matrix.
std::int64_t matrix_blocks(const Device& device);

class UserProgram;

/// The matrices of one argument: `count` matrices, `batch_stride` elements apart. All sizes count single numbers, also
/// those of vectors.
struct MatrixOperand {
    const Argument* argument = nullptr;
    ArgumentType type;
    long long rows = 0, columns = 0, stride = 0, count = 0, batch_stride = 0;
    bool broadcast = false;  ///< one matrix for the whole batch: its batch stride is 0
    std::unique_ptr<Memory> memory;
    std::uint64_t seed = 0;
    long long guard = 0;                   ///< elements in each guard band, before and after it
    std::unique_ptr<Memory> prepared{};    ///< dense numbers that Operation::prepare_path has computed; else null
    const ElementType* element = nullptr;  ///< the problem's

    [[nodiscard]] long long elements() const { return 2 * guard + count * batch_stride; }
    [[nodiscard]] long long bytes() const { return elements() * type.number->bytes; }
    /// Whether its elements are sums of a wider type: the problem's type is narrow, and the argument declares no other.
    [[nodiscard]] bool is_narrow() const { return !argument->type && element != nullptr && element->is_narrow(); }
};

/// Whether the typed testbed verifies the operation's kernels for elements of this type. The other one knows f32 alone.
bool is_typed(const Operation& operation, const ElementType& element);

/// Integers in -magnitude..magnitude for one matrix of a check, small enough that an Element of 24 bits holds every
/// partial sum of `terms` products, times a scalar. A sum of n products of at most m exceeds 8 m sqrt(n) with
/// probability 2 exp(-32) at most (Hoeffding, Probability inequalities for sums of bounded random variables, 1963).
int integer_magnitude(std::int64_t terms, const Check& check, const Argument& matrix);

/// One set of operands for one check. It owns the values, because a launch takes their addresses.
struct Operands {
    std::vector<MatrixOperand> matrices;  ///< in the order of the operation's arguments
    struct alignas(8) Number {
        std::array<std::byte, 8> bytes{};
    };
    std::vector<Number> numbers;  ///< extents, strides and scalars, each in its type
    std::vector<int> parameters;  ///< the values of Operation::parameters
    std::vector<void*> addresses;
    std::vector<void*> pointers;  ///< arguments of a launch: one address for each
};

/// The number of elements of an array, in floating point, so that absurd sizes do not overflow.
double elements_of(const Argument& argument, const Environment& environment);

/// Whether the kernel may read an output's content in this check, so that each launch needs it anew.
bool reads_outputs(const Operation& operation, const Check& check);

/// Bytes of the operands and references of all checks.
double check_bytes(const Operation& operation, const Environment& environment, long long element_bytes);

/// The number of operand sets that rotate: together they exceed twice the L2 cache, unless that takes too many sets.
int rotating_sets(const Operation& operation, const Environment& environment, long long element_bytes,
                  const Device& device);

/// The bytes that a testbed allocates for the problem: operands and references of all checks, and rotating operands.
double testbed_bytes(const Operation& operation, const Problem& problem, const Device& device);

/// Throws std::invalid_argument if the device's memory is too small for a testbed, or if an argument's values do not
/// fit its type at this size. A testbed needs at least the operands and references of one check, and the rotating
/// operands.
void must_fit(const Operation& operation, const Problem& problem, const Device& device);

/// Allocates and fills the operands of one problem on the device. All arguments must outlive it.
class OperandFactory {
public:
    /// `fill` is kernels/fill.cu, or typed/kernels/fill.cu for a typed operation. If it is a checked binary, the
    /// candidates are, too. Matrices then have no guard bands, because checked kernels report each access out of bounds
    /// where it happens. `prepare`: of prepare_program(), for an operation that has it.
    OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                   const ElementType& element, const Binary& fill, const Binary& prepare = {});
    ~OperandFactory();
    OperandFactory(const OperandFactory&) = delete;
    OperandFactory& operator=(const OperandFactory&) = delete;

    /// `symbol_seed`: of the arguments that kernels find in symbols, of which there is one copy for all sets of
    /// operands. Throws OutOfMemory, ReferenceError.
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t operand_seed, std::uint64_t symbol_seed);
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t seed) { return make(check, seed, seed); }
    void refill_outputs(const Operands& operands, const Check& check);
    /// The same for the arguments that are restored before each timed launch alone.
    void restore(const Operands& operands, const Check& check);
    /// Names the first input that has changed since it was filled; nothing if none has.
    std::optional<std::string> changed_input(const Operands& operands, const Check& check);

private:
    void fill(const MatrixOperand& matrix, const Check& check, Memory* changed = nullptr);
    void prepare(Operands& operands, const Check& check);
    [[nodiscard]] std::optional<std::string> first_changed(const Operands& operands, const Check& check, bool inouts);
    [[nodiscard]] MatrixOperand matrix_of(const Argument& argument, const Check& check) const;
    [[nodiscard]] double number_of(const Argument& argument, const Operands& operands, const Check& check) const;

    Backend& backend_;
    const Operation& operation_;
    const Environment& environment_;
    const ElementType& element_;
    std::int64_t terms_;
    std::int64_t blocks_;
    long long guard_;
    std::unique_ptr<LoadedKernel> kernel_;
    std::unique_ptr<UserProgram> prepare_;                        // null: all inputs are filled
    std::unique_ptr<Memory> first_changed_;                       // each thread's report
    std::map<const Argument*, std::unique_ptr<Memory>> sources_;  // the numbers of files
};

}  // namespace smemtune
