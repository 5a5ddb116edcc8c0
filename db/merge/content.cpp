// Reads the whole content of a database in one transaction, and writes such content into a new database.
#include "db/merge/content.h"

#include "db/integrity/row_hash.h"
#include "db/portfolio/portfolio_rows.h"
#include "db/store_state.h"

namespace smemtune {

namespace {

constexpr auto select_runs = R"sql(
SELECT id, request, policy, versions, started_at, finished_at, how FROM runs ORDER BY id)sql";

constexpr auto all_binaries = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries ORDER BY id)sql";

constexpr auto insert_dated_run = R"sql(
INSERT INTO runs (request, policy, versions, started_at, finished_at, how)
VALUES (?, ?, ?, ?, nullif(?, ''), nullif(?, '')))sql";

constexpr auto insert_dated_winner = "INSERT INTO winners (device, problem, trial, decided_at) VALUES (?, ?, ?, ?)";

std::pair<std::int64_t, RunRow> read_dated_run(const SQLite::Statement& row) {
    // getString() returns an empty text for a NULL column.
    const auto text = [&](int column) { return row.getColumn(column).getString(); };
    return {row.getColumn(0).getInt64(), {{text(1), text(2), text(3)}, text(4), text(5), text(6)}};
}

template <class Value>
std::map<std::int64_t, Value> as_map(std::vector<std::pair<std::int64_t, Value>> rows) {
    return {std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end())};
}

// Returns all trials. If a trial refers to a missing row, the SQL silently omits the trial. This function therefore
// also counts the rows of the table `trials`, and throws UnreadableRow if a trial was omitted.
template <class State>
std::vector<DatedTrial> read_trials(State& state) {
    static const std::string sql = select_rows("ORDER BY t.id");
    auto trials = state.query(sql).all([](const SQLite::Statement& row) {
        auto read = read_row(row);
        return DatedTrial{std::move(read.record), std::move(read.finished_at), std::move(read.decided_at)};
    });
    const auto stored = state.query("SELECT count(*) FROM trials").first(read_id);
    if (stored != static_cast<std::int64_t>(trials.size())) throw UnreadableRow("a trial refers to a missing row");
    return trials;
}

template <class State>
void insert_template(State& state, const TemplateRecord& record) {
    state.query("INSERT INTO templates (name, operation, hash, sha256) VALUES (?, ?, ?, ?)")
        .with(record.name, record.operation, record.hash, row_sha256(record))
        .run();
    const auto id = state.connection.database.getLastInsertRowid();
    for (const auto& [path, text] : record.files) {
        state.query("INSERT INTO template_files (template, path, text) VALUES (?, ?, ?)").with(id, path, text).run();
    }
}

template <class State>
void insert_trial(State& state, const DatedTrial& trial) {
    static const std::string sql = upsert_trial();
    const auto& key = trial.record.key;
    if (std::holds_alternative<Measurement>(trial.record.outcome)) state.place(key.device, key.problem);
    auto query = state.query(sql);
    bind(*query, trial.record);
    query.run();
    const auto id = state.connection.database.getLastInsertRowid();
    state.query("UPDATE trials SET finished_at = ? WHERE id = ?").with(trial.finished_at, id).run();
    if (trial.decided_at.empty()) return;
    state.query(insert_dated_winner).with(key.device, key.problem, id, trial.decided_at).run();
}

}  // namespace

DatabaseContent Store::content() const {
    static const std::string devices_sql = select_devices();
    return state_->read_together([&] {
        DatabaseContent content;
        content.trials = read_trials(*state_);
        content.devices = as_map(state_->query(devices_sql).all(read_device));
        content.problems = as_map(state_->query(select_problems).all(read_problem));
        content.runs = as_map(state_->query(select_runs).all(read_dated_run));
        for (const auto id : state_->query("SELECT id FROM templates ORDER BY id").all(read_id)) {
            content.templates.emplace(id, *state_->read_template(id));
        }
        content.binaries = state_->query(all_binaries).all([&](const SQLite::Statement& row) {
            return read_binary(row, state_->schema >= hashed_schema);
        });
        content.outdated_portfolios = outdated_portfolios();
        for (const auto& origin : portfolios()) {
            auto stored = state_->read_portfolio(origin.key, TermsVersions::present);
            if (!stored.damages.empty()) throw DamagedRow(stored.damages.front());
            auto& portfolio = content.portfolios.emplace_back(StoredPortfolio{origin.key, {}});
            for (auto& row : stored.members) portfolio.members.push_back(std::move(row.member));
        }
        return content;
    });
}

void Store::fill(const DatabaseContent& content) {
    static const std::string device_sql = insert_device();
    state_->guarded([&] {
        WriteTransaction transaction(state_->connection);
        const auto insert = [&](const std::string& sql, const auto& binder) {
            auto query = state_->query(sql);
            binder(*query);
            query.run();
        };
        for (const auto& device : content.devices) {
            insert(device_sql, [&](SQLite::Statement& statement) { bind(statement, device.second); });
        }
        for (const auto& [id, record] : content.templates) insert_template(*state_, record);
        for (const auto& problem : content.problems) {
            insert(insert_problem, [&](SQLite::Statement& statement) { bind_all(statement, problem.second); });
        }
        for (const auto& [id, run] : content.runs) {
            state_->query(insert_dated_run)
                .with(run.record.request, run.record.policy, run.record.versions, run.started_at, run.finished_at,
                      run.how)
                .run();
        }
        for (const auto& trial : content.trials) insert_trial(*state_, trial);
        for (const auto& binary : content.binaries) {
            insert(upsert_binary, [&](SQLite::Statement& statement) { bind(statement, binary); });
        }
        for (const auto& [key, members] : content.portfolios) replace_portfolio(state_->connection, key, members);
        transaction.commit();
    });
}

}  // namespace smemtune
