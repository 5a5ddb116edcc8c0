#include "tuner/problem/search_pipeline.h"

#include <algorithm>

#include "runtime/backend.h"
#include "templates/launch/limits.h"

namespace smemtune {

SearchPipeline::SearchPipeline(const TuneRun& run, const Problem& problem, TrialLedger& ledger,
                               const Operation& operation, Effort& effort)
    : run_(run), problem_(problem), ledger_(ledger), operation_(operation), effort_(effort) {}

std::size_t SearchPipeline::fill(std::size_t most, const Source& source) {
    while (waiting_.size() < most && wants_more()) {
        auto candidate = source();
        if (!candidate) break;
        submit(std::move(*candidate));
    }
    return waiting_.size();
}

std::size_t SearchPipeline::fill_with_unverified(std::size_t most) {
    while (waiting_.size() < most) {
        auto candidate = ledger_.next_unverified();
        if (!candidate) break;
        submit(std::move(*candidate));
    }
    return waiting_.size();
}

void SearchPipeline::drop_ended() {
    const auto best = ledger_.best_cost();
    std::erase_if(waiting_, [&](const Proposal& candidate) {
        if (candidate.search->is_used_up() || candidate.search->is_open(best)) return false;
        candidate.search->give_back(candidate.configuration);
        return true;
    });
}

void SearchPipeline::submit(TemplateConfiguration candidate) {
    auto& search = *candidate.search;
    // The candidate may have been tried before: in the sweep of the run-time parameters, or by another process.
    if (ledger_.recall(search, candidate.configuration)) return;
    const auto& kernel = search.kernel_template();
    auto record = record_of(candidate);
    // The manifest's estimates may reject a candidate before it is compiled.
    try {
        const auto launch = launch_of(kernel, candidate.configuration, problem_, run_.resources.device);
        if (auto broken = broken_limit(launch, run_.resources.device)) {
            record.outcome = Rejection{Stage::limits, *broken};
        }
    } catch (const ExpressionError& error) {  // a value of the launch overflows 64 bits
        record.outcome = Rejection{Stage::limits, error.what()};
    }
    if (std::holds_alternative<Rejection>(record.outcome)) {
        ledger_.add(search, std::move(record));
        return;
    }
    const auto program = program_of(kernel, candidate.configuration, problem_);
    Proposal proposal{.search = &search, .configuration = std::move(candidate.configuration)};
    proposal.compiled_before = run_.pool.was_asked_for(program);
    proposal.compiled = run_.pool.submit(program);
    waiting_.push_back(std::move(proposal));
}

std::deque<Proposal>::iterator SearchPipeline::next_for(std::size_t workers) {
    const auto compiled = workers > 1 ? std::ranges::find_if(waiting_, &Proposal::is_compiled) : waiting_.begin();
    return compiled == waiting_.end() ? waiting_.begin() : compiled;
}

std::optional<Proposal> SearchPipeline::take(std::size_t workers) {
    if (waiting_.empty()) return std::nullopt;
    const auto next = next_for(workers);
    auto proposal = std::move(*next);
    waiting_.erase(next);
    ++taken_;
    return proposal;
}

bool SearchPipeline::is_ready(std::size_t workers) { return next_for(workers)->is_compiled(); }

bool SearchPipeline::settle_without_trial(const Proposal& candidate) {
    const auto* compiled = candidate.binary();
    if (compiled != nullptr && !candidate.compiled_before) effort_.compile += compiled->compile_ms * 1e-3;
    auto& search = *candidate.search;
    // Another process with the same database may have tried the candidate already.
    if (ledger_.recall(search, candidate.configuration)) {
        --taken_;
        return true;
    }
    auto record = record_of({&search, candidate.configuration});
    bool verified = false;
    if (compiled == nullptr) {
        record.outcome = std::get<Rejection>(candidate.compiled.get());
    } else {
        const auto input = candidate.input(problem_, run_.resources.device);
        record = record_of(candidate, input);
        const auto* equal = ledger_.equal_code(input);
        if (const auto broken = broken_limit(input.launch, run_.resources.device)) {
            record.outcome = Rejection{Stage::limits, *broken};
        } else if (equal != nullptr) {
            record.outcome = equal->record.outcome;
            verified = !equal->record.verified_by.empty();
            ++run_.report.same_code;
        } else {
            return false;
        }
    }
    ledger_.sign(record, compiled, verified);
    --taken_;
    ledger_.add(search, std::move(record));
    return true;
}

bool SearchPipeline::needs_only_verification(const Proposal& candidate) const {
    return ledger_.timed_before(*candidate.search, candidate.configuration, code_hash_of(*candidate.binary()))
        .has_value();
}

void SearchPipeline::finish(const Proposal& candidate, const TrialReport& report) {
    --taken_;
    const auto input = candidate.input(problem_, run_.resources.device);
    auto record = record_of(candidate, input);
    record.outcome = report.outcome;
    record.verify_ms = report.verify_ms;
    record.time_ms = report.time_ms;
    ledger_.sign(record, &input.binary, report.verified);
    const auto before = ledger_.timed_before(*candidate.search, candidate.configuration, record.code_hash);
    const bool timed = !before || !record.is_verified();
    if (!timed) {
        record.outcome = before->outcome;
        record.time_ms = before->time_ms;
    }
    effort_.verify += report.verify_ms * 1e-3;
    effort_.time += report.time_ms * 1e-3;
    const auto& trial = ledger_.add(*candidate.search, std::move(record), timed);
    const auto* measured = trial.measurement();
    if (measured == nullptr) return;
    ledger_.index_code(input, trial);
    if (run_.request.objective == Objective::energy && !measured->cut_short && measured->energy_uj <= 0) {
        throw DeviceError(run_.resources.device.name +
                          " does not report the energy of a launch (NVML's counter: compute capability 7.0 and up, "
                          "the whole GPU, launches of less than 3 s); tune for --objective time");
    }
}

void SearchPipeline::give_back(Proposal candidate) {
    --taken_;
    waiting_.push_front(std::move(candidate));
}

bool SearchPipeline::is_full() const {
    return ledger_.trials().size() + waiting_.size() + taken_ >= run_.request.evaluations.value_or(SIZE_MAX);
}

bool SearchPipeline::is_good_enough() const {
    const auto peak = peak_fp32_flops(run_.resources.device);
    if (!run_.request.roofline || peak <= 0 || !ledger_.best_us()) return false;
    const auto operations = operation_.operations.evaluate(environment_of(operation_, problem_, run_.resources.device));
    return static_cast<double>(operations) / (*ledger_.best_us() * 1e-6) >= *run_.request.roofline * peak;
}

TrialRecord SearchPipeline::record_of(const TemplateConfiguration& candidate) const {
    return {.key = candidate.search->key(), .configuration = candidate.configuration, .run = run_.run_row};
}

// Returns the record of a compiled candidate. `input.launch` has the compiler's figures in place of the manifest's
// estimates.
TrialRecord SearchPipeline::record_of(const Proposal& candidate, const TrialInput& input) const {
    auto record = record_of({candidate.search, candidate.configuration});
    record.resources = input.binary.resources;
    record.resources.dynamic_shared_bytes = input.launch.dynamic_shared_bytes;
    record.compile_ms = input.binary.compile_ms;
    return record;
}

}  // namespace smemtune
