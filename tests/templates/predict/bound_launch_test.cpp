#include "templates/predict/bound_launch.h"

#include <gtest/gtest.h>

#include <random>

#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

KernelTemplate built_in(const std::string& name) {
    for (auto& kernel : load_templates(builtin_sources())) {
        if (kernel.name == name) return kernel;
    }
    throw std::runtime_error(name);
}

double term(const Terms& terms, Term which) { return terms[static_cast<std::size_t>(which)]; }

TEST(BoundLaunch, IsValidExactlyWhereTheConfigurationIsFeasible) {
    const auto kernel = built_in("warp_tiled");
    const auto device = model_device("sm_90");
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int64_t> any(1, 400);
    const auto extent = [&] { return any(random) * (random() % 2 == 0 ? 1 : 4); };
    std::vector<Configuration> configurations;
    for (const auto* changes :
         {"STAGES=3", "VECTOR_A=4", "VECTOR_B=4", "BLOCK_M=32,BLOCK_N=32,THREAD_M=4,THREAD_N=4",
          "BLOCK_M=256,BLOCK_N=128,BLOCKS_PER_SM=1", "BLOCK_K=32,STAGES=8", "CLUSTER_K=2", "CLUSTER_K=4,BLOCK_K=16",
          "SPLIT_K=2", "SPLIT_K=8", "SPLIT_K=16,CLUSTER_K=2", "SPLIT_K=0", "SPLIT_K=0,CLUSTER_K=2",
          "SPLIT_K=0,CLUSTER_K=4,BLOCKS_PER_SM=2", "BLOCKS_PER_SM=4", "ASYNC=0"}) {
        configurations.push_back(completed(parse_configuration(changes), default_configuration(kernel)));
    }
    int valid = 0;
    int invalid = 0;
    for (const auto& configuration : configurations) {
        const BoundLaunch bound(kernel, configuration, device, gemm(1, 1, 1));
        for (int i = 0; i < 60; ++i) {
            const auto problem = gemm(extent(), extent(), extent());
            const bool feasible = !infeasibility(kernel, configuration, problem, device);
            ++(feasible ? valid : invalid);
            EXPECT_EQ(bound.terms(problem).has_value(), feasible) << to_text(configuration) << to_text(problem);
        }
    }
    EXPECT_GT(valid, 100);
    EXPECT_GT(invalid, 100);
}

TEST(BoundLaunch, HasTheLaunchThatTheManifestDescribes) {
    const auto device = model_device("sm_90");
    int compared = 0;
    int copied = 0;
    int not_copied = 0;
    int shaped = 0;  // tensor maps of copies that have a shape of their own
    for (auto kernel : load_templates(builtin_sources())) {
        for (const bool at_run_time : {false, true}) {
            if (at_run_time) kernel.parameters.back().runtime = true;
            const auto configuration = default_configuration(kernel);
            for (const auto& like :
                 {gemm(1, 1, 1), gemm(1, 1, 1, "bf16"), gemm(1, 1, 1, "tf32"), gemm(1, 1, 1, "f32", "tn"),
                  gemm(1, 1, 1, "tf32", "tn"), gemm(1, 1, 1, "3xtf32"), batched_gemm(1, 1, 1, 1)}) {
                if (like.operation != kernel.operation.name || !supports(kernel, like, device)) continue;
                const BoundLaunch bound(kernel, configuration, device, like);
                for (const std::int64_t size : {1, 64, 200, 201, 4096}) {
                    auto problem = like;
                    for (auto& extent : problem.extents) extent.second = size;
                    BoundLaunch::Scratch values;
                    if (!bound.terms(problem, values)) continue;
                    const auto expected = launch_of(kernel, configuration, problem, device);
                    const auto launch = bound.launch_at(problem, values);
                    ASSERT_TRUE(launch) << kernel.name;
                    EXPECT_EQ(launch->grid, expected.grid) << kernel.name;
                    EXPECT_EQ(launch->block, expected.block) << kernel.name;
                    EXPECT_EQ(launch->static_shared_bytes, expected.static_shared_bytes) << kernel.name;
                    EXPECT_EQ(launch->dynamic_shared_bytes, expected.dynamic_shared_bytes) << kernel.name;
                    EXPECT_EQ(launch->registers, expected.registers) << kernel.name;
                    EXPECT_EQ(launch->runtime_arguments, expected.runtime_arguments) << kernel.name;
                    EXPECT_EQ(launch->workspace, expected.workspace) << kernel.name;
                    EXPECT_EQ(launch->tensor_maps, expected.tensor_maps) << kernel.name << size;
                    ++compared;
                    for (const auto& map : launch->tensor_maps) {
                        ++(map.copy_at ? copied : not_copied);
                        if (map.is_copy) ++shaped;
                    }
                }
            }
        }
    }
    EXPECT_GT(compared, 60);
    EXPECT_GT(copied, 0) << "tensor maps of copies";
    EXPECT_GT(not_copied, 10);
    EXPECT_GT(shaped, 0);
}

TEST(BoundLaunch, AnArrayOfTheSourceIsLeftToTheManifest) {
    auto kernel = built_in("tiled");
    kernel.operation.arguments.front().symbol = "weights";
    const BoundLaunch bound(kernel, {{{"TILE_WIDTH", 32}}}, model_device("sm_90"), gemm(1, 1, 1));
    BoundLaunch::Scratch values;
    ASSERT_TRUE(bound.terms(gemm(64, 64, 64), values));
    EXPECT_FALSE(bound.launch_at(gemm(64, 64, 64), values));
}

TEST(BoundLaunch, ALaunchThatBreaksALimitIsInvalidThoughNoRuleForbidsIt) {
    auto kernel = built_in("tiled");
    kernel.dynamic_shared_bytes = Expression("M * 1024");
    const Configuration configuration{{{"TILE_WIDTH", 32}}};  // has 8 KiB of static shared memory
    const BoundLaunch bound(kernel, configuration, model_device("sm_90"), gemm(1, 1, 1));
    EXPECT_TRUE(bound.terms(gemm(219, 32, 32)).has_value()) << "227 KiB";
    EXPECT_FALSE(bound.terms(gemm(220, 32, 32)).has_value());
}

// The limits of a block that is the same for every problem are checked only once, by the constructor.
TEST(BoundLaunch, ABlockThatBreaksALimitIsInvalidForEveryProblem) {
    const auto device = model_device("sm_90");
    const auto is_valid = [&](const auto& change) {
        auto kernel = built_in("tiled");
        change(kernel);
        return BoundLaunch(kernel, {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1)).terms(gemm(64, 64, 64)).has_value();
    };
    EXPECT_TRUE(is_valid([](KernelTemplate&) {}));
    EXPECT_TRUE(is_valid([](KernelTemplate& kernel) { kernel.dynamic_shared_bytes = Expression("219 * 1024"); }));
    EXPECT_FALSE(is_valid([](KernelTemplate& kernel) { kernel.dynamic_shared_bytes = Expression("220 * 1024"); }));
    EXPECT_FALSE(is_valid([](KernelTemplate& kernel) { kernel.registers = Expression("256"); }));
    EXPECT_FALSE(is_valid([](KernelTemplate& kernel) { kernel.block[0] = Expression("0"); }));
    EXPECT_FALSE(is_valid([](KernelTemplate& kernel) {
        for (auto& extent : kernel.block) extent = Expression("4000000000");
    })) << "the number of threads overflows 64 bits";
    EXPECT_FALSE(is_valid([](KernelTemplate& kernel) { kernel.grid[1] = Expression("65536"); }));
}

TEST(BoundLaunch, CountsWavesAndTheBlocksOfTheBusiestMultiprocessor) {
    auto device = model_device("sm_90");
    device.multiprocessors = 4;  // each multiprocessor holds two blocks of 1024 threads, so a wave has 8
    const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1));
    const auto terms = [&](std::int64_t blocks) { return bound.terms(gemm(blocks * 32, 32, 512)).value(); };
    const auto expect = [&](std::int64_t blocks, double waves, double busiest) {
        EXPECT_EQ(term(terms(blocks), Term::waves), waves) << blocks;
        EXPECT_EQ(term(terms(blocks), Term::blocks), busiest) << blocks;
        EXPECT_EQ(term(terms(blocks), Term::launch), 1);
    };
    expect(1, 1, 1);
    expect(4, 1, 1);
    expect(5, 1, 2);
    expect(8, 1, 2);
    expect(9, 2, 3);
    expect(16, 2, 4);
    const auto one = terms(1);
    const auto five = terms(5);
    EXPECT_DOUBLE_EQ(term(five, Term::arithmetic), 2 * term(one, Term::arithmetic));
    EXPECT_DOUBLE_EQ(term(five, Term::loads), 2 * term(one, Term::loads));
    EXPECT_DOUBLE_EQ(term(terms(9), Term::latency), 2 * term(one, Term::latency));
}

TEST(BoundLaunch, ArithmeticIsWhatThePeakAllows) {
    const auto device = model_device("sm_90");
    const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1));
    // 66 x 4 tiles of 32 x 32 are one whole wave: two blocks on each of 132 multiprocessors.
    const auto terms = bound.terms(gemm(66 * 32, 4 * 32, 1024)).value();
    EXPECT_NEAR(term(terms, Term::arithmetic), 2.0 * 66 * 32 * 4 * 32 * 1024 / peak_fp32_flops(device) * 1e6, 1e-6);
    EXPECT_DOUBLE_EQ(term(terms, Term::memory), (66 * 32 * 1024 + 1024 * 4 * 32 + 66 * 32 * 4 * 32) * 4 / 4e6);
}

TEST(BoundLaunch, TheCompilersRegistersDecideHowManyBlocksAreResident) {
    auto device = model_device("sm_90");
    device.multiprocessors = 1;
    const auto waves = [&](std::int64_t registers) {
        const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1), {registers, 8192});
        return term(bound.terms(gemm(4 * 32, 32, 64)).value(), Term::waves);
    };
    EXPECT_EQ(waves(32), 2);
    EXPECT_EQ(waves(64), 4) << "65,536 registers hold one block of 1,024 threads";
}

// The compiler may have removed the shared memory that the manifest estimates.
TEST(BoundLaunch, TheCompilersSharedMemoryCountsEvenIfItIsNone) {
    auto device = model_device("sm_90");
    device.multiprocessors = 1;
    device.shared_bytes_per_multiprocessor = 12 * 1024;  // room for one block: 8 KiB, and 1 KiB reserved
    const auto waves = [&](CompiledSize compiled) {
        const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1), compiled);
        return term(bound.terms(gemm(4 * 32, 32, 64)).value(), Term::waves);
    };
    EXPECT_EQ(waves({32, 8192}), 4);
    EXPECT_EQ(waves({32, 0}), 2);
    EXPECT_EQ(waves({}), 4) << "what the compiler reported is unknown";
}

TEST(BoundLaunch, AWorkspaceIsATerm) {
    const auto kernel = built_in("warp_tiled");
    const auto device = model_device("sm_90");
    const auto problem = gemm(128, 64, 8192);
    const auto configuration = completed(parse_configuration("SPLIT_K=64"), default_configuration(kernel));
    ASSERT_EQ(infeasibility(kernel, configuration, problem, device), std::nullopt);
    const auto launch = launch_of(kernel, configuration, problem, device);
    const BoundLaunch bound(kernel, configuration, device, gemm(1, 1, 1));
    EXPECT_GT(launch.workspace->bytes, 0);
    EXPECT_DOUBLE_EQ(term(bound.terms(problem).value(), Term::workspace),
                     static_cast<double>(launch.workspace->bytes) / 4e6);
}

// warp_tiled copies one element after another, with guards, in two cases: a tile is longer than a row of the matrix in
// global memory, or there is only one k-tile.
TEST(BoundLaunch, LoadsThatWaitForOneAnotherAreATerm) {
    const auto kernel = built_in("warp_tiled");
    auto device = model_device("sm_90");
    device.clock_khz = 2'000'000;
    const auto configuration = completed(parse_configuration("BLOCK_M=32,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4"),
                                         default_configuration(kernel));
    const auto dependent_loads = [&](const std::string& layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        auto problem = gemm(m, n, k);
        problem.layout = layout;
        return term(BoundLaunch(kernel, configuration, device, problem).terms(problem).value(), Term::dependent_loads);
    };
    // There is one wave with 80 k-tiles. 64 threads copy 2 * 32 * 8 elements of a k-tile, 8 each. Each copy takes 600
    // cycles, 0.3 us.
    EXPECT_DOUBLE_EQ(dependent_loads("nn", 64, 24, 640), 80 * 8 * 0.3);
    EXPECT_DOUBLE_EQ(dependent_loads("nn", 64, 24, 320), 40 * 8 * 0.3);
    EXPECT_EQ(dependent_loads("nn", 64, 32, 640), 0);
    EXPECT_EQ(dependent_loads("nn", 24, 64, 640), 0);
    EXPECT_EQ(dependent_loads("nt", 64, 24, 640), 0);
    EXPECT_EQ(dependent_loads("nt", 24, 64, 640), 0);
    EXPECT_DOUBLE_EQ(dependent_loads("nn", 64, 64, 8), 8 * 0.3);
    EXPECT_EQ(dependent_loads("nn", 64, 64, 9), 0);
    const auto waves = term(
        BoundLaunch(kernel, configuration, device, gemm(1, 1, 1)).terms(gemm(1 << 20, 24, 640)).value(), Term::waves);
    EXPECT_GT(waves, 1);
    EXPECT_DOUBLE_EQ(dependent_loads("nn", 1 << 20, 24, 640), waves * 80 * 8 * 0.3);
    // Constraints forbid a tile that is longer than a row of a transposed A, except for the smallest tile. 64 threads
    // copy 16 * 8 elements of A, 2 each, and 32 * 8 elements of B, 4 each.
    const auto smallest =
        completed(parse_configuration("BLOCK_M=16,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,SLICES_K=2"),
                  default_configuration(kernel));
    auto transposed = gemm(12, 64, 640);
    for (const auto& [layout, expected] : {std::pair{"nn", 0.0}, std::pair{"tn", 80 * 6 * 0.3}}) {
        transposed.layout = layout;
        const BoundLaunch bound(kernel, smallest, device, transposed);
        EXPECT_DOUBLE_EQ(term(bound.terms(transposed).value(), Term::dependent_loads), expected) << layout;
    }
    const BoundLaunch without(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1));
    EXPECT_EQ(term(without.terms(gemm(8, 8, 8)).value(), Term::dependent_loads), 0) << "a manifest need not name it";
}

// If the rows of an operand are misaligned, the kernel first copies the operand, in pieces of at most 512 elements. All
// 8 warps of a block copy pieces. The terms `dependent_loads` and `loads` count the part of the copy that one block
// does.
TEST(BoundLaunch, CopiesOfMisalignedOperandsTakeTimeByTheirPiecesAndTheirElements) {
    const auto kernel = built_in("wgmma_tiled");
    auto device = model_device("sm_90");
    device.clock_khz = 1'000'000;  // a cycle takes a nanosecond
    const auto configuration =
        completed(parse_configuration("BLOCK_M=64,BLOCK_N=64,CONSUMERS=1,STAGES=2"), default_configuration(kernel));
    const auto terms = [&](const std::string& layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        const auto problem = gemm(m, n, k, "bf16", layout);
        return BoundLaunch(kernel, configuration, device, problem).terms(problem).value();
    };
    const auto dependent = [&](const std::string& layout, std::int64_t m, std::int64_t n, std::int64_t k) {
        return term(terms(layout, m, n, k), Term::dependent_loads) / 0.6;
    };
    EXPECT_DOUBLE_EQ(dependent("nn", 64, 64, 128), 0);
    EXPECT_DOUBLE_EQ(dependent("nn", 64, 60, 128), 10 + 128 / 8) << "128 rows of B";
    EXPECT_DOUBLE_EQ(dependent("nn", 64, 64, 129), 10 + 64 / 8) << "64 rows of A";
    EXPECT_DOUBLE_EQ(dependent("nn", 64, 60, 129), 10 + (64 + 129) / 8) << "both";
    EXPECT_DOUBLE_EQ(dependent("nt", 64, 64, 129), 10 + (64 + 64) / 8) << "B has 64 rows, too";
    EXPECT_DOUBLE_EQ(dependent("tt", 60, 64, 128), 10 + 128 / 8) << "128 rows of A";
    EXPECT_DOUBLE_EQ(dependent("nt", 64, 64, 130 * 8 + 1), 10 + 3 * (64 + 64) / 8) << "3 pieces per row";
    EXPECT_DOUBLE_EQ(dependent("nn", 128, 60, 128), 10 + 128 / 16) << "two blocks share the copy";
    const auto loads_of_copy =
        term(terms("nn", 64, 52, 128), Term::loads) - term(terms("nn", 64, 56, 128), Term::loads);
    EXPECT_DOUBLE_EQ(loads_of_copy, (7 * 64 * 64 + 2 * 52 * 128) * 2 / 64.0 * 1e-3)
        << "C is stored element by element, and B is loaded and stored";
}

// Blocks of a cluster share loads. If the rows of an operand do not start at multiples of 128 bytes, its tile counts as
// 64 rows larger.
TEST(BoundLaunch, TheL2CacheDeliversTheTilesOfAllBlocks) {
    const auto kernel = built_in("wgmma_tiled");
    auto device = model_device("sm_90");
    device.clock_khz = 1'000'000;
    device.multiprocessors = 100;
    const auto elements = [&](const std::string& changes, std::int64_t m, std::int64_t n, std::int64_t k) {
        const auto problem = gemm(m, n, k, "bf16", "nt");
        const auto configuration = completed(parse_configuration(changes), default_configuration(kernel));
        const auto terms = BoundLaunch(kernel, configuration, device, problem).terms(problem).value();
        return term(terms, Term::l2) * 1e3 * 64 * 100 / 2;
    };
    const std::string tile = "BLOCK_M=128,BLOCK_N=64,CONSUMERS=2,STAGES=2";
    EXPECT_NEAR(elements(tile, 1280, 640, 640), 100 * 640 * (128 + 64), 1e-3);
    EXPECT_NEAR(elements(tile + ",CLUSTER_M=2", 1280, 640, 640), 100 * 640 * (128 + 32), 1e-3);
    EXPECT_NEAR(elements(tile + ",CLUSTER_N=2", 1280, 640, 640), 100 * 640 * (64 + 64), 1e-3);
    EXPECT_NEAR(elements(tile + ",CLUSTER_K=2", 128, 64, 640), 640 * (128 + 64), 1e-3);
    EXPECT_NEAR(elements(tile, 1280, 640, 648), 100 * 704 * (128 + 64 + 128), 1e-3);
    const auto portable = built_in("tensor_warp_tiled");
    const auto problem = gemm(64, 64, 100, "bf16", "nt");
    const auto configuration = completed(parse_configuration("BLOCK_M=32,BLOCK_N=64,BLOCK_K=32,WARP_M=16,WARP_N=32"),
                                         default_configuration(portable));
    const auto terms = BoundLaunch(portable, configuration, device, problem).terms(problem).value();
    EXPECT_NEAR(term(terms, Term::l2) * 1e3 * 64 * 100 / 2, 2 * 128 * (32 + 64), 1e-3);
}

// A cluster must fit into one group of multiprocessors. The sizes of groups are fitted, not real
// (templates/launch/hardware_rates.h): two groups have 35 multiprocessors with one block per multiprocessor, and 34
// with more blocks. With one block per multiprocessor, the 132 multiprocessors count as 7 groups of 17.5 and a rest of
// 9.5. Clusters of 4 or 8 blocks use 7 * 16 + 8 = 120 multiprocessors, and clusters of 16 use 7 * 16 = 112. With more
// blocks per multiprocessor, the 132 multiprocessors count as 7 groups of 17 and a rest of 13. Clusters of 4 blocks
// then use 7 * 16 + 12 = 124 multiprocessors. Clusters of 2 blocks use all 132 in both cases, because real groups
// consist of pairs of multiprocessors.
TEST(BoundLaunch, ClustersLeaveMultiprocessorsEmptyWhereNoFurtherOneFits) {
    const auto kernel = built_in("warp_tiled");
    const auto device = model_device("sm_90");
    ASSERT_EQ(device.multiprocessors, 132);
    const auto busiest = [&](const std::string& cluster, std::int64_t tiles) {
        const auto configuration = completed(parse_configuration("BLOCKS_PER_SM=4,BLOCK_M=32,BLOCK_N=32,BLOCK_K=8,"
                                                                 "THREAD_M=4,THREAD_N=4,CLUSTER_K=" +
                                                                 cluster),
                                             default_configuration(kernel));
        const auto problem = gemm(32 * tiles, 32, 4096);
        return term(BoundLaunch(kernel, configuration, device, problem).terms(problem).value(), Term::blocks);
    };
    EXPECT_EQ(busiest("1", 132), 1);
    EXPECT_EQ(busiest("1", 133), 2);
    EXPECT_EQ(busiest("2", 66), 1);
    EXPECT_EQ(busiest("2", 67), 2);
    EXPECT_EQ(busiest("4", 31), 1);
    EXPECT_EQ(busiest("4", 32), 2);
    EXPECT_EQ(busiest("8", 15), 1);
    EXPECT_EQ(busiest("8", 16), 2);
    EXPECT_EQ(busiest("16", 7), 1);
    EXPECT_EQ(busiest("16", 8), 2);

    const auto alone = built_in("wgmma_tiled");
    const auto waves = [&](const std::string& cluster, std::int64_t clusters) {
        const auto configuration =
            completed(parse_configuration("BLOCK_M=192,BLOCK_N=128,CONSUMERS=3,STAGES=4,CLUSTER_M=1," + cluster),
                      default_configuration(alone));
        const auto problem = gemm(192 * clusters, 512, 4096, "bf16", "nt");
        return term(BoundLaunch(alone, configuration, device, problem).terms(problem).value(), Term::waves);
    };
    EXPECT_EQ(waves("CLUSTER_N=4", 30), 1);
    EXPECT_EQ(waves("CLUSTER_N=4", 31), 2);
    EXPECT_EQ(waves("CLUSTER_N=2", 33), 1) << "66 clusters of 2";
}

TEST(BoundLaunch, AGpuWithFewerMultiprocessorsThanAClusterHasBlocksCountsOneCluster) {
    auto device = model_device("sm_90");
    device.multiprocessors = 7;
    const auto kernel = built_in("warp_tiled");
    const auto configuration = completed(
        parse_configuration("BLOCKS_PER_SM=4,BLOCK_M=32,BLOCK_N=32,BLOCK_K=8,THREAD_M=4,THREAD_N=4,CLUSTER_K=8"),
        default_configuration(kernel));
    const auto problem = gemm(32, 32, 4096);
    EXPECT_EQ(term(BoundLaunch(kernel, configuration, device, problem).terms(problem).value(), Term::blocks), 1);
}

TEST(BoundLaunch, ATemplateOfAnyOperationHasTerms) {
    const auto kernel = built_in("tiled_transpose");
    const Problem problem{"transpose", "f32", "", {{"M", 1000}, {"N", 500}}};
    const auto device = model_device("sm_90");
    const BoundLaunch bound(kernel, default_configuration(kernel), device, problem);
    const auto terms = bound.terms(problem);
    ASSERT_TRUE(terms);
    EXPECT_DOUBLE_EQ(term(*terms, Term::memory), 2 * 1000 * 500 * 4 / 4e6);
    EXPECT_GT(term(*terms, Term::blocks), 0);
}

TEST(BoundLaunch, AProblemWithOtherExtentsIsNotValidAndTheExtentsOfTheFirstOneDoNotMatter) {
    const Problem other{"gemm", "f32", "nn", {{"M", -1}}};
    const BoundLaunch bound(built_in("tiled"), {{{"TILE_WIDTH", 32}}}, model_device("sm_90"), other);
    EXPECT_EQ(bound.terms(other), std::nullopt);
    EXPECT_EQ(bound.terms({"gemm", "f32", "nn", {{"M", 8}, {"K", 8}, {"N", 8}}}), std::nullopt);
    EXPECT_TRUE(bound.terms(gemm(8, 8, 8)));
}

// Blocks that share K compute one tile each. Blocks that do not share K compute several tiles one after another. With
// about the same K, the multiprocessors have about the same work in both cases.
TEST(BoundLaunch, TheWorkOfAMultiprocessorIsCountedOnceHoweverItsBlocksShareIt) {
    const auto kernel = built_in("wgmma_tf32_tiled");
    const auto device = model_device("sm_90");
    const auto terms_at = [&](const char* changes, std::int64_t k) {
        const auto problem = gemm(4096, 4096, k, "tf32", "nt");
        const auto configuration = completed(parse_configuration(changes), default_configuration(kernel));
        return BoundLaunch(kernel, configuration, device, problem).terms(problem).value();
    };
    const auto alone = terms_at("BLOCK_M=128,BLOCK_N=128,CLUSTER_K=1", 6144);
    const auto shared = terms_at("BLOCK_M=128,BLOCK_N=128,CLUSTER_K=2", 6176);
    for (const auto term_of : {Term::latency, Term::arithmetic, Term::loads}) {
        EXPECT_NEAR(term(shared, term_of) / term(alone, term_of), 1, 0.05) << static_cast<int>(term_of);
    }
}

TEST(TimeModel, APredictionIsTheSumOfItsShares) {
    const TimeModel model{.coefficients = {2, 0, 3, 0, 0, 0, 0, 1, 5, 6}, .error = 0};
    const Terms terms{1, 7, 10, 1, 1, 1, 1, 4, 2, 3};
    EXPECT_EQ(model.shares(terms), (Terms{2, 0, 30, 0, 0, 0, 0, 4, 10, 18}));
    EXPECT_EQ(model.predicted_us(terms), 64);
}

// Tests one or more blocks with 5 phases each. The terms follow from the rates in templates/launch/hardware_rates.h.
TEST(BoundLaunch, EachTermIsWhatItsPartTakes) {
    auto kernel = built_in("tiled");
    auto& model = *kernel.model;
    model.phases = Expression("5");
    model.loads_per_phase = Expression("16000");
    model.operations_per_phase = Expression("256000");
    model.barriers_per_phase = Expression("2");
    model.dependent_loads_per_phase = Expression("3");
    model.l2_loads = Expression("M * 1000");
    model.cluster_blocks = Expression("1");
    auto device = model_device("sm_90");
    device.clock_khz = 1'000'000;  // a cycle takes a nanosecond
    const auto terms = [&](std::int64_t rows) {
        return BoundLaunch(kernel, {{{"TILE_WIDTH", 32}}}, device, gemm(1, 1, 1)).terms(gemm(rows, 32, 32)).value();
    };
    const auto expect = [&](std::int64_t rows, double blocks, double waves) {
        const auto found = terms(rows);
        EXPECT_DOUBLE_EQ(term(found, Term::launch), 1);
        EXPECT_DOUBLE_EQ(term(found, Term::waves), waves);
        EXPECT_DOUBLE_EQ(term(found, Term::blocks), blocks);
        EXPECT_DOUBLE_EQ(term(found, Term::latency), waves * 5 * (0.6 + 2 * 0.03));
        EXPECT_DOUBLE_EQ(term(found, Term::arithmetic), blocks * 5 * 1);
        EXPECT_DOUBLE_EQ(term(found, Term::loads), blocks * 5 * 1) << "16 floats, 64 bytes, in a cycle";
        EXPECT_DOUBLE_EQ(term(found, Term::dependent_loads), waves * 5 * 3 * 0.6);
        EXPECT_DOUBLE_EQ(term(found, Term::workspace), 0);
        EXPECT_DOUBLE_EQ(term(found, Term::l2),
                         static_cast<double>(rows) / 16 / std::max(1.0, static_cast<double>(device.multiprocessors)))
            << "1000 floats per row, from all multiprocessors' share of the cache";
    };
    expect(32, 1, 1);
    device.multiprocessors = 1;  // one multiprocessor holds two blocks of 1024 threads
    expect(64, 2, 1);
    expect(96, 3, 2);
    expect(128, 4, 2);
    device.clock_khz = 0;
    EXPECT_DOUBLE_EQ(term(terms(32), Term::dependent_loads), 5 * 3 * 0.6) << "in thousands of cycles";
    device.multiprocessors = 0;
    expect(64, 2, 1);  // 0 multiprocessors count as one
    device.compute_capability = 0;
    expect(64, 2, 2);  // the host device runs one block at a time
    model.dependent_loads_per_block = Expression("4");
    model.stores_per_block = Expression("32000");
    EXPECT_DOUBLE_EQ(term(terms(64), Term::dependent_loads), 2 * (5 * 3 + 4) * 0.6) << "two waves";
    EXPECT_DOUBLE_EQ(term(terms(64), Term::loads), 2 * (5 * 1 + 2)) << "two blocks, which store 32,000 floats each";
    kernel.model.reset();
    const auto without = terms(64);
    EXPECT_EQ(term(without, Term::latency) + term(without, Term::arithmetic) + term(without, Term::loads), 0);
    EXPECT_EQ(term(without, Term::blocks), 2);
}

}  // namespace
}  // namespace smemtune
