// A kernel as its manifest describes it, and the operation that it computes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "templates/arguments/argument_values.h"
#include "templates/reference/reference.h"
#include "templates/space/device.h"
#include "templates/space/expression.h"
#include "templates/space/parameter_space.h"
#include "templates/space/problem.h"

namespace smemtune {

/// The texts of files, by their paths relative to a templates folder, such as `gemm/tiled.cu`.
using SourceTree = std::map<std::string, std::string>;

/// A type of matrix elements, with the precision of its arithmetic.
struct ElementType {
    std::string_view name;         ///< name in manifests, such as "f32"
    std::string_view declaration;  ///< the C++ declaration of `Element` in configuration.h
    std::int64_t bytes;
    double unit_roundoff;     ///< u: a rounded element is the exact value times 1 + d, with |d| <= u
    std::string_view wide;    ///< the type of sums, of scalars, and of the elements in a reference
    double wide_roundoff;     ///< the unit roundoff of a sum
    std::string_view number;  ///< the type of the numbers in memory
    int input_bits;           ///< how many significand bits of an input a product uses
    int product_terms = 0;    ///< a product's own error in units of u * magnitude; added to Operation::terms

    /// Whether products use fewer significand bits of an input than the 24 bits of a sum.
    [[nodiscard]] bool is_narrow() const { return input_bits < 24; }
};
/// Returns the type with this name. For an unknown name, throws std::invalid_argument that lists the known names.
const ElementType& element_type(std::string_view name);

/// One argument of the kernel function.
struct Argument {
    // New kinds must come last, because hashes contain the numbers of the kinds.
    enum class Kind { extent, stride, scalar, input, output, batch_stride };
    std::string name;
    Kind kind = Kind::extent;
    Expression rows;  ///< number of rows of an input or output matrix, which is row-major
    Expression columns;
    std::string stride;                    ///< name of the argument with the matrix's leading dimension
    Expression count{"1"};                 ///< number of matrices that lie one after another in memory
    std::string batch_stride;              ///< name of the argument with the distance between the matrices' starts
    std::optional<ArgumentType> type;      ///< the declared type; type_of() gives the default
    std::vector<Expression> shape;         ///< the dimensions of an array with `shape`; they also give rows and columns
    bool is_read = false;                  ///< whether the kernel also reads this output (`inout`)
    bool is_restored = false;              ///< whether an inout gets its initial values again before each timed launch
    std::optional<ArgumentValues> values;  ///< how an array is filled before a launch
    std::optional<double> value;           ///< the value of a scalar, unless a check gives a different one
    std::optional<Tolerance> tolerance;    ///< the tolerance of an output
    std::string
        symbol;  ///< for an input: the name of the source's `__constant__` or `__device__` array that gets its values

    [[nodiscard]] bool is_matrix() const { return kind == Kind::input || kind == Kind::output; }
    [[nodiscard]] bool is_integer() const { return type && !type->number->is_floating; }
    /// Whether the reference also computes the magnitudes of this output, which the error bound needs.
    [[nodiscard]] bool has_magnitude() const { return !is_integer() && !(tolerance && tolerance->has_distance); }
};

/// Returns the declared type of an argument or of its elements. If no type is declared, returns the default: `int` for
/// an extent, `long long` for a stride, the problem's type (`element`) for a matrix, the wide type of `element` for a
/// scalar.
ArgumentType type_of(const Argument& argument, std::string_view element);

/// The size of a matrix argument in a problem.
struct Shape {
    std::int64_t rows = 0, columns = 0, count = 0;
};
Shape shape_of(const Argument& argument, const Environment& environment);

/// One verification of a trial: inputs, values of the scalars, alignment and padding of the matrices.
struct Check {
    bool integers = false;               ///< inputs are small integers, for exact results; otherwise in [-1, 1]
    bool special = false;                ///< inputs are in [-1, 1] with some zeros, and one infinity in each argument
    std::string wide;                    ///< name of the input with the largest integers; other inputs are -1..1
    bool poison = true;                  ///< outputs are NaN before a launch; if false, they are random numbers
    std::int64_t offset = 0;             ///< elements between an aligned address and the start of each matrix
    std::int64_t padding = 0;            ///< least number of elements between the rows of a matrix with a stride
    std::int64_t multiple = 1;           ///< strides are multiples of this number
    std::int64_t batch_padding = 0;      ///< number of elements between matrices with a batch stride
    std::vector<std::string> broadcast;  ///< inputs with batch stride 0: the whole batch uses the same matrix
    std::map<std::string, double> scalars;
    std::map<std::string, std::int64_t> extents;  ///< extents that the check uses instead of the problem's

    /// Returns the leading dimension of a matrix that has a stride argument.
    [[nodiscard]] std::int64_t stride_of(std::int64_t columns) const {
        return (columns + padding + multiple - 1) / multiple * multiple;
    }
};

/// An operation. Kernels of one operation share its arguments and can replace one another.
struct Operation {
    std::string name;
    std::string summary;
    std::vector<std::string> extents;
    std::map<std::string, Environment> layouts;  ///< the constants of each layout; empty if there are no layouts
    std::vector<Argument> arguments;
    std::vector<Check> checks;
    Expression operations;         ///< number of arithmetic operations of a problem, for FLOP/s
    Expression bytes;              ///< bytes to move if each input is read once and each output is written once
    Expression terms;              ///< number of rounded operations per output element; 0 if the result must be exact
    OperationReference reference;  ///< the reference with which outputs are compared
    std::string reference_path;    ///< source of the reference, if it is a kernel in FP64 or a host function
    /// Parameters of the kernel, with their default values. Shapes may use them, and the reference takes them in this
    /// order.
    std::vector<std::pair<std::string, std::int64_t>> parameters;
    std::string prepare_path;  ///< source of the kernel or C++ function `prepare`, which computes inputs; may be empty
    std::string path;          ///< path of the manifest that declares the operation
    std::string definition;    ///< text of arguments, terms and checks, without summaries; for hashes
    /// Whether the typed testbed (tuner/trial/typed) verifies kernels of the operation. This is the case, for
    /// example, if an argument has a type, values or a tolerance, or if the reference is not a kernel.
    bool typed = false;
};

/// The section [model] of a manifest: values for one block, except `l2_loads`. The values order candidates or predict
/// times. `explain` prints the first five. A manifest may leave out the last six.
struct Model {
    Expression phases;
    Expression loads_per_phase;
    Expression operations_per_phase;
    Expression barriers_per_phase;
    Expression shared_loads_per_phase;
    Expression dependent_loads_per_phase;
    Expression dependent_loads_per_block;  ///< loads of a thread outside the phases, each waiting for the previous one
    Expression stores_per_block;           ///< number of elements that a block stores
    Expression cluster_blocks;
    Expression l2_loads;  ///< number of elements that the L2 cache delivers to all blocks of the launch
};

/// A named expression (`[[derived]]`) that other expressions of the manifest may use.
struct Derived {
    std::string name;
    std::string value;  ///< the expression as the manifest writes it
    std::string summary;
    bool constant = false;  ///< whether configuration.h defines the name, like a parameter
    Expression expression;  ///< `value` with the names of other derived values replaced by their expressions
};

/// What a source needs from the compiler. Determined when the template is loaded.
struct SourceNeeds {
    bool configuration = false;   ///< whether the compiler adds configuration.h, because the source does not include it
    bool system_headers = false;  ///< whether the source includes headers of the toolkit or the system
};

/// A `[[tensor_map]]` of a manifest. With it, Hopper's copy engine can copy tiles of a matrix argument. The kernel
/// takes it by value, as a CUtensorMap.
struct TensorMap {
    std::string name;
    std::size_t matrix = 0;  ///< index of the matrix among the operation's arguments
    Expression box_rows;     ///< number of rows of a tile
    Expression box_columns;
    bool swizzle = false;               ///< whether rows of 32, 64 or 128 bytes are swizzled in shared memory
    std::optional<Expression> copy_at;  ///< see TensorMapArgument::copy_at; negative: the kernel makes no copy
    /// Rows and columns of the copy if the kernel always copies the matrix (TensorMapArgument::is_copy). 0 rows mean
    /// that the kernel copies the matrix only if its alignment requires this.
    std::optional<std::array<Expression, 2>> copy_shape;
};
/// The largest number of tensor maps of a kernel.
constexpr std::size_t most_tensor_maps = 4;

struct KernelTemplate {
    std::string name;   ///< also the name of the kernel's entry point, if `entry` is empty
    std::string entry;  ///< a C++ expression for the entry point, such as `kernel<float, TILE>`; may be empty
    std::string summary;
    Operation operation;
    std::vector<std::string> types;
    std::vector<std::string> layouts;
    std::vector<Parameter> parameters;
    /// The derived values, for display and for configuration.h. In all other expressions, their names are already
    /// replaced by their expressions.
    std::vector<Derived> derived;
    std::vector<Constraint> constraints;
    std::array<Expression, 3> block;
    std::array<Expression, 3> grid;
    Expression static_shared_bytes;
    Expression dynamic_shared_bytes;
    std::vector<TensorMap> tensor_maps;         ///< the kernel's arguments after the run-time parameters
    std::optional<Expression> workspace_bytes;  ///< size of the workspace; its address is the kernel's last argument
    std::optional<Expression> registers;        ///< an estimate of the registers per thread
    std::int64_t compute_capability = 0;        ///< the lowest compute capability on which the kernel runs
    std::optional<std::int64_t> highest_compute_capability;
    bool host = false;      ///< whether the kernel can run on the host device
    bool baseline = false;  ///< whether this is the baseline of its operation
    std::optional<Model> model;
    std::string path;                          ///< path of the manifest
    std::string source_path;                   ///< path of the .cu file
    std::vector<std::string> options;          ///< the compiler options that the manifest gives
    std::vector<std::string> include_folders;  ///< folders in which to search for headers, in this order
    std::set<std::string> macros;              ///< the names that configuration.h defines as macros
    SourceNeeds source_needs, reference_needs, prepare_needs;
    SourceTree files;  ///< all files of the template, with shared headers
    /// Hash of everything that decides machine code and launch. It covers neither summaries nor the parameters with
    /// their values. (If several parameters are run-time parameters, it covers their names.) Therefore a new parameter
    /// leaves the hash as it is. Configurations that were stored without the new parameter then get its default value.
    std::string hash;
    /// Configurations that are fast at some problems, according to the manifest. Searches try them first.
    std::vector<Configuration> starts;
    /// The hashes of earlier versions that have the same machine code and launch, according to the manifest. Stored
    /// trials of these versions are used as trials of this version.
    std::vector<std::string> same_code_as;

    /// Whether `other` is the hash of this version, or is in `same_code_as`.
    [[nodiscard]] bool is_same_code(const std::string& other) const;
    /// Returns the hash of this version, followed by `same_code_as`.
    [[nodiscard]] std::vector<std::string> same_code_hashes() const;
    /// Returns the name of the entry point's function, such as `kernel`, without namespaces and template arguments.
    [[nodiscard]] std::string entry_name() const;
};

/// Whether the template supports the problem's operation, type and layout, and the device.
bool supports(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);
/// Returns the requirement that is not met, such as "layouts: nn"; nothing if supports() is true.
std::optional<std::string> why_unsupported(const KernelTemplate& kernel_template, const Problem& problem,
                                           const Device& device);

/// Returns the values that expressions may use: extents, layout constants, `element_bytes`, `device.*`, and the default
/// values of Operation::parameters. Throws std::invalid_argument if the problem's extents, layout or type do not fit
/// the operation.
Environment environment_of(const Operation& operation, const Problem& problem, const Device& device);

/// Returns the configuration in which each parameter has its default value.
Configuration default_configuration(const KernelTemplate& kernel_template);

/// Returns the part of a configuration that decides the machine code: the parameters that are compiled in.
Configuration compiled_part(const KernelTemplate& kernel_template, const Configuration& configuration);

/// The largest number of arguments of a kernel, with run-time parameters, tensor maps and the workspace.
constexpr std::size_t most_arguments = 64;

/// Returns the entry point in C++ with the values of the parameters, such as `kernel<float, 16>`.
std::string entry_of(const KernelTemplate& kernel_template, const Configuration& configuration);

/// Returns the text of `configuration.h`. It declares `Element`, and defines compile-time parameters, layout constants
/// and constant derived values as `constexpr int` (`long long` if a derived value needs it). The names in
/// KernelTemplate::macros are defined by `#define` instead. Throws ExpressionError if a derived value has no value.
std::string render(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem);

}  // namespace smemtune
