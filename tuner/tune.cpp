#include "tuner/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/selection.h"
#include "tuner/compile_pool.h"
#include "tuner/progress.h"
#include "tuner/search/search.h"

namespace smemtune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_hopeless = 1000;  // configurations of a template that break limits, recorded one by one
constexpr std::size_t most_finalists = 4;
constexpr double final_margin = 0.05;  // within this of the fastest, a candidate is worth measuring again
constexpr int final_rounds = 9;
constexpr double equal_margin = 0.01;       // finalists this close to the fastest are its equals,
constexpr double most_equal_margin = 0.03;  // or closer than its spread, up to this

// What is known of one configuration of one problem while it is tuned.
struct Known {
    const KernelTemplate* kernel_template;
    TrialRecord record;

    [[nodiscard]] const Measurement* measurement() const { return std::get_if<Measurement>(&record.outcome); }
};

// One problem's tuning, from the first proposal to the winner.
class ProblemTuner {
public:
    ProblemTuner(const TuneRequest& request, const Problem& problem, const std::vector<PlannedSpace>& spaces,
                 Tools tools, CompilePool& pool, std::int64_t run, std::int64_t device, Clock::time_point deadline,
                 TuneReport& report, Progress& progress)
        : request_(request),
          problem_(problem),
          tools_(tools),
          pool_(pool),
          run_(run),
          deadline_(deadline),
          report_(report),
          progress_(progress) {
        const auto problem_row = tools_.store.remember(problem);
        for (const auto& [kernel, space] : spaces) {
            const auto row =
                tools_.store.remember(TemplateRecord{kernel->name, kernel->operation.name, kernel->hash, kernel->files},
                                      default_configuration(*kernel));
            lanes_.push_back({kernel,
                              {device, row, problem_row},
                              space,
                              make_search(request.search, {space, request.seed}),
                              request.evaluations.value_or(space->size())});
            if (request.retune) tools_.store.forget(lanes_.back().key);
        }
    }

    ProblemResult run() {
        while (!stopped()) {
            fill_pipeline();
            if (pipeline_.empty()) break;
            auto candidate = std::move(pipeline_.front());
            pipeline_.pop_front();
            finish(candidate);
        }
        if (!stopped()) crown_winner();
        return result();
    }

private:
    // One template's share.
    struct Lane {
        const KernelTemplate* kernel_template;
        TrialKey key;
        std::shared_ptr<const ParameterSpace> space;
        std::unique_ptr<Search> search;
        std::size_t left;
    };
    // Proposed, and being compiled unless the device could not hold it.
    struct InFlight {
        Lane* lane;
        Configuration configuration;
        std::optional<std::string> objection;
        std::shared_future<CompilePool::Result> compiled;
    };

    [[nodiscard]] bool stopped() {
        if (tools_.interrupted)
            report_.ended = "interrupted";
        else if (Clock::now() > deadline_)
            report_.ended = "budget";
        return report_.ended != "complete";
    }

    // Keeps enough compiles in flight that the device does not wait for them.
    void fill_pipeline() {
        const std::size_t depth = 4 * std::size_t{request_.jobs};
        while (pipeline_.size() < depth && lane_ < lanes_.size()) {
            auto& lane = lanes_[lane_];
            auto configuration = lane.left == 0 ? std::nullopt : lane.search->next();
            if (!configuration) {
                ++lane_;
                continue;
            }
            --lane.left;
            if (auto known = tools_.store.recall(lane.key, *configuration)) {
                ++report_.recalled;
                learn(lane, std::move(*known), true);
                continue;
            }
            InFlight proposed{&lane, std::move(*configuration)};
            proposed.objection = limit_broken_by(*lane.kernel_template, proposed.configuration);
            if (!proposed.objection) {
                proposed.compiled = pool_.submit(program_of(*lane.kernel_template, proposed.configuration, problem_));
            }
            pipeline_.push_back(std::move(proposed));
        }
    }

    // By the manifest, before anything is compiled.
    [[nodiscard]] std::optional<std::string> limit_broken_by(const KernelTemplate& kernel,
                                                             const Configuration& configuration) const {
        try {
            return broken_limit(launch_of(kernel, configuration, problem_, tools_.device), tools_.device);
        } catch (const ExpressionError& error) {
            return error.what();  // so far out that its launch does not fit 64 bits
        }
    }

    void finish(const InFlight& candidate) {
        // Another process that tunes into the same database may have been faster.
        if (auto known = tools_.store.recall(candidate.lane->key, candidate.configuration)) {
            ++report_.recalled;
            learn(*candidate.lane, std::move(*known), true);
            return;
        }
        const auto& kernel = *candidate.lane->kernel_template;
        TrialRecord record{.key = candidate.lane->key, .configuration = candidate.configuration, .run = run_};
        if (candidate.objection) {
            record.outcome = Rejection{Stage::limits, *candidate.objection};
        } else if (const auto* rejection = std::get_if<Rejection>(&candidate.compiled.get())) {
            record.outcome = *rejection;
        } else {
            const auto& binary = std::get<Binary>(candidate.compiled.get());
            const auto input = input_of(kernel, candidate.configuration, binary);
            record.resources = binary.resources;
            record.resources.dynamic_shared_bytes = input.launch.dynamic_shared_bytes;
            record.compile_ms = binary.compile_ms;
            if (const auto broken = broken_limit(input.launch, tools_.device)) {
                record.outcome = Rejection{Stage::limits, *broken + " (as compiled)"};
            } else {
                prepare_worker(kernel);
                auto report = tools_.worker.trial(input, best_us_);
                record.outcome = std::move(report.outcome);
                record.verify_ms = report.verify_ms;
                record.time_ms = report.time_ms;
                // A worker that was ended together with this program says nothing about the candidate.
                const auto* lost = std::get_if<Rejection>(&record.outcome);
                if (tools_.interrupted && lost != nullptr && lost->stage == Stage::crash) return;
            }
        }
        tools_.store.remember(record);
        if (const auto* rejection = std::get_if<Rejection>(&record.outcome)) {
            ++report_.rejected[rejection->stage];
            ++report_.reasons[kernel.name + " " + std::string(to_text(rejection->stage)) + ": " + rejection->reason];
        } else {
            ++report_.measured;
        }
        ++new_trials_;
        learn(*candidate.lane, std::move(record), false);
    }

    // The launch as it will be, with what the compiler reported in place of the manifest's estimates.
    [[nodiscard]] TrialInput input_of(const KernelTemplate& kernel, const Configuration& configuration,
                                      const Binary& binary) const {
        TrialInput input{binary, launch_of(kernel, configuration, problem_, tools_.device)};
        if (binary.resources.registers > 0) {
            input.launch.registers = binary.resources.registers;
            input.launch.static_shared_bytes = binary.resources.static_shared_bytes;
        }
        return input;
    }

    // A worker is started, and the problem laid out on the device, only when there is something to try.
    void prepare_worker(const KernelTemplate& kernel) {
        if (prepared_) return;
        tools_.worker.prepare(problem_, kernel.files, compile_workspace(tools_.compiler, kernel, problem_));
        prepared_ = true;
    }

    void learn(Lane& lane, TrialRecord record, bool recalled) {
        const auto* timed = std::get_if<Measurement>(&record.outcome);
        lane.search->observe(record.configuration, timed ? std::optional(timed->median_us) : std::nullopt);
        known_.push_back({lane.kernel_template, std::move(record)});
        if (const auto* measured = known_.back().measurement()) {
            if (best_us_ == 0 || measured->median_us < best_us_) {
                best_us_ = measured->median_us;
                best_text_ = fmt::format("best {} {}, {:.4g} us", lane.kernel_template->name,
                                         to_text(known_.back().record.configuration), best_us_);
            }
        }
        progress_.step(size_text(problem_), best_text_, recalled);
    }

    [[nodiscard]] std::vector<Known*> by_time() {
        std::vector<Known*> measured;
        for (auto& known : known_) {
            if (known.measurement() != nullptr) measured.push_back(&known);
        }
        std::ranges::stable_sort(measured, {}, [](const Known* known) { return known->measurement()->median_us; });
        return measured;
    }

    [[nodiscard]] Known* best_baseline() {
        const auto measured = by_time();
        const auto found =
            std::ranges::find_if(measured, [](const Known* known) { return known->kernel_template->baseline; });
        return found == measured.end() ? nullptr : *found;
    }

    // Finalists are measured again, in turn with one another; of equals, the one that asks for the least wins.
    void crown_winner() {
        auto measured = by_time();
        if (measured.empty()) return;
        const auto& key = measured.front()->record.key;
        const auto champion = tools_.store.best(key.device, key.problem);
        if (new_trials_ == 0 && champion && champion->winner) return;

        const auto limit = measured.front()->measurement()->median_us * (1 + final_margin);
        std::erase_if(measured, [&](const Known* known) { return known->measurement()->median_us > limit; });
        measured.resize(std::min(measured.size(), most_finalists));
        // The baseline plays along: what the winner is compared with was measured beside it.
        if (auto* baseline = best_baseline();
            baseline != nullptr && std::ranges::find(measured, baseline) == measured.end()) {
            measured.push_back(baseline);
        }
        auto inputs = compile_finalists(measured);
        if (measured.empty()) return;
        if (measured.size() > 1) {
            prepare_worker(*measured.front()->kernel_template);
            if (const auto finals = tools_.worker.final_round(inputs, final_rounds)) {
                for (std::size_t i = 0; i < measured.size(); ++i) {
                    measured[i]->record.outcome = (*finals)[i];
                    measured[i]->record.run = run_;
                    tools_.store.remember(measured[i]->record);
                }
            }
        }
        std::vector<std::size_t> order(measured.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        const auto& fastest = *(*std::ranges::min_element(measured, {}, [](const Known* known) {
                                   return known->measurement()->median_us;
                               }))->measurement();
        const auto winner = *std::ranges::min_element(order, [&](std::size_t a, std::size_t b) {
            return better(*measured[a], inputs[a].launch, *measured[b], inputs[b].launch, fastest);
        });
        // An earlier run may have found better: another template, or a configuration not proposed this time.
        if (champion && champion->winner && competes(*champion) &&
            std::get<Measurement>(champion->record.outcome).median_us < measured[winner]->measurement()->median_us) {
            return;
        }
        const auto& best = measured[winner]->record;
        const auto& binary = inputs[winner].binary;
        tools_.store.crown(
            best.key, best.configuration,
            BinaryRecord{best.key.kernel_template, best.configuration, binary_key(binary.target, problem_),
                         binary.compiler, binary.code, best.resources});
        winner_ = measured[winner];
    }

    // One that compiled before and no longer does (another toolkit, a time limit) is rejected, and out.
    [[nodiscard]] std::vector<TrialInput> compile_finalists(std::vector<Known*>& finalists) {
        std::vector<std::shared_future<CompilePool::Result>> compiled;
        compiled.reserve(finalists.size());
        for (const auto* known : finalists) {
            compiled.push_back(
                pool_.submit(program_of(*known->kernel_template, known->record.configuration, problem_)));
        }
        std::vector<TrialInput> inputs;
        std::vector<Known*> left;
        for (std::size_t i = 0; i < finalists.size(); ++i) {
            auto& known = *finalists[i];
            if (const auto* rejection = std::get_if<Rejection>(&compiled[i].get())) {
                known.record.outcome = *rejection;
                known.record.run = run_;
                tools_.store.remember(known.record);
                continue;
            }
            const auto& binary = std::get<Binary>(compiled[i].get());
            inputs.push_back(input_of(*known.kernel_template, known.record.configuration, binary));
            left.push_back(&known);
        }
        finalists = std::move(left);
        return inputs;
    }

    // Strict weak order: finalists within noise of the fastest are equals and ordered by what they ask for.
    static bool better(const Known& a, const Launch& a_launch, const Known& b, const Launch& b_launch,
                       const Measurement& fastest) {
        const auto share = std::clamp(fastest.spread_us / fastest.median_us, equal_margin, most_equal_margin);
        const auto bar = fastest.median_us * (1 + share);
        const auto rank = [&](const Known& known, const Launch& launch) {
            const auto us = known.measurement()->median_us;
            const bool leads = us <= bar;
            return std::tuple(!leads, leads ? 0.0 : us, launch.shared_bytes(), launch.threads(),
                              known.kernel_template->name, to_text(known.record.configuration));
        };
        return rank(a, a_launch) < rank(b, b_launch);
    }

    // Whether an earlier winner stands against what is known here. Not when it is known here, nor when it is an older
    // version of a template that was changed since.
    [[nodiscard]] bool competes(const TrialRow& champion) const {
        const bool superseded = std::ranges::any_of(lanes_, [&](const Lane& lane) {
            return lane.kernel_template->name == champion.kernel_template &&
                   lane.kernel_template->hash != champion.template_hash;
        });
        return !superseded && std::ranges::none_of(known_, [&](const Known& known) {
            return known.record.key == champion.record.key &&
                   known.record.configuration == champion.record.configuration;
        });
    }

    ProblemResult result() {
        ProblemResult result{.problem = problem_};
        const auto& operation = lanes_.front().kernel_template->operation;
        result.operations =
            static_cast<double>(operation.operations.evaluate(environment_of(operation, problem_, tools_.device)));
        const auto measured = by_time();
        if (measured.empty()) return result;
        for (const auto* known : measured) {
            result.best_us.try_emplace(known->kernel_template->name, known->measurement()->median_us);
        }
        if (const auto* baseline = best_baseline()) result.baseline_us = baseline->measurement()->median_us;
        const auto* best = winner_ != nullptr ? winner_ : crowned_earlier(measured);
        result.best = {best->kernel_template->name, best->record.configuration, *best->measurement(),
                       best->record.resources};
        return result;
    }

    [[nodiscard]] const Known* crowned_earlier(const std::vector<Known*>& measured) const {
        const auto& key = measured.front()->record.key;
        const auto champion = tools_.store.best(key.device, key.problem);
        for (const auto* known : measured) {
            if (champion && known->record.key == champion->record.key &&
                known->record.configuration == champion->record.configuration) {
                return known;
            }
        }
        return measured.front();
    }

    const TuneRequest& request_;
    const Problem& problem_;
    Tools tools_;
    CompilePool& pool_;
    std::int64_t run_;
    Clock::time_point deadline_;
    TuneReport& report_;
    Progress& progress_;
    std::vector<Lane> lanes_;
    std::size_t lane_ = 0;  // that proposes next
    std::deque<InFlight> pipeline_;
    std::deque<Known> known_;
    std::size_t new_trials_ = 0;
    bool prepared_ = false;
    double best_us_ = 0;
    std::string best_text_;
    const Known* winner_ = nullptr;
};

// What only the device's limits remove is proposed as well: it costs nothing and is stored as rejected, with its
// reason. Unless there is a lot of it: then it is pruned like everything else, and only counted.
ParameterSpace space_to_search(const KernelTemplate& kernel, const Problem& problem, const Device& device) {
    auto feasible = feasible_space(kernel, problem, device);
    std::uint64_t hopeless = 0;
    for (auto i = kernel.constraints.size(); i < feasible.census().size(); ++i) hopeless += feasible.census()[i].points;
    return hopeless > most_hopeless ? std::move(feasible) : declared_space(kernel, problem, device);
}

// A space's census goes on with the device's limits after the template's own rules.
void count_left_out(const PlannedSpace& planned, TuneReport& report) {
    const auto& kernel = *planned.kernel_template;
    const auto& census = planned.space->census();
    for (auto i = kernel.constraints.size(); i < census.size(); ++i) {
        if (census[i].points > 0) report.left_out[kernel.name + ": " + census[i].constraint.reason] += census[i].points;
    }
}

}  // namespace

std::vector<std::vector<PlannedSpace>> plan(const TuneRequest& request, const Device& device) {
    std::vector<std::vector<PlannedSpace>> spaces;
    for (const auto& problem : request.problems) {
        auto& row = spaces.emplace_back();
        for (const auto& kernel : request.templates) {
            if (!supports(kernel, problem, device)) continue;
            row.push_back({&kernel, std::make_shared<ParameterSpace>(space_to_search(kernel, problem, device))});
        }
        if (row.empty()) {
            std::string names;
            for (const auto& kernel : request.templates) names += " " + kernel.name;
            throw std::invalid_argument("no template can compute " + to_text(problem) + " on " + device.name +
                                        "; looked at:" + names + "; see 'smemtune templates'");
        }
        // A good candidate early lets the others be cut short.
        std::ranges::stable_sort(row, std::ranges::greater{}, [&](const PlannedSpace& planned) {
            const auto& kernel = *planned.kernel_template;
            return reuse_of(kernel, default_configuration(kernel), problem, device).operations_per_load();
        });
    }
    return spaces;
}

TuneReport tune(const TuneRequest& request, const std::vector<std::vector<PlannedSpace>>& spaces, Tools tools,
                Progress& progress) {
    const auto begin = Clock::now();
    const auto deadline = request.budget ? begin + *request.budget : Clock::time_point::max();
    TuneReport report{.device = tools.device};
    for (const auto& row : spaces) {
        for (const auto& planned : row) {
            report.planned += std::min(request.evaluations.value_or(planned.space->size()), planned.space->size());
            count_left_out(planned, report);
        }
    }
    const auto device = tools.store.remember(tools.device);
    const nlohmann::json policy{{"checks", "whole output on every check of the operation"},
                                {"operands", "rotate over twice the L2, in up to 64 sets"},
                                {"batches", "one graph of launches between two events"},
                                {"sampling", tools.sampling},
                                {"finalists", most_finalists},
                                {"final_rounds", final_rounds}};
    const nlohmann::json versions{{"smemtune", SMEMTUNE_VERSION},
                                  {"compiler", tools.compiler.version()},
                                  {"platform", platform_versions(tools.device)}};
    const auto run = tools.store.start_run({request.text, policy.dump(), versions.dump()});
    {
        CompilePool pool(tools.compiler, request.jobs);
        for (std::size_t i = 0; i < request.problems.size() && report.ended == "complete"; ++i) {
            ProblemTuner tuner(request, request.problems[i], spaces[i], tools, pool, run, device, deadline, report,
                               progress);
            report.problems.push_back(tuner.run());
        }
    }
    report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    tools.store.finish_run(run, report.ended);
    return report;
}

}  // namespace smemtune
