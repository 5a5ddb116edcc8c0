// Merges the contents of several databases. If databases have different versions of one item, the following rules
// choose the version to keep. The rules use only content and dates, so the order of the databases has no effect. The
// criteria of a rule are numbered. Criterion 2 decides only if the versions are equal by criterion 1, and so on.
//
//   trial          (same device, template, problem and configuration)
//                  1. A trial that was verified in full, or rejected for a reason other than a crash or timeout. Next,
//                     an `unrecorded` trial. Last, a trial that was cut short, crashed or timed out.
//                  2. The newest trial. 3. The trial with the most samples.
//   winner         (same device and problem; only verified trials of the merged database)
//                  1. The winner with the shortest time. 2. The winner that was declared last.
//   machine code   (same template, configuration and target)
//                  1. The code of a portfolio's member. 2. The code of a winner. 3. The code of the newest trial.
//                  Trials that were verified with the dropped code become `unrecorded`, as in Store::set_winner.
//   portfolio      (same device, operation, type and layout; members are not mixed)
//                  1. The portfolio that was measured last. 2. The portfolio with the most members.
//   template       (same name and hash) The files of the database with the template's newest trial.
//   run            (same start, request, policy and versions) The run that has ended.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/merge/content.h"

namespace smemtune {

struct MergedContent {
    DatabaseContent content;        ///< merged rows, numbered 1, 2, 3, ...; trials are in the order of first attempts
    std::size_t shared_trials = 0;  ///< trials that are in several databases
    std::size_t differing_trials = 0;     ///< shared trials that differ between the databases
    std::size_t shared_winners = 0;       ///< problems that have a winner in several databases
    std::size_t unrecorded_trials = 0;    ///< trials whose machine code was replaced, so they became `unrecorded`
    std::vector<std::string> left_out{};  ///< messages: which winners, members and portfolios were left out, and why
};

/// Returns the default configuration of a template; an empty one if the template's manifest cannot be read.
using DefaultsOf = std::function<Configuration(const TemplateRecord&)>;

/// Merges the databases by the rules at the top of this file. If the files of a template differ between databases, the
/// newer files may have a new parameter. Trials and machine code that lack this parameter get its default value.
MergedContent merge(const std::vector<DatabaseContent>& databases, const DefaultsOf& defaults_of);

}  // namespace smemtune
