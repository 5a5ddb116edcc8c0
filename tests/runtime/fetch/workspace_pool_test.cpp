#include "runtime/fetch/workspace_pool.h"

#include <gmock/gmock.h>

#include <cstring>

#include "runtime/host/host_backend.h"

namespace smemtune {
namespace {

using testing::ElementsAre;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// A backend that counts allocated bytes. Its streams are captured while `capturing` is true.
class Counting : public Backend {
public:
    std::size_t held = 0;  // bytes that are allocated now
    std::size_t most = 0;  // the largest value of `held` so far
    std::size_t available = ~std::size_t{0};
    bool capturing = false;
    int fills = 0;

    [[nodiscard]] const Device& device() const override { return device_; }
    [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Binary&, std::int64_t) override { return nullptr; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return allocate_zeroed(bytes); }
    [[nodiscard]] std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) override {
        if (held + bytes > available) throw OutOfMemory("too much");
        return std::make_unique<Block>(bytes, *this);
    }
    void fill_with_zeros(std::byte* at, std::size_t bytes, StreamHandle) override {
        ++fills;
        std::memset(at, 0, bytes);
    }
    [[nodiscard]] bool is_capturing(StreamHandle) override { return capturing; }
    void copy_to_device(Memory&, std::span<const std::byte>) override {}
    void copy_to_host(std::span<std::byte>, const Memory&) override {}
    [[nodiscard]] std::size_t free_bytes() override { return 0; }
    void synchronize() override {}
    [[nodiscard]] double time_us(std::span<const Call>) override { return 0; }

private:
    class Block : public Memory {
    public:
        Block(std::size_t bytes, Counting& owner)
            : data_(static_cast<std::byte*>(std::calloc(bytes, 1))), size_(bytes), owner_(owner) {
            owner_.held += bytes;
            owner_.most = std::max(owner_.most, owner_.held);
        }
        ~Block() override {
            owner_.held -= size_;
            std::free(data_);
        }
        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;
        [[nodiscard]] std::byte* data() const override { return data_; }
        [[nodiscard]] std::size_t size() const override { return size_; }

    private:
        std::byte* data_;
        std::size_t size_;
        Counting& owner_;
    };
    Device device_ = host_device();
};

// A kernel that counts its launches in the last bytes of its workspace. The output is the number of earlier launches,
// or -1 without a workspace.
class Counter : public LoadedKernel {
public:
    explicit Counter(std::size_t bytes) : bytes_(bytes) {}
    void launch(StreamHandle, const Launch&, void* const* arguments) const override {
        auto* const workspace = *static_cast<char**>(arguments[1]);
        auto& out = **static_cast<int**>(arguments[0]);
        if (workspace == nullptr) {
            out = -1;
            return;
        }
        int count = 0;
        std::memcpy(&count, workspace + bytes_ - sizeof(int), sizeof(int));
        out = count++;
        std::memset(workspace, 0x55, std::min<std::size_t>(bytes_ - sizeof(int), 4096));  // stands for a kernel's sums
        std::memcpy(workspace + bytes_ - sizeof(int), &count, sizeof(int));
    }

private:
    std::size_t bytes_;
};

class PooledWorkspaces : public testing::Test {
protected:
    [[nodiscard]] static Launch asking(std::size_t bytes) {
        Launch launch{.block = {32, 1, 1}};
        launch.workspace = {.bytes = static_cast<std::int64_t>(bytes), .place = 1};
        return launch;
    }
    [[nodiscard]] std::shared_ptr<const LoadedKernel> load(std::size_t bytes) const {
        return with_pooled_workspace(std::make_shared<Counter>(bytes), asking(bytes), pool);
    }
    [[nodiscard]] static int used_before(const std::shared_ptr<const LoadedKernel>& kernel, std::uintptr_t stream = 0) {
        int result = -2;
        int* out = &result;
        void* argument = &out;
        kernel->launch(reinterpret_cast<StreamHandle>(stream), {}, &argument);
        return result;
    }

    std::shared_ptr<Counting> backend = std::make_shared<Counting>();
    std::shared_ptr<WorkspacePool> pool = std::make_shared<WorkspacePool>(backend);
};

TEST_F(PooledWorkspaces, BeginWithZerosAndKeepWhatTheSameKernelLeaves) {
    const auto first = load(1000);
    const auto second = load(1000);
    for (int time = 0; time < 3; ++time) {
        EXPECT_EQ(used_before(first), time);
        EXPECT_EQ(used_before(second), time);
    }
    EXPECT_EQ(backend->fills, 0) << "what was just allocated holds zeros";
}

TEST_F(PooledWorkspaces, AreOnesOwnOnEachStream) {
    const auto kernel = load(8);
    std::vector<int> before;
    for (const std::uintptr_t stream : {0x100U, 0x200U, 0x100U, 0x300U, 0x200U, 0x100U}) {
        before.push_back(used_before(kernel, stream));
    }
    EXPECT_THAT(before, ElementsAre(0, 0, 1, 0, 1, 2));
}

TEST_F(PooledWorkspaces, OfTheStreamPerThreadAreEachThreads) {
    const auto kernel = load(8);
    EXPECT_EQ(used_before(kernel, 2), 0);
    int there = -1;
    std::thread([&] { there = used_before(kernel, 2); }).join();
    EXPECT_EQ(there, 0);
    EXPECT_EQ(used_before(kernel, 2), 1);
}

TEST_F(PooledWorkspaces, GivenOutAnewHoldZeros) {
    std::vector<std::shared_ptr<const LoadedKernel>> kernels;
    for (int i = 0; i < 5; ++i) kernels.push_back(load(20 * mebibyte));
    for (int time = 0; time < 3; ++time) {
        for (const auto& kernel : kernels) ASSERT_EQ(used_before(kernel), 0) << "three fit at a time";
    }
    EXPECT_EQ(used_before(kernels.back()), 1);
}

TEST_F(PooledWorkspaces, OfAnyNumberOfKernelsTakeNoMoreThanTheLimitTwice) {
    for (std::size_t i = 0; i < 2000; ++i) ASSERT_EQ(used_before(load(i * 5000 + 8)), 0);
    EXPECT_LE(backend->most, 2 * StreamWorkspace::most_bytes);
    EXPECT_GE(backend->held, StreamWorkspace::most_bytes) << "which is used";
}

TEST_F(PooledWorkspaces, LargerThanTheLimitAreAllocatedAllTheSame) {
    const auto large = load(3 * StreamWorkspace::most_bytes);
    EXPECT_EQ(used_before(large), 0);
    EXPECT_EQ(used_before(load(1000)), 0);
    EXPECT_EQ(used_before(large), 1);
}

TEST_F(PooledWorkspaces, LargerThanTheLimitWasteAtMostAQuarter) {
    for (const std::size_t mebibytes : {65U, 97U, 128U, 129U, 200U, 255U, 513U}) {
        backend = std::make_shared<Counting>();
        pool = std::make_shared<WorkspacePool>(backend);
        const auto bytes = mebibytes * mebibyte;
        const auto kernel = load(bytes);
        EXPECT_EQ(used_before(kernel), 0);
        EXPECT_EQ(used_before(kernel), 1);
        EXPECT_GE(backend->held, bytes);
        EXPECT_LE(backend->held, bytes + bytes / 4 + 4096) << mebibytes;
    }
}

TEST_F(PooledWorkspaces, ThatWereOutgrownServeStreamsThatNeedLess) {
    const auto small = load(3 * mebibyte);
    const auto large = load(33 * mebibyte);
    const auto held = backend->held;
    EXPECT_EQ(used_before(small, 0x100), 0);
    EXPECT_EQ(used_before(large, 0x200), 0);
    EXPECT_EQ(used_before(small, 0x100), 1);
    EXPECT_EQ(backend->held, held);
}

TEST_F(PooledWorkspaces, OfStreamsWithoutEndAreFreedOldestFirst) {
    const auto kernel = load(mebibyte);
    EXPECT_EQ(used_before(kernel, 0x100), 0);
    for (std::uintptr_t stream = 1; stream <= 1000; ++stream) {
        ASSERT_EQ(used_before(kernel, 0x1000 + stream), 0);
        ASSERT_EQ(used_before(kernel, 0x100), stream) << "in use all the time";
    }
    EXPECT_LE(backend->most, (WorkspacePool::most_streams + 1) * 2 * mebibyte);
    EXPECT_EQ(used_before(kernel, 0x1001), 0) << "forgotten";
}

TEST_F(PooledWorkspaces, OfAsManyStreamsAsAreKeptAreAllKept) {
    const auto kernel = load(1000);
    for (int before = 0; before < 2; ++before) {
        for (std::uintptr_t stream = 1; stream <= WorkspacePool::most_streams; ++stream) {
            ASSERT_EQ(used_before(kernel, 0x1000 + stream), before) << stream;
        }
    }
}

TEST_F(PooledWorkspaces, AreFoundAtTheLaunchWithoutAnAllocation) {
    const auto kernel = load(5000);
    const auto held = backend->held;
    EXPECT_GE(held, 5000U);
    EXPECT_EQ(used_before(kernel), 0);
    EXPECT_EQ(backend->held, held);
}

TEST_F(PooledWorkspaces, OfAPreparedStreamCostItsFirstLaunchNothing) {
    const auto before = load(5000);
    EXPECT_EQ(used_before(before, 0x100), 0);
    const auto kernel = load(5000);  // has no part of the stream's memory yet
    for (const std::uintptr_t stream : {0x100U, 0x200U}) {
        kernel->prepare(reinterpret_cast<StreamHandle>(stream));
        const auto held = backend->held;
        const auto fills = backend->fills;
        EXPECT_EQ(used_before(kernel, stream), 0);
        EXPECT_EQ(backend->held, held);
        EXPECT_EQ(backend->fills, fills);
    }
}

TEST_F(PooledWorkspaces, WithoutMemoryForOneAKernelIsRefused) {
    backend->available = mebibyte;
    EXPECT_THROW((void)load(2 * mebibyte), OutOfMemory);
    EXPECT_EQ(used_before(load(1000)), 0);
}

// A graph may run long after its capture, when other kernels use the memory of the pool. Captured launches therefore
// use memory that belongs to their kernel alone.
TEST_F(PooledWorkspaces, OfACapturedLaunchAreItsKernelsAlone) {
    const auto captured = load(1000);
    backend->capturing = true;
    EXPECT_EQ(used_before(captured), 0);
    backend->capturing = false;
    EXPECT_EQ(used_before(captured), 0) << "a launch that runs now uses other memory";
    const auto fills = backend->fills;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(used_before(load(40 * mebibyte)), 0);
    EXPECT_GT(backend->fills, fills);
    backend->capturing = true;
    EXPECT_EQ(used_before(captured), 1);
}

TEST_F(PooledWorkspaces, OfNoBytesAreNullAndAKernelThatAsksForNoneIsLeftAsItIs) {
    EXPECT_EQ(used_before(load(0)), -1);
    EXPECT_EQ(backend->held, 0U);
    const auto kernel = std::make_shared<const Counter>(0);
    EXPECT_EQ(with_pooled_workspace(kernel, {}, pool), kernel);
}

TEST_F(PooledWorkspaces, OfThreadsOnOneStreamAreOneAtATime) {
    const auto kernel = load(64);
    std::atomic<int> sum = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&] {
                for (int time = 0; time < 100; ++time) sum += used_before(kernel);
            });
        }
    }
    EXPECT_EQ(sum, 800 * 799 / 2) << "each number once";
}

}  // namespace
}  // namespace smemtune
