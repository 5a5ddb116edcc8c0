// Tests tuning as a user sees it: repeated runs, budgets, and the content of the database afterwards.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "templates/manifest/catalog.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a command that tunes tests/fixtures/work at 16x16 into t.db. `other` replaces or extends its options.
std::vector<std::string> tune_work(const std::map<std::string, std::string>& other = {}) {
    std::map<std::string, std::string> options{
        {"--device", "host"}, {"--templates", fixture("work")}, {"--sizes", "16"}, {"--db", "t.db"}};
    for (const auto& [name, value] : other) options[name] = value;
    std::vector<std::string> words{"tune", "--json"};
    for (const auto& [name, value] : options) {
        words.push_back(name);
        if (!value.empty()) words.push_back(value);
    }
    return words;
}

json report_of(const Finished& finished) {
    EXPECT_EQ(finished.code, 0) << finished.err;
    return json::parse(finished.out);
}

json trials_of(const Scratch& scratch, const std::string& database) {
    return json::parse(run(scratch, {"db", "trials", "--db", database, "--json"}).out).at("trials");
}

TEST(Tune, ASecondRunMeasuresNothing) {
    const Scratch scratch;
    const auto first = report_of(run(scratch, tune_work()));
    EXPECT_EQ(first.at("measured"), 9);
    EXPECT_EQ(first.at("ended"), "complete");
    const auto winner = winners_in(scratch / "t.db");
    EXPECT_EQ(winner, (std::vector<std::string>{"transpose f32 16x16 work WORK=1"}));
    const auto second = report_of(run(scratch, tune_work()));
    EXPECT_EQ(second.at("measured"), 0);
    EXPECT_EQ(second.at("recalled"), 9);
    EXPECT_EQ(second.at("problems").at(0).at("winner"), first.at("problems").at(0).at("winner"));
    EXPECT_EQ(winners_in(scratch / "t.db"), winner);
}

TEST(Tune, ATrialSaysWhatItCostTheCompilerAndTheWorker) {
    const Scratch scratch;
    (void)report_of(run(scratch, tune_work()));
    const auto trials = trials_of(scratch, "t.db");
    ASSERT_EQ(trials.size(), 9U);
    for (const auto& trial : trials) {
        EXPECT_GT(trial.at("compile_ms"), 0) << trial;
        EXPECT_GT(trial.at("verify_ms"), 0) << trial;
        const bool skipped = trial.at("measurement").at("cut_short") && !trial.contains("time_ms");
        EXPECT_TRUE(skipped || trial.at("time_ms") > 0) << trial;
        EXPECT_FALSE(trial.at("measurement").contains("energy_uj")) << "no counter on the host";
    }
}

TEST(Tune, ALargerRunPaysOnlyForWhatIsNew) {
    const Scratch scratch;
    EXPECT_EQ(report_of(run(scratch, tune_work({{"--evaluations", "4"}}))).at("measured"), 4);
    const auto all = report_of(run(scratch, tune_work()));
    EXPECT_EQ(all.at("recalled"), 4);
    EXPECT_EQ(all.at("measured"), 5);
    EXPECT_EQ(winners_in(scratch / "t.db"), (std::vector<std::string>{"transpose f32 16x16 work WORK=1"}));
}

TEST(Tune, ALaterRunThatFindsOnlyWorseLeavesTheWinner) {
    const Scratch scratch;
    (void)report_of(run(scratch, tune_work({{"--db", "all.db"}})));
    const auto best = std::vector<std::string>{"transpose f32 16x16 work WORK=1"};
    ASSERT_EQ(winners_in(scratch / "all.db"), best);
    // A run with one of these seeds tries only two of the nine configurations. The best of all nine must stay the
    // winner.
    for (const auto* seed : {"1", "2", "3", "4"}) {
        (void)report_of(
            run(scratch,
                tune_work({{"--db", "all.db"}, {"--search", "random"}, {"--evaluations", "2"}, {"--seed", seed}})));
        EXPECT_EQ(winners_in(scratch / "all.db"), best) << seed;
    }
}

TEST(Tune, AValueAddedToTheManifestCanBeFetchedWhenItWins) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("work"), folder);
    const auto manifest = folder / "work.toml";
    const auto full = read_text(manifest);
    auto fewer = full;
    const std::string values = "[64, 48, 32, 24, 16, 12, 1, 8, 4]";
    ASSERT_NE(fewer.find(values), std::string::npos);
    fewer.replace(fewer.find(values), values.size(), "[64, 48]");
    write_text(manifest, fewer);
    (void)report_of(run(scratch, tune_work({{"--templates", folder.string()}})));
    EXPECT_NE(winners_in(scratch / "t.db"), (std::vector<std::string>{"transpose f32 16x16 work WORK=1"}));
    write_text(manifest, full);
    (void)report_of(run(scratch, tune_work({{"--templates", folder.string()}})));
    const auto fetched = json::parse(
        run(scratch, {"run", "--operation", "transpose", "--size", "16", "--device", "host", "--db", "t.db", "--json"})
            .out);
    EXPECT_EQ(fetched.at("match"), "exact");
    EXPECT_EQ(fetched.at("configuration"), (json{{"WORK", 1}}));
}

// Replaces `from` by `to` in `file`.
void edit(const std::filesystem::path& file, const std::string& from, const std::string& to) {
    auto text = read_text(file);
    ASSERT_NE(text.find(from), std::string::npos) << from;
    write_text(file, text.replace(text.find(from), from.size(), to));
}

TEST(Tune, ATemplateOfAFolderIsFetchedByItsName) {
    const Scratch scratch;
    const auto fetched = report_of(run(scratch, {"run", "--size", "16", "--device", "host", "--templates",
                                                 fixture("work"), "--template", "work", "--db", "none.db", "--json"}));
    EXPECT_EQ(fetched.at("template"), "work");
    EXPECT_EQ(fetched.at("correct"), true);
}

TEST(Tune, AddingToAManifestPaysOnlyForWhatIsNewAndEditingTheSourceForAll) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("work"), folder);
    const auto tuned = [&](int recalled, int measured) {
        const auto report = report_of(run(scratch, tune_work({{"--templates", folder.string()}})));
        EXPECT_EQ(report.at("recalled"), recalled);
        EXPECT_EQ(report.at("measured"), measured);
    };
    edit(folder / "work.toml", "[64, 48, 32, 24, 16, 12, 1, 8, 4]", "[64, 1]");
    tuned(0, 2);
    edit(folder / "work.toml", "[64, 1]", "[64, 12, 1]");
    tuned(2, 1);
    edit(folder / "work.toml", "[launch]",
         "[[parameter]]\nname = \"ORDER\"\nvalues = [0, 1]\ndefault = 1\nsummary = \"new\"\n\n[launch]");
    tuned(3, 3);
    tuned(6, 0);
    const auto fetched = json::parse(
        run(scratch, {"run", "--operation", "transpose", "--size", "16", "--device", "host", "--db", "t.db", "--json"})
            .out);
    EXPECT_EQ(fetched.at("match"), "exact");
    EXPECT_EQ(fetched.at("configuration").at("WORK"), 1);
    edit(folder / "work.cu", "// work:", "// worked over:");
    tuned(0, 6);
}

// `same_code` in the manifest lists the hashes of template versions that have equal machine code.
TEST(Tune, AnEditThatKeepsTheMachineCodeKeepsTheTrials) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("work"), folder);
    const auto hash = [&] { return load_templates(read_sources(folder)).at(0).hash; };
    const auto tuned = [&] { return report_of(run(scratch, tune_work({{"--templates", folder.string()}}))); };
    EXPECT_EQ(tuned().at("measured"), 9);
    const auto before = hash();
    edit(folder / "work.cu", "// work:", "// in better words:");
    edit(folder / "work.toml", "[template]", "[template]\nsame_code = [\"" + before + "\", \"" + hash() + "\"]");
    for (const std::string name : {"", "work"}) {
        std::vector<std::string> words{"run",  "--operation", "transpose", "--size",      "16",   "--device",
                                       "host", "--db",        "t.db",      "--templates", folder, "--json"};
        if (!name.empty()) words.insert(words.end(), {"--template", name});
        EXPECT_EQ(report_of(run(scratch, words)).at("match"), "exact") << "read only; named: '" << name << "'";
    }
    EXPECT_EQ(tuned().at("measured"), 0);
    EXPECT_EQ(tuned().at("recalled"), 9);
}

TEST(Tune, RuntimeParametersAreTunedAndLaunchedWithoutCompilingAgain) {
    const Scratch scratch;
    const std::vector<std::string> more{"--templates", fixture("grouped"), "--device", "host", "--db", "t.db",
                                        "--json"};
    std::vector<std::string> words{"tune", "--sizes", "1000"};
    words.insert(words.end(), more.begin(), more.end());
    const auto report = report_of(run(scratch, words));
    EXPECT_EQ(report.at("measured"), 8) << "every one is told the right values, in the right order";
    EXPECT_TRUE(report.at("rejected").empty()) << report;
    std::set<double> compiles;
    for (const auto& trial : trials_of(scratch, "t.db")) {
        compiles.insert(trial.at("compile_ms").get<double>());
        EXPECT_TRUE(trial.at("configuration").contains("GROUP"));
    }
    EXPECT_EQ(compiles.size(), 2U) << "one program for each THREADS";
    for (const auto* size : {"1000", "777"}) {
        std::vector<std::string> fetch{"run", "--operation", "grouping", "--size", size};
        fetch.insert(fetch.end(), more.begin(), more.end());
        const auto fetched = report_of(run(scratch, fetch));
        EXPECT_EQ(fetched.at("correct"), true);
        EXPECT_EQ(fetched.at("match"), std::string(size) == "1000" ? "exact" : "nearest");
        EXPECT_TRUE(fetched.at("configuration").contains("GROUP"));
    }
}

TEST(Tune, RetuneMeasuresAgainAndKeepsOtherSizes) {
    const Scratch scratch;
    (void)report_of(run(scratch, tune_work({{"--sizes", "16,32"}})));
    const auto again = report_of(run(scratch, tune_work({{"--retune", ""}})));
    EXPECT_EQ(again.at("measured"), 9);
    EXPECT_EQ(again.at("recalled"), 0);
    EXPECT_EQ(trials_in(scratch / "t.db"), 18);
    EXPECT_EQ(winners_in(scratch / "t.db").size(), 2U);
}

TEST(Tune, RandomSearchUnderALimitTriesThatManyAndDiffersBySeed) {
    const Scratch scratch;
    const auto tried = [&](const std::string& seed) {
        const auto db = "seed" + seed + ".db";
        (void)report_of(
            run(scratch, tune_work({{"--db", db}, {"--search", "random"}, {"--seed", seed}, {"--evaluations", "3"}})));
        std::string text;
        for (const auto& trial : trials_of(scratch, db)) {
            text += trial.at("configuration").dump();
        }
        return text;
    };
    const auto one = tried("1");
    EXPECT_EQ(std::ranges::count(one, '{'), 3);
    EXPECT_NE(one, tried("2"));
}

TEST(Tune, EachSizeSaysWhyItEnded) {
    const Scratch scratch;
    const auto ended = [&](const std::map<std::string, std::string>& options) {
        const auto report = report_of(run(scratch, tune_work(options)));
        EXPECT_EQ(report.at("ended"), "complete");
        return report.at("problems").at(0).at("ended").get<std::string>();
    };
    EXPECT_EQ(ended({{"--db", "a.db"}, {"--evaluations", "3"}}), "evaluations");
    EXPECT_EQ(ended({{"--db", "b.db"}, {"--patience", "2"}}), "gain unlikely");
    EXPECT_LT(trials_in(scratch / "b.db"), 9);
    EXPECT_EQ(ended({{"--db", "b.db"}}), "all tried");
    EXPECT_EQ(ended({{"--db", "c.db"}, {"--search", "random"}, {"--patience", "1"}}), "all tried")
        << "who asks for everything gets it";
}

TEST(Tune, RunTimeParametersAreSweptOnceAndWithinTheLimit) {
    const Scratch scratch;
    const auto swept = [&](const std::map<std::string, std::string>& options) {
        auto all = options;
        all["--templates"] = fixture("grouped");
        return report_of(run(scratch, tune_work(all))).at("problems").at(0).at("evaluations").get<int>();
    };
    EXPECT_EQ(swept({{"--db", "all.db"}, {"--search", "exhaustive"}}), 8);
    EXPECT_EQ(swept({{"--db", "auto.db"}}), 8);
    EXPECT_EQ(swept({{"--db", "few.db"}, {"--evaluations", "3"}}), 3);
}

// The database looks as if a run was killed between its last trial and its finals. The next run must replace the older,
// slower winner.
TEST(Tune, TrialsThatAnotherRunLeftWithoutFinalsGetThem) {
    const Scratch scratch;
    (void)report_of(run(scratch, tune_work({{"--evaluations", "9"}, {"--search", "exhaustive"}})));
    {
        Store store(scratch / "t.db");
        const auto rows = store.rows({});
        const auto slowest = std::ranges::find_if(rows.rbegin(), rows.rend(), [](const TrialRow& row) {
                                 return row.record.is_verified();
                             })->record;
        store.set_winner(slowest.key, slowest.configuration, std::nullopt);
    }
    ASSERT_NE(winners_in(scratch / "t.db"), (std::vector<std::string>{"transpose f32 16x16 work WORK=1"}));
    EXPECT_EQ(report_of(run(scratch, tune_work())).at("measured"), 0);
    EXPECT_EQ(winners_in(scratch / "t.db"), (std::vector<std::string>{"transpose f32 16x16 work WORK=1"}));
}

TEST(Tune, AFinishedRunIsFinishedAlsoForASearchThatLearns) {
    const Scratch scratch;
    for (int again = 0; again < 2; ++again) {
        const auto report = report_of(run(scratch, tune_work({{"--patience", "3"}, {"--sizes", "16,32"}})));
        EXPECT_EQ(report.at("recalled"), again == 0 ? 0 : trials_in(scratch / "t.db"));
        EXPECT_EQ(report.at("measured"), again == 0 ? trials_in(scratch / "t.db") : 0);
    }
}

// At size 16, the space has 101 configurations, and a short search misses the best one. At size 32, the space
// has three configurations.
TEST(Tune, WhatALaterSizeFindsWinsAtAnEarlierOneToo) {
    const Scratch scratch;
    std::map<std::string, std::string> options{
        {"--templates", fixture("hidden")}, {"--search", "local"}, {"--patience", "4"}, {"--sizes", "16"}};
    const auto winner = [](const json& report, std::size_t problem) {
        return report.at("problems").at(problem).at("winner").at("configuration").at("WORK").get<int>();
    };
    options["--db"] = "alone.db";
    const auto alone = report_of(run(scratch, tune_work(options)));
    EXPECT_EQ(winner(alone, 0), 64);

    options["--db"] = "t.db";
    options["--sizes"] = "16,32";
    const auto both = report_of(run(scratch, tune_work(options)));
    EXPECT_EQ(winner(both, 0), 1);
    EXPECT_EQ(winner(both, 1), 1);
    EXPECT_EQ(both.at("measured"), trials_in(scratch / "t.db"));
    EXPECT_EQ(both.at("problems").at(0).at("ended"), "gain unlikely");
    EXPECT_EQ(both.at("ended"), "complete");

    const auto winners = winners_in(scratch / "t.db");
    const auto again = report_of(run(scratch, tune_work(options)));
    EXPECT_EQ(again.at("measured"), 0);
    EXPECT_EQ(again.at("recalled"), both.at("measured"));
    EXPECT_EQ(winners_in(scratch / "t.db"), winners);
}

// A run transfers winners between sizes only if its searches tried at least one configuration that was not stored yet.
// Rejected trials count, too. Sizes 16 and 32 are tuned in runs of their own, so the searches of the run with sizes 16,
// 32 and 48 have new trials only at size 48. All of these are rejected, because every kernel gives wrong results there.
// The run must still try the winner of size 32 at size 16.
TEST(Tune, RejectionsCountAsTriedBetweenSizes) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("hidden"), folder);
    auto source = read_text(folder / "hidden.cu");
    const std::string first = "    const int column";
    source.insert(source.find(first), "    if (M == 48) return;\n");
    write_text(folder / "hidden.cu", source);
    std::map<std::string, std::string> options{
        {"--templates", folder}, {"--search", "local"}, {"--patience", "4"}, {"--sizes", "16"}};
    (void)report_of(run(scratch, tune_work(options)));
    options["--sizes"] = "32";
    (void)report_of(run(scratch, tune_work(options)));
    options["--sizes"] = "16,32";
    EXPECT_EQ(report_of(run(scratch, tune_work(options))).at("measured"), 0);
    options["--sizes"] = "16,32,48";
    const auto all = run(scratch, tune_work(options));
    EXPECT_EQ(all.code, 1) << "a size has no winner";
    const auto report = json::parse(all.out);
    EXPECT_EQ(report.at("measured"), 1);
    EXPECT_EQ(report.at("problems").at(0).at("winner").at("configuration").at("WORK"), 1);
}

TEST(Tune, ALimitOfEvaluationsHoldsBetweenSizesToo) {
    const Scratch scratch;
    const auto report = report_of(run(scratch, tune_work({{"--templates", fixture("hidden")},
                                                          {"--search", "local"},
                                                          {"--evaluations", "3"},
                                                          {"--sizes", "16,32"}})));
    EXPECT_EQ(report.at("measured"), 6);
    EXPECT_EQ(report.at("problems").at(0).at("winner").at("configuration").at("WORK"), 64);
}

TEST(Tune, ASpentBudgetIsSaidAndTheSameCommandGoesOn) {
    const Scratch scratch;
    const auto cut = run(scratch, tune_work({{"--sizes", "16..2048"}, {"--budget", "1s"}}));
    EXPECT_EQ(cut.code, 0);
    EXPECT_THAT(cut.err, HasSubstr("the budget is spent; run the same command to go on"));
    const auto report = json::parse(cut.out);
    EXPECT_EQ(report.at("ended"), "budget");
    EXPECT_LT(report.at("measured"), report.at("planned"));
    EXPECT_EQ(report.at("measured"), trials_in(scratch / "t.db"));
    EXPECT_GT(report_of(run(scratch, tune_work({{"--sizes", "16..2048"}, {"--budget", "1s"}}))).at("recalled"), 0);
}

TEST(Tune, TextGoesToOutputAndProgressToErrorInPlainLines) {
    const Scratch scratch;
    auto words = tune_work();
    std::erase(words, "--json");
    const auto finished = run(scratch, words);
    EXPECT_EQ(finished.code, 0);
    EXPECT_THAT(finished.out, HasSubstr("transpose f32 16x16  work  "));
    EXPECT_THAT(finished.out, HasSubstr("9 configurations: 0 known before, 9 measured, 0 rejected"));
    EXPECT_THAT(finished.err, HasSubstr(": 1 size, 1 template\n9 configurations in all, into t.db\n"));
    EXPECT_THAT(finished.err, HasSubstr("\n[1/1] 16x16: "));
    EXPECT_THAT(finished.err, HasSubstr("; 9 trials, "));
    EXPECT_THAT(finished.err, HasSubstr("\ndone: 1 size, 9 trials (0 known before), "));
    EXPECT_THAT(run(scratch, words).err, HasSubstr("9 of 9 known from earlier runs, into t.db\n"));
    EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
}

TEST(Tune, WithoutAWordItIsTheCommandMeant) {
    const Scratch scratch;
    auto words = tune_work();
    words.erase(words.begin());
    EXPECT_EQ(report_of(run(scratch, words)).at("measured"), 9);
}

TEST(Tune, AProductIsTunedStoredRunAndRead) {
    const Scratch scratch;
    const auto tuned = report_of(run(scratch, {"--device", "host", "--sizes", "32,17x33x5", "--templates",
                                               "naive,tiled", "--evaluations", "4", "--db", "t.db", "--json"}));
    EXPECT_EQ(tuned.at("problems").size(), 2U);
    EXPECT_TRUE(tuned.at("problems").at(0).contains("times_baseline"));

    const auto fetched = run(scratch, {"run", "--size", "32", "--device", "host", "--db", "t.db", "--json"});
    EXPECT_EQ(fetched.code, 0) << fetched.err;
    const auto json_fetched = json::parse(fetched.out);
    EXPECT_EQ(json_fetched.at("match"), "exact");
    EXPECT_EQ(json_fetched.at("correct"), true);
    const auto near = run(scratch, {"run", "--size", "31", "--device", "host", "--db", "t.db"});
    EXPECT_EQ(near.code, 0) << near.err;
    EXPECT_THAT(near.out, HasSubstr("nearest"));

    for (const auto* what : {"list", "best", "trials"}) {
        const auto text = run(scratch, {"db", what, "--db", "t.db"});
        EXPECT_EQ(text.code, 0) << what;
        EXPECT_FALSE(text.out.empty()) << what;
        const auto listed = run(scratch, {"db", what, "--db", "t.db", "--json"});
        EXPECT_TRUE(json::accept(listed.out)) << what;
    }
    EXPECT_EQ(json::parse(run(scratch, {"db", "best", "--db", "t.db", "--json"}).out).at("winners").size(), 2U);
    const auto some = run(scratch, {"db", "trials", "--db", "t.db", "--json", "--sizes", "17x33*"}).out;
    EXPECT_EQ(json::parse(some).at("trials").size(), 4U);
    const auto shown = json::parse(run(scratch, {"db", "show", "1", "--db", "t.db", "--json"}).out);
    EXPECT_EQ(shown.at("id"), 1);

    const auto sqlite = "sqlite3 '" + scratch / "t.db" + "' 'select size, template, decided from best' > '" +
                        scratch / "best.txt" + "'";
    ASSERT_EQ(std::system(sqlite.c_str()), 0);
    EXPECT_THAT(read_text(scratch / "best.txt"), HasSubstr("32x32x32|"));
    EXPECT_THAT(read_text(scratch / "best.txt"), HasSubstr("|yes"));
}

TEST(Tune, RunsUntunedWithoutADatabase) {
    const Scratch scratch;
    const auto before = scratch.contents();
    const auto untuned = run(scratch, {"run", "--size", "3x5x7", "--device", "host", "--db", "none.db", "--json"});
    EXPECT_EQ(untuned.code, 0) << untuned.err;
    EXPECT_EQ(json::parse(untuned.out).at("match"), "untuned");
    EXPECT_THAT(untuned.err, HasSubstr("there is no database none.db"));
    EXPECT_EQ(scratch.contents(), before);
}

// The database is the file of --db, else the file of SMEMTUNE_DB, else tuning.db in the user's data folder.
TEST(Tune, TheDatabaseIsWhereItsUserSays) {
    const Scratch scratch;
    auto words = tune_work({{"--evaluations", "1"}});
    words.erase(std::ranges::find(words, "--db"), std::ranges::find(words, "--db") + 2);
    const Variables both{{"SMEMTUNE_DB", scratch / "chosen.db"}, {"XDG_DATA_HOME", scratch / "data"}};
    const auto stored = [&](const std::string& name) { return std::filesystem::exists(scratch / name); };

    auto given = words;
    given.insert(given.end(), {"--db", "given.db"});
    (void)report_of(run(scratch, given, both));
    EXPECT_TRUE(stored("given.db"));
    EXPECT_FALSE(stored("chosen.db"));

    (void)report_of(run(scratch, words, both));
    EXPECT_TRUE(stored("chosen.db"));
    EXPECT_FALSE(stored("data"));

    (void)report_of(run(scratch, words, {{"XDG_DATA_HOME", scratch / "data"}}));
    EXPECT_TRUE(stored("data/smemtune/tuning.db"));
    EXPECT_FALSE(stored("home"));

    (void)report_of(run(scratch, words, {{"XDG_DATA_HOME", "relative"}}));
    EXPECT_TRUE(stored("home/.local/share/smemtune/tuning.db"));
    EXPECT_FALSE(stored("relative"));
}

}  // namespace
}  // namespace smemtune
