// The values of an argument before a launch, and the allowed difference between an output and its reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "templates/arguments/argument_type.h"
#include "templates/arguments/data_file.h"
#include "templates/space/expression.h"

namespace smemtune {

/// A number that describes the values of an array, such as their largest value. The manifest gives a number, or an
/// expression over extents.
struct ValueBound {
    double number = 0;
    std::optional<Expression> expression;

    /// Throws ExpressionError if the expression has no value.
    [[nodiscard]] double value(const Environment& environment) const {
        return expression ? static_cast<double>(expression->evaluate(environment)) : number;
    }
};

/// The values with which smemtune fills an array of n elements.
struct ArgumentValues {
    enum class Kind {
        uniform,      ///< uniform distribution in [first, second]; integers for an integer type
        normal,       ///< normal distribution with mean `first` and standard deviation `second`
        constant,     ///< every element is `first`
        sorted,       ///< random integers in ascending order; the first is 0, the last is `second`
        permutation,  ///< the integers 0 to n-1 in random order
        file,         ///< the numbers of a file
        prepared,     ///< the values that the source Operation::prepare_path computes
    };
    Kind kind = Kind::uniform;
    ValueBound first, second;
    std::string path;                      ///< Kind::file: the path of the file in the templates folder
    std::shared_ptr<const DataFile> data;  ///< Kind::file: the content of the file, read when the template is loaded
};

/// An element `out` of an output passes if |out - value| <= absolute + relative * |value|. `value` is the reference's
/// element.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
    double share = 0;           ///< the share of an output's elements that may exceed the tolerance, from 0 to 1
    bool equal_nans = false;    ///< true: where the reference is NaN, the output must be NaN; false: NaN is an error
    bool has_distance = false;  ///< whether `absolute` and `relative` are used in place of the error bound
};

}  // namespace smemtune
