// Finds the damaged rows of the whole database. Also deletes damaged rows that a tuning run would use.
#include <string_view>

#include "db/integrity/row_hash.h"
#include "db/portfolio/portfolio_rows.h"
#include "db/store_state.h"

namespace smemtune {

namespace {

constexpr auto tune_again = "tune the same problem with the same templates again";

constexpr auto binary_names = R"sql(
SELECT b.id, 'machine code of ' || k.name || ' ' || b.configuration || ' for ' || b.target
FROM binaries AS b JOIN templates AS k ON k.id = b.template ORDER BY b.id)sql";

constexpr auto one_binary = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries WHERE id = ?)sql";

constexpr auto one_problem = "SELECT id, operation, type, layout, extents FROM problems WHERE id = ?";

constexpr auto portfolio_names = R"sql(
SELECT f.id, 'portfolio member ' || k.name || ' ' || f.configuration
FROM portfolio AS f JOIN templates AS k ON k.id = f.template ORDER BY f.id)sql";

std::pair<std::int64_t, std::string> read_name(const SQLite::Statement& row) {
    return {row.getColumn(0).getInt64(), row.getColumn(1).getString()};
}

// No launch takes only a millionth of a microsecond, and none takes 11 days.
constexpr double shortest_us = 1e-6;
constexpr double longest_us = 1e12;

bool is_possible(double us) { return us >= shortest_us && us <= longest_us; }  // false for NaN

// Throws DamagedRow if the trial has a time that no launch can take.
void require_possible_times(const TrialRecord& trial) {
    const auto* measured = std::get_if<Measurement>(&trial.outcome);
    if (measured == nullptr) return;
    const auto check = [](const char* name, double us) {
        if (!is_possible(us))
            throw DamagedRow(std::string(name) + " is " + std::to_string(us) + ", which no launch takes");
    };
    check("median_us", measured->median_us);
    for (const auto us : measured->samples_us) check("a time of samples_us", us);
    if (!(measured->spread_us >= 0 && measured->spread_us <= longest_us)) {
        throw DamagedRow("spread_us is " + std::to_string(measured->spread_us) + ", which no measurement has");
    }
}

bool is_hash(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Throws DamagedRow if `code_hash` is no hash, or if `verified_by` does not have the form OPERATION/TESTBED.
void require_identities(const TrialRecord& trial) {
    if (!trial.code_hash.empty() && !is_hash(trial.code_hash)) {
        throw DamagedRow("code_hash is '" + trial.code_hash + "', which is no hash");
    }
    const auto& identity = trial.verified_by;
    if (identity.empty() || identity == unrecorded) return;
    const auto slash = identity.find('/');
    if (slash == 0 || slash == std::string::npos || slash + 1 == identity.size()) {
        throw DamagedRow("verified_by is '" + identity + "', which is no verification identity");
    }
}

void require_positive_extents(const Problem& problem) {
    for (const auto& [name, value] : problem.extents) {
        if (value <= 0)
            throw DamagedRow("the extent " + name + " is " + std::to_string(value) + ", which is not positive");
    }
}

// Calls `read` and returns whether it throws DamagedRow.
template <class Read>
bool is_damaged(const Read& read) {
    try {
        static_cast<void>(read());
        return false;
    } catch (const DamagedRow&) {
        return true;
    }
}

}  // namespace

std::vector<Store::Damage> Store::damages() const {
    static const std::string one_trial = select_rows("WHERE t.id = ?");
    std::vector<Damage> found;
    // `check` throws DamagedRow if the row with the given id is damaged.
    const auto check_each = [&](const char* names, const char* remedy, const auto& check) {
        const auto rows = state_->guarded([&] { return state_->query(names).all(read_name); });
        for (const auto& [id, name] : rows) {
            try {
                check(id);
            } catch (const DamagedRow& error) {
                const auto prefix = name + ": ";  // the reason of a damaged trial begins with this prefix
                const auto& reason = error.reason();
                found.push_back({name, reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason, remedy});
            }
        }
    };
    check_each("SELECT id, 'problem ' || id || ' (' || size || ')' FROM problems ORDER BY id",
               "tune the sizes that you need into a new database", [&](std::int64_t id) {
                   const auto problem =
                       state_->guarded([&] { return state_->query(one_problem).with(id).first(read_problem); });
                   if (problem) require_positive_extents(problem->second);
               });
    check_each("SELECT id, 'template ' || name || ' ' || hash FROM templates ORDER BY id", tune_again,
               [&](std::int64_t id) { static_cast<void>(recall_template(id)); });
    check_each(binary_names, tune_again, [&](std::int64_t id) {
        state_->guarded([&] {
            return state_->query(one_binary).with(id).first([&](const auto& row) {
                return read_binary(row, state_->schema >= hashed_schema);
            });
        });
    });
    check_each(portfolio_names, "run 'smemtune portfolio' on the device again", [&](std::int64_t id) {
        state_->guarded([&] { return state_->query(one_portfolio_row()).with(id).first(read_portfolio_row); });
    });
    check_each("SELECT id, 'trial ' || id FROM trials ORDER BY id", tune_again, [&](std::int64_t id) {
        const auto row = state_->guarded([&] { return state_->query(one_trial).with(id).first(read_row); });
        if (!row) return;
        require_possible_times(row->record);
        require_identities(row->record);
    });
    return found;
}

void Store::forget_damaged(const TrialKey& key) {
    static const std::string one_trial = select_trials("WHERE t.id = ?");
    const auto ids = [&](const char* sql, const auto&... values) {
        return state_->guarded([&] { return state_->query(sql).with(values...).all(read_id); });
    };
    const auto forget = [&](const char* sql, std::int64_t id) {
        state_->guarded([&] { state_->query(sql).with(id).run(); });
    };
    const auto require_sound = [](const std::vector<TrialRecord>& records) {
        for (const auto& record : records) {
            require_possible_times(record);
            require_identities(record);
        }
        return true;
    };
    if (is_damaged([&] { return require_sound(trials(key)); })) {
        for (const auto id : ids("SELECT id FROM trials WHERE device = ? AND template = ? AND problem = ?", key.device,
                                 key.kernel_template, key.problem)) {
            const auto read = [&] { return state_->query(one_trial).with(id).all(read_trial); };
            if (is_damaged([&] { return require_sound(state_->guarded(read)); }))
                forget("DELETE FROM trials WHERE id = ?", id);
        }
    }
    if (!state_->examined.insert(key.kernel_template).second) return;
    for (const auto id : ids("SELECT id FROM binaries WHERE template = ?", key.kernel_template)) {
        const auto read = [&] {
            return state_->query(one_binary).with(id).first([](const auto& row) { return read_binary(row, true); });
        };
        if (is_damaged([&] { return state_->guarded(read); })) forget("DELETE FROM binaries WHERE id = ?", id);
    }
}

}  // namespace smemtune
