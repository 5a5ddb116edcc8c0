#include "db/file/journal.h"

#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <system_error>

#include <sqlite3.h>

namespace smemtune {

namespace {

std::uintmax_t size_or_zero(const std::filesystem::path& file) {
    std::error_code none;
    const auto size = std::filesystem::file_size(file, none);
    return none ? 0 : size;
}

// A `file:` URI. Only a URI can tell SQLite that a file does not change while it is open.
std::string immutable_address(const std::filesystem::path& file) {
    constexpr auto hex = "0123456789ABCDEF";
    std::string address = "file:";
    for (const char letter : file.string()) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '%' || letter == '?' || letter == '#') {
            address += {'%', hex[byte >> 4], hex[byte & 15]};
        } else {
            address += letter;
        }
    }
    return address + "?immutable=1";
}

}  // namespace

Journal journal_for(long filesystem_type) {
    // From linux/magic.h; the numbers missing there are from statfs(2).
    constexpr std::array<std::uint32_t, 16> without_shared_memory{
        0x6969,      // NFS
        0x517B,      // SMB
        0xFF534D42,  // CIFS
        0xFE534D42,  // SMB2
        0x01021997,  // 9p
        0x65735546,  // FUSE: sshfs, virtiofs, ...
        0x0BD00BD0,  // Lustre
        0x5346414F,  // AFS
        0x6B414653,  // kAFS
        0x73757245,  // Coda
        0x00C36400,  // Ceph
        0x47504653,  // GPFS
        0x19830326,  // BeeGFS
        0x01161970,  // GFS2
        0x7461636F,  // OCFS2
        0x786F4256,  // VirtualBox shared folder
    };
    for (const auto type : without_shared_memory) {
        if (static_cast<std::uint32_t>(filesystem_type) == type) return Journal::rollback;  // the sign of f_type varies
    }
    return Journal::wal;
}

Journal journal_at(const std::filesystem::path& file) {
    struct statfs filesystem {};
    if (statfs(file.parent_path().c_str(), &filesystem) != 0) return Journal::rollback;  // works on every filesystem
    return journal_for(static_cast<long>(filesystem.f_type));
}

bool is_in_wal_mode(const std::filesystem::path& file) {
    auto database = open_immutable(file);
    sqlite3_file* content = nullptr;
    sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &content);
    if (content == nullptr || content->pMethods == nullptr) return false;
    unsigned char write_version = 0;  // https://www.sqlite.org/fileformat.html#file_format_version_numbers
    return content->pMethods->xRead(content, &write_version, 1, 18) == SQLITE_OK && write_version == 2;
}

// Durability: a killed process loses nothing in either mode, because the system already holds its writes. In WAL mode
// only checkpoints are synchronised: a power cut may lose the last trials but never damages the file. With a rollback
// journal every commit must be synchronised for that (https://www.sqlite.org/pragma.html#pragma_synchronous).
void set_journal(SQLite::Database& database, Journal journal) {
    const auto mode = [&] { return database.execAndGet("PRAGMA journal_mode").getString(); };
    if (journal == Journal::wal && mode() != "wal") {
        // This fails while another process uses the file. The old mode then stays until a later opening changes it.
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
    return {immutable_address(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI};
}

}  // namespace smemtune
