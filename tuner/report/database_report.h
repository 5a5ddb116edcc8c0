// Formats the output of `smemtune db` as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tuner/report/trial_facts.h"

namespace smemtune {

/// Describes a database: its file and size, then all devices, templates and problems with trials.
std::string inventory_text(const Store::Summary& summary, std::uintmax_t bytes, const Store::Inventory& inventory,
                           std::size_t width);
/// For CSV: a row for each device, each template and each problem. The column `kind` is "device", "template" or
/// "problem".
nlohmann::json inventory_rows(const Store::Inventory& inventory);
nlohmann::json inventory_json(const Store::Summary& summary, std::uintmax_t bytes, const Store::Inventory& inventory);

/// Tables of winners, one for each device, operation, type and layout, with time, speed, share of the peak, ratio to
/// the baseline and date.
std::string best_text(std::span<const TrialFacts> winners, std::size_t width);

/// Returns one table of trials for each device, operation, type and layout. A row has the trial's time, or the stage
/// that rejected it. `more` is the number of trials beyond those listed.
std::string trials_text(std::span<const TrialFacts> trials, std::size_t more, std::size_t width);

/// All facts about one trial and the run that made it; `run` is null if unknown.
std::string trial_text(const TrialFacts& trial, const RunRow* run, std::size_t width);

nlohmann::json trial_json(const TrialFacts& trial);
nlohmann::json run_json(const RunRow& run);

}  // namespace smemtune
