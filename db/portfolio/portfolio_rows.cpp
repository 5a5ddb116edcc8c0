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
SELECT id FROM portfolio WHERE device = ? AND operation = ? AND type = ? AND layout = ? AND terms_version = ?
ORDER BY id)sql";

// Throws UnreadableRow unless there is one number that is finite and not negative for each term.
Terms read_coefficients(const std::string& text) {
    try {
        const auto values = nlohmann::json::parse(text).get<std::vector<double>>();
        const auto is_valid = [](double value) { return std::isfinite(value) && value >= 0; };
        if (values.size() != term_count || !std::ranges::all_of(values, is_valid)) {
            throw UnreadableRow("coefficients are not " + std::to_string(term_count) + " numbers from 0 on");
        }
        Terms coefficients{};
        std::ranges::copy(values, coefficients.begin());
        return coefficients;
    } catch (const nlohmann::json::exception& error) {
        throw UnreadableRow(std::string("coefficients cannot be read: ") + error.what());
    }
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
    for (const auto& [name, extent] : problem.extents) result += extent * element_bytes % 16 == 0 ? '1' : '0';
    return result;
}

void replace_portfolio(Connection& connection, const PortfolioKey& key, const std::vector<PortfolioMember>& members) {
    Query(connection, "DELETE FROM portfolio WHERE device = ? AND operation = ? AND type = ? AND layout = ?")
        .with(key.device, key.operation, key.type, key.layout)
        .run();
    for (const auto& member : members) {
        Query(connection, insert_member)
            .with(key.device, key.operation, key.type, key.layout, member.kernel_template,
                  to_text(member.configuration), terms_version, nlohmann::json(member.model.coefficients).dump(),
                  member.model.error, member.registers, member.static_shared_bytes,
                  nlohmann::json(member.classes).dump(), member.verified_by, member.code_hash)
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
        portfolio_sha256_in_sql() + " FROM portfolio WHERE id = f.id), k.name, k.hash " +
        "FROM portfolio AS f JOIN templates AS k ON k.id = f.template WHERE f.id = ?";
    return sql;
}

PortfolioRow read_portfolio_row(const SQLite::Statement& row) {
    check_hash(row.getColumn(9), row.getColumn(10).getString(), true);
    return {.member = {.kernel_template = row.getColumn(0).getInt64(),
                       .configuration = read_configuration(row.getColumn(1).getString()),
                       .model = {.coefficients = read_coefficients(row.getColumn(2).getString()),
                                 .error = row.getColumn(3).getDouble()},
                       .registers = row.getColumn(4).getInt64(),
                       .static_shared_bytes = row.getColumn(5).getInt64(),
                       .classes = read_classes(row.getColumn(6).getString()),
                       .verified_by = row.getColumn(7).getString(),
                       .code_hash = row.getColumn(8).getString()},
            .kernel_template = row.getColumn(11).getString(),
            .template_hash = row.getColumn(12).getString()};
}

Portfolio Store::portfolio(const PortfolioKey& key) const {
    const auto ids = state_->guarded([&] {
        return state_->query(members_of)
            .with(key.device, key.operation, key.type, key.layout, terms_version)
            .all(read_id);
    });
    Portfolio result;
    for (const auto id : ids) {
        try {
            auto row =
                state_->guarded([&] { return state_->query(one_portfolio_row()).with(id).first(read_portfolio_row); });
            if (row) result.members.push_back(std::move(*row));
        } catch (const DamagedRow& error) {
            const std::string message = error.what();
            result.damages.push_back(message);
        }
    }
    return result;
}

}  // namespace smemtune
