// A portfolio: a few configurations for all problems of an operation, type and layout on a device. At every problem,
// one of them is meant to be near the best. Each has a model that predicts its time.
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
    std::int64_t device = 0;  ///< row in the store
    std::string operation;
    std::string type;
    std::string layout;

    bool operator==(const PortfolioKey&) const = default;
};

struct PortfolioMember {
    std::int64_t kernel_template = 0;  ///< row in the store
    Configuration configuration;
    TimeModel model;
    std::int64_t registers = 0;            ///< per thread, as the compiler reports
    std::int64_t static_shared_bytes = 0;  ///< per block, as the compiler reports
    std::vector<std::string> classes;      ///< of problems (problem_class) for which it was verified
    std::string verified_by;               ///< the verification identity, as of a trial
    std::string code_hash;                 ///< SHA-256 of the machine code that was verified

    bool operator==(const PortfolioMember&) const = default;
};

/// A stored member, with the names behind its row numbers.
struct PortfolioRow {
    PortfolioMember member;
    std::string kernel_template;
    std::string template_hash;
};

/// A stored portfolio, with the toolchain and date of its newest measurement.
struct PortfolioOrigin {
    PortfolioKey key;
    std::string toolchain;    ///< compiler and driver; empty when unknown
    std::string measured_at;  ///< UTC, ISO 8601; empty when unknown
};

struct Portfolio {
    std::vector<PortfolioRow> members;  ///< in the order in which they were stored
    std::vector<std::string> damages;   ///< messages about members that are left out because their rows are damaged
};

/// Which portfolios to read: those whose models have the present version of the terms, or all. A model with a different
/// version is read as all zeros.
enum class TermsVersions { present, all };

/// The class of a problem: which extents are multiples of 16 bytes, as 0 and 1 in the extents' order, such as `110`.
/// That decides whether a kernel copies vectors, so a configuration that is right for one problem is taken to be right
/// for its whole class. The tuner verifies a class at a problem where no tile fits evenly.
std::string problem_class(const Problem& problem, std::int64_t element_bytes);

}  // namespace smemtune
