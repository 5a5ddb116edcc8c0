// Compiles configurations of the tensor-core templates and launches each at many random shapes. Every launch must end,
// and the elements of C that the test looks at must be right.
#include <cmath>

#include "runtime/configured_kernel.h"
#include "templates/arguments/argument_type.h"
#include "templates/predict/bound_launch.h"
#include "tests/gpu/support.h"

namespace smemtune {
namespace {

constexpr int configurations = 40, launches_of_each = 70;  // per kernel: at most 40 * 70 = 2,800 launches

constexpr int longest = 1500;  // limit of most extents

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

// Several clusters share the tiles of C.
const Group split_k{.name = "SplitK", .rule = "SPLIT_K > 1", .sides = {33, longest / 3}, .k = {longest / 2, longest}};
// A block computes several sums for each element of C.
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

    Problem random_problem(bool narrow) {
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

    [[nodiscard]] std::unique_ptr<Memory> integers(std::size_t count, std::size_t matrix) const {
        const auto bytes = static_cast<std::size_t>(number_type().bytes);
        std::vector<std::byte> values(count * bytes);
        for (std::size_t i = 0; i < count; ++i) {
            store_number(number_type(), integer_at(i, matrix), std::span(values).subspan(i * bytes, bytes));
        }
        auto memory = backend->allocate(values.size());
        backend->copy_to_device(*memory, values);
        return memory;
    }
};

TEST_P(RandomShapes, AreAllComputed) {
    if (!supports(kernel, random_problem(false), device)) GTEST_SKIP() << "the GPU lacks the instructions";
    const auto element_bytes = static_cast<std::size_t>(number_type().bytes);
    const bool narrow = GetParam().name == "tensor_skinny";
    const Expression rule(GetParam().group.rule);
    const auto [sides, k_range] = std::pair(GetParam().group.sides, GetParam().group.k);
    const auto largest = elements(sides.up_to, std::max(sides.up_to, k_range.up_to));
    const auto a = integers(largest, 0), b = integers(largest, 1);
    const auto c = backend->allocate(largest * element_bytes);
    int launched = 0;
    for (int i = 0; i < configurations; ++i) {
        const auto like = random_problem(narrow);
        const auto space = feasible_space(kernel, like, device);
        std::vector<std::size_t> choices;
        for (std::size_t at = 0; at < space.size(); ++at) {
            const auto& values = space[at].values;
            if (rule.evaluate(Environment(values.begin(), values.end())) != 0) choices.push_back(at);
        }
        if (choices.empty()) continue;
        const auto configuration = space[choices[random() % choices.size()]];
        SCOPED_TRACE(to_text(configuration));
        const auto compiled = compiler->compile(program_of(kernel, configuration, like));
        ASSERT_TRUE(std::holds_alternative<Binary>(compiled)) << std::get<Rejection>(compiled).reason;
        const BoundLaunch bound(kernel, configuration, device, like, {});
        for (int launches = 0, tries = 0; launches < launches_of_each && tries < 4000; ++tries) {
            const auto problem = tries == 0 ? like : random_problem(narrow);
            if (!bound.terms(problem)) continue;  // the configuration is not valid for this shape
            ++launches;
            const auto launch = launch_of(kernel, configuration, problem, device);
            const auto loaded = with_workspace(backend->load(std::get<Binary>(compiled), launch.dynamic_shared_bytes),
                                               launch, *backend);
            const auto extent = [&](std::size_t at) { return static_cast<int>(problem.extents[at].second); };
            int m = extent(0), n = extent(1), k = extent(2);
            long long lda = GetParam().layout[0] == 'n' ? k : m, ldb = GetParam().layout[1] == 'n' ? n : k, ldc = n;
            float alpha = 1, beta = 0;
            void *a_data = a->data(), *b_data = b->data(), *c_data = c->data();
            std::vector<std::byte> result(elements(m, n) * element_bytes);
            backend->fill_with_zeros(static_cast<std::byte*>(c_data), result.size(), nullptr);
            ConfiguredKernel(loaded, launch)
                .launch(nullptr,
                        std::vector<void*>{&m, &n, &k, &alpha, &a_data, &lda, &b_data, &ldb, &beta, &c_data, &ldc});
            backend->synchronize();
            backend->copy_to_host(result, *c);
            std::vector<std::size_t> places{0, elements(m, n) - 1};
            for (int more = 0; more < 30; ++more) places.push_back(random() % elements(m, n));
            for (const auto at : places) {
                const auto got =
                    load_number(number_type(), std::span(result).subspan(at * element_bytes, element_bytes));
                const auto row = static_cast<long long>(at) / n, column = static_cast<long long>(at) % n;
                int expected = 0;
                for (long long step = 0; step < k; ++step) {
                    const auto of_a = GetParam().layout[0] == 'n' ? row * lda + step : step * lda + row;
                    const auto of_b = GetParam().layout[1] == 'n' ? step * ldb + column : column * ldb + step;
                    expected +=
                        integer_at(static_cast<std::size_t>(of_a), 0) * integer_at(static_cast<std::size_t>(of_b), 1);
                }
                // The result is rounded to the type of C.
                ASSERT_NEAR(got, expected, std::abs(expected) / 256.0) << to_text(problem) << " at " << at;
            }
            ++launched;
        }
    }
    EXPECT_GT(launched, 1500);
    RecordProperty("launches", launched);
}

INSTANTIATE_TEST_SUITE_P(
    TensorCores, RandomShapes,
    testing::Values(
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
