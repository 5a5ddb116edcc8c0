// Helpers of the tuner's tests: temporary folders, runs of smemtune as a user starts it, and the processes of a run.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "db/store.h"
#include "templates/manifest/catalog.h"
#include "util/temporary_folder.h"

namespace smemtune {

using namespace std::chrono_literals;

/// Returns the environment variable `variable` if it is set, else `otherwise`, the setting of the build. The variables
/// are for machines that did not build the tests, because paths there differ from those of the build.
inline std::string setting(const char* variable, const std::string& otherwise) {
    const auto* value = std::getenv(variable);
    return value == nullptr ? otherwise : value;
}
inline std::string program() { return setting("SMEMTUNE_TEST_PROGRAM", SMEMTUNE_PROGRAM); }
inline std::string fixture(const std::string& name) {
    return setting("SMEMTUNE_TEST_FIXTURES", SMEMTUNE_SOURCE_DIR "/tests/fixtures") + "/" + name;
}
inline std::string test_device() { return setting("SMEMTUNE_TEST_DEVICE", "host"); }

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns the content of /proc/PROCESS/FILE, or an empty text if the process has ended.
inline std::string read_process(pid_t process, const std::string& file) {
    try {
        return read_text("/proc/" + std::to_string(process) + "/" + file);
    } catch (const std::ios_base::failure&) {  // a read failed, because the process has ended
        return "";
    }
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

/// A temporary folder for one test.
class Scratch {
public:
    Scratch() : folder_("smemtune_tuner") {}
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(aside(), ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string operator/(const std::string& name) const { return (folder_ / name).string(); }
    const std::filesystem::path& path() const { return folder_.path(); }
    /// A second folder, for files that must not appear in contents().
    std::string aside() const { return path().string() + ".aside"; }

    /// Returns the path of each file and folder in the temporary folder, with the bytes of the files.
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
            files[entry.path().string()] = entry.is_regular_file() ? read_text(entry.path()) : "";
        }
        return files;
    }

private:
    TemporaryFolder folder_;
};

using Variables = std::map<std::string, std::string>;

struct Finished {
    int code = -1;  ///< the exit code; 128 + signal if a signal ended the process
    std::string out, err;
};

/// A running smemtune process. Its home and temporary folders belong to `scratch`. The process inherits none of the
/// environment variables that smemtune itself reads. The destructor kills the process.
class Running {
public:
    Running(const Scratch& scratch, const std::vector<std::string>& arguments, Variables more = {})
        : tag_("SMEMTUNE_TEST_RUN=" + next_tag()) {
        const auto temporary = scratch.aside() + "/tmp";
        std::filesystem::create_directories(temporary);
        out_ = scratch.aside() + "/" + next_tag() + ".out";
        err_ = out_ + ".err";
        Variables variables{{"HOME", scratch / "home"}, {"TMPDIR", temporary}, {"CXX", SMEMTUNE_CXX}};
        for (const auto* inherited : {"PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS"}) {
            if (const auto* value = std::getenv(inherited)) variables[inherited] = value;
        }
        for (auto& [name, value] : more) variables[name] = value;
        std::vector<std::string> environment{tag_};
        for (const auto& [name, value] : variables) {
            if (value != unset) environment.push_back(name + "=" + value);
        }
        std::vector<std::string> words{program()};
        words.insert(words.end(), arguments.begin(), arguments.end());
        auto argv = pointers(words);
        auto envp = pointers(environment);
        process_ = fork();
        if (process_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open(out_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644), STDOUT_FILENO);
        dup2(open(err_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644), STDERR_FILENO);
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        if (chdir(scratch.path().c_str()) == 0) execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }
    ~Running() {
        if (process_ != 0) {
            signal(SIGKILL);
            (void)wait();
        }
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    static constexpr const char* unset = "\1";  ///< the value of a variable that the process must not get

    [[nodiscard]] pid_t process() const { return process_; }
    void signal(int number) const { kill(process_, number); }
    [[nodiscard]] bool ended() const {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
    }

    /// Whether the process has written `text` to standard error so far.
    [[nodiscard]] bool has_said(const std::string& text) const {
        return read_text(err_).find(text) != std::string::npos;
    }

    Finished wait() {
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = 0;
        return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_text(out_), read_text(err_)};
    }

    /// Returns the workers and compilers of the process, including those that outlive it.
    [[nodiscard]] std::vector<pid_t> descendants() const {
        std::vector<pid_t> found;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto name = entry.path().filename().string();
            if (name.find_first_not_of("0123456789") != std::string::npos || std::stoi(name) == process_) continue;
            if (read_process(std::stoi(name), "environ").find(tag_) != std::string::npos)
                found.push_back(std::stoi(name));
        }
        return found;
    }

private:
    static std::vector<char*> pointers(std::vector<std::string>& words) {
        std::vector<char*> result;
        for (auto& word : words) result.push_back(word.data());
        result.push_back(nullptr);
        return result;
    }
    static std::string next_tag() {
        static int count = 0;
        return std::to_string(getpid()) + "-" + std::to_string(++count);
    }

    std::string out_, err_, tag_;
    pid_t process_ = 0;
};

inline Finished run(const Scratch& scratch, const std::vector<std::string>& arguments, const Variables& more = {}) {
    return Running(scratch, arguments, more).wait();
}

/// Polls until `condition` is true. Returns false if it is still false after 60,000 polls, about ten minutes. The limit
/// counts polls and not time, so that a machine that stalls does not reach the limit.
inline bool soon(const std::function<bool()>& condition) {
    for (int polls = 0; !condition(); ++polls) {
        if (polls == 60'000) return false;
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

/// Returns the number of trials in a database, or 0 if there is no database yet. Another process may be writing to it.
inline std::int64_t trials_in(const std::string& path) {
    try {
        const auto summary = Store(path, Store::Access::read).summary();
        return summary.measured + summary.rejected;
    } catch (const StoreError&) {
        return 0;
    }
}

/// Returns a sorted list with one text for each problem: the problem, and the template and configuration of its winner.
/// If a problem has no winner, the text names its fastest trial and ends with "(not decided)".
inline std::vector<std::string> winners_in(const std::string& path) {
    std::vector<std::string> winners;
    for (const auto& row : Store(path, Store::Access::read).rows({.best_only = true})) {
        winners.push_back(to_text(row.problem) + " " + row.kernel_template + " " + to_text(row.record.configuration) +
                          (row.winner ? "" : " (not decided)"));
    }
    std::ranges::sort(winners);
    return winners;
}

/// Returns the message of the std::invalid_argument that `work` throws, or an empty text if it throws none.
inline std::string complaint(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

}  // namespace smemtune
