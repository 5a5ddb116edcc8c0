#include "tuner/portfolio/measure.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "tuner/report/progress.h"
#include "tuner/report/text.h"
#include "tuner/trial/testbed.h"
#include "tuner/trial/trial.h"

namespace smemtune {

namespace {

// Cross-timing uses shorter and fewer batches than a search. To fit models, many measured times are better than few
// precise ones, and losses of a percent matter little.
constexpr double cross_batch_us = 600;
constexpr double cross_spread = 0.02;

}  // namespace

bool MeasureContext::is_over() const {
    return source.resources.interrupted || std::chrono::steady_clock::now() > deadline;
}

void on_workers(const MeasureContext& context, const std::vector<Problem>& problems,
                const std::function<void(Worker&, std::size_t)>& work) {
    if (problems.empty() || context.entries.empty()) return;
    const auto& kernel = *context.entries.front().kernel;
    const auto testbed = compile_testbed(context.source.resources.compiler, kernel, problems.front());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    std::vector<std::jthread> threads;
    for (auto* worker : context.source.resources.workers) {
        threads.emplace_back([&, worker] {
            try {
                for (auto i = next++; i < problems.size() && !context.is_over(); i = next++) {
                    worker->select(problems[i], kernel.files, testbed);
                    work(*worker, i);
                    worker->allow_eviction(problems[i]);
                }
            } catch (...) {
                const std::scoped_lock lock(mutex);
                if (!failure) failure = std::current_exception();
                next = problems.size();
            }
            worker->release();
        });
    }
    threads.clear();
    if (failure) std::rethrow_exception(failure);
}

TrialInput input_of(const MeasureContext& context, const Entry& entry, const Problem& problem) {
    return trial_input(*entry.kernel, entry.configuration, problem, context.source.resources.device,
                       entry.binary.value());
}

void store_trial(const MeasureContext& context, const Entry& entry, std::int64_t problem_row,
                 const TrialReport& report) {
    const bool rejected = std::holds_alternative<Rejection>(report.outcome);
    const auto& source = context.source;
    source.resources.store.remember({.key = {source.device_row, entry.template_row, problem_row},
                                     .configuration = entry.configuration,
                                     .outcome = report.outcome,
                                     .resources = entry.binary.value().resources,
                                     .compile_ms = entry.binary->compile_ms,
                                     .verify_ms = report.verify_ms,
                                     .time_ms = report.time_ms,
                                     .run = context.run_row,
                                     .verified_by = report.verified || rejected ? source.identity : "",
                                     .code_hash = entry.code_hash,
                                     .toolchain = source.toolchain});
}

CrossTimer::CrossTimer(const MeasureContext& context, CrossTimes& times)
    : context_(context), times_(times), best_us_(context.source.samples.size(), 0) {
    const auto& source = context.source;
    times_.cells.assign(source.samples.size(), std::vector<CrossTimes::Cell>(context.entries.size()));
    states_.assign(source.samples.size(), std::vector<State>(context.entries.size(), State::not_valid));
    for (std::size_t sample = 0; sample < source.samples.size(); ++sample) {
        problem_rows_.push_back(source.resources.store.remember(source.samples[sample].problem));
        recall(sample);
    }
    remove_wrong();
}

void CrossTimer::recall(std::size_t sample) {
    const auto& source = context_.source;
    std::map<std::int64_t, std::map<std::string, TrialRecord>> known;  // trials by template, then by configuration
    for (std::size_t i = 0; i < context_.entries.size(); ++i) {
        const auto& entry = context_.entries[i];
        const auto terms = entry.bound.terms(source.samples[sample].problem);
        if (!terms) continue;
        times_.cells[sample][i].terms = *terms;
        states_[sample][i] = State::unknown;
        auto trials = known.find(entry.template_row);
        if (trials == known.end()) {
            trials = known.emplace(entry.template_row, std::map<std::string, TrialRecord>{}).first;
            for (auto& record :
                 source.resources.store.trials({source.device_row, entry.template_row, problem_rows_[sample]})) {
                auto text = to_text(record.configuration);
                trials->second.emplace(std::move(text), std::move(record));
            }
        }
        const auto found = trials->second.find(to_text(entry.configuration));
        if (found == trials->second.end()) continue;
        const auto& record = found->second;
        const auto* measured = std::get_if<Measurement>(&record.outcome);
        // A stored measurement is used if it has the entry's machine code. A stored rejection is used if it has this
        // run's verification identity.
        const bool counts = measured != nullptr ? record.code_hash == entry.code_hash
                                                : record.verified_by == source.identity;  // the record is a rejection
        if (!counts) continue;
        states_[sample][i] = State::known;
        ++counts_.recalled;
        if (measured != nullptr) {
            learn(sample, i, *measured);
        } else {
            reject(i, std::get<Rejection>(record.outcome));
        }
    }
}

void CrossTimer::learn(std::size_t sample, std::size_t entry, const Measurement& measured) {
    times_.cells[sample][entry].us = measured.median_us;
    auto& best = best_us_[sample];
    if (!measured.cut_short && (best == 0 || measured.median_us < best)) best = measured.median_us;
}

void CrossTimer::reject(std::size_t entry, const Rejection& rejection) {
    if (rejection.stage == Stage::wrong || rejection.stage == Stage::crash) wrong_.insert(entry);
}

void CrossTimer::remove_wrong() {
    for (const auto entry : wrong_) {
        for (auto& row : times_.cells) row[entry].us = 0;
    }
}

void CrossTimer::measure(Worker& worker, std::size_t sample, std::size_t i) {
    const auto& entry = context_.entries[i];
    const auto best = best_us_[sample] > 0 ? std::optional(best_us_[sample]) : std::nullopt;
    constexpr double only_first_check = 0;  // no trial is faster than 0 us, so none runs the other checks
    auto sampling = context_.source.resources.sampling;
    sampling.batch_us = std::min(sampling.batch_us, cross_batch_us);
    sampling.steady_spread = std::max(sampling.steady_spread, cross_spread);
    const auto report = worker.trial(input_of(context_, entry, context_.source.samples[sample].problem), best,
                                     only_first_check, sampling, budget_limit(context_.deadline));
    if (report.unfinished) return;
    const std::scoped_lock lock(mutex_);
    store_trial(context_, entry, problem_rows_[sample], report);
    states_[sample][i] = State::known;
    ++counts_.measured;
    if (const auto* measured = std::get_if<Measurement>(&report.outcome)) {
        learn(sample, i, *measured);
    } else {
        ++counts_.rejected;
        reject(i, std::get<Rejection>(report.outcome));
    }
}

bool CrossTimer::is_known(std::size_t sample, const std::vector<std::size_t>& entries) const {
    return std::ranges::none_of(entries, [&](std::size_t i) { return states_[sample][i] == State::unknown; });
}

void CrossTimer::measure(const SamplePairs& pairs, Progress& progress) {
    std::set<std::size_t> needed;
    for (std::size_t sample = 0; sample < pairs.size(); ++sample) {
        for (const auto i : pairs[sample]) {
            if (states_[sample][i] == State::unknown) needed.insert(i);
        }
    }
    provide_code(context_.source, context_.entries, {needed.begin(), needed.end()}, context_.deadline);
    std::vector<std::size_t> open;  // the samples that have an entry to time
    std::vector<Problem> problems;
    SamplePairs untried(pairs.size());
    // spread_order() is used, because the samples that are timed before a deadline then cover the whole range of
    // extents.
    for (const auto sample : spread_order(context_.source.samples)) {
        for (const auto i : pairs[sample]) {
            if (states_[sample][i] == State::unknown && context_.entries[i].binary) untried[sample].push_back(i);
        }
        if (untried[sample].empty()) continue;
        open.push_back(sample);
        problems.push_back(context_.source.samples[sample].problem);
    }
    on_workers(context_, problems, [&](Worker& worker, std::size_t i) {
        const auto sample = open[i];
        for (const auto entry : untried[sample]) {
            if (context_.is_over()) return;
            measure(worker, sample, entry);
            progress.step(size_text(problems[i]), {best_us_[sample] > 0 ? time_text(best_us_[sample]) : "", ""}, false);
        }
    });
    remove_wrong();
}

}  // namespace smemtune
