// Computes the reference of narrow elements from copies of the operands in the wide type.
#pragma once

#include <memory>

#include "tuner/trial/reference/reference_source.h"

namespace smemtune {

class WidenedReference : public ReferenceSource {
public:
    /// `widen` is the binary of typed/kernels/widen.cu. `backend` and `operation` must outlive the object. Throws
    /// OutOfMemory.
    WidenedReference(Backend& backend, const Operation& operation, const Binary& widen,
                     std::unique_ptr<ReferenceSource> inner);
    /// Frees the copies in the wide type before it returns.
    void compute(const Operands& operands, const std::vector<OutputReference>& results) override;

private:
    Backend& backend_;
    const Operation& operation_;
    std::unique_ptr<LoadedKernel> widen_;
    std::unique_ptr<ReferenceSource> inner_;
};

}  // namespace smemtune
