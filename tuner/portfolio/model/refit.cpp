#include "tuner/portfolio/model/refit.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "templates/predict/bound_launch.h"
#include "templates/predict/correction.h"
#include "tuner/cli/shell_text.h"
#include "tuner/portfolio/model/fit.h"
#include "util/hash.h"

namespace smemtune {

namespace {

// A configuration that is not a member takes part in a refit only if it has at least this many measured times.
// Configurations with fewer times were tried only by searches, at a few problems. Those that take part are used to
// fit the common model of their template (fit.cpp), and to estimate the losses at problems that are left out.
constexpr std::size_t least_times = 20;

using ConfigurationKey = std::pair<std::int64_t, std::string>;  // row of the template, configuration as text

struct Timed {
    const KernelTemplate* kernel = nullptr;
    Configuration configuration;
    CompiledSize compiled;
    std::map<Problem, TrialRow> rows;  // the measured trials; for a member, only trials of the member's machine code
};

class Refit {
public:
    Refit(Store& store, const PortfolioKey& key, const std::vector<KernelTemplate>& templates)
        : store_(store), key_(key), templates_(templates), portfolio_(store.portfolio(key, TermsVersions::all)) {
        for (const auto& [row, device] : store.devices()) {
            if (row == key.device) report_.device = device;
        }
        if (!portfolio_.damages.empty()) throw StoreError(portfolio_.damages.front());
        for (const auto& member : portfolio_.members) add_member(member);
        read_times();
    }

    PortfolioReport refit() {
        const auto times = cross_times();
        std::vector<std::size_t> problems(times.problems());
        std::iota(problems.begin(), problems.end(), std::size_t{0});
        std::vector<std::size_t> members(portfolio_.members.size());  // the first entries of timed_ are the members
        std::iota(members.begin(), members.end(), std::size_t{0});
        const auto models = fit_models(times, problems, members);
        for (const auto& left_out : check_left_out(times, members.size(), members)) {
            const Sample sample{.problem = problems_[left_out.problem]};
            report_.served.push_back({.sample = sample,
                                      .kind = kind_of(timed_.front().kernel->operation, sample.problem, report_.device),
                                      .best_us = times.best_us(left_out.problem),
                                      .left_out = left_out});
        }
        store(models);
        report_.configurations = timed_.size();
        return std::move(report_);
    }

private:
    [[nodiscard]] std::string remedy() const { return command_for(store_.summary().path, "portfolio"); }

    [[nodiscard]] const KernelTemplate& template_of(const PortfolioRow& member) const {
        for (const auto& kernel : templates_) {
            if (kernel.name == member.kernel_template && kernel.is_same_code(member.template_hash)) return kernel;
        }
        throw StoreError("the portfolio's member " + member.kernel_template + " " +
                         to_text(member.member.configuration) + " is of another version of the template; run " +
                         remedy() + " on the device");
    }

    void add_member(const PortfolioRow& row) {
        const auto& kernel = template_of(row);
        const auto& member = row.member;
        kernels_[member.kernel_template] = &kernel;
        for (auto& binary : store_.binaries(member.kernel_template, member.configuration)) {
            if (sha256(std::as_bytes(std::span(binary.code))) == member.code_hash)
                binaries_.push_back(std::move(binary));
        }
        numbers_[{member.kernel_template, to_text(member.configuration)}] = timed_.size();
        timed_.push_back({.kernel = &kernel,
                          .configuration = member.configuration,
                          .compiled = {member.registers, member.static_shared_bytes},
                          .rows = {}});
    }

    // Reads the times of the members, and of other configurations that were timed at many samples.
    void read_times() {
        std::map<ConfigurationKey, Timed> others;
        std::set<Problem> problems;
        for (auto& row : store_.rows({.devices = {report_.device.name}, .operations = {key_.operation}})) {
            const auto& record = row.record;
            const auto kernel = kernels_.find(record.key.kernel_template);
            if (record.key.device != key_.device || row.problem.type != key_.type || kernel == kernels_.end()) continue;
            if (row.problem.layout != key_.layout || !std::holds_alternative<Measurement>(record.outcome)) continue;
            const ConfigurationKey key{record.key.kernel_template, to_text(record.configuration)};
            const auto number = numbers_.find(key);
            if (number != numbers_.end()) {
                if (record.code_hash != portfolio_.members[number->second].member.code_hash) continue;
                problems.insert(row.problem);
                timed_[number->second].rows.emplace(row.problem, std::move(row));
                continue;
            }
            auto& other = others[key];
            if (other.kernel == nullptr) {
                other.kernel = kernel->second;
                other.configuration = record.configuration;
                other.compiled = {record.resources.registers, record.resources.static_shared_bytes};
            }
            other.rows.emplace(row.problem, std::move(row));
        }
        for (auto& [key, other] : others) {
            if (other.rows.size() >= least_times) timed_.push_back(std::move(other));
        }
        problems_.assign(problems.begin(), problems.end());
        if (problems_.empty()) {
            throw StoreError("no times of the portfolio's members are stored; run " + remedy() + " on the device");
        }
    }

    [[nodiscard]] CrossTimes cross_times() const {
        CrossTimes times;
        times.alignment = RowAlignment(timed_.front().kernel->operation, problems_.front(), report_.device);
        times.counts.assign(problems_.size(), 1);
        times.cells.assign(problems_.size(), std::vector<CrossTimes::Cell>(timed_.size()));
        times.found.resize(timed_.size());
        times.won.resize(timed_.size());
        for (const auto& problem : problems_) place_of(problem, times.places.emplace_back());
        for (std::size_t i = 0; i < timed_.size(); ++i) {
            const auto& timed = timed_[i];
            times.groups.push_back(static_cast<std::size_t>(timed.kernel - templates_.data()));
            const BoundLaunch bound(*timed.kernel, timed.configuration, report_.device, problems_.front(),
                                    timed.compiled);
            for (std::size_t problem = 0; problem < problems_.size(); ++problem) {
                const auto row = timed.rows.find(problems_[problem]);
                const auto terms = bound.terms(problems_[problem]);
                if (row == timed.rows.end() || !terms) continue;
                times.cells[problem][i] = {std::get<Measurement>(row->second.record.outcome).median_us, *terms};
            }
        }
        for (std::size_t problem = 0; problem < problems_.size(); ++problem) mark_fastest(times, problem);
        return times;
    }

    // Marks the fastest configurations of a problem as if a search had found them there, and the fastest one as the
    // problem's winner. check_left_out() reads these marks.
    void mark_fastest(CrossTimes& times, std::size_t problem) const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < timed_.size(); ++i) {
            if (times.cells[problem][i].us > 0) order.push_back(i);
        }
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times.cells[problem][i].us; });
        for (std::size_t rank = 0; rank < std::min(order.size(), most_of_a_sample); ++rank) {
            if (times.loss(problem, order[rank]) > slowest_of_a_sample - 1) break;
            times.found[order[rank]].push_back(problem);
            if (rank == 0) times.won[order[rank]].push_back(problem);
        }
    }

    void store(const std::vector<TimeModel>& models) {
        // Stores the present manifest, because the stored manifest may lack keys that the terms need.
        for (const auto& [row, kernel] : kernels_) {
            (void)row;
            store_.remember(
                TemplateRecord{kernel->name, kernel->operation.name, kernel->hash, kernel->files, kernel->same_code_as},
                default_configuration(*kernel));
        }
        std::vector<PortfolioMember> members;
        for (std::size_t i = 0; i < portfolio_.members.size(); ++i) {
            auto member = portfolio_.members[i].member;
            member.model = models[i];
            report_.members.push_back({timed_[i].kernel->name, member.configuration,
                                       default_configuration(*timed_[i].kernel), models[i], member.classes});
            report_.counts.recalled += timed_[i].rows.size();
            members.push_back(std::move(member));
        }
        store_.set_portfolio(key_, members, binaries_);
    }

    Store& store_;
    const PortfolioKey& key_;
    const std::vector<KernelTemplate>& templates_;
    Portfolio portfolio_;
    PortfolioReport report_;
    std::map<std::int64_t, const KernelTemplate*> kernels_;  // by the row of the template
    std::map<ConfigurationKey, std::size_t> numbers_;        // each member's index in timed_
    std::vector<Timed> timed_;                               // the members come first
    std::vector<Problem> problems_;
    std::vector<BinaryRecord> binaries_;
};

}  // namespace

std::vector<PortfolioReport> refit_portfolios(Store& store, const std::string& operation,
                                              const std::vector<KernelTemplate>& templates) {
    std::vector<PortfolioReport> reports;
    for (const auto& origin : store.portfolios(TermsVersions::all)) {
        if (origin.key.operation == operation) reports.push_back(Refit(store, origin.key, templates).refit());
    }
    return reports;
}

}  // namespace smemtune
