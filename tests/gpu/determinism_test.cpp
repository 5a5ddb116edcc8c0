#include <array>
#include <random>

#include "tests/gpu/support.h"

namespace smemtune {
namespace {

std::unique_ptr<Memory> upload(Backend& backend, const std::vector<float>& values) {
    auto memory = backend.allocate(values.size() * sizeof(float));
    backend.copy_to_device(*memory, std::as_bytes(std::span(values)));
    return memory;
}

// Ragged, and with rows that are aligned.
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
            const auto kernel = backend->load(binary, launch.dynamic_shared_bytes);
            std::vector<float> first;
            for (int time = 0; time < 3; ++time) {
                const auto c = upload(*backend, std::vector<float>(elements(m, n), static_cast<float>(time)));
                int rows = m, columns = n, depth = k;
                float alpha = 1, beta = 0;
                long long lda = k, ldb = n, ldc = n;
                void *a_data = a->data(), *b_data = b->data(), *c_data = c->data();
                const std::array<void*, 11> arguments{&rows,   &columns, &depth, &alpha,  &a_data, &lda,
                                                      &b_data, &ldb,     &beta,  &c_data, &ldc};
                kernel->launch(nullptr, launch, arguments.data());
                backend->synchronize();
                std::vector<float> result(elements(m, n));
                backend->copy_to_host(std::as_writable_bytes(std::span(result)), *c);
                if (time == 0) first = result;
                EXPECT_EQ(result, first) << name;
            }
        });
}

}  // namespace
}  // namespace smemtune
