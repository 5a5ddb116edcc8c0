#include <cuda_runtime.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/gpu/support.h"

namespace smemtune {
namespace {

// Uploads random integers, which are so small that every sum is exact in any order.
std::unique_ptr<Memory> upload_integers(Backend& backend, std::size_t count, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::uniform_int_distribution<int> small(-3, 3);
    std::vector<float> values(count);
    for (auto& value : values) value = static_cast<float>(small(random));
    return upload(backend, values);
}

// Tests products whose K is split among the blocks of a cluster, and among blocks that add their parts through memory.
class SharedProducts : public testing::Test {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);

    void SetUp() override {
        if (device.compute_capability < 90) GTEST_SKIP() << "no clusters before compute capability 9.0";
        if (device.multiprocessors < 64) GTEST_SKIP() << "too few multiprocessors for 64 blocks that share a tile";
    }

    struct Loaded {
        std::shared_ptr<const LoadedKernel> kernel;
        Launch launch;
    };
    Loaded load(const Problem& problem, int cluster, int split) {
        const auto& all = builtin_templates();
        const auto& kernel = *std::ranges::find(all, "warp_tiled", &KernelTemplate::name);
        const auto configuration = completed(
            parse_configuration("BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,LANE_PAIRS=0,"
                                "SLICES_K=2,STAGES=3,ASYNC=1,VECTOR_A=1,VECTOR_B=1,A_FIRST=1,BLOCKS_PER_SM=1,GROUP_M=4,"
                                "CLUSTER_K=" +
                                std::to_string(cluster) + ",SPLIT_K=" + std::to_string(split)),
            default_configuration(kernel));
        EXPECT_FALSE(infeasibility(kernel, configuration, problem, device)) << to_text(configuration);
        const auto binary = std::get<Binary>(compiler->compile(program_of(kernel, configuration, problem)));
        const auto launch = launch_of(kernel, configuration, problem, device);
        return {with_workspace(backend->load(binary, launch.dynamic_shared_bytes), launch, *backend), launch};
    }

    struct Matrices {
        int m, n, k;
        std::unique_ptr<Memory> a, b;
        [[nodiscard]] Product product() const { return {m, n, k, 2, -1, *a, *b}; }
    };
    // Returns matrices with the same values in every call.
    Matrices matrices(const Problem& problem) {
        const auto extent = [&](std::size_t i) { return static_cast<int>(problem.extents.at(i).second); };
        const int m = extent(0), n = extent(1), k = extent(2);
        return {m, n, k, upload_integers(*backend, elements(m, k), 1), upload_integers(*backend, elements(k, n), 2)};
    }
    std::unique_ptr<Memory> result_of(const Matrices& of) { return upload_integers(*backend, elements(of.m, of.n), 3); }
    std::vector<float> values(const Memory& memory) {
        std::vector<float> result(memory.size() / sizeof(float));
        backend->copy_to_host(std::as_writable_bytes(std::span(result)), memory);
        return result;
    }

    // Computes the product three times. The results must be equal.
    std::vector<float> product(const Problem& problem, int cluster, int split) {
        const auto [kernel, launch] = load(problem, cluster, split);
        const auto of = matrices(problem);
        std::vector<float> first;
        for (int time = 0; time < 3; ++time) {
            const auto again = of.product().by(*backend, *kernel, launch, *result_of(of));
            if (time == 0) first = again;
            EXPECT_EQ(again, first) << "CLUSTER_K=" << cluster << ",SPLIT_K=" << split;
        }
        return first;
    }
};

// There are more tiles than one wave of blocks. Some blocks have a whole tile, and clusters share the tiles of the last
// wave.
TEST_F(SharedProducts, OfALastWaveAreRight) {
    const auto problem = gemm(12 * 16 - 3, (device.multiprocessors / 12 + 1) * 32 - 1, 16 * 4 * 8 + 5);
    const auto alone = product(problem, 1, 1);
    for (const int cluster : {2, 4, 8, 16}) EXPECT_EQ(product(problem, cluster, 1), alone) << "CLUSTER_K=" << cluster;
}

// In this test, 64 blocks share one tile.
TEST_F(SharedProducts, OfOneTileAreRightThroughMemory) {
    const auto problem = gemm(13, 31, 64 * 4 * 8 + 5);
    const auto alone = product(problem, 1, 1);
    for (const auto& [cluster, split] : {std::pair{1, 64}, {2, 32}, {4, 16}, {1, 0}, {2, 0}, {4, 0}}) {
        EXPECT_EQ(product(problem, cluster, split), alone) << "CLUSTER_K=" << cluster << ",SPLIT_K=" << split;
    }
}

// Each stream needs its own workspace, because streams run at the same time. Even the first launch on a stream may be
// captured in a graph.
TEST_F(SharedProducts, AreRightInGraphsOnSeveralStreamsAtOnce) {
    const auto problem = gemm(13, 31, 64 * 4 * 8 + 5);
    const auto [kernel, launch] = load(problem, 1, 64);
    const auto of = matrices(problem);
    const auto expected = of.product().by(*backend, *kernel, launch, *result_of(of));
    std::vector<std::unique_ptr<Memory>> results;
    for (int i = 0; i < 4 * 50; ++i) results.push_back(result_of(of));
    std::vector<cudaStream_t> streams(4);
    std::vector<cudaGraphExec_t> graphs(4);
    for (std::size_t s = 0; s < 4; ++s) {
        ASSERT_EQ(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking), cudaSuccess);
        ASSERT_EQ(cudaStreamBeginCapture(streams[s], cudaStreamCaptureModeGlobal), cudaSuccess);
        for (std::size_t i = s; i < results.size(); i += 4)
            of.product().enqueue(streams[s], *kernel, launch, *results[i]);
        cudaGraph_t graph = nullptr;
        ASSERT_EQ(cudaStreamEndCapture(streams[s], &graph), cudaSuccess);
        ASSERT_EQ(cudaGraphInstantiate(&graphs[s], graph, 0), cudaSuccess);
        cudaGraphDestroy(graph);
    }
    for (std::size_t s = 0; s < 4; ++s) ASSERT_EQ(cudaGraphLaunch(graphs[s], streams[s]), cudaSuccess);
    backend->synchronize();
    for (const auto& result : results) EXPECT_EQ(values(*result), expected);
    for (auto* graph : graphs) cudaGraphExecDestroy(graph);
    for (auto* stream : streams) cudaStreamDestroy(stream);
}

TEST_F(SharedProducts, WorkInMemoryThatHoldsZeros) {
    constexpr std::size_t bytes = 1 << 20;
    {
        const auto dirty = backend->allocate(bytes);
        backend->copy_to_device(*dirty, std::vector(bytes, std::byte{255}));
    }
    const auto zeros = values(*backend->allocate_zeroed(bytes));
    EXPECT_EQ(zeros, std::vector<float>(zeros.size(), 0));
}

}  // namespace
}  // namespace smemtune
