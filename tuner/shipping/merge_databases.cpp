#include "tuner/shipping/merge_databases.h"

#include <exception>

#include "templates/manifest/catalog.h"

namespace smemtune {

namespace {

Configuration stored_defaults(const TemplateRecord& record) {
    try {
        return default_configuration(load_template(record.files));
    } catch (const std::exception&) {  // a newer smemtune wrote the template, so its defaults are unknown
        return {};
    }
}

}  // namespace

std::optional<MergedContent> merge_databases(const std::vector<std::filesystem::path>& files, Store& to,
                                             const std::function<bool()>& is_interrupted) {
    std::vector<DatabaseContent> databases;
    for (const auto& file : files) {
        try {
            databases.push_back(Store(file, Store::Access::read).content());
        } catch (const DamagedRow& error) {
            throw StoreError(std::string(error.what()) +
                             ". Nothing was merged: tune the same problems into this file again, or leave it out");
        }
        if (is_interrupted()) return std::nullopt;
    }
    auto merged = merge(databases, stored_defaults);
    if (is_interrupted()) return std::nullopt;
    to.fill(merged.content);
    if (is_interrupted()) return std::nullopt;
    return merged;
}

}  // namespace smemtune
