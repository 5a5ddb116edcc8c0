// Tests that an application gets only kernels whose stored machine code has passed all present checks.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "runtime/backend.h"
#include "tests/tuner/support.h"
#include "util/hash.h"

namespace smemtune {
namespace {

using nlohmann::json;

constexpr const char* operation = R"toml(
[operation]
name       = "amplify"
summary    = "B = alpha * A"
extents    = ["M", "N"]
operations = "M * N"
bytes      = "2 * element_bytes * M * N"
terms      = "1"
reference  = "reference.cu"

[[operation.argument]]
name = "M"
kind = "extent"

[[operation.argument]]
name = "N"
kind = "extent"

[[operation.argument]]
name = "alpha"
kind = "scalar"

[[operation.argument]]
name    = "A"
kind    = "input"
rows    = "M"
columns = "N"

[[operation.argument]]
name    = "B"
kind    = "output"
rows    = "M"
columns = "N"

[[operation.check]]
inputs  = "uniform"
scalars = { alpha = 1 }
)toml";

constexpr const char* second_check = R"toml(
[[operation.check]]
inputs  = "integer"
scalars = { alpha = 2 }
)toml";

constexpr const char* reference = R"(
extern "C" __global__ void reference(int M, int N, Element alpha, const Element* A, Element*, double* value,
                                     double* magnitude) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)M * N) return;
    value[i] = (double)alpha * A[i];
    magnitude[i] = fabs(value[i]);
}
)";

std::string manifest(const std::string& name, const std::string& values) {
    return "[template]\nname = \"" + name + "\"\noperation = \"amplify\"\nsummary = \"a test\"\ntypes = [\"f32\"]\n" +
           "[[parameter]]\nname = \"KIND\"\nvalues = [" + values + "]\ndefault = " + values.substr(0, 1) +
           "\nsummary = \"how\"\n[launch]\nblock = [\"64\"]\ngrid = [\"1\"]\n[requires]\nhost = true\n";
}

// Returns the source of a kernel that writes the expression `value` to element i of B. A loop with `work` iterations
// makes the kernel slow.
std::string kernel(const std::string& name, const std::string& work, const std::string& value) {
    return "#include \"configuration.h\"\nextern \"C\" __global__ void " + name +
           "(int M, int N, Element alpha, const Element* A, Element* B) {\n"
           "    const Element one = gridDim.z;\n"
           "    for (int i = threadIdx.x; i < M * N; i += 64) {\n"
           "        Element x = A[i];\n"
           "        for (int n = 0; n < (" +
           work + "); ++n) x *= one;\n        B[i] = " + value + ";\n    }\n}\n";
}

// Tunes and runs the templates of a folder as a user does.
class VerifiedAgain : public ::testing::Test {
protected:
    void SetUp() override {
        write("operation.toml", std::string(operation));
        write("reference.cu", "#include \"configuration.h\"\n" + std::string(reference));
    }
    void write(const std::string& name, const std::string& text) const {
        write_text(scratch_.path() / "kernels" / name, text);
    }
    void add_template(const std::string& name, const std::string& values, const std::string& work,
                      const std::string& value) const {
        write(name + ".toml", manifest(name, values));
        write(name + ".cu", kernel(name, work, value));
    }
    [[nodiscard]] json tune(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words{"tune", "--device", "host",       "--templates", "kernels", "--sizes",
                                       "16",   "--search", "exhaustive", "--db",        "t.db",    "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto finished = run(scratch_, words, variables_);
        return json::parse(finished.out, nullptr, false);
    }
    [[nodiscard]] json fetched(const std::string& size = "16", const std::string& kernel_template = "") const {
        std::vector<std::string> words{"run",  "--operation", "amplify", "--size",      size,      "--device",
                                       "host", "--db",        "t.db",    "--templates", "kernels", "--json"};
        if (!kernel_template.empty()) words.insert(words.end(), {"--template", kernel_template});
        return json::parse(run(scratch_, words, variables_).out, nullptr, false);
    }
    [[nodiscard]] std::vector<std::string> winners() const { return winners_in(scratch_ / "t.db"); }
    [[nodiscard]] json trials() const {
        return json::parse(run(scratch_, {"db", "trials", "--db", "t.db", "--json", "--sort", "trial"}).out)
            .at("trials");
    }

    Scratch scratch_;
    Variables variables_;
};

TEST_F(VerifiedAgain, AStoredWinnerThatFailsANewCheckLosesAndIsNotServed) {
    add_template("lax", "1, 0", "KIND ? 1 : 20000", "KIND ? x : alpha * x");
    (void)tune();
    ASSERT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 lax KIND=1"}));
    write("operation.toml", std::string(operation) + second_check);
    EXPECT_NE(fetched().at("match"), "exact") << "it was verified as another operation";
    const auto again = tune();
    EXPECT_EQ(again.at("rejected").value("wrong", 0), 1);
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 lax KIND=0"}));
    EXPECT_EQ(fetched().at("match"), "exact");
    EXPECT_EQ(fetched().at("correct"), true);
    const auto settled = tune();
    EXPECT_EQ(settled.at("recalled"), 2);
    EXPECT_EQ(settled.at("verified_again"), 0);
}

// Nine kernels ignore alpha, so they fail the new check. The tenth kernel, which is the slowest, is right.
TEST_F(VerifiedAgain, IfAllThatAreVerifiedAgainFailTheOthersAreVerifiedInTheSameRun) {
    add_template("lax", "9, 8, 7, 6, 5, 4, 3, 2, 1, 0", "KIND ? 1000 * KIND : 40000", "KIND ? x : alpha * x");
    (void)tune();
    ASSERT_EQ(winners().size(), 1U);
    write("operation.toml", std::string(operation) + second_check);
    (void)tune();
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 lax KIND=0"}));
}

// The operation has one check. A trial launches this kernel more often than ten times.
TEST_F(VerifiedAgain, AKernelThatIsWrongAfterTenLaunchesDoesNotWin) {
    write("tired.toml", manifest("tired", "1, 0"));
    write("tired.cu", "static int launches = 0;\n" +
                          kernel("tired", "KIND ? 1 : 20000", "alpha * x + (KIND && i == 0 && ++launches > 10)"));
    (void)tune();
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 tired KIND=0"}));
}

TEST_F(VerifiedAgain, ARightOneIsNotTimedAgainAndASummaryOrACommentCountsForNothing) {
    add_template("right", "0, 1", "KIND ? 1 : 20000", "alpha * x");
    (void)tune();
    auto text = std::string(operation);
    text.replace(text.find("B = alpha * A"), 13, "another summary");
    write("operation.toml", text + "# a comment\n");
    EXPECT_EQ(tune().at("verified_again"), 0);
    write("operation.toml", text + second_check);
    const auto again = tune();
    EXPECT_EQ(again.at("verified_again"), 1);
    EXPECT_EQ(again.at("measured"), 0);
    EXPECT_EQ(again.at("rejected"), json::object());
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 right KIND=1"}));
    write("reference.cu", "#include \"configuration.h\"\n// revised\n" + std::string(reference));
    EXPECT_EQ(tune().at("verified_again"), 1) << "the reference may compute something else";
}

// The slow kernel ignores alpha, but passes the first check. Because it is slow, it is cut short and gets no further
// check.
TEST_F(VerifiedAgain, AKernelThatWasCutShortAfterItsFirstCheckIsNeverServed) {
    write("operation.toml", std::string(operation) + second_check);
    add_template("right", "0", "1", "alpha * x");
    add_template("slow", "0", "40000", "x");
    (void)tune();
    const auto stored = trials();
    ASSERT_EQ(stored.size(), 2U);
    ASSERT_EQ(stored.at(1).at("template"), "slow");
    ASSERT_TRUE(stored.at(1).at("measurement").at("cut_short"));
    EXPECT_FALSE(stored.at(1).contains("verified_by"));
    EXPECT_EQ(fetched("16").at("match"), "exact");
    EXPECT_EQ(fetched("16", "slow").at("match"), "untuned");
    EXPECT_EQ(fetched("17", "slow").at("match"), "untuned");
    {  // the state after a --retune that was killed before its first trial
        Store store(scratch_ / "t.db");
        for (const auto& row : store.rows({.kernel_templates = {"right"}})) store.forget(row.record.key);
    }
    EXPECT_EQ(fetched("16").at("match"), "untuned");
    EXPECT_TRUE(winners().empty());
}

// Compiles with a C++ compiler whose version the test chooses. Kernels read the version from COMPILER_BUILD. Some
// kernels compute a wrong result for version 2, as if that version miscompiled them.
class OtherCompiler : public VerifiedAgain {
protected:
    void SetUp() override {
        VerifiedAgain::SetUp();
        const auto script = scratch_ / "cxx";
        write_text(script, "#!/bin/sh\nversion=$(cat '" + scratch_ / "version" +
                               "')\nif [ \"$1\" = --version ]; then\n    " SMEMTUNE_CXX
                               " --version | head -1 | sed \"s/$/ build $version/\"\nelse\n    exec " SMEMTUNE_CXX
                               " -DCOMPILER_BUILD=$version \"$@\"\nfi\n");
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
        variables_["CXX"] = script;
        use(1);
    }
    void use(int version) const { write_text(scratch_ / "version", std::to_string(version)); }
};

TEST_F(OtherCompiler, AStoredTrialThatItMiscompilesDoesNotWin) {
    add_template("fragile", "1, 0", "KIND ? 1 : 20000", "alpha * x + (KIND && COMPILER_BUILD == 2)");
    (void)tune({"--evaluations", "1"});
    ASSERT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 fragile KIND=1"}));
    use(2);
    const auto again = tune();
    EXPECT_EQ(again.at("rejected").value("wrong", 0), 1);
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 fragile KIND=0"}));
    EXPECT_EQ(fetched().at("correct"), true);
    use(3);
    (void)tune();
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 fragile KIND=1"})) << "a fixed compiler";
}

TEST_F(OtherCompiler, TheSameMachineCodeIsVerifiedAgainAndNotTimed) {
    add_template("right", "0, 1", "KIND ? 1 : 20000", "alpha * x");
    (void)tune();
    use(3);
    const auto again = tune();
    EXPECT_EQ(again.at("verified_again"), 1);
    EXPECT_EQ(again.at("measured"), 0);
    const auto winner = trials().at(1);
    EXPECT_TRUE(winner.at("winner"));
    EXPECT_THAT(winner.at("toolchain").get<std::string>(), ::testing::HasSubstr("build 3"));
}

// Each time the kernel is loaded, its first four launches are right. The trial runs its second check after the timing,
// and that check finds the error.
TEST_F(VerifiedAgain, AKernelThatIsWrongOnlyAfterSomeLaunchesDoesNotWin) {
    write("operation.toml", std::string(operation) + second_check);
    write("racy.toml", manifest("racy", "1, 0"));
    write("racy.cu", "static int launches = 0;\n" +
                         kernel("racy", "KIND ? 1 : 20000", "alpha * x + (KIND && i == 0 && ++launches > 4)"));
    (void)tune();
    const auto stored = trials();
    const auto racy =
        std::ranges::find_if(stored, [](const auto& trial) { return trial.at("configuration").at("KIND") == 1; });
    ASSERT_NE(racy, stored.end());
    EXPECT_EQ(racy->at("rejection").at("stage"), "wrong");
    EXPECT_EQ(winners(), (std::vector<std::string>{"amplify f32 16x16 racy KIND=0"}));
    EXPECT_EQ(fetched().at("correct"), true);
}

TEST_F(VerifiedAgain, FoldersThatDescribeAnOperationDifferentlyAreNotTunedTogether) {
    add_template("right", "0", "1", "alpha * x");
    std::filesystem::create_directory(scratch_ / "others");
    for (const auto* shared : {"operation.toml", "reference.cu"}) {
        std::filesystem::copy_file(scratch_.path() / "kernels" / shared, scratch_.path() / "others" / shared);
    }
    write_text(scratch_ / "others/other.toml", manifest("other", "0"));
    write_text(scratch_ / "others/other.cu", kernel("other", "1", "alpha * x"));
    const auto tuned = [&] {
        return run(scratch_,
                   {"tune", "--device", "host", "--templates", "kernels,others", "--sizes", "16", "--db", "t.db"},
                   variables_);
    };
    EXPECT_EQ(tuned().code, 0) << "copies of one description";
    auto negative = "#include \"configuration.h\"\n" + std::string(reference);
    negative.replace(negative.find("(double)alpha"), 13, "-(double)alpha");
    write_text(scratch_ / "others/reference.cu", negative);
    const auto refused = tuned();
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, ::testing::HasSubstr("right and other describe the operation amplify differently"));
}

TEST_F(VerifiedAgain, TheStoredMachineCodeOfAWinnerIsTheCodeOfItsTrial) {
    add_template("right", "0, 1", "KIND ? 1 : 20000", "alpha * x");
    (void)tune();
    const Store store(scratch_ / "t.db", Store::Access::read);
    const auto best = store.rows({.best_only = true}).at(0);
    const auto target = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX})->target();
    const auto binary =
        store.recall_binary(best.record.key.kernel_template, best.record.configuration, target + " f32");
    ASSERT_TRUE(binary);
    EXPECT_EQ(best.record.code_hash, sha256(std::as_bytes(std::span(binary->code))));
}

}  // namespace
}  // namespace smemtune
