#include "tuner/shipping/export_database.h"

#include <gmock/gmock.h>

#include <SQLiteCpp/Database.h>

#include <span>

#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "tests/tuner/support.h"
#include "util/hash.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::uint8_t> exported_code{1, 2, 3};

class ExportDatabase : public ::testing::Test {
protected:
    Scratch scratch;
    Store from{scratch / "from.db"};
    std::vector<KernelTemplate> templates = builtin_templates();
    Device device = model_device("sm_90");

    [[nodiscard]] const KernelTemplate& kernel(const std::string& name) const {
        return *std::ranges::find(templates, name, &KernelTemplate::name);
    }
    std::int64_t row(const std::string& name) {
        const auto& found = kernel(name);
        return from.remember(TemplateRecord{found.name, found.operation.name, found.hash, found.files});
    }
    [[nodiscard]] BinaryRecord binary(const std::string& name) {
        return {.kernel_template = row(name),
                .configuration = default_configuration(kernel(name)),
                .target = "sm_90a f32 nn",
                .compiler = "nvrtc",
                .code = exported_code,
                .resources = {.registers = 32}};
    }
    TrialRecord trial(const std::string& name, const Problem& problem, const std::string& verified_by = "op/testbed") {
        return {.key = {from.remember(device), row(name), from.remember(problem)},
                .configuration = default_configuration(kernel(name)),
                .outcome = Measurement{.median_us = 12.5, .samples_us = {12, 13}},
                .run = from.start_run({}),
                .verified_by = verified_by,
                .code_hash = sha256(std::as_bytes(std::span(exported_code)))};
    }
    void portfolio(const std::vector<std::string>& names) {
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto& name : names) {
            binaries.push_back(binary(name));
            members.push_back({.kernel_template = row(name),
                               .configuration = default_configuration(kernel(name)),
                               .model = {.coefficients = {1.0 / 3, 2}, .error = 0.07},
                               .registers = 32,
                               .static_shared_bytes = 64,
                               .classes = {"111"},
                               .verified_by = "op/testbed",
                               .code_hash = sha256(std::as_bytes(std::span(exported_code)))});
        }
        from.set_portfolio({from.remember(device), "gemm", "f32", "nn"}, members, binaries);
    }
};

TEST_F(ExportDatabase, WinnersComeWithTheirMachineCodeAndNothingElse) {
    const auto problem = gemm(512, 256, 128);
    from.remember(trial("naive", problem));
    from.set_winner(trial("tiled", problem), binary("tiled"));
    from.remember(trial("tiled", gemm(64, 64, 64)));  // the fastest at this size, but not declared the winner
    Store to(scratch / "to.db");
    const auto exported = export_database(from, to, true);
    EXPECT_EQ(exported.winners, 1);
    EXPECT_THAT(exported.left_out, IsEmpty());

    const auto rows = to.rows({});
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_TRUE(rows[0].winner);
    EXPECT_EQ(rows[0].problem, problem);
    EXPECT_EQ(rows[0].template_hash, kernel("tiled").hash);
    auto wanted = trial("tiled", problem);
    wanted.key = rows[0].record.key;
    wanted.run = 0;
    std::get<Measurement>(wanted.outcome).samples_us.clear();
    EXPECT_EQ(rows[0].record, wanted);
    const auto code = to.binaries(wanted.key.kernel_template, wanted.configuration);
    ASSERT_THAT(code, SizeIs(1));
    EXPECT_EQ(code[0].code, exported_code);
    EXPECT_EQ(code[0].resources.registers, 32);
    EXPECT_EQ(to.recall_template(wanted.key.kernel_template)->files, kernel("tiled").files);
    const auto summary = to.summary();
    EXPECT_EQ(summary.templates, 1) << "naive did not win";
    EXPECT_EQ(summary.problems, 1);
    EXPECT_EQ(summary.runs, 0);
    EXPECT_EQ(to.devices().at(0).second, device);
}

TEST_F(ExportDatabase, APortfolioComesBackWithEveryField) {
    portfolio({"tiled", "naive"});
    from.set_winner(trial("tiled", gemm(64, 64, 64)), binary("tiled"));
    for (const bool winners : {false, true}) {
        Store to(scratch / (winners ? "all.db" : "portfolio.db"));
        const auto exported = export_database(from, to, winners);
        EXPECT_EQ(exported.members, 2);
        EXPECT_EQ(exported.winners, winners ? 1 : 0);
        const auto origins = to.portfolios();
        ASSERT_THAT(origins, SizeIs(1));
        const auto copied = to.portfolio(origins[0].key);
        const auto original = from.portfolio({*from.find(device), "gemm", "f32", "nn"});
        ASSERT_THAT(copied.members, SizeIs(2));
        for (std::size_t i = 0; i < 2; ++i) {
            auto wanted = original.members[i].member;
            wanted.kernel_template = copied.members[i].member.kernel_template;
            EXPECT_EQ(copied.members[i].member, wanted);
            EXPECT_EQ(copied.members[i].kernel_template, original.members[i].kernel_template);
            EXPECT_EQ(copied.members[i].template_hash, original.members[i].template_hash);
            EXPECT_THAT(to.binaries(wanted.kernel_template, wanted.configuration), SizeIs(1));
        }
        EXPECT_TRUE(to.damages().empty());
    }
}

TEST_F(ExportDatabase, AnOutdatedPortfolioStaysBehind) {
    portfolio({"tiled"});
    SQLite::Database(scratch / "from.db", SQLite::OPEN_READWRITE)
        .exec("UPDATE portfolio SET terms_version = terms_version - 1, coefficients = '[1,[]]'");
    Store to(scratch / "to.db");
    const auto exported = export_database(from, to, true);
    EXPECT_EQ(exported.members, 0);
    EXPECT_THAT(exported.left_out,
                ElementsAre(HasSubstr("the portfolio of gemm f32 nn on sm_90: its models are of another")));
}

TEST_F(ExportDatabase, WhatIsNotVerifiedOnRecordStaysBehind) {
    const auto old = trial("tiled", gemm(64, 64, 64), std::string(unrecorded));
    from.remember(old);
    from.set_winner(old.key, old.configuration, std::nullopt);
    Store to(scratch / "to.db");
    const auto exported = export_database(from, to, true);
    EXPECT_EQ(exported.winners, 0);
    EXPECT_THAT(exported.left_out, ElementsAre(HasSubstr("tiled for gemm f32 nn 64x64x64: it is unknown how")));
    EXPECT_THAT(to.rows({}), IsEmpty());
}

TEST_F(ExportDatabase, MachineCodeThatIsNotWhatWasVerifiedStaysBehind) {
    const auto problem = gemm(64, 64, 64);
    from.remember(trial("tiled", problem));
    from.set_winner(trial("tiled", problem).key, default_configuration(kernel("tiled")), std::nullopt);
    auto other = binary("tiled");
    other.code = {9};
    other.target = "sm_80 f32 nn";
    from.set_portfolio({from.remember(device), "gemm", "f32", "nn"}, {}, {other});
    Store to(scratch / "to.db");
    const auto exported = export_database(from, to, true);
    EXPECT_EQ(exported.winners, 1);
    EXPECT_EQ(to.summary().binaries, 0) << "such a winner is compiled where it is served";
    EXPECT_THAT(exported.left_out, ElementsAre(HasSubstr("the machine code of tiled for gemm f32 nn 64x64x64: ")));
}

TEST_F(ExportDatabase, DamagedRowsStayBehindAndTheRestIsCopied) {
    portfolio({"tiled", "naive"});
    from.set_winner(trial("row_tile", gemm(64, 64, 64)), binary("row_tile"));
    from.set_winner(trial("strip_tiled", gemm(32, 64, 64)), binary("strip_tiled"));
    {
        SQLite::Database database(scratch / "from.db", SQLite::OPEN_READWRITE);
        database.exec(
            "UPDATE binaries SET code = x'00' WHERE template = (SELECT id FROM templates WHERE name = 'tiled')");
        database.exec(
            "UPDATE template_files SET text = '' WHERE template = (SELECT id FROM templates WHERE name = 'row_tile')");
    }
    Store to(scratch / "to.db");
    const auto exported = export_database(from, to, true);
    EXPECT_EQ(exported.members, 1);
    EXPECT_EQ(exported.winners, 1);
    EXPECT_THAT(exported.left_out, ElementsAre(HasSubstr("row_tile for gemm f32 nn 64x64x64: "),
                                               HasSubstr("the machine code that was verified is missing")));
    EXPECT_EQ(to.rows({}).at(0).kernel_template, "strip_tiled");
}

}  // namespace
}  // namespace smemtune
