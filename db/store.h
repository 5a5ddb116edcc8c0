// The tuning database, which is one SQLite file. Only one thread may use a Store. Several processes may use the same
// file.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "db/merge/content.h"
#include "db/portfolio/portfolio.h"
#include "db/record.h"

namespace smemtune {

/// Thrown if the database file cannot be used: it is absent, not a database, corrupt, of a newer schema, read-only or
/// locked. The message gives the cause and the remedy. The file is unchanged.
class StoreError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Thrown for a row that smemtune cannot have written, or that changed after smemtune wrote it. The other rows can
/// still be used.
class DamagedRow : public StoreError {
public:
    explicit DamagedRow(const std::string& message) : DamagedRow(message, message) {}
    DamagedRow(const std::string& message, std::string reason) : StoreError(message), reason_(std::move(reason)) {}

    /// What is wrong with the row: what() without the file and the remedy.
    [[nodiscard]] const std::string& reason() const { return reason_; }

private:
    std::string reason_;
};

struct StoreOptions {
    /// How long to wait for other processes that write, before the Store throws a StoreError for a locked file.
    std::chrono::milliseconds patience{60'000};
    /// Use a rollback journal, which needs no memory shared between processes. On filesystems that are not known to be
    /// local, the Store always does so.
    bool rollback_journal = false;
    /// Called with the absolute path of an existing file before the Store opens the file. If another file replaces the
    /// opened file, the function is called again before the Store opens the new file. If the function throws, the
    /// exception reaches the caller of the Store's function.
    std::function<void(const std::filesystem::path& file)> before_opening{};
    /// Called for each damaged row that Store::rows() leaves out, with what is wrong: `trial 17: ...`. Without this
    /// function, Store::rows() throws DamagedRow.
    std::function<void(const std::string& reason)> on_damage{};
};

class Store {
public:
    enum class Access {
        write,  ///< the file is created if it is absent, and migrated if its schema is older
        read,   ///< the file must exist; other processes may write, and each query sees the content at that moment
    };

    /// Throws StoreError if the file cannot be used. A process that has a Store must not open, copy or close the file
    /// by other means, and must not use the Store across fork(). Reason: if a process closes any descriptor of a file,
    /// POSIX drops all locks of the process on this file.
    explicit Store(const std::filesystem::path& path, Access access = Access::write, const StoreOptions& options = {});
    ~Store();
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;

    /// How often the Store found that another file had replaced its file, and opened the new file. Any function may
    /// notice this. Row numbers of the earlier file are invalid in the new one.
    [[nodiscard]] std::int64_t replacements() const;

    struct Known {
        std::vector<std::pair<std::int64_t, Device>> devices;  ///< all devices, with their row numbers
        std::optional<std::int64_t> problem;
    };
    /// Returns the results of devices() and find(problem) from one moment. Faster than two calls.
    [[nodiscard]] Known known(const Problem& problem) const;

    // The next three functions return row numbers. An equal device, template or problem always gets the same row
    // number.
    std::int64_t remember(const Device& device);
    /// Stores a template. If the files changed but the hash did not (more values, another summary, a new parameter),
    /// the stored files are replaced. In the same transaction, the template's trials and machine code get the
    /// `defaults` of parameters that they lack. Reason: code without a parameter behaves like code with the parameter's
    /// default. Rows of earlier versions with the same code (TemplateRecord::same_code_as) are merged into the
    /// template's row (adopt.h). A damaged row is replaced. Throws StoreError if a path leads out of the template's
    /// folder.
    std::int64_t remember(const TemplateRecord& kernel_template, const Configuration& defaults = {});
    std::int64_t remember(const Problem& problem);

    /// Stores a new run and returns its row number. Each text of `run` is JSON or empty.
    std::int64_t start_run(const RunRecord& run);
    /// Stores that a run has ended. `how`: "complete", "budget", "interrupted", ...
    void finish_run(std::int64_t run, const std::string& how);
    /// Returns the `how` of finish_run(); nothing if the run was killed, is still running or is unknown.
    [[nodiscard]] std::optional<std::string> how_ended(std::int64_t run) const;

    /// Stores a trial in one transaction. Once the function has returned, killing the process does not lose the trial.
    /// A repeated trial replaces the earlier trial. Exception: a measurement that was not verified in full does not
    /// replace a fully verified one of the same machine code. A `run` of 0 means that the trial belongs to no run.
    /// Throws std::invalid_argument if a time is negative or not finite.
    void remember(const TrialRecord& trial);
    [[nodiscard]] std::optional<TrialRecord> recall(const TrialKey& key, const Configuration& configuration) const;
    /// Looks for a trial of the configuration on this device that was rejected for this problem, or that gave a wrong
    /// result or crashed for any problem. Returns the trial's reason; nothing if there is no such trial. Considers only
    /// trials of template versions with this name and one of these hashes.
    [[nodiscard]] std::optional<std::string> why_rejected(std::int64_t device, std::optional<std::int64_t> problem,
                                                          const std::string& kernel_template,
                                                          const std::vector<std::string>& hashes,
                                                          const Configuration& configuration) const;
    /// Whether this machine code of the configuration gave a wrong result or crashed in a trial of any problem.
    [[nodiscard]] bool failed_somewhere(const Configuration& configuration, const std::string& code_hash) const;
    /// All trials of a key, in the order in which they were first stored.
    [[nodiscard]] std::vector<TrialRecord> trials(const TrialKey& key) const;
    /// Deletes all trials of a key, including a winner among them. The option `--retune` does this.
    void forget(const TrialKey& key);

    /// Deletes the damaged trials of a key and the damaged machine code of its template, so that tuning makes them
    /// again. A Store examines the machine code of each template only once.
    void forget_damaged(const TrialKey& key);

    /// Declares a stored trial the winner of its device and problem, over all templates. Also stores `binary`, the
    /// winner's machine code, if it is given. Uses one transaction. Throws StoreError if the trial was not measured
    /// completely, was not verified in full, or has a `code_hash` other than the hash of `binary`. If remember() later
    /// replaces the trial by a repeated one, the repeated trial is the winner if it was measured completely and
    /// verified in full. If it was not, the problem has no winner.
    void set_winner(const TrialKey& key, const Configuration& configuration, const std::optional<BinaryRecord>& binary);
    /// Stores a trial and declares it the winner, in one transaction. If `binary` replaces other machine code, trials
    /// of other problems that were verified with the replaced code become `unrecorded`.
    void set_winner(const TrialRecord& trial, const BinaryRecord& binary);
    /// Returns the winner of a device and problem, or the fastest trial if there is no winner. This function, best_of,
    /// fastest and best_us consider only trials that were measured completely and verified in full
    /// (TrialRecord::is_verified).
    [[nodiscard]] std::optional<TrialRow> best(std::int64_t device, std::int64_t problem) const;
    /// Returns, for each problem of this operation, type and layout on a device, the winner or else the fastest trial.
    /// If `kernel_template` (a name) is given, considers only trials of this template: a problem's winner if it is one
    /// of them, or else the fastest of them. If `hashes` is given too, considers only trials of the versions with these
    /// hashes (KernelTemplate::hash). Leaves out damaged rows.
    [[nodiscard]] std::vector<TrialRow> best_of(std::int64_t device, const std::string& operation,
                                                const std::string& type, const std::string& layout,
                                                const std::string& kernel_template = {},
                                                const std::vector<std::string>& hashes = {}) const;

    /// Some of the rows that best_of() returns. The row of the nearest problem comes first. The distance of two
    /// problems is the Euclidean distance between the logarithms of their first four extents.
    struct Nearest {
        std::vector<TrialRow> rows;  ///< the rows, without damaged rows
        bool is_last = false;        ///< whether no stored problem is farther away
    };
    /// Skips the nearest `skipped` problems and returns the rows of the next `count` problems. Returns fewer rows if a
    /// problem has no matching trial. The time does not depend on the number of stored problems. Exception: for a file
    /// whose schema is older than `hashed_schema`, reads and returns the rows of all problems.
    [[nodiscard]] Nearest nearest(std::int64_t device, const Problem& problem, std::int64_t skipped, std::int64_t count,
                                  const std::string& kernel_template = {},
                                  const std::vector<std::string>& hashes = {}) const;
    /// Returns the row that best_of gives for one problem; nothing if there is no such row.
    [[nodiscard]] std::optional<TrialRow> best(std::int64_t device, std::int64_t problem,
                                               const std::string& kernel_template,
                                               const std::vector<std::string>& hashes) const;

    /// Returns stored machine code; nothing if there is none. All recall_binary functions and recall_template throw
    /// DamagedRow if a row differs from its SHA-256. Files whose schema is older than `hashed_schema` have no SHA-256,
    /// so their rows are not checked.
    [[nodiscard]] std::optional<BinaryRecord> recall_binary(std::int64_t kernel_template,
                                                            const Configuration& configuration,
                                                            const std::string& target) const;
    /// Returns the machine code for the template with this name and hash.
    [[nodiscard]] std::optional<BinaryRecord> recall_binary(const std::string& kernel_template, const std::string& hash,
                                                            const Configuration& configuration,
                                                            const std::string& target) const;
    /// Returns all stored machine code of a configuration: one entry for each target, type and layout. Leaves out
    /// damaged rows.
    [[nodiscard]] std::vector<BinaryRecord> binaries(std::int64_t kernel_template,
                                                     const Configuration& configuration) const;
    [[nodiscard]] std::optional<TemplateRecord> recall_template(std::int64_t kernel_template) const;
    /// Replaces the portfolio of `key` and stores the machine code of its members, in one transaction. Throws
    /// StoreError if `binaries` lacks the machine code with which a member was verified.
    void set_portfolio(const PortfolioKey& key, const std::vector<PortfolioMember>& members,
                       const std::vector<BinaryRecord>& binaries);
    /// Returns the portfolio of `key`. It has no members if none is stored, or if `versions` excludes the stored one.
    [[nodiscard]] Portfolio portfolio(const PortfolioKey& key, TermsVersions versions = TermsVersions::present) const;
    /// The stored portfolios that `versions` admits, in the order in which they were stored.
    [[nodiscard]] std::vector<PortfolioOrigin> portfolios(TermsVersions versions = TermsVersions::present) const;
    /// The keys of the portfolios whose time models have terms of a different version, so that no fetch uses them.
    /// refit_portfolios() makes them usable again.
    [[nodiscard]] std::vector<PortfolioKey> outdated_portfolios() const;
    /// All devices that were tuned, with their row numbers.
    [[nodiscard]] std::vector<std::pair<std::int64_t, Device>> devices() const;
    /// Returns the row number of a device; nothing if this device was never tuned.
    [[nodiscard]] std::optional<std::int64_t> find(const Device& device) const;
    [[nodiscard]] std::optional<std::int64_t> find(const Problem& problem) const;

    /// A filter in the user's terms. Each list holds names, in upper or lower case, or patterns in which `*` stands for
    /// any text. An empty list matches everything.
    struct Filter {
        /// The order of trials. `time`: fastest first, rejected last. `date`: latest first. `id`: by row number.
        enum class Sort { time, date, id };
        std::vector<std::string> devices{}, kernel_templates{}, sizes{}, operations{};
        bool best_only = false;  ///< only the winner, or else the fastest trial, of each device and problem
        bool rejected_only = false;
        Sort sort = Sort::time;
        std::optional<std::size_t> limit{};
    };
    /// Returns the trials that match the filter. If sorted by time, trials are grouped by device and problem. Damaged
    /// rows: StoreOptions::on_damage.
    [[nodiscard]] std::vector<TrialRow> rows(const Filter& filter) const;
    /// Returns the number of trials that match the filter. Ignores the filter's limit.
    [[nodiscard]] std::size_t count(const Filter& filter) const;
    /// Returns the fastest trial of a device and problem, even if another trial is the winner.
    [[nodiscard]] std::optional<TrialRow> fastest(std::int64_t device, std::int64_t problem) const;
    /// Returns the number of trials of the template version with this hash; 0 if device, template or problem is
    /// unknown.
    [[nodiscard]] std::size_t count(const Device& device, const std::string& kernel_template, const std::string& hash,
                                    const Problem& problem) const;

    /// Statistics of the trials of one device, of one template over all its versions, or of one problem.
    struct Group {
        std::string name;
        std::int64_t measured = 0, rejected = 0;
        std::int64_t winners = 0;           ///< winners among these trials
        std::string first_at{}, last_at{};  ///< when the first and the last trial ended: UTC, ISO 8601
        std::int64_t unchecked = 0;         ///< trials whose results were not compared with a reference
    };
    struct ListedPortfolio {
        std::string name;    ///< operation, type and layout, such as "gemm f32 nn"
        std::string device;  ///< the device on which it was measured
        std::int64_t members = 0;
        bool is_outdated = false;  ///< whether its models are of another version, so that no fetch uses it
    };
    struct Inventory {
        std::vector<Group> devices, templates, problems;
        std::vector<ListedPortfolio> portfolios{};
    };
    /// Returns the groups with at least one trial that matches the filter, and the portfolios with at least one member
    /// that matches it. If the filter is for sizes or rejected trials, returns no portfolios.
    [[nodiscard]] Inventory inventory(const Filter& filter) const;
    /// Returns the row numbers of the templates of which a later version has later trials.
    [[nodiscard]] std::vector<std::int64_t> versions_with_later_ones() const;
    /// Returns the row numbers of all versions of an operation's templates.
    [[nodiscard]] std::vector<std::int64_t> templates_of(const std::string& operation) const;
    /// Returns the shortest measured time of `kernel_template` (a name) on a device and problem, in microseconds.
    [[nodiscard]] std::optional<double> best_us(std::int64_t device, std::int64_t problem,
                                                const std::string& kernel_template) const;
    [[nodiscard]] std::optional<RunRow> recall_run(std::int64_t run) const;
    /// Returns the trial with this row number; nothing if there is none.
    [[nodiscard]] std::optional<TrialRow> row(std::int64_t trial) const;

    /// A row that differs from its hash or cannot be read.
    struct Damage {
        std::string row;     ///< such as "trial 17" or "machine code of tiled TILE=16 for sm_90a"
        std::string reason;  ///< what is wrong, in one line
        std::string remedy;  ///< what the user can do
    };
    /// Reads the whole database and returns its damaged rows.
    [[nodiscard]] std::vector<Damage> damages() const;

    /// Returns the whole content of the database at one moment. Throws DamagedRow if any row is damaged.
    [[nodiscard]] DatabaseContent content() const;
    /// Writes `content` into a new database, in one transaction. Precondition: in `content`, the rows of each kind are
    /// numbered 1, 2, 3, ... without a gap.
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
