#include <string>

#include "tests/gpu/support.h"

namespace smemtune {
namespace {

// Integers so small that every sum is exact, whatever its order.
std::unique_ptr<Memory> upload_integers(Backend& backend, std::size_t count, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::uniform_int_distribution<int> small(-3, 3);
    std::vector<float> values(count);
    for (auto& value : values) value = static_cast<float>(small(random));
    auto memory = backend.allocate(count * sizeof(float));
    backend.copy_to_device(*memory, std::as_bytes(std::span(values)));
    return memory;
}

// More tiles than a wave has places, so that some blocks have a tile each and clusters share the others.
TEST(Clusters, ALastWaveThatIsSharedIsRight) {
    const auto backend = open_backend("0");
    const auto& device = backend->device();
    if (device.compute_capability < 90) GTEST_SKIP() << "no clusters before compute capability 9.0";
    const auto all = load_templates(builtin_sources());
    const auto& kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
    const auto compiler = make_compiler(device);
    int m = 12 * 16 - 3, n = (static_cast<int>(device.multiprocessors) / 12 + 1) * 32 - 1, k = 16 * 4 * 8 + 5;
    const auto problem = gemm(m, n, k);
    const auto a = upload_integers(*backend, elements(m, k), 1);
    const auto b = upload_integers(*backend, elements(k, n), 2);
    const auto product = [&](int cluster) {
        const auto configuration = parse_configuration(
            "BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,LANE_PAIRS=0,SLICES_K=2,STAGES=3,ASYNC=1,"
            "VECTOR_A=1,VECTOR_B=1,A_FIRST=1,BLOCKS_PER_SM=1,GROUP_M=4,CLUSTER_K=" +
            std::to_string(cluster));
        EXPECT_FALSE(objection(kernel, configuration, problem, device)) << "CLUSTER_K=" << cluster;
        const auto binary = std::get<Binary>(compiler->compile(program_of(kernel, configuration, problem)));
        const auto launch = launch_of(kernel, configuration, problem, device);
        const auto c = upload_integers(*backend, elements(m, n), 3);
        float alpha = 2, beta = -1;
        long long lda = k, ldb = n, ldc = n;
        void *a_data = a->data(), *b_data = b->data(), *c_data = c->data();
        const std::array<void*, 11> arguments{&m, &n, &k, &alpha, &a_data, &lda, &b_data, &ldb, &beta, &c_data, &ldc};
        backend->load(binary, launch.dynamic_shared_bytes)->launch(nullptr, launch, arguments.data());
        backend->synchronize();
        std::vector<float> result(elements(m, n));
        backend->copy_to_host(std::as_writable_bytes(std::span(result)), *c);
        return result;
    };
    const auto alone = product(1);
    for (const int cluster : {2, 4, 8, 16}) EXPECT_EQ(product(cluster), alone) << "CLUSTER_K=" << cluster;
}

}  // namespace
}  // namespace smemtune
