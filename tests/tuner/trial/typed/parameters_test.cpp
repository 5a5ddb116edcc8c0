// Tests outputs whose size depends on a parameter of the kernel, and references that depend on a parameter.
#include <gmock/gmock.h>

#include "runtime/configured_kernel.h"
#include "tests/tuner/support.h"
#include "tests/tuner/trial/typed/support.h"
#include "tuner/trial/trial.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The kernel computes BLOCKS partial sums of n numbers.
constexpr const char* partial_source = R"(
__global__ void partial(int n, const float* a, float* sums) {
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int i = blockIdx.x; i < n; i += BLOCKS) sum += a[i];
    sums[blockIdx.x] = sum;
}
)";
constexpr const char* partial_reference = R"(
void reference(int n, const float* a, const float*, int blocks, double* value, double* magnitude) {
    for (int block = 0; block < blocks; ++block) {
        value[block] = magnitude[block] = 0;
        for (int i = block; i < n; i += blocks) {
            value[block] += a[i];
            magnitude[block] += a[i] < 0 ? -a[i] : a[i];
        }
    }
}
)";

std::string partial_manifest(const std::string& reference = "\"reference.cpp\"",
                             const std::string& parameters = "[\"BLOCKS\"]") {
    return "[operation]\nname = \"made_up\"\nextents = [\"n\"]\noperations = \"n\"\nbytes = \"0\"\nterms = \"n\"\n"
           "reference = " +
           reference + "\nparameters = " + parameters + R"toml(
argument = [{ name = "n", kind = "extent" },
{ name = "a", kind = "input", type = "f32", shape = ["n"] },
{ name = "sums", kind = "output", type = "f32", shape = ["BLOCKS"] }]
[template]
name = "partial"
operation = "made_up"
types = ["f32"]
[[parameter]]
name = "BLOCKS"
values = [2, 3, 8]
[[parameter]]
name = "WORD"
values = ["int", "long"]
[launch]
block = ["32"]
grid = ["BLOCKS"]
[requires]
host = true
)toml";
}

KernelTemplate partial() {
    return load_templates({{"partial.toml", partial_manifest()},
                           {"partial.cu", partial_source},
                           {"reference.cpp", partial_reference}})
        .at(0);
}

std::string refused_partial(const std::string& reference, const std::string& parameters) {
    try {
        (void)load_templates({{"partial.toml", partial_manifest(reference, parameters)},
                              {"partial.cu", partial_source},
                              {"reference.cpp", partial_reference}});
        return "";
    } catch (const ManifestError& error) {
        return error.what();
    }
}

TEST(OperationParameters, EachValueHasItsOwnOutputsAndReference) {
    const auto kernel = partial();
    const auto problem = typed_problem(100);
    auto& backend = typed_backend();
    Testbed testbed(backend, kernel.operation, problem, compile_testbed(typed_compiler(), kernel, problem), 1);
    const auto wrong_of = [&](std::int64_t blocks, std::int64_t used) {
        const Configuration configuration{{{"BLOCKS", blocks}, {"WORD", kernel.parameters.at(1).default_value}}};
        const auto compiled = typed_compiler().compile(program_of(kernel, configuration, problem));
        const ConfiguredKernel configured(backend.load(std::get<Binary>(compiled), 0),
                                          launch_of(kernel, configuration, problem, backend.device()));
        testbed.use({{{"BLOCKS", used}}});
        return testbed.verify(configured).wrong.value_or("") + testbed.verify_batch(configured, 4).wrong.value_or("");
    };
    for (const std::int64_t blocks : {2, 3, 8, 2}) EXPECT_EQ(wrong_of(blocks, blocks), "") << blocks;
    EXPECT_THAT(wrong_of(8, 3), HasSubstr("writes outside sums"));
    EXPECT_THAT(wrong_of(2, 3), HasSubstr("sums["));
    EXPECT_THROW(testbed.use({{{"BLOCKS", 0}}}), LaunchError) << "an array without elements";
    EXPECT_EQ(wrong_of(3, 3), "") << "what was prepared is still there";
}

TEST(OperationParameters, ATrialCarriesItsValues) {
    const auto kernel = partial();
    const Configuration configuration{{{"BLOCKS", 3}, {"WORD", kernel.parameters.at(1).default_value}}};
    const auto input =
        trial_input(kernel, configuration, typed_problem(10), typed_backend().device(), Binary{.entry = "partial"});
    EXPECT_EQ(input.parameters, (Configuration{{{"BLOCKS", 3}}}));
}

TEST(OperationParameters, ATrialIsVerifiedWithItsOwnValues) {
    const auto kernel = partial();
    const auto problem = typed_problem(100);
    auto& backend = typed_backend();
    Testbed testbed(backend, kernel.operation, problem, compile_testbed(typed_compiler(), kernel, problem), 1);
    const auto input_of = [&](std::int64_t blocks) {
        const Configuration configuration{{{"BLOCKS", blocks}, {"WORD", kernel.parameters.at(1).default_value}}};
        const auto compiled = typed_compiler().compile(program_of(kernel, configuration, problem));
        return trial_input(kernel, configuration, problem, backend.device(), std::get<Binary>(compiled));
    };
    const auto tried = [&](std::int64_t blocks) {
        const auto report = try_candidate(backend, testbed, input_of(blocks), {}, std::nullopt, std::nullopt);
        return std::holds_alternative<Measurement>(report.outcome) ? "" : std::get<Rejection>(report.outcome).reason;
    };
    const auto verified = [&](std::int64_t blocks) {
        return verify_candidate(backend, testbed, input_of(blocks), {}).verified;
    };
    EXPECT_EQ(tried(3), "");
    EXPECT_EQ(tried(2), "");
    EXPECT_TRUE(verified(3));
    EXPECT_EQ(tried(8), "");
    EXPECT_TRUE(verified(2));
}

TEST(OperationParameters, AreTunedServedAndVerifiedOnTheHostDevice) {
    const Scratch scratch;
    write_text(scratch / "kernels/partial.toml", partial_manifest());
    write_text(scratch / "kernels/partial.cu", partial_source);
    write_text(scratch / "kernels/reference.cpp", partial_reference);
    const auto tuned = run(scratch, {"tune", "--sizes", "300", "--search", "exhaustive", "--device", "host",
                                     "--templates", "kernels", "--db", "t.db"});
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_THAT(tuned.out + tuned.err, HasSubstr(", 0 rejected"));
    const auto served = run(scratch, {"run", "--operation", "made_up", "--size", "300", "--json", "--device", "host",
                                      "--templates", "kernels", "--db", "t.db"});
    EXPECT_THAT(served.out, AllOf(HasSubstr("\"match\": \"exact\""), HasSubstr("\"correct\": true"))) << served.err;
    const auto checked = run(scratch, {"check", "kernels", "--device", "host"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

TEST(OperationParameters, MistakesAreRefused) {
    EXPECT_EQ(refused_partial("\"none\"", "[\"BLOCKS\"]"), "");
    EXPECT_THAT(refused_partial("\"none\"", "[\"BLOKCS\"]"),
                HasSubstr("'shape' names 'BLOCKS', which is no parameter"));
    EXPECT_THAT(refused_partial("\"none\"", "[\"BLOCKS\", \"n\"]"),
                HasSubstr("partial.toml:8: [operation] 'parameters' names 'n' twice, or it is already a name"));
    EXPECT_THAT(refused_partial("\"none\"", "[\"BLOCKS\", \"BLOCKS\"]"), HasSubstr("'parameters' names 'BLOCKS'"));
    EXPECT_THAT(
        refused_partial("\"none\"", "[\"BLOCKS\", \"ROWS\"]"),
        HasSubstr("operation 'made_up' has 'parameters' with 'ROWS', which the kernel has no [[parameter]] for"));
    EXPECT_THAT(refused_partial("\"none\"", "[\"BLOCKS\", \"WORD\"]"),
                HasSubstr("with 'WORD', whose values are no whole numbers"));
    EXPECT_THAT(refused_partial("{ configuration = \"default\" }", "[\"BLOCKS\"]"),
                HasSubstr("'parameters' decide what outputs should be, but the reference is always the same"));
    EXPECT_THAT(refused_partial("\"none\"", "\"BLOCKS\""), HasSubstr("'parameters' must be a list"));
}

}  // namespace
}  // namespace smemtune
