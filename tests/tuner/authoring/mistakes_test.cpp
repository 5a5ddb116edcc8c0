// Tests mistakes that authors of templates make. `smemtune check` must report each one with its place in the files.
#include <gmock/gmock.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;

constexpr const char* count_source = R"cuda(#ifndef THREADS
#define THREADS 128
#endif
__device__ float bias[4];
__global__ void count(const unsigned char* data, float by, unsigned* counts, float* sums, int n) {
    __shared__ int local[THREADS];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    local[threadIdx.x] = i;
    __syncthreads();
#if FAST
    if (i < n) sums[i] = data[i] * by;
#else
    if (i < n) sums[i] = by * (float)data[i];
#endif
    if (i < n) atomicAdd(&counts[data[i] % 16], 1u);
}
)cuda";

constexpr const char* count_reference =
    R"cuda(__global__ void reference(const unsigned char* data, float by, const unsigned* counts, const float*, int n,
                          unsigned* value, double* sum, double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 16) {
        value[i] = counts[i];
        for (int at = 0; at < n; ++at) value[i] += data[at] % 16 == i;
    }
    if (i < n) sum[i] = magnitude[i] = (double)by * data[i];
}
)cuda";

constexpr const char* count_manifest = R"toml([template]
name      = "count"
operation = "count"
types     = ["f32"]
source    = "count.cu"

[[parameter]]
name   = "THREADS"
values = [64, 128]

[[parameter]]
name   = "FAST"
values = [0, 1]

[[constraint]]
rule   = "THREADS * FAST <= 128"
reason = "an example"

[launch]
block = ["THREADS"]
grid  = ["ceil_div(n, THREADS)"]

[requires]
host = true

[operation]
name       = "count"
extents    = ["n"]
operations = "n"
bytes      = "n"
terms      = "2"
reference  = "reference.cu"

[[operation.argument]]
name   = "data"
kind   = "input"
type   = "u8"
shape  = ["n"]
values = { uniform = [0, 255] }

[[operation.argument]]
name = "by"
kind = "scalar"

[[operation.argument]]
name   = "counts"
kind   = "inout"
type   = "u32"
shape  = ["16"]
values = { constant = 0 }

[[operation.argument]]
name  = "sums"
kind  = "output"
shape = ["n"]

[[operation.argument]]
name = "n"
kind = "extent"

[[operation.check]]
inputs  = "uniform"
scalars = { by = 1.5 }
)toml";

// A mistake replaces `from` by `to` in one file: the first of count.toml, count.cu and reference.cu that contains
// `from`.
struct Mistake {
    std::string from, to, message;
    int code = 2;  // the exit code; 1 if only a compile finds the mistake
};

const std::vector<Mistake> mistakes{
    {"[template]\n", "[templates]\n",
     "count.toml:1: manifest has an unknown key 'templates'; known: constraint derived launch model operation "
     "parameter requires template"},
    {"operation = \"count\"\ntypes", "operation = \"cuont\"\ntypes",
     "count.toml:3: [template] operation 'cuont' is unknown; known: batched_gemm count gemm transpose; or describe it "
     "in this manifest under [operation]"},
    {"types     = [\"f32\"]", "types     = [\"float\"]",
     "count.toml:4: [template] type 'float' is unknown; known: f32"},
    {"source    = \"count.cu\"", "source    = \"cuont.cu\"",
     "count.toml:5: file 'cuont.cu' is missing; put it there (paths start at the templates folder), or name the right "
     "one"},
    {"source    = \"count.cu\"", "sources   = \"count.cu\"",
     "count.toml:5: [template] has an unknown key 'sources'; known: baseline entry include layouts name operation "
     "options same_code source starts summary types"},
    {"source    = \"count.cu\"", "entry     = \"kuont\"\nsource    = \"count.cu\"",
     "count.cu: its manifest's entry point 'kuont': ", 1},
    {"[64, 128]", "[64, 128",
     "count.toml:11: not valid TOML: Error while parsing array: expected comma or closing ']', saw '['"},
    {"[64, 128]", "[]",
     "count.toml:9: [[parameter]] 'values' must be a list or a range; write for example values = [8, 16, 32] or values "
     "= \"1..16\""},
    {"[64, 128]", "[64, 64]", "count.toml:9: [[parameter]] 'values' holds 64 twice"},
    {"[64, 128]", "\"64..32\"",
     "count.toml:9: [[parameter]] 'values' holds '64..32': the range runs backwards; write 32..64"},
    {"[64, 128]", "[\"64\"]", "count.toml:9: [[parameter]] 'values' holds \"64\" in quotes; write 64 without them"},
    {"name   = \"THREADS\"", "name   = \"THREADS \"", "count.toml:8: [[parameter]] 'THREADS ' is no C++ identifier"},
    {"name   = \"FAST\"", "name   = \"THREADS\"",
     "count.toml:12: [[parameter]] 'THREADS' is declared twice, or is a name of the operation's"},
    {"\"THREADS * FAST <= 128\"", "\"THREADS * FATS <= 128\"",
     "count.toml:16: [[constraint]] 'rule' names 'FATS', which is no parameter, extent, layout constant or device "
     "limit; check its spelling"},
    {"\"THREADS * FAST <= 128\"", "\"THREADS * FAST <= \"",
     "count.toml:16: [[constraint]] 'rule': expression 'THREADS * FAST <= ', column 19: expected a number or a name"},
    {"\"THREADS * FAST <= 128\"", "\"THREADS < 4\"",
     "parameters: no configuration is valid for count f32 64; 'smemtune templates count --templates FOLDER --sizes 64' "
     "shows what each rule removes",
     1},
    {"\"THREADS * FAST <= 128\"", "\"THREADS / FAST <= 128\"",
     "count.toml: expression 'THREADS / FAST <= 128': division by zero for some values of the parameters; guard it, as "
     "in B == 0 || A / B < 4"},
    {"reason = \"an example\"", "reson = \"an example\"",
     "count.toml:17: [[constraint]] has an unknown key 'reson'; known: reason rule"},
    {"block = [\"THREADS\"]", "block = \"THREADS\"",
     "count.toml:20: [launch] 'block' must be a list; write for example block = [\"ceil_div(N, TILE_WIDTH)\", \"1\"]"},
    {"block = [\"THREADS\"]", "block = [\"THREADS\", \"1\", \"1\", \"1\"]",
     "count.toml:20: [launch] 'block' has more than three dimensions"},
    {"block = [\"THREADS\"]", "blocks = [\"THREADS\"]",
     "count.toml:20: [launch] has an unknown key 'blocks'; known: block dynamic_shared_bytes grid registers "
     "static_shared_bytes workspace_bytes"},
    {"grid  = [\"ceil_div(n, THREADS)\"]", "grid  = [\"n / THREADS - 1\"]",
     "parameters: no configuration is valid for count f32 64; 'smemtune templates count --templates FOLDER --sizes 64' "
     "shows what each rule removes",
     1},
    {"grid  = [\"ceil_div(n, THREADS)\"]", "grid  = [\"ceildiv(n, THREADS)\"]",
     "count.toml:21: [launch] 'grid': expression 'ceildiv(n, THREADS)', column 1: unknown function 'ceildiv'; known: "
     "min, max, ceil_div, round_up"},
    {"[launch]", "[launc]",
     "count.toml:19: manifest has an unknown key 'launc'; known: constraint derived launch model operation parameter "
     "requires template"},
    {"extents    = [\"n\"]", "extents    = [\"m\"]",
     "count.toml:29: [operation] 'operations' names 'n', which is no parameter, extent, layout constant or device "
     "limit; check its spelling"},
    {"reference  = \"reference.cu\"", "reference  = \"refrence.cu\"",
     "count.toml:32: file 'refrence.cu' is missing; put it there (paths start at the templates folder), or name the "
     "right one"},
    {"terms      = \"2\"", "terms      = 2",
     "count.toml:31: [operation] 'terms' has the wrong type; write for example terms = \"K + 3\""},
    {"terms      = \"2\"", "terms      = \"n - 65\"", "operation: count f32 64: 'terms' of operation 'count' is -1;",
     1},
    {"shape = [\"n\"]\n\n[[operation.argument]]\nname = \"n\"",
     "shape = [\"n - 64\"]\n\n[[operation.argument]]\nname = \"n\"",
     "operation: count f32 64: argument 'sums' has a dimension of 0; change its shape", 1},
    {"kind   = \"input\"", "kind   = \"in\"",
     "count.toml:36: [[operation.argument]] 'kind' is 'in', which is none of extent, stride, batch_stride, scalar, "
     "input, output, inout"},
    {"type   = \"u8\"", "type   = \"uint8\"",
     "count.toml:37: [[operation.argument]] type 'uint8' is unknown; known: f64 f32 f16 bf16 i64 u64 i32 u32 i16 u16 "
     "i8 u8, vectors of 2 to 4 such as f32x2 (of f16 and bf16: of 2), and structs such as bytes:24"},
    {"type   = \"u8\"", "type   = \"i8\"",
     "count.toml:39: [[operation.argument]] 'values' holds a number that i8 does not have; write one that it has"},
    {"shape  = [\"n\"]\nvalues", "shape  = [\"N\"]\nvalues",
     "count.toml:38: [[operation.argument]] 'shape' names 'N', which is no parameter, extent, layout constant or "
     "device limit; check its spelling"},
    {"shape  = [\"n\"]\nvalues", "shape  = [\"n\"]\nstride = \"n\"\nvalues",
     "count.toml:39: [[operation.argument]] 'stride' and 'shape' both give the size; leave one out (arrays with a "
     "stride have 'rows' and 'columns')"},
    {"values = { uniform = [0, 255] }", "values = { uniform = [255, 0] }",
     "count.toml:39: [[operation.argument]] 'values' holds 'uniform', whose range runs backwards; write for example "
     "values = { uniform = [0, 100] }"},
    {"values = { uniform = [0, 255] }", "values = { uniform = [0, 256] }",
     "count.toml:39: [[operation.argument]] 'values' holds a number that u8 does not have; write one that it has"},
    {"values = { uniform = [0, 255] }", "values = { random = [0, 255] }",
     "count.toml:39: [[operation.argument]] 'values' knows no 'random'; known: uniform normal constant below sorted "
     "permutation file prepared; write for example values = { uniform = [0, 100] }"},
    {"values = { uniform = [0, 255] }", "",
     "count.toml:34: [[operation.argument]] gives 'data' of type u8 no range; write for example values = { uniform = "
     "[0, 100] } or values = { below = \"N\" }"},
    {"name = \"by\"\nkind = \"scalar\"", "name = \"by\"\nkind = \"scalar\"\ntype = \"i32\"",
     "count.toml:64: [[operation.check]] 'scalars' gives 'by' a value that i32 does not have; write one that it has"},
    {"kind  = \"output\"", "kind  = \"output\"\ntolerance = { relativ = 1e-3 }",
     "count.toml:55: [[operation.argument]] 'tolerance' knows no 'relativ'; known: absolute relative share equal_nans"},
    {"scalars = { by = 1.5 }", "",
     "count.toml:61: [[operation.check]] gives scalar 'by' no value; write scalars = { by = 1 }"},
    {"scalars = { by = 1.5 }", "scalars = { bye = 1.5 }",
     "count.toml:63: [[operation.check]] 'scalars' names 'bye', which is no argument of kind scalar; check its "
     "spelling"},
    {"inputs  = \"uniform\"", "inputs  = \"random\"",
     "count.toml:62: [[operation.check]] 'inputs' is 'random', which is none of uniform, integer, special"},
    {"host = true", "host = false", "no host = true under [requires] in its manifest", 1},
    {"host = true", "host = \"yes\"",
     "count.toml:24: [requires] 'host' has the wrong type; write for example host = true"},
    {"int n) {\n    __shared__", "long long n) {\n    __shared__",
     "count.cu: its manifest's entry point 'count': static assertion failed: by its manifest the kernel takes "
     "(const unsigned char* data, Element by, unsigned* counts, Element* sums, int n)",
     1},
    {"float by, unsigned* counts", "int by, unsigned* counts",
     "count.cu: its manifest's entry point 'count': static assertion failed: by its manifest the kernel takes "
     "(const unsigned char* data, Element by, unsigned* counts, Element* sums, int n)",
     1},
    {", float* sums, int n)", ", double* sums, int n)",
     "count.cu: its manifest's entry point 'count': static assertion failed: by its manifest the kernel takes "
     "(const unsigned char* data, Element by, unsigned* counts, Element* sums, int n)",
     1},
    {"unsigned* counts, float* sums", "float* sums, unsigned* counts",
     "count.cu: its manifest's entry point 'count': static assertion failed: by its manifest the kernel takes "
     "(const unsigned char* data, Element by, unsigned* counts, Element* sums, int n)",
     1},
    {"const unsigned char* data, float by, unsigned*", "const unsigned char* data, unsigned*", "count.cu:13:", 1},
    {"__global__ void count", "__global__ void kount", "count.cu: its manifest's entry point 'count': ", 1},
    {"#define THREADS 128\n#endif", "#define THREADS 128\n#endif\n#define FAST 1",
     "count.cu:4: '#define FAST' replaces the value of 'FAST', which the manifest declares, so that every value would "
     "compile to the same code; remove the line, or put #ifndef FAST and #endif around it"},
    {"local[threadIdx.x] = i;", "local[threadIdx.x] = j;", "count.cu:8:", 1},
    {"__device__ float bias[4];", "#include \"helper.h\"",
     "count.cu:4: file 'helper.h' is missing; put it there (paths start at the templates folder, at the including "
     "file's folder or at an include folder), or name the right one"},
    {"unsigned* value, double* sum, double* magnitude", "unsigned* value, double* sum", "reference:", 1},
    {"__global__ void reference", "__global__ void references", "reference:", 1},
    {"value[i] = counts[i];", "value[i] = count[i];", "reference:", 1},
    {"values = { constant = 0 }", "values = { constant = 0 }\nrestore = \"no\"",
     "count.toml:51: [[operation.argument]] 'restore' has the wrong type; write for example restore = false"},
    {"values = { uniform = [0, 255] }", "values = { uniform = [0, 255] }\nrestore = true",
     "count.toml:40: [[operation.argument]] 'restore' is only for inouts; leave it out"},
    {"type   = \"u8\"", "type   = \"bytes:0\"",
     "count.toml:37: [[operation.argument]] type 'bytes:0' is no struct of 1 to 4096 bytes; write sizeof, as in "
     "bytes:24"},
    {"type   = \"u8\"", "type   = \"bytes:8\"",
     "count.toml:39: [[operation.argument]] 'values' computes numbers, but the type is bytes:8; write values = { file "
     "= "
     "\"data.bin\" }, { constant = 0 } or { prepared = true }"},
    {"reference  = \"reference.cu\"", "reference  = { verify = \"verify.py\" }",
     "count.toml:32: [operation] 'verify' is 'verify.py', which is no source; name a kernel's .cu or a C++ function's "
     ".cpp beside the manifest"},
    {"reference  = \"reference.cu\"", "reference  = { verify = \"reference.cu\" }",
     "its manifest's entry point 'verify': ", 1},
    {"reference  = \"reference.cu\"", "reference  = \"reference.cu\"\nparameters = [\"THREAD\"]",
     "count.toml:3: [template] operation 'count' has 'parameters' with 'THREAD', which the kernel has no [[parameter]] "
     "for; add it"},
    {"reference  = \"reference.cu\"", "reference  = \"reference.cu\"\nparameters = [\"FAST\"]",
     "by its manifest the reference takes (const unsigned char* data, Element by, unsigned* counts, Element* sums, int "
     "n, int FAST, unsigned* value of counts, double* value of sums, double* magnitude of sums)",
     1},
    {"reference  = \"reference.cu\"", "reference  = \"reference.cu\"\nprepare    = \"reference.cu\"",
     "count.toml:33: [operation] 'prepare' computes nothing; write values = { prepared = true } in the arguments that "
     "it "
     "computes"},
};

TEST(CheckCommand, MistakesAreNamedWithTheirPlace) {
    for (const auto& mistake : mistakes) {
        const Scratch scratch;
        std::filesystem::create_directory(scratch / "own");
        std::size_t found = 0;
        for (const auto& [name, content] :
             {std::pair{"count.toml", count_manifest}, std::pair{"count.cu", count_source},
              std::pair{"reference.cu", count_reference}}) {
            std::string text = content;
            if (const auto at = text.find(mistake.from); at != std::string::npos && found++ == 0) {
                text.replace(at, mistake.from.size(), mistake.to);
            }
            write_text(scratch / ("own/" + std::string(name)), text);
        }
        ASSERT_GE(found, 1U) << mistake.from;
        const auto finished = run(scratch, {"check", "own", "--device", "host", "--sizes", "64"});
        EXPECT_EQ(finished.code, mistake.code) << mistake.to;
        EXPECT_THAT(finished.out + finished.err, HasSubstr(mistake.message)) << mistake.to;
    }
}

TEST(CheckCommand, TheKernelOfTheMistakesHasNone) {
    const Scratch scratch;
    std::filesystem::create_directory(scratch / "own");
    write_text(scratch / "own/count.toml", count_manifest);
    write_text(scratch / "own/count.cu", count_source);
    write_text(scratch / "own/reference.cu", count_reference);
    const auto finished = run(scratch, {"check", "own", "--device", "host", "--sizes", "64"});
    EXPECT_EQ(finished.code, 0) << finished.out + finished.err;
}

}  // namespace
}  // namespace smemtune
