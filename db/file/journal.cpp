#include "db/file/journal.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <system_error>

#include <sqlite3.h>

#include "db/file/functions.h"

namespace smemtune {

namespace {

std::uintmax_t size_or_zero(const std::filesystem::path& file) {
    std::error_code none;
    const auto size = std::filesystem::file_size(file, none);
    return none ? 0 : size;
}

// Returns a `file:` URI with an option such as `immutable=1`. SQLite accepts these options only in a URI.
std::string address(const std::filesystem::path& file, const std::string& option) {
    constexpr auto hex = "0123456789ABCDEF";
    std::string uri = "file:";
    for (const char letter : file.string()) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '%' || letter == '?' || letter == '#') {
            uri += {'%', hex[byte >> 4], hex[byte & 15]};
        } else {
            uri += letter;
        }
    }
    return uri + "?" + option;
}

}  // namespace

Journal journal_for(long filesystem_type) {
    // The type numbers of local filesystems, from linux/magic.h and statfs(2).
    constexpr std::array<std::uint32_t, 18> local{
        0xEF53,      // ext2, ext3, ext4
        0x58465342,  // XFS
        0x9123683E,  // Btrfs
        0x01021994,  // tmpfs
        0x858458F6,  // ramfs
        0x794C7630,  // overlayfs, which containers use
        0x61756673,  // aufs
        0x2FC12FC1,  // ZFS
        0xCA451A4E,  // bcachefs
        0xF2F52010,  // F2FS
        0x3153464A,  // JFS
        0x52654973,  // ReiserFS
        0x3434,      // NILFS
        0x7366746E,  // NTFS
        0x4D44,      // FAT
        0x2011BAB0,  // exFAT
        0x73717368,  // SquashFS
        0xE0F5E1E2,  // EROFS
    };
    for (const auto type : local) {
        // Where f_type is a signed number of 32 bits, some types arrive as negative numbers. The cast undoes this.
        if (static_cast<std::uint32_t>(filesystem_type) == type) return Journal::wal;
    }
    return Journal::rollback;
}

Journal journal_at(const std::filesystem::path& file) {
    struct statfs filesystem {};
    // If statfs() fails, a rollback journal is the safe choice, because it works on every filesystem.
    if (statfs(file.parent_path().c_str(), &filesystem) != 0) return Journal::rollback;
    return journal_for(static_cast<long>(filesystem.f_type));
}

bool is_in_wal_mode(const std::filesystem::path& file) {
    auto database = open_immutable(file);
    sqlite3_file* content = nullptr;
    sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &content);
    if (content == nullptr || content->pMethods == nullptr) return false;
    // In WAL mode, byte 18 of the file is 2: https://www.sqlite.org/fileformat.html#file_format_version_numbers
    unsigned char write_version = 0;
    return content->pMethods->xRead(content, &write_version, 1, 18) == SQLITE_OK && write_version == 2;
}

// Durability: a killed process loses no commit in either mode, because the operating system already has its writes. In
// WAL mode, SQLite flushes only checkpoints to disk: a power cut may lose the last trials but never damages the file.
// With a rollback journal, SQLite must flush every commit, because a power cut could otherwise damage the file
// (https://www.sqlite.org/pragma.html#pragma_synchronous).
void set_journal(SQLite::Database& database, Journal journal) {
    const auto mode = [&] { return database.execAndGet("PRAGMA journal_mode").getString(); };
    if (journal == Journal::wal && mode() != "wal") {
        // The statement fails while another process uses the file. The file then keeps its mode until a later call of
        // this function succeeds.
        database.tryExec("PRAGMA journal_mode = WAL");
    }
    database.exec(mode() == "wal" ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
}

void checkpoint_on_close(SQLite::Database& database, bool enabled) {
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, enabled ? 0 : 1, nullptr);
}

bool has_pending_journal(const std::filesystem::path& file) {
    return size_or_zero(file.string() + "-wal") > 0 || size_or_zero(file.string() + "-journal") > 0;
}

SQLite::Database open_immutable(const std::filesystem::path& file) {
    SQLite::Database database(address(file, "immutable=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    prepare_connection(database);
    return database;
}

SQLite::Database open_beside_writers(const std::filesystem::path& file, std::chrono::milliseconds patience) {
    SQLite::Database database(address(file, "readonly_shm=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                              static_cast<int>(patience.count()));
    prepare_connection(database);
    return database;
}

}  // namespace smemtune
