#include "db/complete.h"

#include "db/integrity/row_hash.h"
#include "db/rows.h"

namespace smemtune {

namespace {

constexpr auto all_configurations = R"sql(
SELECT configuration FROM trials WHERE template = ?1 UNION SELECT configuration FROM binaries WHERE template = ?1
UNION SELECT configuration FROM portfolio WHERE template = ?1)sql";

constexpr auto move_winners = R"sql(
UPDATE winners SET trial = twin.id
FROM trials AS old JOIN trials AS twin USING (device, template, problem)
WHERE winners.trial = old.id AND old.template = ? AND old.configuration = ? AND twin.configuration = ?
    AND twin.cut_short = 0 AND twin.verified_by IS NOT NULL)sql";

void rename(Connection& connection, std::int64_t kernel_template, const std::string& from, const std::string& to) {
    constexpr auto trials = "UPDATE OR IGNORE trials SET configuration = ? WHERE template = ? AND configuration = ?";
    static const std::string binaries =
        "UPDATE OR IGNORE binaries SET configuration = ?1, sha256 = iif(sha256 = " + binary_sha256_in_sql() + ", " +
        binary_sha256_in_sql("template", "?1") +
        ", NULL) WHERE template = ?2 AND configuration = ?3";  // a damaged row gets NULL, which readers reject
    Query(connection, trials).with(to, kernel_template, from).run();
    static const std::string portfolio =
        "UPDATE OR IGNORE portfolio SET configuration = ?1, sha256 = iif(sha256 = " + portfolio_sha256_in_sql() + ", " +
        portfolio_sha256_in_sql("template", "?1") + ", NULL) WHERE template = ?2 AND configuration = ?3";
    Query(connection, binaries).with(to, kernel_template, from).run();
    Query(connection, portfolio).with(to, kernel_template, from).run();
}

void drop(Connection& connection, const std::string& table, std::int64_t kernel_template, const std::string& text) {
    Query(connection, "DELETE FROM " + table + " WHERE template = ? AND configuration = ?")
        .with(kernel_template, text)
        .run();
}

}  // namespace

void complete_configurations(Connection& connection, std::int64_t kernel_template, const Configuration& defaults) {
    const auto read = [](const SQLite::Statement& row) { return row.getColumn(0).getString(); };
    for (const auto& text : Query(connection, all_configurations).with(kernel_template).all(read)) {
        std::string complete;
        try {
            complete = to_text(completed(parse_configuration(text), defaults));
        } catch (const std::invalid_argument& error) {
            throw UnreadableRow(std::string("configuration cannot be read: ") + error.what());
        }
        if (complete == text) continue;
        rename(connection, kernel_template, text, complete);
        Query(connection, move_winners).with(kernel_template, text, complete).run();
        for (const auto* table : {"trials", "binaries", "portfolio"}) drop(connection, table, kernel_template, text);
    }
}

}  // namespace smemtune
