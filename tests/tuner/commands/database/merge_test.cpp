// Tests `smemtune db merge` on databases that were tuned on the host device. Also tests which kernels an application
// gets from the merged database.
#include <gmock/gmock.h>

#include <SQLiteCpp/Database.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// a.db has trials of `naive` at sizes 16 and 24. b.db has trials of `tiled` at sizes 16 and 32.
class MergeCommand : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        made = std::make_unique<Scratch>();
        tune({"--sizes", "16,24", "--templates", "naive", "--evaluations", "3", "--db", "a.db"});
        tune({"--sizes", "16,32", "--templates", "tiled", "--evaluations", "3", "--db", "b.db"});
    }
    static void TearDownTestSuite() { made.reset(); }
    static void tune(std::vector<std::string> words) {
        words.insert(words.end(), {"--device", "host"});
        const auto tuned = run(*made, words);
        ASSERT_EQ(tuned.code, 0) << tuned.err;
    }
    void SetUp() override {
        for (const auto* file : {"a.db", "b.db"}) std::filesystem::copy_file(*made / file, scratch / file);
    }

    Finished merge(const std::vector<std::string>& words) const {
        std::vector<std::string> all{"db", "merge"};
        all.insert(all.end(), words.begin(), words.end());
        return run(scratch, all);
    }
    DatabaseContent content(const std::string& file) const {
        return Store(scratch / file, Store::Access::read).content();
    }

    Scratch scratch;
    static inline std::unique_ptr<Scratch> made;
};

TEST_F(MergeCommand, HoldsWhatItsSourcesHoldInAnyOrderAndHoweverOften) {
    const auto before = scratch.contents();
    const auto finished = merge({"a.db", "b.db", "--to", "ab.db"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out,
                AllOf(HasSubstr("ab.db: "), HasSubstr(" of 2 databases, 3 winners (1 chosen from several)")));
    for (const auto& [file, bytes] : before) EXPECT_EQ(read_text(file), bytes) << file << " is unchanged";
    EXPECT_EQ(scratch.contents().size(), before.size() + 1) << "no file beside it";
    EXPECT_EQ(run(scratch, {"db", "verify", "--db", "ab.db"}).code, 0);
    EXPECT_EQ(trials_in(scratch / "ab.db"), trials_in(scratch / "a.db") + trials_in(scratch / "b.db"));
    EXPECT_THAT(winners_in(scratch / "a.db"), Contains(winners_in(scratch / "ab.db").at(1)));

    EXPECT_EQ(merge({"b.db", "a.db", "--to", "ba.db"}).code, 0);
    EXPECT_EQ(read_text(scratch / "ba.db"), read_text(scratch / "ab.db"));
    const auto again = merge({"ab.db", "b.db", "a.db", "ab.db", "--to", "again.db", "--json"});
    const auto counts = json::parse(again.out);
    EXPECT_EQ(counts["shared_trials"], counts["trials"]);
    EXPECT_EQ(counts["differing_trials"], 0);
    EXPECT_EQ(counts["winners"], 3);
    EXPECT_EQ(content("again.db"), content("ab.db"));
}

TEST_F(MergeCommand, AnApplicationIsServedTheWinnersOfBoth) {
    ASSERT_EQ(merge({"a.db", "b.db", "--to", "ab.db"}).code, 0);
    for (const auto& [size, wanted] : {std::pair("24", "naive"), std::pair("32", "tiled")}) {
        const auto served = run(scratch, {"run", "--device", "host", "--sizes", size, "--db", "ab.db", "--json"});
        ASSERT_EQ(served.code, 0) << served.err;
        EXPECT_EQ(json::parse(served.out)["match"], "exact");
        EXPECT_EQ(json::parse(served.out)["template"], wanted);
    }
    const auto tuned = run(scratch, {"--sizes", "24", "--templates", "naive", "--evaluations", "3", "--device", "host",
                                     "--db", "ab.db", "--json"});
    EXPECT_EQ(json::parse(tuned.out)["measured"], 0) << "it resumes from the merged trials";
}

TEST_F(MergeCommand, ADamagedSourceIsNamedAndNothingIsWritten) {
    SQLite::Database(scratch / "b.db", SQLite::OPEN_READWRITE).exec("UPDATE binaries SET code = x'00'");
    const auto before = scratch.contents();
    const auto finished = merge({"a.db", "b.db", "--to", "ab.db"});
    EXPECT_EQ(finished.code, 4);
    EXPECT_THAT(finished.err, AllOf(HasSubstr("b.db"), HasSubstr("damaged"),
                                    HasSubstr("smemtune db verify --db b.db. Nothing was merged")));
    EXPECT_EQ(scratch.contents(), before);
    write_text(scratch / "b.db", "no database");
    EXPECT_EQ(merge({"a.db", "b.db", "--to", "ab.db"}).code, 4);
    EXPECT_FALSE(std::filesystem::exists(scratch / "ab.db"));
}

TEST_F(MergeCommand, RefusesAFileThatExistsAndASingleSource) {
    const auto exists = merge({"a.db", "b.db", "--to", "a.db"});
    EXPECT_EQ(exists.code, 2);
    EXPECT_THAT(exists.err, HasSubstr("a.db exists; remove it, or choose another file"));
    EXPECT_EQ(merge({"a.db", "--to", "c.db"}).code, 2);
    EXPECT_EQ(merge({"a.db", "b.db"}).code, 2);
    EXPECT_EQ(merge({"a.db", "absent.db", "--to", "c.db"}).code, 4);
    EXPECT_FALSE(std::filesystem::exists(scratch / "c.db"));
}

}  // namespace
}  // namespace smemtune
