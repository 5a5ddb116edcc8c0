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

constexpr std::int64_t block_threads = 256;  ///< threads per block of the testbed's own kernels
/// The number of blocks in a launch that visits all elements of a matrix.
std::int64_t matrix_blocks(const Device& device);

/// What an output holds before a launch if the kernel does not read it (Check::poison).
enum class OutputContent {
    nans,      ///< NaNs; random integers if the type is an integer
    large,     ///< large positive numbers
    negative,  ///< large negative numbers; 0 if the type is an unsigned integer. If the operation is not typed, the
               ///< signs of the numbers are random, and at least one number is negative
};

/// Whether a complete verification also launches the kernel on outputs with large and negative numbers. These launches
/// find kernels that read an output but ignore NaNs, such as `out[i] = fmaxf(out[i], x)`. They are not needed if a
/// check with `poison = false` fills outputs with numbers, and not possible without a reference.
bool fills_outputs_again(const Operation& operation);

class UserProgram;

/// The matrices of one argument: `count` matrices, which start `batch_stride` numbers apart. The unit of `columns`, the
/// strides and `guard` is a number, not an element: a vector of four numbers is four units.
struct MatrixOperand {
    const Argument* argument = nullptr;
    ArgumentType type;
    long long rows = 0, columns = 0, stride = 0, count = 0, batch_stride = 0;
    bool broadcast = false;  ///< whether the whole batch uses one matrix; the kernel then gets 0 as the batch stride
    std::unique_ptr<Memory> memory;
    std::uint64_t seed = 0;
    long long guard = 0;  ///< the length of each of the two guard bands
    /// The values that the operation's `prepare` computed, without padding; null if `prepare` computes none for this
    /// argument.
    std::unique_ptr<Memory> prepared{};
    const ElementType* element = nullptr;  ///< the element type of the problem

    [[nodiscard]] long long elements() const { return 2 * guard + count * batch_stride; }
    [[nodiscard]] long long bytes() const { return elements() * type.number->bytes; }
    /// Whether the elements have a narrow type, whose products are summed in a wider type. True if the problem's type
    /// is narrow and the argument declares no type of its own.
    [[nodiscard]] bool is_narrow() const { return !argument->type && element != nullptr && element->is_narrow(); }
};

/// Whether the code in typed/ verifies kernels of the operation for elements of this type. The code outside typed/
/// verifies only FP32 elements whose products use all 24 significand bits.
bool is_typed(const Operation& operation, const ElementType& element);

/// The largest magnitude of the integers that fill one matrix of a check. It is so small that FP32, with a
/// significand of 24 bits, represents every partial sum of `terms` products exactly, even multiplied by the largest
/// scalar. If Check::wide names a matrix, that matrix gets larger integers, and all other inputs are -1, 0 or 1. The
/// bound of the sums is then probabilistic: a sum of n products of at most m exceeds 8 m sqrt(n) with probability 2
/// exp(-32) at most (Hoeffding, Probability inequalities for sums of bounded random variables, 1963).
int integer_magnitude(std::int64_t terms, const Check& check, const Argument& matrix);

/// One set of operands for one check. The set owns the values of all arguments, because a launch takes their addresses.
struct Operands {
    std::vector<MatrixOperand> matrices;  ///< the matrices, in the order of the operation's arguments
    struct alignas(8) Number {
        std::array<std::byte, 8> bytes{};
    };
    std::vector<Number> numbers;  ///< extents, strides and scalars, each in its type
    std::vector<int> parameters;  ///< the values of Operation::parameters
    std::vector<void*> addresses;
    std::vector<void*> pointers;  ///< the address of each argument, for a launch
};

/// The number of elements of an array, as a double, because a huge size would overflow an integer.
double elements_of(const Argument& argument, const Environment& environment);

/// Whether the kernel may read an output's content in this check. If so, the content must be restored before each
/// launch.
bool reads_outputs(const Operation& operation, const Check& check);

/// Returns the size of the operands and references of all checks in bytes.
double check_bytes(const Operation& operation, const Environment& environment, long long element_bytes);

/// The number of operand sets that launches use in rotation. All sets together are at least twice as large as the L2
/// cache, unless this would take more than 64 sets.
int rotating_sets(const Operation& operation, const Environment& environment, long long element_bytes,
                  const Device& device);

/// Returns how many bytes a testbed allocates for the problem: for operands and references of all checks, for rotating
/// operands, and for FP32 copies of narrow operands.
double testbed_bytes(const Operation& operation, const Problem& problem, const Device& device);

/// Throws std::invalid_argument if the device's memory is too small for a testbed, or if an argument's values do not
/// fit its type at this size. A testbed needs at least the operands and references of one check, the rotating
/// operands, and the FP32 copies of narrow operands.
void must_fit(const Operation& operation, const Problem& problem, const Device& device);

/// Allocates and fills the operands of one problem on the device. All arguments of the constructor must outlive the
/// factory.
class OperandFactory {
public:
    /// `fill` is the binary of kernels/fill.cu, or of typed/kernels/fill.cu for a typed operation. If the operation has
    /// a prepare_program(), `prepare` is its binary. If `fill` is a checked binary, matrices have no guard bands,
    /// because kernels in checked mode report each access out of bounds themselves.
    OperandFactory(Backend& backend, const Operation& operation, const Environment& environment,
                   const ElementType& element, const Binary& fill, const Binary& prepare = {});
    ~OperandFactory();
    OperandFactory(const OperandFactory&) = delete;
    OperandFactory& operator=(const OperandFactory&) = delete;

    /// `symbol_seed` is the seed of arguments that kernels read from a symbol (a `__constant__` or `__device__`
    /// array). All sets of operands have the same values for these arguments, because a symbol can hold only one
    /// array at a time. Throws OutOfMemory, ReferenceError.
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t operand_seed, std::uint64_t symbol_seed);
    std::unique_ptr<Operands> make(const Check& check, std::uint64_t seed) { return make(check, seed, seed); }
    void refill_outputs(const Operands& operands, const Check& check, OutputContent content = OutputContent::nans);
    /// Fills only the arguments that the manifest wants restored before each timed launch.
    void restore(const Operands& operands, const Check& check);
    /// Describes the first input that has changed since it was filled. Returns nothing if no input has changed.
    std::optional<std::string> changed_input(const Operands& operands, const Check& check);

private:
    void fill(const MatrixOperand& matrix, const Check& check, OutputContent content = OutputContent::nans,
              Memory* changed = nullptr);
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
    std::unique_ptr<UserProgram> prepare_;  // null if no program computes inputs
    // Each block's report: the index of its first changed element, or -1.
    std::unique_ptr<Memory> first_changed_;
    std::map<const Argument*, std::unique_ptr<Memory>>
        sources_;  // the contents of data files, in device memory, by argument
};

}  // namespace smemtune
