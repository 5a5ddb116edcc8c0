// Tests that the manual pages describe every command and option, and that groff renders them without a warning.
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "tests/tuner/support.h"
#include "tuner/manual/man_page.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<DocumentedCommand>& all_documented() {
    static const auto commands = documented_commands();
    return commands;
}
const std::vector<ManPage>& all_pages() {
    static const auto pages = man_pages(program_help(), all_documented());
    return pages;
}

TEST(ManPage, IsThereForTheProgramAndForEachCommandWithItsOptions) {
    ASSERT_EQ(all_pages().size(), all_documented().size() + 1);
    EXPECT_EQ(all_pages()[0].name, "smemtune");
    for (std::size_t i = 0; i < all_documented().size(); ++i) {
        const auto& command = all_documented()[i];
        const auto& page = all_pages()[i + 1];
        auto name = "smemtune-" + command.name;
        std::ranges::replace(name, ' ', '-');
        EXPECT_EQ(page.name, name);
        EXPECT_THAT(page.text, HasSubstr(".SH DESCRIPTION\n" + roff_text(command.help.summary) + "\n"));
        EXPECT_THAT(page.text, HasSubstr(roff_text(command.help.notes)));
        for (const auto& option : command.options) {
            EXPECT_THAT(page.text, HasSubstr("\\fB\\-\\-" + roff_text(option.name) + "\\fR")) << name;
            EXPECT_THAT(page.text, HasSubstr("\n" + roff_text(explanation(option)) + "\n")) << name;
            if (!option.letter.empty()) {
                EXPECT_THAT(page.text, HasSubstr("\\fB\\-" + option.letter + "\\fR, "));
            }
        }
        for (const auto& rows : {command.help.examples, command.help.columns}) {
            for (const auto& row : rows) {
                EXPECT_THAT(page.text, HasSubstr("\\fB" + roff_text(row.term) + "\\fR\n")) << name;
                EXPECT_THAT(page.text, HasSubstr(roff_text(row.text))) << name;
            }
        }
    }
}

TEST(ManPage, OfTheProgramHasAllThatTheHelpSays) {
    const auto& page = all_pages()[0].text;
    for (const auto& command : all_documented()) EXPECT_THAT(page, HasSubstr("\n" + roff_text(command.summary) + "\n"));
    for (const auto& rows : {program_help().examples, program_help().exit_codes, program_help().variables}) {
        for (const auto& row : rows) {
            EXPECT_THAT(page, HasSubstr("\n\\fB" + roff_text(row.term) + "\\fR\n" + roff_text(row.text) + "\n"));
        }
    }
    for (const auto* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXAMPLES", "FILES",
                                "ENVIRONMENT", "EXIT STATUS", "SEE ALSO"}) {
        EXPECT_THAT(page, HasSubstr(std::string("\n.SH ") + section + "\n"));
    }
    EXPECT_THAT(page, AllOf(HasSubstr("\\(ti/.local/share/smemtune/tuning.db"), Not(HasSubstr("worker\\fR(1)"))));
}

// A manual page shows an optional value in brackets, and a required value without brackets.
TEST(ManPage, ShowsTheValuesOfOptions) {
    const auto pages = man_pages(
        {}, std::vector<DocumentedCommand>{{.name = "tune",
                                            .options = {{.name = "size", .value = "N", .summary = "How many."},
                                                        {.name = "serve", .value = "PORT", .implicit = "1"},
                                                        {.name = "wide", .letter = "w"}}}});
    EXPECT_THAT(pages[1].text, HasSubstr("\n.TP\n\\fB\\-\\-size\\fR \\fIN\\fR\nHow many.\n"));
    EXPECT_THAT(pages[1].text, HasSubstr("\n\\fB\\-\\-serve\\fR [\\fIPORT\\fR]\n"));
    EXPECT_THAT(pages[1].text, HasSubstr("\n\\fB\\-w\\fR, \\fB\\-\\-wide\\fR\n"));
}

TEST(ManPage, TextStaysAsItIs) {
    EXPECT_EQ(roff_text("--db"), "\\-\\-db");
    EXPECT_EQ(roff_text(".TH 'a'\n.b\n'c"), "\\&.TH \\(aqa\\(aq\n.br\n\\&.b\n.br\n\\&\\(aqc");
    EXPECT_EQ(roff_text("a\\b ~/^`\""), "a\\eb \\(ti/\\(ha\\(ga\\(dq");
}

TEST(ManPage, HasOnlyKnownRequestsAndEscapes) {
    const std::regex request(R"(\.(TH .+|SH [A-Z ]+|TP|PP|br|nh|ad l))");
    const std::regex escapes(R"(\\(f[BIR]|-|e|&|\((aq|dq|ga|ha|ti)))");
    for (const auto& page : all_pages()) {
        EXPECT_EQ(std::regex_replace(page.text, escapes, "").find('\\'), std::string::npos) << page.name;
        std::istringstream lines(page.text);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_FALSE(line.empty()) << page.name;
            EXPECT_FALSE(line.starts_with('\'')) << page.name << ": " << line;
            if (line.starts_with('.')) {
                EXPECT_TRUE(std::regex_match(line, request)) << page.name << ": " << line;
            }
        }
    }
}

TEST(ManPage, RefersToPagesThatAreThere) {
    std::set<std::string> names;
    for (const auto& page : all_pages()) names.insert(roff_text(page.name));
    const std::regex reference(R"(\\fB([^ \n]+)\\fR\(1\))");
    for (const auto& page : all_pages()) {
        const std::sregex_iterator found(page.text.begin(), page.text.end(), reference);
        EXPECT_NE(found, std::sregex_iterator()) << page.name;
        for (auto at = found; at != std::sregex_iterator(); ++at) EXPECT_TRUE(names.contains((*at)[1])) << (*at)[1];
    }
}

TEST(ManPage, IsRenderedWithoutAWarning) {
    const auto installed = std::system("command -v groff >/dev/null") == 0;  // NOLINT(concurrency-mt-unsafe)
    if (!installed) GTEST_SKIP() << "groff is not installed";
    const Scratch scratch;
    ASSERT_EQ(run(scratch, {"man", "--to", "pages"}).code, 0);
    for (const auto& page : all_pages()) {
        const auto log = scratch / "log";
        const auto command =
            "groff -man -ww -z -Tutf8 '" + scratch / ("pages/man1/" + page.name + ".1") + "' >'" + log + "' 2>&1";
        EXPECT_EQ(std::system(command.c_str()), 0) << page.name;  // NOLINT(concurrency-mt-unsafe)
        EXPECT_EQ(read_text(log), "") << page.name;
    }
}

TEST(ManCommand, PrintsThePageThatIsNamed) {
    const Scratch scratch;
    EXPECT_EQ(run(scratch, {"man"}).out, all_pages()[0].text);
    EXPECT_THAT(run(scratch, {"man", "tune"}).out, HasSubstr(".TH SMEMTUNE\\-TUNE 1"));
    EXPECT_THAT(run(scratch, {"man", "db", "trials"}).out, HasSubstr(".TH SMEMTUNE\\-DB\\-TRIALS 1"));
    const auto unknown = run(scratch, {"man", "tone"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("command 'tone' is unknown; did you mean 'tune'?"));
    EXPECT_EQ(run(scratch, {"man", "worker"}).code, 2);
}

TEST(ManCommand, WritesEveryPageIntoAFolder) {
    const Scratch scratch;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run(scratch, {"man", "--to", "a/man"}, {{"SMEMTUNE_DB", "/x.db"}}).code, 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "a/man/man1"))
        files += entry.exists() ? 1 : 0;
    EXPECT_EQ(files, all_pages().size());
    for (const auto& page : all_pages()) EXPECT_EQ(read_text(scratch / ("a/man/man1/" + page.name + ".1")), page.text);
}

TEST(ManCommand, SaysWhatItCannotWrite) {
    const Scratch scratch;
    write_text(scratch / "file", "");
    for (const auto* command : {"man", "completion"}) {
        const auto blocked = run(scratch, {command, "--to", "file"});
        EXPECT_EQ(blocked.code, 2);
        EXPECT_THAT(blocked.err, AllOf(HasSubstr("--to: file/"), HasSubstr("cannot be written")));
    }
    EXPECT_EQ(run(scratch, {"man", "tune", "--to", "pages"}).code, 2);
    EXPECT_EQ(run(scratch, {"completion", "bash", "--to", "pages"}).code, 2);
    EXPECT_FALSE(std::filesystem::exists(scratch / "pages"));
}

}  // namespace
}  // namespace smemtune
