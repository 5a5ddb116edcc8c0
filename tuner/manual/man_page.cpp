#include "tuner/manual/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace smemtune {

namespace {

// What a new user needs to know before the list of commands.
constexpr std::array introduction{
    "A kernel template is a CUDA source with parameters, such as the width of a tile, and a manifest with their values "
    "and the rules that they obey. A configuration is one value of each parameter. smemtune compiles a configuration "
    "when it tries it, compares every element of its result with a reference, times it if it is right, and stores the "
    "outcome (a trial) in one SQLite file, the tuning database. The fastest configuration of a problem on a device is "
    "the winner. A problem is an operation with its type, layout and size.",
    "Begin with 'smemtune --sizes 512..4096': it tunes matrix products on the first GPU. Where there is no GPU it uses "
    "the CPU as a device, which checks kernels but says nothing about the times of a GPU. 'smemtune db best' then "
    "lists "
    "the winners, and 'smemtune report' writes a page for a browser that shows what was tried and why the winner won. "
    "A run can be interrupted at any time: the same command measures only what is missing.",
    "An application links libsmemtune, which looks up the winner for a problem in the same database and launches it. "
    "'smemtune run' does the same, and verifies and times the result. A portfolio serves sizes that nobody tuned: a "
    "few "
    "configurations of which one is near the best at any size ('smemtune portfolio').",
    "To tune a kernel of your own, draft its manifest with 'smemtune init kernel.cu', judge it with 'smemtune check "
    "FOLDER', and tune it with 'smemtune tune --templates FOLDER'.",
    "An option without a command belongs to tune: 'smemtune --device 0' is 'smemtune tune --device 0'.",
};

const std::vector<HelpRow>& files() {
    static const std::vector<HelpRow> rows{
        {"~/.local/share/smemtune/tuning.db", "The user's tuning database. --db and SMEMTUNE_DB name another one."},
        {"PREFIX/share/smemtune/portfolios/*.db",
         "The portfolios that are installed with smemtune, for 'run', 'bench' and libsmemtune. PREFIX is that of the "
         "installation, such as /usr."},
    };
    return rows;
}

std::string page_name(const std::string& command) {
    auto name = "smemtune-" + command;
    std::ranges::replace(name, ' ', '-');
    return name;
}

std::string bold(const std::string& text) { return "\\fB" + roff_text(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff_text(text) + "\\fR"; }

std::string reference(const std::string& page) { return bold(page) + "(1)"; }

// Returns the head of a page. The head turns hyphenation off, because a reader could take a hyphen at the end of a line
// for a part of an option.
std::string page_head(const std::string& page, const std::string& purpose) {
    auto title = page;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    auto version = version_text();
    version.pop_back();
    return fmt::format(".TH {} 1 \"\" \"{}\" \"smemtune\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n", roff_text(title),
                       roff_text(version), roff_text(page), roff_text(purpose));
}

std::string paragraphs(const std::string& text) { return ".PP\n" + roff_text(text) + "\n"; }

std::string terms(const char* title, const std::vector<HelpRow>& rows) {
    if (rows.empty()) return {};
    auto text = fmt::format(".SH {}\n", title);
    for (const auto& row : rows) text += ".TP\n" + bold(row.term) + "\n" + roff_text(row.text) + "\n";
    return text;
}

std::string examples_of(const std::vector<HelpRow>& rows) {
    if (rows.empty()) return {};
    std::string text = ".SH EXAMPLES\n";
    for (const auto& row : rows) {
        text += ".TP\n" + bold(row.term) + "\n" + (row.text.empty() ? "\\&" : roff_text(row.text)) + "\n";
    }
    return text;
}

std::string option_term(const Option& option) {
    auto term = (option.letter.empty() ? "" : bold("-" + option.letter) + ", ") + bold("--" + option.name);
    if (option.value.empty()) return term;
    return term + (option.implicit ? " [" + italic(option.value) + "]" : " " + italic(option.value));
}

std::string options_of_page(const std::vector<Option>& options) {
    std::string text = ".SH OPTIONS\n";
    for (const auto& option : options) {
        text += ".TP\n" + option_term(option) + "\n" + roff_text(explanation(option)) + "\n";
    }
    return text;
}

// Returns a row of the list of commands: the name of the command's page, and what the command does.
std::string command_row(const std::string& command, const std::string& summary) {
    return ".TP\n" + reference(page_name(command)) + "\n" + roff_text(summary) + "\n";
}

std::string program_page(const ProgramHelp& help, std::span<const DocumentedCommand> commands) {
    auto text = page_head("smemtune", "tune GPU kernels, and look into the results");
    text += ".SH SYNOPSIS\n" + bold("smemtune") + " [" + italic("COMMAND") + "] [" + italic("OPTIONS") + "]\n.br\n" +
            bold("smemtune help") + " [" + italic("COMMAND") + "]\n";
    text += ".SH DESCRIPTION\n" + roff_text(help.summary) + "\n";
    for (const auto* const paragraph : introduction) text += paragraphs(paragraph);
    text += ".SH COMMANDS\n";
    for (const auto& command : commands) text += command_row(command.name, command.summary);
    text += ".SH OPTIONS\n.TP\n" + bold("-h") + ", " + bold("--help") + "\n" +
            roff_text("Show the commands; after a command, its options. The same text is on the command's page.") +
            "\n.TP\n" + bold("--version") + "\nShow the version.\n";
    text += examples_of(help.examples) + terms("FILES", files()) + terms("ENVIRONMENT", help.variables) +
            terms("EXIT STATUS", help.exit_codes);
    text += ".SH SEE ALSO\n";
    for (const auto& command : commands) {
        text += reference(page_name(command.name)) + (&command == &commands.back() ? "\n" : ",\n");
    }
    return text;
}

std::string command_page(const DocumentedCommand& command) {
    const auto& help = command.help;
    auto text = page_head(page_name(command.name), first_sentence(command.summary));
    text += ".SH SYNOPSIS\n" + bold("smemtune " + command.name) + (help.words.empty() ? "" : " " + italic(help.words)) +
            " [" + italic("OPTIONS") + "]\n";
    text += ".SH DESCRIPTION\n" + roff_text(help.summary) + "\n";
    if (!help.notes.empty()) text += paragraphs(help.notes);
    if (!help.commands.empty()) text += ".SH COMMANDS\n";
    for (const auto& row : help.commands) text += command_row(command.name + " " + row.term, row.text);
    text += options_of_page(command.options) + terms("COLUMNS", help.columns) + examples_of(help.examples);
    text += ".SH SEE ALSO\n" + reference("smemtune");
    const auto space = command.name.rfind(' ');
    if (space != std::string::npos) text += ",\n" + reference(page_name(command.name.substr(0, space)));
    return text + "\n.PP\n" + reference("smemtune") + roff_text(" lists files, environment variables and exit codes.") +
           "\n";
}

}  // namespace

std::string roff_text(const std::string& text) {
    std::string escaped;
    bool at_start = true;
    for (const char c : text) {
        if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
        at_start = false;
        switch (c) {
            case '\\': escaped += "\\e"; break;
            case '-': escaped += "\\-"; break;
            case '\'': escaped += "\\(aq"; break;
            case '"': escaped += "\\(dq"; break;
            case '`': escaped += "\\(ga"; break;
            case '^': escaped += "\\(ha"; break;
            case '~': escaped += "\\(ti"; break;
            case '\n':
                escaped += "\n.br\n";
                at_start = true;
                break;
            default: escaped += c;
        }
    }
    return escaped;
}

std::vector<ManPage> man_pages(const ProgramHelp& help, std::span<const DocumentedCommand> commands) {
    std::vector<ManPage> pages{{"smemtune", program_page(help, commands)}};
    for (const auto& command : commands) pages.push_back({page_name(command.name), command_page(command)});
    return pages;
}

}  // namespace smemtune
