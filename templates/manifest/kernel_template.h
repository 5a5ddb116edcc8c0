// One kernel as its manifest describes it, and the operation that it computes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "templates/space/device.h"
#include "templates/space/expression.h"
#include "templates/space/parameter_space.h"
#include "templates/space/problem.h"

namespace smemtune {

/// Files by path relative to a templates folder: `gemm/tiled.cu`.
using SourceTree = std::map<std::string, std::string>;

/// A numerics class, with the C++ type of its elements.
struct ElementType {
    std::string_view name;      ///< "f32"
    std::string_view cpp_name;  ///< "float"
    std::int64_t bytes;
    double unit_roundoff;  ///< u: a rounded operation is exact within a factor 1 + d, |d| <= u
};
/// Throws std::invalid_argument naming the known ones.
const ElementType& element_type(std::string_view name);

/// An argument of the kernel function, in its place.
struct Argument {
    enum class Kind { extent, stride, scalar, input, output, batch_stride };  // hashes hold their places: add behind
    std::string name;
    Kind kind = Kind::extent;
    Expression rows;  ///< of an input or output matrix, row-major
    Expression columns;
    std::string stride;        ///< the argument that holds its leading dimension
    Expression count{"1"};     ///< of such matrices, one behind the other
    std::string batch_stride;  ///< the argument that holds how far each starts behind the one before

    [[nodiscard]] bool is_matrix() const { return kind == Kind::input || kind == Kind::output; }
};

/// The size of a matrix argument in a problem.
struct Shape {
    std::int64_t rows = 0, columns = 0, count = 0;
};
Shape shape_of(const Argument& argument, const Environment& environment);

/// One verification of a trial: the inputs, the values of the scalars, the layout of the matrices.
struct Check {
    bool integers = false;               ///< small integers, for exact answers; else uniform in [-1, 1]
    bool poison = true;                  ///< outputs hold NaN first; else random values that the kernel may read
    std::int64_t padding = 0;            ///< elements between the rows of a matrix with a stride
    std::int64_t batch_padding = 0;      ///< and between matrices with a batch stride
    std::vector<std::string> broadcast;  ///< inputs that are one matrix for the whole batch: their batch stride is 0
    std::map<std::string, double> scalars;
};

/// An operation: kernels that compute the same one share its arguments and can replace one another.
struct Operation {
    std::string name;
    std::string summary;
    std::vector<std::string> extents;
    std::map<std::string, Environment> layouts;  ///< each with its constants; empty when there are none
    std::vector<Argument> arguments;
    std::vector<Check> checks;
    Expression operations;       ///< arithmetic operations of a problem, for FLOP/s
    Expression bytes;            ///< moved at least: every input read and every output written once
    Expression terms;            ///< rounded operations behind one output element; 0 when it must be exact
    std::string reference_path;  ///< of the FP64 reference kernel's source
    std::string path;            ///< of the manifest that declares it
};

/// Per block, for `explain` and to order candidates; all optional in the manifest.
struct Model {
    Expression phases;
    Expression loads_per_phase;
    Expression operations_per_phase;
    Expression barriers_per_phase;
    Expression shared_loads_per_phase;
};

/// A name that a manifest gives to an expression its rules share.
struct Derived {
    std::string name;
    std::string value;  ///< as written
    std::string summary;
    bool constant = false;  ///< part of `configuration.h`, like a parameter
    Expression expression;  ///< the value in terms of parameters, layout constants and the like
};

struct KernelTemplate {
    std::string name;  ///< also of its entry point
    std::string summary;
    Operation operation;
    std::vector<std::string> types;
    std::vector<std::string> layouts;
    std::vector<Parameter> parameters;
    std::vector<Derived> derived;  ///< for people, and the constants: expressions hold their values already
    std::vector<Constraint> constraints;
    std::array<Expression, 3> block;
    std::array<Expression, 3> grid;
    Expression static_shared_bytes;
    Expression dynamic_shared_bytes;
    std::optional<Expression> workspace_bytes;  ///< of a launch; with it, the kernel's last argument is their address
    std::optional<Expression> registers;        ///< per thread, an estimate
    std::int64_t compute_capability = 0;        ///< the least that it runs on
    bool host = false;                          ///< plain enough to run on the host device
    bool baseline = false;                      ///< what the others of its operation are compared with
    std::optional<Model> model;
    std::string path;         ///< of its manifest
    std::string source_path;  ///< of its .cu file
    SourceTree files;         ///< everything that it is made of, shared headers included
    /// Covers everything that decides machine code and launch, and neither summaries nor parameters and their values. A
    /// configuration that was tried before a parameter was added, under the same hash, means that parameter's default.
    std::string hash;
    /// Hashes of earlier versions that, by the manifest, have the same machine code and launch: what was stored of them
    /// counts as if it were of this one.
    std::vector<std::string> same_code_as;

    /// Whether `other` is the hash of this version or of one with the same machine code.
    [[nodiscard]] bool is_same_code(const std::string& other) const;
    /// All such hashes, this version's first.
    [[nodiscard]] std::vector<std::string> same_code_hashes() const;
};

/// Whether the template can compute a problem on a device at all, whatever the configuration.
bool supports(const KernelTemplate& kernel_template, const Problem& problem, const Device& device);
/// "layouts: nn"; nothing when it supports it.
std::optional<std::string> why_unsupported(const KernelTemplate& kernel_template, const Problem& problem,
                                           const Device& device);

/// Extents, layout constants, `element_bytes` and `device.*`. Throws std::invalid_argument when the problem does not
/// fit the operation (extents, layout, type).
Environment environment_of(const Operation& operation, const Problem& problem, const Device& device);

/// The configuration that a template starts from: each parameter's default.
Configuration default_configuration(const KernelTemplate& kernel_template);

/// The part of a configuration that decides the program: all but the run-time parameters.
Configuration compiled_part(const KernelTemplate& kernel_template, const Configuration& configuration);

/// The most arguments of a kernel, run-time parameters included.
constexpr std::size_t most_arguments = 64;

/// The text of `configuration.h`: the compiled parameters, layout constants and constant derived values as `constexpr
/// int` (`long long` where a derived value needs it), and `Element`. Throws ExpressionError when a derived value has no
/// value.
std::string render(const KernelTemplate& kernel_template, const Configuration& configuration, const Problem& problem);

}  // namespace smemtune
