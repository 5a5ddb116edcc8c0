// The records of the database as C++ values.
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

/// A stored version of a template, with all that is needed to compile any of its configurations again.
struct TemplateRecord {
    std::string name;
    std::string operation;
    std::string hash;                          ///< hash of everything that decides machine code and launch
    std::map<std::string, std::string> files;  ///< path -> text of manifest, source, headers, operation, reference
    /// Hashes of earlier versions with the same machine code, as in KernelTemplate::same_code_as. The hashes are used
    /// to find stored versions and are not stored themselves.
    std::vector<std::string> same_code_as{};

    bool operator==(const TemplateRecord&) const = default;
};

/// One run of the tuner: the request and the versions of its tools.
struct RunRecord {
    std::string request{};   ///< the request as JSON: sizes, templates, search, seed, budget
    std::string policy{};    ///< the policy as JSON: how trials were verified and timed
    std::string versions{};  ///< the versions of smemtune, compiler and driver as JSON

    bool operator==(const RunRecord&) const = default;
};

/// The row numbers of the device, template and problem that a trial belongs to.
struct TrialKey {
    std::int64_t device = 0;
    std::int64_t kernel_template = 0;
    std::int64_t problem = 0;

    bool operator==(const TrialKey&) const = default;
};

/// The value of TrialRecord::verified_by for a complete measurement whose verification identity is unknown, or whose
/// machine code was replaced later.
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
    /// The verification identity (verification_identity in tuner/trial/testbed.h) under which the trial passed every
    /// check or was rejected. Empty if the trial passed only the first check.
    std::string verified_by{};
    std::string code_hash{};    ///< SHA-256 of the machine code that was verified and timed; empty when unknown
    std::string toolchain{};    ///< compiler and driver of the trial; empty when unknown
    std::int64_t attempts = 1;  ///< number of attempts with this toolchain, for a trial that crashed or timed out

    /// Whether the trial may win: it was measured completely and verified in full.
    [[nodiscard]] bool is_verified() const {
        const auto* measured = std::get_if<Measurement>(&outcome);
        return measured != nullptr && !measured->cut_short && !verified_by.empty();
    }

    /// Whether the trial crashed or timed out. Such a trial may be repeated, because another program, the compiler or
    /// the driver may have caused the failure.
    [[nodiscard]] bool may_be_retried() const {
        const auto* rejection = std::get_if<Rejection>(&outcome);
        return rejection != nullptr && (rejection->stage == Stage::crash || rejection->stage == Stage::timeout);
    }
    /// Whether the trial was verified for the operation with this identity (operation_identity in
    /// templates/manifest/catalog.h). Also true if the trial is `unrecorded`.
    [[nodiscard]] bool was_verified_as(const std::string& operation_identity) const {
        return verified_by == unrecorded || verified_by.starts_with(operation_identity + "/");
    }

    bool operator==(const TrialRecord&) const = default;
};

/// A trial with its device's name, its template's name and hash, and its problem, for display and for the runtime.
struct TrialRow {
    std::int64_t id = 0;
    std::string device;
    std::string kernel_template;
    std::string template_hash;
    Problem problem;
    TrialRecord record;
    bool winner = false;
    std::string finished_at;  ///< when the trial ended: UTC, ISO 8601
    std::string decided_at;   ///< when this trial was declared the winner; empty if it is not the winner
};

/// A run with its times in UTC, ISO 8601. `finished_at` and `how` are empty if the run was killed or is still running.
struct RunRow {
    RunRecord record;
    std::string started_at, finished_at, how;

    bool operator==(const RunRow&) const = default;
};

/// Stored machine code of a winner or of a portfolio's member.
struct BinaryRecord {
    std::int64_t kernel_template = 0;
    Configuration configuration;
    std::string target{};    ///< the target, such as "sm_90a" or "host-x86_64"
    std::string compiler{};  ///< name, version and options of the compiler
    std::vector<std::uint8_t> code{};
    Resources resources{};

    bool operator==(const BinaryRecord&) const = default;
};

}  // namespace smemtune
