#include "tuner/trial/reference/widened_reference.h"

#include <array>

namespace smemtune {

namespace {

// Gives access to the memory of a matrix without copying it.
class BorrowedMemory : public Memory {
public:
    explicit BorrowedMemory(const Memory& memory) : memory_(memory) {}
    [[nodiscard]] std::byte* data() const override { return memory_.data(); }
    [[nodiscard]] std::size_t size() const override { return memory_.size(); }

private:
    const Memory& memory_;
};

}  // namespace

WidenedReference::WidenedReference(Backend& backend, const Operation& operation, const Binary& widen,
                                   std::unique_ptr<ReferenceSource> inner)
    : backend_(backend), operation_(operation), widen_(backend.load(widen, 0)), inner_(std::move(inner)) {}

void WidenedReference::compute(const Operands& operands, const std::vector<OutputReference>& results) {
    Operands wide;
    wide.numbers = operands.numbers;
    wide.pointers = operands.pointers;
    wide.addresses.reserve(operands.matrices.size());  // reserved, so that the addresses taken below stay valid
    const auto blocks = matrix_blocks(backend_.device());
    for (const auto& matrix : operands.matrices) {
        auto& copy = wide.matrices.emplace_back();
        copy.argument = matrix.argument;
        copy.type = matrix.type;
        copy.rows = matrix.rows;
        copy.columns = matrix.columns;
        copy.stride = matrix.stride;
        copy.count = matrix.count;
        copy.batch_stride = matrix.batch_stride;
        copy.broadcast = matrix.broadcast;
        copy.seed = matrix.seed;
        copy.guard = matrix.guard;
        if (matrix.is_narrow()) {
            copy.type = argument_type(matrix.element->wide);
            copy.memory = backend_.allocate(static_cast<std::size_t>(copy.bytes()));
            void* from = matrix.memory->data();
            int type = matrix.type.number->code;
            auto count = matrix.elements();
            void* to = copy.memory->data();
            const std::array<void*, 4> arguments{&from, &type, &count, &to};
            widen_->launch(nullptr, {.grid = {blocks, 1, 1}, .block = {block_threads, 1, 1}}, arguments.data());
        } else {
            copy.memory = std::make_unique<BorrowedMemory>(*matrix.memory);
        }
        wide.addresses.push_back(copy.memory->data() + copy.guard * copy.type.number->bytes);
        wide.pointers[static_cast<std::size_t>(matrix.argument - operation_.arguments.data())] = &wide.addresses.back();
    }
    backend_.synchronize();
    inner_->compute(wide, results);
}

}  // namespace smemtune
