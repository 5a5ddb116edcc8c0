// The tuning database: one SQLite file. One Store per thread; several processes may share a file.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/merge/content.h"
#include "db/portfolio/portfolio.h"
#include "db/record.h"

namespace smemtune {

/// The file cannot be used: absent, not a database, corrupt, of a newer schema, read-only or locked. The message gives
/// the cause and the remedy. The file is unchanged.
class StoreError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A row that smemtune cannot have written, or that changed since. The rest of the file can be used.
class DamagedRow : public StoreError {
public:
    using StoreError::StoreError;
};

struct StoreOptions {
    /// How long to wait for other writing processes before the file counts as locked.
    std::chrono::milliseconds patience{60'000};
    /// Work without memory shared between processes. Recognised network filesystems set this automatically.
    bool rollback_journal = false;
    /// Called with the absolute path of an existing file before the Store opens it, also when another file has taken
    /// its place. Its exceptions pass through the function that opens the file.
    std::function<void(const std::filesystem::path& file)> before_opening{};
};

class Store {
public:
    enum class Access {
        write,  ///< created when absent, migrated when older
        read,   ///< must exist; each query sees the file as it is at that moment, while others write
    };

    /// Throws StoreError. A process that holds a Store must not open, copy or close the file by other means, and must
    /// not use the Store across fork(). Reason: POSIX drops all locks of a process on a file when the process closes
    /// any descriptor of it.
    explicit Store(const std::filesystem::path& path, Access access = Access::write, const StoreOptions& options = {});
    ~Store();
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;

    /// How often this Store has found a new file in the place of its file, and opened it. Row numbers that were read
    /// before that belong to the earlier file. Any function may notice the new file.
    [[nodiscard]] std::int64_t replacements() const;

    struct Known {
        std::vector<std::pair<std::int64_t, Device>> devices;  ///< with their row numbers
        std::optional<std::int64_t> problem;
    };
    /// devices() and find(problem) at one moment, in less time than by two calls.
    [[nodiscard]] Known known(const Problem& problem) const;

    // Rows are identified by their content: the same device, template or problem always has the same number.
    std::int64_t remember(const Device& device);
    /// Files that changed under the same hash (more values, another summary, a new parameter) are updated. The same
    /// transaction gives the template's trials and machine code the `defaults` of parameters that they lack: they were
    /// tried with code that behaves as these defaults do. Rows of its `same_code_as` are merged into this one
    /// (adopt.h). A damaged row is replaced. Throws StoreError if a path leads out of the template's folder.
    std::int64_t remember(const TemplateRecord& kernel_template, const Configuration& defaults = {});
    std::int64_t remember(const Problem& problem);

    /// Each text of a run is JSON, or empty.
    std::int64_t start_run(const RunRecord& run);
    /// `how`: "complete", "budget", "interrupted", ... A killed run has no end.
    void finish_run(std::int64_t run, const std::string& how);
    /// Nothing if the run has no end or is unknown.
    [[nodiscard]] std::optional<std::string> how_ended(std::int64_t run) const;

    /// Stores a trial in one transaction; after it returns, a kill loses nothing. A repeated trial replaces the earlier
    /// one. Exception: a measurement that was not verified in full does not replace a fully verified one of the same
    /// machine code. `run` 0 means no run. Throws std::invalid_argument if a time is negative or not finite.
    void remember(const TrialRecord& trial);
    [[nodiscard]] std::optional<TrialRecord> recall(const TrialKey& key, const Configuration& configuration) const;
    /// All trials of a key, in the order in which they were first stored.
    [[nodiscard]] std::vector<TrialRecord> trials(const TrialKey& key) const;
    /// Deletes the trials of a key (`--retune`), and a winner among them.
    void forget(const TrialKey& key);

    /// Deletes what damages() would list among the trials of a key and the machine code of its template. Tuning then
    /// replaces them. A Store examines the machine code of a template once.
    void forget_damaged(const TrialKey& key);

    /// Sets the winner of a device and problem, over all templates, with its machine code if any. One transaction. The
    /// trial must be stored, measured completely and verified in full, and its `code_hash` must be that of the machine
    /// code, or StoreError is thrown. The trial remains the winner when it is measured again, but not when it is
    /// rejected or cut short.
    void set_winner(const TrialKey& key, const Configuration& configuration, const std::optional<BinaryRecord>& binary);
    /// The same, and stores the trial in the same transaction. If `binary` replaces other machine code, trials of other
    /// problems that were verified with the replaced code become `unrecorded`.
    void set_winner(const TrialRecord& trial, const BinaryRecord& binary);
    /// The winner; the fastest trial if no winner was set. This function, best_of, fastest and best_us consider only
    /// trials that were measured completely and verified in full (TrialRecord::is_verified).
    [[nodiscard]] std::optional<TrialRow> best(std::int64_t device, std::int64_t problem) const;
    /// The winner (or fastest trial) of each problem of that operation, type and layout on a device. With
    /// `kernel_template` (a name): the fastest trial of that template for each problem, winner or not. With
    /// `hashes` (as of KernelTemplate), only trials of those versions count. Damaged rows are left out.
    [[nodiscard]] std::vector<TrialRow> best_of(std::int64_t device, const std::string& operation,
                                                const std::string& type, const std::string& layout,
                                                const std::string& kernel_template = {},
                                                const std::vector<std::string>& hashes = {}) const;

    /// Some rows of best_of, the nearest problem first. The distance is measured between the logarithms of the first
    /// four extents.
    struct Nearest {
        std::vector<TrialRow> rows;  ///< damaged ones are left out
        bool is_last = false;        ///< whether no problem lies farther away
    };
    /// Skips the nearest `skipped` problems and returns the rows of the next `count`; fewer if a problem has no such
    /// trial. The cost does not depend on how many problems are stored.
    [[nodiscard]] Nearest nearest(std::int64_t device, const Problem& problem, std::int64_t skipped, std::int64_t count,
                                  const std::string& kernel_template = {},
                                  const std::vector<std::string>& hashes = {}) const;
    /// The row of best_of for one problem.
    [[nodiscard]] std::optional<TrialRow> best(std::int64_t device, std::int64_t problem,
                                               const std::string& kernel_template,
                                               const std::vector<std::string>& hashes) const;

    /// Both check what they read against its SHA-256, and throw DamagedRow if it differs. A file of an older schema has
    /// no hashes; there, nothing is checked.
    [[nodiscard]] std::optional<BinaryRecord> recall_binary(std::int64_t kernel_template,
                                                            const Configuration& configuration,
                                                            const std::string& target) const;
    /// The same, for the template with this name and hash.
    [[nodiscard]] std::optional<BinaryRecord> recall_binary(const std::string& kernel_template, const std::string& hash,
                                                            const Configuration& configuration,
                                                            const std::string& target) const;
    /// The machine code of a configuration for each target, type and layout. Damaged rows are left out.
    [[nodiscard]] std::vector<BinaryRecord> binaries(std::int64_t kernel_template,
                                                     const Configuration& configuration) const;
    [[nodiscard]] std::optional<TemplateRecord> recall_template(std::int64_t kernel_template) const;
    /// Replaces the portfolio of `key`, with the machine code of its members, in one transaction. Throws StoreError if
    /// `binaries` lacks the code that a member was verified with.
    void set_portfolio(const PortfolioKey& key, const std::vector<PortfolioMember>& members,
                       const std::vector<BinaryRecord>& binaries);
    /// Empty if none is stored.
    [[nodiscard]] Portfolio portfolio(const PortfolioKey& key, TermsVersions versions = TermsVersions::present) const;
    /// Every stored portfolio, in the order in which they were stored.
    [[nodiscard]] std::vector<PortfolioOrigin> portfolios(TermsVersions versions = TermsVersions::present) const;
    /// All devices that were tuned, with their row numbers.
    [[nodiscard]] std::vector<std::pair<std::int64_t, Device>> devices() const;
    /// Nothing if this device was never tuned.
    [[nodiscard]] std::optional<std::int64_t> find(const Device& device) const;
    [[nodiscard]] std::optional<std::int64_t> find(const Problem& problem) const;

    /// A filter in the user's terms. Each list holds names, in upper or lower case, or patterns in which `*` stands for
    /// any text. An empty list matches everything.
    struct Filter {
        enum class Sort { time, date, id };  ///< time: fastest first, rejected last; date: latest first; id: ascending
        std::vector<std::string> devices{}, kernel_templates{}, sizes{}, operations{};
        bool best_only = false;  ///< one row per device and problem
        bool rejected_only = false;
        Sort sort = Sort::time;
        std::optional<std::size_t> limit{};
    };
    /// When sorted by time, rows are grouped by device and problem.
    [[nodiscard]] std::vector<TrialRow> rows(const Filter& filter) const;
    /// The number of rows that the filter matches, ignoring its limit.
    [[nodiscard]] std::size_t count(const Filter& filter) const;
    /// The fastest trial of a device and problem, winner or not.
    [[nodiscard]] std::optional<TrialRow> fastest(std::int64_t device, std::int64_t problem) const;
    /// The number of trials of this version of a template; 0 if device, template or problem is unknown.
    [[nodiscard]] std::size_t count(const Device& device, const std::string& kernel_template, const std::string& hash,
                                    const Problem& problem) const;

    /// The trials of one device, of one template over all its versions, or of one problem.
    struct Group {
        std::string name;
        std::int64_t measured = 0, rejected = 0;
        std::int64_t winners = 0;           ///< winners among these trials
        std::string first_at{}, last_at{};  ///< UTC, ISO 8601
        std::int64_t unchecked = 0;         ///< trials whose results were compared with nothing
    };
    struct Inventory {
        std::vector<Group> devices, templates, problems;
    };
    /// The groups with at least one trial that matches the filter.
    [[nodiscard]] Inventory inventory(const Filter& filter) const;
    /// The row numbers of an operation's templates, in all versions.
    [[nodiscard]] std::vector<std::int64_t> templates_of(const std::string& operation) const;
    /// The best measured time of `kernel_template` (a name) on a device and problem.
    [[nodiscard]] std::optional<double> best_us(std::int64_t device, std::int64_t problem,
                                                const std::string& kernel_template) const;
    [[nodiscard]] std::optional<RunRow> recall_run(std::int64_t run) const;
    /// One trial by its number.
    [[nodiscard]] std::optional<TrialRow> row(std::int64_t trial) const;

    /// A row that differs from its hash or cannot be read.
    struct Damage {
        std::string row;     ///< "trial 17", "machine code of tiled TILE=16 for sm_90a"
        std::string reason;  ///< one line
    };
    /// Reads the whole database.
    [[nodiscard]] std::vector<Damage> damages() const;

    /// Everything at one moment. Throws DamagedRow if any row is damaged.
    [[nodiscard]] DatabaseContent content() const;
    /// Writes `content` in one transaction. Precondition: the database is new, and the rows of each table are numbered
    /// 1, 2, 3, ... without a gap.
    void fill(const DatabaseContent& content);

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
