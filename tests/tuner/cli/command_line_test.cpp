// Tests mistakes in the user's input. Each gives the documented exit code and a message of one line, and changes no
// file.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include <SQLiteCpp/Database.h>

#include "runtime/backend.h"
#include "tests/tuner/support.h"
#include "tuner/commands/command.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

struct Mistake {
    Words words;
    int code;
    std::string says;  // part of the error message
    Variables variables{};
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
    for (const auto& word : mistake.words) *out << word << ' ';
}

// Writes all files and folders that the tests below name. Most of the databases and template folders have one defect
// each.
void lay_out(const Scratch& scratch) {
    for (const auto* folder : {"empty", "folder", "mixed", "broken", "unknown_key", "no_source", "bad_rule"}) {
        std::filesystem::create_directories(scratch / folder);
    }
    write_text(scratch / "text.db", "not a database, whatever its name says, and long enough to look at\n");
    write_text(scratch / "empty.db", "");
    { const Store store(scratch / "good.db"); }
    std::filesystem::copy_file(scratch / "good.db", scratch / "newer.db");
    std::filesystem::copy_file(scratch / "good.db", scratch / "corrupt.db");
    SQLite::Database(std::filesystem::path(scratch / "newer.db").string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA user_version = 99; UPDATE compatibility SET oldest_reader = 99");
    std::fstream corrupt(scratch / "corrupt.db", std::ios::in | std::ios::out | std::ios::binary);
    corrupt.seekp(4096);
    corrupt << std::string(8192, '\xa5');

    const std::string header = R"({"tune_params_keys": ["A"], "cache": {)";
    write_text(scratch / "cache.json", header + R"("1": {"A": 1, "time": 2.5}, "2": {"A": 2, "time": 1.5}}})");
    write_text(scratch / "list.json", "[1, 2]");
    write_text(scratch / "other.json", header + R"("7": {"A": 7, "time": 2.5}}})");

    const std::string good =
        "[template]\nname = 'mine'\noperation = 'gemm'\ntypes = ['f32']\n[launch]\nblock = ['1']\n"
        "grid = ['1']\n[requires]\nhost = true\n";
    auto transpose = good;
    transpose.replace(transpose.find("gemm"), 4, "transpose").replace(transpose.find("mine"), 4, "turn");
    write_text(scratch / "mixed/mine.toml", good);
    write_text(scratch / "mixed/mine.cu", "");
    write_text(scratch / "mixed/turn.toml", transpose);
    write_text(scratch / "mixed/turn.cu", "");
    write_text(scratch / "broken/mine.toml", "[template]\nname = 'mine\n");
    write_text(scratch / "unknown_key/mine.toml", good + "[model]\nphase = '1'\n");
    write_text(scratch / "unknown_key/mine.cu", "");
    write_text(scratch / "no_source/mine.toml", good);
    write_text(scratch / "bad_rule/mine.toml", good + "[[constraint]]\nrule = '1 +'\nreason = 'none'\n");
    write_text(scratch / "bad_rule/mine.cu", "");
}

class BadInput : public ::testing::TestWithParam<Mistake> {};

TEST_P(BadInput, GivesItsExitCodeOneLineAndChangesNothing) {
    const Scratch scratch;
    lay_out(scratch);
    const auto before = scratch.contents();
    Running running(scratch, GetParam().words, GetParam().variables);
    if (!soon([&] { return running.ended(); })) running.signal(SIGKILL);  // the command ignored the mistake
    const auto finished = running.wait();
    EXPECT_EQ(finished.code, GetParam().code);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr(GetParam().says));
    // The first line that a tuning run prints may come before the error message.
    const auto last = finished.err.find("smemtune: ");
    ASSERT_NE(last, std::string::npos) << finished.err;
    EXPECT_THAT(finished.err.substr(0, last), ::testing::MatchesRegex("([^\n]*: [0-9]+ sizes?, [0-9]+ templates?\n)?"));
    EXPECT_EQ(finished.err.find('\n', last), finished.err.size() - 1) << finished.err;
    EXPECT_THAT(finished.err, Not(HasSubstr("what()")));
    EXPECT_THAT(finished.err, Not(HasSubstr("boost")));
    EXPECT_THAT(finished.err, Not(HasSubstr("json.exception")));
    const auto after = scratch.contents();
    for (const auto& [file, text] : after) EXPECT_TRUE(before.contains(file)) << file << " is new";
    for (const auto& [file, text] : before) {
        const auto now = after.find(file);
        EXPECT_TRUE(now != after.end() && now->second == text) << file << " has changed";
    }
}

constexpr int input = 2;
constexpr int environment = 3;
constexpr int database = 4;

// Returns a valid `tune` command for the host device, followed by `more`, which contains the mistake.
Mistake tuning(const Words& more, int code, const std::string& says, const Variables& variables = {}) {
    Words words{"tune", "--device", "host", "--db", "new.db"};
    words.insert(words.end(), more.begin(), more.end());
    return {words, code, says, variables};
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadInput,
    ::testing::Values(Mistake{{"tun"}, input, "there is no command 'tun'"},
                      Mistake{{"4096"}, input, "there is no command '4096'"}, Mistake{{""}, input, "no command"},
                      Mistake{{"--nonsense"}, input, "--nonsense"},
                      Mistake{{"--evalutions", "5"}, input, "no such option; did you mean '--evaluations'? See"},
                      Mistake{{"tun"}, input, "did you mean 'tune'? The commands are tune, portfolio, run"},
                      Mistake{{"db", "bets"}, input, "did you mean 'best'?"},
                      Mistake{{"help", "nope"}, input, "there is no command 'nope'"},
                      Mistake{{"4096"}, input, "to tune a size, write --sizes 4096"},
                      Mistake{{"tune", "--sizes"}, input, "--sizes"},
                      Mistake{{"tune", "4096"}, input, "'4096' is one word too many"},
                      Mistake{{"devices", "0"}, input, "'0' is one word too many"},
                      Mistake{{"devices", "--nonsense"}, input, "See 'smemtune devices --help'"},
                      Mistake{{"tune", "--seed", "x"}, input, "'x'"}, Mistake{{"tune", "--seed", "-1"}, input, "-1"},
                      Mistake{{"tune", "--device", "host", "--device", "0"}, input, "more than once"},
                      Mistake{{"worker"}, input, "--device"}));

INSTANTIATE_TEST_SUITE_P(
    Tune, BadInput,
    ::testing::Values(
        tuning({"--sizes", "abc"}, input, "--sizes 'abc'"), tuning({"--sizes", ""}, input, "--sizes ''"),
        tuning({"--sizes", "512..8192:"}, input, "--sizes '512..8192:'"),
        tuning({"--sizes", "0"}, input, "0 is not in"),
        tuning({"--sizes", "4096x4096"}, input, "has 2 extents where 3 are needed"),
        tuning({"--operation", "batched_gemm", "--sizes", "8x8x8"}, input,
               "has 3 extents where 4 are needed, BATCHxMxNxK"),
        tuning({"--sizes", "512,"}, input, "--sizes '512,': an entry of the list is empty"),
        tuning({"--sizes", "8192..512"}, input, "--sizes 8192..512: the range runs backwards; write 512..8192\n"),
        tuning({"--sizes", "2147483648"}, input, "2147483648 is not in"),
        tuning({"--sizes", "64,2147483647"}, input, "gemm f32 nn 2147483647x2147483647x2147483647 needs 1.718e+11 GiB"),
        Mistake{{"--device", "7", "--sizes", "64", "--db", "new.db"}, environment, "there is no device '7'"},
        Mistake{{"--device", "nonsense", "--db", "new.db"}, environment, "there is no device 'nonsense'; there is: "},
        Mistake{{"--device", "", "--db", "new.db"}, input, "--device '' is empty"},
        Mistake{{"--device", ",", "--db", "new.db"}, input, "--device names no device"},
        tuning({"--type", "f8"}, input, "type 'f8' is unknown; known: f32 f16 bf16"),
        tuning({"--operation", "batched_gemm", "--sizes", "2x8x8x8", "--type", "bf16"}, input,
               "no template can compute batched_gemm bf16"),
        tuning({"--layout", "xx"}, input, "xx"),
        tuning({"--layout", "tt", "--sizes", "64", "--templates", "tiled"}, input,
               "no template can compute gemm f32 tt"),
        tuning({"--search", "nope"}, input, "--search 'nope' is unknown. Known: auto, exhaustive, random"),
        tuning({"--search", "randon"}, input, "did you mean 'random'?"),
        tuning({"--evaluations", "0"}, input, "--evaluations 0 is less than 1"),
        tuning({"--evaluations", "-1"}, input, "--evaluations -1 is less than 1"),
        tuning({"--patience", "0"}, input, "--patience 0 is less than 1"),
        tuning({"--roofline", "0"}, input, "--roofline 0 is no share"),
        tuning({"--roofline", "101"}, input, "--roofline 101 is no share"),
        tuning({"--roofline", "90"}, input, "--roofline needs a GPU"),
        tuning({"--objective", "speed"}, input, "--objective 'speed' is unknown. Known: time, energy"),
        tuning({"--objective", "energy"}, input, "--objective energy needs a GPU"),
        tuning({"--validate", "1"}, input, "--validate 1 is less than 2"),
        tuning({"--evaluations", "abc"}, input, "'abc'"), tuning({"--budget", "5x"}, input, "duration '5x'"),
        tuning({"--budget", "0"}, input, "duration '0'"), tuning({"--budget", "-5s"}, input, "duration '-5s'"),
        tuning({"--budget", ""}, input, "--budget '' is empty; give a value, or leave out the option"),
        tuning({"--deadline", "soon"}, input, "duration 'soon'"),
        tuning({"--jobs", "0"}, input, "--jobs 0 is less than 1"), tuning({"--jobs", "many"}, input, "'many'"),
        tuning({"--jobs", "100000"}, input, "--jobs 100000 is more than"),
        tuning({"--templates", ""}, input, "--templates '' is empty; give a value, or leave out the option"),
        tuning({"--template", ""}, input, "--template '' is empty"), tuning({"--layout", ""}, input, "--layout '' is"),
        tuning({"--operation", ""}, input, "--operation '' is empty"),
        tuning({"--templates", "nope"}, input, "'nope' is neither a template nor a folder. The templates are "),
        tuning({"--templates", "tield"}, input, "did you mean 'tiled'?"),
        tuning({"--template", "tield"}, input, "there is no template 'tield'; did you mean 'tiled'?"),
        tuning({"--operation", "batched_gem"}, input, "did you mean 'batched_gemm'?"),
        tuning({"--templates", ","}, input, "--templates ',' names no template"),
        tuning({"--templates", "tiled,nope"}, input, "'nope'"),
        tuning({"--templates", "tiled,tiled_transpose"}, input, "compute both"),
        tuning({"--templates", "mixed"}, input, "compute both gemm and transpose"),
        tuning({"--templates", "empty"}, input, "'empty' holds no manifest"),
        tuning({"--templates", "broken"}, input, "mine.toml:2: not valid TOML"),
        tuning({"--templates", "unknown_key"}, input, "mine.toml:11: [model] has an unknown key 'phase'"),
        tuning({"--templates", "no_source"}, input, "'mine.cu' is missing"),
        tuning({"--templates", "bad_rule"}, input, "mine.toml:11: [[constraint]] 'rule': "),
        tuning({"--operation", "stencil"}, input, "no template computes the operation 'stencil'"),
        tuning({"--templates", "tiled", "--operation", "transpose"}, input, "the operation 'transpose'"),
        tuning({}, environment, "name another one in CXX", {{"CXX", "/no/such/compiler"}}),
        tuning({}, environment, "'/bin/false' does not run", {{"CXX", "/bin/false"}}),
        Mistake{{"--device", "host"}, input, "give --db FILE or set SMEMTUNE_DB", {{"HOME", Running::unset}}}));

INSTANTIATE_TEST_SUITE_P(
    Explain, BadInput,
    ::testing::Values(
        Mistake{{"explain"}, input, "explain needs a template, a size or a trial"},
        Mistake{{"explain", "nope"}, input, "there is no template 'nope'"},
        Mistake{{"explain", "tiled", "more"}, input, "'more' is one word too many"},
        Mistake{{"explain", "tiled", "--config", "WIDTH=16", "--device", "sm_90"}, input, "no parameter 'WIDTH'"},
        Mistake{{"explain", "tiled", "--config", "TILE_WIDTH", "--device", "sm_90"}, input, "is not NAME=VALUE"},
        Mistake{{"explain", "tiled", "--config", "TILE_WIDTH=x", "--device", "sm_90"},
                input,
                "--config: 'TILE_WIDTH=x' is no value"},
        Mistake{{"explain", "tiled", "--config", "TILE_WIDTH=0", "--device", "sm_90"}, input, "zero"},
        Mistake{{"explain", "tiled", "--device", "sm_1"}, input, "not a known model; known: sm_75"},
        Mistake{{"explain", "tiled", "--device", "h100"}, environment, "there is no device 'h100'"},
        Mistake{{"explain", "tiled", "--device", "threads=1"}, input, "device limit 'threads' is unknown; known: "},
        Mistake{{"explain", "tiled", "--device", "sm_90,warp_size=0"}, input, "warp_size"},
        Mistake{{"explain", "tiled", "--device", "warp_size=-1"}, input, "warp_size"},
        Mistake{{"explain", "tiled", "--size", "1,2", "--device", "host"},
                input,
                "1,2 has several sizes, and one size is needed"},
        Mistake{{"explain", "tiled", "--size", "x", "--device", "host"}, input, "--sizes 'x'"},
        Mistake{{"explain", "mine", "--templates", "broken"}, input, "mine.toml:2"},
        Mistake{{"templates", "nope"}, input, "there is no template 'nope'"},
        Mistake{{"templates", "tiled", "--size", "1..8", "--device", "host"}, input, "one size is needed"},
        Mistake{{"templates", "--templates", "nope"}, input, "'nope' is neither"}));

INSTANTIATE_TEST_SUITE_P(
    Run, BadInput,
    ::testing::Values(
        Mistake{{"run"}, input, "run needs --sizes"},
        Mistake{{"run", "--size", "1,2", "--device", "host"},
                input,
                "--sizes 1,2 has several sizes, and one size is needed"},
        Mistake{{"run", "--size", "4x4", "--device", "host"}, input, "has 2 extents"},
        Mistake{{"run", "--size", "1000000", "--device", "host", "--db", "a"}, input, "needs 3.725e+04 GiB"},
        Mistake{{"run", "--size", "4", "--device", "9"}, environment, "there is no device '9'"},
        Mistake{{"run", "--size", "4", "--device", "host", "--operation", "no"}, input, "operation 'no'"},
        Mistake{{"run", "--size", "4", "--device", "host", "--template", "no", "--db", "a"},
                input,
                "there is no template 'no'"},
        Mistake{{"run", "--size", "4x4x4", "--device", "host", "--template", "tiled_transpose", "--db", "a"},
                input,
                "has 3 extents where 2"},
        Mistake{{"run", "--size", "4", "--device", "host", "--type", "f8", "--db", "a"}, input, "f8"},
        Mistake{{"run", "--size", "4", "--device", "host", "--layout", "xx", "--db", "a"}, input, "xx"},
        Mistake{{"run", "--size", "4", "--device", "host", "--db", "text.db"}, database, "is not a database"},
        Mistake{{"run", "--size", "4", "--device", "host", "--db", "a"}, environment, "CXX", {{"CXX", "/bin/false"}}}));

// Returns a valid `bench` command with good.db, which is empty, followed by `more`, which contains the mistake.
Mistake benching(const Words& more, int code, const std::string& says) {
    Words words{"bench", "--device", "host", "--db", "good.db"};
    words.insert(words.end(), more.begin(), more.end());
    return {words, code, says};
}

INSTANTIATE_TEST_SUITE_P(
    Bench, BadInput,
    ::testing::Values(
        benching({}, input, "no winner of gemm f32 on host: "),
        benching(
            {"--operation", "batched_gemm", "--layout", "nt"}, input,
            "tune first: smemtune --device host --operation batched_gemm --sizes auto --layout nt --db good.db, or"),
        benching({"more"}, input, "'more' is one word too many"), benching({"--sizes", "4x4"}, input, "has 2 extents"),
        benching({"--type", "bf16"}, input, "bf16"), benching({"--layout", "xx", "--sizes", "4"}, input, "xx"),
        benching({"--layout", "xx"}, input, "xx"), benching({"--operation", "no"}, input, "operation 'no'"),
        benching({"--templates", "no"}, input, "'no'"),
        benching({"--against", "none.db"}, input, "--against 'none.db' is neither cublas, cublaslt nor a file"),
        benching({"--against", "folder"}, input, "'folder' is neither cublas"),
        benching({"--against", "cache.json", "--sizes", "4"}, input,
                 "cache.json: it is not what 'smemtune bench --json'"),
        benching({"--against", "list.json", "--sizes", "4"}, input, "list.json is no JSON object"),
        benching({"--against", "text.db", "--sizes", "4"}, database, "text.db: is not a database"),
        benching({"--cache", "hot"}, input, "--cache 'hot' is unknown. Known: cold, warm, both"),
        benching({"--pairs", "0"}, input, "--pairs 0 give no interval of 95 % confidence; take 6 or more"),
        benching({"--proposals", "0"}, input, "--proposals 0 is less than 1"),
        benching({"--json", "no/folder/x.json"}, input, "--json no/folder/x.json cannot be written"),
        benching({"--json", "folder"}, input, "--json folder cannot be written"),
        Mistake{{"bench", "--device", "9", "--db", "good.db"}, environment, "there is no device '9'"},
        Mistake{{"bench", "--device", "host", "--db", "none.db"}, input, "is in none.db; tune first"},
        Mistake{{"bench", "--device", "host", "--db", "text.db"}, database, "text.db: is not a database"},
        Mistake{{"bench", "--device", "host"}, input, "HOME is not set; give --db FILE", {{"HOME", Running::unset}}}));

INSTANTIATE_TEST_SUITE_P(
    Database, BadInput,
    ::testing::Values(
        Mistake{{"db", "nope"}, input, "db 'nope' is unknown. Known: list, best, trials, show"},
        Mistake{{"db", "show", "--db", "good.db"}, input, "db show needs a trial's number"},
        Mistake{{"db", "show", "17", "--db", "good.db"}, input, "there is no trial 17"},
        Mistake{{"db", "show", "x", "--db", "good.db"}, input, "'x'"},
        Mistake{{"db", "best", "17", "--db", "good.db"}, input, "'17' is one word too many"},
        Mistake{{"db", "best", "good.db"}, input, "a database is named by --db good.db"},
        Mistake{{"db", "list", "--rejected"}, input, "--rejected: there is no such option"},
        Mistake{{"db", "list", "--db", "none.db"}, database, "none.db: does not exist; tune first"},
        Mistake{{"db", "list", "--db", "no/such/folder/none.db"}, database, "does not exist"},
        Mistake{{"db", "trials", "--db", "folder"}, database, "folder: is a directory"},
        Mistake{{"db", "best", "--db", "text.db"}, database, "text.db: is not a database"},
        Mistake{{"db", "best", "--db", "empty.db"}, database, "empty.db: is empty, not a database"},
        Mistake{{"db", "list", "--db", "newer.db"}, database, "was written by a newer smemtune (schema 99"},
        Mistake{{"db", "list", "--db", "corrupt.db"}, database, "corrupt"},
        Mistake{{"db", "list"}, database, "text.db: is not a database", {{"SMEMTUNE_DB", "text.db"}}},
        Mistake{{"db", "list"}, input, "HOME is not set; give --db FILE", {{"HOME", Running::unset}}},
        tuning({"--db", "folder"}, input, "more than once"),
        Mistake{{"--device", "host", "--templates", "tiled", "--db", "folder"}, database, "is a directory"},
        Mistake{{"--device", "host", "--templates", "tiled", "--db", "text.db"}, database, "is not a database"},
        Mistake{{"--device", "host", "--templates", "tiled", "--db", "newer.db"}, database, "newer smemtune"},
        Mistake{{"--device", "host", "--templates", "tiled", "--db", "corrupt.db"}, database, "corrupt"},
        Mistake{{"--device", "host", "--templates", "tiled", "--db", "text.db/x.db"}, database, "text.db/x.db"}));

// Returns a valid `simulate` command with cache.json, followed by `more`, which contains the mistake.
Mistake simulating(const Words& more, const std::string& says) {
    Words words{"simulate", "--landscape", "cache.json"};
    words.insert(words.end(), more.begin(), more.end());
    return {words, input, says};
}

INSTANTIATE_TEST_SUITE_P(
    Simulate, BadInput,
    ::testing::Values(
        Mistake{{"simulate"}, input, "simulate needs --landscape FILE"},
        Mistake{{"simulate", "--landscape", "none.json"}, input, "none.json: does not exist"},
        Mistake{{"simulate", "--landscape", "folder"}, input, "folder: is not a file"},
        Mistake{{"simulate", "--landscape", "text.db"}, input, "text.db: is not JSON"},
        Mistake{{"simulate", "--landscape", "empty.db"}, input, "empty.db: is empty"},
        Mistake{{"simulate", "--landscape", "good.db"}, input, "good.db: holds no trial"},
        Mistake{{"simulate", "--landscape", "newer.db"}, database, "newer smemtune"},
        Mistake{{"simulate", "--landscape", "corrupt.db"}, database, "corrupt"},
        simulating({"--search", "nope"}, "--search 'nope' is unknown. Known: auto, exhaustive, random"),
        simulating({"--search", "random", "--compare"}, "leave --search out"),
        simulating({"--evaluations", "0"}, "--evaluations 0 is less than 1"),
        simulating({"--repeats", "-1"}, "--repeats -1 is less than 1"), simulating({"--repeats", "x"}, "'x'"),
        simulating({"--repeats", "10000000"}, "--repeats 10000000 is more than"),
        simulating({"--in-flight", "0"}, "--in-flight 0 is less than 1"), simulating({"--seed", "-1"}, "--seed -1"),
        simulating({"--start-from", "none.json"}, "none.json: does not exist"),
        simulating({"--start-from", "other.json"}, "other.json: none of its configurations is in the space"),
        simulating({"more"}, "'more' is one word too many")));

TEST(Help, OfTheProgramNamesEveryCommandAndExitCode) {
    const Scratch scratch;
    for (const Words& words : {Words{}, Words{"--help"}, Words{"-h"}, Words{"help"}}) {
        const auto finished = run(scratch, words);
        EXPECT_EQ(finished.code, 0);
        EXPECT_EQ(finished.err, "");
        for (const auto* part : {"tune", "run", "devices", "templates", "explain", "simulate", "db", "exit codes",
                                 "2    bad input", "130  interrupted", "SMEMTUNE_DB", "XDG_DATA_HOME", "CXX", "COMMIT",
                                 "TMPDIR", "--device 0 --sizes 512..8192"}) {
            EXPECT_THAT(finished.out, HasSubstr(part));
        }
    }
    EXPECT_THAT(run(scratch, {"--version"}).out, ::testing::MatchesRegex("smemtune [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

// Returns the words of each command, such as {"db", "best"}.
std::vector<Words> every_command() {
    std::vector<Words> all;
    for (const auto& command : commands()) {
        if (*command.summary != '\0') all.push_back({command.name});
    }
    for (const auto& command : database_commands()) all.push_back({"db", command.name});
    return all;
}

class EveryCommand : public ::testing::TestWithParam<Words> {};

TEST_P(EveryCommand, HasHelpWithAnExampleThatFitsTheWidth) {
    const Scratch scratch;
    auto asked = Words{"help"};
    asked.insert(asked.end(), GetParam().begin(), GetParam().end());
    for (const std::size_t columns : {80U, 100U}) {
        const Variables width{{"COLUMNS", std::to_string(columns)}};
        const auto finished = run(scratch, asked, width);
        EXPECT_EQ(finished.code, 0);
        EXPECT_EQ(finished.err, "");
        EXPECT_THAT(finished.out, HasSubstr("\n  smemtune ")) << "an example on a line of its own";
        EXPECT_THAT(finished.out, Not(HasSubstr(" arg\n"))) << "Boost's word for a value";
        std::istringstream lines(finished.out);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
        for (const auto* flag : {"--help", "-h"}) {
            auto words = GetParam();
            words.emplace_back(flag);
            EXPECT_EQ(run(scratch, words, width).out, finished.out);
        }
    }
    auto version = GetParam();
    version.emplace_back("--version");
    EXPECT_EQ(run(scratch, version).out, version_text());
}

INSTANTIATE_TEST_SUITE_P(Help, EveryCommand, ::testing::ValuesIn(every_command()), [](const auto& each) {
    auto name = each.param.size() == 1 ? each.param[0] : each.param[0] + "_" + each.param[1];
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(Help, OfTheProgramFitsTheWidthAndIsNeverWiderThan100) {
    const Scratch scratch;
    for (const auto& [asked, most] : std::map<std::string, std::size_t>{{"80", 80}, {"100", 100}, {"300", 100}}) {
        std::istringstream lines(run(scratch, {"--help"}, {{"COLUMNS", asked}}).out);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), most) << line;
    }
}

TEST(Help, ListsEveryCommand) {
    const Scratch scratch;
    const auto help = run(scratch, {}).out;
    for (const auto& words : every_command()) {
        const auto text = words.size() == 1 ? help : run(scratch, {"db", "--help"}).out;
        EXPECT_THAT(text, HasSubstr("\n  " + words.back() + " "));
    }
    EXPECT_THAT(help, Not(HasSubstr("\n  worker"))) << "smemtune alone starts it";
}

TEST(Help, OfTuneNamesTypesAndThePatience) {
    const Scratch scratch;
    const auto help = run(scratch, {"tune", "--help"}).out;
    EXPECT_THAT(help, HasSubstr("Type of the elements: 3xtf32, bf16, f16, f32, tf32."));
    EXPECT_THAT(help, HasSubstr("--patience N "));
}

TEST(Commands, WithJsonPrintJson) {
    const Scratch scratch;
    for (const Words& words :
         {Words{"devices"}, Words{"templates"}, Words{"templates", "tiled"}, Words{"explain", "tiled"}}) {
        auto with_json = words;
        with_json.emplace_back("--json");
        const auto finished = run(scratch, with_json);
        EXPECT_EQ(finished.code, 0) << finished.err;
        EXPECT_TRUE(json::accept(finished.out)) << words.front();
    }
}

TEST(Commands, DevicesListsTheHostLast) {
    const Scratch scratch;
    const auto text = run(scratch, {"devices"});
    EXPECT_EQ(text.code, 0);
    EXPECT_THAT(text.out, HasSubstr("host"));
    EXPECT_EQ(json::parse(run(scratch, {"devices", "--json"}).out).at("devices").back().at("id"), "host");
}

TEST(Commands, TemplatesSaysWhatEachRuleRemoves) {
    const Scratch scratch;
    EXPECT_THAT(run(scratch, {"templates"}).out, HasSubstr("joint_tiled"));
    const auto one = run(scratch, {"templates", "naive", "--device", "sm_90"});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("BLOCK_X"));
    EXPECT_THAT(one.out, HasSubstr("30 configurations"));
    EXPECT_THAT(one.out, HasSubstr("BLOCK_X * BLOCK_Y >= 64"));
    const auto mine = run(scratch, {"templates", "work", "--templates", fixture("work"), "--size", "64"});
    EXPECT_EQ(mine.code, 0) << mine.err;
    EXPECT_THAT(mine.out, HasSubstr("9 configurations, 9 of them valid"));
}

TEST(Commands, SimulateReplaysEverySearchAndSaysWhatItStartedFrom) {
    const Scratch scratch;
    lay_out(scratch);
    const auto text = run(scratch, {"simulate", "--landscape", "cache.json", "--compare"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("2 configurations, 0 of them failed\noptimum 1.5 ms: A=2\n"));
    EXPECT_THAT(text.out, HasSubstr("\nexhaustive"));
    EXPECT_THAT(text.out, HasSubstr("\nrandom"));
    const auto finished = run(scratch, {"simulate", "--landscape", "cache.json", "--search", "exhaustive", "--json",
                                        "--evaluations", "80", "--start-from", "cache.json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto result = json::parse(finished.out);
    EXPECT_EQ(result.at("start"), (json{{"configuration", {{"A", "2"}}}, {"rank_in_sibling", 1}}));
    const auto& search = result.at("searches").at(0);
    EXPECT_EQ(search.at("search"), "exhaustive");
    EXPECT_EQ(search.at("evaluations_to_percent"), (json{{"90", 1.0}, {"95", 1.0}, {"99", 1.0}}));
    EXPECT_EQ(search.at("never_reached_percent").at("95"), 0);
    EXPECT_EQ(search.at("fraction_after"), (json{{"50", 1.0}, {"100", nullptr}, {"200", nullptr}}));
}

// Returns the value that follows `label` in the first line that begins with `label`.
std::string value_of(const std::string& text, const std::string& label) {
    const auto at = text.find("\n  " + label);
    if (at == std::string::npos) return "no line for " + label;
    const auto begin = text.find_first_not_of(' ', at + 3 + label.size());
    const auto value = text.substr(begin, text.find_first_of(" \n", begin) - begin);
    return value.substr(0, value.find_last_not_of(',') + 1);
}

TEST(Commands, ExplainPrintsTheTextbooksNumbers) {
    const Scratch scratch;
    const std::string textbook = "shared_bytes_per_multiprocessor=16384,threads_per_multiprocessor=1536";
    struct Row {
        std::string width, bytes, threads, by_shared, resident, loads, operations, ratio;
    };
    for (const auto& row : {Row{"16", "2,048", "256", "8", "6", "512", "8,192", "16"},
                            Row{"32", "8,192", "1,024", "2", "1", "2,048", "65,536", "32"}}) {
        const auto finished =
            run(scratch, {"explain", "tiled", "--config", "TILE_WIDTH=" + row.width, "--device", textbook});
        ASSERT_EQ(finished.code, 0) << finished.err;
        EXPECT_EQ(value_of(finished.out, "shared memory"), row.bytes);
        EXPECT_EQ(value_of(finished.out, "threads"), row.threads);
        EXPECT_EQ(value_of(finished.out, "by shared memory"), row.by_shared);
        EXPECT_EQ(value_of(finished.out, "resident"), row.resident);
        EXPECT_THAT(finished.out, HasSubstr("limited by threads"));
        EXPECT_EQ(value_of(finished.out, "loads from global"), row.loads);
        EXPECT_EQ(value_of(finished.out, "operations"), row.operations);
        EXPECT_EQ(value_of(finished.out, "operations per load"), row.ratio);
    }
    EXPECT_THAT(run(scratch, {"explain", "tiled", "--config", "TILE_WIDTH=16", "--device", textbook}).out,
                HasSubstr("(2 KiB"));
}

TEST(Commands, ExplainCountsSharedLoadsWhereTheModelHasThem) {
    const Scratch scratch;
    const auto counted = run(scratch, {"explain", "thread_tiled", "--device", "threads_per_multiprocessor=1536"}).out;
    EXPECT_THAT(value_of(counted, "loads from shared"), HasSubstr("2,560")) << "8 steps: 4 warps, 64 columns; 64 rows";
    EXPECT_THAT(run(scratch, {"explain", "tiled", "--device", "threads_per_multiprocessor=1536"}).out,
                Not(HasSubstr("loads from shared")));
}

TEST(Commands, SayWhenAutoFallsBackToTheHost) {
    if (list_devices().size() > 1) GTEST_SKIP() << "there is a GPU";
    const Scratch scratch;
    const auto small = run(scratch, {"run", "--sizes", "16", "--templates", "naive", "--db", "a.db"});
    EXPECT_EQ(small.code, 0) << small.err;
    EXPECT_THAT(small.err, HasSubstr("no GPU found: using the host CPU; its times say nothing about a GPU\n"));
    const auto asked_for = run(scratch, {"run", "--sizes", "16", "--device", "host", "--templates", "naive"});
    EXPECT_THAT(asked_for.err, Not(HasSubstr("no GPU found")));
    const auto large = run(scratch, {"run", "--sizes", "8192", "--db", "a.db"});
    EXPECT_EQ(large.code, 2);
    EXPECT_THAT(large.err,
                HasSubstr("minutes for each kernel on the host CPU; choose a smaller size, or write --device "
                          "host"));
    const auto limits = run(scratch, {"explain", "tiled"});
    EXPECT_THAT(limits.err, HasSubstr("using the limits of the host CPU; name a GPU's, such as --device sm_90\n"));
}

TEST(Commands, TakeTheOlderSpellings) {
    const Scratch scratch;
    for (const Words& spelling :
         {Words{"--sizes", "16", "--templates", "naive"}, Words{"--size", "16", "--template", "naive"},
          Words{"--size=16", "--template=naive"}}) {
        for (const auto* command : {"tune", "run", "bench"}) {
            Words words{command, "--device", "host", "--db", "a.db"};
            if (std::string(command) == "tune") words.insert(words.end(), {"--evaluations", "1"});
            words.insert(words.end(), spelling.begin(), spelling.end());
            const auto finished = run(scratch, words);
            EXPECT_EQ(finished.code, 0) << command << finished.err;
            EXPECT_THAT(finished.out, HasSubstr("naive")) << command;
        }
    }
}

TEST(Commands, RunServesTheBestOfTheTemplatesThatAreNamed) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch, {"--device", "host", "--sizes", "16", "--templates", "naive,tiled", "--evaluations", "4",
                            "--db", "a.db"})
                  .code,
              0);
    for (const auto& [list, served] :
         std::map<std::string, std::string>{{"tiled", "tiled"}, {"row_tile,naive", "naive"}}) {
        const auto finished =
            run(scratch, {"run", "--device", "host", "--sizes", "16", "--templates", list, "--db", "a.db", "--json"});
        ASSERT_EQ(finished.code, 0) << finished.err;
        EXPECT_THAT(finished.out, HasSubstr("\"" + served + "\"")) << "row_tile is untuned";
    }
}

}  // namespace
}  // namespace smemtune
