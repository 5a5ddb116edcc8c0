#include "tuner/portfolio/check.h"

#include <algorithm>

#include "runtime/predict/predictor.h"
#include "runtime/selection.h"
#include "tuner/report/progress.h"
#include "tuner/trial/testbed.h"
#include "tuner/tuning/tune.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

class Checker {
public:
    Checker(const CheckRequest& request, const TuneResources& resources, Progress& progress)
        : request_(request),
          resources_(resources),
          progress_(progress),
          like_(request.samples.front().problem),
          source_{.resources = resources,
                  .samples = request.samples,
                  .templates = request.templates,
                  .device_row = resources.store.remember(resources.device),
                  .identity = verification_identity(request.templates.front(), like_, resources.compiler),
                  .toolchain = toolchain_of(resources),
                  .jobs = request.jobs} {
        report_.device = resources.device;
    }

    PortfolioReport check() {
        const auto measured_on = device_of_portfolio(resources_.store, like_, resources_.device);
        if (!measured_on) return finished();
        report_.measured_on = measured_on->second;
        const auto portfolio =
            resources_.store.portfolio({measured_on->first, like_.operation, like_.type, like_.layout});
        const auto of_request = [this](const TrialRow& row) {  // the request owns the template, not this pointer
            return std::shared_ptr<const KernelTemplate>(std::shared_ptr<const void>(),
                                                         find_template(row.kernel_template, row.template_hash));
        };
        const Predictor predictor(portfolio, like_, resources_.device, of_request);
        for (const auto& stored : portfolio.members) add_member(stored);
        const auto tuned = tuned_elsewhere();
        report_.configurations = entries_.size();
        search();
        report_.tune_seconds = seconds_since(begin_);
        if (entries_.empty() || resources_.interrupted) return finished();
        const auto begin = Clock::now();
        CrossTimes times;
        const auto nearest = cross_time(tuned, times);
        report_.cross_seconds = seconds_since(begin);
        for (std::size_t sample = 0; sample < request_.samples.size(); ++sample) {
            serve(predictor, times, sample, nearest[sample]);
        }
        return finished();
    }

private:
    PortfolioReport finished() {
        if (resources_.interrupted) report_.ended = "interrupted";
        report_.seconds = seconds_since(begin_);
        return std::move(report_);
    }

    [[nodiscard]] const KernelTemplate* find_template(const std::string& name, const std::string& hash) const {
        for (const auto& kernel : request_.templates) {
            if (kernel.name == name && kernel.is_same_code(hash)) return &kernel;
        }
        return nullptr;
    }

    std::size_t add(const KernelTemplate& kernel, std::int64_t template_row, const Configuration& configuration,
                    const std::string& code_hash, CompiledSize compiled) {
        const auto known = std::ranges::find_if(entries_, [&](const Entry& entry) {
            return entry.template_row == template_row && entry.configuration == configuration;
        });
        if (known != entries_.end()) return static_cast<std::size_t>(known - entries_.begin());
        entries_.push_back({.kernel = &kernel,
                            .template_row = template_row,
                            .configuration = configuration,
                            .code_hash = code_hash,
                            .bound = BoundLaunch(kernel, configuration, resources_.device, like_, compiled)});
        return entries_.size() - 1;
    }

    void add_member(const PortfolioRow& stored) {
        const auto* kernel = find_template(stored.kernel_template, stored.template_hash);
        if (kernel == nullptr) return;
        const auto& member = stored.member;
        add(*kernel, member.kernel_template, member.configuration, member.code_hash,
            {member.registers, member.static_shared_bytes});
        members_ = entries_.size();
        report_.members.push_back(
            {kernel->name, member.configuration, default_configuration(*kernel), member.model, member.classes});
    }

    struct Tuned {
        Problem problem;
        std::size_t entry = 0;
    };
    // Returns the stored winners of problems that are not samples.
    std::vector<Tuned> tuned_elsewhere() {
        std::vector<Tuned> tuned;
        for (const auto& row :
             resources_.store.best_of(source_.device_row, like_.operation, like_.type, like_.layout)) {
            const auto* kernel = find_template(row.kernel_template, row.template_hash);
            if (kernel == nullptr || !row.winner) continue;
            if (std::ranges::find(request_.samples, row.problem, &Sample::problem) != request_.samples.end()) continue;
            const auto& record = row.record;
            const auto entry = add(*kernel, record.key.kernel_template, record.configuration, record.code_hash,
                                   {record.resources.registers, record.resources.static_shared_bytes});
            tuned.push_back({row.problem, entry});
        }
        return tuned;
    }

    void search() {
        TuneRequest tuning;
        for (std::size_t i = 0; i < std::min(request_.searches, request_.samples.size()); ++i) {
            tuning.problems.push_back(request_.samples[i].problem);
        }
        if (tuning.problems.empty()) return;
        tuning.templates = request_.templates;
        tuning.evaluations = request_.evaluations;
        tuning.budget = request_.budget;
        tuning.jobs = request_.jobs;
        tuning.seed = request_.seed;
        tuning.text = request_.text;
        report_.ended = tune(tuning, plan(tuning, resources_.device), resources_, progress_).ended;
    }

    // Times the members at each sample. Also times one winner there: of all winners in `tuned` that are valid at the
    // sample, the one whose problem is the nearest. Returns this winner for each sample, as an index into entries_.
    std::vector<std::optional<std::size_t>> cross_time(const std::vector<Tuned>& tuned, CrossTimes& times) {
        MeasureContext context{
            .source = source_, .entries = entries_, .run_row = resources_.store.start_run({request_.text, {}, {}})};
        if (request_.budget) context.deadline = begin_ + *request_.budget;
        CrossTimer timer(context, times);
        SamplePairs pairs(request_.samples.size());
        std::vector<std::optional<std::size_t>> nearest(request_.samples.size());
        for (std::size_t sample = 0; sample < pairs.size(); ++sample) {
            const auto& problem = request_.samples[sample].problem;
            double least = 0;
            for (const auto& each : tuned) {
                const auto away = distance(each.problem, problem);
                if (!times.cells[sample][each.entry].is_valid() || (nearest[sample] && away >= least)) continue;
                nearest[sample] = each.entry;
                least = away;
            }
            for (std::size_t member = 0; member < members_; ++member) pairs[sample].push_back(member);
            if (nearest[sample]) pairs[sample].push_back(*nearest[sample]);
        }
        progress_.begin_part("cross-timing");
        timer.measure(pairs, progress_);
        report_.counts = timer.counts();
        if (Clock::now() > context.deadline) report_.ended = "budget";
        resources_.store.finish_run(context.run_row, resources_.interrupted ? "interrupted" : "complete");
        return nearest;
    }

    // The shortest time known at a sample, whether from its search or from cross_time().
    [[nodiscard]] double best_us(const CrossTimes& times, std::size_t sample) const {
        auto best = times.best_us(sample);
        const auto row = resources_.store.find(request_.samples[sample].problem);
        const auto searched = row ? resources_.store.best(source_.device_row, *row) : std::nullopt;
        if (!searched) return best;
        const auto us = std::get<Measurement>(searched->record.outcome).median_us;
        return best > 0 ? std::min(best, us) : us;
    }

    void serve(const Predictor& predictor, const CrossTimes& times, std::size_t sample,
               std::optional<std::size_t> nearest) {
        const auto best = best_us(times, sample);
        if (best <= 0) return;
        const auto& problem = request_.samples[sample].problem;
        const auto& cells = times.cells[sample];
        const auto loss = [&](std::optional<std::size_t> entry) -> std::optional<double> {
            if (!entry || cells[*entry].us <= 0) return std::nullopt;
            return cells[*entry].us / best - 1;
        };
        LeftOut left_out{.problem = sample, .nearest = loss(nearest)};
        const auto ranking = predictor.ranking(problem);
        if (!ranking.empty()) {
            const auto& row = ranking.front().member->row.record;
            const auto served = std::ranges::find_if(entries_, [&](const Entry& entry) {
                return entry.template_row == row.key.kernel_template && entry.configuration == row.configuration;
            });
            if (served != entries_.end()) {
                left_out.predicted = loss(static_cast<std::size_t>(served - entries_.begin()));
            }
        }
        for (std::size_t member = 0; member < members_; ++member) {
            const auto its = loss(member);
            if (its && (!left_out.best_member || *its < *left_out.best_member)) left_out.best_member = its;
            if (member == 0) left_out.one_for_all = its;
        }
        report_.served.push_back({.sample = request_.samples[sample],
                                  .kind = kind_of(request_.templates.front().operation, problem, resources_.device),
                                  .best_us = best,
                                  .left_out = left_out,
                                  .searched = sample < request_.searches,
                                  .predicted_us = ranking.empty() ? 0 : ranking.front().us});
    }

    const CheckRequest& request_;
    const TuneResources& resources_;
    Progress& progress_;
    Clock::time_point begin_ = Clock::now();
    const Problem& like_;
    EntrySource source_;
    std::vector<Entry> entries_;  // the portfolio's members, then winners of tuned problems
    std::size_t members_ = 0;
    PortfolioReport report_;
};

}  // namespace

PortfolioReport check_portfolio(const CheckRequest& request, const TuneResources& resources, Progress& progress) {
    return Checker(request, resources, progress).check();
}

}  // namespace smemtune
