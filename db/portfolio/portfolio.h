// A portfolio: a few dozen configurations for all problems of an operation, type and layout on a device. For every
// problem, one of these configurations is meant to be near the best. Each has a model that predicts its time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/outcome.h"
#include "templates/predict/time_model.h"
#include "templates/space/configuration.h"
#include "templates/space/problem.h"

namespace smemtune {

struct PortfolioKey {
    std::int64_t device = 0;  ///< the device's row number in the database
    std::string operation;
    std::string type;
    std::string layout;

    bool operator==(const PortfolioKey&) const = default;
};

struct PortfolioMember {
    std::int64_t kernel_template = 0;  ///< the template's row number in the database
    Configuration configuration;
    TimeModel model;
    std::int64_t registers = 0;            ///< registers per thread, as the compiler reports
    std::int64_t static_shared_bytes = 0;  ///< static shared memory per block, as the compiler reports
    std::vector<std::string> classes;      ///< the problem classes (problem_class) for which the member was verified
    std::string verified_by;               ///< the verification identity, as in TrialRecord
    std::string code_hash;                 ///< SHA-256 of the machine code that was verified

    bool operator==(const PortfolioMember&) const = default;
};

/// A stored member, with the name and hash of its template.
struct PortfolioRow {
    PortfolioMember member;
    std::string kernel_template;
    std::string template_hash;
};

/// The key of a stored portfolio, with the toolchain and date of the portfolio's newest measurement.
struct PortfolioOrigin {
    PortfolioKey key;
    std::string toolchain;    ///< compiler and driver of the measurement; empty when unknown
    std::string measured_at;  ///< date of the measurement: UTC, ISO 8601; empty when unknown
};

struct Portfolio {
    std::vector<PortfolioRow> members;  ///< the members, in the order in which they were stored
    std::vector<std::string> damages;   ///< a message for each member that is left out because its row is damaged
};

/// Which portfolios to read. `present`: only portfolios whose time models have the present `terms_version`. `all`:
/// every portfolio; a time model of a different version is then read as a model whose values are all 0.
enum class TermsVersions { present, all };

/// Returns the class of a problem, such as `110`. It has a digit for each extent: 1 if a row of this many elements is a
/// multiple of 16 bytes, else 0. The digits decide whether a kernel copies vectors of 16 bytes. A configuration that is
/// right for one problem is therefore assumed to be right for the whole class. The tuner verifies a configuration for a
/// class at one problem. The extents of this problem have as few factors of two as possible, so that tiles at the edges
/// are partial.
std::string problem_class(const Problem& problem, std::int64_t element_bytes);

}  // namespace smemtune
