#include "templates/arguments/data_file.h"

#include <algorithm>
#include <array>
#include <regex>
#include <stdexcept>

namespace smemtune {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

// Returns NumPy's name of a type, such as `f4`.
std::string numpy_name(const NumberType& type) {
    if (type.name == "bf16") return "u2";
    return (type.is_floating ? "f" : type.is_signed ? "i" : "u") + std::to_string(type.bytes);
}

std::size_t byte_at(std::string_view content, std::size_t i) { return static_cast<unsigned char>(content[i]); }

// Checks the header of a .npy file and returns the offset of the first number after it.
std::size_t check_numpy_header(std::string_view content, const NumberType& type) {
    if (!content.starts_with(magic) || content.size() < 12) throw std::invalid_argument("is no .npy file");
    const auto version = byte_at(content, magic.size());
    std::size_t length = byte_at(content, 8) + (byte_at(content, 9) << 8U);
    const std::size_t begin = version == 1 ? 10 : 12;
    if (version > 1) length += (byte_at(content, 10) << 16U) + (byte_at(content, 11) << 24U);
    if (version < 1 || version > 3 || begin + length > content.size()) {
        throw std::invalid_argument("has a header that is no .npy header of version 1 to 3; save it again");
    }
    const std::string header(content.substr(begin, length));
    static const std::regex description(R"('descr': *'([<>|=])([a-z]\d+)')");
    std::smatch found;
    const bool known = std::regex_search(header, found, description);
    if (!known || found[1] == ">" || found[2] != numpy_name(type)) {
        throw std::invalid_argument("holds numbers of type " + (known ? found[1].str() + found[2].str() : "unknown") +
                                    " where <" + numpy_name(type) + " is needed; save it with .astype('<" +
                                    numpy_name(type) + "')");
    }
    if (header.find("'fortran_order': False") == std::string::npos) {
        throw std::invalid_argument("is in Fortran order; save it with numpy.ascontiguousarray");
    }
    return begin + length;
}

}  // namespace

std::string result_type(std::string_view path, std::string_view content, const NumberType& type) {
    const bool is_double =
        type.is_floating && path.ends_with(".npy") && content.substr(0, 128).find("'<f8'") != std::string_view::npos;
    return std::string(is_double ? "f64" : type.name);
}

std::string numpy_file(const NumberType& type, const std::vector<std::int64_t>& shape, std::string_view numbers) {
    std::string header = "{'descr': '" + std::string(type.bytes == 1 ? "|" : "<") + numpy_name(type) +
                         "', 'fortran_order': False, 'shape': (";
    for (const auto extent : shape) header += std::to_string(extent) + ",";
    header += "), }";
    header.resize((magic.size() + 4 + header.size() + 1 + 63) / 64 * 64 - magic.size() - 4 - 1, ' ');
    header += '\n';
    std::string file(magic);
    for (const auto byte : {std::size_t{1}, std::size_t{0}, header.size() % 256, header.size() / 256}) {
        file += static_cast<char>(byte);
    }
    return file.append(header).append(numbers);
}

bool is_data_file(std::string_view path) {
    return path.ends_with(".npy") || path.ends_with(".bin") || path.ends_with(".raw");
}

DataFile read_data_file(std::string_view path, std::string_view content, const NumberType& type) {
    if (path.ends_with(".npy")) content.remove_prefix(check_numpy_header(content, type));
    const auto size = static_cast<std::size_t>(type.bytes);
    if (content.size() % size != 0) {
        throw std::invalid_argument("has " + std::to_string(content.size()) +
                                    " bytes of numbers, which is no multiple of " + std::to_string(size) +
                                    ", the size of " + std::string(type.name));
    }
    return {std::string(content), static_cast<std::int64_t>(content.size() / size)};
}

}  // namespace smemtune
