#include "runtime/configured_kernel.h"

#include <gmock/gmock.h>

namespace smemtune {
namespace {

using testing::ElementsAre;

// A kernel that records its launches. Every argument is an int.
class Recorder : public LoadedKernel {
public:
    explicit Recorder(std::size_t arguments) : count_(arguments) {}
    void launch(StreamHandle stream, const Launch& launch, void* const* arguments) const override {
        streams.push_back(stream);
        blocks.push_back(launch.block[0]);
        values.emplace_back();
        for (std::size_t i = 0; i < count_; ++i) values.back().push_back(*static_cast<int*>(arguments[i]));
    }
    void fill_symbol(StreamHandle stream, const SymbolArgument& symbol, const void* from) const override {
        streams.push_back(stream);
        filled.push_back(symbol.name + " " + std::to_string(*static_cast<const int*>(from)));
    }
    mutable std::vector<std::string> filled;
    mutable std::vector<StreamHandle> streams;
    mutable std::vector<std::int64_t> blocks;
    mutable std::vector<std::vector<int>> values;

private:
    std::size_t count_;
};

TEST(ConfiguredKernel, LaunchesWithItsLaunchAndAppendsTheRuntimeArguments) {
    int a = 1;
    int b = 2;
    const std::vector<void*> arguments{&a, &b};
    auto* const stream = reinterpret_cast<StreamHandle>(0x100);
    const auto recorder = std::make_shared<Recorder>(4);
    const ConfiguredKernel kernel(recorder, {.block = {32, 1, 1}, .runtime_arguments = {7, 8}});
    kernel.launch(stream, arguments);
    b = 3;
    const ConfiguredKernel copy = kernel;  // the copy must use its own run-time arguments and not those of `kernel`
    copy.launch(nullptr, arguments);
    EXPECT_THAT(recorder->values, ElementsAre(ElementsAre(1, 2, 7, 8), ElementsAre(1, 3, 7, 8)));
    EXPECT_THAT(recorder->blocks, ElementsAre(32, 32));
    EXPECT_THAT(recorder->streams, ElementsAre(stream, nullptr));
}

TEST(ConfiguredKernel, PassesTensorMapsAfterTheRuntimeArguments) {
    int matrix = 1;
    void* const misaligned = &matrix;
    long long stride = 3;  // rows of 6 bytes, which no tensor map can describe: the map is all zeros
    const std::vector<void*> arguments{const_cast<void**>(&misaligned), &stride};
    class Maps : public LoadedKernel {
    public:
        void launch(StreamHandle, const Launch&, void* const* passed) const override {
            EXPECT_EQ(*static_cast<int*>(passed[2]), 7);
            for (const auto i : {3, 4}) {
                const auto* const map = static_cast<const EncodedTensorMap*>(passed[i]);
                EXPECT_THAT(map->words, testing::Each(0)) << i;
            }
            EXPECT_NE(passed[3], passed[4]);
            launches += 1;
        }
        mutable int launches = 0;
    };
    const auto kernel = std::make_shared<Maps>();
    const TensorMapArgument map{0, 1, 8, 3, 8, 8, 2, false};
    ConfiguredKernel(kernel, {.runtime_arguments = {7}, .tensor_maps = {map, map}}).launch(nullptr, arguments);
    EXPECT_EQ(kernel->launches, 1);
}

// Making a map calls the CUDA driver. This test passes without a driver, because no map is made.
TEST(ConfiguredKernel, MakesNoMapOfAMatrixThatIsAlwaysCopied) {
    alignas(16) std::array<std::byte, 256> memory{};
    void* const matrix = memory.data();
    long long stride = 8;
    const std::vector<void*> arguments{const_cast<void**>(&matrix), &stride};
    class Map : public LoadedKernel {
    public:
        void launch(StreamHandle, const Launch&, void* const* passed) const override {
            EXPECT_THAT(static_cast<const EncodedTensorMap*>(passed[2])->words, testing::Each(0));
            launches += 1;
        }
        mutable int launches = 0;
    };
    const auto kernel = std::make_shared<Map>();
    ConfiguredKernel(kernel, {.tensor_maps = {{0, 1, 8, 8, 8, 8, 2, false, 0, true}}}).launch(nullptr, arguments);
    EXPECT_EQ(kernel->launches, 1);
}

TEST(ConfiguredKernel, SymbolsAreFilledAndLeftOutOfTheParameters) {
    int a = 1;
    int x = 2;
    int b = 3;
    int y = 4;
    void* const x_address = &x;
    void* const y_address = &y;
    const std::vector<void*> arguments{&a, const_cast<void**>(&x_address), &b, const_cast<void**>(&y_address)};
    const Launch launch{.runtime_arguments = {7}, .symbols = {{"first", 1, 4}, {"second", 3, 4}}};
    auto* const stream = reinterpret_cast<StreamHandle>(0x100);
    const auto recorder = std::make_shared<Recorder>(3);
    ConfiguredKernel(recorder, launch).launch(stream, arguments);
    EXPECT_THAT(recorder->values, ElementsAre(ElementsAre(1, 3, 7)));
    EXPECT_THAT(recorder->filled, ElementsAre("first 2", "second 4"));
    EXPECT_THAT(recorder->streams, ElementsAre(stream, stream, stream));
    const ConfiguredKernel prepared(recorder, launch, FillSymbols::when_asked);
    prepared.launch(stream, arguments);
    EXPECT_EQ(recorder->filled.size(), 2U);
    prepared.fill_symbols(stream, arguments);
    EXPECT_EQ(recorder->filled.size(), 4U);
}

TEST(ConfiguredKernel, WithoutRuntimeArgumentsPassesTheArgumentsOn) {
    int a = 5;
    const std::vector<void*> arguments{&a};
    const auto recorder = std::make_shared<Recorder>(1);
    ConfiguredKernel(recorder, {}).launch(nullptr, arguments);
    EXPECT_THAT(recorder->values, ElementsAre(ElementsAre(5)));
}

}  // namespace
}  // namespace smemtune
