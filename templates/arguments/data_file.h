// Arrays of numbers in files: NumPy's .npy, and raw bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/arguments/argument_type.h"

namespace smemtune {

/// The largest file: each version of a template is stored with its files.
constexpr std::size_t largest_data_file = std::size_t{16} << 20;

/// The numbers of a file, in the type of an argument.
struct DataFile {
    std::string bytes;
    std::int64_t count = 0;  ///< single numbers, also those of vectors
};

/// Whether a path names a file of numbers: `.npy`, `.bin`, `.raw`.
bool is_data_file(std::string_view path);

/// The numbers of `content`, the file at `path`. A .npy file has format version 1 to 3, C order, little-endian numbers
/// of `type` (for bf16, which NumPy lacks, `uint16`). Another file has nothing but the numbers. Throws
/// std::invalid_argument, which says what is wrong.
DataFile read_data_file(std::string_view path, std::string_view content, const NumberType& type);

/// The type of the numbers of a result whose type is `type`: "f64" for a .npy file of a floating result that holds
/// those, else `type`'s name.
std::string result_type(std::string_view path, std::string_view content, const NumberType& type);

/// A .npy file of dense numbers, the last dimension fastest; a single number for an empty `shape`.
std::string numpy_file(const NumberType& type, const std::vector<std::int64_t>& shape, std::string_view numbers);

}  // namespace smemtune
