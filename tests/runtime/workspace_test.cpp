#include "runtime/workspace.h"

#include <gmock/gmock.h>

#include <thread>

#include "runtime/host/host_backend.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::ElementsAre;

// Tests with a kernel that counts its launches in its workspace. The kernel's output is the number of earlier launches
// with the same workspace.
class Workspaces : public testing::Test {
protected:
    const std::unique_ptr<Backend> backend = open_host({.threads = 1});
    const Binary binary = must_compile(*host_compiler(), program(R"(extern "C" __global__ void k(int* out, int* count) {
    if (threadIdx.x == 0) *out = count == nullptr ? -1 : count[1]++;
}
)"));

    [[nodiscard]] static Launch asking(std::int64_t bytes) {
        Launch launch{.block = {32, 1, 1}};
        launch.workspace = {.bytes = bytes, .place = 1};
        return launch;
    }
    [[nodiscard]] std::shared_ptr<const LoadedKernel> load(const Launch& launch) const {
        return with_workspace(backend->load(binary, 0), launch, *backend);
    }
    [[nodiscard]] int used_before(const LoadedKernel& kernel, const Launch& launch, std::uintptr_t stream = 0) const {
        const auto memory = backend->allocate(sizeof(int));
        void* out = memory->data();
        void* argument = &out;
        kernel.launch(reinterpret_cast<StreamHandle>(stream), launch, &argument);
        int result = 0;
        backend->copy_to_host(std::as_writable_bytes(std::span(&result, 1)), *memory);
        return result;
    }
};

TEST_F(Workspaces, BeginWithZerosAndKeepWhatALaunchLeaves) {
    const auto launch = asking(8);
    const auto kernel = load(launch);
    for (int time = 0; time < 3; ++time) EXPECT_EQ(used_before(*kernel, launch), time);
    EXPECT_EQ(used_before(*load(launch), launch), 0) << "a kernel has its own";
}

TEST_F(Workspaces, AreOnesOwnOnEachStream) {
    const auto launch = asking(8);
    const auto kernel = load(launch);
    std::vector<int> before;
    for (const std::uintptr_t stream : {0x100U, 0x200U, 0x100U, 0x300U, 0x200U, 0x100U}) {
        before.push_back(used_before(*kernel, launch, stream));
    }
    EXPECT_THAT(before, ElementsAre(0, 0, 1, 0, 1, 2));
}

TEST_F(Workspaces, OfTheStreamPerThreadAreEachThreads) {
    const auto launch = asking(8);
    const auto kernel = load(launch);
    EXPECT_EQ(used_before(*kernel, launch, 2), 0);
    int there = -1;
    std::thread([&] { there = used_before(*kernel, launch, 2); }).join();
    EXPECT_EQ(there, 0);
    EXPECT_EQ(used_before(*kernel, launch, 2), 1);
}

TEST_F(Workspaces, OfNoBytesAreNull) {
    const auto launch = asking(0);
    EXPECT_EQ(used_before(*load(launch), launch), -1);
}

TEST_F(Workspaces, WithoutMemoryForOneAKernelIsNotLoaded) {
    EXPECT_THROW((void)load(asking(std::int64_t{1} << 60)), OutOfMemory);
}

TEST_F(Workspaces, AKernelThatAsksForNoneIsLeftAsItIs) {
    const std::shared_ptr<const LoadedKernel> kernel = backend->load(binary, 0);
    EXPECT_EQ(with_workspace(kernel, {}, *backend), kernel);
}

}  // namespace
}  // namespace smemtune
