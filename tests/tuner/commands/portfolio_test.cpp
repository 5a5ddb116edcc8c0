// Tests `smemtune portfolio` on the host device, and which kernels an application gets from a portfolio.
#include <gmock/gmock.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

#include "db/file/functions.h"
#include "db/integrity/row_hash.h"
#include "tests/tuner/support/held_run.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<std::string> portfolio(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"portfolio", "--device", "host", "--templates", fixture("work"), "--db", "t.db"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

json report_of(const Finished& finished) {
    EXPECT_EQ(finished.code, 0) << finished.err;
    return json::parse(finished.out);
}

TEST(PortfolioCommand, AFetchOfASizeThatNobodyTunedIsPredicted) {
    const Scratch scratch;
    const auto built = portfolio({"--shapes", "4", "--extents", "8..24", "--json"});
    const auto first = report_of(run(scratch, built));
    ASSERT_EQ(first.at("members").size(), 1);
    EXPECT_EQ(first.at("members").at(0).at("configuration").at("WORK"), 1);
    EXPECT_EQ(first.at("members").at(0).at("classes"), (json{"00", "01", "10", "11"}));
    EXPECT_EQ(first.at("samples").size(), 4);
    for (const auto& sample : first.at("samples")) EXPECT_TRUE(sample.value("searched", false));
    EXPECT_EQ(first.at("ended"), "complete");

    const auto again = report_of(run(scratch, built));
    EXPECT_EQ(again.at("measured"), 0) << "everything is known";
    EXPECT_EQ(again.at("members").at(0).at("coefficients"), first.at("members").at(0).at("coefficients"));

    const auto served = report_of(run(scratch, {"run", "--device", "host", "--templates", fixture("work"), "--sizes",
                                                "31x33", "--db", "t.db", "--json"}));
    EXPECT_EQ(served.at("match"), "predicted");
    EXPECT_EQ(served.at("configuration").at("WORK"), 1);
    EXPECT_GT(served.at("predicted_us"), 0);
    EXPECT_TRUE(served.at("correct"));
    EXPECT_THAT(served.at("why"), HasSubstr("predicted "));

    const auto tuned = first.at("samples").at(0).at("problem").at("size").get<std::string>();
    const auto exact = report_of(run(scratch, {"run", "--device", "host", "--templates", fixture("work"), "--sizes",
                                               tuned, "--db", "t.db", "--json"}));
    EXPECT_EQ(exact.at("match"), "exact");
}

// A run without searches times the members of the stored portfolio at other sizes.
TEST(PortfolioCommand, ARunWithoutSearchesTimesKnownConfigurations) {
    const Scratch scratch;
    const auto first = report_of(run(scratch, portfolio({"--shapes", "3", "--extents", "8..24", "--json"})));
    const auto more = report_of(
        run(scratch, portfolio({"--shapes", "5", "--extents", "25..40", "--searches", "0", "--seed", "7", "--json"})));
    EXPECT_EQ(more.at("samples").size(), 5);
    EXPECT_GE(more.at("measured"), 5);
    EXPECT_EQ(more.at("ended"), "complete");
    ASSERT_EQ(more.at("members").size(), 1);
    EXPECT_EQ(more.at("members").at(0).at("configuration"), first.at("members").at(0).at("configuration"));
    for (const auto& sample : more.at("samples")) {
        EXPECT_FALSE(sample.value("searched", false));
        EXPECT_TRUE(sample.contains("loss"));
    }
}

TEST(PortfolioCommand, ACheckComparesWhatIsServedWithTheFastestTimeKnown) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch, portfolio({"--shapes", "4", "--extents", "8..24"})).code, 0);
    const auto check = portfolio({"--check", "3", "--searches", "1", "--seed", "5", "--extents", "25..40", "--json"});
    const auto before = trials_in(scratch / "t.db");
    const auto report = report_of(run(scratch, check));
    EXPECT_EQ(trials_in(scratch / "t.db"), before + 9 + 1 + 1)
        << "all of the first size, only the member of the others";
    ASSERT_EQ(report.at("samples").size(), 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& sample = report.at("samples").at(i);
        EXPECT_EQ(sample.contains("searched"), i == 0);
        EXPECT_GT(sample.at("predicted_us"), 0);
        EXPECT_GT(sample.at("best_us"), 0);
        for (const auto* rule : {"predicted", "best_member", "nearest", "one_for_all"}) {
            EXPECT_GE(sample.at("loss").at(rule), 0) << rule;
        }
        EXPECT_GE(sample.at("loss").at("predicted"), sample.at("loss").at("best_member"));
    }
    EXPECT_EQ(report.at("members").size(), 1);
    EXPECT_EQ(report_of(run(scratch, check)).at("measured"), 0) << "everything is known";
}

TEST(PortfolioCommand, ACheckWithoutADatabaseSaysSo) {
    const Scratch scratch;
    for (const auto* what : {"--check", "--refit"}) {
        const std::vector<std::string> sizes{"2", "--extents", "8..24"};
        auto words = portfolio({what});
        if (std::string(what) == "--check") words.insert(words.end(), sizes.begin(), sizes.end());
        const auto none = run(scratch, words);
        EXPECT_EQ(none.code, 4) << what;
        EXPECT_THAT(none.err, HasSubstr("t.db: does not exist; tune first, or check the path")) << what;
        EXPECT_FALSE(std::filesystem::exists(scratch / "t.db")) << what << " creates no database";
    }
}

TEST(PortfolioCommand, WhereNoConfigurationIsValidTheRuleIsNamed) {
    const Scratch scratch;
    const auto none = run(scratch, {"portfolio", "--device", "host", "--templates", "matrix_vector", "--shapes", "1",
                                    "--extents", "8..16", "--db", "t.db"});
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("matrix_vector has no valid configuration for gemm f32 nn "));
}

TEST(PortfolioCommand, SearchesLimitTheSizesThatARunTunes) {
    const Scratch scratch;
    const auto searched_after = [&](const std::string& searches) {
        const auto report = report_of(
            run(scratch, portfolio({"--shapes", "4", "--extents", "8..24", "--searches", searches, "--json"})));
        const auto& samples = report.at("samples");
        return std::ranges::count_if(samples, [](const json& sample) { return sample.value("searched", false); });
    };
    const auto none = run(scratch, portfolio({"--shapes", "4", "--extents", "8..24", "--searches", "0"}));
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("this run needs --searches of 1 or more"));
    EXPECT_EQ(searched_after("1"), 1);
    EXPECT_EQ(searched_after("0"), 1) << "the configurations of the first run are timed at the other sizes, too";
    EXPECT_EQ(searched_after("2"), 3) << "two more";
}

TEST(PortfolioCommand, ACheckDrawsOtherSizesThanTheBuildByDefault) {
    const Scratch scratch;
    const std::vector<std::string> extents{"--extents", "8..40", "--json"};
    auto build = portfolio({"--shapes", "4"});
    build.insert(build.end(), extents.begin(), extents.end());
    auto check = portfolio({"--check", "4"});
    check.insert(check.end(), extents.begin(), extents.end());
    const auto built = report_of(run(scratch, build)).at("samples");
    const auto checked = report_of(run(scratch, check)).at("samples");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NE(built.at(i).at("problem"), checked.at(i).at("problem"));
    check.insert(check.end(), {"--seed", "1"});
    EXPECT_EQ(report_of(run(scratch, check)).at("samples").at(0).at("problem"), built.at(0).at("problem"));
}

TEST(PortfolioCommand, ABudgetEndsEarlyWithAPortfolioAndTheNextRunGoesOn) {
    const Scratch scratch;
    const auto of_sizes = [&](int first, int last) {
        std::string lines;
        for (int size = first; size <= last; ++size)
            lines += std::to_string(size) + "x" + std::to_string(size + 3) + "\n";
        write_text(scratch / "shapes.txt", lines);
        return portfolio({"--shapes-from", "shapes.txt", "--json"});
    };
    ASSERT_EQ(run(scratch, of_sizes(17, 20)).code, 0);
    auto words = of_sizes(17, 400);
    words.insert(words.end(), {"--budget", "1s"});
    const auto cut = run(scratch, words);
    const auto first = json::parse(cut.out);
    EXPECT_EQ(first.at("ended"), "budget");
    EXPECT_THAT(cut.err, HasSubstr("the budget is spent; run the same command to go on"));
    EXPECT_GT(first.at("members").size(), 0) << "of what was known by then";
    const auto all = report_of(run(scratch, of_sizes(13, 20)));
    EXPECT_EQ(all.at("ended"), "complete");
    EXPECT_EQ(all.at("samples").size(), 8);
    EXPECT_GT(all.at("recalled"), 0);
}

// The number of size classes doubles with each extent. The 2^24 classes of 24 extents would exhaust the memory.
TEST(PortfolioCommand, AnOperationWithTooManyExtentsIsRefusedByName) {
    const Scratch scratch;
    std::string names;
    std::string arguments;
    for (int i = 0; i < 24; ++i) {
        const auto name = "E" + std::to_string(i);
        names += (i == 0 ? "\"" : ", \"") + name + "\"";
        arguments += "[[operation.argument]]\nname = \"" + name + "\"\nkind = \"extent\"\n";
    }
    write_text(scratch / "kernels/wide.toml",
               "[operation]\nname = \"wide\"\nextents = [" + names +
                   "]\noperations = \"E0\"\nbytes = \"E0\"\nreference = \"none\"\n" + arguments +
                   "[[operation.argument]]\nname = \"B\"\nkind = \"output\"\nshape = [\"E0\"]\n"
                   "[template]\nname = \"wide\"\noperation = \"wide\"\ntypes = [\"f32\"]\n"
                   "[launch]\nblock = [\"1\"]\ngrid = [\"E0\"]\n[requires]\nhost = true\n");
    write_text(scratch / "kernels/wide.cu", "");
    const auto refused = run(scratch, {"portfolio", "--device", "host", "--templates", scratch / "kernels", "--shapes",
                                       "4", "--db", "t.db"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("operation 'wide' has 24 extents, but a portfolio supports at most 8"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "t.db"));
}

class PortfolioInterrupted : public HeldRun {};

TEST_F(PortfolioInterrupted, WhatWasTimedIsKeptAndTheNextRunGoesOn) {
    auto words = portfolio({"--shapes", "12", "--extents", "8..60", "--deadline", "10m", "--json"});
    std::ranges::replace(words, fixture("work"), held("work", "true"));
    Running running(scratch_, words);
    ASSERT_TRUE(soon([&] { return has_entered(); }));
    interrupt(running);
    const auto finished = running.wait();
    EXPECT_EQ(finished.code, 130);
    EXPECT_THAT(finished.err, HasSubstr("interrupted: everything timed is stored; run the same command to go on"));
    EXPECT_THAT(finished.out, testing::IsEmpty());
    const auto before = trials();
    EXPECT_GT(before, 0);
    const auto report = report_of(run(scratch_, words));
    EXPECT_EQ(report.at("ended"), "complete");
    EXPECT_GT(trials(), before);
}

TEST(ExplainCommand, ASizeThatOnlyAPortfolioServesShowsTheRanking) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch, portfolio({"--shapes", "4", "--extents", "8..24"})).code, 0);
    const auto explain = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"explain", "--db", "t.db", "--templates", fixture("work")};
        words.insert(words.end(), more.begin(), more.end());
        return run(scratch, words);
    };
    const auto text = explain({"--size", "31x33"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("1 of 1 member can run it"));
    EXPECT_THAT(text.out, HasSubstr("served: predicted "));
    const auto ranking = report_of(explain({"--sizes", "31x33", "--json"})).at("ranking");
    ASSERT_EQ(ranking.size(), 1);
    EXPECT_EQ(ranking.at(0).at("configuration").at("WORK"), 1);
    double sum = 0;
    for (const auto& term : ranking.at(0).at("terms_us")) sum += term.get<double>();
    EXPECT_NEAR(ranking.at(0).at("predicted_us").get<double>(), sum, 1e-9 * sum);
    EXPECT_THAT(ranking.at(0).at("why"), HasSubstr("predicted "));
    const auto none = explain({"--portfolio", "--sizes", "31x33", "--layout", "nn", "--db", "absent.db"});
    EXPECT_NE(none.code, 0);
}

TEST(ExplainCommand, ADeviceWithoutAPortfolioIsServedByThatOfASimilarDevice) {
    const Scratch scratch;
    auto similar = model_device("sm_90");
    similar.name = "similar";
    auto other = similar;
    other.name = "other";
    other.memory_bytes += 1;
    {
        Store store(scratch / "t.db", Store::Access::write);
        const auto kernel = load_templates(read_sources(fixture("work"))).front();
        const auto row = store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
        const PortfolioMember member{.kernel_template = row,
                                     .configuration = default_configuration(kernel),
                                     .model = {.coefficients = {2}, .error = 0.1, .residuals = {}},
                                     .registers = 32,
                                     .classes = {"00", "11"},
                                     .verified_by = operation_identity(kernel, transpose(16)) + "/testbed",
                                     .code_hash = sha256("code")};
        const BinaryRecord binary{.kernel_template = row,
                                  .configuration = member.configuration,
                                  .target = "sm_90a f32",
                                  .compiler = "of this test",
                                  .code = {'c', 'o', 'd', 'e'}};
        (void)store.remember(other);
        store.set_portfolio({store.remember(similar), "transpose", "f32", ""}, {member}, {binary});
    }
    const auto explain = [&](const std::string& device) {
        return report_of(run(scratch, {"explain", "--portfolio", "--db", "t.db", "--templates", fixture("work"),
                                       "--sizes", "16x16", "--device", device, "--json"}));
    };
    EXPECT_EQ(explain("similar").at("measured_on").at("name"), "similar");
    const auto served = explain("other");
    EXPECT_EQ(served.at("device").at("name"), "other");
    EXPECT_EQ(served.at("measured_on").at("name"), "similar");
    EXPECT_EQ(served.at("ranking").size(), 1);
}

TEST(PortfolioCommand, TheCodeOfADatabaseThatOthersCanChangeIsRunOnlyIfThatIsAskedFor) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch, portfolio({"--shapes", "3", "--extents", "8..24"})).code, 0);
    permissions(scratch / "t.db", std::filesystem::perms::others_write, std::filesystem::perm_options::add);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--shapes", "3", "--extents", "8..24"}, {"--check", "2", "--extents", "8..24"}}) {
        const auto refused = run(scratch, portfolio(words));
        EXPECT_EQ(refused.code, 4) << refused.out;
        EXPECT_THAT(refused.err, AllOf(HasSubstr("t.db is "), HasSubstr("--trust-any-owner")));
    }
    EXPECT_EQ(run(scratch, portfolio({"--shapes", "3", "--extents", "8..24", "--trust-any-owner"})).code, 0);
}

// The test edits the stored portfolio to look like a portfolio of an earlier smemtune, whose time models had different
// terms.
TEST(PortfolioCommand, ARefitMakesAPortfolioOfEarlierTermsServeAgain) {
    const Scratch scratch;
    const auto built = report_of(run(scratch, portfolio({"--shapes", "6", "--extents", "8..24", "--json"})));
    const std::vector<std::string> fetch{"run",     "--device", "host", "--templates", fixture("work"),
                                         "--sizes", "31x33",    "--db", "t.db",        "--json"};
    {
        SQLite::Database database(scratch / "t.db", SQLite::OPEN_READWRITE);
        add_functions(database);
        database.exec("UPDATE portfolio SET terms_version = terms_version - 1, coefficients = '[1,[]]'");
        database.exec("UPDATE portfolio SET sha256 = " + portfolio_sha256_in_sql());
    }
    EXPECT_NE(report_of(run(scratch, fetch)).at("match"), "predicted");
    EXPECT_THAT(run(scratch, {"explain", "--templates", fixture("work"), "--sizes", "31x33", "--device", "host",
                              "--portfolio", "--db", "t.db"})
                    .err,
                HasSubstr("run 'smemtune portfolio --refit --db t.db', which needs no device"));
    const auto checked = run(scratch, portfolio({"--check", "2", "--extents", "8..24"}));
    EXPECT_EQ(checked.code, 2);
    EXPECT_THAT(checked.err, HasSubstr("run 'smemtune portfolio --refit --db t.db', which needs no device"));
    const std::vector<std::string> refit{"portfolio", "--refit", "--templates", fixture("work"), "--db", "t.db"};
    auto json_refit = refit;
    json_refit.emplace_back("--json");
    const auto report = report_of(run(scratch, json_refit));
    EXPECT_EQ(report.at("measured"), 0);
    EXPECT_EQ(report.at("recalled"), 6);
    ASSERT_EQ(report.at("samples").size(), 6);
    EXPECT_EQ(report.at("samples").at(0).at("loss").count("same_members"), 1);
    EXPECT_EQ(built.at("samples").at(0).at("loss").count("same_members"), 0);
    ASSERT_EQ(report.at("members").size(), 1);
    for (const auto* unchanged : {"template", "configuration", "classes"}) {
        EXPECT_EQ(report.at("members").at(0).at(unchanged), built.at("members").at(0).at(unchanged));
    }
    double sum = 0;
    for (const auto& each : report.at("members").at(0).at("coefficients")) sum += each.get<double>();
    EXPECT_GT(sum, 0);
    const auto served = report_of(run(scratch, fetch));
    EXPECT_EQ(served.at("match"), "predicted");
    EXPECT_GT(served.at("predicted_us"), 0);
    EXPECT_THAT(run(scratch, refit).out, HasSubstr("0 pairs timed, 6 already known"));
}

TEST(PortfolioCommand, ARefitTakesOnlyTimesOfTheMachineCodeThatWasVerified) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch, portfolio({"--shapes", "4", "--extents", "8..24"})).code, 0);
    const std::vector<std::string> refit{"portfolio", "--refit", "--templates", fixture("work"), "--db", "t.db"};
    const auto execute_sql = [&](const std::string& sql) {
        SQLite::Database(scratch / "t.db", SQLite::OPEN_READWRITE).exec(sql);
    };
    execute_sql("UPDATE trials SET code_hash = 'of other code' WHERE problem = (SELECT min(problem) FROM trials)");
    EXPECT_THAT(run(scratch, refit).out, HasSubstr("3 already known"));
    execute_sql("UPDATE trials SET code_hash = 'of other code'");
    const auto none = run(scratch, refit);
    EXPECT_NE(none.code, 0);
    EXPECT_THAT(none.err, HasSubstr("no times of the portfolio's members"));
}

TEST(PortfolioCommand, ARefitWithoutAPortfolioFindsNothingAndExcludesACheck) {
    const Scratch scratch;
    { const Store empty(scratch / "t.db"); }
    EXPECT_EQ(run(scratch, {"portfolio", "--refit", "--templates", fixture("work"), "--db", "t.db"}).code, 1);
    const auto both = run(scratch, {"portfolio", "--refit", "--check", "3", "--db", "t.db"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, HasSubstr("--refit and --check exclude each other"));
}

TEST(PortfolioCommand, TakesTheSizesOfAFile) {
    const Scratch scratch;
    write_text(scratch / "shapes.txt", "16x8 3\n9\n");
    const auto report = report_of(run(scratch, portfolio({"--shapes-from", "shapes.txt", "--json"})));
    ASSERT_EQ(report.at("samples").size(), 2);
    EXPECT_EQ(report.at("samples").at(0).at("count"), 3);
}

// The extents of the sampled sizes are multiples of the extents of the tile, and the kernel is right at these sizes. It
// is wrong at some other sizes of the same class.
TEST(PortfolioCommand, AKernelThatIsWrongAtTheEdgesOfTilesIsNoMember) {
    const Scratch scratch;
    const std::filesystem::path folder = scratch / "kernels";
    std::filesystem::copy(fixture("work"), folder);
    auto source = read_text(folder / "work.cu");
    const std::string guard = "if (row >= M || column >= N) return;";
    source.replace(source.find(guard), guard.size(),
                   "if (row >= M || column >= N || (M % 8 == 4 && row >= M / 8 * 8)) return;");
    write_text(folder / "work.cu", source);
    write_text(scratch / "shapes.txt", "16x16\n32x16\n");
    const auto built = run(scratch, {"portfolio", "--device", "host", "--templates", folder, "--db", "t.db",
                                     "--shapes-from", "shapes.txt", "--json"});
    EXPECT_EQ(json::parse(built.out).at("members").size(), 0);
    const auto served =
        run(scratch, {"run", "--device", "host", "--templates", folder, "--sizes", "12x16", "--db", "t.db", "--json"});
    EXPECT_EQ(json::parse(served.out).at("match"), "untuned") << "the code of the nearest winners is wrong somewhere";
}

// The sizes of the classes have at most 32 rows. The kernels are wrong only at larger sizes, of which one is a sample
// that is not searched. The first kernel is wrong in the first check, which every trial runs. The second one is wrong
// only if the matrix is padded, which the first check does not try. It has a workspace, so it is also verified at the
// sample where its workspace is the largest.
TEST(PortfolioCommand, AKernelThatIsWrongAtALargeSampleIsNoMember) {
    const auto members = [](const std::string& wrong, const std::string& launch) {
        const Scratch scratch;
        const std::filesystem::path folder = scratch / "kernels";
        std::filesystem::copy(fixture("work"), folder);
        auto source = read_text(folder / "work.cu");
        auto manifest = read_text(folder / "work.toml");
        const std::string guard = "if (row >= M || column >= N) return;";
        source.replace(source.find(guard), guard.size(), guard + " if (" + wrong + ") return;");
        if (!launch.empty()) {
            const std::string output = "Element* B, long long ldb)";
            source.replace(source.find(output), output.size(), "Element* B, long long ldb, Element*)");
            manifest.replace(manifest.find("[requires]"), 0, launch + "\n\n");
        }
        write_text(folder / "work.cu", source);
        write_text(folder / "work.toml", manifest);
        write_text(scratch / "shapes.txt", "20x24\n16x16\n80x32\n");  // a build searches 20x24 first
        const auto built = run(scratch, {"portfolio", "--device", "host", "--templates", folder, "--db", "t.db",
                                         "--shapes-from", "shapes.txt", "--searches", "1", "--json"});
        const auto report = json::parse(built.out);
        EXPECT_GT(report.at("measured"), 0);
        return report.at("members").size();
    };
    EXPECT_EQ(members("M >= 64", ""), 0);
    EXPECT_EQ(members("M >= 64 && lda != N", "workspace_bytes = \"4 * M\""), 0);
    EXPECT_EQ(members("M >= 640", "workspace_bytes = \"4 * M\""), 1) << "right at every sample";
}

TEST(PortfolioCommand, AMistakeIsNamedAndNothingIsStored) {
    const Scratch scratch;
    write_text(scratch / "shapes.txt", "16x8\n16x8x4\n");
    write_text(scratch / "none.txt", "# nothing\n");
    const auto error = [&](const std::vector<std::string>& more) {
        const auto finished = run(scratch, portfolio(more));
        EXPECT_EQ(finished.code, 2) << finished.err;
        return finished.err;
    };
    EXPECT_THAT(error({"--shapes-from", "shapes.txt"}), HasSubstr("shapes.txt, line 2: "));
    EXPECT_THAT(error({"--shapes-from", "none.txt"}), HasSubstr("none.txt holds no size"));
    EXPECT_THAT(error({"--shapes-from", "absent.txt"}), HasSubstr("absent.txt cannot be read"));
    EXPECT_THAT(error({"--shapes-from", "/dev/zero"}), HasSubstr("/dev/zero is larger than 64 MiB"));
    for (const auto* range : {"12", "12..", "..12", "12..8", "0..8", "8..x", "x..8", "8...16"}) {
        EXPECT_THAT(error({"--extents", range}), HasSubstr(std::string("--extents ") + range)) << range;
    }
    EXPECT_FALSE(std::filesystem::exists(scratch / "t.db"));
}

}  // namespace
}  // namespace smemtune
