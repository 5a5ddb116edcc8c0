// Declares, parses and documents the options of a command.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tuner/cli/help.h"

namespace smemtune {

/// Exit codes, as `smemtune --help` documents them.
enum ExitCode : int {
    success = 0,
    nothing_found = 1,    ///< no configuration gave right results, or the kernel is wrong or cannot run
    bad_input = 2,        ///< invalid options, sizes or manifests
    bad_environment = 3,  ///< a device, driver, compiler or worker failed
    bad_database = 4,
    interrupted_by_user = 130,
};

struct CommandHelp;
struct Option;

/// All inputs of the program except the command line. Only main() reads them.
struct ProcessEnvironment {
    std::string executable;          ///< path of this program, to start workers
    std::filesystem::path database;  ///< the variable SMEMTUNE_DB, else smemtune/tuning.db in the user's data folder
    /// The environment variable SMEMTUNE_SYSTEM_DATABASES, or else share/smemtune/portfolios beside this program's
    /// folder, if it exists. std::nullopt means the folder of the installation. An empty path means no system
    /// databases.
    std::optional<std::filesystem::path> system_databases;
    std::string host_compiler;          ///< the environment variable CXX, else c++
    std::vector<std::string> toolkits;  ///< the environment variables CUDA_HOME and CUDA_PATH, if set
    /// The environment variable COMMIT: the commit that this program was built from.
    std::string commit;
    /// The variable NVIDIA_TF32_OVERRIDE; `1` lets NVIDIA's libraries compute f32 in TF32.
    std::string tf32_override;
    std::size_t help_columns = 80;  ///< width of help texts: the variable COLUMNS, else the terminal's width
    std::size_t output_width = 0;   ///< columns of the terminal on standard output; 0 for a file or a pipe
    bool redraws = false;           ///< whether standard error is a terminal that obeys control sequences
    /// Called before a command runs kernels of the host device in its own process. main() sets it to supervise().
    std::function<void()> before_host_kernels = [] {};
    /// If this is set, it receives what --help would print. Manual pages and shell completion are made with it.
    std::function<void(const CommandHelp&, const std::vector<Option>&)> take_help;
};

/// A mistake in the user's input. The message names the value, what is wrong with it, and what to write instead.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Which paths the value of an option can be.
enum class Paths { none, files, folders };

/// One option, for the parser, the help and the completion of shells.
struct Option {
    std::string name;                            ///< the option's name, without dashes
    std::string value{};                         ///< placeholder of the value in the help; empty for a switch
    std::string summary{};                       ///< what the option does, in one or two short sentences
    std::optional<std::string> default_value{};  ///< the default; the help shows it unless it is empty
    std::vector<std::string> choices{};          ///< the only valid values; empty if any value is valid
    std::optional<std::string> implicit{};       ///< the value if the option is written without one
    std::vector<std::string> old_names{};        ///< former names, accepted but not shown in the help
    std::string letter{};                        ///< the short name: `j` for `-j`
    bool hidden = false;                         ///< whether the help omits the option
    std::vector<std::string> proposals{};        ///< values that a shell proposes; other values are valid, too
    bool list = false;                           ///< whether the value can be a list, separated by commas
    Paths paths = Paths::none;                   ///< the paths that a shell proposes; ignored if `value` is FILE: files
};

/// The texts of a command's help, except those of its options.
struct CommandHelp {
    std::string name;                           ///< the command, such as `tune` or `db trials`
    std::string summary;                        ///< the first paragraph of the help
    std::string words{};                        ///< the words without a dash in the usage line, such as `[NAME]`
    std::vector<HelpRow> examples{};            ///< example commands, each with a comment
    std::vector<HelpRow> columns{};             ///< columns of the table that the command prints
    std::string notes{};                        ///< paragraphs of the help after the options
    std::vector<HelpRow> commands{};            ///< subcommands
    std::vector<std::string> word_proposals{};  ///< values that a shell proposes for `words`, except FILE
};

/// What a command's --device can name, for shell completion.
enum class DeviceNames {
    one,      ///< a device of this machine
    several,  ///< a list of devices of this machine
    model,    ///< a device of this machine, or a model such as sm_90
    stored,   ///< a list of devices of the database
};

/// Parses one command's options, handles --help and --version, and reports every mistake as a UsageError.
class CommandLine {
public:
    CommandLine(const ProcessEnvironment& process_environment, CommandHelp help);

    void add(Option option);
    /// The following functions add the options that several commands share.
    void add_device(const std::string& summary, const std::string& default_value = "auto",
                    DeviceNames names = DeviceNames::one);
    void add_sizes(const std::string& summary, std::optional<std::string> default_value = {});
    void add_operation(const std::string& summary);
    /// `note` is a sentence after the list of types.
    void add_type(const std::string& default_value = "f32", const std::string& note = "");
    void add_layout(const std::string& summary, const std::string& default_value = "nn");
    /// Adds `--templates`, and the older `--template`.
    void add_templates(const std::string& summary);
    void add_seed(const std::string& summary);
    /// Adds the `--deadline` of a command that runs kernels in worker processes (set_deadlines()).
    void add_deadline();
    /// Adds the `--deadline` of a command that runs kernels in its own process (Watchdog).
    void add_step_deadline();
    void add_database();
    void add_trust();
    void add_json();
    /// Adds `--wide`, which table_width() obeys.
    void add_wide();
    /// Accepts up to `most` words without a dash.
    void accept_words(std::size_t most) { most_words_ = most; }

    /// Parses the options. If the user asked for the help or the version, prints it and returns false.
    bool parse(const std::vector<std::string>& arguments);

    /// Whether the option has a value, possibly its default.
    [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }
    /// Whether the user wrote the option.
    [[nodiscard]] bool given(const std::string& name) const { return has(name) && !values_[name].defaulted(); }
    [[nodiscard]] bool flag(const std::string& name) const { return values_[name].as<bool>(); }
    [[nodiscard]] const std::string& text(const std::string& name) const { return values_[name].as<std::string>(); }
    /// The value of the option `name`. Throws UsageError unless it is a whole number in `least`..`most`.
    [[nodiscard]] long long number(const std::string& name, long long least, long long most) const;
    /// The value of the option `name`. Throws UsageError unless it is a finite number.
    [[nodiscard]] double real(const std::string& name) const;
    [[nodiscard]] unsigned seed() const;
    /// The value of `--db` or its default. Throws UsageError when both are empty.
    [[nodiscard]] std::filesystem::path database() const;
    /// A command of smemtune that a message proposes, in quotes: `'smemtune db list'`. If the user wrote --db, the
    /// command has the same --db.
    [[nodiscard]] std::string proposed(const std::string& command) const;
    /// The width for tables, in characters. 0 means any width: with `--wide`, or if standard output is not a
    /// terminal.
    [[nodiscard]] std::size_t table_width() const;
    [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
    [[nodiscard]] const std::vector<Option>& options() const { return options_; }

private:
    [[nodiscard]] std::string help_text() const;
    [[nodiscard]] std::string this_help() const { return "'smemtune " + help_.name + " --help'"; }
    void store(const std::vector<std::string>& arguments);
    void check_words() const;
    void check_values() const;
    void check_choices() const;

    const ProcessEnvironment& process_environment_;
    CommandHelp help_;
    std::vector<Option> options_;
    std::size_t most_words_ = 0;
    boost::program_options::variables_map values_;
    std::vector<std::string> words_;
};

/// Throws UsageError unless `value` is in `known`. `what` names the option or the kind of value.
void check_known(const std::string& what, const std::string& value, const std::vector<std::string>& known);

/// The text of an option in the help: its summary, choices and default.
std::string explanation(const Option& option);

/// The names of the built-in templates, which a shell proposes.
std::vector<std::string> names_of_templates();

/// The name and version of the program with a newline, such as `smemtune 0.9.0`.
std::string version_text();

}  // namespace smemtune
