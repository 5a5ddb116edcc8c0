#include "tuner/portfolio/build.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "runtime/backend.h"
#include "runtime/selection.h"
#include "tuner/portfolio/model/choose.h"
#include "tuner/portfolio/model/fit.h"
#include "tuner/portfolio/verify.h"
#include "tuner/report/progress.h"
#include "tuner/report/report.h"
#include "tuner/trial/testbed.h"
#include "tuner/tuning/tune.h"
#include "util/stopwatch.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t samples_at_once = 16;  // the most samples tuned at once; all their spaces are in memory
constexpr std::size_t samples_nearby = 12;   // each configuration is first timed at this many samples
// At this many samples, all promising configurations (see cross_time()) are timed. The expected losses in the report
// come from these samples, so they do not depend on predictions. At all other samples, only the configurations that are
// predicted to be the fastest are timed.
constexpr std::size_t samples_in_full = 120;
constexpr std::size_t predicted_of_a_sample = 12;  // how many predicted configurations are timed at a sample
constexpr double predicted_within = 1.25;          // their predicted times are at most this many times the shortest
constexpr std::size_t samples_per_fit = 256;       // the models are fitted again after this many samples
// Each part of a build ends when this share of the budget is spent, counted from the start of the build. On an H200
// with 16 cores, tuning tries 16 candidates per second, limited by the compiler. Cross-timing measures 60 to 160 pairs
// of a configuration and a sample per second. It gets the larger part of the budget: most of the loss comes from wrong
// predictions, and more measured times make predictions better. Verification takes some seconds, and the budget does
// not limit it.
constexpr double tuning_share = 0.4;
constexpr double compile_share = 0.5;  // until then, configurations from elsewhere are compiled
constexpr double near_share = 0.58;
constexpr double predicted_share = 0.75;
constexpr double full_share = 0.83;
constexpr double cross_share = 0.92;

std::vector<std::size_t> numbers_to(std::size_t count) {
    std::vector<std::size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

class Builder {
public:
    Builder(const PortfolioRequest& request, const TuneResources& resources, Progress& progress)
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

    // Whether the database has a winner of this problem, from the request's templates and with the verification
    // identity of this run.
    [[nodiscard]] bool is_tuned(const Problem& problem) const {
        const auto row = resources_.store.find(problem);
        const auto best = row ? resources_.store.best(source_.device_row, *row) : std::nullopt;
        if (!best || !best->winner || best->record.verified_by != source_.identity) return false;
        return std::ranges::any_of(request_.templates, [&](const auto& kernel) {
            return kernel.name == best->kernel_template && kernel.is_same_code(best->template_hash);
        });
    }

    // Tunes the samples in spread_order(). If the budget ends early, the samples that are tuned by then are still
    // spread over the whole range of extents.
    void tune_samples() {
        std::vector<Problem> untuned;
        for (const auto i : spread_order(request_.samples)) {
            const auto& problem = request_.samples[i].problem;
            if (!is_tuned(problem)) untuned.push_back(problem);
        }
        if (request_.searches) untuned.resize(std::min(untuned.size(), *request_.searches));
        for (std::size_t first = 0; first < untuned.size() && !resources_.interrupted; first += samples_at_once) {
            const auto last = std::min(untuned.size(), first + samples_at_once);
            TuneRequest tuning;
            tuning.problems = {untuned.begin() + static_cast<std::ptrdiff_t>(first),
                               untuned.begin() + static_cast<std::ptrdiff_t>(last)};
            tuning.templates = request_.templates;
            tuning.evaluations = request_.evaluations;
            tuning.budget = left(tuning_share);
            tuning.shares_budget = false;  // no shares, because a later run does not resume ended searches
            tuning.jobs = request_.jobs;
            tuning.seed = request_.seed;
            tuning.text = request_.text;
            if (tuning.budget && tuning.budget->count() < 1) {
                report_.ended = "budget";
                return;
            }
            const auto tuned = tune(tuning, plan(tuning, resources_.device), resources_, progress_);
            if (tuned.ended != "complete") report_.ended = tuned.ended;
            for (const auto& result : tuned.problems) {
                if (report_.invalid.empty()) report_.invalid = invalid_text(result);
            }
        }
    }

    [[nodiscard]] CrossTimes empty_times() const {
        CrossTimes times;
        const auto& operation = request_.templates.front().operation;
        times.alignment = RowAlignment(operation, request_.samples.front().problem, resources_.device);
        for (const auto& sample : request_.samples) {
            times.counts.push_back(sample.count);
            auto& place = times.places.emplace_back();
            for (const auto& extent : sample.problem.extents) {
                place.push_back(std::log(static_cast<double>(extent.second)));
            }
        }
        for (const auto& entry : entries_) {
            times.groups.push_back(static_cast<std::size_t>(entry.kernel - request_.templates.data()));
            times.found.push_back(entry.found);
            times.won.push_back(entry.won);
        }
        return times;
    }

    [[nodiscard]] Deadline end_at(double share) const {
        if (!request_.budget) return Deadline::max();
        return begin_ + std::chrono::duration_cast<Clock::duration>(share * *request_.budget);
    }

    void choose_and_store() {
        const auto begin = Clock::now();
        entries_ = collect_entries(source_);
        // There is no new portfolio if no sample is tuned, for example because a new driver made all stored trials
        // outdated. The exception is a request without searches, whose portfolio consists of configurations that are
        // known already.
        const bool is_any_tuned = !std::ranges::all_of(entries_, &std::vector<std::size_t>::empty, &Entry::won);
        if (!is_any_tuned && request_.searches != std::size_t{0}) return;
        progress_.begin_part("compiling configurations from elsewhere");
        add_transferred_entries(source_, entries_, end_at(compile_share));
        if (entries_.empty()) return;
        report_.configurations = entries_.size();
        if (resources_.interrupted) return;
        const auto run = resources_.store.start_run({request_.text, {}, {}});
        MeasureContext context{.source = source_, .entries = entries_, .run_row = run};
        auto times = empty_times();
        cross_time(context, times);
        report_.cross_seconds = seconds_since(begin);
        if (!resources_.interrupted) choose(context, times);
        resources_.store.finish_run(run, resources_.interrupted ? "interrupted" : report_.ended);
    }

    // Times every configuration at samples near those where it was found. Then times at every sample the configurations
    // that are predicted to be the fastest there. At some samples, times all promising configurations, which are those
    // that choose_members() chooses for a portfolio 1.5 times as large.
    void cross_time(MeasureContext& context, CrossTimes& times) {
        CrossTimer timer(context, times);
        // Begins a part that ends after a share of the budget. Returns whether the part was cut short.
        const auto is_cut = [&](const std::string& part, double share, const auto& work) {
            progress_.begin_part(part);
            context.deadline = end_at(share);
            work();
            return Clock::now() > context.deadline;
        };
        const auto order = spread_order(request_.samples);
        bool spent = is_cut("cross-timing, near", near_share,
                            [&] { timer.measure(pairs_nearby(times, order, samples_nearby), progress_); });
        spent |= is_cut("cross-timing, predicted", predicted_share,
                        [&] { time_predicted(timer, context, times, numbers_to(times.configurations()), order); });
        const auto promising = choose_members(times, numbers_to(times.problems()), numbers_to(times.configurations()),
                                              request_.size + request_.size / 2);
        SamplePairs in_full(times.problems());
        for (const auto sample : most_frequent(samples_in_full)) in_full[sample] = promising;
        (void)is_cut("cross-timing", full_share, [&] { timer.measure(in_full, progress_); });
        spent |= is_cut("cross-timing, predicted again", cross_share, [&] {
            time_predicted(timer, context, times, promising, order);
            timer.measure(in_full, progress_);  // the pairs for which the earlier part had no time
        });
        report_.counts = timer.counts();
        if (spent) report_.ended = "budget";
        timed_in_full_.resize(times.problems());
        for (std::size_t sample = 0; sample < times.problems(); ++sample)
            timed_in_full_[sample] = timer.is_known(sample, promising);
    }

    // Returns the `count` samples with the highest Sample::count. Of samples with equal counts, takes the first.
    [[nodiscard]] std::vector<std::size_t> most_frequent(std::size_t count) const {
        auto order = numbers_to(request_.samples.size());
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](auto i) { return request_.samples[i].count; });
        return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), count))};
    }

    // Times at each of `samples` the candidates that are predicted to be the fastest there.
    void time_predicted(CrossTimer& timer, const MeasureContext& context, const CrossTimes& times,
                        const std::vector<std::size_t>& candidates, std::span<const std::size_t> samples) {
        for (std::size_t first = 0; first < samples.size() && !context.is_over(); first += samples_per_fit) {
            const auto part = samples.subspan(first, std::min(samples_per_fit, samples.size() - first));
            timer.measure(pairs_predicted(times, part, candidates, predicted_of_a_sample, predicted_within), progress_);
        }
    }

    void choose(MeasureContext& context, const CrossTimes& times) {
        const auto problems = numbers_to(times.problems());
        const auto members = choose_members(times, problems, numbers_to(times.configurations()), request_.size);
        provide_code(source_, entries_, members);
        const auto models = fit_models(times, problems, members);
        for (const auto& left_out : check_left_out(times, request_.size)) {
            const auto& sample = request_.samples[left_out.problem];
            report_.served.push_back(
                {.sample = sample,
                 .kind = kind_of(request_.templates.front().operation, sample.problem, resources_.device),
                 .best_us = times.best_us(left_out.problem),
                 .left_out = timed_in_full_[left_out.problem] ? left_out : LeftOut{.problem = left_out.problem},
                 .searched = is_tuned(sample.problem),
                 .has_loss = timed_in_full_[left_out.problem]});
        }
        progress_.begin_part("verifying");
        const auto begin = Clock::now();
        context.deadline = Clock::time_point::max();  // no deadline, because a fetch uses only verified members
        const auto classes = verify_classes(context, members, progress_);
        report_.verify_seconds = seconds_since(begin);
        if (!resources_.interrupted) store(members, models, classes);
    }

    void store(const std::vector<std::size_t>& members, const std::vector<TimeModel>& models,
               const std::vector<std::set<std::string>>& classes) {
        std::vector<PortfolioMember> records;
        std::vector<BinaryRecord> binaries;
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto& entry = entries_[members[i]];
            if (classes[i].empty() || !entry.binary) {
                ++report_.wrong;
                continue;
            }
            const std::vector<std::string> verified(classes[i].begin(), classes[i].end());
            const auto& resources = entry.binary->resources;
            records.push_back({entry.template_row, entry.configuration, models[i], resources.registers,
                               resources.static_shared_bytes, verified, source_.identity, entry.code_hash});
            binaries.push_back({.kernel_template = entry.template_row,
                                .configuration = entry.configuration,
                                .target = binary_key(resources_.compiler.target(), like_),
                                .compiler = entry.binary->compiler,
                                .code = entry.binary->code,
                                .resources = resources});
            report_.members.push_back(
                {entry.kernel->name, entry.configuration, default_configuration(*entry.kernel), models[i], verified});
        }
        if (records.empty()) return;
        resources_.store.set_portfolio({source_.device_row, like_.operation, like_.type, like_.layout}, records,
                                       binaries);
    }

    const PortfolioRequest& request_;
    const TuneResources& resources_;
    Progress& progress_;
    Clock::time_point begin_ = Clock::now();
    const Problem& like_;
    EntrySource source_;
    std::vector<Entry> entries_;
    std::vector<bool> timed_in_full_;  // of each sample: whether all promising configurations are timed there
    PortfolioReport report_;
};

}  // namespace

PortfolioReport build_portfolio(const PortfolioRequest& request, const TuneResources& resources, Progress& progress) {
    return Builder(request, resources, progress).build();
}

}  // namespace smemtune
