#include "tuner/portfolio/build.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/backend.h"
#include "runtime/selection.h"
#include "tuner/portfolio/choose.h"
#include "tuner/portfolio/fit.h"
#include "tuner/problem/trial_ledger.h"
#include "tuner/report/progress.h"
#include "tuner/trial/testbed.h"
#include "tuner/tuning/tune.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t samples_at_once = 16;  // the spaces of a batch are in memory together
constexpr double tuning_share = 0.6;         // of the budget

class Builder {
public:
    Builder(const PortfolioRequest& request, const TuneResources& resources, Progress& progress)
        : request_(request),
          resources_(resources),
          progress_(progress),
          like_(request.samples.front().problem),
          identity_(verification_identity(request.templates.front(), like_, resources.compiler)),
          device_row_(resources.store.remember(resources.device)) {
        report_.device = resources.device;
    }

    PortfolioReport build() {
        tune_samples();
        report_.tune_seconds = seconds_since(begin_);
        if (!resources_.interrupted) choose_and_store();
        if (resources_.interrupted) report_.ended = "interrupted";
        report_.seconds = seconds_since(begin_);
        return std::move(report_);
    }

private:
    [[nodiscard]] std::optional<std::chrono::seconds> left(double share) const {
        if (!request_.budget) return std::nullopt;
        const auto until = share * static_cast<double>(request_.budget->count()) - seconds_since(begin_);
        return std::chrono::seconds(std::max(0L, std::lround(until)));
    }

    // The sample's winner if it counts: verified as this run verifies, by a template of the request.
    [[nodiscard]] std::optional<TrialRow> winner_of(const Problem& problem) const {
        const auto row = resources_.store.find(problem);
        auto best = row ? resources_.store.best(device_row_, *row) : std::nullopt;
        if (!best || !best->winner || best->record.verified_by != identity_ || template_of(*best) == nullptr) return {};
        return best;
    }

    [[nodiscard]] const KernelTemplate* template_of(const TrialRow& row) const {
        for (const auto& kernel : request_.templates) {
            if (kernel.name == row.kernel_template && kernel.is_same_code(row.template_hash)) return &kernel;
        }
        return nullptr;
    }

    void tune_samples() {
        std::vector<Problem> untuned;
        for (const auto& sample : request_.samples) {
            if (!winner_of(sample.problem)) untuned.push_back(sample.problem);
        }
        for (std::size_t first = 0; first < untuned.size() && !resources_.interrupted; first += samples_at_once) {
            const auto last = std::min(untuned.size(), first + samples_at_once);
            TuneRequest tuning;
            tuning.problems = {untuned.begin() + static_cast<std::ptrdiff_t>(first),
                               untuned.begin() + static_cast<std::ptrdiff_t>(last)};
            tuning.templates = request_.templates;
            tuning.evaluations = request_.evaluations;
            tuning.budget = left(tuning_share);
            tuning.jobs = request_.jobs;
            tuning.seed = request_.seed;
            tuning.text = request_.text;
            if (tuning.budget && tuning.budget->count() < 1) {
                report_.ended = "budget";
                return;
            }
            const auto tuned = tune(tuning, plan(tuning, resources_.device), resources_, progress_);
            if (tuned.ended != "complete") report_.ended = tuned.ended;
        }
    }

    // All winners of the operation, type and layout: those of the samples, and those of earlier tuning.
    void collect_entries() {
        for (const auto& row : resources_.store.best_of(device_row_, like_.operation, like_.type, like_.layout)) {
            const auto* kernel = template_of(row);
            if (kernel == nullptr || !row.winner || row.record.verified_by != identity_) continue;
            const auto is_same = [&](const Entry& entry) {
                return entry.template_row == row.record.key.kernel_template &&
                       entry.configuration == row.record.configuration;
            };
            auto entry = std::ranges::find_if(entries_, is_same);
            if (entry == entries_.end()) {
                auto made = make_entry(*kernel, row);
                if (!made) continue;
                entries_.push_back(std::move(*made));
                entry = std::prev(entries_.end());
            }
            const auto sample = std::ranges::find(request_.samples, row.problem, &Sample::problem);
            if (sample != request_.samples.end()) {
                entry->won.push_back(static_cast<std::size_t>(sample - request_.samples.begin()));
            }
        }
        report_.configurations = entries_.size();
    }

    [[nodiscard]] std::optional<Binary> code_of(const KernelTemplate& kernel, const TrialRow& row) const {
        try {
            auto stored = resources_.store.recall_binary(row.record.key.kernel_template, row.record.configuration,
                                                         binary_key(resources_.compiler.target(), like_));
            if (stored && stored->compiler == resources_.compiler.version()) {
                return Binary{kernel.name, resources_.compiler.target(), stored->compiler, std::move(stored->code),
                              stored->resources};
            }
        } catch (const DamagedRow&) {  // it is compiled again
        }
        auto compiled = resources_.compiler.compile(program_of(kernel, row.record.configuration, like_));
        auto* binary = std::get_if<Binary>(&compiled);
        return binary == nullptr ? std::nullopt : std::optional(std::move(*binary));
    }

    [[nodiscard]] std::optional<Entry> make_entry(const KernelTemplate& kernel, const TrialRow& row) const {
        auto binary = code_of(kernel, row);
        if (!binary) return std::nullopt;
        const auto& configuration = row.record.configuration;
        const CompiledSize compiled{binary->resources.registers, binary->resources.static_shared_bytes};
        return Entry{.kernel = &kernel,
                     .template_row = row.record.key.kernel_template,
                     .configuration = configuration,
                     .binary = *binary,
                     .code_hash = code_hash_of(*binary),
                     .bound = BoundLaunch(kernel, configuration, resources_.device, like_, compiled)};
    }

    [[nodiscard]] CrossTimes empty_times() const {
        CrossTimes times;
        for (const auto& sample : request_.samples) {
            times.counts.push_back(sample.count);
            auto& place = times.places.emplace_back();
            for (const auto& extent : sample.problem.extents) {
                place.push_back(std::log(static_cast<double>(extent.second)));
            }
        }
        for (const auto& entry : entries_) {
            times.groups.push_back(static_cast<std::size_t>(entry.kernel - request_.templates.data()));
            times.won.push_back(entry.won);
        }
        return times;
    }

    void choose_and_store() {
        collect_entries();
        if (entries_.empty()) return;
        const auto begin = Clock::now();
        const auto run = resources_.store.start_run({request_.text, {}, {}});
        const auto platform = platform_versions(resources_.device);
        MeasureContext context{.resources = resources_,
                               .samples = request_.samples,
                               .entries = entries_,
                               .device_row = device_row_,
                               .run_row = run,
                               .identity = identity_,
                               .toolchain = resources_.compiler.version() + (platform.empty() ? "" : "; " + platform)};
        if (request_.budget) context.deadline = begin_ + *request_.budget;
        progress_.begin_part("cross-timing");
        auto times = empty_times();
        report_.counts = cross_time(context, progress_, times);
        report_.cross_seconds = seconds_since(begin);
        if (Clock::now() > context.deadline) report_.ended = "budget";
        if (!resources_.interrupted) {
            context.deadline = Clock::time_point::max();
            choose(context, times);
        }
        resources_.store.finish_run(run, resources_.interrupted ? "interrupted" : report_.ended);
    }

    void choose(const MeasureContext& context, const CrossTimes& times) {
        std::vector<std::size_t> problems(times.problems());
        std::vector<std::size_t> candidates(times.configurations());
        for (std::size_t i = 0; i < problems.size(); ++i) problems[i] = i;
        for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i] = i;
        const auto members = choose_members(times, problems, candidates, request_.size);
        const auto models = fit_models(times, problems, members);
        for (const auto& left_out : check_left_out(times, request_.size)) {
            const auto& sample = request_.samples[left_out.problem];
            report_.served.push_back(
                {.sample = sample,
                 .kind = kind_of(request_.templates.front().operation, sample.problem, resources_.device),
                 .best_us = times.best_us(left_out.problem),
                 .left_out = left_out});
        }
        progress_.begin_part("verifying");
        const auto classes = verify_classes(context, members, progress_);
        if (!resources_.interrupted) store(members, models, classes);
    }

    void store(const std::vector<std::size_t>& members, const std::vector<TimeModel>& models,
               const std::vector<std::set<std::string>>& classes) {
        std::vector<PortfolioMember> records;
        std::vector<BinaryRecord> binaries;
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto& entry = entries_[members[i]];
            if (classes[i].empty()) {
                ++report_.wrong;
                continue;
            }
            const std::vector<std::string> verified(classes[i].begin(), classes[i].end());
            const auto& resources = entry.binary.resources;
            records.push_back({entry.template_row, entry.configuration, models[i], resources.registers,
                               resources.static_shared_bytes, verified, identity_, entry.code_hash});
            binaries.push_back({.kernel_template = entry.template_row,
                                .configuration = entry.configuration,
                                .target = binary_key(resources_.compiler.target(), like_),
                                .compiler = entry.binary.compiler,
                                .code = entry.binary.code,
                                .resources = resources});
            report_.members.push_back(
                {entry.kernel->name, entry.configuration, default_configuration(*entry.kernel), models[i], verified});
        }
        if (records.empty()) return;
        resources_.store.set_portfolio({device_row_, like_.operation, like_.type, like_.layout}, records, binaries);
    }

    const PortfolioRequest& request_;
    const TuneResources& resources_;
    Progress& progress_;
    Clock::time_point begin_ = Clock::now();
    const Problem& like_;
    std::string identity_;
    std::int64_t device_row_;
    std::vector<Entry> entries_;
    PortfolioReport report_;
};

}  // namespace

PortfolioReport build_portfolio(const PortfolioRequest& request, const TuneResources& resources, Progress& progress) {
    return Builder(request, resources, progress).build();
}

}  // namespace smemtune
