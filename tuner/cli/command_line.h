// What every command starts from: its environment, its exit codes, and how its options are read.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

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
struct ProcessEnvironment {
    std::string executable;          ///< this program, to start workers from
    std::filesystem::path database;  ///< SMEMTUNE_DB, else smemtune/tuning.db in the user's data folder
    std::string host_compiler;       ///< CXX, else c++
    std::string commit;              ///< COMMIT: what this program was built from, for the record
    std::size_t output_width = 0;    ///< columns of the terminal on standard output; 0 for a file or a pipe
    bool redraws = false;            ///< a terminal on standard error that obeys control sequences
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
    void add_database(const ProcessEnvironment& process_environment);
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
    /// A whole number, read as `long long`. Throws UsageError when it is not in `least`..`most`.
    [[nodiscard]] long long number(const std::string& name, long long least, long long most) const;
    [[nodiscard]] unsigned seed() const;
    /// What `--db` or its default says. Throws UsageError when neither does.
    [[nodiscard]] std::filesystem::path database() const;

private:
    std::string name_, usage_;
    boost::program_options::options_description options_{"options"};
    boost::program_options::positional_options_description positional_;
    boost::program_options::variables_map values_;
};

}  // namespace smemtune
