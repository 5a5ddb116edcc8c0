// Finds the damaged rows of the whole database. Deletes the damaged rows among those that a tuning run uses.
#include "db/integrity/row_hash.h"
#include "db/portfolio/portfolio_rows.h"
#include "db/store_state.h"

namespace smemtune {

namespace {

constexpr auto binary_names = R"sql(
SELECT b.id, 'machine code of ' || k.name || ' ' || b.configuration || ' for ' || b.target
FROM binaries AS b JOIN templates AS k ON k.id = b.template ORDER BY b.id)sql";

constexpr auto one_binary = R"sql(
SELECT template, configuration, target, compiler, code, registers, spill_bytes, static_shared_bytes,
       dynamic_shared_bytes, sha256
FROM binaries WHERE id = ?)sql";

constexpr auto portfolio_names = R"sql(
SELECT f.id, 'portfolio member ' || k.name || ' ' || f.configuration
FROM portfolio AS f JOIN templates AS k ON k.id = f.template ORDER BY f.id)sql";

std::pair<std::int64_t, std::string> read_name(const SQLite::Statement& row) {
    return {row.getColumn(0).getInt64(), row.getColumn(1).getString()};
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
    const auto check_each = [&](const char* names, const auto& check) {
        const auto rows = state_->guarded([&] { return state_->query(names).all(read_name); });
        for (const auto& [id, name] : rows) {
            try {
                check(id);
            } catch (const DamagedRow& error) {
                const auto prefix = name + ": ";  // the reason of a damaged trial begins with it
                const auto& reason = error.reason();
                found.push_back({name, reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason});
            }
        }
    };
    check_each("SELECT id, 'template ' || name || ' ' || hash FROM templates ORDER BY id",
               [&](std::int64_t id) { static_cast<void>(recall_template(id)); });
    check_each(binary_names, [&](std::int64_t id) {
        state_->guarded([&] {
            return state_->query(one_binary).with(id).first([&](const auto& row) {
                return read_binary(row, state_->schema >= hashed_schema);
            });
        });
    });
    check_each(portfolio_names, [&](std::int64_t id) {
        state_->guarded([&] { return state_->query(one_portfolio_row()).with(id).first(read_portfolio_row); });
    });
    check_each("SELECT id, 'trial ' || id FROM trials ORDER BY id", [&](std::int64_t id) {
        state_->guarded([&] { return state_->query(one_trial).with(id).first(read_row); });
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
    if (is_damaged([&] { return trials(key); })) {
        for (const auto id : ids("SELECT id FROM trials WHERE device = ? AND template = ? AND problem = ?", key.device,
                                 key.kernel_template, key.problem)) {
            const auto read = [&] { return state_->query(one_trial).with(id).first(read_trial); };
            if (is_damaged([&] { return state_->guarded(read); })) forget("DELETE FROM trials WHERE id = ?", id);
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
