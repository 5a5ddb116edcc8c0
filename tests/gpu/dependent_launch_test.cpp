// Tests kernels that may start before the previous kernel of the stream has ended
// (templates/kernels/device/dependent_launch.h). Such a kernel must wait before it reads what the previous kernel
// writes.
#include <cmath>

#include "runtime/configured_kernel.h"
#include "runtime/cuda/nvrtc.h"
#include "templates/arguments/argument_type.h"
#include "tests/gpu/support.h"

namespace smemtune {
namespace {

struct WaitingKernel {
    std::string name, type, layout;
    int m, n, k;
};

class DependentLaunch : public testing::Test {
protected:
    const std::unique_ptr<Backend> backend = open_backend("0");
    const Device device = backend->device();
    const std::unique_ptr<Compiler> compiler = make_compiler(device);

    void SetUp() override {
        if (device.compute_capability < 90) GTEST_SKIP() << "no programmatic launch before compute capability 9.0";
    }

    [[nodiscard]] Binary compiled(const std::string& source) const {
        Program program;
        program.entry = "kernel";
        program.source_path = "kernel.cu";
        program.files["kernel.cu"] = source;
        program.files["configuration.h"] = "";
        auto result = compiler->compile(program);
        if (const auto* rejection = std::get_if<Rejection>(&result)) throw std::runtime_error(rejection->reason);
        return std::get<Binary>(std::move(result));
    }

    // A kernel that lets the next kernel start at once, sleeps for about 0.2 ms, and then copies `bytes` bytes.
    std::unique_ptr<LoadedKernel> late = device.compute_capability < 90 ? nullptr
                                                                        : backend->load(compiled(R"(
        extern "C" __global__ void kernel(unsigned char* to, const unsigned char* from, long long bytes) {
            asm volatile("griddepcontrol.launch_dependents;");
            for (int i = 0; i < 200; ++i) __nanosleep(1000);
            const long long stride = gridDim.x * blockDim.x;
            for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += stride) to[i] = from[i];
        })"),
                                                                                        0);

    void copy_late(const Memory& to, const Memory& from) const {
        Launch launch;
        launch.grid = {64, 1, 1};
        launch.block = {64, 1, 1};
        void *to_data = to.data(), *from_data = from.data();
        long long bytes = static_cast<long long>(to.size());
        void* arguments[] = {&to_data, &from_data, &bytes};
        late->launch(nullptr, launch, arguments);
    }
    [[nodiscard]] std::vector<std::byte> bytes_of(const Memory& memory) const {
        std::vector<std::byte> bytes(memory.size());
        backend->synchronize();
        backend->copy_to_host(bytes, memory);
        return bytes;
    }
};

// Shows that kernels start early here. If they did not, the other tests would prove nothing.
TEST_F(DependentLaunch, AKernelThatDoesNotWaitReadsOldValues) {
    const std::string copies = R"(
        __device__ unsigned char smemtune_waits_for_previous_kernel;
        extern "C" __global__ void kernel(unsigned char* to, const unsigned char* from) { *to = *from; })";
    const auto early = backend->load(compiled(copies), 0);
    const auto source = backend->allocate(1), between = backend->allocate_zeroed(1), to = backend->allocate_zeroed(1);
    backend->copy_to_device(*source, std::vector{std::byte{1}});
    Launch launch;
    launch.grid = launch.block = {1, 1, 1};
    copy_late(*between, *source);
    void *to_data = to->data(), *from_data = between->data();
    void* arguments[] = {&to_data, &from_data};
    early->launch(nullptr, launch, arguments);
    EXPECT_EQ(bytes_of(*to).front(), std::byte{0});
    EXPECT_EQ(bytes_of(*between).front(), std::byte{1});
}

class WaitingKernels : public DependentLaunch, public testing::WithParamInterface<WaitingKernel> {};

TEST_P(WaitingKernels, ReadWhatThePreviousKernelWritesLast) {
    auto [name, type, layout, m, n, k] = GetParam();
    const auto& kernel = *std::ranges::find(builtin_templates(), name, &KernelTemplate::name);
    const auto problem = gemm(m, n, k, type, layout);
    const auto& number = number_type_of(type);
    const auto bytes = static_cast<std::size_t>(number.bytes);
    // A, B and C in one piece of memory
    const std::array counts{elements(m, k), elements(k, n), elements(m, n)};
    std::array<std::size_t, 4> begin{};
    for (std::size_t i = 0; i < 3; ++i) begin[i + 1] = begin[i] + (counts[i] * bytes + 255) / 256 * 256;
    std::vector<std::byte> values(begin[3]);
    std::mt19937 random(3);
    for (std::size_t at = 0; at < values.size(); at += bytes) {
        store_number(number, 1 + static_cast<double>(random() % 8), std::span(values).subspan(at, bytes));
    }
    const auto source = backend->allocate(values.size()), operands = backend->allocate(values.size());
    backend->copy_to_device(*source, values);
    long long lda = layout[0] == 'n' ? k : m, ldb = layout[1] == 'n' ? n : k, ldc = n;
    float alpha = 1, beta = 1;
    void *a = operands->data(), *b = operands->data() + begin[1], *c = operands->data() + begin[2];
    const std::vector<void*> arguments{&m, &n, &k, &alpha, &a, &lda, &b, &ldb, &beta, &c, &ldc};

    for_spread_configurations(
        *backend, *compiler, kernel, problem, 12, [&](const auto& configured, const auto& binary) {
            EXPECT_TRUE(waits_for_previous_kernel(binary.code));
            backend->copy_to_device(*operands, values);
            backend->synchronize();
            configured.launch(nullptr, arguments);
            const auto right = bytes_of(*operands);
            EXPECT_NE(right, values);
            for (int repeat = 0; repeat < 2; ++repeat) {
                backend->fill_with_zeros(operands->data(), operands->size(), nullptr);
                copy_late(*operands, *source);
                configured.launch(nullptr, arguments);
                EXPECT_TRUE(bytes_of(*operands) == right) << "the kernel read or wrote C, A or B too early";
            }
        });
}

// C of each launch is A of the next one.
TEST_P(WaitingKernels, ComputeTheSameChainAsWithPausesBetweenLaunches) {
    const auto& [name, type, layout, m, n, k] = GetParam();
    const auto& kernel = *std::ranges::find(builtin_templates(), name, &KernelTemplate::name);
    int side = n, rows = layout[0] == 't' ? side : m;  // B has side x side elements, so C can be the next A
    const auto problem = gemm(rows, side, side, type, layout);
    const auto& number = number_type_of(type);
    const auto bytes = static_cast<std::size_t>(number.bytes);
    const auto memory_of = [&](std::size_t count, double scale) {
        std::vector<std::byte> values(count * bytes);
        std::mt19937 random(5);
        for (std::size_t i = 0; i < count; ++i) {
            store_number(number, scale * (static_cast<double>(random() % 17) - 8),
                         std::span(values).subspan(i * bytes, bytes));
        }
        auto memory = backend->allocate(values.size());
        backend->copy_to_device(*memory, values);
        return memory;
    };
    constexpr std::size_t links = 20;
    const auto b = memory_of(elements(side, side), 0.2 / std::sqrt(side));
    std::vector<std::unique_ptr<Memory>> matrices;
    for (std::size_t i = 0; i <= links; ++i) matrices.push_back(memory_of(elements(rows, side), i == 0 ? 0.125 : 0));
    for_spread_configurations(*backend, *compiler, kernel, problem, 6, [&](const auto& configured, const auto&) {
        const auto chain = [&](bool pauses) {
            for (std::size_t link = 1; link <= links; ++link) {
                backend->fill_with_zeros(matrices[link]->data(), matrices[link]->size(), nullptr);
            }
            backend->synchronize();
            for (std::size_t link = 0; link < links; ++link) {
                long long leading = side, lda = layout[0] == 'n' ? side : rows;
                float alpha = 1, beta = 0;
                void *from = matrices[link]->data(), *by = b->data(), *to = matrices[link + 1]->data();
                configured.launch(nullptr, std::vector<void*>{&rows, &side, &side, &alpha, &from, &lda, &by, &leading,
                                                              &beta, &to, &leading});
                if (pauses) backend->synchronize();
            }
            return bytes_of(*matrices[links]);
        };
        const auto right = chain(true);
        EXPECT_NE(right, std::vector<std::byte>(right.size()));
        for (int repeat = 0; repeat < 3; ++repeat) EXPECT_TRUE(chain(false) == right) << "a link started too early";
    });
}

INSTANTIATE_TEST_SUITE_P(Templates, WaitingKernels,
                         testing::Values(WaitingKernel{"wgmma_tiled", "bf16", "nn", 256, 192, 520},
                                         WaitingKernel{"wgmma_tiled", "f16", "tn", 201, 137, 519},
                                         WaitingKernel{"wgmma_tiled", "bf16", "nt", 1024, 1024, 256},
                                         WaitingKernel{"wgmma_tiled", "bf16", "tt", 128, 128, 8192},
                                         WaitingKernel{"wgmma_tiled", "f16", "nn", 1001, 999, 999},
                                         WaitingKernel{"wgmma_tf32_tiled", "tf32", "nt", 1024, 1024, 256},
                                         WaitingKernel{"wgmma_tf32_tiled", "tf32", "nn", 256, 192, 520},
                                         WaitingKernel{"wgmma_tf32_tiled", "tf32", "tn", 201, 137, 519},
                                         WaitingKernel{"wgmma_split_tiled", "3xtf32", "nn", 256, 192, 520},
                                         WaitingKernel{"tensor_warp_tiled", "bf16", "nn", 256, 192, 520},
                                         WaitingKernel{"tensor_warp_tiled", "tf32", "tt", 201, 137, 519},
                                         WaitingKernel{"tensor_split_tiled", "3xtf32", "nn", 201, 137, 519},
                                         WaitingKernel{"warp_tiled", "f32", "nn", 256, 192, 520},
                                         WaitingKernel{"warp_tiled", "f32", "tt", 201, 137, 519},
                                         WaitingKernel{"warp_tiled", "f32", "nt", 512, 512, 256},
                                         WaitingKernel{"skinny", "f32", "nn", 512, 8, 1024},
                                         WaitingKernel{"skinny", "f32", "nt", 7, 513, 1023},
                                         WaitingKernel{"matrix_vector", "f32", "nn", 1, 513, 1023},
                                         WaitingKernel{"matrix_vector", "f32", "nt", 1, 512, 1024},
                                         WaitingKernel{"tensor_skinny", "bf16", "nn", 512, 8, 1024},
                                         WaitingKernel{"tensor_skinny", "f16", "nt", 7, 513, 1023}),
                         [](const auto& each) {
                             return each.param.name + "_" +
                                    each.param.type.substr(each.param.type.find_first_of("tbf")) + "_" +
                                    each.param.layout;
                         });

}  // namespace
}  // namespace smemtune
