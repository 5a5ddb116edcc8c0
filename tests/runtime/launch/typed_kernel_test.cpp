// Tests launches, from C++ and from C, of kernels whose manifests declare types of arguments.
#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>
#include <numeric>

#include "runtime/runtime.h"
#include "tests/runtime/c/support.h"
#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

constexpr const char* manifest = R"toml([operation]
name       = "scan"
extents    = ["n"]
operations = "0"
bytes      = "0"
terms      = "1"
reference  = "scan.cu"
argument   = [{ name = "n", kind = "extent", type = "i64" },
              { name = "in", kind = "input", type = "u8", shape = ["n"], values = { uniform = [0, 9] } },
              { name = "step", kind = "scalar", type = "i16", value = 3 },
              { name = "factor", kind = "scalar", type = "f64", value = 0.5 },
              { name = "points", kind = "input", type = "f32x2", shape = ["n"] },
              { name = "out", kind = "output", type = "f64", shape = ["n"] }]
check      = [{ inputs = "uniform" }]
[template]
name      = "scan"
operation = "scan"
types     = ["f32"]
[launch]
block = ["32"]
grid  = ["ceil_div(n, 32)"]
[requires]
host = true
)toml";

constexpr const char* source = R"(
__global__ void scan(long long n, const unsigned char* in, short step, double factor, const float2* points, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor + step + points[i].y;
}
__global__ void reference() {}
)";

struct Point {
    float x, y;
};

class TypedLaunch : public CInterface {
protected:
    TypedLaunch() {
        std::ofstream(scratch.path() / "scan.toml") << manifest;
        std::ofstream(scratch.path() / "scan.cu") << source;
        for (std::size_t i = 0; i < n; ++i) {
            in[i] = static_cast<unsigned char>(i);
            points[i] = {0, static_cast<float>(i) / 4};
        }
    }
    [[nodiscard]] Kernel fetched() const {
        Runtime runtime({.device = "host", .template_folders = {scratch.path()}, .host_compiler = SMEMTUNE_CXX});
        return runtime.fetch({"scan", "f32", "", {{"n", static_cast<std::int64_t>(n)}}});
    }
    void expect_right(double factor, double step) const {
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_EQ(out[i], static_cast<double>(i) * factor + step + static_cast<double>(i) / 4);
        }
    }
    template <class... T>
    [[nodiscard]] std::string refusal() const {
        return error_of<std::invalid_argument>([&] { (void)TypedKernel<T...>(fetched()); });
    }

    static constexpr std::size_t n = 50;
    std::vector<unsigned char> in = std::vector<unsigned char>(n);
    std::vector<Point> points = std::vector<Point>(n);
    std::vector<double> out = std::vector<double>(n);
};

TEST_F(TypedLaunch, ATypedKernelIsLaunchedWithValuesOfItsTypes) {
    const TypedKernel<long long, const unsigned char*, short, double, const Point*, double*> scan(fetched());
    scan(nullptr, static_cast<long long>(n), in.data(), -7, 0.25, points.data(), out.data());
    expect_right(0.25, -7);
    EXPECT_THAT(error_of<std::invalid_argument>([&] {
                    scan(nullptr, (1LL << 32) + static_cast<long long>(n), in.data(), 0, 0, points.data(), out.data());
                }),
                HasSubstr("n=4294967346 is not 50"));
}

TEST_F(TypedLaunch, AKernelTellsTheTypesOfItsArguments) {
    std::string text;
    for (const auto& argument : fetched().arguments()) {
        text += argument.name + ":" + argument.type + (argument.is_output ? "! " : " ");
    }
    EXPECT_EQ(text, "n:i64 in:u8 step:i16 factor:f64 points:f32x2 out:f64! ");
}

TEST_F(TypedLaunch, OtherTypesAreRefusedWithTheSignature) {
    const std::string takes =
        "; the kernel of scan takes (long long n, unsigned char* in, short step, double factor, float2* points, "
        "double* "
        "out)";
    using In = const unsigned char*;
    EXPECT_EQ((refusal<long long, In>()), "2 types are given for 6 arguments" + takes);
    EXPECT_EQ((refusal<int, In, short, double, const Point*, double*>()),
              "the type of argument 1, n, does not match" + takes);
    EXPECT_THAT((refusal<double, In, short, double, const Point*, double*>()), HasSubstr("argument 1, n,"));
    EXPECT_THAT((refusal<long long, const int*, short, double, const Point*, double*>()), HasSubstr("argument 2, in,"));
    EXPECT_THAT((refusal<long long, unsigned char, short, double, const Point*, double*>()),
                HasSubstr("argument 2, in,"));
    EXPECT_THAT((refusal<long long, In, float, double, const Point*, double*>()), HasSubstr("argument 3, step,"));
    EXPECT_THAT((refusal<long long, In, short, long long, const Point*, double*>()), HasSubstr("argument 4, factor,"));
    EXPECT_THAT((refusal<long long, In, short, double, const float*, double*>()), HasSubstr("argument 5, points,"));
    EXPECT_THAT((refusal<long long, In, short, double, const double*, double*>()), HasSubstr("argument 5, points,"));
    EXPECT_THAT((refusal<long long, In, short, double, const Point*, const double*>()), HasSubstr("argument 6, out,"));
    EXPECT_THAT((refusal<long long, In, short, double, const Point*, Point*>()), HasSubstr("argument 6, out,"));
    EXPECT_EQ((refusal<long long, const void*, short, double, const void*, void*>()), "") << "void fits any pointer";
}

TEST_F(TypedLaunch, FromCItTakesNumbersByKindAndStoresThemInTheirTypes) {
    const auto folder = scratch.path().string();
    const std::array<const char*, 2> folders{folder.c_str(), nullptr};
    options.template_folders = folders.data();
    const auto runtime = open();
    const auto kernel = fetch(runtime.get(), {"scan", nullptr, nullptr, {{"n", static_cast<std::int64_t>(n)}}});
    const auto launched = [&](std::int64_t step, smemtune_argument_kind kind) {
        const std::vector<smemtune_argument> arguments{
            {"n", SMEMTUNE_INTEGER, static_cast<std::int64_t>(n), 0, nullptr},
            {"in", SMEMTUNE_ADDRESS, 0, 0, in.data()},
            {"step", kind, step, 1, nullptr},
            {"factor", SMEMTUNE_NUMBER, 0, 0.5, nullptr},
            {"points", SMEMTUNE_ADDRESS, 0, 0, points.data()},
            {"out", SMEMTUNE_ADDRESS, 0, 0, out.data()}};
        const auto status = smemtune_launch(kernel.get(), nullptr, arguments.data(), arguments.size());
        return status == SMEMTUNE_OK ? "" : std::string(smemtune_error_message());
    };
    EXPECT_EQ(launched(-3, SMEMTUNE_INTEGER), "");
    expect_right(0.5, -3);
    EXPECT_THAT(launched(40000, SMEMTUNE_INTEGER), HasSubstr("step=40000 does not fit its type, i16"));
    EXPECT_THAT(launched(1, SMEMTUNE_NUMBER), HasSubstr("the argument step is SMEMTUNE_INTEGER, not SMEMTUNE_NUMBER"));
}

}  // namespace
}  // namespace smemtune
