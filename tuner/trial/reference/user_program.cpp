#include "tuner/trial/reference/user_program.h"

#include <algorithm>

#include "tuner/trial/reference/host_arrays.h"

namespace smemtune {

UserProgram::UserProgram(Backend& backend, const Operation& operation, const Binary& binary, bool on_host)
    : backend_(backend), operation_(operation) {
    if (on_host) {
        function_.emplace(binary.code);
    } else {
        kernel_ = backend.load(binary, 0);
    }
}

void UserProgram::call(const Operands& operands, std::span<const Array> arrays) {
    auto pointers = operands.pointers;
    // A launch takes the addresses of values as `void*`, but does not change the values.
    for (const auto& parameter : operands.parameters) pointers.push_back(const_cast<int*>(&parameter));
    function_ ? call_function(operands, pointers, arrays) : launch(operands, pointers, arrays);
}

void UserProgram::launch(const Operands& operands, std::vector<void*>& pointers, std::span<const Array> arrays) {
    std::vector<void*> addresses;
    addresses.reserve(arrays.size());  // reserved, so that the addresses taken below stay valid
    for (const auto& array : arrays) {
        addresses.push_back(array.memory->data() + array.begin);
        pointers.push_back(&addresses.back());
    }
    long long most = 1;
    for (const auto& matrix : operands.matrices) most = std::max(most, matrix.count * matrix.rows * matrix.columns);
    const auto blocks = (most + block_threads - 1) / block_threads;
    kernel_->launch(nullptr, {.grid = {blocks, 1, 1}, .block = {block_threads, 1, 1}}, pointers.data());
    backend_.synchronize();
}

void UserProgram::call_function(const Operands& operands, std::vector<void*>& pointers, std::span<const Array> arrays) {
    struct Copy {
        Memory* memory;
        std::vector<std::byte> before, now;
    };
    std::vector<Copy> copies;
    std::vector<void*> addresses;
    copies.reserve(operands.matrices.size() + arrays.size());  // reserved, so that the addresses taken below stay valid
    addresses.reserve(copies.capacity());
    const auto add = [&](Memory& memory, std::ptrdiff_t begin) {
        auto content = host_copy(backend_, memory);
        auto& copy = copies.emplace_back(Copy{&memory, content, std::move(content)});
        addresses.push_back(copy.now.data() + begin);
        return &addresses.back();
    };
    for (const auto& matrix : operands.matrices) {
        const auto at = static_cast<std::size_t>(matrix.argument - operation_.arguments.data());
        pointers[at] = add(*matrix.memory, matrix.guard * matrix.type.number->bytes);
    }
    for (const auto& array : arrays) pointers.push_back(add(*array.memory, array.begin));
    try {
        function_->call(pointers.data());
    } catch (const std::runtime_error& error) {
        throw ReferenceError(std::string("a C++ function beside the kernel throws: ") + error.what());
    }
    for (const auto& copy : copies) {
        if (copy.now != copy.before) backend_.copy_to_device(*copy.memory, copy.now);
    }
}

}  // namespace smemtune
