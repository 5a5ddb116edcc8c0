#include "runtime/selection.h"

#include <gmock/gmock.h>

#include <cmath>
#include <utility>

#include "templates/launch/limits.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::Each;
using testing::HasSubstr;

std::vector<Candidate> all(Candidates candidates) {
    std::vector<Candidate> result;
    while (auto candidate = candidates.next()) result.push_back(std::move(*candidate));
    return result;
}

class Selection : public testing::Test {
protected:
    void tuned(const Problem& problem, const std::string& configuration, double median_us = 10,
               const std::string& kernel = "tiled") {
        store_winner(store, device, find_template(templates, kernel), problem, parse_configuration(configuration),
                     median_us);
    }
    [[nodiscard]] std::vector<Candidate> of(const Problem& problem, const std::string& kernel = "") const {
        return all(Candidates(problem, device, &store, templates, kernel));
    }
    [[nodiscard]] Choice first(const Problem& problem, const std::string& kernel = "") const {
        return of(problem, kernel).at(0).choice;
    }

    TemporaryFolder scratch;
    Store store{scratch / "tuning.db"};
    Device device = model_device("sm_90");
    std::vector<KernelTemplate> templates = builtin_templates();
    std::vector<KernelTemplate> stepping = load_templates(stepping_sources());
};

TEST(Distance, DoublingAnExtentIsAsFarAsHalvingIt) {
    const auto from = gemm(1024, 1024, 1024);
    EXPECT_EQ(distance(from, from), 0);
    EXPECT_NEAR(distance(from, gemm(2048, 1024, 1024)), std::log(2), 1e-12);
    EXPECT_NEAR(distance(from, gemm(1024, 1024, 512)), std::log(2), 1e-12);
    EXPECT_NEAR(distance(from, gemm(2048, 512, 1024)), std::sqrt(2) * std::log(2), 1e-12);
    EXPECT_EQ(distance(gemm(7, 8, 9), from), distance(from, gemm(7, 8, 9)));
}

TEST(Distance, BetweenDifferentKindsOfProblemsIsInfinite) {
    const auto from = gemm(64, 64, 64);
    EXPECT_TRUE(std::isinf(distance(from, gemm(64, 64, 64, "f32", "nt"))));
    EXPECT_TRUE(std::isinf(distance(from, gemm(64, 64, 64, "bf16"))));
    EXPECT_TRUE(std::isinf(distance(from, {"transpose", "f32", "nn", {{"M", 64}, {"N", 64}}})));
}

TEST(Distance, OfDevicesIsInWhatTheyCompute) {
    const auto hopper = model_device("sm_90");
    auto renamed = hopper;
    renamed.name = "the same under another name";
    EXPECT_EQ(distance(hopper, renamed), 0);
    EXPECT_LT(distance(hopper, model_device("sm_80")), distance(hopper, model_device("sm_75")));
    EXPECT_TRUE(std::isinf(distance(hopper, Device{.name = "host"})));
}

TEST_F(Selection, ADeviceUsesItsOwnPortfolioOrElseThatOfTheMostSimilarOne) {
    const auto with = [&](const std::string& name, std::int64_t multiprocessors) {
        auto changed = device;
        changed.name = name;
        changed.multiprocessors = multiprocessors;
        return changed;
    };
    const auto& tiled = find_template(templates, "tiled");
    const PortfolioMember member{
        .kernel_template = store.remember(TemplateRecord{tiled.name, tiled.operation.name, tiled.hash, tiled.files}),
        .configuration = default_configuration(tiled),
        .model = {.coefficients = {1}, .residuals = {}},
        .classes = {"111"},
        .verified_by = "of this test",
        .code_hash = sha256("code")};
    const BinaryRecord binary{.kernel_template = member.kernel_template,
                              .configuration = member.configuration,
                              .target = "sm_90a f32 nn",
                              .compiler = "of this test",
                              .code = {'c', 'o', 'd', 'e'}};
    for (const auto& each : {with("half", 66), with("most", 114), with("own", 132)}) {
        store.set_portfolio({store.remember(each), "gemm", "f32", "nn"}, {member}, {binary});
    }
    const auto used = [&](const Device& wanted, const Problem& like = gemm(1, 1, 1)) {
        const auto found = device_of_portfolio(store, like, wanted);
        return found ? found->second.name : "none";
    };
    EXPECT_EQ(used(with("own", 132)), "own");
    EXPECT_EQ(used(with("without one", 120)), "most");
    EXPECT_EQ(used(model_device("sm_80")), "none") << "another compute capability";
    EXPECT_EQ(used(with("own", 132), gemm(1, 1, 1, "f32", "nt")), "none");
}

TEST(BinaryKey, TellsTypesAndLayoutsApart) {
    const auto key = [](const Problem& problem) { return binary_key("sm_90a", problem); };
    EXPECT_NE(key(gemm(1, 1, 1)), key(gemm(1, 1, 1, "f32", "nt")));
    EXPECT_NE(key(gemm(1, 1, 1)), key(gemm(1, 1, 1, "bf16")));
    EXPECT_NE(key(gemm(1, 1, 1)), binary_key("sm_80", gemm(1, 1, 1)));
    EXPECT_EQ(key(gemm(1, 1, 1)), key(gemm(2, 3, 4)));
}

TEST_F(Selection, WhatWasTunedForThisProblemComesFirst) {
    tuned(gemm(1024, 1024, 1024), "TILE_WIDTH=8", 12.5);
    tuned(gemm(1000, 1000, 1000), "TILE_WIDTH=32", 99);
    const auto choice = first(gemm(1000, 1000, 1000));
    EXPECT_EQ(choice.match, Match::exact);
    EXPECT_EQ(choice.kernel_template, "tiled");
    EXPECT_EQ(choice.configuration, "TILE_WIDTH=32");
    EXPECT_EQ(choice.tuned_for, "gemm f32 nn 1000x1000x1000");
    EXPECT_EQ(choice.expected_us, 99);
    EXPECT_EQ(choice.device, "sm_90");
}

TEST_F(Selection, ElseTheNearestInLogarithmsAndNotTheSameAmountOfWork) {
    tuned(gemm(512, 512, 512), "TILE_WIDTH=4");
    tuned(gemm(1024, 1024, 1024), "TILE_WIDTH=8");
    tuned(gemm(4096, 256, 1000), "TILE_WIDTH=16");
    tuned(gemm(1000, 1000, 64), "TILE_WIDTH=32");
    const auto choice = first(gemm(1000, 1000, 1000));
    EXPECT_EQ(choice.match, Match::nearest);
    EXPECT_EQ(choice.tuned_for, "gemm f32 nn 1024x1024x1024");
    EXPECT_EQ(choice.configuration, "TILE_WIDTH=8");
    EXPECT_EQ(first(gemm(700, 700, 700)).tuned_for, "gemm f32 nn 512x512x512");
    EXPECT_EQ(first(gemm(8000, 200, 900)).tuned_for, "gemm f32 nn 4096x256x1000");
}

TEST_F(Selection, ExtentsWhoseProductsOverflowAreComparedToo) {
    tuned(gemm(16, 16, 16), "TILE_WIDTH=4");
    tuned(gemm(65535, 65535, 65535), "TILE_WIDTH=32");
    EXPECT_EQ(first(gemm(65536, 65536, 65536)).tuned_for, "gemm f32 nn 65535x65535x65535");
    EXPECT_EQ(first(gemm(17, 17, 17)).tuned_for, "gemm f32 nn 16x16x16");
}

TEST_F(Selection, TheNearestIsSkippedWhereItsConfigurationIsNotValid) {
    store_winner(store, device, stepping.front(), gemm(128, 128, 128), parse_configuration("STEP=64"), 1);
    tuned(gemm(4096, 4096, 4096), "TILE_WIDTH=16");
    EXPECT_EQ(first(gemm(192, 128, 128)).configuration, "STEP=64");
    const auto choice = first(gemm(129, 128, 128));
    EXPECT_EQ(choice.match, Match::nearest);
    EXPECT_EQ(choice.tuned_for, "gemm f32 nn 4096x4096x4096");
}

TEST_F(Selection, AStoredTemplateNeedsNoFolder) {
    store_winner(store, device, stepping.front(), gemm(128, 128, 128), parse_configuration("STEP=2"), 1);
    const auto found = of(gemm(128, 128, 128)).at(0);
    EXPECT_EQ(found.choice.kernel_template, "stepping");
    EXPECT_EQ(found.choice.match, Match::exact);
    EXPECT_EQ(found.kernel_template->hash, stepping.front().hash);
    EXPECT_TRUE(found.template_row.has_value());
}

TEST_F(Selection, WhatASimilarDeviceLearnedStandsBetweenItsOwnAndTheDefaults) {
    const auto learned = [&](const Device& where, std::int64_t size, const std::string& configuration) {
        store_winner(store, where, find_template(templates, "tiled"), gemm(size, size, size),
                     parse_configuration(configuration), 1);
    };
    auto sibling = device;
    sibling.name = "a smaller sm_90";
    sibling.multiprocessors = 114;
    learned(model_device("sm_80"), 64, "TILE_WIDTH=4");
    learned(sibling, 128, "TILE_WIDTH=8");
    learned(Device{.name = "host"}, 64, "TILE_WIDTH=2");
    auto found = of(gemm(64, 64, 64));
    ASSERT_GE(found.size(), 3U);
    EXPECT_EQ(found[0].choice.match, Match::transferred);
    EXPECT_EQ(found[0].choice.configuration, "TILE_WIDTH=8") << "the more similar device, though of another size";
    EXPECT_EQ(found[0].choice.device, "a smaller sm_90");
    EXPECT_EQ(found[1].choice.device, "sm_80");
    EXPECT_EQ(found[2].choice.match, Match::untuned);
    EXPECT_EQ(found[2].choice.device, "sm_90");

    tuned(gemm(4096, 4096, 4096), "TILE_WIDTH=16");
    found = of(gemm(64, 64, 64));
    EXPECT_EQ(found[0].choice.match, Match::nearest) << "the device itself knows best";
    EXPECT_EQ(found[1].choice.match, Match::transferred);
}

TEST_F(Selection, WhatIsFastUnderChecksIsNotTaken) {
    const auto host = host_device();
    EXPECT_TRUE(is_checked(checked(host)));
    store_winner(store, checked(host), find_template(templates, "tiled"), gemm(64, 64, 64),
                 parse_configuration("TILE_WIDTH=8"), 1);
    for (const auto& each : all(Candidates(gemm(64, 64, 64), host, &store, templates, ""))) {
        EXPECT_EQ(each.choice.match, Match::untuned);
    }
    store_winner(store, host, find_template(templates, "tiled"), gemm(64, 64, 64), parse_configuration("TILE_WIDTH=8"),
                 1);
    EXPECT_EQ(all(Candidates(gemm(64, 64, 64), host, &store, templates, "")).at(0).choice.match, Match::exact);
}

TEST_F(Selection, WithoutADatabaseEveryTemplateOffersAValidDefault) {
    const auto problem = gemm(100, 100, 100);
    const auto found = all(Candidates(problem, device, nullptr, templates, ""));
    EXPECT_EQ(found.size(), 9U);
    for (const auto& each : found) {
        EXPECT_EQ(each.choice.match, Match::untuned);
        EXPECT_EQ(each.choice.tuned_for, "");
        EXPECT_EQ(each.choice.expected_us, 0);
        EXPECT_EQ(each.template_row, std::nullopt);
        EXPECT_EQ(infeasibility(*each.kernel_template, *each.configuration, problem, device), std::nullopt)
            << each.kernel_template->name;
    }
    EXPECT_EQ(found.front().choice.kernel_template, "warp_tiled");  // reuses loaded values the most
    EXPECT_EQ(found.back().choice.kernel_template, "naive");        // reuses no loaded value
}

TEST_F(Selection, BehindTheTunedOnesStandTheDefaults) {
    tuned(gemm(64, 64, 64), "TILE_WIDTH=8");
    const auto found = of(gemm(100, 100, 100));
    ASSERT_EQ(found.size(), 10U);
    EXPECT_EQ(found[0].choice.match, Match::nearest);
    EXPECT_EQ(found[1].choice.match, Match::untuned);
}

// Otherwise an application would get a kernel although the database says that it is wrong for this problem.
TEST_F(Selection, ADefaultThatWasRejectedIsLeftOut) {
    const auto problem = gemm(100, 100, 100);
    const auto& naive = find_template(templates, "naive");
    const auto defaults = [&](const Problem& asked) { return of(asked, "naive").size(); };
    EXPECT_EQ(defaults(problem), 1U);
    const TrialKey key{
        .device = store.remember(device),
        .kernel_template = store.remember(TemplateRecord{naive.name, naive.operation.name, naive.hash, naive.files}),
        .problem = store.remember(problem)};
    for (const auto stage : {Stage::timeout, Stage::wrong, Stage::crash}) {
        store.remember(TrialRecord{
            .key = key, .configuration = default_configuration(naive), .outcome = Rejection{stage, "C[0,0] is 1"}});
        Candidates candidates(problem, device, &store, templates, "naive");
        EXPECT_EQ(candidates.next(), std::nullopt);
        EXPECT_THAT(candidates.why_not(), HasSubstr("naive: its default configuration was rejected "
                                                    "(C[0,0] is 1); tune the problem"));
    }
    EXPECT_EQ(defaults(gemm(100, 100, 101)), 0U) << "it crashes at other problems";
    store.remember(TrialRecord{
        .key = key, .configuration = default_configuration(naive), .outcome = Rejection{Stage::timeout, "30 s"}});
    EXPECT_EQ(defaults(problem), 0U);
    EXPECT_EQ(defaults(gemm(100, 100, 101)), 1U) << "another problem";
    device = model_device("sm_80");
    EXPECT_EQ(defaults(problem), 1U) << "another device";
}

TEST_F(Selection, AWinnerWhoseCodeFailedAtAnyProblemIsNotTheNearest) {
    const Binary binary{.entry = "tiled", .target = "sm_90a", .compiler = "nvrtc", .code = {1, 2, 3}, .resources = {}};
    const auto& kernel = find_template(templates, "tiled");
    const auto configuration = parse_configuration("TILE_WIDTH=8");
    const auto tuned_for = gemm(128, 128, 128);
    store_winner(store, device, kernel, tuned_for, configuration, 10, &binary);
    const auto match = [&](const Problem& problem) { return first(problem, "tiled").match; };
    EXPECT_EQ(match(gemm(100, 71, 128)), Match::nearest);
    const auto remember = [&](const std::string& code_hash, Stage stage) {
        store.remember(TrialRecord{
            .key = {store.remember(device),
                    store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                    store.remember(gemm(100, 70, 128))},
            .configuration = configuration,
            .outcome = Rejection{stage, "C[0,0] is 1"},
            .code_hash = code_hash});
    };
    const auto code_hash = sha256(std::as_bytes(std::span(binary.code)));
    remember("other code", Stage::wrong);
    EXPECT_EQ(match(gemm(100, 71, 128)), Match::nearest);
    remember(code_hash, Stage::timeout);  // slow, but not wrong
    EXPECT_EQ(match(gemm(100, 71, 128)), Match::nearest);
    for (const auto stage : {Stage::wrong, Stage::crash}) {
        remember(code_hash, stage);
        EXPECT_EQ(match(gemm(100, 71, 128)), Match::untuned);
        EXPECT_EQ(match(tuned_for), Match::exact) << "it was verified there";
    }
}

TEST_F(Selection, ADefaultThatIsNotValidHereIsReplacedByAValidOne) {
    const auto of_m = [&](std::int64_t m) {
        const auto problem = gemm(m, 10, 10);
        return all(Candidates(problem, device, nullptr, stepping, ""));
    };
    EXPECT_EQ(of_m(64).at(0).choice.configuration, "STEP=64");
    EXPECT_EQ(of_m(9).at(0).choice.configuration, "STEP=3");
    EXPECT_TRUE(of_m(25).empty());
}

TEST_F(Selection, AStoredTemplateThatCannotBeReadIsSkipped) {
    const auto problem = gemm(64, 64, 64);
    tuned(problem, "TILE_WIDTH=8");
    auto unreadable = find_template(templates, "naive");
    unreadable.hash = "of one that no manifest describes any more";
    store_winner(store, device, unreadable, gemm(128, 128, 128), parse_configuration("BLOCK_X=64,BLOCK_Y=4"), 1);
    store.remember(TemplateRecord{"naive", "gemm", unreadable.hash, {{"naive.toml", "no manifest"}}});
    Candidates candidates(problem, device, &store, templates, "");
    EXPECT_EQ(candidates.next()->choice.match, Match::exact);
    EXPECT_EQ(candidates.next()->choice.match, Match::untuned);
}

TEST_F(Selection, AWinnerFromBeforeAParameterWasAddedHasItsDefault) {
    auto kernel = stepping.front();
    store_winner(store, device, kernel, gemm(64, 64, 64), parse_configuration("STEP=2"), 1);
    auto& manifest = kernel.files.at("stepping.toml");
    manifest += "\n[[parameter]]\nname = \"NEW\"\nvalues = [0, 7]\ndefault = 7\n";
    (void)store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
    const auto found = of(gemm(64, 64, 64)).at(0);
    EXPECT_EQ(found.choice.match, Match::exact);
    EXPECT_EQ(found.choice.configuration, "NEW=7,STEP=2");
}

TEST_F(Selection, OneTemplateAloneCanBeAskedFor) {
    tuned(gemm(100, 100, 100), "TILE_WIDTH=16", 5);
    tuned(gemm(200, 200, 200), "BLOCK_X=64,BLOCK_Y=4", 50, "naive");
    const auto found = of(gemm(100, 100, 100), "naive");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].choice.match, Match::nearest);
    EXPECT_EQ(found[0].choice.configuration, "BLOCK_X=64,BLOCK_Y=4");
    EXPECT_EQ(found[1].choice.match, Match::untuned);
    EXPECT_EQ(found[1].choice.kernel_template, "naive");
    EXPECT_TRUE(of(gemm(100, 100, 100), "no_such_template").empty());
}

TEST_F(Selection, ATemplateThatLostItsProblemCanStillBeAskedFor) {
    const auto problem = gemm(100, 100, 100);
    tuned(problem, "BLOCK_X=64,BLOCK_Y=4", 50, "naive");
    tuned(problem, "TILE_WIDTH=16", 5);
    EXPECT_EQ(first(problem).kernel_template, "tiled");
    const auto choice = first(problem, "naive");
    EXPECT_EQ(choice.match, Match::exact);
    EXPECT_EQ(choice.configuration, "BLOCK_X=64,BLOCK_Y=4");
}

TEST_F(Selection, ATemplateAskedForByNameIsWhatItIsNow) {
    const auto problem = gemm(100, 100, 100);
    auto& tiled = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    const auto earlier = std::exchange(tiled.hash, "of the source as it is now");
    tuned(problem, "TILE_WIDTH=16", 5);
    const auto present = std::exchange(tiled.hash, earlier);
    tuned(problem, "TILE_WIDTH=8", 1);  // the winner, of an earlier version of the source
    tiled.hash = present;
    EXPECT_EQ(first(problem, "tiled").configuration, "TILE_WIDTH=16");
    tiled.name = "of no folder that is open";
    EXPECT_EQ(first(problem, "tiled").configuration, "TILE_WIDTH=8") << "what only the database knows";
}

// The database was written before the template changed. The new version declares that it gives the same machine code,
// so the old winner is still an exact match.
TEST_F(Selection, AnEarlierVersionWithTheSameMachineCodeServesAsThePresentOne) {
    const auto problem = gemm(100, 100, 100);
    tuned(problem, "TILE_WIDTH=8", 1);
    auto& tiled = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    tiled.same_code_as = {tiled.hash};
    tiled.hash = "of the source as it is now";
    for (const auto* name : {"", "tiled"}) {
        const std::vector<std::string> own{"tiled"};
        const auto found = all(Candidates(problem, device, &store, templates, name, own)).at(0).choice;
        EXPECT_EQ(found.match, Match::exact) << name;
        EXPECT_EQ(found.configuration, "TILE_WIDTH=8") << name;
    }
}

TEST_F(Selection, OfTheApplicationsOwnTemplatesThePresentSourceAloneCounts) {
    const auto problem = gemm(100, 100, 100);
    tuned(problem, "TILE_WIDTH=8", 1);
    std::ranges::find(templates, "tiled", &KernelTemplate::name)->hash = "of the source as it is now";
    EXPECT_EQ(first(problem).match, Match::exact) << "a built-in one of an earlier version";
    const std::vector<std::string> own{"tiled"};
    const auto found = all(Candidates(problem, device, &store, templates, "", own));
    EXPECT_EQ(found.at(0).choice.match, Match::untuned);
}

// A configuration's machine code is stored once for all problems. Here, one configuration wins two problems. The
// machine code that is stored with the second winner replaces the machine code of the first winner.
TEST_F(Selection, AWinnerWhoseMachineCodeWasReplacedIsNoExactMatch) {
    const auto binary = [&](std::uint8_t byte) {
        return Binary{.entry = "tiled", .target = "sm_90a", .compiler = "NVRTC", .code = {byte}};
    };
    const auto store_code = [&](const Problem& problem, const Binary& code) {
        store_winner(store, device, find_template(templates, "tiled"), problem, parse_configuration("TILE_WIDTH=8"), 1,
                     &code);
    };
    store_code(gemm(64, 64, 64), binary(1));
    EXPECT_EQ(first(gemm(64, 64, 64)).match, Match::exact);
    store_code(gemm(128, 128, 128), binary(2));
    EXPECT_EQ(first(gemm(128, 128, 128)).match, Match::exact);
    const auto choice = first(gemm(64, 64, 64));
    EXPECT_EQ(choice.match, Match::nearest);
    EXPECT_EQ(choice.tuned_for, "gemm f32 nn 64x64x64");
}

// The row numbers of devices, problems and templates that were read from the first file are wrong in the second file.
TEST_F(Selection, AFileThatTakesThePlaceOfTheDatabaseIsReadFromTheBeginning) {
    const auto& tiled = find_template(templates, "tiled");
    {
        Store first(scratch / "first.db");
        store_winner(first, device, tiled, gemm(64, 64, 64), parse_configuration("TILE_WIDTH=32"), 1);
        Store other(scratch / "other.db");
        store_winner(other, model_device("sm_80"), tiled, gemm(256, 256, 256), parse_configuration("TILE_WIDTH=4"), 1);
        store_winner(other, device, tiled, gemm(512, 512, 512), parse_configuration("TILE_WIDTH=16"), 1);
    }
    const Store reader(scratch / "first.db", Store::Access::read);
    const auto problem = gemm(64, 64, 64);
    Candidates candidates(problem, device, &reader, templates, "");
    EXPECT_EQ(candidates.next()->choice.configuration, "TILE_WIDTH=32");
    std::filesystem::rename(scratch / "other.db", scratch / "first.db");
    const auto nearest = candidates.next()->choice;
    EXPECT_EQ(nearest.match, Match::nearest);
    EXPECT_EQ(nearest.device, "sm_90");
    EXPECT_EQ(nearest.configuration, "TILE_WIDTH=16");
    const auto transferred = candidates.next()->choice;
    EXPECT_EQ(transferred.match, Match::transferred);
    EXPECT_EQ(transferred.device, "sm_80");
    EXPECT_EQ(candidates.next()->choice.match, Match::untuned);
}

TEST_F(Selection, OfTheApplicationsOwnTemplatesTrialsByTheChecksOfTodayAloneCount) {
    const auto problem = gemm(100, 100, 100);
    tuned(problem, "TILE_WIDTH=8", 1);
    std::ranges::find(templates, "tiled", &KernelTemplate::name)->operation.definition += "one more check";
    EXPECT_EQ(first(problem).match, Match::exact) << "a built-in one, verified by an earlier version";
    const std::vector<std::string> own{"tiled"};
    const auto found = all(Candidates(problem, device, &store, templates, "", own));
    EXPECT_EQ(found.at(0).choice.match, Match::untuned);
}

TEST_F(Selection, ArgumentsAreTheSameOnlyInEveryPart) {
    const auto batched = *std::ranges::find(templates, "batched_gemm", [](const auto& t) { return t.operation.name; });
    const auto problem = batched_gemm(2, 8, 8, 8);
    const auto difference_after = [&](auto change) {
        auto other = batched.operation;
        change(*std::ranges::find(other.arguments, "A", &Argument::name),
               *std::ranges::find(other.arguments, "B", &Argument::name));
        return difference_of_signatures(other, batched.operation, problem, device);
    };
    EXPECT_EQ(difference_after([](Argument&, Argument&) {}), "");
    EXPECT_NE(difference_after([](Argument& a, Argument& b) { std::swap(a.name, b.name); }), "");
    EXPECT_NE(difference_after([](Argument& a, Argument&) { a.kind = Argument::Kind::output; }), "");
    EXPECT_NE(difference_after([](Argument& a, Argument& b) { std::swap(a.stride, b.stride); }), "");
    EXPECT_NE(difference_after([](Argument& a, Argument& b) { std::swap(a.batch_stride, b.batch_stride); }), "");
    for (const auto extent : {&Argument::rows, &Argument::columns, &Argument::count}) {
        EXPECT_NE(difference_after([&](Argument& a, Argument&) { a.*extent = Expression("7"); }), "");
    }
}

// Tests with winners of a template whose operation is the built-in gemm with one change, such as a renamed argument.
class Signatures : public Selection {
protected:
    [[nodiscard]] static KernelTemplate stepping_with(const std::string& from, const std::string& to) {
        auto sources = stepping_sources();
        auto manifest = builtin_sources().at("gemm/operation.toml");
        auto at = manifest.find(from);
        if (at == std::string::npos) throw std::runtime_error("the operation does not hold " + from);
        for (; at != std::string::npos; at = manifest.find(from, at + to.size())) {
            manifest.replace(at, from.size(), to);
        }
        sources["operation.toml"] = manifest;
        sources["reference.cu"] = "";
        return load_templates(sources).front();
    }
    // Stores a winner of `kernel` and returns why the selection leaves it out; empty if the selection uses it.
    [[nodiscard]] std::string refusal(const KernelTemplate& kernel) {
        const auto problem = gemm(64, 64, 64);
        store_winner(store, device, kernel, problem, parse_configuration("STEP=2"), 1);
        Candidates candidates(problem, device, &store, templates, "");
        const auto first = candidates.next();
        EXPECT_EQ(first->choice.match == Match::untuned, !candidates.why_not().empty());
        return candidates.why_not();
    }
};

TEST_F(Signatures, ATemplateWithThoseThatTheCallerKnowsServes) {
    EXPECT_EQ(refusal(stepping_with("summary ", "summary  ")), "");
    EXPECT_EQ(refusal(stepping_with("rows    = \"M\"", "rows = \"M + 0\"")), "") << "the same size in other words";
}

// Tests with an application's own gemm, which has the signature of the built-in gemm and a different reference.
class OwnOperation : public Signatures {
protected:
    [[nodiscard]] static KernelTemplate computing(const std::string& reference, const std::string& name) {
        auto sources = stepping_sources();
        sources["operation.toml"] = builtin_sources().at("gemm/operation.toml");
        sources["reference.cu"] = reference;
        for (const std::string extension : {".toml", ".cu"}) {
            auto file = sources.extract("stepping" + extension);
            file.key() = name + extension;
            file.mapped().replace(file.mapped().find("stepping"), 8, name);
            sources.insert(std::move(file));
        }
        return load_templates(sources).front();
    }
    // The candidates of an application whose own templates are only `its_own`.
    [[nodiscard]] std::vector<Candidate> with_own(const KernelTemplate& its_own, std::string* why_not = nullptr) {
        templates.push_back(its_own);
        const std::vector<std::string> own{its_own.name};
        const auto problem = gemm(64, 64, 64);
        Candidates candidates(problem, device, &store, templates, "", own);
        std::vector<Candidate> result;
        while (auto candidate = candidates.next()) result.push_back(std::move(*candidate));
        if (why_not != nullptr) *why_not = candidates.why_not();
        templates.pop_back();
        return result;
    }
    void tuned_by(const KernelTemplate& kernel) {
        store_winner(store, device, kernel, gemm(64, 64, 64), parse_configuration("STEP=2"), 1);
    }
    const KernelTemplate mine = computing("// as it is now", "mine");
};

TEST_F(OwnOperation, ThatWasRedefinedIsNotServedByATemplateThatLeftTheFolderSince) {
    tuned_by(computing("// as it was", "gone"));
    EXPECT_EQ(with_own(mine).at(0).choice.match, Match::untuned);
    EXPECT_EQ(first(gemm(64, 64, 64)).kernel_template, "gone") << "without one of its own, it knows nothing better";
    tuned_by(computing("// as it is now", "gone"));
    EXPECT_EQ(with_own(mine).at(0).choice.kernel_template, "gone");
    EXPECT_EQ(with_own(mine).at(0).choice.match, Match::exact);
}

TEST_F(OwnOperation, IsNotServedByTheBuiltInTemplatesOfItsName) {
    tuned(gemm(64, 64, 64), "TILE_WIDTH=8");
    std::string why_not;
    const auto found = with_own(mine, &why_not);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].choice.kernel_template, "mine");
    EXPECT_EQ(found[0].choice.match, Match::untuned);
    EXPECT_THAT(why_not, HasSubstr("; tiled: its gemm is defined otherwise than the application's own"));
    EXPECT_GT(with_own(stepping.front()).size(), 9U) << "unless it is the same";
}

TEST_F(OwnOperation, IsNotServedByAnotherOperationsTrialsFromBeforeVerificationWasRecorded) {
    tuned_by(computing("// as it was", "gone"));
    auto trial = store.row(1)->record;
    trial.verified_by = unrecorded;
    store.remember(trial);
    EXPECT_EQ(with_own(mine).at(0).choice.match, Match::untuned);
    EXPECT_EQ(with_own(computing("// as it was", "mine")).at(0).choice.match, Match::exact);
}

TEST_F(Signatures, ARenamedArgumentIsAnother) {
    EXPECT_THAT(refusal(stepping_with("\"lda\"", "\"ldA\"")),
                testing::AllOf(HasSubstr("; stepping: "), HasSubstr("other arguments")));
}

TEST_F(Signatures, ArgumentsInAnotherOrderAreOthers) {
    const std::string a = "[[operation.argument]]\nname = \"alpha\"\nkind = \"scalar\"\n\n";
    auto manifest = builtin_sources().at("gemm/operation.toml");
    manifest.erase(manifest.find(a), a.size());
    auto sources = stepping_sources();
    sources["operation.toml"] = manifest + "\n" + a;
    sources["reference.cu"] = "";
    EXPECT_THAT(refusal(load_templates(sources).front()),
                HasSubstr("other arguments than expected, or in another order"));
}

TEST_F(Signatures, AnArgumentOfAnotherKindIsAnother) {
    auto manifest = builtin_sources().at("gemm/operation.toml");
    manifest = manifest.substr(0, manifest.find("[[operation.check]]")) +
               "[[operation.check]]\ninputs = \"uniform\"\nscalars = { alpha = 1, beta = 0 }\n";
    const std::string input = "kind    = \"input\"";
    manifest.replace(manifest.find(input), input.size(), "kind    = \"output\"");
    auto sources = stepping_sources();
    sources["operation.toml"] = manifest;
    sources["reference.cu"] = "";
    EXPECT_THAT(refusal(load_templates(sources).front()), HasSubstr("other arguments"));
}

TEST_F(Signatures, AnArgumentWithAnotherStrideIsAnother) {
    const auto strides = [](const std::string& of_a, const std::string& of_b) {
        return "stride  = \"" + of_a + R"("

[[operation.argument]]
name = "lda"
kind = "stride"

[[operation.argument]]
name    = "B"
kind    = "input"
rows    = "TRANSPOSE_B ? N : K"
columns = "TRANSPOSE_B ? K : N"
stride  = ")" + of_b +
               "\"";
    };
    EXPECT_THAT(refusal(stepping_with(strides("lda", "ldb"), strides("ldb", "lda"))), HasSubstr("other arguments"));
}

TEST_F(Signatures, AnArgumentOfAnotherSizeIsAnother) {
    for (const auto& [from, to] : {std::pair{"rows    = \"M\"", "rows = \"M + 1\""},
                                   {"columns = \"N\"", "columns = \"N + 1\""},
                                   {"columns = \"N\"", "columns = \"N\"\ncount = \"2\""}}) {
        EXPECT_THAT(refusal(stepping_with(from, to)), HasSubstr("argument C has another size")) << to;
    }
}

TEST_F(Signatures, ALayoutThatMeansAnotherThingIsAnother) {
    EXPECT_THAT(refusal(stepping_with("TRANSPOSE_A = 0, TRANSPOSE_B = 0", "TRANSPOSE_A = 0, TRANSPOSE_B = 1")),
                HasSubstr("defines this layout differently"));
    EXPECT_EQ(refusal(stepping_with("layouts.tt", "layouts.both")), "") << "which nobody asks for";
}

TEST_F(Signatures, ExtentsOfAnotherNumberOrOrderAreOthers) {
    EXPECT_THAT(refusal(stepping_with(R"(["M", "N", "K"])", R"(["M", "N", "K", "L"])")), HasSubstr("other extents"));
    EXPECT_THAT(refusal(stepping_with(R"(["M", "N", "K"])", R"(["M", "K", "N"])")), HasSubstr("other extents"));
    EXPECT_TRUE(std::isinf(distance(gemm(8, 8, 8), {"gemm", "f32", "nn", {{"M", 8}, {"K", 8}, {"N", 8}}})));
}

// The database ranks problems by their first four extents only. The selection must also compare the fifth.
TEST_F(Signatures, OfProblemsWithFiveExtentsTheLastCountsToo) {
    templates = {stepping_with(R"(["M", "N", "K"])", R"(["M", "N", "K", "L", "P"])")};
    const auto problem = [](std::int64_t last) {
        return Problem{"gemm", "f32", "nn", {{"M", 8}, {"N", 8}, {"K", 8}, {"L", 8}, {"P", last}}};
    };
    for (const int last : {8, 1024}) {
        store_winner(store, device, templates.front(), problem(last), parse_configuration("STEP=2"), 1);
    }
    EXPECT_EQ(first(problem(9)).tuned_for, to_text(problem(8)));
    EXPECT_EQ(first(problem(1000)).tuned_for, to_text(problem(1024)));
}

TEST_F(Signatures, AnOperationOfTheApplicationsOwnIsTheOneThatItKnows) {
    const auto own = stepping_with("\"lda\"", "\"ldA\"");
    templates.push_back(own);
    tuned(gemm(64, 64, 64), "TILE_WIDTH=8");
    const std::vector<std::string> names{"stepping"};
    const auto problem = gemm(64, 64, 64);
    for (const auto& each : all(Candidates(problem, device, &store, templates, "", names))) {
        EXPECT_EQ(each.choice.kernel_template, "stepping");
    }
    EXPECT_EQ(all(Candidates(problem, device, &store, templates, "tiled", names)).at(0).choice.match, Match::exact)
        << "who names a template knows its arguments";
}

TEST_F(Signatures, WhereTheCallerKnowsNoSuchOperationTheStoredOneStands) {
    std::erase_if(templates, [](const KernelTemplate& each) { return each.operation.name == "gemm"; });
    store_winner(store, device, stepping.front(), gemm(64, 64, 64), parse_configuration("STEP=2"), 1);
    EXPECT_EQ(first(gemm(64, 64, 64)).match, Match::exact);
    const Problem misfit{"gemm", "f32", "nn", {{"M", 8}, {"N", 8}}};
    Candidates candidates(misfit, device, &store, templates, "");
    EXPECT_FALSE(candidates.next());
    EXPECT_THAT(candidates.why_not(), HasSubstr("MxNxK"));
}

TEST_F(Selection, ATemplateOfAnotherNameThanItsRowSaysIsSkipped) {
    auto renamed = stepping.front();
    renamed.name = "tiled";
    renamed.hash = "of its own";
    store_winner(store, device, renamed, gemm(64, 64, 64), parse_configuration("STEP=2"), 1);
    EXPECT_EQ(first(gemm(64, 64, 64)).match, Match::untuned);
}

TEST_F(Selection, TemplatesThatOnlyTheDatabaseHasCanBeExcluded) {
    store_winner(store, device, stepping.front(), gemm(64, 64, 64), parse_configuration("STEP=2"), 1);
    tuned(gemm(128, 64, 64), "TILE_WIDTH=8");
    const auto problem = gemm(64, 64, 64);
    Candidates candidates(problem, device, &store, templates, "", {}, StoredTemplates::known);
    const auto found = candidates.next();
    EXPECT_EQ(found->choice.kernel_template, "tiled");
    EXPECT_EQ(found->choice.match, Match::nearest);
    EXPECT_THAT(candidates.why_not(), HasSubstr("; stepping: only the database has this version"));
}

// Someone may edit the stored files of a template. If the runtime has the same version itself, the edit must not change
// the code that runs.
TEST_F(Selection, TheFilesOfAVersionThatTheRuntimeHasAreNotReadFromTheDatabase) {
    auto edited = find_template(templates, "tiled");
    edited.files.at("gemm/tiled.cu") += "// edited";
    store_winner(store, device, edited, gemm(64, 64, 64), parse_configuration("TILE_WIDTH=8"), 1);
    const auto found = of(gemm(64, 64, 64)).at(0);
    EXPECT_EQ(found.choice.match, Match::exact);
    EXPECT_EQ(found.kernel_template->files, find_template(templates, "tiled").files);
}

TEST_F(Selection, WhatNoTemplateKnowsHasNoCandidate) {
    EXPECT_TRUE(of({"convolution", "f32", "", {{"M", 1}}}).empty());
    EXPECT_TRUE(of(batched_gemm(1, 1, 1, 1, "bf16")).empty());
    EXPECT_TRUE(of(gemm(1, 1, 1, "f32", "xx")).empty());
    device.compute_capability = 70;
    EXPECT_TRUE(of(gemm(1, 1, 1)).empty());
}

TEST(Distance, OfDevicesIsThatOfTheLogarithmsOfSixFieldsThatBothKnow) {
    const auto hopper = model_device("sm_90");
    const std::vector<std::string_view> counted{
        "compute_capability",           "multiprocessors", "shared_bytes_per_multiprocessor",
        "registers_per_multiprocessor", "l2_bytes",        "clock_khz"};
    for (const auto& field : device_fields()) {
        auto twice = hopper;
        twice.*field.member = std::max<std::int64_t>(2, 2 * (twice.*field.member));
        auto unknown = hopper;
        unknown.*field.member = field.name == "compute_capability" ? hopper.compute_capability : 0;
        const bool counts = std::ranges::find(counted, field.name) != counted.end();
        EXPECT_NEAR(distance(hopper, twice), counts ? std::log(2) : 0, 1e-12) << field.name;
        EXPECT_NEAR(distance(twice, hopper), counts ? std::log(2) : 0, 1e-12) << field.name;
        EXPECT_EQ(distance(hopper, unknown), 0) << field.name;
        EXPECT_EQ(distance(unknown, hopper), 0) << field.name;
    }
    auto both = hopper;
    both.multiprocessors *= 2;
    both.l2_bytes /= 2;
    EXPECT_NEAR(distance(hopper, both), std::sqrt(2) * std::log(2), 1e-12);
    EXPECT_EQ(distance(Device{.name = "host"}, Device{.name = "another host"}), 0);
}

TEST(Distance, OfProblemsWithOtherNamesOrNumbersOfExtentsIsInfinite) {
    const Problem two{"any", "f32", "", {{"M", 8}, {"N", 8}}};
    auto other = two;
    EXPECT_EQ(distance(two, other), 0);
    other.extents[1].first = "K";
    EXPECT_TRUE(std::isinf(distance(two, other)));
    other.extents.pop_back();
    EXPECT_TRUE(std::isinf(distance(two, other)));
    EXPECT_TRUE(std::isinf(distance(other, two)));
    other = two;
    other.operation = "other";
    EXPECT_TRUE(std::isinf(distance(two, other)));
    other = two;
    other.type = "f64";
    EXPECT_TRUE(std::isinf(distance(two, other)));
    other = two;
    other.layout = "nt";
    EXPECT_TRUE(std::isinf(distance(two, other)));
}

TEST(BinaryKey, IsTheTargetTheTypeAndTheLayoutIfThereIsOne) {
    EXPECT_EQ(binary_key("sm_90a", gemm(1, 2, 3, "f16", "nt")), "sm_90a f16 nt");
    EXPECT_EQ(binary_key("sm_80", {"transpose", "f32", "", {}}), "sm_80 f32");
}

TEST_F(Selection, ADifferenceOfSignaturesSaysWhichPartDiffers) {
    const auto& operation = find_template(templates, "tiled").operation;
    const auto difference = [&](auto change, const std::string& layout = "nn") {
        auto other = operation;
        change(other);
        return difference_of_signatures(other, operation, gemm(8, 8, 8, "f32", layout), device);
    };
    const auto a_of = [](Operation& other) -> Argument& {
        return *std::ranges::find(other.arguments, "A", &Argument::name);
    };
    EXPECT_EQ(difference([](Operation&) {}), "");
    EXPECT_EQ(difference([](Operation& other) { other.extents.emplace_back("BATCH"); }),
              "its operation has other extents than expected");
    EXPECT_EQ(difference([](Operation& other) { other.layouts.at("nn").begin()->second = 7; }),
              "its operation defines this layout differently than expected");
    EXPECT_EQ(difference([](Operation& other) { other.layouts.at("nn").begin()->second = 7; }, "nt"), "")
        << "another layout than the problem's";
    EXPECT_EQ(difference([&](Operation& other) { a_of(other).type = argument_type("f32"); }),
              "its operation takes other arguments than expected, or in another order");
    EXPECT_EQ(difference([](Operation& other) { other.arguments.pop_back(); }),
              "its operation takes other arguments than expected, or in another order");
    for (const auto name : {&Argument::stride, &Argument::batch_stride, &Argument::name}) {
        EXPECT_EQ(difference([&](Operation& other) { a_of(other).*name = "ldc"; }),
                  "its operation takes other arguments than expected, or in another order");
    }
    for (const auto size : {&Argument::rows, &Argument::columns, &Argument::count}) {
        EXPECT_EQ(difference([&](Operation& other) { a_of(other).*size = Expression("9"); }),
                  "its argument A has another size than expected");
    }
    EXPECT_EQ(difference([&](Operation& other) { a_of(other).rows = Expression("8 + 0"); }), "")
        << "another text of the same size";
}

TEST_F(Selection, ASignatureIsTheSameOnlyIfItHasTheSameTexts) {
    const auto& operation = find_template(templates, "tiled").operation;
    const auto is_same_after = [&](auto change, const std::string& layout = "nn") {
        auto other = operation;
        change(other);
        return is_same_signature(other, operation, layout);
    };
    EXPECT_TRUE(is_same_after([](Operation&) {}));
    EXPECT_FALSE(is_same_after([](Operation& other) { other.extents.emplace_back("BATCH"); }));
    const auto change_nn = [](Operation& other) { other.layouts.at("nn").begin()->second = 7; };
    EXPECT_FALSE(is_same_after(change_nn));
    EXPECT_TRUE(is_same_after(change_nn, "nt"));
    EXPECT_FALSE(is_same_after([](Operation& other) { other.arguments.back().name = "D"; }));
    EXPECT_FALSE(is_same_after([](Operation& other) { other.arguments.back().rows = Expression("M + 0"); }))
        << "although the size is the same";
}

}  // namespace
}  // namespace smemtune
