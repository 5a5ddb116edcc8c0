#include "runtime/layers/layers.h"

#include <algorithm>
#include <system_error>

#include "runtime/fetch/trust.h"

namespace smemtune {

namespace fs = std::filesystem;

fs::path installed_databases() { return SMEMTUNE_INSTALLED_DATABASES; }

Store Layers::open(const fs::path& file) const {
    StoreOptions options;
    if (!trust_.any_owner) options.before_opening = require_trusted_database;
    return Store(file, Store::Access::read, options);
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
