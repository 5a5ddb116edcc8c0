// Replaces cublas.cpp if cuBLAS's headers are not installed.
#include "runtime/cublas/cublas.h"

namespace smemtune {

struct Cublas::Session {};

Cublas::Cublas(Backend&, const std::vector<std::string>&) {
    throw VendorError(
        "this smemtune was built without cuBLAS's headers; install the toolkit's libcublas-dev and rebuild");
}
std::vector<std::string> Cublas::usual_names() { return {}; }
std::string Cublas::version() const { return {}; }
std::unique_ptr<BoundKernel> Cublas::gemm(const Problem&) const { return nullptr; }
std::vector<VendorKernel> Cublas::proposals(const Problem&, int) const { return {}; }

}  // namespace smemtune
