// Arrays of numbers in files: NumPy's .npy, and raw bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/arguments/argument_type.h"

namespace smemtune {

/// The largest size of a file in bytes. It is limited, because each version of a template is stored with its files.
constexpr std::size_t largest_data_file = std::size_t{16} << 20;

/// The numbers of a file, in the type of an argument.
struct DataFile {
    std::string bytes;
    std::int64_t count = 0;  ///< how many numbers the file has; a float2 is two numbers
};

/// Whether a path ends like a file of numbers: `.npy`, `.bin` or `.raw`.
bool is_data_file(std::string_view path);

/// Reads the numbers of the file at `path`, whose bytes are `content`. A .npy file must have format version 1 to 3, C
/// order, and little-endian numbers of `type` (`uint16` for bf16, which NumPy lacks). Any other file must have only the
/// numbers. Throws std::invalid_argument that says what is wrong.
DataFile read_data_file(std::string_view path, std::string_view content, const NumberType& type);

/// For a file with the expected values of an output, returns the name of the type of the file's numbers. `type` is the
/// type of the output. The result is "f64" if `type` is floating and the file is a .npy file of doubles; otherwise it
/// is the name of `type`.
std::string result_type(std::string_view path, std::string_view content, const NumberType& type);

/// Returns the bytes of a .npy file of dense numbers in C order. An empty `shape` means a single number.
std::string numpy_file(const NumberType& type, const std::vector<std::int64_t>& shape, std::string_view numbers);

}  // namespace smemtune
