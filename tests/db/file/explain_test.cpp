// Each error of SQLite becomes a message that names the file, the cause and the remedy.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <SQLiteCpp/Exception.h>

#include "db/file/functions.h"
#include "db/file/open.h"

namespace smemtune {
namespace {

using namespace std::chrono_literals;

std::string explained(int code, std::chrono::milliseconds patience = 60s) {
    return explain("/x/tuned.db", SQLite::Exception("two\nlines", code), patience);
}

TEST(Explain, EachErrorHasItsCauseAndItsRemedyInOneLine) {
    const std::string locked =
        "/x/tuned.db: the database is locked by another process, for more than 60 s; wait for it to finish or end it "
        "(`fuser FILE` names it)";
    EXPECT_EQ(explained(SQLITE_BUSY), locked);
    EXPECT_EQ(explained(SQLITE_BUSY_SNAPSHOT), locked) << "an extended code";
    EXPECT_EQ(explained(SQLITE_LOCKED), locked);
    EXPECT_EQ(explained(SQLITE_NOTADB),
              "/x/tuned.db: is not a database; choose another file, or move this one away and a new one is created");
    EXPECT_EQ(
        explained(SQLITE_CORRUPT),
        "/x/tuned.db: the database is corrupt (two lines); save what can be read with: sqlite3 FILE .recover, and "
        "tune what is missing");
    EXPECT_EQ(explained(SQLITE_CORRUPT), explain_corrupt("/x/tuned.db", "two\nlines"));
    for (const int code : {SQLITE_READONLY, SQLITE_PERM}) {
        EXPECT_EQ(explained(code),
                  "/x/tuned.db: is read-only (two lines); make the file and its directory writable, or choose another");
    }
    EXPECT_EQ(explained(SQLITE_CANTOPEN),
              "/x/tuned.db: cannot be opened (two lines); check that the file and its directory are accessible");
    EXPECT_EQ(explained(SQLITE_FULL),
              "/x/tuned.db: the disk is full; the trials stored before are kept: make room and run again");
    EXPECT_EQ(explained(SQLITE_IOERR), "/x/tuned.db: cannot be read or written (two lines); check the disk");
    EXPECT_EQ(explained(SQLITE_IOERR_READ), explained(SQLITE_IOERR));
    EXPECT_EQ(explained(SQLITE_TOOBIG),
              "/x/tuned.db: a text or machine code is larger than 64 MiB, which smemtune neither stores nor reads");
    EXPECT_EQ(explained(SQLITE_CONSTRAINT), "/x/tuned.db: refused a row that breaks the schema's rules (two lines)");
    EXPECT_EQ(explained(SQLITE_ERROR),
              "/x/tuned.db: another program has changed its tables (two lines); restore a copy of the file, or move it "
              "away and tune again");
    EXPECT_EQ(explained(SQLITE_MISUSE),
              "/x/tuned.db: the database cannot be used (two lines); check it with: sqlite3 FILE 'PRAGMA "
              "integrity_check'");
}

TEST(Explain, PatienceIsInSecondsWithoutZerosAtTheEnd) {
    for (const auto& [patience, text] : {std::pair{0ms, "more than 0 s"},
                                         {100ms, "more than 0.1 s"},
                                         {1000ms, "more than 1 s"},
                                         {1500ms, "more than 1.5 s"},
                                         {20ms, "more than 0.02 s"},
                                         {100'000ms, "more than 100 s"}}) {
        EXPECT_THAT(explained(SQLITE_BUSY, patience), testing::HasSubstr(text));
    }
}

}  // namespace
}  // namespace smemtune
