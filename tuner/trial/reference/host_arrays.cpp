#include "tuner/trial/reference/host_arrays.h"

#include <cstring>

namespace smemtune {

std::vector<std::byte> host_copy(Backend& backend, const Memory& memory) {
    std::vector<std::byte> bytes(memory.size());
    backend.copy_to_host(bytes, memory);
    return bytes;
}

std::vector<std::byte> dense_numbers(const MatrixOperand& matrix, std::span<const std::byte> memory) {
    const auto size = static_cast<std::size_t>(matrix.type.number->bytes);
    const auto row_bytes = static_cast<std::size_t>(matrix.columns) * size;
    std::vector<std::byte> numbers;
    numbers.reserve(static_cast<std::size_t>(matrix.count * matrix.rows) * row_bytes);
    for (long long i = 0; i < matrix.count; ++i) {
        for (long long row = 0; row < matrix.rows; ++row) {
            const auto begin = matrix.guard + i * matrix.batch_stride + row * matrix.stride;
            const auto bytes = memory.subspan(static_cast<std::size_t>(begin) * size, row_bytes);
            numbers.insert(numbers.end(), bytes.begin(), bytes.end());
        }
    }
    return numbers;
}

void store_reference(Backend& backend, const MatrixOperand& output, const NumberType& type,
                     std::span<const std::byte> numbers, const OutputReference& to) {
    if (output.argument->is_integer() || type.name == "f64") return backend.copy_to_device(*to.value, numbers);
    const auto size = static_cast<std::size_t>(type.bytes);
    std::vector<double> values(numbers.size() / size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_number(type, numbers.subspan(i * size, size));
    backend.copy_to_device(*to.value, std::as_bytes(std::span(values)));
}

}  // namespace smemtune
