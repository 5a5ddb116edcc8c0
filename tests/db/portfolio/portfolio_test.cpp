#include "db/portfolio/portfolio.h"

#include <thread>

#include "db/file/functions.h"
#include "db/integrity/row_hash.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

const std::vector<std::uint8_t> code{1, 2, 3};

BinaryRecord binary_of(std::int64_t kernel_template, const Configuration& configuration) {
    return {.kernel_template = kernel_template,
            .configuration = configuration,
            .target = "sm_90a f32 nn",
            .compiler = "nvrtc",
            .code = code,
            .resources = {.registers = 32}};
}

PortfolioMember member_of(std::int64_t kernel_template, const Configuration& configuration) {
    return {.kernel_template = kernel_template,
            .configuration = configuration,
            .model = {.coefficients = {1.0 / 3, 0, 2e-9, 1, 2, 3, 4, 1e5, 5, 6},
                      .error = 0.07,
                      .residuals = {{{4.1589, 5, 2.0794}, -0.03}, {{7, 7, 7}, 0.5}}},
            .registers = 32,
            .static_shared_bytes = 1024,
            .classes = {"000", "111"},
            .verified_by = "operation/testbed",
            .code_hash = sha256(std::as_bytes(std::span(code)))};
}

class PortfolioTest : public ::testing::Test {
protected:
    Scratch scratch;
    std::filesystem::path path = scratch / "tuned.db";
    Store store{path};
    TrialKey rows = key_in(store);
    PortfolioKey key{rows.device, "gemm", "f32", "nn"};

    void set(const std::vector<std::int64_t>& widths) {
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto width : widths) {
            members.push_back(member_of(rows.kernel_template, tile(width)));
            binaries.push_back(binary_of(rows.kernel_template, tile(width)));
        }
        store.set_portfolio(key, members, binaries);
    }
};

TEST_F(PortfolioTest, EveryFieldOfAMemberComesBackWithItsTemplateAndMachineCode) {
    set({16, 32});
    for (const auto& found : {store.portfolio(key), Store(path, Store::Access::read).portfolio(key)}) {
        ASSERT_EQ(found.members.size(), 2);
        EXPECT_EQ(found.members[0].member, member_of(rows.kernel_template, tile(16)));
        EXPECT_EQ(found.members[1].member.configuration, tile(32));
        EXPECT_EQ(found.members[0].kernel_template, "tiled");
        EXPECT_EQ(found.members[0].template_hash, tiled().hash);
        EXPECT_TRUE(found.damages.empty());
    }
    EXPECT_EQ(store.recall_binary(rows.kernel_template, tile(32), "sm_90a f32 nn")->code, code);
}

TEST_F(PortfolioTest, ANewOneReplacesTheOldOneOfTheSameKeyAlone) {
    set({16, 32});
    const auto first = key;
    key.layout = "nt";
    set({64});
    key = first;
    set({8});
    ASSERT_EQ(store.portfolio(first).members.size(), 1);
    EXPECT_EQ(store.portfolio(first).members[0].member.configuration, tile(8));
    EXPECT_EQ(store.portfolio({first.device, "gemm", "f32", "nt"}).members.size(), 1);
    for (const auto& other :
         {PortfolioKey{first.device + 1, "gemm", "f32", "nn"}, PortfolioKey{first.device, "batched_gemm", "f32", "nn"},
          PortfolioKey{first.device, "gemm", "f64", "nn"}}) {
        EXPECT_TRUE(store.portfolio(other).members.empty());
    }
}

TEST_F(PortfolioTest, AMemberWithoutTheMachineCodeThatWasVerifiedIsRefusedAndNothingChanges) {
    set({16});
    auto binary = binary_of(rows.kernel_template, tile(32));
    const auto refused = [&] {
        return error_of([&] { store.set_portfolio(key, {member_of(rows.kernel_template, tile(32))}, {binary}); });
    };
    EXPECT_EQ(refused(), "");
    binary.code.push_back(9);
    EXPECT_NE(refused().find("TILE_WIDTH=32"), std::string::npos);
    binary = binary_of(rows.kernel_template, tile(64));
    EXPECT_NE(refused(), "");
    EXPECT_EQ(store.portfolio(key).members.at(0).member.configuration, tile(32));
}

TEST_F(PortfolioTest, ADamagedMemberIsLeftOutAndListed) {
    for (const auto* change :
         {"configuration = 'TILE_WIDTH=64'", "coefficients = '[1,0,0,0,0,0,0,0,0,0,[]]'", "error = 0.5",
          "registers = 1", "static_shared_bytes = 1", "classes = '[\"101\"]'", "verified_by = 'x/y'", "code_hash = 'z'",
          "sha256 = NULL", "template = (SELECT max(id) FROM templates)"}) {
        store.remember(TemplateRecord{"other", "gemm", "hash of other", {}});
        set({16, 32});
        const auto where = " WHERE id = (SELECT min(id) FROM portfolio)";
        execute(path, std::string("UPDATE portfolio SET ") + change + where);
        const auto found = store.portfolio(key);
        ASSERT_EQ(found.members.size(), 1) << change;
        EXPECT_EQ(found.members[0].member.configuration, tile(32));
        ASSERT_EQ(found.damages.size(), 1);
        ASSERT_EQ(store.damages().size(), 1) << change;
        EXPECT_EQ(store.damages()[0].row.find("portfolio member "), 0) << store.damages()[0].row;
    }
}

TEST_F(PortfolioTest, CoefficientsThatAreNoModelAreDamageEvenUnderARightHash) {
    for (const auto* text : {"[1,2]", "[1,2,3,4,5,6,7,8,9,-10,[]]", "[1,2,3,4,5,6,7,8,9,\"10\",[]]", "[]",
                             "[1,2,3,4,5,6,7,8,9,10]", "[1,2,3,4,5,6,7,8,9,10,11]", "[1,2,3,4,5,6,7,8,9,10,[[]]]",
                             "[1,2,3,4,5,6,7,8,9,10,[[1,1e999]]]", "[1,2,3,4,5,6,7,8,9,10,[],[]]"}) {
        set({16});
        SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
        add_functions(database);
        database.exec(std::string("UPDATE portfolio SET coefficients = '") + text + "'");
        database.exec("UPDATE portfolio SET sha256 = " + portfolio_sha256_in_sql());
        const auto found = store.portfolio(key);
        EXPECT_TRUE(found.members.empty()) << text;
        ASSERT_EQ(found.damages.size(), 1);
        EXPECT_NE(found.damages[0].find("coefficients"), std::string::npos) << found.damages[0];
    }
}

TEST_F(PortfolioTest, CoefficientsOfOtherTermsDoNotCount) {
    set({16, 32});
    EXPECT_TRUE(store.outdated_portfolios().empty());
    execute(path, "UPDATE portfolio SET terms_version = terms_version + 1");
    EXPECT_TRUE(store.portfolio(key).members.empty());
    EXPECT_TRUE(store.portfolios().empty());
    EXPECT_EQ(store.outdated_portfolios(), std::vector{key});
}

TEST_F(PortfolioTest, IsListedInTheInventoryUnlessTheFilterExcludesIt) {
    set({16, 32});
    const auto listed = [&](const Store::Filter& filter) {
        std::string text;
        for (const auto& each : store.inventory(filter).portfolios) {
            text += each.name + ", " + each.device + ", " + std::to_string(each.members) +
                    (each.is_outdated ? ", outdated" : "");
        }
        return text;
    };
    const auto device = store.devices().front().second.name;
    EXPECT_EQ(listed({}), "gemm f32 nn, " + device + ", 2");
    EXPECT_EQ(listed({.devices = {device}, .kernel_templates = {"tiled"}, .operations = {"gemm"}}), listed({}));
    EXPECT_EQ(listed({.devices = {"another"}}), "");
    EXPECT_EQ(listed({.kernel_templates = {"another"}}), "");
    EXPECT_EQ(listed({.operations = {"another"}}), "");
    EXPECT_EQ(listed({.sizes = {"*"}}), "");
    execute(path, "UPDATE portfolio SET terms_version = terms_version + 1");
    EXPECT_EQ(listed({}), "gemm f32 nn, " + device + ", 2, outdated");
}

TEST_F(PortfolioTest, MembersOfOtherTermsAreReadWithoutTheirModelsIfAskedFor) {
    set({16});
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    add_functions(database);
    database.exec("UPDATE portfolio SET terms_version = 2, coefficients = '[1,0,0,0,0,0,0,0,[]]'");
    database.exec("UPDATE portfolio SET sha256 = " + portfolio_sha256_in_sql());
    const auto found = store.portfolio(key, TermsVersions::all);
    ASSERT_EQ(found.members.size(), 1);
    auto expected = member_of(rows.kernel_template, tile(16));
    expected.model = {};
    EXPECT_EQ(found.members[0].member, expected);
    ASSERT_EQ(store.portfolios(TermsVersions::all).size(), 1);
    EXPECT_EQ(store.portfolios(TermsVersions::all)[0].key, key);
    set({16});
    EXPECT_EQ(store.portfolio(key, TermsVersions::all).members[0].member, member_of(rows.kernel_template, tile(16)));
}

TEST_F(PortfolioTest, AVersionWithTheSameCodeKeepsItsMembers) {
    set({16});
    auto newer = tiled();
    newer.hash = "newer";
    newer.same_code_as = {tiled().hash};
    store.remember(newer);
    ASSERT_EQ(store.portfolio(key).members.size(), 1);
    EXPECT_EQ(store.portfolio(key).members[0].template_hash, "newer");
    EXPECT_TRUE(store.damages().empty());
}

TEST_F(PortfolioTest, MembersOfTwoVersionsWithTheSameCodeAreMerged) {
    set({16});
    auto newer = tiled();
    newer.hash = "newer";
    const auto row = store.remember(newer);
    newer.same_code_as = {tiled().hash};
    store.remember(newer);
    const auto found = store.portfolio(key);
    ASSERT_EQ(found.members.size(), 1);
    EXPECT_EQ(found.members[0].member.kernel_template, row);
    EXPECT_TRUE(store.damages().empty());
}

TEST_F(PortfolioTest, ANewParameterGetsItsDefaultInMembersToo) {
    set({16});
    auto changed = tiled();
    changed.files["gemm/tiled.toml"] = "name = 'tiled', with PAD";
    store.remember(changed, {{{"TILE_WIDTH", 32}, {"PAD", 1}}});
    ASSERT_EQ(store.portfolio(key).members.size(), 1);
    EXPECT_EQ(to_text(store.portfolio(key).members[0].member.configuration), "PAD=1,TILE_WIDTH=16");
    EXPECT_TRUE(store.damages().empty());
}

TEST(ProblemClass, SaysWhichExtentsAreMultiplesOf16Bytes) {
    EXPECT_EQ(problem_class(gemm(4, 5, 8), 4), "101");
    EXPECT_EQ(problem_class(gemm(4, 5, 8), 2), "001");
}

TEST_F(PortfolioTest, AMemberWhoseCodeIsFoundWrongAnywhereIsDeleted) {
    set({16, 32});
    TrialRecord trial{.key = rows, .configuration = tile(16), .outcome = Rejection{Stage::wrong, "C[0,0] is 1"}};
    trial.code_hash = "of other code";
    store.remember(trial);
    trial.outcome = Rejection{Stage::crash, "died"};  // the crash may be the fault of another program
    trial.code_hash = sha256(std::as_bytes(std::span(code)));
    store.remember(trial);
    EXPECT_EQ(store.portfolio(key).members.size(), 2);
    trial.outcome = Rejection{Stage::wrong, "C[0,0] is 1"};
    store.remember(trial);
    ASSERT_EQ(store.portfolio(key).members.size(), 1);
    EXPECT_EQ(store.portfolio(key).members[0].member.configuration, tile(32));
    EXPECT_TRUE(std::holds_alternative<Rejection>(store.recall(rows, tile(16))->outcome));
}

// When a portfolio replaces another portfolio, its rows get new numbers, and a portfolio of a different layout may get
// the old numbers. A reader must not mix the two.
TEST_F(PortfolioTest, IsReadAsItWasAtOneMoment) {
    set({16, 32});
    const std::jthread replacing([&](const std::stop_token& stop) {
        Store writer(path);
        PortfolioKey other = key;
        other.layout = "tn";
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto width : {16, 32}) {
            members.push_back(member_of(rows.kernel_template, tile(width)));
            binaries.push_back(binary_of(rows.kernel_template, tile(width)));
        }
        while (!stop.stop_requested()) {
            writer.set_portfolio(key, members, binaries);
            writer.set_portfolio(other, {members[1]}, {binaries[1]});
        }
    });
    const Store reader(path, Store::Access::read);
    for (int i = 0; i < 300 && !HasFailure(); ++i) {
        const auto found = reader.portfolio(key).members;
        ASSERT_EQ(found.size(), 2) << i;
        EXPECT_EQ(found[0].member.configuration, tile(16)) << i;
        EXPECT_EQ(found[1].member.configuration, tile(32)) << i;
    }
}

TEST(ProblemClass, OfAnyExtentIsKnown) {
    EXPECT_EQ(problem_class({"gemm", "f32", "nn", {{"M", INT64_MAX}, {"N", INT64_MIN}, {"K", INT64_MAX - 3}}}, 4),
              "011");
    EXPECT_EQ(problem_class({"gemm", "f64", "nn", {{"M", 2}, {"N", 3}}}, 8), "10");
    EXPECT_EQ(problem_class({"gemm", "c", "nn", {{"M", 1}, {"N", 2}}}, 24), "01");
}

TEST_F(PortfolioTest, EveryStoredPortfolioIsListedWithItsNewestMeasurement) {
    EXPECT_TRUE(store.portfolios().empty());
    const auto trial_of = [&](std::int64_t size, std::int64_t width, const std::string& toolchain) {
        auto trial = with_code(measured(key_in(store, size), tile(width), 5), code);
        trial.toolchain = toolchain;
        return trial;
    };
    const auto nn = key;
    key.layout = "tt";
    set({8});
    key = nn;
    set({16, 32});
    store.remember(trial_of(512, 16, "older"));
    store.remember(trial_of(64, 32, "newest"));
    auto other_code = trial_of(128, 16, "of other code");
    other_code.code_hash = "other";
    store.remember(other_code);
    store.remember(trial_of(256, 64, "of no member"));
    execute(path, "UPDATE trials SET finished_at = '2026-01-0' || id || 'T00:00:00.000Z'");
    const auto all = store.portfolios();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].key.layout, "tt") << "in the order in which they were stored";
    EXPECT_EQ(all[0].toolchain + all[0].measured_at, "");
    EXPECT_EQ(all[1].key, nn);
    EXPECT_EQ(all[1].toolchain, "newest");
    EXPECT_EQ(all[1].measured_at, "2026-01-02T00:00:00.000Z");
}

TEST_F(PortfolioTest, TheReasonWhyAMemberCannotBeReadIsGiven) {
    const std::vector<std::pair<std::string, std::string>> reasons{
        {"coefficients = '[1,2]'", "coefficients are not 10 numbers and residuals"},
        {"coefficients = '[1,2,3,4,5,6,7,8,9,-10,[]]'", "coefficients are not 10 numbers from 0 on"},
        {"coefficients = '[1,2,3,4,5,6,7,8,9,10,[[]]]'",
         "coefficients hold a residual that is no list of finite numbers"},
        {"coefficients = '[1,2,3,4,5,6,7,8,9,\"10\",[]]'", "coefficients cannot be read: "},
        {"classes = '[1]'", "classes cannot be read: "},
        {"configuration = 'x'", "configuration cannot be read: "},
    };
    for (const auto& [change, reason] : reasons) {
        set({16});
        SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
        add_functions(database);
        database.exec("UPDATE portfolio SET " + change);
        database.exec("UPDATE portfolio SET sha256 = " + portfolio_sha256_in_sql());
        const auto found = store.portfolio(key);
        ASSERT_EQ(found.damages.size(), 1U) << change;
        EXPECT_EQ(found.damages[0].find(path.string() + ": holds a damaged row (" + reason), 0U) << found.damages[0];
        EXPECT_NE(found.damages[0].find("); list the damaged rows with: smemtune db verify"), std::string::npos);
    }
    set({16});
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    add_functions(database);
    database.exec("UPDATE portfolio SET coefficients = '[0,0,0,0,0,0,0,0,0,0,[[0.5]]]'");
    database.exec("UPDATE portfolio SET sha256 = " + portfolio_sha256_in_sql());
    const auto found = store.portfolio(key);
    ASSERT_EQ(found.members.size(), 1U) << "zeros are numbers from 0 on, and an operation may have no extents";
    EXPECT_EQ(found.members[0].member.model.residuals, (std::vector<Residual>{{{}, 0.5}}));
}

}  // namespace
}  // namespace smemtune
