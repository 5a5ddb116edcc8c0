// Helpers for tests with winners: stores a winner in a database, and provides a template that is valid only for some
// problems.
#pragma once

#include <span>
#include <string>

#include "db/store.h"
#include "runtime/selection.h"
#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "tests/runtime/support.h"
#include "util/hash.h"

namespace smemtune {

/// Stores a winner as the tuner does: its trial, and its machine code if `binary` is given.
inline void store_winner(Store& store, const Device& device, const KernelTemplate& kernel, const Problem& problem,
                         const Configuration& configuration, double median_us, const Binary* binary = nullptr) {
    const TrialKey key{.device = store.remember(device),
                       .kernel_template = store.remember(
                           TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                       .problem = store.remember(problem)};
    Measurement measurement;
    measurement.median_us = median_us;
    measurement.samples_us = {median_us};
    TrialRecord trial{.key = key, .configuration = configuration, .outcome = measurement};
    trial.verified_by = operation_identity(kernel, problem) + "/testbed";
    if (binary != nullptr) trial.code_hash = sha256(std::as_bytes(std::span(binary->code)));
    store.remember(trial);
    std::optional<BinaryRecord> code;
    if (binary != nullptr) {
        code = BinaryRecord{key.kernel_template, configuration, binary_key(binary->target, problem),
                            binary->compiler,    binary->code,  binary->resources};
    }
    store.set_winner(key, configuration, code);
}

inline const KernelTemplate& find_template(const std::vector<KernelTemplate>& templates, const std::string& name) {
    const auto found = std::ranges::find(templates, name, &KernelTemplate::name);
    if (found == templates.end()) throw std::runtime_error("there is no template " + name);
    return *found;
}

/// A correct but slow gemm that requires M to be a multiple of STEP.
inline SourceTree stepping_sources() {
    return {{"stepping.toml", R"toml([template]
name      = "stepping"
operation = "gemm"
summary   = "one thread per element, for some M only"
types     = ["f32"]
layouts   = ["nn"]

[[parameter]]
name    = "STEP"
values  = [2, 3, 64]
default = 64
summary = "M must be a multiple of it"

[[constraint]]
rule   = "M % STEP == 0"
reason = "whole steps only"

[launch]
block = ["64"]
grid  = ["ceil_div(M * N, 64)"]
static_shared_bytes  = "0"
dynamic_shared_bytes = "0"

[requires]
compute_capability = 75
host = true
)toml"},
            {"stepping.cu", R"(#include "configuration.h"
extern "C" __global__ void stepping(int M, int N, int K, Element alpha, const Element* A, long long lda,
                                    const Element* B, long long ldb, Element beta, Element* C, long long ldc) {
    const long long i = 64LL * blockIdx.x + threadIdx.x;
    if (i >= (long long)M * N) return;
    const long long row = i / N, column = i % N;
    Element sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + column];
    Element* c = &C[row * ldc + column];
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}
)"}};
}

}  // namespace smemtune
