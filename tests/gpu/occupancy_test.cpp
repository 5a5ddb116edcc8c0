#include <cuda_runtime.h>

#include "templates/launch/occupancy.h"
#include "tests/gpu/support.h"

namespace smemtune {
namespace {

TEST(Occupancy, AgreesWithTheDriver) {
    const auto backend = open_backend("0");
    const auto& device = backend->device();
    int compared = 0;
    for_configurations(
        device, gemm(4096, 4096, 4096), [&](const std::string& name, const Binary& binary, const Launch& launch) {
            cudaLibrary_t library = nullptr;
            ASSERT_EQ(cudaLibraryLoadData(&library, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                      cudaSuccess);
            cudaKernel_t kernel = nullptr;
            ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, binary.entry.c_str()), cudaSuccess);
            const auto* function = reinterpret_cast<const void*>(kernel);
            ASSERT_EQ(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(launch.dynamic_shared_bytes)),
                      cudaSuccess);
            int blocks = 0;
            ASSERT_EQ(
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, static_cast<int>(launch.threads()),
                                                              static_cast<std::size_t>(launch.dynamic_shared_bytes)),
                cudaSuccess);
            EXPECT_EQ(occupancy(launch, device).blocks(), blocks) << name;
            cudaLibraryUnload(library);
            ++compared;
        });
    EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace smemtune
