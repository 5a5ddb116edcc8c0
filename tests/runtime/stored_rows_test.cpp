// Tests what an application fetches from a database that is damaged, edited or large.
#include <gmock/gmock.h>

#include <sqlite3.h>

#include "runtime/runtime.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

// Changes a database with SQL, as damage or a different program could.
void execute(const std::filesystem::path& database, const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
}

class StoredOnHost : public testing::Test {
protected:
    [[nodiscard]] Runtime open(const std::string& compiler = SMEMTUNE_CXX) const {
        return Runtime({.database = database, .device = "host", .host_compiler = compiler});
    }
    void tuned(const Problem& problem, const std::string& kernel, const std::string& configuration,
               bool with_code = true) const {
        Store store(database);
        const auto& templates = builtin_templates();
        // Gives the built-in template a hash that the runtime does not know. If the runtime knew the hash, it would not
        // read the stored files.
        auto chosen = find_template(templates, kernel);
        chosen.hash = "of an earlier version of " + kernel;
        const auto values = parse_configuration(configuration);
        std::optional<Binary> code;
        if (with_code) code = must_compile(*host_compiler(), program_of(chosen, values, problem));
        store_winner(store, host_device(), chosen, problem, values, 10, code ? &*code : nullptr);
    }

    TemporaryFolder scratch;
    std::filesystem::path database = scratch / "tuning.db";
    const std::string no_compiler = "/nowhere/c++";
};

TEST_F(StoredOnHost, DamagedMachineCodeIsNeverLoadedAndMadeAnew) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8");
    for (const auto* damage :
         {"substr(code, 1, length(code) / 2)",                                        // truncates the code
          "CAST(substr(code, 1, 4096) || zeroblob(length(code) - 4096) AS BLOB)"}) {  // overwrites most of the code
        execute(database, std::string("UPDATE binaries SET code = ") + damage);
        EXPECT_THAT(error_of<FetchError>([&] { (void)open(no_compiler).fetch(gemm(64, 64, 64)); }),
                    HasSubstr("differs from its SHA-256"));
        const auto kernel = open().fetch(gemm(64, 64, 64));
        EXPECT_EQ(kernel.choice().match, Match::exact);
    }
}

// If a tuning run is killed after it verified machine code and before it stored this code, the database may still have
// older code of a different compiler.
TEST_F(StoredOnHost, MachineCodeThatIsNotWhatTheTrialWasVerifiedWithIsNeverLoaded) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8");
    {
        Store store(database);
        auto trial = store.row(1)->record;
        trial.code_hash = "of other code";
        store.remember(trial);
    }
    EXPECT_THAT(error_of<FetchError>([&] { (void)open(no_compiler).fetch(gemm(64, 64, 64)); }), HasSubstr(no_compiler));
    EXPECT_EQ(open().fetch(gemm(64, 64, 64)).choice().match, Match::exact);
}

// The database has the machine code of one trial. Another trial of the same source was verified with different machine
// code, so the kernel of that other trial is compiled from source.
TEST_F(StoredOnHost, TwoTrialsOfOneSourceAreServedWithTheirOwnMachineCode) {
    auto sources = stepping_sources();
    const auto kernel = load_templates(sources).front();
    auto& text = sources.at("stepping.cu");
    text.replace(text.find("Element sum = 0;"), 16, "Element sum = 1;");  // the stored code gives different results
    const auto configuration = parse_configuration("STEP=2");
    {
        Store store(database);
        const auto stored =
            must_compile(*host_compiler(), program_of(load_templates(sources).front(), configuration, gemm(2, 2, 2)));
        store_winner(store, host_device(), kernel, gemm(4, 2, 2), configuration, 10, nullptr);
        auto trial = store.row(1)->record;
        trial.code_hash = "of other code";
        store.remember(trial);
        store_winner(store, host_device(), kernel, gemm(2, 2, 2), configuration, 10, &stored);
    }
    auto runtime = open();
    const std::vector<float> ones(8, 1);
    for (const auto& [m, sum] : {std::pair{4, 2.0F}, {2, 3.0F}}) {
        std::vector<float> c(static_cast<std::size_t>(m) * 2, 9);
        const auto fetched = runtime.fetch(gemm(m, 2, 2));
        EXPECT_EQ(fetched.choice().match, Match::exact);
        fetched.launch(nullptr, {.a = ones.data(), .b = ones.data(), .c = c.data()});
        EXPECT_EQ(c, std::vector<float>(c.size(), sum)) << m;
    }
}

TEST_F(StoredOnHost, ADamagedTemplateIsNeverCompiledAndTheNextNearestServes) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8", false);
    execute(database, "UPDATE template_files SET text = replace(text, 'alpha', 'beta') WHERE path LIKE '%.cu'");
    EXPECT_THAT(error_of<FetchError>([&] { (void)open(no_compiler).fetch(gemm(64, 64, 64)); }),
                HasSubstr("holds a damaged row"));
    tuned(gemm(128, 64, 64), "naive", "BLOCK_X=64,BLOCK_Y=1");
    EXPECT_EQ(open(no_compiler).fetch(gemm(64, 64, 64)).choice().tuned_for, "gemm f32 nn 128x64x64");
}

TEST_F(StoredOnHost, APathThatLeadsOutsideIsNeverWritten) {
    tuned(gemm(64, 64, 64), "tiled", "TILE_WIDTH=8", false);
    const auto outside = scratch / "outside.cu";
    execute(database, "UPDATE template_files SET path = '" + outside.string() + "' WHERE path LIKE '%/fp64.h'");
    EXPECT_EQ(open().fetch(gemm(64, 64, 64)).choice().match, Match::untuned);
    EXPECT_FALSE(std::filesystem::exists(outside));
}

TEST_F(StoredOnHost, AnExactMatchIsServedWhateverLiesNear) {
    for (int size = 60; size < 80; ++size) tuned(gemm(64, 64, size), "naive", "BLOCK_X=64,BLOCK_Y=1", false);
    tuned(gemm(64, 64, 70), "tiled", "TILE_WIDTH=8");
    const auto kernel = open(no_compiler).fetch(gemm(64, 64, 70));
    EXPECT_EQ(kernel.choice().match, Match::exact);
    EXPECT_EQ(kernel.choice().kernel_template, "tiled");
}

TEST_F(StoredOnHost, TheNearestThatCanServeIsFoundHoweverFarItIs) {
    for (int size = 60; size < 90; ++size) tuned(gemm(64, 64, size), "naive", "BLOCK_X=64,BLOCK_Y=1", false);
    tuned(gemm(512, 512, 512), "tiled", "TILE_WIDTH=8");
    const auto kernel = open(no_compiler).fetch(gemm(64, 64, 64));
    EXPECT_EQ(kernel.choice().tuned_for, "gemm f32 nn 512x512x512");
}

}  // namespace
}  // namespace smemtune
