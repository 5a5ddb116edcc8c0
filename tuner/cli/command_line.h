// The options of a command: how they are declared, read and shown in its help.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tuner/cli/help.h"

namespace smemtune {

/// Exit codes, as `smemtune --help` documents them.
enum ExitCode : int {
    success = 0,
    nothing_found = 1,    ///< it ran, and no configuration was right, or the result was wrong or cannot run
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
    std::string commit;              ///< COMMIT: the commit that this program was built from, for the record
    std::size_t help_columns = 80;   ///< width of help texts: COLUMNS, else the terminal's
    std::size_t output_width = 0;    ///< columns of the terminal on standard output; 0 for a file or a pipe
    bool redraws = false;            ///< a terminal on standard error that obeys control sequences
};

/// A mistake in the user's input. The message names the value, what is wrong with it, and what to write instead.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One option, as the parser and the help need it.
struct Option {
    std::string name;                            ///< without its dashes
    std::string value{};                         ///< stands for its value in the help; empty: the option is a switch
    std::string summary{};                       ///< one or two short sentences
    std::optional<std::string> default_value{};  ///< shown in the help unless it is empty
    std::vector<std::string> choices{};          ///< the only values; empty: any
    std::optional<std::string> implicit{};       ///< the value of an option written without one
    std::vector<std::string> old_names{};        ///< accepted as well, and not shown
    std::string letter{};                        ///< `j` of `-j`
    bool hidden = false;                         ///< accepted, and not shown
};

/// The parts of a command's help beside its options.
struct CommandHelp {
    std::string name;                 ///< `tune`, `db trials`
    std::string summary;              ///< opens the help
    std::string words{};              ///< the usage line's words without a dash: `[NAME]`
    std::vector<HelpRow> examples{};  ///< commands, each with a comment
    std::vector<HelpRow> columns{};   ///< of the table that the command prints
    std::string notes{};              ///< paragraphs after the options
    std::vector<HelpRow> commands{};  ///< subcommands
};

/// Reads one command's options, answers --help and --version, and turns every mistake into a UsageError.
class CommandLine {
public:
    CommandLine(const ProcessEnvironment& process_environment, CommandHelp help);

    void add(Option option);
    /// The options that commands share, each with one name and one meaning.
    void add_device(const std::string& summary, const std::string& default_value = "auto");
    void add_sizes(const std::string& summary, std::optional<std::string> default_value = {});
    void add_operation(const std::string& summary);
    void add_type();
    void add_layout(const std::string& summary, const std::string& default_value = "nn");
    /// `--templates`, and the older `--template`.
    void add_templates(const std::string& summary);
    void add_seed(const std::string& summary);
    void add_database();
    void add_json();
    /// `--wide`, for table_width().
    void add_wide();
    /// Accepts at most `most` words without a dash.
    void accept_words(std::size_t most) { most_words_ = most; }

    /// False when help or the version was asked for, and printed.
    bool parse(const std::vector<std::string>& arguments);

    /// The option has a value, be it its default.
    [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }
    /// The user wrote the option.
    [[nodiscard]] bool given(const std::string& name) const { return has(name) && !values_[name].defaulted(); }
    [[nodiscard]] bool flag(const std::string& name) const { return values_[name].as<bool>(); }
    [[nodiscard]] const std::string& text(const std::string& name) const { return values_[name].as<std::string>(); }
    /// Throws UsageError when the value is no whole number in `least`..`most`.
    [[nodiscard]] long long number(const std::string& name, long long least, long long most) const;
    /// Throws UsageError when the value is no finite number.
    [[nodiscard]] double real(const std::string& name) const;
    [[nodiscard]] unsigned seed() const;
    /// The value of `--db` or its default. Throws UsageError when both are empty.
    [[nodiscard]] std::filesystem::path database() const;
    /// Of tables: 0, any width, with `--wide` or where standard output is no terminal.
    [[nodiscard]] std::size_t table_width() const;
    [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
    [[nodiscard]] const std::vector<Option>& options() const { return options_; }

private:
    [[nodiscard]] std::string help_text() const;
    [[nodiscard]] std::string this_help() const { return "'smemtune " + help_.name + " --help'"; }
    void store(const std::vector<std::string>& arguments);
    void check_words() const;
    void check_choices() const;

    const ProcessEnvironment& process_environment_;
    CommandHelp help_;
    std::vector<Option> options_;
    std::size_t most_words_ = 0;
    boost::program_options::variables_map values_;
    std::vector<std::string> words_;
};

/// Throws UsageError unless `value` is one of `known`; `what` names the option or the kind of thing.
void check_known(const std::string& what, const std::string& value, const std::vector<std::string>& known);

/// `smemtune 0.9.0`, with a newline.
std::string version_text();

}  // namespace smemtune
