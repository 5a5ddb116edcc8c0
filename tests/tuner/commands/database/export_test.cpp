// Tests `smemtune db export` and `smemtune db compile`, and which kernels an application gets from their output.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// t.db has a portfolio and winners of the host device. All tests use one tuning run, of `naive`, which compiles fast.
class ExportCommand : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        made = std::make_unique<Scratch>();
        const auto built = run(*made, {"portfolio", "--device", "host", "--templates", "naive", "--shapes", "3",
                                       "--extents", "8..16", "--evaluations", "2", "--db", "t.db"});
        ASSERT_EQ(built.code, 0) << built.err;
    }
    static void TearDownTestSuite() { made.reset(); }
    void SetUp() override { std::filesystem::copy_file(*made / "t.db", scratch / "t.db"); }

    // Returns the report of `smemtune run`, which names the kernel that it got from `database`. The environment
    // variables `more` can name the folder of the system's databases.
    [[nodiscard]] json served(const std::string& database, const std::string& size, const Variables& more = {}) const {
        const auto finished =
            run(scratch, {"run", "--device", "host", "--sizes", size, "--db", database, "--json"}, more);
        EXPECT_EQ(finished.code, 0) << finished.err;
        return json::parse(finished.out);
    }

    Scratch scratch;
    static inline std::unique_ptr<Scratch> made;
};

TEST_F(ExportCommand, ADatabaseThatIsGivenAwayServesAsTheOriginal) {
    const auto exported = run(scratch, {"db", "export", "--winners", "app.db", "--db", "t.db"});
    EXPECT_EQ(exported.code, 0) << exported.err;
    EXPECT_THAT(exported.out, HasSubstr("app.db: 3 winners, "));
    EXPECT_EQ(winners_in(scratch / "app.db"), winners_in(scratch / "t.db"));
    for (const auto* size : {"23x9x17", "16"}) {
        const auto original = served("t.db", size);
        const auto copy = served("app.db", size);
        EXPECT_EQ(copy.at("match"), "predicted");
        for (const auto* key : {"match", "template", "configuration", "predicted_us"}) {
            EXPECT_EQ(copy.at(key), original.at(key)) << key;
        }
    }
    EXPECT_FALSE(std::filesystem::exists(scratch / "app.db-wal")) << "a reader creates no files beside it";
    EXPECT_EQ(run(scratch, {"db", "verify", "--db", "app.db"}).code, 0);
}

TEST_F(ExportCommand, AFileThatExistsIsNeverReplaced) {
    write_text(scratch / "app.db", "mine");
    const auto refused = run(scratch, {"db", "export", "--winners", "app.db", "--db", "t.db"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("app.db exists; remove it, or choose another file"));
    EXPECT_EQ(read_text(scratch / "app.db"), "mine");
}

TEST_F(ExportCommand, ACompileReplacesOnlyADatabaseWithoutTrials) {
    ASSERT_EQ(run(scratch, {"db", "export", "--portfolio-text", "texts", "--db", "t.db"}).code, 0);
    const auto text = std::filesystem::directory_iterator(scratch / "texts")->path().string();
    const auto compile = [&](const std::string& to) { return run(scratch, {"db", "compile", "--to", to, text}); };
    EXPECT_EQ(compile("system.db").code, 0);
    EXPECT_EQ(compile("system.db").code, 0) << "its own output";
    write_text(scratch / "kernel.cu", "mine");
    EXPECT_THAT(compile("kernel.cu").err, HasSubstr("kernel.cu exists and is no database"));
    EXPECT_EQ(read_text(scratch / "kernel.cu"), "mine");
    const auto refused = compile("t.db");
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("t.db holds trials and is not replaced"));
    EXPECT_EQ(run(scratch, {"db", "best", "--db", "t.db"}).code, 0);
}

TEST_F(ExportCommand, ACompileReplacesNoDatabaseByAnEmptyOne) {
    ASSERT_EQ(run(scratch, {"db", "export", "--portfolio-text", "texts", "--db", "t.db"}).code, 0);
    const auto text = std::filesystem::directory_iterator(scratch / "texts")->path().string();
    const auto compile = [&](const std::string& to) { return run(scratch, {"db", "compile", "--to", to, text}); };
    ASSERT_EQ(compile("system.db").code, 0);
    const auto before = read_text(scratch / "system.db");
    auto edited = read_text(scratch / text);
    static const std::regex hash("(code = \")[0-9a-f]{64}\"");
    edited = std::regex_replace(edited, hash, "$01" + std::string(64, '0') + "\"");
    write_text(scratch / text, edited);
    const auto refused = compile("system.db");
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("system.db stays as it is, because the new database would have no member"));
    EXPECT_EQ(read_text(scratch / "system.db"), before);
    EXPECT_EQ(compile("new.db").code, 0) << "a build goes on without a portfolio";
    EXPECT_EQ(compile("new.db").code, 0) << "an empty database may be replaced";
}

TEST_F(ExportCommand, NothingToExportLeavesNoFile) {
    Store(scratch / "empty.db").remember(gemm(1, 1, 1));
    for (const auto* what : {"--winners", "--portfolio", "--portfolio-text"}) {
        EXPECT_EQ(run(scratch, {"db", "export", what, "app.db", "--db", "empty.db"}).code, 1) << what;
        EXPECT_FALSE(std::filesystem::exists(scratch / "app.db"));
    }
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
        EXPECT_EQ(entry.path().string().find("unfinished"), std::string::npos) << entry.path();
    }
}

TEST_F(ExportCommand, APortfolioGoesToTextAndBackAndServesFromTheSystemsFolder) {
    const auto exported =
        run(scratch, {"db", "export", "--portfolio-text", "texts", "--db", "t.db"}, {{"COMMIT", "abcdef"}});
    EXPECT_EQ(exported.code, 0) << exported.err;
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "texts")) file = entry.path().string();
    EXPECT_THAT(file, HasSubstr("-gemm-f32-nn.toml"));
    EXPECT_THAT(read_text(file), HasSubstr("commit = \"abcdef\""));

    std::filesystem::create_directory(scratch / "system");
    const auto compiled = run(scratch, {"db", "compile", "--to", "system/host.db", "--target", "host", file});
    EXPECT_EQ(compiled.code, 0) << compiled.err;
    EXPECT_THAT(compiled.out, HasSubstr("have the machine code that was verified"));
    EXPECT_EQ(compiled.err, "");

    const Variables system{{"SMEMTUNE_SYSTEM_DATABASES", scratch / "system"}};
    EXPECT_EQ(served("absent.db", "23x9x17", system).at("match"), "predicted");
    EXPECT_EQ(served("absent.db", "23x9x17", {{"SMEMTUNE_SYSTEM_DATABASES", ""}}).at("match"), "untuned");

    const auto again = run(scratch, {"db", "export", "--portfolio-text", "again", "--db", "system/host.db"});
    EXPECT_EQ(again.code, 0) << again.err;
    const auto members = [](const std::string& text) { return text.substr(text.find("[device]")); };
    EXPECT_EQ(members(read_text(scratch / "again/" + std::filesystem::path(file).filename().string())),
              members(read_text(file)));
}

TEST_F(ExportCommand, OtherArchitecturesAreSkippedAndOtherMachineCodeIsNamed) {
    ASSERT_EQ(run(scratch, {"db", "export", "--portfolio-text", "texts", "--db", "t.db"}).code, 0);
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "texts")) file = entry.path().string();
    const auto skipped = run(scratch, {"db", "compile", "--to", "a.db", "--target", "sm_90", file});
    EXPECT_EQ(skipped.code, 1);
    EXPECT_EQ(skipped.err, "no text is of an architecture in --target sm_90; a.db was not written\n");
    EXPECT_FALSE(std::filesystem::exists(scratch / "a.db"));

    auto text = read_text(file);
    for (auto at = text.find("code = \""); at != std::string::npos; at = text.find("code = \"", at + 1))
        text[at + 8] = 'x';
    text.replace(text.find("compiler = \""), 12, "compiler = \"another ");
    write_text(file, text);
    const auto other = run(scratch, {"db", "compile", "--to", "a.db", file});
    EXPECT_EQ(other.code, 0);
    EXPECT_THAT(other.out, HasSubstr(": 0 of "));
    EXPECT_THAT(other.err, HasSubstr("left out: naive "));
    EXPECT_THAT(other.err, HasSubstr("verified with another "));
    EXPECT_TRUE(Store(scratch / "a.db", Store::Access::read).portfolios().empty());
}

TEST_F(ExportCommand, AMistakeIsNamed) {
    const auto error = [&](const std::vector<std::string>& words) {
        const auto finished = run(scratch, words);
        EXPECT_EQ(finished.code, 2) << finished.err;
        return finished.err;
    };
    EXPECT_THAT(error({"db", "export", "--db", "t.db"}), HasSubstr("db export needs the name of a file"));
    EXPECT_THAT(error({"db", "export", "--winners", "--portfolio", "a.db", "--db", "t.db"}),
                HasSubstr("exclude each other"));
    EXPECT_THAT(error({"db", "compile", "x.toml"}), HasSubstr("--to FILE"));
    EXPECT_THAT(error({"db", "compile", "--to", "a.db"}), HasSubstr("needs texts"));
    EXPECT_THAT(error({"db", "compile", "--to", "a.db", "absent.toml"}), HasSubstr("absent.toml cannot be read"));
    EXPECT_THAT(error({"db", "compile", "--to", "a.db", "."}), HasSubstr(". cannot be read as a file"));
    ASSERT_EQ(run(scratch, {"db", "export", "--portfolio-text", "texts", "--db", "t.db"}).code, 0);
    const auto text = std::filesystem::directory_iterator(scratch / "texts")->path().string();
    EXPECT_THAT(error({"db", "compile", "--to", "a.db", text, text}), HasSubstr("are of the same portfolio"));
    write_text(scratch / "bad.toml", "format = 1\n");
    EXPECT_THAT(error({"db", "compile", "--to", "a.db", "bad.toml"}), HasSubstr("bad.toml:1: "));
    EXPECT_FALSE(std::filesystem::exists(scratch / "a.db"));
}

}  // namespace
}  // namespace smemtune
