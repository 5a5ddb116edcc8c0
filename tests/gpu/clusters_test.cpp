#include <algorithm>
#include <random>
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
    return upload(backend, values);
}

// K shared by blocks of a cluster, and through memory.
class SharedProducts : public testing::Test {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);

    void SetUp() override {
        if (device.compute_capability < 90) GTEST_SKIP() << "no clusters before compute capability 9.0";
    }

    // Of the same inputs each time; three launches, one behind the other, must agree.
    std::vector<float> product(const Problem& problem, int cluster, int split) {
        const auto all = load_templates(builtin_sources());
        const auto& kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
        const auto configuration = parse_configuration(
            "BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,LANE_PAIRS=0,SLICES_K=2,STAGES=3,ASYNC=1,"
            "VECTOR_A=1,VECTOR_B=1,A_FIRST=1,BLOCKS_PER_SM=1,GROUP_M=4,CLUSTER_K=" +
            std::to_string(cluster) + ",SPLIT_K=" + std::to_string(split));
        EXPECT_FALSE(objection(kernel, configuration, problem, device)) << to_text(configuration);
        const auto binary = std::get<Binary>(compiler->compile(program_of(kernel, configuration, problem)));
        const auto launch = launch_of(kernel, configuration, problem, device);
        const auto loaded = with_workspace(backend->load(binary, launch.dynamic_shared_bytes), launch, *backend);
        const auto extent = [&](std::size_t i) { return static_cast<int>(problem.extents.at(i).second); };
        const int m = extent(0), n = extent(1), k = extent(2);
        const auto a = upload_integers(*backend, elements(m, k), 1);
        const auto b = upload_integers(*backend, elements(k, n), 2);
        std::vector<float> result;
        for (int time = 0; time < 3; ++time) {
            const auto c = upload_integers(*backend, elements(m, n), 3);
            const auto again = Product{m, n, k, 2, -1, *a, *b}.by(*backend, *loaded, launch, *c);
            if (time == 0) result = again;
            EXPECT_EQ(again, result) << to_text(configuration);
        }
        return result;
    }
};

// More tiles than a wave has places, so that some blocks have a tile each and clusters share the others.
TEST_F(SharedProducts, OfALastWaveAreRight) {
    const auto problem = gemm(12 * 16 - 3, (device.multiprocessors / 12 + 1) * 32 - 1, 16 * 4 * 8 + 5);
    const auto alone = product(problem, 1, 1);
    for (const int cluster : {2, 4, 8, 16}) EXPECT_EQ(product(problem, cluster, 1), alone) << "CLUSTER_K=" << cluster;
}

TEST_F(SharedProducts, OfFewTilesAreRightThroughMemory) {
    const auto problem = gemm(29, 31, 64 * 4 * 8 + 5);
    const auto alone = product(problem, 1, 1);
    for (const auto& [cluster, split] : {std::pair{1, 2}, {1, 64}, {2, 4}, {4, 8}, {16, 4}}) {
        EXPECT_EQ(product(problem, cluster, split), alone) << "CLUSTER_K=" << cluster << ",SPLIT_K=" << split;
    }
}

}  // namespace
}  // namespace smemtune
