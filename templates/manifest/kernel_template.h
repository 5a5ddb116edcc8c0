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

/// Files by path relative to a templates folder: `gemm/tiled.cu`.
using SourceTree = std::map<std::string, std::string>;

/// A type of elements.
struct ElementType {
    std::string_view name;         ///< "f32"
    std::string_view declaration;  ///< of `Element`, in configuration.h
    std::int64_t bytes;
    double unit_roundoff;     ///< u: a rounded element is exact within a factor 1 + d, |d| <= u
    std::string_view wide;    ///< the type of sums, of scalars and of the elements that a reference sees
    double wide_roundoff;     ///< the u of a rounded sum
    std::string_view number;  ///< the type of the numbers in memory
    int input_bits;           ///< bits of the significand that products take from an input
    int product_terms = 0;    ///< the error of a product, in units of u times its magnitude; 0: one rounding at most,
                              ///< which Operation::terms counts

    /// Whether inputs are narrower than the sums of their products, which have 24 bits.
    [[nodiscard]] bool is_narrow() const { return input_bits < 24; }
};
/// Throws std::invalid_argument, which lists the known names.
const ElementType& element_type(std::string_view name);

/// One argument of the kernel function.
struct Argument {
    enum class Kind { extent, stride, scalar, input, output, batch_stride };  // hashes contain the numbers: append only
    std::string name;
    Kind kind = Kind::extent;
    Expression rows;  ///< of an input or output matrix, row-major
    Expression columns;
    std::string stride;                    ///< name of the argument that holds its leading dimension
    Expression count{"1"};                 ///< matrices in memory, one after another
    std::string batch_stride;              ///< name of the argument that holds the distance between their starts
    std::optional<ArgumentType> type;      ///< as declared; type_of() has the defaults
    std::vector<Expression> shape;         ///< of an array that is declared by its shape; rows and columns are set, too
    bool is_read = false;                  ///< an output that the kernel reads, too (`inout`)
    bool is_restored = false;              ///< an inout that holds its values again before each timed launch
    std::optional<ArgumentValues> values;  ///< of an array that is filled before a launch
    std::optional<double> value;           ///< of a scalar, unless a check gives another
    std::optional<Tolerance> tolerance;    ///< of an output
    std::string
        symbol;  ///< of an input: the `__constant__` or `__device__` array that holds it, in place of a parameter

    [[nodiscard]] bool is_matrix() const { return kind == Kind::input || kind == Kind::output; }
    [[nodiscard]] bool is_integer() const { return type && !type->number->is_floating; }
    /// Whether the reference of an output also has magnitudes, for the error bound.
    [[nodiscard]] bool has_magnitude() const { return !is_integer() && !(tolerance && tolerance->has_distance); }
};

/// The type of an argument, or of its elements: `int` for extents, `long long` for strides, the problem's type
/// (`element`) for matrices and its wide type for scalars, unless it is declared.
ArgumentType type_of(const Argument& argument, std::string_view element);

/// The size of a matrix argument in a problem.
struct Shape {
    std::int64_t rows = 0, columns = 0, count = 0;
};
Shape shape_of(const Argument& argument, const Environment& environment);

/// One verification of a trial: inputs, values of the scalars, layout of the matrices.
struct Check {
    bool integers = false;               ///< small integers, for exact answers; otherwise uniform in [-1, 1]
    bool special = false;                ///< uniform with zeros, and one infinity in each matrix
    std::string wide;                    ///< the input with the largest integers; those of the other inputs are -1..1
    bool poison = true;                  ///< outputs start as NaN; else as random values that the kernel may read
    std::int64_t offset = 0;             ///< elements between an aligned address and each matrix
    std::int64_t padding = 0;            ///< least number of elements between the rows of a matrix with a stride
    std::int64_t multiple = 1;           ///< strides are multiples of this
    std::int64_t batch_padding = 0;      ///< elements between matrices with a batch stride
    std::vector<std::string> broadcast;  ///< inputs that are one matrix for the whole batch: their batch stride is 0
    std::map<std::string, double> scalars;
    std::map<std::string, std::int64_t> extents;  ///< extents that the check uses instead of the problem's

    /// The leading dimension of a matrix with a stride argument.
    [[nodiscard]] std::int64_t stride_of(std::int64_t columns) const {
        return (columns + padding + multiple - 1) / multiple * multiple;
    }
};

/// An operation. Kernels of one operation share its arguments and can replace one another.
struct Operation {
    std::string name;
    std::string summary;
    std::vector<std::string> extents;
    std::map<std::string, Environment> layouts;  ///< the constants of each layout; empty if there are none
    std::vector<Argument> arguments;
    std::vector<Check> checks;
    Expression operations;         ///< arithmetic operations of a problem, for FLOP/s
    Expression bytes;              ///< least bytes to move: every input is read and every output written once
    Expression terms;              ///< rounded operations per output element; 0 if the result must be exact
    OperationReference reference;  ///< what the outputs are compared with
    std::string reference_path;    ///< the source of a reference that has one: a kernel in FP64, or a host function
    /// Parameters of its kernel that shapes may name and the reference is given, with their defaults. In the order of
    /// the reference's parameters.
    std::vector<std::pair<std::string, std::int64_t>> parameters;
    std::string prepare_path;  ///< the kernel or C++ function `prepare`, which computes inputs; may be empty
    std::string path;          ///< of the manifest that declares it
    std::string definition;    ///< text of arguments, terms and checks, without summaries; for hashes
    bool typed = false;  ///< an argument declares a type, values or a tolerance, or the reference is no kernel: the
                         ///< typed testbed verifies it
};

/// Values per block, to order candidates and for `explain`. The manifest may leave out any of them.
struct Model {
    Expression phases;
    Expression loads_per_phase;
    Expression operations_per_phase;
    Expression barriers_per_phase;
    Expression shared_loads_per_phase;
    Expression dependent_loads_per_phase;
    Expression cluster_blocks;
};

/// A named expression (`[[derived]]`) that the manifest's rules share.
struct Derived {
    std::string name;
    std::string value;  ///< as written
    std::string summary;
    bool constant = false;  ///< part of `configuration.h`, like a parameter
    Expression expression;  ///< the value as an expression over parameters, layout constants and so on
};

/// What a source needs of smemtune before its first line. Decided when the template is loaded.
struct SourceNeeds {
    bool configuration = false;   ///< it does not include configuration.h: the compiler includes it ahead of the source
    bool system_headers = false;  ///< it includes headers of the toolkit or the system
};

/// A matrix argument in tiles (`[[tensor_map]]`): a CUtensorMap, which the kernel takes by value for Hopper's copy
/// engine.
struct TensorMap {
    std::string name;
    std::size_t matrix = 0;  ///< index of the matrix among the operation's arguments
    Expression box_rows;     ///< of a tile
    Expression box_columns;
    bool swizzle = false;               ///< 16 bytes of a row, of 32, 64 or 128 bytes, change places in shared memory
    std::optional<Expression> copy_at;  ///< TensorMapArgument::copy_at; negative: the kernel makes no copy
    std::optional<std::array<Expression, 2>> copy_shape;  ///< TensorMapArgument::is_copy; 0 rows: that of the matrix
};
/// The most tensor maps of a kernel.
constexpr std::size_t most_tensor_maps = 4;

struct KernelTemplate {
    std::string name;   ///< also the name of its entry point, unless `entry` gives another
    std::string entry;  ///< a C++ expression for the entry point, such as `kernel<float, TILE>`; empty: `name`
    std::string summary;
    Operation operation;
    std::vector<std::string> types;
    std::vector<std::string> layouts;
    std::vector<Parameter> parameters;
    std::vector<Derived> derived;  ///< for display, and for the constants: expressions already contain the values
    std::vector<Constraint> constraints;
    std::array<Expression, 3> block;
    std::array<Expression, 3> grid;
    Expression static_shared_bytes;
    Expression dynamic_shared_bytes;
    std::vector<TensorMap> tensor_maps;         ///< arguments after the run-time parameters
    std::optional<Expression> workspace_bytes;  ///< workspace of a launch; the kernel's last argument is its address
    std::optional<Expression> registers;        ///< per thread, an estimate
    std::int64_t compute_capability = 0;        ///< the lowest one that it runs on
    std::optional<std::int64_t> highest_compute_capability;
    bool host = false;      ///< can run on the host device
    bool baseline = false;  ///< the other templates of its operation are compared with it
    std::optional<Model> model;
    std::string path;                          ///< of its manifest
    std::string source_path;                   ///< of its .cu file
    std::vector<std::string> options;          ///< for the compiler, as written
    std::vector<std::string> include_folders;  ///< paths in the templates folder, in the order in which they are tried
    std::set<std::string> macros;              ///< the names that configuration.h defines as macros
    SourceNeeds source_needs, reference_needs, prepare_needs;
    SourceTree files;  ///< all its files, shared headers included
    /// Hash of everything that decides machine code and launch. Summaries, parameters and their values are not part of
    /// it. A parameter may be added under the same hash: configurations stored before then have its default value.
    std::string hash;
    /// Hashes of the earlier versions that have the same machine code and launch according to the manifest. Trials
    /// stored under them count as this version's.
    std::vector<std::string> same_code_as;

    /// Whether `other` is the hash of this version or of one with the same machine code.
    [[nodiscard]] bool is_same_code(const std::string& other) const;
    /// All such hashes, this version's first.
    [[nodiscard]] std::vector<std::string> same_code_hashes() const;
    /// The entry point's name as machine code has it, up to C++'s mangling: `kernel`.
    [[nodiscard]] std::string entry_name() const;
};

/// Whether the template can compute a problem on a device at all, in any configuration.
bool supports(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);
/// The unmet requirement, such as "layouts: nn"; nothing if the template supports the problem.
std::optional<std::string> why_unsupported(const KernelTemplate& kernel_template, const Problem& problem,
                                           const Device& device);

/// The values that expressions may name: extents, layout constants, `element_bytes`, `device.*`, and the defaults of
/// Operation::parameters. Throws
/// std::invalid_argument if the problem does not fit the operation (extents, layout, type).
Environment environment_of(const Operation& operation, const Problem& problem, const Device& device);

/// The default configuration: each parameter has its default value.
Configuration default_configuration(const KernelTemplate& kernel_template);

/// The part of a configuration that decides the program: all parameters but the run-time ones.
Configuration compiled_part(const KernelTemplate& kernel_template, const Configuration& configuration);

/// The largest number of arguments of a kernel: the operation's, run-time parameters, tensor maps and the workspace.
constexpr std::size_t most_arguments = 64;

/// The entry point in C++, parameters replaced by their values: `kernel<float, 16>`.
std::string entry_of(const KernelTemplate& kernel_template, const Configuration& configuration);

/// The text of `configuration.h`: the compiled parameters, layout constants and constant derived values as `constexpr
/// int` (`long long` where a derived value needs it), and `Element`. Names in
/// KernelTemplate::macros are `#define`s instead. Throws ExpressionError when a derived value has no value.
std::string render(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem);

}  // namespace smemtune
