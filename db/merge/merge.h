// Merges the content of several databases. Where they differ, a rule decides that looks at content and dates only, so
// the order of the databases has no effect:
//
//   trial          of the same device, template, problem and configuration: one that says whether the configuration is
//                  right (verified in full, or rejected for a lasting reason) before one that does not (cut short, not
//                  verified on record, crashed, timed out); then the newest; then the one with the most samples
//   winner         of those that are verified trials here: the one with the shortest time, then the newest
//   machine code   of the same template, configuration and target: that of a portfolio's member; then the one whose
//                  trial is the newest. What was verified with the other code is treated as when a winner replaces
//                  machine code (Store::set_winner).
//   portfolio      kept whole: the one whose members were measured last, then the one with more members
//   template       of the same name and hash: the files under which the newest trial was made
//   run            the one that has ended
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/merge/content.h"

namespace smemtune {

struct MergedContent {
    DatabaseContent content;        ///< rows numbered 1, 2, 3, ..., trials in the order in which they were first tried
    std::size_t shared_trials = 0;  ///< trials that several databases hold
    std::size_t differing_trials = 0;     ///< those of them that are not equal everywhere
    std::size_t shared_winners = 0;       ///< problems for which several databases have a winner
    std::size_t unrecorded_trials = 0;    ///< verified with machine code that other code replaced
    std::vector<std::string> left_out{};  ///< winners, members and portfolios that the content lacks, and why
};

/// The default configuration of a template; empty if its manifest cannot be read.
using DefaultsOf = std::function<Configuration(const TemplateRecord&)>;

/// If databases hold different files of a template, a new parameter may be among the differences. Trials and machine
/// code then get the defaults of the parameters that they lack.
MergedContent merge(const std::vector<DatabaseContent>& databases, const DefaultsOf& defaults_of);

}  // namespace smemtune
