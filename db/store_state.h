// The implementation state of a Store, for the files that implement it.
#pragma once

#include "db/file/open.h"
#include "db/query.h"
#include "db/rows.h"
#include "db/store.h"

namespace smemtune {

struct Store::State {
    std::filesystem::path path;
    StoreOptions options;
    Connection connection;

    // Runs database code and turns SQLite's exceptions into StoreError with an explanation.
    template <class Work>
    auto guarded(Work work) {
        try {
            return work();
        } catch (const SQLite::Exception& error) {
            throw StoreError(explain(path, error, options.patience));
        } catch (const UnreadableRow& error) {
            throw StoreError(explain_corrupt(path, error.what()));
        }
    }

    Query query(const std::string& sql) { return {connection, sql}; }

    template <class Find, class Add>
    std::int64_t find_or_add(Find find, Add add) {
        if (const auto id = find()) return *id;
        WriteTransaction transaction(connection);
        if (const auto id = find()) return *id;  // another process has added it
        add();
        const std::int64_t id = *find();
        transaction.commit();
        return id;
    }
};

}  // namespace smemtune
