// The toolkit's own library, where CMake found it. It loads without a GPU, and goes no further.
#include <gmock/gmock.h>

#include "runtime/cublas/cublas.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

TEST(InstalledCublas, HasEveryFunctionThatIsUsed) {
    const auto backend = open_backend("host");
    const auto error = error_of<VendorError>([&] { const Cublas library(*backend); });
    // Without a GPU the first call fails; where there is one, nothing does.
    EXPECT_THAT(error, testing::AnyOf("", testing::StartsWith("cublasCreate: CUBLAS_STATUS_")));
}

}  // namespace
}  // namespace smemtune
