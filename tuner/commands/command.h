// What the commands share: their environment, their exit codes, and how their options are read.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "templates/kernel_template.h"

namespace smemtune {

/// Exit codes, as `smemtune --help` documents them.
enum ExitCode : int {
    success = 0,
    nothing_found = 1,    ///< it ran, and no configuration was right or the result was wrong
    bad_input = 2,        ///< options, sizes, manifests
    bad_environment = 3,  ///< device, driver, compiler, worker
    bad_database = 4,
    interrupted_by_user = 130,
};

/// Everything that comes from outside the command line. Read in main() only.
struct Surroundings {
    std::string executable;          ///< this program, to start workers from
    std::filesystem::path database;  ///< SMEMTUNE_DB, else smemtune/tuning.db in the user's data folder
    std::string host_compiler;       ///< CXX, else c++
    std::string commit;              ///< COMMIT: what this program was built from, for the record
};

/// A mistake in what the user wrote. The message says what to write instead.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One command's options: parses, answers --help, and turns every mistake into a UsageError.
class CommandLine {
public:
    /// `usage` opens the help: what the command does, and examples.
    CommandLine(std::string name, std::string usage);

    boost::program_options::options_description_easy_init add() { return options_.add_options(); }
    /// Options that several commands spell alike.
    void add_database(const Surroundings& surroundings);
    void add_json();
    void add_type();
    void add_seed(const char* of_what);
    /// Words without a dash: at most as many as named here.
    void positional(std::initializer_list<const char*> names);

    /// False when help was asked for, and printed.
    bool parse(const std::vector<std::string>& arguments);

    [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }
    template <class T>
    [[nodiscard]] const T& get(const std::string& name) const {
        return values_[name].as<T>();
    }
    [[nodiscard]] const std::string& text(const std::string& name) const { return get<std::string>(name); }
    [[nodiscard]] unsigned seed() const;
    /// What `--db` or its default says. Throws UsageError when neither does.
    [[nodiscard]] std::filesystem::path database() const;

private:
    std::string name_, usage_;
    boost::program_options::options_description options_{"options"};
    boost::program_options::positional_options_description positional_;
    boost::program_options::variables_map values_;
};

std::vector<std::string> split(const std::string& text, char separator);

/// The built-in templates and those of folders: `list` (`--templates`) holds names and folders, and means all built-in
/// ones when it is empty. `operation` restricts them unless it is empty. Throws UsageError naming what is unknown.
std::vector<KernelTemplate> choose_templates(const std::string& list, const std::string& operation);

/// The folders of such a list, for a Runtime, which holds the built-in templates besides. Throws UsageError when the
/// list names one of those.
std::vector<std::filesystem::path> template_folders(const std::string& list);

/// One template by name, from folders or else built in. Throws UsageError.
KernelTemplate find_template(const std::string& list, const std::string& name);

/// A device of this machine, or a model (`sm_90`, limits given by hand).
Device any_device(const std::string& name);

/// Equal devices, that can share work.
struct DeviceGroup {
    Device device;
    std::vector<std::string> names;  ///< each opens one
};

/// `0`, `0,1`, `host`, `auto`, or `all`: every GPU. In the order written. Throws UsageError, DeviceError.
std::vector<DeviceGroup> choose_devices(const std::string& list);

/// Problems of one operation from the words of the command line. Throws UsageError.
std::vector<Problem> make_problems(const Operation& operation, const std::string& sizes, const std::string& type,
                                   const std::string& layout, const Device& device);

/// The same for a command that looks at one problem only.
Problem make_problem(const Operation& operation, const std::string& size, const std::string& type,
                     const std::string& layout, const Device& device);

/// Aligned columns; the first row is the header. Numbers are given as text.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// Indented; what is no UTF-8, as a compiler's message may be, is replaced.
std::string json_text(const nlohmann::json& json);

/// `812 us`, `3.21 ms`.
std::string time_text(double microseconds);

/// `24.90 T`, `1.60 G`: operations per second.
std::string rate_text(double operations_per_second);

using Arguments = std::vector<std::string>;
int tune_command(const Arguments& arguments, const Surroundings& surroundings);
int bench_command(const Arguments& arguments, const Surroundings& surroundings);
int run_command(const Arguments& arguments, const Surroundings& surroundings);
int devices_command(const Arguments& arguments, const Surroundings& surroundings);
int templates_command(const Arguments& arguments, const Surroundings& surroundings);
int explain_command(const Arguments& arguments, const Surroundings& surroundings);
int simulate_command(const Arguments& arguments, const Surroundings& surroundings);
int database_command(const Arguments& arguments, const Surroundings& surroundings);
int worker_command(const Arguments& arguments, const Surroundings& surroundings);

}  // namespace smemtune
