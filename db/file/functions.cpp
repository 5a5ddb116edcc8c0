#include "db/file/functions.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include "db/integrity/row_hash.h"

namespace smemtune {

namespace {

std::string_view bytes_of(sqlite3_value* value) {
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
    return bytes == nullptr ? std::string_view()
                            : std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

void sha256_function(sqlite3_context* context, int count, sqlite3_value** values) {
    std::vector<std::string_view> fields;
    fields.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) fields.push_back(bytes_of(values[i]));
    const auto hash = sha256_of(fields);
    sqlite3_result_text(context, hash.data(), static_cast<int>(hash.size()), SQLITE_TRANSIENT);
}

void log2_function(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
    const auto extents = nlohmann::ordered_json::parse(bytes_of(values[0]), nullptr, /*allow_exceptions=*/false);
    const auto i = static_cast<std::size_t>(sqlite3_value_int64(values[1]));
    double result = 0;
    if (extents.is_object() && i < extents.size()) {
        const auto& extent = std::next(extents.begin(), static_cast<std::ptrdiff_t>(i)).value();
        if (extent.is_number_integer() && extent.get<std::int64_t>() > 0) {
            result = std::log2(extent.get<double>());
        }
    }
    sqlite3_result_double(context, result);
}

// Gives each entry of the R*Tree index, and each box of entries, a score: its squared distance from the given point.
// SQLite visits the lowest score first (https://www.sqlite.org/rtree.html#the_new_xqueryfunc_callback). A box never has
// a higher score than an entry in it, so SQLite returns the entries in order of distance.
int near_function(sqlite3_rtree_query_info* info) {
    constexpr int dimensions = 5;  // the number of the group, then the logarithms of four extents
    if (info->nParam != dimensions || info->nCoord != 2 * dimensions) return SQLITE_ERROR;
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < dimensions; ++i) {
        const double outside =
            std::max({info->aCoord[2 * i] - info->aParam[i], info->aParam[i] - info->aCoord[2 * i + 1], 0.0});
        if (i == 0 && outside > 0) {
            info->eWithin = NOT_WITHIN;
            return SQLITE_OK;
        }
        sum += outside * outside;
    }
    info->eWithin = PARTLY_WITHIN;  // with FULLY_WITHIN, SQLite would not score each entry of a box
    info->rScore = sum;
    return SQLITE_OK;
}

}  // namespace

void add_functions(SQLite::Database& database) {
    auto* handle = database.getHandle();
    const auto check = [&](int code) {
        if (code != SQLITE_OK) throw SQLite::Exception(handle, code);
    };
    constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    constexpr int any_number = -1;
    check(sqlite3_create_function_v2(handle, "smemtune_sha256", any_number, flags, nullptr, sha256_function, nullptr,
                                     nullptr, nullptr));
    check(sqlite3_create_function_v2(handle, "smemtune_log2", 2, flags, nullptr, log2_function, nullptr, nullptr,
                                     nullptr));
    check(sqlite3_rtree_query_callback(handle, "smemtune_near", near_function, nullptr, nullptr));
}

void prepare_connection(SQLite::Database& database) {
    add_functions(database);
    sqlite3_limit(database.getHandle(), SQLITE_LIMIT_LENGTH, largest_value_bytes);
}

}  // namespace smemtune
