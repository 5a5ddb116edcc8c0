#include "runtime/fetch/trust.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string_view>
#include <system_error>

#include "runtime/runtime.h"
#include "templates/manifest/catalog.h"

namespace smemtune {

namespace fs = std::filesystem;

namespace {

std::string user_name(uid_t user) {
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
    return found == nullptr ? std::to_string(user) : found->pw_name;
}

// Whether the file's group is the private group that distributions create for each user. Such a group is the owner's
// primary group, has the owner's name and lists no members. False for a file with an access control list: the group
// bits of its mode then also apply to the list's users and groups.
bool is_group_of_owner_alone(const fs::path& path, const struct stat& status) {
    if (getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0) return false;
    std::array<char, 4096> user_buffer{};
    std::array<char, 4096> group_buffer{};
    passwd user{};
    group its_group{};
    passwd* found_user = nullptr;
    group* found_group = nullptr;
    getpwuid_r(status.st_uid, &user, user_buffer.data(), user_buffer.size(), &found_user);
    getgrgid_r(status.st_gid, &its_group, group_buffer.data(), group_buffer.size(), &found_group);
    return found_user != nullptr && found_group != nullptr && found_user->pw_gid == status.st_gid &&
           std::string_view(found_user->pw_name) == found_group->gr_name && *found_group->gr_mem == nullptr;
}

std::string why_others_can_write(const fs::path& path, bool sticky_suffices) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        return path.string() + " cannot be looked at (" + std::generic_category().message(errno) + ")";
    }
    std::ostringstream mode;
    mode << std::oct << (status.st_mode & 07777U);
    const auto is = path.string() + " is " + user_name(status.st_uid) + "'s, with mode 0" + mode.str();
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        return is + ": only files of the user who runs this program (" + user_name(geteuid()) +
               ") or of root are trusted";
    }
    if (sticky_suffices && (status.st_mode & S_ISVTX) != 0) return {};
    const bool by_group = (status.st_mode & S_IWGRP) != 0 && !is_group_of_owner_alone(path, status);
    const bool by_others = (status.st_mode & S_IWOTH) != 0;
    if (!by_group && !by_others) return {};
    return is + ": others can change it; run chmod " + (by_others ? "go" : "g") + "-w " + path.string();
}

void require_trusted(const fs::path& path) {
    const auto why = why_untrusted(path);
    if (why.empty()) return;
    throw UntrustedFile(why + ". It holds code that this program would run. Set Options::trust.any_owner (smemtune: " +
                        "--trust-any-owner) to run it nevertheless");
}

}  // namespace

std::string why_untrusted(const fs::path& path) {
    std::error_code error;
    const auto file = fs::canonical(path, error);
    if (error) return path.string() + " cannot be looked at (" + error.message() + ")";
    auto why = why_others_can_write(file, false);
    for (auto folder = file.parent_path(); why.empty(); folder = folder.parent_path()) {
        why = why_others_can_write(folder, true);
        if (folder == folder.root_path()) break;
    }
    return why;
}

void require_trusted_database(const fs::path& database) {
    require_trusted(database);
    const auto file = fs::canonical(database);
    for (const auto* journal : {"-wal", "-journal"}) {  // SQLite applies these files when it opens the database
        const fs::path beside = file.string() + journal;
        if (!fs::exists(beside) || why_untrusted(beside).empty()) continue;
        if (fs::exists(beside)) require_trusted(beside);  // no error if another process has removed the file meanwhile
    }
}

void require_trusted_templates(const fs::path& folder) {
    require_trusted(folder);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_directory()) require_trusted(entry.path());
    }
    for (const auto& file : read_sources(folder)) require_trusted(folder / file.first);
}

}  // namespace smemtune
