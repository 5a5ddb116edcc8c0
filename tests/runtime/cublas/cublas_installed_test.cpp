// Tests the installed cuBLAS, if CMake found it. Without a GPU the library loads, but its calls fail.
#include <gmock/gmock.h>

#include "runtime/cublas/cublas.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

TEST(InstalledCublas, HasEveryFunctionThatIsUsed) {
    const auto backend = open_backend("host");
    const auto error = error_of<VendorError>([&] { const Cublas library(*backend); });
    // Without a GPU, the first call of cuBLAS fails. With a GPU, no call fails.
    EXPECT_THAT(error, testing::AnyOf("", testing::StartsWith("cublasCreate: CUBLAS_STATUS_")));
}

}  // namespace
}  // namespace smemtune
