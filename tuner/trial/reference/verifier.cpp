#include "tuner/trial/reference/verifier.h"

#include <algorithm>
#include <array>

#include "tuner/trial/reference/host_arrays.h"

namespace smemtune {

namespace {

constexpr std::size_t longest_message = 1024;  // in bytes; docs/templates.md documents this limit

bool is_on_host(const Operation& operation) {
    return operation.reference.kind == OperationReference::Kind::verify_host;
}

}  // namespace

Verifier::Verifier(Backend& backend, const Operation& operation, const Binary& binary)
    : backend_(backend),
      on_host_(is_on_host(operation)),
      program_(backend, operation, binary, on_host_),
      answer_(backend.allocate(on_host_ ? longest_message : sizeof(long long))) {}

std::vector<OutputReference> Verifier::before(const Operands& operands) {
    std::vector<OutputReference> result;
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::output) continue;
        auto& copy = result.emplace_back();
        if (!matrix.argument->is_read) continue;
        copy.value = backend_.allocate(matrix.memory->size());
        backend_.copy_to_device(*copy.value, host_copy(backend_, *matrix.memory));
    }
    return result;
}

std::optional<std::string> Verifier::judgement(const Operands& operands, const std::vector<OutputReference>& before) {
    const std::vector<std::byte> nothing(answer_->size());
    backend_.copy_to_device(*answer_, nothing);
    std::vector<UserProgram::Array> arrays;
    auto copy = before.begin();
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::output) continue;
        if (copy->value) arrays.push_back({copy->value.get(), matrix.guard * matrix.type.number->bytes});
        ++copy;
    }
    arrays.push_back({answer_.get(), 0});
    program_.call(operands, arrays);
    const auto answer = host_copy(backend_, *answer_);
    if (!on_host_) {
        const auto code = load_number(*argument_type("i64").number, answer);
        if (code == 0) return std::nullopt;
        return "'verify' says that the outputs are wrong (" + number_text(*argument_type("i64").number, answer) + ")";
    }
    const auto end = std::ranges::find(answer, std::byte{0});
    if (end == answer.begin()) return std::nullopt;
    std::string message(reinterpret_cast<const char*>(answer.data()), static_cast<std::size_t>(end - answer.begin()));
    // Reports print the message on one line, and JSON stores it as text. So all characters except printable ASCII are
    // replaced.
    for (auto& letter : message) {
        if (letter < ' ' || letter > '~') letter = '?';
    }
    return "'verify' says: " + message;
}

}  // namespace smemtune
