#include "runtime/predict/predictor.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <cmath>
#include <numeric>

#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

void execute(const std::filesystem::path& database, const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(database.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(connection);
}

// Tests with a portfolio of the template `stepping`. A member is valid if M is a multiple of its STEP.
class PredictorTest : public testing::Test {
protected:
    struct Made {
        std::string configuration;
        double us_per_block = 1;
        std::vector<std::string> classes{"000", "001", "010", "011", "100", "101", "110", "111"};
        std::string verified_by{};
        double error = 0.05;
        std::vector<Residual> residuals{};
    };

    void store_portfolio(const std::vector<Made>& made) {
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto& each : made) {
            const auto configuration = parse_configuration(each.configuration);
            members.push_back(
                {.kernel_template =
                     store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                 .configuration = configuration,
                 .model = {.coefficients = {0, 0, each.us_per_block, 0, 0, 0, 0, 0},
                           .error = each.error,
                           .residuals = each.residuals},
                 .registers = 32,
                 .static_shared_bytes = 0,
                 .classes = each.classes,
                 .verified_by = each.verified_by.empty() ? operation_identity(kernel, gemm(1, 1, 1)) + "/testbed"
                                                         : each.verified_by,
                 .code_hash = sha256(std::as_bytes(std::span(code)))});
            binaries.push_back({.kernel_template = members.back().kernel_template,
                                .configuration = configuration,
                                .target = "sm_90a f32 nn",
                                .compiler = "nvrtc",
                                .code = code,
                                .resources = {}});
        }
        store.set_portfolio({store.remember(device), "gemm", "f32", "nn"}, members, binaries);
    }
    [[nodiscard]] std::vector<Choice> choices(const Problem& problem, const std::string& name = "",
                                              PredictorCache* cache = nullptr) const {
        Candidates candidates(problem, device, &store, templates, name, {}, StoredTemplates::any, cache);
        std::vector<Choice> result;
        while (const auto candidate = candidates.next()) result.push_back(candidate->choice);
        return result;
    }
    [[nodiscard]] std::vector<std::string> predicted(const Problem& problem) const {
        std::vector<std::string> result;
        for (const auto& choice : choices(problem)) {
            if (choice.match == Match::predicted) result.push_back(choice.configuration);
        }
        return result;
    }

    TemporaryFolder scratch;
    Store store{scratch / "tuning.db"};
    Device device = model_device("sm_90");
    std::vector<KernelTemplate> templates = load_templates(stepping_sources());
    const KernelTemplate& kernel = templates.front();
    const std::vector<std::uint8_t> code{1, 2, 3};
};

TEST_F(PredictorTest, TheMemberThatIsPredictedToBeTheFastestComesFirst) {
    store_portfolio({{"STEP=2", 3}, {"STEP=3", 1}, {"STEP=64", 2}});
    EXPECT_EQ(predicted(gemm(192, 5, 7)), (std::vector<std::string>{"STEP=3", "STEP=64", "STEP=2"}));
    EXPECT_EQ(predicted(gemm(128, 5, 7)), (std::vector<std::string>{"STEP=64", "STEP=2"})) << "3 does not divide 128";
    EXPECT_TRUE(predicted(gemm(7, 5, 7)).empty());
}

TEST_F(PredictorTest, AmongEqualPredictionsTheFirstMemberComesFirst) {
    store_portfolio({{"STEP=64", 1}, {"STEP=2", 1}, {"STEP=3", 1}});
    EXPECT_EQ(predicted(gemm(192, 5, 7)), (std::vector<std::string>{"STEP=64", "STEP=2", "STEP=3"}));
}

TEST_F(PredictorTest, EqualPredictionsKeepTheirOrderAfterAFasterMember) {
    store_portfolio({{"STEP=64", 2}, {"STEP=2", 2}, {"STEP=3", 1}});
    EXPECT_EQ(predicted(gemm(192, 5, 7)), (std::vector<std::string>{"STEP=3", "STEP=64", "STEP=2"}));
}

TEST_F(PredictorTest, AModelThatErrsMoreMustPromiseMore) {
    store_portfolio({{.configuration = "STEP=2", .us_per_block = 4, .error = 1.0},
                     {.configuration = "STEP=3", .us_per_block = 6, .error = 0.1}});
    EXPECT_EQ(predicted(gemm(192, 5, 7)), (std::vector<std::string>{"STEP=3", "STEP=2"}));
}

TEST_F(PredictorTest, AChoiceSaysThePredictedTimeItsUncertaintyAndWhy) {
    store_portfolio({{"STEP=2", 3}, {"STEP=3", 1}});
    const auto choice = choices(gemm(192, 5, 7)).at(0);
    EXPECT_EQ(choice.match, Match::predicted);
    EXPECT_EQ(to_text(choice.match), "predicted");
    EXPECT_EQ(choice.expected_us, 1) << "one block on the busiest multiprocessor";
    EXPECT_EQ(choice.uncertainty, 0.05);
    EXPECT_EQ(choice.tuned_for, "");
    EXPECT_EQ(choice.device, device.name);
    EXPECT_EQ(choice.why, "predicted 1 us within 5 %, mostly blocks; next 3 us");
}

// In the correction, a measurement at the problem itself has weight 1 and the model has weight 0.2
// (templates/predict/correction.cpp).
TEST_F(PredictorTest, AMeasurementNearbyCorrectsTimeAndTermsAndLessensTheError) {
    const auto at = gemm(192, 5, 7);
    std::vector<double> place;
    place_of(at, place);
    store_portfolio({{.configuration = "STEP=2", .us_per_block = 3},
                     {.configuration = "STEP=3", .us_per_block = 4, .error = 0.9, .residuals = {{place, -1}}}});
    const auto choice = choices(at).at(0);
    EXPECT_EQ(choice.configuration, "STEP=3");
    EXPECT_NEAR(choice.expected_us, 4 * std::exp(-1 / 1.2), 1e-9);
    EXPECT_NEAR(choice.uncertainty, std::sqrt(0.9 * 0.9 / 6 + 0.012 * 0.012 * 5 / 6), 1e-9);
    const Predictor predictor(store.portfolio({store.remember(device), "gemm", "f32", "nn"}), at, device,
                              [&](const TrialRow&) { return std::make_shared<const KernelTemplate>(kernel); });
    const auto ranking = predictor.ranking(at);
    ASSERT_EQ(ranking.size(), 2U);
    for (const auto& each : ranking) {
        EXPECT_NEAR(std::accumulate(each.shares.begin(), each.shares.end(), 0.0), each.us, 1e-9);
    }
}

TEST_F(PredictorTest, AMemberKnowsTheExpectedTemplateOnlyIfTheirSignaturesAreTheSame) {
    store_portfolio({{"STEP=2", 1}});
    const auto portfolio = store.portfolio({store.remember(device), "gemm", "f32", "nn"});
    const auto at = gemm(192, 5, 7);
    const auto signature_of = [&](const KernelTemplate* expected) {
        const Predictor predictor(
            portfolio, at, device, [&](const TrialRow&) { return std::make_shared<const KernelTemplate>(kernel); },
            expected);
        return predictor.ranking(at).at(0).member->same_signature_as;
    };
    EXPECT_EQ(signature_of(&kernel), &kernel);
    EXPECT_EQ(signature_of(nullptr), nullptr);
    auto other = kernel;
    other.operation.arguments.back().name = "D";
    EXPECT_EQ(signature_of(&other), nullptr);
}

TEST_F(PredictorTest, AMemberOfATemplateWithOtherExtentsDoesNotServe) {
    store_portfolio({{"STEP=2", 1}, {"STEP=3", 2}});
    auto other = kernel;
    std::ranges::reverse(other.operation.extents);
    const auto find = [&](const TrialRow& row) {
        const bool is_first = row.record.configuration == parse_configuration("STEP=2");
        return std::make_shared<const KernelTemplate>(is_first ? kernel : other);
    };
    auto portfolio = store.portfolio({store.remember(device), "gemm", "f32", "nn"});
    portfolio.members.at(1).member.kernel_template += 1;  // a different row, for which the Predictor calls `find`
    const Predictor predictor(portfolio, gemm(192, 5, 7), device, find);
    const auto ranking = predictor.ranking(gemm(192, 5, 7));
    ASSERT_EQ(ranking.size(), 1U);
    EXPECT_EQ(ranking[0].member->text, "STEP=2");
}

TEST_F(PredictorTest, AnExactWinnerComesBeforeThePortfolioAndTheNearestBehindIt) {
    store_portfolio({{"STEP=3", 1}});
    store_winner(store, device, kernel, gemm(192, 5, 7), parse_configuration("STEP=2"), 10);
    const auto exact = choices(gemm(192, 5, 7));
    EXPECT_EQ(exact.at(0).match, Match::exact);
    EXPECT_EQ(exact.at(1).match, Match::predicted);
    const auto near = choices(gemm(192, 5, 8));
    EXPECT_EQ(near.at(0).match, Match::predicted);
    EXPECT_EQ(near.at(1).match, Match::nearest);
}

TEST_F(PredictorTest, AMemberServesOnlyTheClassesForWhichItWasVerified) {
    store_portfolio({{"STEP=2", 1, {"100"}}, {"STEP=64", 2}});
    EXPECT_EQ(predicted(gemm(64, 5, 7)).front(), "STEP=2");
    EXPECT_EQ(predicted(gemm(64, 4, 7)).front(), "STEP=64");
    EXPECT_TRUE(predicted(gemm(2, 5, 7)).empty());
}

TEST_F(PredictorTest, AMemberThatWasVerifiedAsAnotherOperationDoesNotServe) {
    store_portfolio({{.configuration = "STEP=2", .verified_by = "another/testbed"},
                     {.configuration = "STEP=3", .verified_by = std::string(unrecorded)}});
    EXPECT_TRUE(predicted(gemm(192, 5, 7)).empty());
}

TEST_F(PredictorTest, APortfolioOfAnotherDeviceTypeOrLayoutIsNotUsed) {
    store_portfolio({{"STEP=2", 1}});
    EXPECT_FALSE(predicted(gemm(64, 5, 7)).empty());
    device = model_device("sm_80");
    store.remember(device);
    EXPECT_TRUE(predicted(gemm(64, 5, 7)).empty());
}

TEST_F(PredictorTest, ATemplateChosenByNameExcludesTheMembersOfOthers) {
    store_portfolio({{"STEP=2", 1}});
    EXPECT_EQ(choices(gemm(64, 5, 7), "stepping").at(0).match, Match::predicted);
    for (auto& built_in : load_templates(builtin_sources())) {
        if (built_in.name == "tiled") templates.push_back(std::move(built_in));
    }
    for (const auto& choice : choices(gemm(64, 5, 7), "tiled")) EXPECT_EQ(choice.kernel_template, "tiled");
}

TEST_F(PredictorTest, ADamagedMemberIsLeftOutAndNamed) {
    store_portfolio({{"STEP=3", 1}, {"STEP=2", 2}});
    execute(scratch / "tuning.db", "UPDATE portfolio SET error = 0.5 WHERE configuration = 'STEP=3'");
    const auto problem = gemm(192, 5, 7);
    Candidates candidates(problem, device, &store, templates, "");
    EXPECT_EQ(candidates.next()->choice.configuration, "STEP=2");
    EXPECT_THAT(candidates.damage(), HasSubstr("damaged row"));
}

TEST_F(PredictorTest, ASharedCacheReadsThePortfolioOnceForEachTypeAndLayout) {
    store_portfolio({{"STEP=3", 1}});
    PredictorCache cache;
    EXPECT_EQ(choices(gemm(192, 5, 7), "", &cache).at(0).configuration, "STEP=3");
    store_portfolio({{"STEP=2", 1}});
    EXPECT_EQ(choices(gemm(192, 5, 9), "", &cache).at(0).configuration, "STEP=3");
    EXPECT_EQ(choices(gemm(192, 5, 9)).at(0).configuration, "STEP=2");
}

TEST_F(PredictorTest, AMalformedProblemThatComesFirstDoesNotSpoilThePortfolio) {
    store_portfolio({{"STEP=3", 1}});
    PredictorCache cache;
    for (const auto& malformed : {Problem{"gemm", "f32", "nn", {{"M", 3}}}, gemm(0, 5, 7), gemm(-3, 5, 7)}) {
        EXPECT_THROW((void)choices(malformed, "", &cache), std::invalid_argument) << to_text(malformed);
    }
    EXPECT_EQ(choices(gemm(192, 5, 7), "", &cache).at(0).match, Match::predicted);
}

TEST_F(PredictorTest, AMemberWhoseMachineCodeWasReplacedDoesNotServe) {
    store_portfolio({{"STEP=3", 1}, {"STEP=2", 2}});
    const Binary other{.entry = "stepping", .target = "sm_90a", .compiler = "nvrtc", .code = {9, 9}};
    store_winner(store, device, kernel, gemm(3, 3, 3), parse_configuration("STEP=3"), 10, &other);
    EXPECT_EQ(predicted(gemm(192, 5, 7)), (std::vector<std::string>{"STEP=2"}));
}

TEST_F(PredictorTest, OfATypeThatNoTemplateHasNothingIsPredicted) {
    store_portfolio({{"STEP=3", 1}});
    EXPECT_TRUE(choices({"gemm", "f99", "nn", {{"M", 192}, {"N", 5}, {"K", 7}}}).empty());
}

TEST(PredictorCacheTest, PredictorsOfAFileThatWasReplacedAreDropped) {
    PredictorCache cache;
    const Problem problem = gemm(1, 1, 1);
    const auto device = model_device("sm_90");
    const auto make = [&] {
        return std::make_shared<const Predictor>(Portfolio{}, problem, device, [](const TrialRow&) { return nullptr; });
    };
    const std::weak_ptr former = cache.find_or_make(problem, 1, 0, make);
    EXPECT_EQ(cache.find_or_make(problem, 1, 0, make), former.lock());
    const auto next = cache.find_or_make(problem, 1, 1, make);
    EXPECT_TRUE(former.expired());
    EXPECT_EQ(cache.find_or_make(problem, 1, 1, make), next);
}

// A member or a nearest winner is left out if its configuration was rejected in a trial of this very problem.
TEST_F(PredictorTest, WhatWasRejectedForAProblemServesItNeitherAsAMemberNorAsTheNearest) {
    store_portfolio({{"STEP=3", 1}, {"STEP=2", 2}});
    store_winner(store, device, kernel, gemm(128, 5, 7), parse_configuration("STEP=64"), 10);
    const auto configurations = [&] {
        std::vector<std::string> result;
        for (const auto& choice : choices(gemm(192, 5, 7))) {
            if (choice.match != Match::untuned) result.push_back(choice.configuration);
        }
        return result;
    };
    EXPECT_EQ(configurations(), (std::vector<std::string>{"STEP=3", "STEP=2", "STEP=64"}));
    const auto kernel_row =
        store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
    const auto reject = [&](const std::string& configuration, Stage stage) {
        store.remember(TrialRecord{.key = {store.remember(device), kernel_row, store.remember(gemm(192, 5, 7))},
                                   .configuration = parse_configuration(configuration),
                                   .outcome = Rejection{stage, "C[0,0] is 1"}});
    };
    reject("STEP=3", Stage::crash);
    EXPECT_EQ(configurations(), (std::vector<std::string>{"STEP=2", "STEP=64"}));
    reject("STEP=64", Stage::wrong);
    EXPECT_EQ(configurations(), (std::vector<std::string>{"STEP=2"}));
    device = model_device("sm_80");
    EXPECT_TRUE(choices(gemm(128, 5, 7)).at(0).match == Match::transferred) << "another problem, another device";
}

// The application's own folder has a newer version of the member's template. The application must not get the earlier
// version that the database has.
TEST_F(PredictorTest, AMemberOfAnEarlierVersionOfATemplateOfOnesOwnDoesNotServe) {
    store_portfolio({{"STEP=3", 1}});
    auto sources = stepping_sources();
    auto& text = sources.at("stepping.cu");
    text.replace(text.find("Element sum = 0;"), 16, "Element sum = 1;");
    templates = load_templates(sources);
    const std::vector<std::string> own{"stepping"};
    PredictorCache cache;
    const auto problem = gemm(192, 5, 7);
    for (int i = 0; i < 2; ++i) {
        Candidates candidates(problem, device, &store, templates, "", own, StoredTemplates::any, &cache);
        EXPECT_EQ(candidates.next()->choice.match, Match::untuned);
    }
}

TEST_F(PredictorTest, AMemberOfAnOperationThatTheApplicationDefinesOtherwiseDoesNotServe) {
    store_portfolio({{"STEP=3", 1}});
    auto sources = stepping_sources();
    sources["operation.toml"] = builtin_sources().at("gemm/operation.toml");
    sources["reference.cu"] = "// another one";
    auto& manifest = sources.at("stepping.toml");
    manifest.replace(manifest.find("stepping"), 8, "mine");
    sources.insert({"mine.toml", manifest});
    sources.insert({"mine.cu", sources.at("stepping.cu")});
    sources.erase("stepping.toml");
    sources.erase("stepping.cu");
    templates.push_back(load_templates(sources).front());
    const std::vector<std::string> own{"mine"};
    const auto problem = gemm(192, 5, 7);
    Candidates candidates(problem, device, &store, templates, "", own);
    const auto candidate = candidates.next();
    EXPECT_EQ(candidate->choice.match, Match::untuned);
    EXPECT_EQ(candidate->choice.kernel_template, "mine");
}

TEST_F(PredictorTest, AMemberThatTakesOtherArgumentsDoesNotServe) {
    auto sources = stepping_sources();
    auto operation = builtin_sources().at("gemm/operation.toml");
    for (auto at = operation.find("\"lda\""); at != std::string::npos; at = operation.find("\"lda\"")) {
        operation.replace(at, 5, "\"ldA\"");
    }
    sources["operation.toml"] = operation;
    sources["reference.cu"] = "";
    templates.front() = load_templates(sources).front();
    store_portfolio({{"STEP=3", 1}});
    EXPECT_EQ(predicted(gemm(192, 5, 7)).size(), 1U) << "for who knows this operation";
    templates = builtin_templates();
    const auto problem = gemm(192, 5, 7);
    Candidates candidates(problem, device, &store, templates, "");
    EXPECT_EQ(candidates.next()->choice.match, Match::untuned);
    EXPECT_THAT(candidates.why_not(), HasSubstr("; stepping: "));
}

TEST_F(PredictorTest, AMemberThatOnlyTheDatabaseHasDoesNotServeWhereStoredTemplatesAreExcluded) {
    store_portfolio({{"STEP=3", 1}});
    templates = builtin_templates();
    const auto problem = gemm(192, 5, 7);
    const auto first = [&](StoredTemplates stored) {
        Candidates candidates(problem, device, &store, templates, "", {}, stored);
        return candidates.next()->choice.match;
    };
    EXPECT_EQ(first(StoredTemplates::any), Match::predicted);
    EXPECT_EQ(first(StoredTemplates::known), Match::untuned);
}

TEST_F(PredictorTest, AMemberWhoseTemplateIsDamagedDoesNotServe) {
    store_portfolio({{"STEP=3", 1}});
    execute(scratch / "tuning.db", "UPDATE template_files SET text = replace(text, 'alpha', 'beta')");
    templates = builtin_templates();
    const auto problem = gemm(192, 5, 7);
    Candidates candidates(problem, device, &store, templates, "");
    EXPECT_EQ(candidates.next()->choice.match, Match::untuned);
    EXPECT_THAT(candidates.damage(), HasSubstr("damaged row"));
}

TEST_F(PredictorTest, TheCandidatesEndThoughAnotherFileTakesThePlaceOfTheirs) {
    store_portfolio({{"STEP=3", 1}, {"STEP=2", 2}});
    const auto path = scratch / "tuning.db";
    const Store reader(path, Store::Access::read);
    PredictorCache cache;
    const auto problem = gemm(192, 5, 7);
    Candidates candidates(problem, device, &reader, templates, "", {}, StoredTemplates::any, &cache);
    EXPECT_EQ(candidates.next()->choice.match, Match::predicted);
    {
        Store other(scratch / "other.db");
        store_winner(other, device, kernel, gemm(64, 5, 7), parse_configuration("STEP=64"), 10);
    }
    std::filesystem::rename(scratch / "other.db", path);
    for (const auto* log : {"tuning.db-wal", "tuning.db-shm"}) std::filesystem::remove(scratch / log);
    std::vector<Match> rest;
    while (const auto candidate = candidates.next()) {
        rest.push_back(candidate->choice.match);
        ASSERT_LT(rest.size(), 10U) << "they do not end";
    }
    // Returning the second member needs no query of the database. The next query notices the new file, and the
    // candidates then come from it.
    EXPECT_THAT(rest, testing::ElementsAre(Match::predicted, Match::nearest, Match::untuned));
}

TEST(WhyChosen, NamesTheTimeTheErrorTheLargestTermAndTheNextMember) {
    std::vector<Predictor::Prediction> ranking(3);
    ranking[0] = {.us = 123.456, .error = 0.0749, .shares = {1, 2, 3, 90, 4}};
    ranking[1] = {.us = 0.000123456, .error = 0, .shares = {5, 2}};
    ranking[2] = {.us = 98765.4, .error = 2.5, .shares = {}};
    EXPECT_EQ(why_chosen(ranking, 0), "predicted 123.5 us within 7.5 %, mostly latency; next 0.0001235 us");
    EXPECT_EQ(why_chosen(ranking, 1), "predicted 0.0001235 us within 0 %, mostly launch; next 9.877e+04 us");
    EXPECT_EQ(why_chosen(ranking, 2), "predicted 9.877e+04 us within 2.5e+02 %, mostly launch");
}

TEST(PredictorCacheTest, APredictorIsThatOfItsOperationTypeLayoutAndDevice) {
    PredictorCache cache;
    int made = 0;
    const auto make = [&] {
        ++made;
        return std::shared_ptr<const Predictor>(
            new Predictor({}, gemm(1, 1, 1), model_device("sm_90"), [](const TrialRow&) { return nullptr; }));
    };
    const auto first = cache.find_or_make(gemm(1, 2, 3), 1, 0, make);
    EXPECT_EQ(cache.find_or_make(gemm(4, 5, 6), 1, 0, make), first) << "the extents do not matter";
    EXPECT_EQ(made, 1);
    auto other = gemm(1, 2, 3);
    other.operation = "other";
    EXPECT_NE(cache.find_or_make(other, 1, 0, make), first);
    EXPECT_NE(cache.find_or_make(gemm(1, 2, 3, "f16"), 1, 0, make), first);
    EXPECT_NE(cache.find_or_make(gemm(1, 2, 3, "f32", "nt"), 1, 0, make), first);
    EXPECT_NE(cache.find_or_make(gemm(1, 2, 3), 2, 0, make), first);
    EXPECT_EQ(made, 5);
    EXPECT_EQ(cache.find_or_make(gemm(1, 2, 3), 1, 0, make), first) << "all of them are kept";
    EXPECT_NE(cache.find_or_make(gemm(1, 2, 3), 1, 1, make), first) << "of another file";
}

}  // namespace
}  // namespace smemtune
