// The implementation state of a Store, for the files that implement it.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include <sqlite3.h>

#include "db/file/journal.h"
#include "db/file/open.h"
#include "db/query.h"
#include "db/rows.h"
#include "db/store.h"

namespace smemtune {

struct Store::State {
    State(const OpenRequest& what, Access how) : State(what, how, open_file(what, how)) {}

    OpenRequest request;
    Access access;
    Connection connection;
    int schema;
    FileState opened;
    bool is_locked;
    std::int64_t replacements = 0;
    bool in_snapshot = false;
    // The cached devices, with the value that `PRAGMA data_version` had when they were read. SQLite changes this value
    // when another connection commits. A new connection may have the same value, so reopen() discards the cache. Only
    // readers have the cache, because the commits of a connection do not change its own data_version.
    struct KnownDevices {
        std::int64_t data_version = 0;
        std::vector<std::pair<std::int64_t, Device>> devices{};
    };
    std::optional<KnownDevices> known_devices{};
    // What Store::known() returns as long as nobody writes to the file. Class Runtime calls known() for each new
    // problem, and SQLite needs about ten system calls to find out that nothing has changed. Only readers have this
    // cache. The files' time stamps show nearly all changes. They can miss a commit in WAL mode if its writer was
    // stopped in the middle of the commit. Therefore SQLite is also asked once a second.
    struct Unchanged {
        FilesState files{};
        std::filesystem::path log;  // the path of the file's write-ahead log; empty if the file is known to have none
        std::int64_t lookups = 0;   // calls of known() in this state of the files
        bool is_complete = false;   // whether read_unchanged() has filled in the members below
        std::int64_t data_version = 0;
        std::chrono::steady_clock::time_point asked{};  // when SQLite last said that nothing has changed
        std::map<Problem, std::int64_t> problems{};
    };
    Unchanged unchanged{};
    std::set<std::pair<std::int64_t, std::int64_t>> placed{};  // pairs of device and problem with a row in `places`
    std::set<std::int64_t> examined{};                         // templates whose machine code was examined for damage

    // Runs `work` and turns SQLite's exceptions into StoreError with an explanation. If the Store only reads, and the
    // file changed meanwhile, runs `work` again.
    template <class Work>
    auto guarded(Work work) {
        if (in_snapshot) return work();  // we are inside read_together(), which has called guarded()
        return explained([&] {
            if constexpr (std::is_void_v<decltype(work())>) {
                work();  // `work` without a result writes to the database, so it is not repeated
            } else {
                return access == Access::write ? work() : read_consistently(work);
            }
        });
    }

    // Runs the queries of `work` in one read transaction.
    template <class Work>
    auto read_together(Work work) {
        if (in_snapshot) return work();
        return guarded([&] {
            const Snapshot snapshot(*this);
            return work();
        });
    }

    // Runs `work` once and turns SQLite's exceptions and UnreadableRow into StoreError. For code inside guarded().
    template <class Work>
    auto explained(Work work) {
        try {
            return work();
        } catch (const SQLite::Exception& error) {
            if ((error.getErrorCode() & 0xff) == SQLITE_TOOBIG) {
                throw DamagedRow(explain(request.name, error, request.options.patience));
            }
            throw StoreError(explain(request.name, error, request.options.patience));
        } catch (const UnreadableRow& error) {
            throw DamagedRow(request.name.string() + ": holds a damaged row (" + error.what() +
                                 "); list the damaged rows with: smemtune db verify --db " + request.name.string(),
                             error.what());
        }
    }

    Query query(const std::string& sql) { return {connection, sql}; }

    template <class Find, class Add>
    std::int64_t find_or_add(Find find, Add add) {
        if (const auto id = find()) return *id;
        WriteTransaction transaction(connection);
        if (const auto id = find()) return *id;  // another process has added the row
        add();
        const std::int64_t id = *find();
        transaction.commit();
        return id;
    }

    // Looks up a problem in `unchanged`. Returns nothing if the caller must query the database instead: the files have
    // changed, `unchanged` is not filled, or SQLite was last asked more than a second ago. If the problem is not
    // stored, returns a Known whose `problem` is empty.
    std::optional<Store::Known> find_unchanged(const Problem& problem);
    // Reads all problems into `unchanged`, if enough lookups came before to make this worth the time. Throws nothing:
    // if the file cannot be read, the next query throws. Precondition: devices() has been called in the same
    // read_together().
    void read_unchanged();

    // read_template() and read_portfolio() run inside the caller's transaction.
    std::optional<TemplateRecord> read_template(std::int64_t id);
    Portfolio read_portfolio(const PortfolioKey& key, TermsVersions versions);

    // Adds the row for this device and problem to the table `places`, if the table lacks it. Runs inside the caller's
    // transaction.
    void place(std::int64_t device, std::int64_t problem);

private:
    class Snapshot {
    public:
        explicit Snapshot(State& state) : state_(state) {
            state_.query("BEGIN").run();
            state_.in_snapshot = true;
        }
        ~Snapshot() {
            state_.in_snapshot = false;
            try {
                state_.query("COMMIT").run();
            } catch (const SQLite::Exception&) {  // SQLite has ended the transaction because of an error
            }
        }
        Snapshot(const Snapshot&) = delete;
        Snapshot& operator=(const Snapshot&) = delete;

    private:
        State& state_;
    };

    State(OpenRequest what, Access how, OpenDatabase file)
        : request(std::move(what)),
          access(how),
          connection{std::move(file.database)},
          schema(file.schema),
          opened(file.opened),
          is_locked(file.is_locked) {}

    // Whether to open the file again. Without locks: whether the file has changed since it was opened. With locks:
    // whether a new file has taken the place of the file, because SQLite itself notices all other changes.
    [[nodiscard]] bool has_changed() const {
        return is_locked ? is_replaced(request.file, opened) : state_of(request.file) != opened;
    }

    void reopen() {
        auto file = open_file(request, access);
        connection.statements.clear();
        known_devices.reset();
        unchanged = {};
        connection.database = std::move(file.database);
        schema = file.schema;
        if (!opened.is_same_file(file.opened)) ++replacements;
        opened = file.opened;
        is_locked = file.is_locked;
    }

    template <class Work>
    auto read_consistently(Work work) {
        for (int attempt = 1; attempt <= 100; ++attempt) {
            if (has_changed()) reopen();
            try {
                auto result = work();
                if (is_locked || !has_changed()) return result;
            } catch (const SQLite::Exception& error) {
                // When the last writer closes the file, SQLite removes the log; when a first writer opens the file,
                // SQLite creates the log. Either may have happened, so open the file again.
                const int code = error.getErrorCode() & 0xff;
                const bool lost_log = (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && attempt < 3;
                if (lost_log) {
                    reopen();
                } else if (is_locked || !has_changed()) {
                    throw;
                }
            } catch (const std::exception&) {
                if (is_locked || !has_changed()) throw;
            }
        }
        throw StoreError(request.name.string() + ": changed during each of 100 attempts to read it; try again later");
    }
};

}  // namespace smemtune
