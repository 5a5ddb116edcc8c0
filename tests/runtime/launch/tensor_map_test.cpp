#include "runtime/launch/tensor_map.h"

#include <gmock/gmock.h>

#include <cstddef>

#include "runtime/backend.h"
#include "runtime/cuda/driver_function.h"

namespace smemtune {
namespace {

using testing::Each;

constexpr TensorMapArgument map{0, 1, 8, 3, 8, 8, 2, false};
constexpr TensorMapArgument copied{0, 1, 8, 3, 8, 8, 2, false, 128};

TEST(TensorMap, OfWhatTheCopyEngineCannotAddressIsZeros) {
    alignas(16) std::array<std::byte, 64> memory{};
    EncodedTensorMap encoded{{1, 2, 3}};
    encode_tensor_map(encoded, map, memory.data() + 2, 8);
    EXPECT_THAT(encoded.words, Each(0)) << "an address";
    encoded = {{1, 2, 3}};
    encode_tensor_map(encoded, map, memory.data(), 3);
    EXPECT_THAT(encoded.words, Each(0)) << "rows of 6 bytes";
    encoded = {{1, 2, 3}};
    encode_tensor_map(encoded, map, nullptr, 8);
    EXPECT_THAT(encoded.words, Each(0)) << "a matrix that is not read";
}

TEST(TensorMap, NeedsADriverWhereAddressAndRowsFit) {
    alignas(16) std::array<std::byte, 256> memory{};
    EncodedTensorMap encoded{};
    if (driver_function_address("cuTensorMapEncodeTiled") != nullptr) {
        encode_tensor_map(encoded, map, memory.data(), 16);
        EXPECT_THAT(encoded.words, testing::Not(Each(0)));
        return;
    }
    try {
        encode_tensor_map(encoded, map, memory.data(), 16);
        FAIL() << "there is no driver";
    } catch (const LaunchError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("install one of CUDA 12.0 or newer"));
    }
}

// encode_map_of_copy() calls the CUDA driver only if it encodes a map. No call in this test encodes one, so the test
// passes without a driver.
TEST(TensorMap, IsOneOfACopyOnlyIfItIsZerosAndTheKernelMakesACopy) {
    alignas(16) std::array<std::byte, 256> workspace{};
    EncodedTensorMap encoded{{1, 2, 3}};
    const auto before = encoded.words;
    encode_map_of_copy(encoded, copied, workspace.data());
    EXPECT_EQ(encoded.words, before) << "the matrix itself can be addressed";
    encoded = {};
    encode_map_of_copy(encoded, map, workspace.data());
    EXPECT_THAT(encoded.words, Each(0)) << "no copy";
    encode_map_of_copy(encoded, copied, nullptr);
    EXPECT_THAT(encoded.words, Each(0)) << "no workspace";
}

}  // namespace
}  // namespace smemtune
