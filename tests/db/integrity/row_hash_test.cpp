#include "db/integrity/row_hash.h"

#include <set>

#include "db/file/open.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

BinaryRecord machine_code(std::int64_t kernel_template = 1) {
    return {.kernel_template = kernel_template,
            .configuration = tile(16),
            .target = "sm_90a f32 nn",
            .compiler = "NVRTC 13.0",
            .code = {0x7f, 'E', 'L', 'F', 0, 0xff, 0, 1},
            .resources = {.registers = 40, .spill_bytes = 8, .static_shared_bytes = 2048, .dynamic_shared_bytes = 512}};
}

TEST(RowHash, EveryFieldOfMachineCodeCounts) {
    std::set<std::string> hashes{row_sha256(machine_code())};
    const auto expect_another = [&](const auto& change) {
        auto changed = machine_code();
        change(changed);
        EXPECT_TRUE(hashes.insert(row_sha256(changed)).second);
    };
    expect_another([](auto& each) { each.kernel_template = 2; });
    expect_another([](auto& each) { each.configuration = tile(17); });
    expect_another([](auto& each) { each.target = "sm_80 f32 nn"; });
    expect_another([](auto& each) { each.compiler = "NVRTC 13.1"; });
    expect_another([](auto& each) { each.code.back() ^= 1; });
    expect_another([](auto& each) { each.code.pop_back(); });
    expect_another([](auto& each) { each.resources.registers++; });
    expect_another([](auto& each) { each.resources.spill_bytes++; });
    expect_another([](auto& each) { each.resources.static_shared_bytes++; });
    expect_another([](auto& each) { each.resources.dynamic_shared_bytes++; });
}

TEST(RowHash, EveryFieldOfATemplateCountsAndSoDoTheirBorders) {
    std::set<std::string> hashes{row_sha256(tiled())};
    const auto expect_another = [&](const auto& change) {
        auto changed = tiled();
        change(changed);
        EXPECT_TRUE(hashes.insert(row_sha256(changed)).second);
    };
    expect_another([](auto& each) { each.name += "2"; });
    expect_another([](auto& each) { each.operation += "2"; });
    expect_another([](auto& each) { each.hash += "2"; });
    expect_another([](auto& each) { each.files["gemm/tiled.cu"] += " "; });
    expect_another([](auto& each) { each.files["gemm/more.h"] = ""; });
    expect_another([](auto& each) {
        each.name = "tiledg";
        each.operation = "emm";
    });
    expect_another([](auto& each) { each.files.clear(); });
}

// Some SQL statements, such as those of migration and adoption, compute the hashes of rows. All other code computes
// them in C++.
TEST(RowHash, SqlAndCppAgree) {
    const Scratch scratch;
    const auto file = scratch / "tuned.db";
    const auto binary = machine_code();
    {
        Store store(file);
        const auto key = key_in(store);
        store.remember(with_code(measured(key, tile(16), 7), binary.code));
        store.set_winner(key, tile(16), binary);
    }
    auto database = open_database(file, Store::Access::read, {});
    const auto value = [&](const std::string& sql) { return database.execAndGet(sql).getString(); };
    EXPECT_EQ(value("SELECT " + template_sha256_in_sql() + " FROM templates"), row_sha256(tiled()));
    EXPECT_EQ(value("SELECT sha256 FROM templates"), row_sha256(tiled()));
    EXPECT_EQ(value("SELECT " + binary_sha256_in_sql() + " FROM binaries"), row_sha256(binary));
    EXPECT_EQ(value("SELECT sha256 FROM binaries"), row_sha256(binary));
    EXPECT_EQ(value("SELECT " + binary_sha256_in_sql("7", "'TILE_WIDTH=17'") + " FROM binaries"), [&] {
        auto other = machine_code(7);
        other.configuration = tile(17);
        return row_sha256(other);
    }());
}

}  // namespace
}  // namespace smemtune
