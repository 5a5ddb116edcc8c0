// Chooses configurations for a problem: tuned for it, else for its nearest neighbour, else on a similar device, else a
// sane default.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.h"
#include "runtime/runtime.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

struct Candidate {
    KernelTemplate kernel_template;
    Configuration configuration;
    Choice choice;
    std::optional<std::int64_t> template_row;  ///< in the database, where there may be machine code
};

/// Best founded first; every one is valid for `problem` on `device`. Each is made when it is asked for: who takes the
/// first pays for no other.
class Candidates {
public:
    /// What is passed must outlive it. `store` may be null. `kernel_template` restricts the choice to one template
    /// unless it is empty. Of it, and of those that `own` names, stored winners count only if their source is that of
    /// `templates`; of the others an earlier version serves, until the problem is tuned again.
    Candidates(const Problem& problem, const Device& device, const Store* store,
               const std::vector<KernelTemplate>& templates, std::string_view kernel_template,
               std::span<const std::string> own = {});

    /// Nothing after the last.
    std::optional<Candidate> next();

private:
    void read_nearest_device();
    [[nodiscard]] bool is_outdated(const TrialRow& row) const;
    [[nodiscard]] std::optional<Candidate> tuned(const TrialRow& row) const;
    [[nodiscard]] std::vector<Candidate> untuned() const;

    const Problem& problem_;
    const Device& device_;
    const Store* store_;
    const std::vector<KernelTemplate>& templates_;
    std::string kernel_template_;
    std::span<const std::string> own_;
    std::vector<std::pair<std::int64_t, Device>> devices_;  // whose rows were not read yet, the nearest last
    std::vector<TrialRow> rows_;                            // of one of them, the nearest problem first
    std::size_t row_ = 0;
    bool rows_here_ = true;
    std::optional<std::vector<Candidate>> untuned_;
    std::size_t default_ = 0;
};

/// Euclidean distance of the extents' logarithms: doubling one extent is as far as halving it. Infinite between
/// problems of different operations, types or layouts.
double distance(const Problem& a, const Problem& b);

/// Euclidean distance of the logarithms of compute capability, multiprocessors, shared memory and registers of one, L2
/// cache and clock. Infinite between a GPU and the host.
double distance(const Device& a, const Device& b);

/// Under which machine code is stored: what it runs on, and what else than the configuration it was made for.
std::string binary_key(const std::string& target, const Problem& problem);

}  // namespace smemtune
