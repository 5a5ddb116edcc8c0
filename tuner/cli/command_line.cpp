#include "tuner/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "templates/manifest/catalog.h"
#include "tuner/cli/shell_text.h"
#include "tuner/cli/suggestion.h"

namespace smemtune {

namespace po = boost::program_options;

namespace {

constexpr const char* words_option = "words";  // the name under which Boost stores words without a dash

// All names of an option as one text, in the form that Boost expects: `sizes,size,s`.
std::string all_names(const Option& option) {
    auto names = option.name;
    for (const auto& old : option.old_names) names += "," + old;
    return option.letter.empty() ? names : names + "," + option.letter;
}

po::options_description describe(const std::vector<Option>& options) {
    po::options_description description;
    for (const auto& option : options) {
        if (option.value.empty()) {
            description.add_options()(all_names(option).c_str(), po::bool_switch());
            continue;
        }
        auto* value = po::value<std::string>();
        if (option.default_value) value->default_value(*option.default_value);
        if (option.implicit) value->implicit_value(*option.implicit);
        description.add_options()(all_names(option).c_str(), value);
    }
    description.add_options()(words_option, po::value<std::vector<std::string>>());
    return description;
}

std::string term(const Option& option) {
    const auto value = option.value.empty() ? "" : option.implicit ? " [" + option.value + "]" : " " + option.value;
    return (option.letter.empty() ? "    " : "-" + option.letter + ", ") + "--" + option.name + value;
}

std::vector<std::string> proposed_devices(DeviceNames names) {
    switch (names) {
        case DeviceNames::one: return {"auto", "host", "0", "1"};
        case DeviceNames::several: return {"auto", "host", "all", "0", "1"};
        case DeviceNames::stored: return {"all", "host", "0", "1"};
        case DeviceNames::model: break;
    }
    return {"auto", "host", "0", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};
}

}  // namespace

std::string explanation(const Option& option) {
    auto text = option.summary;
    if (!option.choices.empty()) text += fmt::format(" One of {}.", fmt::join(option.choices, ", "));
    if (option.default_value && !option.default_value->empty()) text += " [default: " + *option.default_value + "]";
    return text;
}

CommandLine::CommandLine(const ProcessEnvironment& process_environment, CommandHelp help)
    : process_environment_(process_environment), help_(std::move(help)) {
    add({.name = "help", .summary = "Show this help.", .letter = "h"});
    add({.name = "version", .summary = "Show the version."});
}

void CommandLine::add(Option option) {
    // Inserts the option before --help and --version, which stay last.
    options_.insert(options_.size() < 2 ? options_.end() : options_.end() - 2, std::move(option));
}

void CommandLine::add_device(const std::string& summary, const std::string& default_value, DeviceNames names) {
    add({.name = "device",
         .value = "D",
         .summary = summary,
         .default_value = default_value,
         .proposals = proposed_devices(names),
         .list = names == DeviceNames::several || names == DeviceNames::stored});
}

void CommandLine::add_sizes(const std::string& summary, std::optional<std::string> default_value) {
    add({.name = "sizes",
         .value = "S",
         .summary = summary,
         .default_value = std::move(default_value),
         .old_names = {"size"}});
}

void CommandLine::add_operation(const std::string& summary) {
    std::set<std::string> known;
    for (const auto& kernel : builtin_templates()) known.insert(kernel.operation.name);
    add({.name = "operation",
         .value = "NAME",
         .summary = summary,
         .default_value = "",
         .proposals = {known.begin(), known.end()}});
}

void CommandLine::add_type(const std::string& default_value, const std::string& note) {
    std::set<std::string> known;
    for (const auto& kernel : builtin_templates()) known.insert(kernel.types.begin(), kernel.types.end());
    add({.name = "type",
         .value = "T",
         .summary = fmt::format("Type of the elements: {}.{}{}", fmt::join(known, ", "), note.empty() ? "" : " ", note),
         .default_value = default_value,
         .proposals = {known.begin(), known.end()}});
}

void CommandLine::add_layout(const std::string& summary, const std::string& default_value) {
    add({.name = "layout",
         .value = "L",
         .summary = summary,
         .default_value = default_value,
         .proposals = {"nn", "nt", "tn", "tt"}});
}

void CommandLine::add_templates(const std::string& summary) {
    add({.name = "templates",
         .value = "LIST",
         .summary = summary,
         .default_value = "",
         .proposals = names_of_templates(),
         .list = true,
         .paths = Paths::folders});
    add({.name = "template", .value = "NAME", .default_value = "", .hidden = true});
}

std::vector<std::string> names_of_templates() {
    std::vector<std::string> names;
    for (const auto& kernel : builtin_templates()) names.push_back(kernel.name);
    return names;
}

void CommandLine::add_seed(const std::string& summary) {
    add({.name = "seed", .value = "N", .summary = summary, .default_value = "1"});
}

void CommandLine::add_deadline() {
    add({.name = "deadline",
         .value = "TIME",
         .summary =
             "Reject a trial that runs longer. If the inputs and the reference of a size take more than ten times "
             "as long, end with an error.",
         .default_value = "30s"});
}

void CommandLine::add_step_deadline() {
    add({.name = "deadline",
         .value = "TIME",
         .summary =
             "End with an error if the inputs and the reference of a size, or the launches that verify or time a "
             "kernel, take longer.",
         .default_value = "5m"});
}

void CommandLine::add_database() {
    add({.name = "db",
         .value = "FILE",
         .summary = "The tuning database. SMEMTUNE_DB sets the default.",
         .default_value = process_environment_.database.string()});
}

void CommandLine::add_trust() {
    add({.name = "trust-any-owner", .summary = "Run the code of a database that other users own or can write."});
}

void CommandLine::add_json() { add({.name = "json", .summary = "Print JSON on standard output instead of text."}); }

void CommandLine::add_wide() {
    add({.name = "wide", .summary = "Print tables as wide as they need, whatever the terminal's width."});
}

std::size_t CommandLine::table_width() const { return flag("wide") ? 0 : process_environment_.output_width; }

long long CommandLine::number(const std::string& name, long long least, long long most) const {
    const auto& written = text(name);
    long long value = 0;
    const auto* end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, value);
    if (written.empty() || stop != end || error == std::errc::invalid_argument) {
        throw UsageError(fmt::format("--{} '{}': not a whole number; write for example --{} {}", name, written, name,
                                     std::max(least, 1LL)));
    }
    if (error != std::errc{} || value > most) {
        throw UsageError(fmt::format("--{} {} is more than {}; write {} at most", name, written, most, most));
    }
    if (value < least)
        throw UsageError(fmt::format("--{} {} is less than {}; write {} or more", name, value, least, least));
    return value;
}

double CommandLine::real(const std::string& name) const {
    const auto& written = text(name);
    double value = 0;
    const auto* end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, value);
    if (written.empty() || stop != end || error != std::errc{} || !std::isfinite(value)) {
        throw UsageError(fmt::format("--{} '{}': not a number; write for example --{} 90", name, written, name));
    }
    return value;
}

unsigned CommandLine::seed() const {
    return static_cast<unsigned>(number("seed", 0, std::numeric_limits<unsigned>::max()));
}

std::filesystem::path CommandLine::database() const {
    if (text("db").empty() && given("db")) throw UsageError("--db is empty; name a file");
    if (text("db").empty())
        throw UsageError("where is the database? HOME is not set; give --db FILE or set SMEMTUNE_DB");
    return text("db");
}

std::string CommandLine::proposed(const std::string& command) const {
    return given("db") ? command_for(database(), command) : "'smemtune " + command + "'";
}

void CommandLine::store(const std::vector<std::string>& arguments) {
    // Abbreviated options are refused, because an abbreviation could become ambiguous in a later version.
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const auto description = describe(options_);
    po::positional_options_description positional;
    positional.add(words_option, -1);
    try {
        po::store(po::command_line_parser(arguments).options(description).positional(positional).style(style).run(),
                  values_);
    } catch (const po::unknown_option& error) {
        std::vector<std::string> known;
        for (const auto& option : options_) {
            if (!option.hidden) known.push_back("--" + option.name);
        }
        const auto& name = error.get_option_name();
        throw UsageError(name + ": there is no such option" + did_you_mean(name, known) + " See " + this_help());
    } catch (const po::multiple_occurrences& error) {
        throw UsageError(error.get_option_name() + ": given more than once; give it once" + "; see " + this_help());
    } catch (const po::invalid_command_line_syntax& error) {
        if (error.kind() != po::invalid_syntax::missing_parameter)
            throw UsageError(std::string(error.what()) + "; see " + this_help());
        throw UsageError(error.get_option_name() + ": its value is missing" + "; see " + this_help());
    } catch (const po::error& error) {
        throw UsageError(std::string(error.what()) + "; see " + this_help());
    }
    if (has(words_option)) words_ = values_[words_option].as<std::vector<std::string>>();
}

void CommandLine::check_words() const {
    if (words_.size() <= most_words_) return;
    const auto& word = words_[most_words_];
    const auto takes = [&](const char* name) {
        return std::ranges::find(options_, name, &Option::name) != options_.end();
    };
    std::string hint;
    std::error_code ignored;
    if (takes("db") && (word.ends_with(".db") || std::filesystem::is_regular_file(word, ignored))) {
        hint = "; a database is named by --db " + word;
    } else if (takes("sizes") && !word.empty() && word.find_first_not_of("0123456789x.,:") == std::string::npos) {
        hint = "; a size is named by --sizes " + word;
    }
    throw UsageError("'" + word + "' is one word too many" + hint + "; see " + this_help());
}

// An empty value would otherwise mean the same as no option, for example all templates. A shell variable that is not
// set gives such a value.
void CommandLine::check_values() const {
    for (const auto& option : options_) {
        if (option.value.empty() || !given(option.name) || !text(option.name).empty()) continue;
        throw UsageError(fmt::format("--{} '' is empty; give a value, or leave out the option", option.name));
    }
}

void CommandLine::check_choices() const {
    for (const auto& option : options_) {
        if (!option.choices.empty() && has(option.name)) {
            check_known("--" + option.name, text(option.name), option.choices);
        }
    }
}

std::string CommandLine::help_text() const {
    const auto columns = process_environment_.help_columns;
    auto text = wrap(help_.summary, columns);
    const auto name = help_.name == "tune" ? std::string("[tune]") : help_.name;
    text += "\nusage: smemtune " + name + (help_.words.empty() ? "" : " " + help_.words) + " [OPTIONS]\n";
    const auto section = [&](const char* title, const std::vector<HelpRow>& rows) {
        if (!rows.empty()) text += fmt::format("\n{}\n{}", title, help_rows(rows, columns));
    };
    if (!help_.examples.empty()) {
        text += "\nexamples\n";
        for (const auto& [command, comment] : help_.examples) {
            text += "  " + command + "\n" + (comment.empty() ? "" : wrap(comment, columns, 6));
        }
    }
    section("commands", help_.commands);
    std::vector<HelpRow> rows;
    for (const auto& option : options_) {
        if (!option.hidden) rows.push_back({term(option), explanation(option)});
    }
    section("options", rows);
    section("columns", help_.columns);
    if (!help_.notes.empty()) text += "\n" + wrap(help_.notes, columns);
    return text;
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
    store(arguments);
    if (flag("help")) {
        if (process_environment_.take_help) {
            process_environment_.take_help(help_, options_);
        } else {
            fmt::print("{}", help_text());
        }
        return false;
    }
    if (flag("version")) {
        fmt::print("{}", version_text());
        return false;
    }
    check_words();
    check_values();
    check_choices();
    return true;
}

void check_known(const std::string& what, const std::string& value, const std::vector<std::string>& known) {
    if (std::ranges::find(known, value) != known.end()) return;
    throw UsageError(
        fmt::format("{} '{}' is unknown{} Known: {}", what, value, did_you_mean(value, known), fmt::join(known, ", ")));
}

std::string version_text() { return fmt::format("smemtune {}\n", SMEMTUNE_VERSION); }

}  // namespace smemtune
