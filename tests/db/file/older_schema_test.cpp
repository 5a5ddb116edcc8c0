// Tests database files of the older schema version 2, and of a later version that a newer smemtune might write.
#include "db/file/older_schema.h"

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

using std::filesystem::path;
using Access = Store::Access;

path written_by_schema_2(const path& file) {
    std::ifstream dump(path(SMEMTUNE_SOURCE_DIR) / "tests" / "fixtures" / "databases" / "schema_2.sql");
    execute(file, "PRAGMA journal_mode = WAL");
    execute(file, std::string(std::istreambuf_iterator<char>(dump), {}));
    return file;
}

void expect_served(const Store& store) {
    ASSERT_EQ(store.rows({}).size(), 6U);
    ASSERT_EQ(store.devices().size(), 1U);
    const auto device = store.devices().front().first;
    for (const int size : {32, 48}) {
        const auto problem = store.find(gemm(size, size, size));
        ASSERT_TRUE(problem.has_value());
        const auto best = store.best(device, *problem);
        ASSERT_TRUE(best.has_value());
        EXPECT_TRUE(best->winner);
        EXPECT_TRUE(store.recall_template(best->record.key.kernel_template)->files.contains("gemm/operation.toml"));
        EXPECT_EQ(size_text(store.nearest(device, gemm(size + 1, size, size), 0, 9).rows.front().problem),
                  size_text(gemm(size, size, size)));
    }
    EXPECT_TRUE(store.recall_binary(2, {{{"BLOCK_X", 32}, {"BLOCK_Y", 8}}}, "host-x86_64-3aa2b3c4 f32 nn"));
}

TEST(OlderSchema, AFileOfThePreviousReleaseIsReadAsItIs) {
    const Scratch scratch;
    const auto file = written_by_schema_2(scratch / "tuned.db");
    const auto before = scratch.contents();
    expect_served(Store(file, Access::read));
    EXPECT_TRUE(scratch.contents() == before);
    EXPECT_EQ(Store(file, Access::read).damages().size(), 0U);
}

TEST(OlderSchema, ATrialThatWasCutShortIsServedNeitherBeforeMigrationNorAfter) {
    const Scratch scratch;
    const auto file = written_by_schema_2(scratch / "tuned.db");
    execute(file, "UPDATE trials SET cut_short = 1 WHERE id = 2");  // trial 2 is the winner of problem 1
    for (const auto access : {Access::read, Access::write, Access::read}) {
        const auto best = Store(file, access).best(1, 1);
        ASSERT_TRUE(best.has_value());
        EXPECT_NE(best->id, 2);
        EXPECT_FALSE(best->winner);
        EXPECT_FALSE(best->record.verified_by.empty());
    }
}

TEST(OlderSchema, AFileOfThePreviousReleaseGetsItsHashesAndPlacesWhenItIsTunedInto) {
    const Scratch scratch;
    const auto file = written_by_schema_2(scratch / "tuned.db");
    expect_served(Store(file, Access::write));
    expect_served(Store(file, Access::read));
    EXPECT_EQ(value_of(file, "PRAGMA user_version"), std::to_string(migrations().size()));
    EXPECT_EQ(value_of(file, "SELECT count(*) FROM templates WHERE length(sha256) = 64"), "2");
    EXPECT_EQ(value_of(file, "SELECT count(*) FROM binaries WHERE sha256 IS NULL"), "0");
    EXPECT_EQ(value_of(file, "SELECT count(*) FROM places"), "2");
    EXPECT_EQ(Store(file, Access::read).damages().size(), 0U);
}

TEST(OlderSchema, AFileThatANewerOneExtendedIsReadButNotWritten) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db", 3);
    execute(file,
            "ALTER TABLE trials ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; CREATE TABLE moods (x TEXT) STRICT;"
            "PRAGMA user_version = 77");
    const auto before = scratch.contents();
    {
        const Store store(file, Access::read);
        EXPECT_EQ(store.rows({}).size(), 3U);
        EXPECT_EQ(store.recall_template(1), tiled());
        EXPECT_EQ(store.nearest(1, gemm(500, 500, 500), 0, 9).rows.size(), 1U);
    }
    const auto error = error_of([&] { Store(file, Access::write); });
    EXPECT_NE(error.find(": was extended by a newer smemtune (schema 77, this one knows up to " +
                         std::to_string(migrations().size()) + "); this one can read it, but not tune into it"),
              std::string::npos)
        << error;
    EXPECT_TRUE(scratch.contents() == before);
}

}  // namespace
}  // namespace smemtune
