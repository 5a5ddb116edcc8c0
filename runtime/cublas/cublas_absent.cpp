// Compiled instead of cublas.cpp if cuBLAS's headers are not installed.
#include "runtime/cublas/cublas.h"

namespace smemtune {

struct Cublas::Session {};

Cublas::Cublas(Backend&, const std::vector<std::string>&) {
    throw VendorError(
        "this smemtune was built without cuBLAS's headers; install the toolkit's libcublas-dev and rebuild");
}
std::vector<std::string> Cublas::usual_names() { return {}; }
std::string Cublas::version() const { return {}; }
std::vector<std::string> Cublas::types() { return {}; }
bool Cublas::has(std::string_view) { return false; }
VendorKernel Cublas::gemm(const Problem&) const { return {}; }
std::vector<VendorKernel> Cublas::proposals(const Problem&, int) const { return {}; }

}  // namespace smemtune
