#include "db/merge/content.h"

#include "tests/db/scratch.h"

namespace smemtune {
namespace {

const std::vector<std::uint8_t> stored_code{1, 2, 3};

// Fills a database with at least one row in every table.
void fill_every_table(const std::filesystem::path& path) {
    Store store(path);
    const auto key = key_in(store);
    const auto run = store.start_run({R"({"sizes":"512"})", "{}", "{}"});
    auto winner = with_code(measured(key, tile(16), 5), stored_code);
    winner.run = run;
    winner.toolchain = "nvrtc 13.0";
    const BinaryRecord binary{key.kernel_template, tile(16), "sm_90a", "NVRTC", stored_code, {.registers = 40}};
    store.set_winner(winner, binary);
    store.remember(rejected(key, tile(32), Stage::wrong));
    store.remember(measured(key_in(store, 300), tile(8), 1.0 / 3));
    store.finish_run(run, "complete");
    store.start_run({});
    const PortfolioMember member{.kernel_template = key.kernel_template,
                                 .configuration = tile(16),
                                 .model = {.coefficients = {0.1, 2}, .error = 0.07, .residuals = {{{1, 2, 3}, 0.1}}},
                                 .registers = 40,
                                 .classes = {"111"},
                                 .verified_by = "operation/testbed",
                                 .code_hash = winner.code_hash};
    store.set_portfolio({key.device, "gemm", "f32", "nn"}, {member}, {binary});
}

TEST(Content, ANewDatabaseFilledWithItIsTheSameWithItsDates) {
    const Scratch scratch;
    fill_every_table(scratch / "a.db");
    const auto content = Store(scratch / "a.db", Store::Access::read).content();
    EXPECT_EQ(content.trials.size(), 3U);
    EXPECT_FALSE(content.trials[0].decided_at.empty());
    EXPECT_EQ(content.runs.size(), 2U);
    EXPECT_EQ(content.portfolios.size(), 1U);
    Store copy(scratch / "b.db");
    copy.fill(content);
    EXPECT_EQ(copy.content(), content);
    EXPECT_TRUE(copy.damages().empty());
    EXPECT_EQ(copy.nearest(1, gemm(301, 300, 300), 0, 1).rows.at(0).problem, gemm(300, 300, 300));
    EXPECT_TRUE(copy.best(1, 1)->winner);
}

TEST(Content, ADamagedRowOfAnyTableIsRefused) {
    for (const auto* damage :
         {"UPDATE binaries SET code = x'00'", "UPDATE template_files SET text = ''", "UPDATE portfolio SET error = 0.5",
          "UPDATE trials SET configuration = 'TILE' WHERE id = 2",
          "UPDATE problems SET extents = '{\"M\":\"x\"}' WHERE id = 1", "DELETE FROM problems WHERE id = 2"}) {
        const Scratch scratch;
        fill_every_table(scratch / "a.db");
        execute(scratch / "a.db", damage);
        EXPECT_NE(error_of([&] { (void)Store(scratch / "a.db", Store::Access::read).content(); }), "") << damage;
    }
}

TEST(Content, AFileOfAnOlderSchemaIsReadAsItWouldBeMigrated) {
    const Scratch scratch;
    std::ifstream dump(std::filesystem::path(SMEMTUNE_SOURCE_DIR) / "tests/fixtures/databases/schema_2.sql");
    execute(scratch / "old.db", std::string(std::istreambuf_iterator<char>(dump), {}));
    const auto before = scratch.contents();
    const auto content = Store(scratch / "old.db", Store::Access::read).content();
    EXPECT_EQ(scratch.contents(), before);
    EXPECT_EQ(content.trials.size(), 6U);
    EXPECT_EQ(content, Store(scratch / "old.db").content());
}

}  // namespace
}  // namespace smemtune
