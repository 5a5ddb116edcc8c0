// The names under which the database stores the stages of a rejection.
#include "db/outcome.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace smemtune {

namespace {

// The database schema also lists these names, so a new name needs a migration.
constexpr std::array<std::pair<Stage, std::string_view>, 6> stage_names{{{Stage::limits, "limits"},
                                                                         {Stage::compile, "compile"},
                                                                         {Stage::launch, "launch"},
                                                                         {Stage::wrong, "wrong"},
                                                                         {Stage::crash, "crash"},
                                                                         {Stage::timeout, "timeout"}}};

}  // namespace

std::string_view to_text(Stage stage) {
    for (const auto& [value, name] : stage_names) {
        if (value == stage) return name;
    }
    throw std::invalid_argument("no such stage: " + std::to_string(static_cast<int>(stage)));
}

Stage parse_stage(std::string_view text) {
    for (const auto& [value, name] : stage_names) {
        if (name == text) return value;
    }
    std::string known;
    for (const auto& [value, name] : stage_names) known += (known.empty() ? "" : ", ") + std::string(name);
    throw std::invalid_argument("'" + std::string(text) + "' is not a stage; use one of: " + known);
}

}  // namespace smemtune
