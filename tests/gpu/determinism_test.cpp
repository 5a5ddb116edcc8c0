#include <array>
#include <random>

#include "tests/gpu/support.h"

namespace smemtune {
namespace {

// The parameter is a size M, N, K. No tile divides the first size. The second size has rows aligned to 16 bytes.
class Determinism : public testing::TestWithParam<std::array<int, 3>> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Determinism, testing::Values(std::array{517, 331, 1031}, std::array{512, 332, 1032}));

TEST_P(Determinism, TheSameConfigurationGivesTheSameBits) {
    const int m = GetParam()[0], n = GetParam()[1], k = GetParam()[2];
    const auto backend = open_backend("0");
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto values = [&](std::size_t count) {
        std::vector<float> result(count);
        for (auto& value : result) value = uniform(random);
        return result;
    };
    const auto a = upload(*backend, values(elements(m, k)));
    const auto b = upload(*backend, values(elements(k, n)));
    for_configurations(
        backend->device(), gemm(m, n, k), [&](const std::string& name, const Binary& binary, const Launch& launch) {
            const auto kernel = with_workspace(backend->load(binary, launch.dynamic_shared_bytes), launch, *backend);
            std::vector<float> first;
            for (int time = 0; time < 3; ++time) {
                const auto c = upload(*backend, std::vector<float>(elements(m, n), static_cast<float>(time)));
                const auto result = Product{m, n, k, 1, 0, *a, *b}.by(*backend, *kernel, launch, *c);
                if (time == 0) first = result;
                EXPECT_EQ(result, first) << name;
            }
        });
}

}  // namespace
}  // namespace smemtune
