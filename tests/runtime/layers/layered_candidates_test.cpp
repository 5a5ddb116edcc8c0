// Tests which of several databases a candidate comes from. The tests need no device.
#include "runtime/layers/layered_candidates.h"

#include <gmock/gmock.h>

#include "tests/runtime/layers/change_database.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LayeredCandidatesTest : public testing::Test {
protected:
    std::filesystem::path file(const std::string& name) const { return scratch / (name + ".db"); }

    void tuned(const std::string& layer, const Device& on, const Problem& asked, const std::string& configuration) {
        Store store(file(layer));
        store_winner(store, on, find_template(templates, "tiled"), asked, parse_configuration(configuration), 10);
    }

    // Stores a portfolio. Its models predict one microsecond for each block of the busiest multiprocessor.
    void portfolio(const std::string& layer, const Device& on, const std::vector<std::string>& configurations,
                   double error = 0.05) {
        Store store(file(layer));
        const auto& kernel = find_template(templates, "tiled");
        const std::vector<std::uint8_t> code{1, 2, 3};
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        const auto row = store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
        for (const auto& text : configurations) {
            members.push_back({.kernel_template = row,
                               .configuration = parse_configuration(text),
                               .model = {.coefficients = {0, 0, 1, 0, 0, 0, 0, 0}, .error = error},
                               .registers = 32,
                               .static_shared_bytes = 0,
                               .classes = {"111"},
                               .verified_by = operation_identity(kernel, gemm(1, 1, 1)) + "/testbed",
                               .code_hash = sha256(std::as_bytes(std::span(code)))});
            binaries.push_back({.kernel_template = row,
                                .configuration = parse_configuration(text),
                                .target = "sm_90a f32 nn",
                                .compiler = "nvrtc",
                                .code = code,
                                .resources = {}});
        }
        store.set_portfolio({store.remember(on), "gemm", "f32", "nn"}, members, binaries);
    }

    // The candidates from these layers, of which the first is required. Templates' defaults are left out.
    std::vector<Candidate> of(const std::vector<std::string>& names, const Problem& asked) {
        Layers layers({}, [&](const std::string& message) { warnings.push_back(message); });
        layers.add_required(file(names.front()));
        for (std::size_t i = 1; i < names.size(); ++i) layers.add(file(names[i]));
        LayeredCandidates candidates(layers, [&](const Store* store, PredictorCache* predictors) {
            return Candidates(asked, device, store, templates, "", {}, StoredTemplates::any, predictors);
        });
        std::vector<Candidate> result;
        while (auto candidate = candidates.next()) {
            if (candidate->choice.match == Match::untuned) break;
            result.push_back(std::move(*candidate));
        }
        return result;
    }

    // The candidates in their order, each as a text "LAYER CONFIGURATION".
    std::vector<std::string> order(const std::vector<std::string>& names, const Problem& asked) {
        std::vector<std::string> result;
        for (const auto& each : of(names, asked)) {
            EXPECT_EQ(each.choice.database, file(names[each.layer]).string());
            result.push_back(names[each.layer] + " " + each.choice.configuration);
        }
        return result;
    }

    TemporaryFolder scratch;
    Device device = model_device("sm_90");
    std::vector<KernelTemplate> templates = builtin_templates();
    std::vector<std::string> warnings;
    const Problem problem = gemm(256, 256, 256);
    const Problem another = gemm(512, 256, 256);
};

TEST_F(LayeredCandidatesTest, ADefaultThatAnyLayerRejectedForTheProblemIsLeftOut) {
    const auto& naive = find_template(templates, "naive");
    Store(file("user")).remember(device);
    {
        Store store(file("application"));
        store.remember(TrialRecord{
            .key = {store.remember(device),
                    store.remember(TemplateRecord{naive.name, naive.operation.name, naive.hash, naive.files}),
                    store.remember(problem)},
            .configuration = default_configuration(naive),
            .outcome = Rejection{Stage::timeout, "C[0,0] is 1"}});
    }
    const auto is_served = [&](const Problem& asked) {
        Layers layers({}, [&](const std::string& message) { warnings.push_back(message); });
        layers.add_required(file("user"));
        layers.add(file("application"));
        LayeredCandidates candidates(layers, [&](const Store* store, PredictorCache* predictors) {
            return Candidates(asked, device, store, templates, "naive", {}, StoredTemplates::any, predictors);
        });
        const bool found = candidates.next().has_value();
        EXPECT_EQ(candidates.why_not().find("C[0,0] is 1") == std::string::npos, found);
        return found;
    };
    EXPECT_FALSE(is_served(problem));
    EXPECT_TRUE(is_served(another));
}

TEST_F(LayeredCandidatesTest, TheFirstLayerWithTheWinnerOfTheProblemServesAndLaterOnesAreNotOpened) {
    tuned("user", device, another, "TILE_WIDTH=8");
    tuned("application", device, problem, "TILE_WIDTH=16");
    const auto found = of({"user", "application", "absent"}, problem);
    EXPECT_EQ(found.at(0).choice.match, Match::exact);
    EXPECT_EQ(found.at(0).choice.configuration, "TILE_WIDTH=16");
    EXPECT_EQ(found.at(0).layer, 1);

    tuned("user", device, problem, "TILE_WIDTH=32");
    Layers layers({}, [&](const std::string& message) { warnings.push_back(message); });
    layers.add_required(file("user"));
    layers.add(file("absent"));
    warnings.clear();
    LayeredCandidates candidates(layers, [&](const Store* store, PredictorCache* predictors) {
        return Candidates(problem, device, store, templates, "", {}, StoredTemplates::any, predictors);
    });
    EXPECT_EQ(candidates.next()->choice.configuration, "TILE_WIDTH=32");
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_EQ(candidates.next()->choice.tuned_for, to_text(another));
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("absent.db: does not exist")));
}

TEST_F(LayeredCandidatesTest, AWinnerOfTheProblemInAnyLayerComesBeforeAPrediction) {
    portfolio("user", device, {"TILE_WIDTH=8"});
    tuned("system", device, problem, "TILE_WIDTH=16");
    EXPECT_THAT(order({"user", "system"}, problem), ElementsAre("system TILE_WIDTH=16", "user TILE_WIDTH=8"));
}

TEST_F(LayeredCandidatesTest, OfPredictionsThoseOfTheFirstLayerComeFirst) {
    portfolio("user", device, {"TILE_WIDTH=8"});
    portfolio("system", device, {"TILE_WIDTH=32", "TILE_WIDTH=16"});
    const auto found = of({"user", "system"}, problem);
    ASSERT_EQ(found.size(), 3);
    EXPECT_EQ(found[0].layer, 0);
    EXPECT_GT(found[0].choice.expected_us, found[1].choice.expected_us) << "although it is slower";
    EXPECT_EQ(found[1].choice.configuration, "TILE_WIDTH=32");
}

// After a user has tuned one size, a fetch of another size must not get a slower kernel than before.
TEST_F(LayeredCandidatesTest, ASystemsPortfolioComesBeforeTheUsersWinnerOfAnotherProblem) {
    tuned("user", device, another, "TILE_WIDTH=8");
    portfolio("system", device, {"TILE_WIDTH=32"});
    EXPECT_THAT(order({"user", "system"}, problem), ElementsAre("system TILE_WIDTH=32", "user TILE_WIDTH=8"));

    auto similar = device;
    similar.name = "another GPU of this architecture";
    similar.multiprocessors = 114;
    portfolio("similar", similar, {"TILE_WIDTH=16"});
    EXPECT_THAT(order({"user", "similar"}, problem), ElementsAre("similar TILE_WIDTH=16", "user TILE_WIDTH=8"));
}

TEST_F(LayeredCandidatesTest, PortfoliosWithModelsOfAnotherVersionAreLeftOutAndNamedOnce) {
    for (const auto* layer : {"user", "application"}) portfolio(layer, device, {"TILE_WIDTH=8", "TILE_WIDTH=16"});
    change_database(file("user"), "UPDATE portfolio SET terms_version = terms_version - 1");
    EXPECT_THAT(order({"user", "application"}, problem), Each(HasSubstr("application")));
    const auto name = file("user").string();
    EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr(name + ": its portfolios of gemm f32 nn are not used"),
                                            HasSubstr("--refit --db " + name + "'"))));
    warnings.clear();
    change_database(file("application"), "UPDATE portfolio SET terms_version = terms_version + 1");
    EXPECT_THAT(order({"user", "application"}, problem), IsEmpty());
    EXPECT_EQ(warnings.size(), 2) << "an optional layer is named, too";
}

TEST_F(LayeredCandidatesTest, WhatAnotherArchitectureKnowsComesLast) {
    const auto other = model_device("sm_80");
    tuned("system", other, problem, "TILE_WIDTH=16");
    portfolio("system", other, {"TILE_WIDTH=32"});
    tuned("user", device, another, "TILE_WIDTH=8");
    EXPECT_THAT(order({"system", "user"}, problem), ElementsAre("user TILE_WIDTH=8", "system TILE_WIDTH=16"))
        << "and its portfolio serves nobody";
}

TEST_F(LayeredCandidatesTest, ASimilarDevicesPortfolioIsScaledToThisOneAndKeptWithinItsLimits) {
    auto similar = device;
    similar.name = "H200";
    portfolio("system", similar, {"TILE_WIDTH=8", "TILE_WIDTH=32"});
    device.multiprocessors = similar.multiprocessors / 2;
    const auto larger = gemm(2048, 2048, 256);
    const auto blocks = [&](std::int64_t width) { return (2048 / width) * (2048 / width); };
    const auto busiest = [&](std::int64_t width) {
        return (blocks(width) + device.multiprocessors - 1) / device.multiprocessors;
    };
    auto found = of({"system"}, larger);
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0].choice.match, Match::transferred);
    EXPECT_EQ(found[0].choice.configuration, "TILE_WIDTH=32");
    EXPECT_NEAR(found[0].choice.expected_us, static_cast<double>(busiest(32)), 1);
    EXPECT_EQ(found[0].choice.device, "H200");
    EXPECT_EQ(found[0].choice.tuned_for, "");
    EXPECT_EQ(found[0].choice.uncertainty, 0.05);
    EXPECT_THAT(found[0].choice.why, HasSubstr("by the portfolio of H200"));
    EXPECT_EQ(found[0].code_hash.size(), 64U) << "with the machine code that was verified";

    device.threads_per_block = 512;
    found = of({"system"}, larger);
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].choice.configuration, "TILE_WIDTH=8");
}

TEST_F(LayeredCandidatesTest, TheMostSimilarDeviceComesFirst) {
    auto near = device;
    near.name = "near";
    near.multiprocessors -= 10;
    auto far = device;
    far.name = "far";
    far.multiprocessors /= 2;
    portfolio("system", far, {"TILE_WIDTH=8"});
    portfolio("system", near, {"TILE_WIDTH=16"});
    portfolio("system", device, {"TILE_WIDTH=32"});
    EXPECT_THAT(order({"system"}, problem),
                ElementsAre("system TILE_WIDTH=32", "system TILE_WIDTH=16", "system TILE_WIDTH=8"));
}

TEST_F(LayeredCandidatesTest, DamagedRowsOfOneLayerLeaveTheOthersAndAreNamed) {
    portfolio("user", device, {"TILE_WIDTH=8"});
    portfolio("system", device, {"TILE_WIDTH=16"});
    change_database(file("user"), "UPDATE portfolio SET error = 0");
    Layers layers({}, [&](const std::string& message) { warnings.push_back(message); });
    layers.add_required(file("user"));
    layers.add(file("system"));
    LayeredCandidates candidates(layers, [&](const Store* store, PredictorCache* predictors) {
        return Candidates(problem, device, store, templates, "", {}, StoredTemplates::any, predictors);
    });
    EXPECT_EQ(candidates.next()->choice.configuration, "TILE_WIDTH=16");
    EXPECT_THAT(candidates.damage(), HasSubstr("user.db: holds a damaged row"));
    EXPECT_THAT(warnings, IsEmpty());
}

}  // namespace
}  // namespace smemtune
