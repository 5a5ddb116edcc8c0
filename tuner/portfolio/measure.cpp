#include "tuner/portfolio/measure.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>

#include "tuner/report/progress.h"
#include "tuner/report/text.h"
#include "tuner/trial/trial.h"
#include "tuner/worker/worker.h"

namespace smemtune {

namespace {

bool is_over(const MeasureContext& context) {
    return context.resources.interrupted || std::chrono::steady_clock::now() > context.deadline;
}

// Calls work(worker, i) for each problem, on one thread for each worker. Rethrows the first exception.
void on_workers(const MeasureContext& context, const std::vector<Problem>& problems,
                const std::function<void(Worker&, std::size_t)>& work) {
    if (problems.empty() || context.entries.empty()) return;
    const auto& kernel = *context.entries.front().kernel;
    const auto testbed = compile_testbed(context.resources.compiler, kernel, problems.front());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    std::vector<std::jthread> threads;
    for (auto* worker : context.resources.workers) {
        threads.emplace_back([&, worker] {
            try {
                for (auto i = next++; i < problems.size() && !is_over(context); i = next++) {
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
    return trial_input(*entry.kernel, entry.configuration, problem, context.resources.device, entry.binary);
}

void store_trial(const MeasureContext& context, const Entry& entry, std::int64_t problem_row,
                 const TrialReport& report) {
    const bool rejected = std::holds_alternative<Rejection>(report.outcome);
    context.resources.store.remember({.key = {context.device_row, entry.template_row, problem_row},
                                      .configuration = entry.configuration,
                                      .outcome = report.outcome,
                                      .resources = entry.binary.resources,
                                      .compile_ms = entry.binary.compile_ms,
                                      .verify_ms = report.verify_ms,
                                      .time_ms = report.time_ms,
                                      .run = context.run_row,
                                      .verified_by = report.verified || rejected ? context.identity : "",
                                      .code_hash = entry.code_hash,
                                      .toolchain = context.toolchain});
}

// One problem of the table: what is known from the store, then what is measured.
class Row {
public:
    Row(const MeasureContext& context, std::size_t sample, std::mutex& store_mutex)
        : context_(context),
          problem_(context.samples[sample].problem),
          store_mutex_(store_mutex),
          problem_row_([&] {
              const std::scoped_lock lock(store_mutex);
              return context.resources.store.remember(problem_);
          }()),
          cells_(context.entries.size()) {
        const std::scoped_lock lock(store_mutex_);
        for (std::size_t i = 0; i < context.entries.size(); ++i) recall(i);
    }

    [[nodiscard]] const std::vector<std::size_t>& untried() const { return untried_; }

    void measure(Worker& worker, std::size_t i) {
        const auto& entry = context_.entries[i];
        const auto report = worker.trial(input_of(context_, entry, problem_), best_us_, best_us_);
        const std::scoped_lock lock(store_mutex_);
        store_trial(context_, entry, problem_row_, report);
        if (const auto* measured = std::get_if<Measurement>(&report.outcome)) {
            learn(i, *measured);
        } else {
            ++counts_.rejected;
        }
        ++counts_.measured;
    }

    void give(std::vector<CrossTimes::Cell>& cells, MeasureCounts& counts) const {
        cells = cells_;
        counts.measured += counts_.measured;
        counts.recalled += counts_.recalled;
        counts.rejected += counts_.rejected;
    }
    [[nodiscard]] std::optional<double> best_us() const { return best_us_; }

private:
    void recall(std::size_t i) {
        const auto& entry = context_.entries[i];
        const auto terms = entry.bound.terms(problem_);
        if (!terms) return;
        cells_[i].terms = *terms;
        const auto known = context_.resources.store.recall({context_.device_row, entry.template_row, problem_row_},
                                                           entry.configuration);
        const auto* measured = known ? std::get_if<Measurement>(&known->outcome) : nullptr;
        const bool same_code = known && known->code_hash == entry.code_hash;
        if (measured != nullptr && same_code) {
            learn(i, *measured);
            ++counts_.recalled;
        } else if (known && measured == nullptr && known->verified_by == context_.identity) {
            ++counts_.recalled;  // known not to be right, or not to run
        } else {
            untried_.push_back(i);
        }
    }

    void learn(std::size_t i, const Measurement& measured) {
        cells_[i].us = measured.median_us;
        if (!measured.cut_short) best_us_ = std::min(best_us_.value_or(measured.median_us), measured.median_us);
    }

    const MeasureContext& context_;
    const Problem& problem_;
    std::mutex& store_mutex_;
    std::int64_t problem_row_;
    std::vector<CrossTimes::Cell> cells_;
    std::vector<std::size_t> untried_;
    std::optional<double> best_us_;
    MeasureCounts counts_;
};

double bytes_of(const MeasureContext& context, const Problem& problem) {
    const auto& operation = context.entries.front().kernel->operation;
    return static_cast<double>(operation.bytes.evaluate(environment_of(operation, problem, context.resources.device)));
}

// The problem with its extents raised into a class: multiples of 16 bytes, or not.
Problem moved_into(Problem problem, const std::string& wanted, std::int64_t element_bytes) {
    const auto unit = std::max<std::int64_t>(1, 16 / element_bytes);
    for (std::size_t i = 0; i < problem.extents.size(); ++i) {
        auto& extent = problem.extents[i].second;
        const bool multiple = extent % unit == 0;
        if (wanted[i] == '1' && !multiple) extent = (extent + unit - 1) / unit * unit;
        if (wanted[i] == '0' && multiple) ++extent;
    }
    return problem;
}

std::vector<std::string> all_classes(std::size_t extents) {
    std::vector<std::string> classes{""};
    for (std::size_t i = 0; i < extents; ++i) {
        std::vector<std::string> longer;
        for (const auto& each : classes) {
            longer.push_back(each + '0');
            longer.push_back(each + '1');
        }
        classes = std::move(longer);
    }
    return classes;
}

// Which entries to verify at which problem.
using VerificationPlan = std::map<Problem, std::vector<std::size_t>>;

VerificationPlan plan_verification(const MeasureContext& context, const std::vector<std::size_t>& members) {
    std::vector<const Problem*> smallest_first;
    for (const auto& sample : context.samples) smallest_first.push_back(&sample.problem);
    std::ranges::stable_sort(smallest_first, {}, [&](const auto* problem) { return bytes_of(context, *problem); });
    const auto element_bytes = element_type(context.samples.front().problem.type).bytes;
    VerificationPlan plan;
    for (const auto member : members) {
        const auto& bound = context.entries[member].bound;
        for (const auto& wanted : all_classes(context.samples.front().problem.extents.size())) {
            std::optional<Problem> chosen;
            for (const bool move : {false, true}) {
                for (const auto* problem : smallest_first) {
                    if (chosen) break;
                    const auto candidate = move ? moved_into(*problem, wanted, element_bytes) : *problem;
                    if (problem_class(candidate, element_bytes) == wanted && bound.terms(candidate)) chosen = candidate;
                }
            }
            if (chosen) plan[*chosen].push_back(member);
        }
    }
    return plan;
}

}  // namespace

MeasureCounts cross_time(const MeasureContext& context, Progress& progress, CrossTimes& times) {
    MeasureCounts counts;
    times.cells.assign(context.samples.size(), {});
    std::mutex store_mutex;
    std::vector<Row> rows;
    std::vector<std::size_t> open;  // the samples with something to measure
    std::vector<Problem> problems;
    rows.reserve(context.samples.size());
    for (std::size_t i = 0; i < context.samples.size(); ++i) {
        if (!rows.emplace_back(context, i, store_mutex).untried().empty()) {
            open.push_back(i);
            problems.push_back(context.samples[i].problem);
        }
    }
    on_workers(context, problems, [&](Worker& worker, std::size_t i) {
        auto& row = rows[open[i]];
        for (const auto entry : row.untried()) {
            if (is_over(context)) return;
            row.measure(worker, entry);
            progress.step(size_text(problems[i]), {row.best_us() ? time_text(*row.best_us()) : "", ""}, false);
        }
    });
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].give(times.cells[i], counts);
    return counts;
}

std::vector<std::set<std::string>> verify_classes(const MeasureContext& context,
                                                  const std::vector<std::size_t>& members, Progress& progress) {
    std::vector<std::set<std::string>> classes(context.entries.size());
    if (members.empty()) return {};
    const auto plan = plan_verification(context, members);
    const auto element_bytes = element_type(context.samples.front().problem.type).bytes;
    std::vector<Problem> problems;
    for (const auto& [problem, ignored] : plan) problems.push_back(problem);
    std::set<std::size_t> wrong;
    std::mutex mutex;
    on_workers(context, problems, [&](Worker& worker, std::size_t i) {
        for (const auto member : plan.at(problems[i])) {
            if (is_over(context)) return;
            const auto report = worker.verify(input_of(context, context.entries[member], problems[i]));
            progress.step(size_text(problems[i]), {}, false);
            const std::scoped_lock lock(mutex);
            if (report.verified) {
                classes[member].insert(problem_class(problems[i], element_bytes));
            } else {
                wrong.insert(member);
                const auto problem_row = context.resources.store.remember(problems[i]);
                store_trial(context, context.entries[member], problem_row, report);
            }
        }
    });
    for (const auto member : wrong) classes[member].clear();
    std::vector<std::set<std::string>> result;
    result.reserve(members.size());
    for (const auto member : members) result.push_back(classes[member]);
    return result;
}

}  // namespace smemtune
