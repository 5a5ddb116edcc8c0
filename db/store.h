// The tuning database: one SQLite file. One Store per thread; several processes may share a file.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/record.h"

namespace smemtune {

/// The file cannot be used: absent, not a database, corrupt, of a newer schema, read-only or locked. The message says
/// which, and what to do; the file is as it was.
class StoreError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct StoreOptions {
    /// How long to wait for other processes that write, before calling the file locked.
    std::chrono::milliseconds patience{60'000};
    /// Do without shared memory between processes. Set by itself on network filesystems that are recognised.
    bool rollback_journal = false;
};

class Store {
public:
    enum class Access {
        write,  ///< created when absent, migrated when older
        read,   ///< must exist; a read-only file is read as it is now: open it again to see what others add
    };

    /// Throws StoreError. A process that holds a Store must not open, copy or close the file by other means, nor use
    /// the Store across fork(): POSIX drops a process's locks on a file when any of its descriptors is closed.
    explicit Store(const std::filesystem::path& path, Access access = Access::write, StoreOptions options = {});
    ~Store();
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;

    // Rows are found by content, or added: the same device, template or problem always has the same number.
    std::int64_t remember(const Device& device);
    /// A template whose files changed under the same hash (more values, another summary, a new parameter) gets the new
    /// ones, and in the same transaction its trials and machine code get the `defaults` of parameters that they lack:
    /// they were tried with what is that parameter's default now. Rows of its `same_code_as` become this one (adopt.h).
    std::int64_t remember(const TemplateRecord& kernel_template, const Configuration& defaults = {});
    std::int64_t remember(const Problem& problem);

    /// Each text of a run is JSON, or empty.
    std::int64_t start_run(const RunRecord& run);
    /// `how`: "complete", "budget", "interrupted", ... A run without an end was killed.
    void finish_run(std::int64_t run, const std::string& how);
    /// Nothing when it has no end, or is not known.
    [[nodiscard]] std::optional<std::string> how_ended(std::int64_t run) const;

    /// One transaction: after it returns, a kill loses nothing. A trial tried again replaces the earlier one.
    /// `run` 0 is none. Throws std::invalid_argument when a time is negative or not finite.
    void remember(const TrialRecord& trial);
    [[nodiscard]] std::optional<TrialRecord> recall(const TrialKey& key, const Configuration& configuration) const;
    /// All trials of a key, in the order in which they were first stored.
    [[nodiscard]] std::vector<TrialRecord> trials(const TrialKey& key) const;
    /// Forgets the trials of a key (`--retune`), and a winner among them.
    void forget(const TrialKey& key);

    /// Sets the winner of a device and problem, over all templates, with its machine code if there is any. One
    /// transaction. The trial must have been remembered and be a measurement (StoreError otherwise). It stays the
    /// winner when it is measured again, and no longer is when it is rejected.
    void set_winner(const TrialKey& key, const Configuration& configuration, const std::optional<BinaryRecord>& binary);
    /// The winner, or the fastest measured trial where no winner was set yet.
    [[nodiscard]] std::optional<TrialRow> best(std::int64_t device, std::int64_t problem) const;
    /// The best of each problem of that operation, type and layout on a device. With `kernel_template` (a name), the
    /// fastest measured trial of that template for each problem, winner or not; with `hashes` (as of KernelTemplate),
    /// of those versions of it alone.
    [[nodiscard]] std::vector<TrialRow> best_of(std::int64_t device, const std::string& operation,
                                                const std::string& type, const std::string& layout,
                                                const std::string& kernel_template = {},
                                                const std::vector<std::string>& hashes = {}) const;

    [[nodiscard]] std::optional<BinaryRecord> recall_binary(std::int64_t kernel_template,
                                                            const Configuration& configuration,
                                                            const std::string& target) const;
    [[nodiscard]] std::optional<TemplateRecord> recall_template(std::int64_t kernel_template) const;
    /// Every device that was tuned, with its row.
    [[nodiscard]] std::vector<std::pair<std::int64_t, Device>> devices() const;
    /// Nothing when this device was never tuned.
    [[nodiscard]] std::optional<std::int64_t> find(const Device& device) const;
    [[nodiscard]] std::optional<std::int64_t> find(const Problem& problem) const;

    /// For people: each list holds names, in upper or lower case, or patterns in which `*` stands for any text; an
    /// empty list means all.
    struct Filter {
        enum class Sort { time, date, id };  ///< the fastest first and the rejected last; the latest first; the first
        std::vector<std::string> devices{}, kernel_templates{}, sizes{}, operations{};
        bool best_only = false;  ///< one row per device and problem
        bool rejected_only = false;
        Sort sort = Sort::time;
        std::optional<std::size_t> limit{};
    };
    /// Sorted by time, rows are grouped by device and problem.
    [[nodiscard]] std::vector<TrialRow> rows(const Filter& filter) const;
    /// How many rows the filter has without its limit.
    [[nodiscard]] std::size_t count(const Filter& filter) const;
    /// The measured trial that is the fastest of its device and problem.
    [[nodiscard]] std::optional<TrialRow> fastest(std::int64_t device, std::int64_t problem) const;
    /// Trials of a template as it is now; 0 where device, template or problem is unknown.
    [[nodiscard]] std::size_t count(const Device& device, const std::string& kernel_template, const std::string& hash,
                                    const Problem& problem) const;

    /// The trials of one device, of one template over all its versions, or of one problem.
    struct Group {
        std::string name;
        std::int64_t measured = 0, rejected = 0;
        std::int64_t winners = 0;           ///< among them
        std::string first_at{}, last_at{};  ///< UTC, ISO 8601
    };
    struct Inventory {
        std::vector<Group> devices, templates, problems;
    };
    /// Groups that have trials which match the filter.
    [[nodiscard]] Inventory inventory(const Filter& filter) const;
    /// The rows of an operation's templates, all their versions included.
    [[nodiscard]] std::vector<std::int64_t> templates_of(const std::string& operation) const;
    /// The best measured time of `kernel_template` (a name) on a device and problem.
    [[nodiscard]] std::optional<double> best_us(std::int64_t device, std::int64_t problem,
                                                const std::string& kernel_template) const;
    [[nodiscard]] std::optional<RunRow> recall_run(std::int64_t run) const;
    /// One trial by its number.
    [[nodiscard]] std::optional<TrialRow> row(std::int64_t trial) const;

    struct Summary {
        std::filesystem::path path;
        int schema_version = 0;
        std::int64_t devices = 0, templates = 0, problems = 0, measured = 0, rejected = 0, binaries = 0, runs = 0;
    };
    [[nodiscard]] Summary summary() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace smemtune
