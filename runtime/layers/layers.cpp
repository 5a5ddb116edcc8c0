#include "runtime/layers/layers.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "runtime/fetch/trust.h"

namespace smemtune {

namespace fs = std::filesystem;

fs::path installed_databases() { return SMEMTUNE_INSTALLED_DATABASES; }

namespace {

// Returns why some of the store's portfolios are not used; empty if there are none.
std::string outdated_text(const Store& store, const fs::path& file) {
    std::set<std::string> names;  // portfolios of several devices may have the same name
    for (const auto& key : store.outdated_portfolios()) {
        names.insert(key.operation + " " + key.type + (key.layout.empty() ? "" : " " + key.layout));
    }
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
    if (list.empty()) return {};
    return file.string() + ": its portfolios of " + list +
           " are not used, because their models are of another version of smemtune; run 'smemtune portfolio --refit "
           "--db " +
           file.string() + "', which needs no device";
}

}  // namespace

Store Layers::open(const fs::path& file) const {
    StoreOptions options;
    if (!trust_.any_owner) options.before_opening = require_trusted_database;
    Store store(file, Store::Access::read, options);
    if (const auto why = outdated_text(store, file); !why.empty()) warn_(why);
    return store;
}

Layers::Layer& Layers::append(const fs::path& file) {
    layers_.push_back(std::make_unique<Layer>());
    layers_.back()->file = file;
    return *layers_.back();
}

void Layers::add_required(const fs::path& file) {
    auto& layer = append(file);
    layer.is_required = true;
    layer.store.emplace(open(file));
}

void Layers::add(const fs::path& file) { append(file); }

void Layers::add_folder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".db") files.push_back(entry->path());
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        warn_(folder.string() + ": cannot be read (" + error.message() + "); its databases are left out");
    }
    std::ranges::sort(files);
    for (const auto& file : files) add(file);
}

void Layers::set_aside(std::size_t layer, const std::string& why) {
    layers_[layer]->is_set_aside = true;
    warn_(why + "; this database is left out");
}

}  // namespace smemtune
