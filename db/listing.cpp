// The queries of class Store whose results are shown to the user.
#include <nlohmann/json.hpp>

#include "db/store_state.h"

namespace smemtune {

namespace {

// The tables to which the user's filters refer, with their aliases: `t` is the trial, `d` its device, `k` its template,
// `p` its problem, and `w` its row in the table `winners`. If the trial is not the winner, the columns of `w` are NULL.
constexpr auto joined_trials = R"sql(
trials AS t JOIN devices AS d ON d.id = t.device JOIN templates AS k ON k.id = t.template
JOIN problems AS p ON p.id = t.problem
LEFT JOIN winners AS w ON w.device = t.device AND w.problem = t.problem AND w.trial = t.id )sql";

constexpr auto group_columns =
    "count(t.median_us), count(t.rejected_at), count(w.trial), min(t.finished_at), max(t.finished_at), "
    // the same condition as is_unchecked() in templates/manifest/catalog.cpp
    "count(CASE WHEN t.verified_by LIKE 'unchecked-%' THEN 1 END)";

constexpr auto count_of_template = R"sql(
SELECT count(*) FROM trials
WHERE device = ? AND problem = ? AND template = (SELECT id FROM templates WHERE name = ? AND hash = ?))sql";

constexpr auto best_time_of_template = R"sql(
SELECT median_us FROM trials
WHERE device = ? AND problem = ? AND cut_short = 0 AND verified_by IS NOT NULL
    AND template IN (SELECT id FROM templates WHERE name = ?)
ORDER BY median_us LIMIT 1)sql";

constexpr auto templates_with_later_versions = R"sql(
WITH latest AS (SELECT k.id, k.name, k.operation, max(t.finished_at) AS at
                FROM templates AS k JOIN trials AS t ON t.template = k.id GROUP BY k.id)
SELECT a.id FROM latest AS a
WHERE EXISTS (SELECT 1 FROM latest AS b WHERE b.name = a.name AND b.operation = a.operation AND b.at > a.at)
ORDER BY a.id)sql";

constexpr auto counts = R"sql(
SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM devices),
       (SELECT count(*) FROM templates), (SELECT count(*) FROM problems),
       (SELECT count(*) FROM trials WHERE median_us IS NOT NULL),
       (SELECT count(*) FROM trials WHERE rejected_at IS NOT NULL),
       (SELECT count(*) FROM binaries), (SELECT count(*) FROM runs))sql";

// Returns an SQL condition: `column` matches one of the patterns in a JSON list. The list is SQL parameter number
// `number`. An empty list matches every row.
std::string matches(const std::string& column, int number) {
    const auto list = "?" + std::to_string(number);
    return "(" + list + " = '[]' OR EXISTS (SELECT 1 FROM json_each(" + list + ") WHERE " + column +
           " LIKE value ESCAPE '\\'))";
}

// Returns the user's patterns as patterns of SQL's LIKE, in a JSON list. In LIKE, % matches any text and _ any letter.
std::string like_patterns(const std::vector<std::string>& patterns) {
    auto list = nlohmann::json::array();
    for (const auto& pattern : patterns) {
        std::string like;
        for (const char c : pattern) {
            if (c == '%' || c == '_' || c == '\\') like += '\\';
            like += c == '*' ? '%' : c;
        }
        list.push_back(like);
    }
    return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string conditions(const Store::Filter& filter) {
    auto sql = "WHERE " + matches("d.name", 1) + " AND " + matches("k.name", 2) + " AND " + matches("p.size", 3) +
               " AND " + matches("p.operation", 4);
    if (filter.best_only) sql += " AND t.id IN (SELECT trial FROM best_trials)";
    if (filter.rejected_only) sql += " AND t.rejected_at IS NOT NULL";
    return sql;
}

template <class... More>
void bind_filter(Query& query, const Store::Filter& filter, const More&... more) {
    query.with(like_patterns(filter.devices), like_patterns(filter.kernel_templates), like_patterns(filter.sizes),
               like_patterns(filter.operations), more...);
}

std::string order_of(Store::Filter::Sort sort) {
    using Sort = Store::Filter::Sort;
    if (sort == Sort::date) return " ORDER BY t.finished_at DESC, t.id DESC";
    if (sort == Sort::id) return " ORDER BY t.id";
    return " ORDER BY d.name, d.id, p.operation, p.type, p.layout, p.id, t.median_us IS NULL, t.median_us, t.id";
}

}  // namespace

std::vector<TrialRow> Store::rows(const Filter& filter) const {
    const auto& on_damage = state_->request.options.on_damage;
    std::vector<std::string> damages;
    auto found = state_->guarded([&] {
        damages.clear();  // the query may be repeated
        auto query = state_->query(select_rows(conditions(filter) + order_of(filter.sort) + " LIMIT ?"));
        bind_filter(query, filter, filter.limit ? static_cast<std::int64_t>(*filter.limit) : -1);
        if (!on_damage) return query.all(read_row);
        return query.all_but<UnreadableRow>(read_row,
                                            [&](const UnreadableRow& row) { damages.emplace_back(row.what()); });
    });
    for (const auto& damage : damages) on_damage(damage);
    return found;
}

std::size_t Store::count(const Filter& filter) const {
    return state_->guarded([&] {
        auto query = state_->query("SELECT count(*) FROM " + std::string(joined_trials) + conditions(filter));
        bind_filter(query, filter);
        return static_cast<std::size_t>(query.first(read_id).value_or(0));
    });
}

std::size_t Store::count(const Device& device, const std::string& kernel_template, const std::string& hash,
                         const Problem& problem) const {
    const auto device_row = find(device);
    const auto problem_row = find(problem);
    if (!device_row || !problem_row) return 0;
    return state_->guarded([&] {
        const auto count =
            state_->query(count_of_template).with(*device_row, *problem_row, kernel_template, hash).first(read_id);
        return static_cast<std::size_t>(count.value_or(0));
    });
}

std::optional<TrialRow> Store::fastest(std::int64_t device, std::int64_t problem) const {
    static const std::string sql = select_rows(
        "WHERE t.device = ? AND t.problem = ? AND t.cut_short = 0 AND t.verified_by IS NOT NULL "
        "ORDER BY t.median_us, t.id LIMIT 1");
    return state_->guarded([&] { return state_->query(sql).with(device, problem).first(read_row); });
}

std::vector<std::int64_t> Store::versions_with_later_ones() const {
    return state_->guarded([&] { return state_->query(templates_with_later_versions).all(read_id); });
}

std::vector<std::int64_t> Store::templates_of(const std::string& operation) const {
    return state_->guarded(
        [&] { return state_->query("SELECT id FROM templates WHERE operation = ?").with(operation).all(read_id); });
}

Store::Inventory Store::inventory(const Filter& filter) const {
    const auto read = [](const SQLite::Statement& row) {
        return Group{.name = row.getColumn(0).getString(),
                     .measured = row.getColumn(1).getInt64(),
                     .rejected = row.getColumn(2).getInt64(),
                     .winners = row.getColumn(3).getInt64(),
                     .first_at = row.getColumn(4).getString(),
                     .last_at = row.getColumn(5).getString(),
                     .unchecked = row.getColumn(6).getInt64()};
    };
    const auto groups = [&](const std::string& name, const std::string& group) {
        auto query = state_->query("SELECT " + name + ", " + group_columns + " FROM " + joined_trials +
                                   conditions(filter) + " GROUP BY " + group + " ORDER BY " + group);
        bind_filter(query, filter);
        return query.all(read);
    };
    const auto portfolios = [&] {
        if (!filter.sizes.empty() || filter.rejected_only) return std::vector<ListedPortfolio>();
        static const auto sql =
            "SELECT f.operation || ' ' || f.type || iif(f.layout = '', '', ' ' || f.layout), "
            "d.name, count(*), NOT max(f.terms_version = ?5) "
            "FROM portfolio AS f JOIN devices AS d ON d.id = f.device "
            "JOIN templates AS k ON k.id = f.template WHERE " +
            matches("d.name", 1) + " AND " + matches("k.name", 2) + " AND ?3 = '[]' AND " + matches("f.operation", 4) +
            " GROUP BY f.device, f.operation, f.type, f.layout "
            "ORDER BY d.name, d.id, f.operation, f.type, f.layout";
        auto query = state_->query(sql);
        bind_filter(query, filter, terms_version);
        return query.all([](const SQLite::Statement& row) {
            return ListedPortfolio{.name = row.getColumn(0).getString(),
                                   .device = row.getColumn(1).getString(),
                                   .members = row.getColumn(2).getInt64(),
                                   .is_outdated = row.getColumn(3).getInt() != 0};
        });
    };
    return state_->guarded([&] {
        return Inventory{
            .devices = groups("d.name", "d.name, d.id"),
            .templates = groups("k.name", "k.operation, k.name"),
            .problems = groups("p.operation || ' ' || p.type || iif(p.layout = '', '', ' ' || p.layout) || ' ' || "
                               "p.size",
                               "p.operation, p.type, p.layout, p.id"),
            .portfolios = portfolios()};
    });
}

std::optional<double> Store::best_us(std::int64_t device, std::int64_t problem,
                                     const std::string& kernel_template) const {
    return state_->guarded([&] {
        return state_->query(best_time_of_template)
            .with(device, problem, kernel_template)
            .first([](const SQLite::Statement& row) { return row.getColumn(0).getDouble(); });
    });
}

std::optional<RunRow> Store::recall_run(std::int64_t run) const {
    return state_->guarded([&] {
        return state_->query("SELECT request, policy, versions, started_at, finished_at, how FROM runs WHERE id = ?")
            .with(run)
            .first([](const SQLite::Statement& row) {
                // getString() returns an empty text for a NULL column.
                const auto text = [&](int column) { return row.getColumn(column).getString(); };
                return RunRow{{text(0), text(1), text(2)}, text(3), text(4), text(5)};
            });
    });
}

std::optional<TrialRow> Store::row(std::int64_t trial) const {
    static const std::string sql = select_rows("WHERE t.id = ?");
    return state_->guarded([&] { return state_->query(sql).with(trial).first(read_row); });
}

Store::Summary Store::summary() const {
    return state_->guarded([&] {
        const auto read = [&](const SQLite::Statement& row) {
            const auto count = [&](int column) { return row.getColumn(column).getInt64(); };
            return Summary{.path = state_->request.name,
                           .schema_version = row.getColumn(0).getInt(),
                           .devices = count(1),
                           .templates = count(2),
                           .problems = count(3),
                           .measured = count(4),
                           .rejected = count(5),
                           .binaries = count(6),
                           .runs = count(7)};
        };
        return *state_->query(counts).first(read);
    });
}

}  // namespace smemtune
