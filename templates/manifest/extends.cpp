#include "templates/manifest/extends.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace smemtune {

namespace {

constexpr std::array<std::string_view, 4> lists{"parameter", "derived", "constraint", "tensor_map"};
constexpr std::array<std::string_view, 3> tables{"launch", "requires", "model"};

const std::string* name_of(const toml::node& entry) {
    const auto* table = entry.as_table();
    const auto* name = table == nullptr ? nullptr : table->get_as<std::string>("name");
    return name == nullptr ? nullptr : &name->get();
}

struct Named {
    std::string_view list;
    toml::source_region where;
};
std::map<std::string, Named> names_in(const toml::table& manifest) {
    std::map<std::string, Named> names;
    for (const std::string_view list : {"parameter", "derived"}) {
        const auto* array = manifest.get_as<toml::array>(list);
        if (array == nullptr) continue;
        for (const auto& entry : *array) {
            if (const auto* name = name_of(entry))
                names.emplace(*name, Named{list, entry.as_table()->get("name")->source()});
        }
    }
    return names;
}

// Replaces the entry of `to` that has the same name as `entry`; appends `entry` if there is none.
void put(toml::array& to, toml::node& entry) {
    const auto* name = name_of(entry);
    for (auto& each : to) {
        if (name == nullptr || name_of(each) == nullptr || *name_of(each) != *name) continue;
        *each.as_table() = std::move(*entry.as_table());
        return;
    }
    to.push_back(std::move(entry));
}

// Adds the entries of `other`, which `manifest` extends, to `manifest`. Malformed entries are kept, because
// read_template() reports them later.
void add(toml::table& manifest, toml::table&& other) {
    for (const auto key : lists) {
        auto* theirs = other.get_as<toml::array>(key);
        if (theirs == nullptr) continue;
        if (auto* own = manifest.get_as<toml::array>(key)) {
            for (auto& entry : *own) put(*theirs, entry);
        } else if (manifest.contains(key)) {
            continue;
        }
        manifest.insert_or_assign(key, std::move(*theirs));
    }
    for (const auto key : tables) {
        auto* theirs = other.get_as<toml::table>(key);
        if (theirs == nullptr) continue;
        if (auto* own = manifest.get_as<toml::table>(key)) {
            for (auto&& [name, value] : *theirs) own->insert(name, std::move(value));
        } else if (!manifest.contains(key)) {
            manifest.insert(key, std::move(*theirs));
        }
    }
}

// Returns the key with which a manifest names the manifest that it extends: `extends`, or the earlier name `like`.
// Empty if the manifest extends none.
std::string_view key_of(const toml::table& manifest) {
    const auto* head = manifest.get_as<toml::table>("template");
    for (const std::string_view key : {"extends", "like"}) {
        if (head != nullptr && head->contains(key)) return key;
    }
    return {};
}

// Returns the manifest at `path` with all inherited entries. `before` lists the manifests that extend this one,
// directly or through others, to detect cycles.
CompleteManifest complete(const std::string& path, const std::string& text, const FindManifest& find,
                          std::vector<std::string> before) {
    auto manifest = parse_toml(path, text);
    const std::string key(key_of(manifest));
    if (key.empty()) return {std::move(manifest)};
    auto& head = *manifest.get_as<toml::table>("template");
    const Section section(path, "[template]", head);
    const auto quoted = "'" + key + "' ";
    if (key == "extends" && section.has("like")) {
        section.fail_at("like", "'like' is the earlier name of 'extends'; write only 'extends'");
    }
    const auto other_path = section.value<std::string>(key, "\"gemm/warp_tiled.toml\"");
    before.push_back(path);
    if (std::ranges::count(before, other_path) > 0) {
        section.fail_at(key,
                        quoted + "leads back to '" + other_path + "'; name a manifest that does not extend this one");
    }
    const auto line = head.get(key)->source().begin.line;
    auto other = complete(other_path, find(other_path, path + ":" + std::to_string(line)), find, before).table;
    if (!other.contains("template")) {
        section.fail_at(key,
                        quoted + "names '" + other_path + "', which describes no kernel; name one with a [template]");
    }
    const auto theirs = names_in(other);
    for (const auto& [name, own] : names_in(manifest)) {
        const auto found = theirs.find(name);
        if (found == theirs.end() || own.list == found->second.list) continue;
        Section::fail(path, own.where,
                      "'" + name + "' is also in '" + other_path + "', which this manifest extends; " +
                          "leave it out, or rename it");
    }
    add(manifest, std::move(other));
    head.erase(key);
    return {std::move(manifest), true};
}

}  // namespace

CompleteManifest complete_manifest(const std::string& path, const std::string& text, const FindManifest& find) {
    return complete(path, text, find, {});
}

}  // namespace smemtune
