#include "db/file/open.h"

#include <sys/stat.h>

#include <array>

#include <SQLiteCpp/Column.h>

#include "db/file/journal.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

using std::filesystem::path;
using Access = Store::Access;

const StoreOptions impatient{.patience = std::chrono::milliseconds(150)};

struct BadFile {
    std::string name;
    std::function<void(const path&)> make;
    std::string says;  // what the error says after the path, for reading and for writing
};
void PrintTo(const BadFile& file, std::ostream* stream) { *stream << file.name; }

class BadFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadFileTest, IsOneClearLineAndStaysAsItWas) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    GetParam().make(file);
    const auto before = scratch.contents();
    for (const auto access : {Access::write, Access::read}) {
        const auto error = error_of([&] { Store(file, access, impatient); });
        EXPECT_EQ(error.rfind(file.string() + ": " + GetParam().says, 0), 0u) << "'" << error << "'";
        EXPECT_NE(error.find("; "), std::string::npos) << "no remedy: " << error;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
        EXPECT_TRUE(scratch.contents() == before) << "changed";
    }
}

const std::string newer = "PRAGMA application_id = 1936549229; PRAGMA user_version = 99; CREATE TABLE a (b); ";

INSTANTIATE_TEST_SUITE_P(
    Opening, BadFileTest,
    ::testing::Values(
        BadFile{"Text", [](const path& file) { write_text(file, std::string(5000, 'x')); }, "is not a database"},
        BadFile{"ShortText", [](const path& file) { write_text(file, "sizes = 512\n"); }, "is not a database"},
        BadFile{"Directory", [](const path& file) { create_directory(file); }, "is a directory"},
        BadFile{"Fifo", [](const path& file) { mkfifo(file.c_str(), 0600); }, "is not a regular file"},
        BadFile{"Foreign", [](const path& file) { execute(file, "CREATE TABLE a (b); INSERT INTO a VALUES (1)"); },
                "is a SQLite database, but not smemtune's"},
        BadFile{"ForeignWithALog",
                [](const path& file) { execute(file, "PRAGMA journal_mode = WAL; CREATE TABLE a (b)"); },
                "is a SQLite database, but not smemtune's"},
        BadFile{"ForeignOfAKilledProcess",
                [](const path& file) { execute_and_die(file, "PRAGMA journal_mode = WAL; CREATE TABLE a (b)"); },
                "is a SQLite database, but not smemtune's"},
        BadFile{"ForeignWithoutTables", [](const path& file) { execute(file, "PRAGMA application_id = 7"); },
                "is a SQLite database, but not smemtune's"},
        BadFile{"NewerAndIncompatible",
                [](const path& file) {
                    stored(file);
                    execute(file, "PRAGMA user_version = 99; UPDATE compatibility SET oldest_reader = " +
                                      std::to_string(migrations().size() + 1));
                },
                "was written by a newer smemtune (schema 99"},
        BadFile{"Newer", [](const path& file) { execute(file, newer); },
                "was written by a newer smemtune (schema 99, this one knows up to "},
        BadFile{"NewerWithALog", [](const path& file) { execute(file, "PRAGMA journal_mode = WAL; " + newer); },
                "was written by a newer smemtune"},
        BadFile{"NewerOnlyInTheLogOfAKilledProcess",
                [](const path& file) {
                    stored(file);
                    execute_and_die(file, "PRAGMA user_version = 99; UPDATE compatibility SET oldest_reader = 99");
                },
                "was written by a newer smemtune"},
        BadFile{"CutShort", [](const path& file) { resize_file(stored(file, 300), 20000); }, "the database is corrupt"},
        BadFile{"CutInTheHeader", [](const path& file) { resize_file(stored(file), 50); }, "the database is corrupt"},
        BadFile{"GarbledSchema", [](const path& file) { overwrite(stored(file, 300), 100, 3900); },
                "the database is corrupt"},
        BadFile{"GarbledPages", [](const path& file) { overwrite(stored(file, 600), 100000, 40000); },
                "the database is corrupt"},
        BadFile{"GarbledEnd",
                [](const path& file) {
                    stored(file, 600);
                    overwrite(file, static_cast<std::streamoff>(file_size(file)) - 4096, 4096);
                },
                "the database is corrupt"}),
    [](const auto& file) { return file.param.name; });

TEST(Open, AnExtendedFileIsReadByTheOldestVersionThatCanButNotWritten) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db");
    execute(file, "PRAGMA user_version = 99; UPDATE compatibility SET oldest_reader = " +
                      std::to_string(migrations().size()));
    const auto before = scratch.contents();
    EXPECT_EQ(Store(file, Access::read).rows({}).size(), 1u);
    const auto error = error_of([&] { Store(file, Access::write); });
    EXPECT_NE(error.find("was extended by a newer smemtune (schema 99"), std::string::npos) << error;
    EXPECT_TRUE(scratch.contents() == before);
}

TEST(Open, WhatIsMissingOrEmptyCannotBeRead) {
    const Scratch scratch;
    const auto absent = scratch / "absent.db", empty = scratch / "empty.db", bare = scratch / "bare.db";
    write_text(empty, "");
    execute(bare, "VACUUM");
    const auto before = scratch.contents();
    const auto read = [](const path& file) { return error_of([&] { Store(file, Access::read); }); };
    EXPECT_EQ(read(absent), absent.string() + ": does not exist; tune first, or check the path");
    EXPECT_EQ(read(empty), empty.string() + ": is empty, not a database; tune into it first, or choose another file");
    EXPECT_EQ(read(bare), bare.string() + ": is an empty database; tune into it first, or choose another file");
    EXPECT_EQ(read(scratch / "no" / "such" / "folder.db"),
              (scratch / "no/such/folder.db").string() + ": does not exist; tune first, or check the path");
    EXPECT_EQ(read(""), "the path of the database is empty; give the path of a file");
    EXPECT_TRUE(scratch.contents() == before);
}

TEST(Open, WritingTakesAnEmptyFileOrDatabaseForANewOne) {
    const Scratch scratch;
    write_text(scratch / "empty.db", "");
    execute(scratch / "bare.db", "VACUUM");
    for (const auto* name : {"empty.db", "bare.db"}) {
        stored(scratch / name);
        EXPECT_EQ(Store(scratch / name, Access::read).summary().measured, 1) << name;
    }
}

TEST(Open, ANewFileIsMarkedAndItsFoldersAreMade) {
    const Scratch scratch;
    const auto file = stored(scratch / "a" / "b" / "tuned.db");
    EXPECT_EQ(value_of(file, "PRAGMA application_id"), std::to_string(application_id));
    EXPECT_EQ(value_of(file, "PRAGMA user_version"), std::to_string(migrations().size()));
    EXPECT_EQ(value_of(file, "PRAGMA integrity_check"), "ok");
}

TEST(Open, NothingLiesBesideTheFileAfterwards) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db");
    static_cast<void>(Store(file, Access::read).summary());
    EXPECT_EQ(scratch.contents().size(), 1u);
}

TEST(Open, ReadingChangesNoByte) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db", 50);
    const auto before = scratch.contents();
    EXPECT_EQ(Store(file, Access::read).rows({}).size(), 50u);
    EXPECT_TRUE(scratch.contents() == before);
}

TEST(Open, AFolderThatCannotBeMadeIsAnError) {
    const Scratch scratch;
    write_text(scratch / "file", "text");
    const auto error = error_of([&] { Store(scratch / "file" / "tuned.db"); });
    EXPECT_NE(error.find(": its directory cannot be created"), std::string::npos) << error;
}

TEST(Open, NamesWithAMeaningForSqliteAreJustNames) {
    const Scratch scratch;
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(scratch.path());
    for (const std::string name : {":memory:", "file:x?mode=memory", "100%25 sure?#a.db", "it's.db", "äö.db"}) {
        stored(name);
        EXPECT_TRUE(exists(scratch / name)) << name;
        EXPECT_EQ(Store(name, Access::read).summary().measured, 1) << name;
        auto unchanging = open_immutable(scratch / name);
        EXPECT_EQ(unchanging.execAndGet("SELECT count(*) FROM trials").getInt(), 1) << name;
    }
    std::filesystem::current_path(here);
}

TEST(Open, ASymbolicLinkLeadsToTheFile) {
    const Scratch scratch;
    create_directories(scratch / "real");
    create_symlink(scratch / "real" / "tuned.db", scratch / "link.db");
    stored(scratch / "link.db");
    EXPECT_TRUE(is_regular_file(scratch / "real" / "tuned.db"));
    EXPECT_EQ(Store(scratch / "link.db", Access::read).summary().measured, 1);
}

TEST(Open, DamageFoundLaterIsAStoreErrorToo) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db", 2000);
    Store store(file);
    const auto key = key_in(store);
    in_child([&](int) {                                   // a close in the parent would release the parent's locks
        Store(file).remember(measured(key, tile(3), 1));  // makes `store` read the file again
        overwrite(file, 30 * 4096, 40 * 4096);
        _exit(0);
    })
        .finish();
    const auto expect_corrupt = [&](const std::string& error) {
        EXPECT_EQ(error.rfind(file.string() + ": the database is corrupt", 0), 0u) << error;
    };
    expect_corrupt(error_of([&] { static_cast<void>(store.trials(key)); }));
    expect_corrupt(error_of([&] { store.forget(key); }));
}

TEST(Locked, BeyondPatienceIsAnErrorAndTheFileServesOnAfterwards) {
    const Scratch scratch;
    for (const bool rollback : {false, true}) {
        const auto file = stored(scratch / (rollback ? "rollback.db" : "log.db"));
        const StoreOptions options{.patience = impatient.patience, .rollback_journal = rollback};
        { Store(file, Access::write, options); }  // opens the file once, to set its journal
        SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
        other.exec("BEGIN EXCLUSIVE");
        const auto start = std::chrono::steady_clock::now();
        const auto error = error_of([&] { Store(file, Access::write, options); });
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
        EXPECT_EQ(error, file.string() +
                             ": the database is locked by another process, for more than 0.15 s; wait for "
                             "it to finish or end it (`fuser FILE` names it)");
        EXPECT_GE(waited.count(), 0.14);
        if (rollback) {
            EXPECT_NE(error_of([&] { Store(file, Access::read, options); }).find("locked"), std::string::npos);
        } else {
            EXPECT_EQ(Store(file, Access::read, options).rows({}).size(), 1u) << "a log does not lock readers out";
        }
        other.exec("ROLLBACK");
        Store store(file, Access::write, options);
        other.exec("BEGIN EXCLUSIVE");
        const auto key = TrialKey{1, 1, 1};
        EXPECT_NE(error_of([&] { store.remember(measured(key, tile(2), 1)); }).find("locked"), std::string::npos);
        other.exec("ROLLBACK");
        store.remember(measured(key, tile(2), 1));
        EXPECT_EQ(store.trials(key).size(), 2u);
    }
}

constexpr const char* first = "PRAGMA application_id = 1936549229; CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT";
constexpr const char* second = "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1";
constexpr const char* third =
    "CREATE TABLE b (x INTEGER REFERENCES a) STRICT; INSERT INTO b SELECT y - 1 FROM a; UPDATE a SET y = y * 10";
constexpr const char* broken = "UPDATE a SET y = 0; CREATE TABLE a (already INTEGER)";
constexpr const char* dangling = "CREATE TABLE b (x INTEGER REFERENCES a); INSERT INTO b VALUES (12345)";

TEST(Migration, AnOlderFileIsBroughtUpStepByStepAndEachStepHappensOnce) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    constexpr std::array v1{first};
    constexpr std::array v3{first, second, third};
    { open_database(file, Access::write, {}, v1).exec("INSERT INTO a VALUES (4)"); }
    for (int time = 0; time < 2; ++time) {
        auto database = open_database(file, Access::write, {}, v3);
        EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 3);
        EXPECT_EQ(database.execAndGet("SELECT y FROM a").getInt(), 50);
        EXPECT_EQ(database.execAndGet("SELECT x FROM b").getInt(), 4);
    }
    const auto error = error_of([&] { open_database(file, Access::write, {}, v1); });
    EXPECT_NE(error.find("newer smemtune (schema 3, this one knows up to 1)"), std::string::npos) << error;
}

// Rows for a database of schema version 1: a measured trial, which is the winner, a rejected trial, and a trial that
// was cut short.
constexpr const char* filled_1 = R"sql(
INSERT INTO devices VALUES (1, 'a', 90, 1, 32, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
INSERT INTO templates VALUES (1, 'tiled', 'gemm', 'hash');
INSERT INTO problems VALUES (1, 'gemm', 'f32', 'nn', '1x1x1', '{"M":1,"N":1,"K":1}');
INSERT INTO trials VALUES (1, 1, 1, 1, 'TILE_WIDTH=8', 5, 0.5, '[5]', 0, 1980000, NULL, NULL, 40, 0, 0, 0, 12.5, NULL,
                           '2025-01-01T00:00:00Z');
INSERT INTO trials VALUES (2, 1, 1, 1, 'TILE_WIDTH=64', NULL, NULL, NULL, NULL, NULL, 'limits', 'too large', 0, 0, 0, 0,
                           0, NULL, '2025-01-01T00:00:01Z');
INSERT INTO trials VALUES (3, 1, 1, 1, 'TILE_WIDTH=2', 4, 0, '[4]', 1, 1980000, NULL, NULL, 40, 0, 0, 0, 12.5, NULL,
                           '2025-01-01T00:00:00Z');
INSERT INTO winners VALUES (1, 1, 1, '2025-01-01T00:00:02Z');
)sql";

TEST(Migration, TrialsOfVersion1StayAndWhatTheyCostIsUnknown) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    { open_database(file, Access::write, {}, migrations().first(1)).exec(filled_1); }
    ASSERT_EQ(value_of(file, "PRAGMA user_version"), "1");
    Store store(file);
    const auto rows = store.rows({});
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].record.configuration, tile(2));
    EXPECT_EQ(rows[0].record.verified_by, "") << "it was cut short, maybe after the first check";
    EXPECT_TRUE(rows[1].winner);
    EXPECT_EQ(rows[1].record.configuration, tile(8));
    EXPECT_EQ(rows[1].record.outcome, Outcome(Measurement{5, 0.5, {5}, false, 1980000, 0}));
    EXPECT_EQ(rows[1].record.verified_by, unrecorded);
    EXPECT_EQ(rows[2].record.outcome, Outcome(Rejection{Stage::limits, "too large"}));
    EXPECT_EQ(rows[2].record.verified_by, "");
    for (const auto& row : rows) {
        EXPECT_EQ(row.record.verify_ms, 0);
        EXPECT_EQ(row.record.time_ms, 0);
        EXPECT_EQ(row.record.code_hash + row.record.toolchain, "");
        EXPECT_EQ(row.record.attempts, 1);
        auto again = row.record;
        again.verify_ms = 2.5;
        again.time_ms = 30;
        store.remember(again);
        EXPECT_EQ(store.recall(again.key, again.configuration), again);
    }
}

TEST(Migration, AWinnerThatWasCutShortIsNone) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    {
        auto database = open_database(file, Access::write, {}, migrations().first(2));
        database.exec(
            "INSERT INTO devices VALUES (1, 'a', 90, 1, 32, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);"
            "INSERT INTO templates VALUES (1, 'tiled', 'gemm', 'hash');"
            "INSERT INTO problems VALUES (1, 'gemm', 'f32', 'nn', '1x1x1', '{\"M\":1,\"N\":1,\"K\":1}');"
            "INSERT INTO trials VALUES (1, 1, 1, 1, 'TILE_WIDTH=8', 5, 0.5, '[5]', 1, 0, NULL, NULL, 40, 0, 0,"
            " 0, 12.5, NULL, '2025-01-01T00:00:00Z', 0, 0, NULL);"
            "INSERT INTO winners VALUES (1, 1, 1, '2025-01-01T00:00:02Z')");
    }
    const Store store(file);
    EXPECT_EQ(store.rows({}).size(), 1u);
    EXPECT_EQ(store.best(1, 1), std::nullopt);
}

TEST(Migration, AStepThatFailsLeavesTheFileAtTheOneBefore) {
    const Scratch scratch;
    constexpr std::array v2{first, second};
    constexpr std::array v3_broken{first, second, broken};
    constexpr std::array v3_dangling{first, second, dangling};
    const auto file = scratch / "tuned.db";
    { open_database(file, Access::write, {}, v2).exec("INSERT INTO a VALUES (4, 5)"); }
    const auto before = scratch.contents();
    const auto failure = error_of([&] { open_database(file, Access::write, {}, v3_broken); });
    EXPECT_NE(failure.find("table a already exists"), std::string::npos) << failure;
    EXPECT_TRUE(scratch.contents() == before);
    const auto missing = error_of([&] { open_database(file, Access::write, {}, v3_dangling); });
    EXPECT_NE(missing.find("rows that refer to missing ones"), std::string::npos) << missing;
    EXPECT_TRUE(scratch.contents() == before);
}

TEST(Migration, ReadingDoesNotMigrate) {
    const Scratch scratch;
    constexpr std::array v1{first};
    constexpr std::array v3{first, second, third};
    const auto file = scratch / "tuned.db";
    { open_database(file, Access::write, {}, v1).exec("INSERT INTO a VALUES (4)"); }
    const auto before = scratch.contents();
    {
        auto database = open_database(file, Access::read, {}, v3);
        EXPECT_EQ(database.execAndGet("SELECT x FROM a").getInt(), 4);
        EXPECT_TRUE(database.execAndGet("SELECT y FROM a").isNull()) << "the default of a column that is missing";
        EXPECT_EQ(database.execAndGet("SELECT count(*) FROM b").getInt(), 0) << "a table that is missing";
    }
    EXPECT_TRUE(scratch.contents() == before);
}

TEST(Migration, ProcessesThatOpenAtOnceDoNotDisturbEachOther) {
    constexpr std::array v1{first};
    constexpr std::array v3{first, second, third};
    for (const bool rollback : {false, true}) {
        for (int round = 0; round < 4; ++round) {
            const Scratch scratch;
            const auto file = scratch / "tuned.db";
            if (round % 2 == 1) open_database(file, Access::write, {}, v1).exec("INSERT INTO a VALUES (4)");
            std::vector<Child> children;
            for (int i = 0; i < 6; ++i) {
                // With a rollback journal, processes open the file as on a network filesystem. Without a rollback
                // journal, they open the file as on a local disk.
                const StoreOptions options{.patience = std::chrono::minutes(10), .rollback_journal = rollback};
                children.push_back(in_child([&](int output) {
                    say(output, error_of([&] { open_database(file, Access::write, options, v3); }));
                }));
            }
            for (auto& child : children) EXPECT_EQ(child.finish(), "");
            EXPECT_EQ(value_of(file, "PRAGMA user_version"), "3");
            EXPECT_EQ(value_of(file, "SELECT coalesce(max(y), 50) FROM a"), "50");
        }
    }
}

}  // namespace
}  // namespace smemtune
