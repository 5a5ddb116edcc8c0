// The records of the database, as values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/outcome.h"
#include "templates/space/configuration.h"
#include "templates/space/device.h"
#include "templates/space/problem.h"

namespace smemtune {

/// A template as it was when it was tried, with everything needed to compile any of its configurations again.
struct TemplateRecord {
    std::string name;
    std::string operation;
    std::string hash;                          ///< hash of everything that decides machine code and launch
    std::map<std::string, std::string> files;  ///< path -> text: manifest, source, headers, operation, reference
    /// Hashes of earlier versions with the same machine code, as in KernelTemplate::same_code_as. Used in look-ups,
    /// never stored.
    std::vector<std::string> same_code_as{};

    bool operator==(const TemplateRecord&) const = default;
};

/// One run of the tuner: the request and the versions of its tools.
struct RunRecord {
    std::string request{};   ///< JSON: sizes, templates, search, seed, budget
    std::string policy{};    ///< JSON: how trials were verified and timed
    std::string versions{};  ///< JSON: smemtune, compiler, driver

    bool operator==(const RunRecord&) const = default;
};

/// The row numbers of the device, template and problem that a trial belongs to.
struct TrialKey {
    std::int64_t device = 0;
    std::int64_t kernel_template = 0;
    std::int64_t problem = 0;

    bool operator==(const TrialKey&) const = default;
};

/// The `verified_by` of a complete measurement whose verification identity is unknown, or whose machine code has been
/// replaced since.
inline constexpr std::string_view unrecorded = "unrecorded";

struct TrialRecord {
    TrialKey key;
    Configuration configuration;
    Outcome outcome;
    Resources resources{};
    double compile_ms = 0;
    double verify_ms = 0;  ///< the worker's time for verifying; 0 when unknown
    double time_ms = 0;    ///< the worker's time for timing; 0 when unknown
    std::int64_t run = 0;
    /// The verification identity (verification_identity of tuner/trial/testbed.h) under which it passed every check, or
    /// under which it was rejected. Empty if it passed the first check only.
    std::string verified_by{};
    std::string code_hash{};    ///< SHA-256 of the machine code that was verified and timed; empty when unknown
    std::string toolchain{};    ///< compiler and driver; empty when unknown
    std::int64_t attempts = 1;  ///< how often it was tried with this toolchain, if it crashed or timed out

    /// Whether it may win or be served: measured completely, and verified in full.
    [[nodiscard]] bool is_verified() const {
        const auto* measured = std::get_if<Measurement>(&outcome);
        return measured != nullptr && !measured->cut_short && !verified_by.empty();
    }

    /// Whether it crashed or timed out. That may be the fault of another program, of the compiler or of the driver.
    [[nodiscard]] bool may_be_retried() const {
        const auto* rejection = std::get_if<Rejection>(&outcome);
        return rejection != nullptr && (rejection->stage == Stage::crash || rejection->stage == Stage::timeout);
    }
    /// Whether it was verified, as far as is known, as the operation with this identity (operation_identity of
    /// templates/manifest/catalog.h).
    [[nodiscard]] bool was_verified_as(const std::string& operation_identity) const {
        return verified_by == unrecorded || verified_by.starts_with(operation_identity + "/");
    }

    bool operator==(const TrialRecord&) const = default;
};

/// A trial with the names behind its key, for display and for the runtime.
struct TrialRow {
    std::int64_t id = 0;
    std::string device;
    std::string kernel_template;
    std::string template_hash;
    Problem problem;
    TrialRecord record;
    bool winner = false;
    std::string finished_at;  ///< UTC, ISO 8601
    std::string decided_at;   ///< when the winner was declared; empty for other trials
};

/// A run with its times in UTC, ISO 8601. `finished_at` and `how` are empty if the run has no end.
struct RunRow {
    RunRecord record;
    std::string started_at, finished_at, how;

    bool operator==(const RunRow&) const = default;
};

/// Machine code of a winner.
struct BinaryRecord {
    std::int64_t kernel_template = 0;
    Configuration configuration;
    std::string target{};    ///< where it runs: "sm_90a", "host-x86_64"
    std::string compiler{};  ///< the compiler that made it: name, version, options
    std::vector<std::uint8_t> code{};
    Resources resources{};

    bool operator==(const BinaryRecord&) const = default;
};

}  // namespace smemtune
