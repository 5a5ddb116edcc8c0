// Compiles configurations of the fastest templates and launches each at many random shapes, addresses and strides.
// Every launch must end, the elements of C that the test looks at must be right, and the elements around C must not
// change.
#include <fmt/format.h>

#include <cmath>

#include "runtime/configured_kernel.h"
#include "templates/arguments/argument_type.h"
#include "templates/predict/bound_launch.h"
#include "tests/gpu/support.h"

namespace smemtune {
namespace {

constexpr int configurations = 40, launches_of_each = 70;  // per kernel: at most 40 * 70 = 2,800 launches

constexpr int most_draws = 10000;  // per problem, to find a configuration that fulfils the rule of its group

constexpr int longest = 1500;  // the largest extent, except for K of the group `restarts`

struct Range {
    int least = 1, up_to = longest;
};

// A group of configurations, and the extents for which some of them are valid.
struct Group {
    std::string name{}, rule = "1";  // only configurations that fulfil the rule are tested
    Range sides{}, k{};
};

const Group ping_pong{.name = "PingPong", .rule = "PING_PONG", .sides = {longest / 2, longest}};
// Blocks of one cluster share operands and K.
const Group mixed_clusters{.name = "MixedClusters",
                           .rule = "CLUSTER_K > 1 && CLUSTER_M * CLUSTER_N > 1",
                           .sides = {65, longest / 3},
                           .k = {longest / 2, longest}};

// Several clusters share each tile of C: each of them multiplies a part of K.
const Group split_k{.name = "SplitK", .rule = "SPLIT_K > 1", .sides = {33, longest / 3}, .k = {longest / 2, longest}};
// Like split_k, but as many clusters (or blocks) share each tile as run at once.
const Group all_at_once{
    .name = "AllAtOnce", .rule = "SPLIT_K == 0", .sides = {16, longest / 3}, .k = {longest / 2, longest}};
// After some products, a block writes its sums to C and starts new sums, which it later adds to C.
const Group restarts{.name = "Restarts", .rule = "RESTARTS", .sides = {longest / 6, longest / 2}, .k = {6200, 9000}};

struct RandomCase {
    std::string name, type, layout;
    Group group{};
};

class RandomShapes : public testing::TestWithParam<RandomCase> {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);
    const KernelTemplate& kernel = *std::ranges::find(builtin_templates(), GetParam().name, &KernelTemplate::name);
    std::mt19937 random{11};

    Problem random_problem() {
        const bool narrow = GetParam().name == "tensor_skinny";
        const auto in = [&](double least, double up_to) {
            return static_cast<int>(
                std::exp(std::uniform_real_distribution<>(std::log(least), std::log(up_to))(random)));
        };
        const auto [sides, k] = std::pair(GetParam().group.sides, GetParam().group.k);
        auto m = in(sides.least, sides.up_to), n = in(sides.least, narrow ? 32 : sides.up_to);
        if (random() % 2 == 0) std::swap(m, n);
        return gemm(m, n, in(k.least, k.up_to), GetParam().type, GetParam().layout);
    }

    [[nodiscard]] static const NumberType& number_type() { return number_type_of(GetParam().type); }

    // Integers from -2 to 2 that look random. If a kernel multiplied the wrong elements, its sum would hardly ever
    // equal the right sum. Sums of products of these integers are exact in FP32.
    static int integer_at(std::size_t index, std::size_t matrix) {
        const auto mixed = (index + 1) * 0x9E3779B97F4A7C15 + matrix * 0xD1B54A32D192ED03;
        return static_cast<int>((mixed >> 33) % 5) - 2;
    }

    [[nodiscard]] std::vector<std::byte> integers(std::size_t count, std::size_t matrix) const {
        const auto bytes = static_cast<std::size_t>(number_type().bytes);
        std::vector<std::byte> values(count * bytes);
        for (std::size_t i = 0; i < count; ++i) {
            store_number(number_type(), integer_at(i, matrix), std::span(values).subspan(i * bytes, bytes));
        }
        return values;
    }

    /// A matrix within an operand: the element where it starts and its stride.
    struct Place {
        std::size_t offset;
        int stride;
        [[nodiscard]] std::size_t at(int row, int column) const {
            return offset + static_cast<std::size_t>(row) * static_cast<std::size_t>(stride) +
                   static_cast<std::size_t>(column);
        }
    };

    /// With a probability of one half, the matrix is packed and starts at element 0. Otherwise it starts at one of the
    /// elements 0 to 16, and each row has up to most_padding elements more than columns.
    Place random_place(int columns) {
        if (random() % 2 == 0) return {0, columns};
        return {random() % 17, columns + static_cast<int>(random() % (most_padding + 1))};
    }

    /// A configuration, with its compiled kernel. It is valid for `problem`.
    struct Candidate {
        Configuration configuration;
        Problem problem;
        std::shared_future<CompilePool::Result> compiled;
    };

    std::vector<Candidate> random_candidates(CompilePool& pool) {
        const Expression rule(GetParam().group.rule);
        std::vector<Candidate> candidates;
        for (int i = 0; i < configurations; ++i) {
            const auto problem = random_problem();
            const auto space = feasible_space(kernel, problem, device);
            for (int draws = 0; draws < most_draws && space.size() > 0; ++draws) {
                const auto configuration = space[random() % space.size()];
                const auto& values = configuration.values;
                if (rule.evaluate(Environment(values.begin(), values.end())) == 0) continue;
                candidates.push_back({configuration, problem, pool.submit(program_of(kernel, configuration, problem))});
                break;
            }
        }
        return candidates;
    }

    void compute(const Problem& problem, const std::shared_ptr<const LoadedKernel>& loaded, const Launch& launch);

    static constexpr unsigned most_padding = 20;
    const std::size_t most_elements =
        elements(GetParam().group.sides.up_to, std::max(GetParam().group.sides.up_to, GetParam().group.k.up_to) + 64) *
        2;
    const std::vector<std::byte> initial_c = integers(most_elements, 2);
    const std::unique_ptr<Memory> a = operand(0), b = operand(1), c = backend->allocate(initial_c.size());

private:
    [[nodiscard]] std::unique_ptr<Memory> operand(std::size_t matrix) const {
        const auto values = integers(most_elements, matrix);
        auto memory = backend->allocate(values.size());
        backend->copy_to_device(*memory, values);
        return memory;
    }
};

// Launches the kernel at places and with scalars drawn at random. Compares some elements of C with exact sums. Compares
// the elements before C, between its rows and shortly after it with their values before the launch.
void RandomShapes::compute(const Problem& problem, const std::shared_ptr<const LoadedKernel>& loaded,
                           const Launch& launch) {
    const auto extent = [&](std::size_t at) { return static_cast<int>(problem.extents[at].second); };
    const auto element_bytes = static_cast<std::size_t>(number_type().bytes);
    const auto& layout = GetParam().layout;
    int m = extent(0), n = extent(1), k = random() % 32 == 0 ? 0 : extent(2);
    const auto place_a = random_place(layout[0] == 'n' ? extent(2) : m);
    const auto place_b = random_place(layout[1] == 'n' ? n : extent(2));
    const auto place_c = random_place(n);
    float alpha = random() % 2 == 0 ? 1 : -2, beta = random() % 2 == 0 ? 0 : 3;
    long long lda = place_a.stride, ldb = place_b.stride, ldc = place_c.stride;
    const auto address = [&](const Memory& memory, const Place& place) -> void* {
        return static_cast<std::byte*>(memory.data()) + place.offset * element_bytes;
    };
    void *a_data = address(*a, place_a), *b_data = address(*b, place_b), *c_data = address(*c, place_c);

    std::vector<std::byte> result((place_c.at(m - 1, n - 1) + 1 + most_padding) * element_bytes);
    backend->copy_to_device(*c, std::span(initial_c).first(result.size()));
    ConfiguredKernel(loaded, launch)
        .launch(nullptr, std::vector<void*>{&m, &n, &k, &alpha, &a_data, &lda, &b_data, &ldb, &beta, &c_data, &ldc});
    backend->synchronize();
    backend->copy_to_host(result, *c);

    SCOPED_TRACE(fmt::format("{}, K = {}, offsets {} {} {}, strides {} {} {}, alpha {}, beta {}", to_text(problem), k,
                             place_a.offset, place_b.offset, place_c.offset, lda, ldb, ldc, alpha, beta));
    const auto bytes_at = [&](std::span<const std::byte> matrix, std::size_t at) {
        return matrix.subspan(at * element_bytes, element_bytes);
    };
    for (int i = 0; i < 32; ++i) {
        const auto row = i == 0 ? 0 : i == 1 ? m - 1 : static_cast<int>(random() % static_cast<unsigned>(m));
        const auto column = i == 0 ? 0 : i == 1 ? n - 1 : static_cast<int>(random() % static_cast<unsigned>(n));
        int sum = 0;
        for (int step = 0; step < k; ++step) {
            const auto of_a = layout[0] == 'n' ? place_a.at(row, step) : place_a.at(step, row);
            const auto of_b = layout[1] == 'n' ? place_b.at(step, column) : place_b.at(column, step);
            sum += integer_at(of_a, 0) * integer_at(of_b, 1);
        }
        const auto at = place_c.at(row, column);
        const auto expected = alpha * static_cast<float>(sum) + beta * static_cast<float>(integer_at(at, 2));
        // The result is rounded to the type of C.
        ASSERT_NEAR(load_number(number_type(), bytes_at(result, at)), expected, std::abs(expected) / 256)
            << "at " << row << ", " << column;
    }
    const auto is_unchanged = [&](std::size_t from, std::size_t to) {
        return std::ranges::equal(std::span(result).subspan(from * element_bytes, (to - from) * element_bytes),
                                  std::span(initial_c).subspan(from * element_bytes, (to - from) * element_bytes));
    };
    ASSERT_TRUE(is_unchanged(0, place_c.offset)) << "elements before C were written";
    for (int row = 0; row < m; ++row) {
        const auto next = row + 1 < m ? place_c.at(row + 1, 0) : result.size() / element_bytes;
        ASSERT_TRUE(is_unchanged(place_c.at(row, n - 1) + 1, next)) << "elements beside row " << row << " were written";
    }
}

TEST_P(RandomShapes, AreAllComputed) {
    if (!supports(kernel, random_problem(), device)) GTEST_SKIP() << "the GPU lacks the instructions";
    CompilePool pool(*compiler, std::max(1U, std::thread::hardware_concurrency()));
    int launched = 0;
    for (const auto& [configuration, like, compiled] : random_candidates(pool)) {
        SCOPED_TRACE(to_text(configuration));
        const auto& result = compiled.get();
        ASSERT_TRUE(std::holds_alternative<Binary>(result)) << std::get<Rejection>(result).reason;
        const BoundLaunch bound(kernel, configuration, device, like, {});
        for (int launches = 0, tries = 0; launches < launches_of_each && tries < 4000; ++tries) {
            const auto problem = tries == 0 ? like : random_problem();
            if (!bound.terms(problem)) continue;  // the configuration is not valid for this shape
            ++launches;
            const auto launch = launch_of(kernel, configuration, problem, device);
            const auto loaded =
                with_workspace(backend->load(std::get<Binary>(result), launch.dynamic_shared_bytes), launch, *backend);
            ASSERT_NO_FATAL_FAILURE(compute(problem, loaded, launch));
            ++launched;
        }
    }
    EXPECT_GT(launched, 1500);
    RecordProperty("launches", launched);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, RandomShapes,
    testing::Values(
        RandomCase{"warp_tiled", "f32", "nn", all_at_once}, RandomCase{"warp_tiled", "f32", "tn", all_at_once},
        RandomCase{"warp_tiled", "f32", "nt", all_at_once}, RandomCase{"warp_tiled", "f32", "tt"},
        RandomCase{"wgmma_tiled", "bf16", "nn"}, RandomCase{"wgmma_tiled", "f16", "tn"},
        RandomCase{"wgmma_tiled", "bf16", "nt", ping_pong}, RandomCase{"wgmma_tiled", "f16", "tn", ping_pong},
        RandomCase{"wgmma_tiled", "bf16", "tn", mixed_clusters}, RandomCase{"wgmma_tiled", "f16", "nt", mixed_clusters},
        RandomCase{"wgmma_tiled", "f16", "nn", split_k}, RandomCase{"wgmma_tf32_tiled", "tf32", "nn"},
        RandomCase{"wgmma_tf32_tiled", "tf32", "nn", restarts}, RandomCase{"wgmma_tf32_tiled", "tf32", "tn", restarts},
        RandomCase{"wgmma_tf32_tiled", "tf32", "tn"}, RandomCase{"wgmma_split_tiled", "3xtf32", "nn"},
        RandomCase{"tensor_skinny", "bf16", "nn"}),
    [](const auto& each) { return each.param.name + "_" + each.param.layout + each.param.group.name; });

}  // namespace
}  // namespace smemtune
