// What an argument holds before a launch, and how far an output may be from its reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "templates/arguments/argument_type.h"
#include "templates/arguments/data_file.h"
#include "templates/space/expression.h"

namespace smemtune {

/// A bound of values: a number, or an expression over extents.
struct ValueBound {
    double number = 0;
    std::optional<Expression> expression;

    /// Throws ExpressionError.
    [[nodiscard]] double value(const Environment& environment) const {
        return expression ? static_cast<double>(expression->evaluate(environment)) : number;
    }
};

/// The values of an array that smemtune fills. n is its number of elements.
struct ArgumentValues {
    enum class Kind {
        uniform,   ///< in [first, second]; integers for an integer type
        normal,    ///< mean `first`, standard deviation `second`
        constant,  ///< `first`
        sorted,  ///< integers from 0 to `second`, never smaller than the one before: the first is 0, the last `second`
        permutation,  ///< 0..n-1, each once, shuffled
        file,         ///< those of a file
        prepared,     ///< those that Operation::prepare_path computes
    };
    Kind kind = Kind::uniform;
    ValueBound first, second;
    std::string path;                      ///< of the file, in the templates folder
    std::shared_ptr<const DataFile> data;  ///< its content; read when the template is loaded
};

/// An element of an output passes if |out - value| <= absolute + relative * |value|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
    double share = 0;           ///< of the elements that may be further away
    bool equal_nans = false;    ///< a NaN in the reference stands for a NaN in the output; otherwise it is an error
    bool has_distance = false;  ///< `absolute` or `relative` is given: they replace the error bound
};

}  // namespace smemtune
