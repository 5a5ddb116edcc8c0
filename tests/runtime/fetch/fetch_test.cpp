// Tests how a Runtime fetches a kernel: which files it trusts, which threads wait, and what it remembers.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <future>
#include <iostream>
#include <thread>

#include "runtime/host/host_backend.h"
#include "runtime/inspector.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Fetch : public testing::Test {
protected:
    [[nodiscard]] Runtime::Options options(const std::string& compiler = SMEMTUNE_CXX) const {
        return {.database = database, .database_may_be_absent = true, .device = "host", .host_compiler = compiler};
    }
    void tuned(const KernelTemplate& kernel, const Problem& problem, const std::string& configuration,
               bool with_code = true) const {
        Store store(database);
        const auto values = parse_configuration(configuration);
        std::optional<Binary> code;
        if (with_code) code = must_compile(*host_compiler(), program_of(kernel, values, problem));
        store_winner(store, host_device(), kernel, problem, values, 10, code ? &*code : nullptr);
    }
    void tuned(const Problem& problem, bool with_code = true) const {
        tuned(find_template(templates, "tiled"), problem, "TILE_WIDTH=8", with_code);
    }
    [[nodiscard]] static bool computes(const Kernel& kernel, std::size_t size) {
        const std::vector<float> a(size * size, 2);
        std::vector<float> c(size * size, 64);
        kernel.launch(nullptr, {.a = a.data(), .b = a.data(), .c = c.data(), .beta = 1});
        return c == std::vector<float>(size * size, 64 + 4 * static_cast<float>(size));
    }
    // A template whose gemm takes the arguments of the built-in gemm in a different order.
    [[nodiscard]] static KernelTemplate reordered() {
        auto sources = stepping_sources();
        const std::string beta = "[[operation.argument]]\nname = \"beta\"\nkind = \"scalar\"\n\n";
        auto operation = builtin_sources().at("gemm/operation.toml");
        operation.erase(operation.find(beta), beta.size());
        operation.insert(operation.find("[[operation.argument]]"), beta);
        sources["operation.toml"] = operation;
        sources["reference.cu"] = "";
        auto& source = sources.at("stepping.cu");
        source.erase(source.find("Element beta, "), 14);
        source.insert(source.find("int M, "), "Element beta, ");
        return load_templates(sources).front();
    }

    TemporaryFolder scratch;
    fs::path database = scratch / "tuning.db";
    std::vector<KernelTemplate> templates = builtin_templates();
    const std::string no_compiler = "/nowhere/c++";
};

TEST_F(Fetch, AKernelOfAnotherSignatureIsNeverLaunched) {
    tuned(reordered(), gemm(64, 64, 64), "STEP=2");
    Runtime runtime(options());
    const auto kernel = runtime.fetch(gemm(64, 64, 64));
    EXPECT_EQ(kernel.choice().match, Match::untuned);
    EXPECT_TRUE(computes(kernel, 64));
    EXPECT_THAT(error_of<FetchError>([&] { (void)runtime.fetch(gemm(64, 64, 64), "stepping"); }),
                AllOf(HasSubstr("; stepping: "), HasSubstr("in another order")));
}

TEST_F(Fetch, ATemplateThatOnlyTheDatabaseHasIsServedUnlessItIsExcluded) {
    tuned(load_templates(stepping_sources()).front(), gemm(64, 64, 64), "STEP=2");
    const auto kernel = Runtime(options(no_compiler)).fetch(gemm(64, 64, 64));
    EXPECT_EQ(kernel.choice().kernel_template, "stepping");
    EXPECT_TRUE(computes(kernel, 64));
    auto restricted = options(no_compiler);
    restricted.trust.stored_templates = false;
    EXPECT_THAT(error_of<FetchError>([&] { (void)Runtime(restricted).fetch(gemm(64, 64, 64)); }),
                HasSubstr("; stepping: only the database has this version"));
}

TEST_F(Fetch, StoredMachineCodeCanBeExcluded) {
    tuned(gemm(64, 64, 64));
    auto restricted = options(no_compiler);
    EXPECT_NO_THROW((void)Runtime(restricted).fetch(gemm(64, 64, 64)));
    restricted.trust.machine_code = false;
    EXPECT_THAT(error_of<FetchError>([&] { (void)Runtime(restricted).fetch(gemm(64, 64, 64)); }),
                HasSubstr(no_compiler));
}

// Runs in a separate process, because other tests open NVRTC, NVML or cuBLAS in this process.
TEST_F(Fetch, OfStoredMachineCodeOpensNeitherNvrtcNorNvmlNorCublas) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            tuned(gemm(64, 64, 64));
            Runtime runtime(options(no_compiler));
            const auto compiler = make_compiler(model_device("sm_90"));
            bool right = computes(runtime.fetch(gemm(64, 64, 64)), 64);
            std::ifstream maps("/proc/self/maps");
            for (std::string line; std::getline(maps, line);) {
                for (const auto* const library : {"libnvrtc", "libnvidia-ml", "libcublas"}) {
                    if (line.find(library) == std::string::npos) continue;
                    std::cerr << line << '\n';
                    right = false;
                }
            }
            std::exit(right ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(Fetch, WarmUpFetchesEveryProblemAheadOfItsUse) {
    tuned(gemm(64, 64, 64));
    Runtime runtime(options(no_compiler));
    runtime.warm_up(std::vector{gemm(64, 64, 64), gemm(65, 64, 64), gemm(66, 64, 64)});
    for (const auto m : {65, 66, 67}) tuned(gemm(m, 64, 64));
    EXPECT_EQ(runtime.fetch(gemm(65, 64, 64)).choice().match, Match::nearest) << "as it was chosen then";
    EXPECT_EQ(runtime.fetch(gemm(66, 64, 64)).choice().match, Match::nearest);
    EXPECT_EQ(runtime.fetch(gemm(67, 64, 64)).choice().match, Match::exact);
    EXPECT_THROW(runtime.warm_up(std::vector{gemm(68, 64, 64), Problem{"nothing", "f32", "", {}}}), FetchError);
}

TEST_F(Fetch, CompilingCanBeExcluded) {
    tuned(gemm(64, 64, 64));
    auto restricted = options();
    restricted.trust.jit = false;
    Runtime runtime(restricted);
    EXPECT_EQ(runtime.fetch(gemm(64, 64, 64)).choice().match, Match::exact);
    EXPECT_THAT(error_of<FetchError>([&] { (void)runtime.fetch(gemm(64, 64, 64), "naive"); }),
                HasSubstr("Options::trust excludes compiling"));
}

TEST_F(Fetch, TheHostDeviceCanBeExcluded) {
    auto restricted = options();
    restricted.trust.host_code = false;
    EXPECT_THAT(error_of<std::runtime_error>([&] { Runtime runtime(restricted); }), HasSubstr("host_code"));
}

TEST_F(Fetch, ADatabaseThatOthersCanChangeIsRefusedUnlessAnyOwnerIsTrusted) {
    tuned(gemm(64, 64, 64));
    ASSERT_EQ(chmod(database.c_str(), 0666), 0);
    EXPECT_THAT(error_of<UntrustedFile>([&] { Runtime runtime(options()); }),
                AllOf(HasSubstr(database.string()), HasSubstr("0666"), HasSubstr("any_owner")));
    auto open = options();
    open.trust.any_template_owner = true;
    EXPECT_THROW(Runtime{open}, UntrustedFile);
    open.trust.any_owner = true;
    EXPECT_EQ(Runtime(open).fetch(gemm(64, 64, 64)).choice().match, Match::exact);
}

// While an application runs, its database may be replaced by a file that other users can change.
TEST_F(Fetch, ADatabaseThatTookThePlaceOfAnotherIsReadOnlyIfOthersCannotChangeIt) {
    tuned(gemm(64, 64, 64));
    Runtime runtime(options());
    auto open = options();
    open.trust.any_owner = true;
    std::optional<Runtime> trusting(open);
    for (auto* each : {&runtime, &*trusting}) {
        EXPECT_EQ(each->fetch(gemm(64, 64, 64)).choice().match, Match::exact);
    }
    const auto replace = [&](mode_t mode) {
        fs::copy_file(database, scratch / "other.db");
        ASSERT_EQ(chmod((scratch / "other.db").c_str(), mode), 0);
        fs::rename(scratch / "other.db", database);
    };
    replace(0666);
    for (int time = 0; time < 2; ++time) {
        EXPECT_THAT(error_of<UntrustedFile>([&] { (void)runtime.fetch(gemm(65, 64, 64)); }), HasSubstr("0666"));
    }
    EXPECT_EQ(runtime.fetch(gemm(64, 64, 64)).choice().match, Match::exact) << "what was fetched before";
    EXPECT_EQ(trusting->fetch(gemm(65, 64, 64)).choice().match, Match::nearest);
    trusting.reset();
    replace(0600);
    EXPECT_EQ(runtime.fetch(gemm(65, 64, 64)).choice().match, Match::nearest);
}

TEST_F(Fetch, ADatabaseBesideAnotherIsTrustedNoFurther) {
    tuned(gemm(64, 64, 64));
    const Runtime runtime(options());
    EXPECT_NO_THROW((void)RuntimeInspector::beside(runtime, database));
    auto open = options();
    open.trust.any_owner = true;
    const Runtime trusting(open);
    ASSERT_EQ(chmod(database.c_str(), 0666), 0);
    EXPECT_THROW((void)RuntimeInspector::beside(runtime, database), UntrustedFile);
    EXPECT_NO_THROW((void)RuntimeInspector::beside(trusting, database));
}

TEST_F(Fetch, ATemplatesFolderThatOthersCanChangeIsRefusedUnlessAnyOwnerIsTrusted) {
    const auto folder = scratch / "mine";
    fs::create_directories(folder);
    for (const auto& [path, text] : stepping_sources()) std::ofstream(folder / path) << text;
    auto with_folder = options();
    with_folder.template_folders = {folder};
    ASSERT_EQ(chmod((folder / "stepping.cu").c_str(), 0666), 0);
    EXPECT_THAT(error_of<UntrustedFile>([&] { Runtime runtime(with_folder); }), HasSubstr("stepping.cu"));
    with_folder.trust.any_template_owner = true;
    EXPECT_NO_THROW(Runtime{with_folder});
    with_folder.trust = {.any_owner = true};
    EXPECT_EQ(Runtime(with_folder).fetch(gemm(6, 7, 8), "stepping").choice().configuration, "STEP=2");
}

TEST_F(Fetch, ADatabaseThatDoesNotExistIsAnErrorUnlessItMay) {
    auto absent = options();
    absent.database_may_be_absent = false;
    EXPECT_THAT(error_of<std::runtime_error>([&] { Runtime runtime(absent); }),
                AllOf(HasSubstr(database.string()), HasSubstr("database_may_be_absent")));
    absent.database.clear();
    EXPECT_NO_THROW(Runtime{absent}) << "none was asked for";
    EXPECT_NO_THROW(Runtime{options()});
    tuned(gemm(64, 64, 64));
    EXPECT_EQ(Runtime(options()).fetch(gemm(64, 64, 64)).choice().match, Match::exact) << "it may exist, too";
}

TEST_F(Fetch, TheCpuIsNeverUsedUnlessItIsNamed) {
    if (list_devices().size() > 1) GTEST_SKIP() << "here auto is a GPU";
    auto automatic = options();
    automatic.device = "auto";
    EXPECT_THAT(error_of<std::runtime_error>([&] { Runtime runtime(automatic); }),
                AllOf(HasSubstr("no GPU"), HasSubstr("'host'")));
}

// Tests with a compiler that waits: it appends a line to `calls` when it starts, and compiles after release_compiler().
class Blocked : public Fetch {
protected:
    void SetUp() override {
        ASSERT_EQ(mkfifo(begun.c_str(), 0600), 0);
        ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
        compiler = script(scratch / "compiler", "case $1 in --version) ;; *) echo call >>'" + calls.string() +
                                                    "'; echo begun >'" + begun.string() + "'; read go <'" +
                                                    gate.string() + "' ;; esac\nexec '" SMEMTUNE_CXX "' \"$@\"\n");
    }
    void wait_for_compiler() const { std::ifstream(begun).get(); }
    void release_compiler() const { std::ofstream(gate) << "go\n"; }
    [[nodiscard]] std::size_t compiles() const {
        std::ifstream lines(calls);
        return static_cast<std::size_t>(std::count(std::istreambuf_iterator(lines), {}, '\n'));
    }

    fs::path begun = scratch / "begun", gate = scratch / "gate", calls = scratch / "calls";
    std::string compiler;
};

TEST_F(Blocked, NoThreadWaitsForAnothersCompile) {
    tuned(gemm(64, 64, 64));
    Runtime runtime(options(compiler));
    (void)runtime.fetch(gemm(64, 64, 64));
    auto compiling = std::async(std::launch::async, [&] { return runtime.fetch(gemm(64, 64, 64), "naive"); });
    wait_for_compiler();
    auto others = std::async(std::launch::async, [&] {
        const auto warm = runtime.fetch(gemm(64, 64, 64));
        const auto cold = runtime.fetch(gemm(65, 64, 64));
        return warm.choice().match == Match::exact && cold.choice().match == Match::nearest;
    });
    const bool waits = others.wait_for(std::chrono::minutes(10)) != std::future_status::ready;
    release_compiler();
    EXPECT_FALSE(waits);
    EXPECT_TRUE(others.get());
    EXPECT_EQ(compiling.get().choice().kernel_template, "naive");
}

TEST_F(Blocked, ThreadsThatAskForTheSameProgramShareOneCompile) {
    Runtime runtime(options(compiler));
    std::vector<std::future<Kernel>> fetches;
    const auto ask = [&](std::int64_t m) {
        fetches.push_back(
            std::async(std::launch::async, [&runtime, m] { return runtime.fetch(gemm(m, 8, 8), "naive"); }));
    };
    ask(8);
    wait_for_compiler();
    for (const auto m : {8, 8, 9}) ask(m);
    release_compiler();
    for (auto& each : fetches) EXPECT_EQ(each.get().choice().kernel_template, "naive");
    EXPECT_EQ(compiles(), 1U);
    (void)runtime.fetch(gemm(10, 8, 8), "naive");
    EXPECT_EQ(compiles(), 1U) << "nor is it compiled for a further size";
}

TEST_F(Fetch, AFailedCompileIsTriedAgain) {
    const auto broken = (scratch / "broken").string();
    std::ofstream{broken};
    const auto compiler =
        script(scratch / "compiler", "test -e '" + broken + "' && exit 1\nexec '" SMEMTUNE_CXX "' \"$@\"\n");
    Runtime runtime(options(compiler));
    EXPECT_THROW((void)runtime.fetch(gemm(8, 8, 8), "naive"), FetchError);
    fs::remove(broken);
    EXPECT_TRUE(computes(runtime.fetch(gemm(8, 8, 8), "naive"), 8));
}

TEST_F(Fetch, OfMoreProblemsThanAreRememberedTheOldestAreChosenForAnew) {
    tuned(gemm(64, 64, 64));
    auto small = options(no_compiler);
    small.remembered_problems = 4;
    Runtime forgetting(small);
    Runtime remembering(options(no_compiler));
    for (auto* runtime : {&forgetting, &remembering}) {
        EXPECT_EQ(runtime->fetch(gemm(32, 32, 32)).choice().match, Match::nearest);
    }
    tuned(gemm(32, 32, 32));
    for (auto* runtime : {&forgetting, &remembering}) {
        for (int m = 1; m <= 10; ++m) (void)runtime->fetch(gemm(m, 64, 64));
    }
    EXPECT_EQ(forgetting.fetch(gemm(32, 32, 32)).choice().match, Match::exact);
    EXPECT_EQ(remembering.fetch(gemm(32, 32, 32)).choice().match, Match::nearest);
}

}  // namespace
}  // namespace smemtune
