// Turns each SQLite error into a message of one line.
#include <algorithm>

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include "db/file/functions.h"
#include "db/file/open.h"

namespace smemtune {

namespace {

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string seconds(std::chrono::milliseconds time) {
    auto text = std::to_string(std::chrono::duration<double>(time).count());
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text + " s";
}

}  // namespace

std::string explain_corrupt(const std::filesystem::path& path, const std::string& detail) {
    return path.string() + ": the database is corrupt (" + one_line(detail) +
           "); save what can be read with: sqlite3 FILE .recover, and tune what is missing";
}

std::string explain(const std::filesystem::path& path, const SQLite::Exception& error,
                    std::chrono::milliseconds patience) {
    const auto name = path.string();
    const auto what = one_line(error.what());
    switch (error.getErrorCode() & 0xff) {  // the low byte of SQLite's extended error code is the primary code
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return name + ": the database is locked by another process, for more than " + seconds(patience) +
                   "; wait for it to finish or end it (`fuser FILE` names it)";
        case SQLITE_NOTADB:
            return name + ": is not a database; choose another file, or move this one away and a new one is created";
        case SQLITE_CORRUPT: return explain_corrupt(path, what);
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return name + ": is read-only (" + what + "); make the file and its directory writable, or choose another";
        case SQLITE_CANTOPEN:
            return name + ": cannot be opened (" + what + "); check that the file and its directory are accessible";
        case SQLITE_FULL:
            return name + ": the disk is full; the trials stored before are kept: make room and run again";
        case SQLITE_IOERR: return name + ": cannot be read or written (" + what + "); check the disk";
        case SQLITE_TOOBIG:
            return name + ": a text or machine code is larger than " + std::to_string(largest_value_bytes >> 20) +
                   " MiB, which smemtune neither stores nor reads";
        case SQLITE_ERROR:
            return name + ": another program has changed its tables (" + what +
                   "); restore a copy of the file, or move it away and tune again";
        case SQLITE_CONSTRAINT: return name + ": refused a row that breaks the schema's rules (" + what + ")";
        default:
            return name + ": the database cannot be used (" + what +
                   "); check it with: sqlite3 FILE 'PRAGMA integrity_check'";
    }
}

}  // namespace smemtune
