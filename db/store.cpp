// Implements class Store. Every public function turns SQLite's exceptions into StoreError.
#include "db/store.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <sqlite3.h>

#include "db/adopt.h"
#include "db/complete.h"
#include "db/integrity/row_hash.h"
#include "db/portfolio/portfolio_rows.h"
#include "db/store_state.h"
#include "util/hash.h"
#include "util/relative_path.h"

namespace smemtune {

namespace {

constexpr auto insert_run = R"sql(
INSERT INTO runs (request, policy, versions, started_at) VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))sql";

constexpr auto end_run = R"sql(
UPDATE runs SET how = ?, finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = ?)sql";

constexpr auto find_verified_trial = R"sql(
SELECT id, code_hash FROM trials
WHERE device = ? AND template = ? AND problem = ? AND configuration = ? AND cut_short = 0
    AND verified_by IS NOT NULL)sql";

// Used when the machine code of a configuration is replaced. Trials that were verified with the replaced code become
// `unrecorded`, because they were not verified with the new code.
constexpr auto forget_verification = R"sql(
UPDATE trials SET verified_by = 'unrecorded'
WHERE template = ? AND configuration = ? AND code_hash = ? AND cut_short = 0 AND verified_by IS NOT NULL)sql";

constexpr auto forget_all_verification = R"sql(
UPDATE trials SET verified_by = 'unrecorded'
WHERE template = ? AND configuration = ? AND code_hash <> ? AND cut_short = 0 AND verified_by IS NOT NULL)sql";

// These statements delete portfolio members whose machine code was replaced or gave a wrong result. The second one
// deletes all members whose code is not the given code.
constexpr auto forget_members = "DELETE FROM portfolio WHERE template = ? AND configuration = ? AND code_hash = ?";
constexpr auto forget_all_members = "DELETE FROM portfolio WHERE template = ? AND configuration = ? AND code_hash <> ?";

constexpr auto upsert_winner = R"sql(
INSERT INTO winners (device, problem, trial, decided_at) VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
ON CONFLICT (device, problem) DO UPDATE SET trial = excluded.trial, decided_at = excluded.decided_at)sql";

constexpr auto best_of_all_templates = R"sql(
WHERE t.id IN (SELECT b.trial FROM problems AS q JOIN best_trials AS b ON b.problem = q.id
               WHERE b.device = ? AND q.operation = ? AND q.type = ? AND q.layout = ?)
ORDER BY p.id)sql";

constexpr auto best_of_one_template = R"sql(
WHERE t.id IN (
    WITH versions AS (SELECT id FROM templates WHERE name = ?2
                      AND (?3 = '[]' OR hash IN (SELECT value FROM json_each(?3))))
    SELECT coalesce((SELECT w.trial FROM winners AS w JOIN trials AS f ON f.id = w.trial
                     WHERE w.device = ?1 AND w.problem = q.id AND f.template IN versions),
                    (SELECT f.id FROM trials AS f
                     WHERE f.device = ?1 AND f.problem = q.id AND f.cut_short = 0 AND f.verified_by IS NOT NULL
                         AND f.template IN versions
                     ORDER BY f.median_us, f.id LIMIT 1))
    FROM problems AS q WHERE q.operation = ?4 AND q.type = ?5 AND q.layout = ?6)
ORDER BY p.id)sql";

const std::string& or_empty_object(const std::string& json) {
    static const std::string empty_object = "{}";
    return json.empty() ? empty_object : json;
}

std::string hash_of(const BinaryRecord& binary) { return sha256(std::as_bytes(std::span(binary.code))); }

void check_times(const TrialRecord& trial) {
    const auto check = [](double time, const char* what) {
        if (!std::isfinite(time) || time < 0) {
            throw std::invalid_argument(std::string("a trial's ") + what + " must be finite and not negative, not " +
                                        std::to_string(time));
        }
    };
    check(trial.compile_ms, "compile_ms");
    check(trial.verify_ms, "verify_ms");
    check(trial.time_ms, "time_ms");
    if (const auto* measurement = std::get_if<Measurement>(&trial.outcome)) {
        check(measurement->median_us, "median_us");
        check(measurement->spread_us, "spread_us");
        check(measurement->energy_uj, "energy_uj");
        for (const double sample : measurement->samples_us) check(sample, "samples_us");
    }
}

template <class State>
void upsert(State& state, const TrialRecord& trial) {
    static const std::string sql = upsert_trial();
    auto query = state.query(sql);
    bind(*query, trial);
    query.run();
}

// Returns the hash of the machine code that `binary` replaces; nothing if it replaces no code, "damaged" if the row of
// the replaced code is damaged.
template <class State>
std::optional<std::string> hash_before(State& state, const BinaryRecord& binary) {
    try {
        return state.query(find_binary)
            .with(binary.kernel_template, to_text(binary.configuration), binary.target)
            .first([](const SQLite::Statement& row) { return hash_of(read_binary(row, true)); });
    } catch (const UnreadableRow&) {
    } catch (const SQLite::Exception& error) {
        if (error.getErrorCode() != SQLITE_TOOBIG) throw;
    }
    return "damaged";
}

template <class State>
void replace_binary(State& state, const BinaryRecord& binary) {
    const auto configuration = to_text(binary.configuration);
    const auto before = hash_before(state, binary);
    auto query = state.query(upsert_binary);
    bind(*query, binary);
    query.run();
    const auto now = hash_of(binary);
    if (!before || *before == now) return;
    // The hash of damaged code is unknown. Therefore all trials whose code is not the new code become `unrecorded`.
    const std::string sql = *before == "damaged" ? forget_all_verification : forget_verification;
    state.query(sql).with(binary.kernel_template, configuration, *before == "damaged" ? now : *before).run();
    const std::string members = *before == "damaged" ? forget_all_members : forget_members;
    state.query(members).with(binary.kernel_template, configuration, *before == "damaged" ? now : *before).run();
}

// Stores a trial with a wrong result, and deletes the portfolio members with the same machine code. Otherwise the
// runtime could use this code for problems without a trial.
template <class State>
void remember_wrong(State& state, const TrialRecord& trial) {
    WriteTransaction transaction(state.connection);
    upsert(state, trial);
    state.query(forget_members).with(trial.key.kernel_template, to_text(trial.configuration), trial.code_hash).run();
    transaction.commit();
}

// Declares a stored trial the winner of its device and problem. Runs inside the caller's transaction.
template <class State>
void declare_winner(State& state, const TrialKey& key, const Configuration& configuration,
                    const std::optional<BinaryRecord>& binary) {
    const auto trial = state.query(find_verified_trial)
                           .with(key.device, key.kernel_template, key.problem, to_text(configuration))
                           .first([](const SQLite::Statement& row) {
                               return std::pair(row.getColumn(0).getInt64(), row.getColumn(1).getString());
                           });
    if (!trial) {
        throw StoreError(state.request.name.string() + ": holds no completely measured and verified trial of " +
                         to_text(configuration) +
                         " to declare the winner; was it forgotten by another process? Run again");
    }
    if (binary && hash_of(*binary) != trial->second) {
        throw StoreError(state.request.name.string() + ": the machine code for " + to_text(configuration) +
                         " is not the code that was verified; was it tried by another process? Run again");
    }
    state.query(upsert_winner).with(key.device, key.problem, trial->first).run();
    if (binary) replace_binary(state, *binary);
}

}  // namespace

Store::Store(const std::filesystem::path& path, Access access, const StoreOptions& options)
    : state_(new State(open_request(path, options), access)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::int64_t Store::replacements() const { return state_->replacements; }

// Class Runtime calls devices() for each new problem. For speed, a reading Store caches the devices until another
// connection changes the file.
std::vector<std::pair<std::int64_t, Device>> Store::devices() const {
    static const std::string sql = select_devices();
    const auto read = [&] { return state_->query(sql).all(read_device); };
    if (state_->access == Access::write) return state_->guarded(read);
    return state_->read_together([&] {
        const auto version = state_->query("PRAGMA data_version").first(read_id).value_or(0);
        auto& known = state_->known_devices;
        if (!known || known->data_version != version) known = State::KnownDevices{version, read()};
        return known->devices;
    });
}

std::optional<Store::Known> Store::State::find_unchanged(const Problem& problem) {
    const auto files = states_of(request.file, unchanged.log);
    if (files != unchanged.files || files.file.inode == 0) {
        unchanged = {.log = request.file.string() + "-wal"};
        unchanged.files = states_of(request.file, unchanged.log);
    }
    ++unchanged.lookups;
    constexpr std::chrono::seconds trusted{1};
    const bool is_usable = unchanged.is_complete && known_devices;
    if (!is_usable || std::chrono::steady_clock::now() - unchanged.asked > trusted) return std::nullopt;
    const auto found = unchanged.problems.find(problem);
    const bool is_known = found != unchanged.problems.end();
    return Store::Known{known_devices->devices, is_known ? std::optional(found->second) : std::nullopt};
}

void Store::State::read_unchanged() {
    // Without the cache, a lookup takes about 6 us more than with it. Filling the cache takes about 2 us for each
    // problem. The cache is filled only if there are at most two problems for each earlier lookup. Filling it then
    // takes at most 4 us for each earlier lookup. If the file changes right afterwards, this time is wasted, but it is
    // less than what a cache would have saved in the earlier lookups.
    constexpr std::int64_t problems_per_lookup = 2;
    constexpr std::int64_t first_lookups = 4;
    constexpr std::int64_t most_problems = 4096;
    if (!known_devices) return;
    try {
        const auto version = known_devices->data_version;
        const auto asked = std::chrono::steady_clock::now();
        if (unchanged.is_complete && version == unchanged.data_version) {
            unchanged.asked = asked;
            return;
        }
        unchanged.is_complete = false;
        if (unchanged.lookups < first_lookups || !unchanged.files.is_settled()) return;
        const auto last = query("SELECT max(id) FROM problems").first(read_id).value_or(0);
        if (last > std::min(most_problems, problems_per_lookup * unchanged.lookups)) return;
        // Only local files are cached, because a network filesystem may report an old state of a file. journal_at()
        // returns Journal::wal for local files only.
        if (journal_at(request.file) != Journal::wal) return;
        auto now = unchanged;
        const auto mode = [](const SQLite::Statement& row) { return row.getColumn(0).getString(); };
        const bool has_log = !is_locked || query("PRAGMA journal_mode").first(mode) == "wal";
        now.data_version = version;
        now.asked = asked;
        now.problems.clear();
        for (auto& [row, problem] : query(select_problems).all(read_problem)) now.problems.emplace(problem, row);
        now.is_complete = states_of(request.file, now.log) == now.files;
        if (!has_log) {  // without a log, only the file is watched: a change to WAL mode would change the file itself
            now.log.clear();
            now.files.log = {};
        }
        unchanged = std::move(now);
    } catch (const std::exception&) {
        unchanged.is_complete = false;
    }
}

Store::Known Store::known(const Problem& problem) const {
    const bool reads = state_->access == Access::read;
    if (reads) {
        if (auto found = state_->find_unchanged(problem)) return *std::move(found);
    }
    return state_->read_together([&] {
        auto every = devices();
        auto known = Known{std::move(every), find(problem)};
        if (reads) state_->read_unchanged();
        return known;
    });
}

std::optional<std::int64_t> Store::find(const Device& device) const {
    static const std::string sql = find_device();
    return state_->guarded([&] {
        auto query = state_->query(sql);
        bind(*query, device);
        return query.first(read_id);
    });
}

std::optional<std::int64_t> Store::find(const Problem& problem) const {
    return state_->guarded([&] {
        auto query = state_->query(find_problem);
        bind_content(*query, problem);
        return query.first(read_id);
    });
}

std::int64_t Store::remember(const Device& device) {
    static const std::string sql = insert_device();
    const auto add = [&] {
        auto query = state_->query(sql);
        bind(*query, device);
        query.run();
    };
    return state_->guarded([&] { return state_->find_or_add([&] { return find(device); }, add); });
}

std::int64_t Store::remember(const Problem& problem) {
    const auto add = [&] {
        auto query = state_->query(insert_problem);
        bind_all(*query, problem);
        query.run();
    };
    return state_->guarded([&] { return state_->find_or_add([&] { return find(problem); }, add); });
}

std::int64_t Store::remember(const TemplateRecord& kernel_template, const Configuration& defaults) {
    for (const auto& [path, text] : kernel_template.files) {
        if (!stays_inside(path)) {
            throw StoreError(state_->request.name.string() + ": takes no template with the file '" + path +
                             "'; give files relative paths without '..'");
        }
    }
    const auto find = [&] {
        return state_->query("SELECT id FROM templates WHERE name = ? AND hash = ?")
            .with(kernel_template.name, kernel_template.hash)
            .first(read_id);
    };
    const auto hash = row_sha256(kernel_template);
    const auto write_files = [&](std::int64_t id) {
        state_->query("UPDATE templates SET operation = ?, sha256 = ? WHERE id = ?")
            .with(kernel_template.operation, hash, id)
            .run();
        state_->query("DELETE FROM template_files WHERE template = ?").with(id).run();
        for (const auto& [path, text] : kernel_template.files) {
            state_->query("INSERT INTO template_files (template, path, text) VALUES (?, ?, ?)")
                .with(id, path, text)
                .run();
        }
    };
    const auto add = [&] {
        state_->query("INSERT INTO templates (name, operation, hash) VALUES (?, ?, ?)")
            .with(kernel_template.name, kernel_template.operation, kernel_template.hash)
            .run();
        write_files(state_->connection.database.getLastInsertRowid());
    };
    const auto id = state_->guarded([&] {
        if (has_same_code(state_->connection, kernel_template)) {
            WriteTransaction transaction(state_->connection);
            adopt_same_code(state_->connection, kernel_template, defaults);
            transaction.commit();
        }
        return state_->find_or_add(find, add);
    });
    // The hash of a template does not cover its summary and its parameters' values, so the stored files may differ from
    // the given ones. If they differ, they are replaced, because the template's newest winner must compile from the
    // stored files.
    const auto is_stored = [&] {
        try {
            const auto known = recall_template(id);
            // If the row is missing, another process has merged it into another row.
            return !known || known->files == kernel_template.files;
        } catch (const DamagedRow&) {
            return false;
        }
    };
    if (!is_stored()) {
        state_->guarded([&] {
            WriteTransaction transaction(state_->connection);
            write_files(id);
            complete_configurations(state_->connection, id, defaults);
            transaction.commit();
        });
    }
    return id;
}

std::int64_t Store::start_run(const RunRecord& run) {
    return state_->guarded([&] {
        state_->query(insert_run)
            .with(or_empty_object(run.request), or_empty_object(run.policy), or_empty_object(run.versions))
            .run();
        return state_->connection.database.getLastInsertRowid();
    });
}

void Store::finish_run(std::int64_t run, const std::string& how) {
    state_->guarded([&] { state_->query(end_run).with(how, run).run(); });
}

std::optional<std::string> Store::how_ended(std::int64_t run) const {
    return state_->guarded([&] {
        return state_->query("SELECT how FROM runs WHERE id = ? AND how IS NOT NULL")
            .with(run)
            .first([](const SQLite::Statement& row) { return row.getColumn(0).getString(); });
    });
}

void Store::remember(const TrialRecord& trial) {
    check_times(trial);
    const std::pair place(trial.key.device, trial.key.problem);
    const auto* rejection = std::get_if<Rejection>(&trial.outcome);
    state_->guarded([&] {
        if (rejection != nullptr && rejection->stage == Stage::wrong) return remember_wrong(*state_, trial);
        if (rejection != nullptr || state_->placed.contains(place)) return upsert(*state_, trial);
        WriteTransaction transaction(state_->connection);
        state_->place(place.first, place.second);
        upsert(*state_, trial);
        transaction.commit();
        state_->placed.insert(place);
    });
}

std::optional<TrialRecord> Store::recall(const TrialKey& key, const Configuration& configuration) const {
    static const std::string sql =
        select_trials("WHERE t.device = ? AND t.template = ? AND t.problem = ? AND t.configuration = ?");
    return state_->guarded([&] {
        return state_->query(sql)
            .with(key.device, key.kernel_template, key.problem, to_text(configuration))
            .first(read_trial);
    });
}

std::optional<std::string> Store::why_rejected(std::int64_t device, std::optional<std::int64_t> problem,
                                               const std::string& kernel_template,
                                               const std::vector<std::string>& hashes,
                                               const Configuration& configuration) const {
    static const std::string sql = R"sql(
SELECT t.reason FROM templates AS k JOIN trials AS t ON t.device = ? AND t.template = k.id
WHERE k.name = ? AND k.hash IN (SELECT value FROM json_each(?)) AND t.configuration = ? AND t.reason IS NOT NULL
    AND (t.problem = ? OR t.rejected_at IN ('wrong', 'crash')))sql";
    return state_->guarded([&] {
        return state_->query(sql)
            .with(device, kernel_template, json_array(hashes), to_text(configuration), problem.value_or(-1))
            .first([](const SQLite::Statement& row) { return row.getColumn(0).getString(); });
    });
}

bool Store::failed_somewhere(const Configuration& configuration, const std::string& code_hash) const {
    // SQLite uses the index trials_that_failed only if the query has the index's condition on rejected_at.
    static const std::string sql =
        "SELECT id FROM trials WHERE code_hash = ? AND rejected_at IN ('wrong', 'crash') AND configuration = ?";
    return state_->guarded(
        [&] { return state_->query(sql).with(code_hash, to_text(configuration)).first(read_id).has_value(); });
}

std::vector<TrialRecord> Store::trials(const TrialKey& key) const {
    static const std::string sql =
        select_trials("WHERE t.device = ? AND t.template = ? AND t.problem = ? ORDER BY t.id");
    return state_->guarded(
        [&] { return state_->query(sql).with(key.device, key.kernel_template, key.problem).all(read_trial); });
}

void Store::forget(const TrialKey& key) {
    state_->guarded([&] {  // the foreign key of `winners` also deletes a winner among the trials
        state_->query("DELETE FROM trials WHERE device = ? AND template = ? AND problem = ?")
            .with(key.device, key.kernel_template, key.problem)
            .run();
    });
}

void Store::set_winner(const TrialKey& key, const Configuration& configuration,
                       const std::optional<BinaryRecord>& binary) {
    state_->guarded([&] {
        WriteTransaction transaction(state_->connection);
        declare_winner(*state_, key, configuration, binary);
        transaction.commit();
    });
}

void Store::set_winner(const TrialRecord& trial, const BinaryRecord& binary) {
    check_times(trial);
    state_->guarded([&] {
        WriteTransaction transaction(state_->connection);
        state_->place(trial.key.device, trial.key.problem);
        upsert(*state_, trial);
        declare_winner(*state_, trial.key, trial.configuration, binary);
        transaction.commit();
    });
}

void Store::set_portfolio(const PortfolioKey& key, const std::vector<PortfolioMember>& members,
                          const std::vector<BinaryRecord>& binaries) {
    for (const auto& member : members) {
        const bool has_code = std::ranges::any_of(binaries, [&](const BinaryRecord& binary) {
            return binary.kernel_template == member.kernel_template && binary.configuration == member.configuration &&
                   hash_of(binary) == member.code_hash;
        });
        if (!has_code) {
            throw StoreError(state_->request.name.string() + ": the machine code that " +
                             to_text(member.configuration) + " was verified with is missing; run again");
        }
    }
    state_->guarded([&] {
        WriteTransaction transaction(state_->connection);
        for (const auto& binary : binaries) replace_binary(*state_, binary);
        replace_portfolio(state_->connection, key, members);
        transaction.commit();
    });
}

std::vector<TrialRow> Store::best_of(std::int64_t device, const std::string& operation, const std::string& type,
                                     const std::string& layout, const std::string& kernel_template,
                                     const std::vector<std::string>& hashes) const {
    static const std::string over_all = select_rows(best_of_all_templates);
    static const std::string of_one = select_rows(best_of_one_template);
    return state_->guarded([&] {
        if (kernel_template.empty()) {
            return state_->query(over_all).with(device, operation, type, layout).all_but<UnreadableRow>(read_row);
        }
        return state_->query(of_one)
            .with(device, kernel_template, json_array(hashes), operation, type, layout)
            .all_but<UnreadableRow>(read_row);
    });
}

}  // namespace smemtune
