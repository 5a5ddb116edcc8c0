#include "db/portfolio/portfolio_rows.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/integrity/row_hash.h"
#include "db/store_state.h"

namespace smemtune {

namespace {

constexpr auto insert_member = R"sql(
INSERT INTO portfolio (device, operation, type, layout, template, configuration, terms_version, coefficients, error,
                       registers, static_shared_bytes, classes, verified_by, code_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr auto members_of = R"sql(
SELECT id FROM portfolio WHERE device = ? AND operation = ? AND type = ? AND layout = ?
    AND (terms_version = ? OR ?)
ORDER BY id)sql";

// If max() is the only aggregate of a query, SQLite takes the other columns, here the toolchain, from the row with the
// maximum. The order of the portfolios needs min(), so an outer query computes min().
constexpr auto origins = R"sql(
SELECT device, operation, type, layout, toolchain, measured_at
FROM (SELECT f.device AS device, f.operation AS operation, f.type AS type, f.layout AS layout,
             t.toolchain AS toolchain, max(t.finished_at) AS measured_at
      FROM portfolio AS f LEFT JOIN trials AS t
          ON t.device = f.device AND t.template = f.template AND t.configuration = f.configuration
          AND t.code_hash = f.code_hash
      WHERE f.terms_version = ? OR ? GROUP BY f.device, f.operation, f.type, f.layout) AS o
ORDER BY (SELECT min(id) FROM portfolio AS f
          WHERE f.device = o.device AND f.operation = o.operation AND f.type = o.type AND f.layout = o.layout))sql";

constexpr auto outdated = R"sql(
SELECT device, operation, type, layout FROM portfolio GROUP BY device, operation, type, layout
HAVING NOT max(terms_version = ?) ORDER BY min(id))sql";

// Returns the text of the column `coefficients`: a coefficient for each term, then the list of residuals. A residual
// has the logarithms of the problem's extents, and last the logarithm of measured time / predicted time. An example:
//     [0, 1.5, ..., 0, [[4.1589, 5, 2.0794, -0.03], ...]]
std::string text_of(const TimeModel& model) {
    nlohmann::json json(model.coefficients);
    auto residuals = nlohmann::json::array();
    for (const auto& residual : model.residuals) {
        auto numbers = residual.place;
        numbers.push_back(residual.log_ratio);
        residuals.push_back(std::move(numbers));
    }
    json.push_back(std::move(residuals));
    return json.dump();
}

// Reads the text that text_of() writes. Throws UnreadableRow unless each term has a finite, non-negative coefficient
// and all numbers of the residuals are finite.
TimeModel read_model(const std::string& text, double error) {
    TimeModel model{.error = error};
    try {
        const auto json = nlohmann::json::parse(text);
        if (json.size() != term_count + 1)
            throw UnreadableRow("coefficients are not " + std::to_string(term_count) + " numbers and residuals");
        for (std::size_t i = 0; i < term_count; ++i) {
            model.coefficients[i] = json[i].get<double>();
            if (!std::isfinite(model.coefficients[i]) || model.coefficients[i] < 0) {
                throw UnreadableRow("coefficients are not " + std::to_string(term_count) + " numbers from 0 on");
            }
        }
        for (const auto& each : json.back()) {
            auto numbers = each.get<std::vector<double>>();
            if (numbers.empty() || !std::ranges::all_of(numbers, [](double value) { return std::isfinite(value); })) {
                throw UnreadableRow("coefficients hold a residual that is no list of finite numbers");
            }
            const auto log_ratio = numbers.back();
            numbers.pop_back();
            model.residuals.push_back({std::move(numbers), log_ratio});
        }
    } catch (const nlohmann::json::exception& error_of_json) {
        throw UnreadableRow(std::string("coefficients cannot be read: ") + error_of_json.what());
    }
    return model;
}

std::vector<std::string> read_classes(const std::string& text) {
    try {
        return nlohmann::json::parse(text).get<std::vector<std::string>>();
    } catch (const nlohmann::json::exception& error) {
        throw UnreadableRow(std::string("classes cannot be read: ") + error.what());
    }
}

Configuration read_configuration(const std::string& text) {
    try {
        return parse_configuration(text);
    } catch (const std::invalid_argument& error) {
        throw UnreadableRow(std::string("configuration cannot be read: ") + error.what());
    }
}

}  // namespace

std::string problem_class(const Problem& problem, std::int64_t element_bytes) {
    std::string result;
    for (const auto& [name, extent] : problem.extents) result += extent % 16 * element_bytes % 16 == 0 ? '1' : '0';
    return result;
}

void replace_portfolio(Connection& connection, const PortfolioKey& key, const std::vector<PortfolioMember>& members) {
    Query(connection, "DELETE FROM portfolio WHERE device = ? AND operation = ? AND type = ? AND layout = ?")
        .with(key.device, key.operation, key.type, key.layout)
        .run();
    for (const auto& member : members) {
        Query(connection, insert_member)
            .with(key.device, key.operation, key.type, key.layout, member.kernel_template,
                  to_text(member.configuration), terms_version, text_of(member.model), member.model.error,
                  member.registers, member.static_shared_bytes, nlohmann::json(member.classes).dump(),
                  member.verified_by, member.code_hash)
            .run();
    }
    static const std::string add_hashes = "UPDATE portfolio SET sha256 = " + portfolio_sha256_in_sql() +
                                          " WHERE device = ? AND operation = ? AND type = ? AND layout = ?";
    Query(connection, add_hashes).with(key.device, key.operation, key.type, key.layout).run();
}

const std::string& one_portfolio_row() {
    static const std::string sql =
        "SELECT f.template, f.configuration, f.coefficients, f.error, f.registers, f.static_shared_bytes, f.classes, "
        "f.verified_by, f.code_hash, f.sha256, (SELECT " +
        portfolio_sha256_in_sql() + " FROM portfolio WHERE id = f.id), k.name, k.hash, f.terms_version " +
        "FROM portfolio AS f JOIN templates AS k ON k.id = f.template WHERE f.id = ?";
    return sql;
}

PortfolioRow read_portfolio_row(const SQLite::Statement& row) {
    check_hash(row.getColumn(9), row.getColumn(10).getString(), true);
    const bool has_model = row.getColumn(13).getInt() == terms_version;
    return {.member = {.kernel_template = row.getColumn(0).getInt64(),
                       .configuration = read_configuration(row.getColumn(1).getString()),
                       .model = has_model ? read_model(row.getColumn(2).getString(), row.getColumn(3).getDouble())
                                          : TimeModel{},
                       .registers = row.getColumn(4).getInt64(),
                       .static_shared_bytes = row.getColumn(5).getInt64(),
                       .classes = read_classes(row.getColumn(6).getString()),
                       .verified_by = row.getColumn(7).getString(),
                       .code_hash = row.getColumn(8).getString()},
            .kernel_template = row.getColumn(11).getString(),
            .template_hash = row.getColumn(12).getString()};
}

// Reads a key from the first four columns.
PortfolioKey read_key(const SQLite::Statement& row) {
    return {row.getColumn(0).getInt64(), row.getColumn(1).getString(), row.getColumn(2).getString(),
            row.getColumn(3).getString()};
}

Portfolio Store::State::read_portfolio(const PortfolioKey& key, TermsVersions versions) {
    const auto ids =
        query(members_of)
            .with(key.device, key.operation, key.type, key.layout, terms_version, versions == TermsVersions::all)
            .all(read_id);
    Portfolio result;
    for (const auto id : ids) {
        try {
            auto row = explained([&] { return query(one_portfolio_row()).with(id).first(read_portfolio_row); });
            if (row) result.members.push_back(std::move(*row));
        } catch (const DamagedRow& error) {
            const std::string message = error.what();
            result.damages.push_back(message);
        }
    }
    return result;
}

Portfolio Store::portfolio(const PortfolioKey& key, TermsVersions versions) const {
    return state_->guarded([&] {
        // Reads all rows in one transaction, because another process may replace the portfolio and reuse row numbers.
        const SQLite::Transaction snapshot(state_->connection.database, SQLite::TransactionBehavior::DEFERRED);
        return state_->read_portfolio(key, versions);
    });
}

std::vector<PortfolioKey> Store::outdated_portfolios() const {
    return state_->guarded([&] { return state_->query(outdated).with(terms_version).all(read_key); });
}

std::vector<PortfolioOrigin> Store::portfolios(TermsVersions versions) const {
    const auto read = [](const SQLite::Statement& row) {
        return PortfolioOrigin{.key = read_key(row),
                               .toolchain = row.getColumn(4).getString(),
                               .measured_at = row.getColumn(5).getString()};
    };
    return state_->guarded(
        [&] { return state_->query(origins).with(terms_version, versions == TermsVersions::all).all(read); });
}

}  // namespace smemtune
