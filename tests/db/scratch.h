// Shared by the tests of db/: a temporary folder, child processes to kill, and records to store.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include "db/store.h"
#include "util/hash.h"

namespace smemtune {

/// A temporary folder for one test. Every user may enter it.
class Scratch {
public:
    Scratch() {
        std::string pattern = (std::filesystem::temp_directory_path() / "smemtune_db_XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = pattern;
        std::filesystem::permissions(path_, std::filesystem::perms(0755));
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

    /// Returns all files in the folder with their bytes. For a -shm file, which running processes change, it returns
    /// only the name. Must not be called while this process has a Store open: the call opens and closes each file, and
    /// closing a file drops the process's locks on it.
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
            auto& content = files[entry.path().string()];
            if (!entry.is_regular_file() || entry.path().string().ends_with("-shm")) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            content.assign(std::istreambuf_iterator<char>(file), {});
        }
        return files;
    }

private:
    std::filesystem::path path_;
};

/// A child process that a test forked.
struct Child {
    pid_t id = 0;
    int output = -1;  ///< the read end of the pipe that the child writes to

    /// Waits for the end of the process. Returns everything that the process wrote.
    std::string finish() {
        std::string text;
        char buffer[4096];
        for (ssize_t n = 0; (n = read(output, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
        close(output);
        waitpid(id, nullptr, 0);
        return text;
    }
};

inline Child in_child(const std::function<void(int output)>& work) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    const pid_t id = fork();
    if (id == 0) {
        close(ends[0]);
        work(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    return {id, ends[0]};
}

/// Gives up root's rights in a child process, to test what a user may not write. Root may write everything.
inline void become_nobody() {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(1);
}

inline void say(int output, const std::string& text) {
    if (write(output, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
}

/// Returns the message of the StoreError that `work` throws; empty if it throws none.
inline std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const StoreError& error) {
        return error.what();
    }
    return {};
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

inline void execute(const std::filesystem::path& file, const std::string& sql) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

/// Executes `sql` in a child process that ends without closing the file, as if it were killed. The change stays in the
/// write-ahead log.
inline void execute_and_die(const std::filesystem::path& file, const std::string& sql) {
    in_child([&](int) {
        SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec(sql);
        _exit(0);
    }).finish();
}

inline void overwrite(const std::filesystem::path& file, std::streamoff from, std::streamoff count) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(from);
    for (std::streamoff i = 0; i < count; ++i) stream.put(static_cast<char>(0xa5 ^ (i * 37)));
}

inline std::string value_of(const std::filesystem::path& file, const std::string& sql) {
    return SQLite::Database(file.string(), SQLite::OPEN_READONLY).execAndGet(sql).getString();
}

inline Configuration tile(std::int64_t width) { return {{{"TILE_WIDTH", width}}}; }

inline TemplateRecord tiled() {
    return {
        "tiled", "gemm", "hash of tiled", {{"gemm/tiled.cu", "// source\n"}, {"gemm/tiled.toml", "name = 'tiled'"}}};
}

inline TrialRecord measured(const TrialKey& key, const Configuration& configuration, double median_us) {
    return {.key = key,
            .configuration = configuration,
            .outcome = Measurement{.median_us = median_us,
                                   .spread_us = median_us / 7,
                                   .samples_us = {median_us, median_us * 1.1, median_us / 3},
                                   .cut_short = false,
                                   .clock_khz = 1980000,
                                   .energy_uj = median_us * 350 + 1},
            .resources = {.registers = 40, .spill_bytes = 8, .static_shared_bytes = 2048, .dynamic_shared_bytes = 512},
            .compile_ms = 12.5,
            .verify_ms = 3.25,
            .time_ms = 40.5,
            .run = 0,
            .verified_by = "operation/testbed"};
}

/// Returns `trial` with the hash of the machine code `code`.
inline TrialRecord with_code(TrialRecord trial, const std::vector<std::uint8_t>& code) {
    trial.code_hash = sha256(std::as_bytes(std::span(code)));
    return trial;
}

inline TrialRecord rejected(const TrialKey& key, const Configuration& configuration, Stage stage) {
    return {.key = key,
            .configuration = configuration,
            .outcome = Rejection{.stage = stage, .reason = "because"},
            .resources = {},
            .compile_ms = 0,
            .verify_ms = 0,
            .time_ms = 0,
            .run = 0};
}

/// Returns a key whose device, template and problem are stored.
inline TrialKey key_in(Store& store, std::int64_t size = 512, const std::string& device = "sm_90") {
    return {.device = store.remember(model_device(device)),
            .kernel_template = store.remember(tiled()),
            .problem = store.remember(gemm(size, size, size))};
}

/// Makes a database file with `trials` trials.
inline std::filesystem::path stored(const std::filesystem::path& path, int trials = 1) {
    Store store(path);
    const auto key = key_in(store);
    for (int i = 1; i <= trials; ++i) store.remember(measured(key, tile(i), i));
    return path;
}

}  // namespace smemtune
