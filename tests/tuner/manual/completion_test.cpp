// Tests that the completion scripts propose every command, option and known value in the tables of --help.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "tests/tuner/support.h"
#include "tuner/commands/command.h"
#include "tuner/manual/completion.h"

namespace smemtune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

using Words = std::vector<std::string>;

const std::vector<DocumentedCommand>& all_commands() {
    static const auto commands = documented_commands();
    return commands;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

Words options_of(const DocumentedCommand& command) {
    Words options;
    for (const auto& option : command.options) options.push_back("--" + option.name);
    return options;
}

// Runs a shell command in the scratch folder, and returns what it prints.
std::string output_of(const Scratch& scratch, const std::string& command) {
    const auto home = "cd '" + scratch.path().string() + "' && HOME='" + scratch.aside() + "' " + command + " 2>&1";
    FILE* shell = popen(home.c_str(), "r");
    std::string out;
    for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) out += static_cast<char>(c);
    EXPECT_EQ(pclose(shell), 0) << out;
    return out;
}

bool is_installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

// Returns what bash proposes as the last word of each command line.
std::vector<Words> ask_bash(const Scratch& scratch, const std::vector<Words>& asked) {
    write_text(scratch / "completion", bash_completion(all_commands()));
    std::string script = "set -u\n. ./completion\ncompopt() { :; }\n";
    for (const auto& words : asked) {
        script += "COMP_WORDS=(smemtune";
        for (const auto& word : words) script += " '" + word + "'";
        script += ")\nCOMP_CWORD=" + std::to_string(words.size()) +
                  "\n_smemtune 2>&1\n((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"\necho ==\n";
    }
    write_text(scratch / "ask", script);
    const auto out = output_of(scratch, "bash --norc ask");
    std::vector<Words> answers(1);
    for (const auto& line : lines_of(out)) {
        if (line == "==") {
            answers.emplace_back();
        } else {
            answers.back().push_back(line);
        }
    }
    answers.pop_back();
    EXPECT_EQ(answers.size(), asked.size()) << out;
    answers.resize(asked.size());
    return answers;
}

Words ask_bash(const Words& words) { return ask_bash(Scratch(), {words}).front(); }

Words words_of(const DocumentedCommand& command) {
    std::istringstream words(command.name);
    return {std::istream_iterator<std::string>(words), {}};
}

TEST(DocumentedCommands, AreThoseOfTheHelpWithTheirSubcommands) {
    Words expected;
    for (const auto& command : commands()) {
        if (*command.summary == '\0') continue;
        expected.emplace_back(command.name);
        if (expected.back() != "db") continue;
        for (const auto& sub : database_commands()) expected.push_back(std::string("db ") + sub.name);
    }
    Words names;
    for (const auto& command : all_commands()) names.push_back(command.name);
    EXPECT_EQ(names, expected);
}

// Completion scripts and manual pages are made from tables of options. The tables must have the options that --help
// prints.
TEST(DocumentedCommands, HaveTheOptionsThatTheirHelpPrints) {
    const Scratch scratch;
    for (const auto& command : all_commands()) {
        auto words = words_of(command);
        words.emplace_back("--help");
        Words printed;
        const auto help = run(scratch, words).out;
        for (const auto& line : lines_of(help.substr(help.find("\noptions\n")))) {
            const auto at = line.find("--");
            if (at != 6 || (!line.starts_with("  -") && !line.starts_with("      "))) continue;
            printed.push_back(line.substr(at, line.find(' ', at) - at));
        }
        EXPECT_EQ(options_of(command), printed) << command.name;
        EXPECT_EQ(command.help.name, command.name);
    }
}

TEST(DocumentedCommands, TellNoDefaultOfThisMachine) {
    for (const auto& command : all_commands()) {
        for (const auto& option : command.options) {
            if (option.name != "db") continue;
            EXPECT_EQ(option.default_value, "") << command.name;
        }
    }
}

TEST(FirstSentence, EndsBeforeTheNextOne) {
    EXPECT_EQ(first_sentence("Store nothing. Tune from nothing."), "Store nothing");
    EXPECT_EQ(first_sentence("0, 1, ... for a GPU; host. Else none."), "0, 1, ... for a GPU; host");
    EXPECT_EQ(first_sentence("One sentence."), "One sentence");
    EXPECT_EQ(first_sentence("none"), "none");
}

TEST(BashCompletion, ProposesEveryOptionOfEachCommand) {
    std::vector<Words> asked;
    for (const auto& command : all_commands()) {
        asked.push_back(words_of(command));
        asked.back().emplace_back("--");
    }
    const auto answers = ask_bash(Scratch(), asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_THAT(answers[i], UnorderedElementsAreArray(options_of(all_commands()[i]))) << all_commands()[i].name;
    }
}

TEST(BashCompletion, ProposesTheValuesOfEveryOptionThatHasKnownOnes) {
    std::vector<Words> asked;
    std::vector<Words> expected;
    for (const auto& command : all_commands()) {
        for (const auto& option : command.options) {
            if (option.value.empty()) continue;
            asked.push_back(words_of(command));
            asked.back().insert(asked.back().end(), {"--" + option.name, ""});
            expected.push_back(proposals_of(option).words);
        }
    }
    const Scratch scratch;
    const auto answers = ask_bash(scratch, asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto words = answers[i];
        std::erase_if(words, [](const auto& word) { return word == "ask" || word == "completion"; });  // scratch files
        EXPECT_EQ(words, expected[i]) << ::testing::PrintToString(asked[i]);
    }
}

TEST(BashCompletion, ProposesCommandsFirstAndOptionsOfTuneWithoutACommand) {
    EXPECT_THAT(ask_bash({""}), IsSupersetOf({"tune", "db", "completion", "help"}));
    EXPECT_THAT(ask_bash({""}), Not(Contains("worker")));
    EXPECT_THAT(ask_bash({"be"}), ElementsAre("bench"));
    EXPECT_THAT(ask_bash({"--roof"}), ElementsAre("--roofline"));
    EXPECT_THAT(ask_bash({"--search", "gen"}), ElementsAre("genetic"));
    EXPECT_THAT(ask_bash({"tune", "--retune", "--objective", ""}), ElementsAre("time", "energy"));
    EXPECT_THAT(ask_bash({"db", "tr"}), ElementsAre("trials"));
    EXPECT_THAT(ask_bash({"help", "db", "tr"}), ElementsAre("trials"));
    EXPECT_THAT(ask_bash({"help", "ben"}), ElementsAre("bench"));
    EXPECT_THAT(ask_bash({"help", "bench", ""}), IsEmpty());
    EXPECT_THAT(ask_bash({"worker", "--"}), IsEmpty()) << "smemtune alone starts it";
    EXPECT_THAT(ask_bash({"unknown", ""}), IsEmpty());
}

TEST(BashCompletion, ProposesOptionsAfterAnOptionWhoseValueMayBeLeftOut) {
    EXPECT_THAT(ask_bash({"tune", "--validate", "--chec"}), ElementsAre("--checked"));
}

// bash splits `--search=gen` into the words `--search`, `=` and `gen`.
TEST(BashCompletion, ProposesValuesBehindAnEqualsSign) {
    EXPECT_THAT(ask_bash({"tune", "--search", "=", "gen"}), ElementsAre("genetic"));
    EXPECT_THAT(ask_bash({"tune", "--objective", "="}), ElementsAre("time", "energy"));
}

TEST(BashCompletion, ProposesTheLastValueOfAList) {
    EXPECT_THAT(ask_bash({"tune", "--templates", "naive,row_t"}), ElementsAre("naive,row_tile"));
    EXPECT_THAT(ask_bash({"--device", "0,h"}), ElementsAre("0,host"));
    EXPECT_THAT(ask_bash({"run", "--device", "0,h"}), IsEmpty()) << "run takes one device";
}

TEST(BashCompletion, ProposesFilesAndFoldersWhereTheyAreTaken) {
    const Scratch scratch;
    write_text(scratch / "mine/kernel.cu", "");
    write_text(scratch / "my file.db", "");
    const auto answers = ask_bash(scratch, {{"tune", "--db", "m"},
                                            {"tune", "--templates", "tiled,m"},
                                            {"check", "m"},
                                            {"init", "mine/"},
                                            {"bench", "--against", "cublas,my"},
                                            {"devices", "m"}});
    EXPECT_THAT(answers,
                ElementsAre(UnorderedElementsAreArray({"my file.db", "mine"}),
                            UnorderedElementsAreArray({"tiled,matrix_vector", "tiled,mine"}), ElementsAre("mine"),
                            ElementsAre("mine/kernel.cu"), ElementsAre("cublas,my file.db"), IsEmpty()));
}

// Returns the zsh script's function for the completion of `command`.
std::string zsh_function_of(const std::string& script, const std::string& command) {
    auto name = "\n_smemtune_" + command + "() {\n";
    std::ranges::replace(name.begin() + 1, name.end() - 4, ' ', '_');
    const auto begin = script.find(name);
    return begin == std::string::npos ? "" : script.substr(begin, script.find("\n}\n", begin) - begin);
}

TEST(ZshCompletion, SpecifiesEveryOptionOfEachCommandWithItsValues) {
    const auto script = zsh_completion(all_commands());
    for (const auto& command : all_commands()) {
        const auto function = zsh_function_of(script, command.name);
        for (const auto& option : command.options) {
            const auto* const equals = option.value.empty() ? "" : "=";
            const auto name = "--" + option.name + equals;
            EXPECT_THAT(function,
                        ::testing::AnyOf(HasSubstr("\n        " + name + "'["), HasSubstr("," + name + "}'[")))
                << command.name;
            const auto proposals = proposals_of(option);
            const std::string kind = proposals.list ? "list " : "word ";
            for (const auto& word : proposals.words) {
                EXPECT_THAT(function,
                            ::testing::ContainsRegex(name + "[^\n]*: _smemtune_" + kind + "[^\n]* " + word + "[ ']"))
                    << command.name;
            }
        }
    }
}

TEST(ZshCompletion, CallsTheFunctionOfEachCommandAndDescribesIt) {
    const auto script = zsh_completion(all_commands());
    for (const auto& command : all_commands()) {
        const auto words = words_of(command);
        auto function = "_smemtune_" + command.name;
        std::ranges::replace(function, ' ', '_');
        EXPECT_THAT(script, HasSubstr("\n            " + words.back() + ") " + function + " ;;\n"));
        EXPECT_THAT(script, HasSubstr("\n            '" + words.back() + ":"));
    }
}

// In a specification for zsh, a colon or a bracket ends a part of the specification. A single quotation mark ends the
// shell word that contains the specification.
TEST(ZshCompletion, EscapesWhatHasAMeaning) {
    const std::vector<DocumentedCommand> one{
        {.name = "tune",
         .summary = "It's [a]: b.",
         .options = {{.name = "size", .value = "A:B", .summary = "It's [a]: \\b."}}}};
    const auto script = zsh_completion(one);
    EXPECT_THAT(script, HasSubstr(R"('tune:It'\''s \[a\]\: b')"));
    EXPECT_THAT(script, HasSubstr(R"(--size='[It'\''s \[a\]\: \\b]:A\:B: ')"));
}

TEST(ZshCompletion, IsReadByZsh) {
    if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed";
    const Scratch scratch;
    write_text(scratch / "completion", zsh_completion(all_commands()));
    EXPECT_EQ(output_of(scratch, "zsh -n completion"), "");
    EXPECT_EQ(output_of(scratch, "zsh -f -c 'compdef() { print $1 $2; }; source ./completion'"),
              "_smemtune smemtune\n");
}

TEST(FishCompletion, HasALineForEveryOptionOfEachCommand) {
    const auto script = fish_completion(all_commands());
    for (const auto& command : all_commands()) {
        const auto begin = script.find("\n# smemtune " + command.name + "\n");
        ASSERT_NE(begin, std::string::npos) << command.name;
        const auto lines = script.substr(begin, script.find("\n# ", begin + 1) - begin);
        for (const auto& option : command.options) {
            const auto condition = "complete -c smemtune -n '__smemtune_is \"" + command.name + "\"";
            EXPECT_THAT(lines, ::testing::ContainsRegex("\n" + condition + "[^\n]* -l " + option.name + " [^\n]*-d '"))
                << command.name;
        }
        EXPECT_THAT(script, HasSubstr(" -a " + words_of(command).back() + " -d '"));
    }
}

TEST(FishCompletion, ProposesCommandsOptionsAndValues) {
    if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
    const Scratch scratch;
    write_text(scratch / "completion", fish_completion(all_commands()));
    write_text(scratch / "good.db", "");
    std::string script = "source completion\n";
    std::string expected;
    for (const auto& [asked, proposed] :
         std::vector<std::pair<std::string, Words>>{{"be", {"bench"}},
                                                    {"--roof", {"--roofline"}},
                                                    {"--search g", {"genetic"}},
                                                    {"tune --objective ", {"energy", "time"}},
                                                    {"db tr", {"trials"}},
                                                    {"help db tr", {"trials"}},
                                                    {"db trials --rej", {"--rejected"}},
                                                    {"tune --templates naive,row_t", {"naive,row_tile"}},
                                                    {"tune --evaluations ", {}},
                                                    {"run --db g", {"good.db"}},
                                                    {"report g", {"good.db"}},
                                                    {"devices g", {}},
                                                    {"explain warp", {"warp_tiled"}},
                                                    {"worker --", {}}}) {
        script += "complete -C 'smemtune " + asked + "' | string split --fields 1 \\t | sort\necho ==\n";
        for (const auto& word : proposed) expected += word + "\n";
        expected += "==\n";
    }
    write_text(scratch / "ask", script);
    EXPECT_EQ(output_of(scratch, "fish --no-config ask"), expected);
}

TEST(FishCompletion, EscapesQuotationMarks) {
    const std::vector<DocumentedCommand> one{
        {.name = "tune", .options = {{.name = "size", .value = "N", .summary = "It's a \\."}}}};
    EXPECT_THAT(fish_completion(one), HasSubstr(R"(-l size -x -d 'It\'s a \\')"));
}

TEST(Completion, IsWrittenWhereEachShellFindsIt) {
    const Scratch scratch;
    EXPECT_EQ(run(scratch, {"completion", "--to", "share"}).code, 0);
    EXPECT_EQ(read_text(scratch / "share/bash-completion/completions/smemtune"), bash_completion(all_commands()));
    EXPECT_EQ(read_text(scratch / "share/zsh/site-functions/_smemtune"), zsh_completion(all_commands()));
    EXPECT_EQ(read_text(scratch / "share/fish/vendor_completions.d/smemtune.fish"), fish_completion(all_commands()));
}

TEST(Completion, OfAnUnknownShellNamesTheKnownOnes) {
    const Scratch scratch;
    for (const auto& shell : completed_shells()) {
        const auto printed = run(scratch, {"completion", shell.name});
        EXPECT_EQ(printed.code, 0);
        EXPECT_EQ(printed.out, shell.completion(all_commands()));
        EXPECT_THAT(run(scratch, {"completion"}).err, HasSubstr(shell.name));
    }
    const auto unknown = run(scratch, {"completion", "bahs"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("'bahs' is unknown; did you mean 'bash'?"));
    EXPECT_EQ(run(scratch, {"completion"}).code, 2);
}

}  // namespace
}  // namespace smemtune
