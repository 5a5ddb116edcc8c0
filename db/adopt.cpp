#include "db/adopt.h"

#include <nlohmann/json.hpp>

#include "db/complete.h"
#include "db/integrity/row_hash.h"

namespace smemtune {

namespace {

constexpr auto same_code_rows = R"sql(
SELECT id FROM templates WHERE name = ? AND hash IN (SELECT value FROM json_each(?)) ORDER BY id DESC)sql";

constexpr auto move_crowns = R"sql(
UPDATE winners SET trial = twin.id
FROM trials AS old JOIN trials AS twin USING (device, problem, configuration)
WHERE winners.trial = old.id AND old.template = ? AND twin.template = ? AND twin.cut_short = 0
    AND twin.verified_by IS NOT NULL)sql";

std::vector<std::int64_t> find_same_code(Connection& connection, const TemplateRecord& kernel_template) {
    return Query(connection, same_code_rows)
        .with(kernel_template.name, json_array(kernel_template.same_code_as))
        .all(read_id);
}

void merge(Connection& connection, std::int64_t from, std::int64_t to, const Configuration& defaults) {
    for (const auto row : {from, to}) complete_configurations(connection, row, defaults);
    // A damaged row gets NULL as its `sha256`. Readers reject a row whose `sha256` is NULL.
    static const std::string move_binaries =
        "UPDATE OR IGNORE binaries SET template = ?1, sha256 = iif(sha256 = " + binary_sha256_in_sql() + ", " +
        binary_sha256_in_sql("?1") + ", NULL) WHERE template = ?2";
    Query(connection, "UPDATE OR IGNORE trials SET template = ? WHERE template = ?").with(to, from).run();
    Query(connection, move_binaries).with(to, from).run();
    static const std::string move_portfolio =
        "UPDATE OR IGNORE portfolio SET template = ?1, sha256 = iif(sha256 = " + portfolio_sha256_in_sql() + ", " +
        portfolio_sha256_in_sql("?1") + ", NULL) WHERE template = ?2";
    Query(connection, move_portfolio).with(to, from).run();
    Query(connection, move_crowns).with(from, to).run();
    for (const std::string table : {"trials", "binaries", "portfolio"}) {
        Query(connection, "DELETE FROM " + table + " WHERE template = ?").with(from).run();
    }
    Query(connection, "DELETE FROM templates WHERE id = ?").with(from).run();
}

}  // namespace

std::string json_array(const std::vector<std::string>& texts) { return nlohmann::json(texts).dump(); }

bool has_same_code(Connection& connection, const TemplateRecord& kernel_template) {
    return !kernel_template.same_code_as.empty() && !find_same_code(connection, kernel_template).empty();
}

void adopt_same_code(Connection& connection, const TemplateRecord& kernel_template, const Configuration& defaults) {
    auto rows = find_same_code(connection, kernel_template);
    if (rows.empty()) return;  // another process has already merged these rows
    auto present = Query(connection, "SELECT id FROM templates WHERE name = ? AND hash = ?")
                       .with(kernel_template.name, kernel_template.hash)
                       .first(read_id);
    if (!present) {
        present = rows.front();
        rows.erase(rows.begin());
        // A damaged row gets NULL as its `sha256`. Readers reject a row whose `sha256` is NULL.
        static const std::string rename =
            "UPDATE templates SET hash = ?1, sha256 = iif(sha256 = " + template_sha256_in_sql() + ", " +
            template_sha256_in_sql("?1") + ", NULL) WHERE id = ?2";
        Query(connection, rename).with(kernel_template.hash, *present).run();
    }
    for (const auto row : rows) merge(connection, row, *present, defaults);
}

}  // namespace smemtune
