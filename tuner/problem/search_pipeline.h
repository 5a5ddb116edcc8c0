// Holds the candidates of one problem between proposal and outcome.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "tuner/candidates/proposal.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

/// Submits candidates to the compiler early, so that the device need not wait for programs. Hands compiled candidates
/// to workers, and records the outcomes in the ledger.
class SearchPipeline {
public:
    /// Returns the next candidate to compile; nothing if there is none at the moment.
    using Source = std::function<std::optional<TemplateConfiguration>()>;

    /// The pipeline adds the times of compiles and trials to `effort`. All arguments must outlive the pipeline.
    SearchPipeline(const TuneRun& run, const Problem& problem, TrialLedger& ledger, const Operation& operation,
                   Effort& effort);

    /// Submits candidates from `source` until `most` candidates wait for a worker. Returns how many wait.
    std::size_t fill(std::size_t most, const Source& source);
    /// Submits stored trials that are to be tried again, until `most` candidates wait for a worker. Returns how many
    /// wait.
    std::size_t fill_with_unverified(std::size_t most);
    /// Submits a candidate to the compiler, unless its outcome is stored or it exceeds a limit of the device.
    void submit(TemplateConfiguration candidate);
    /// If the search of a template ended because further gain is unlikely, drops the template's waiting candidates. If
    /// the search ended because its space is used up, the candidates stay.
    void drop_ended();
    /// Drops all waiting candidates.
    void clear() { waiting_.clear(); }

    /// Returns the next candidate for one of `workers` workers. A single worker gets the candidates in the order of
    /// proposal. With several workers, compiled candidates come first, because one program may take ten times as long
    /// to compile as the programs after it. The outcomes of several workers arrive out of order anyway.
    std::optional<Proposal> take(std::size_t workers);
    /// Whether the candidate that take() would return is compiled. Precondition: not empty().
    [[nodiscard]] bool is_ready(std::size_t workers);
    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    /// The number of candidates that workers have taken and not finished.
    [[nodiscard]] std::size_t taken() const { return taken_; }

    /// Finishes a compiled candidate without a trial if possible. It is possible in four cases: another process has
    /// stored the outcome, the compiler rejected the program, the candidate exceeds a limit, or a trial had the same
    /// machine code. Returns false in all other cases.
    bool settle_without_trial(const Proposal& candidate);
    /// Whether a compiled candidate must be verified but not timed, because an earlier run timed the same machine code.
    [[nodiscard]] bool needs_only_verification(const Proposal& candidate) const;
    void finish(const Proposal& candidate, const TrialReport& report);
    /// Drops a candidate that take() returned. Its outcome stays unknown.
    void abandon() { --taken_; }
    /// Takes back a candidate whose worker was lost before the trial began.
    void give_back(Proposal candidate);

    /// Whether another candidate may be proposed: neither is_full() nor is_good_enough() is true.
    [[nodiscard]] bool wants_more() const { return !is_good_enough() && !is_full(); }
    /// Whether the number of candidates that are tried, waiting or taken has reached the request's limit of
    /// evaluations.
    [[nodiscard]] bool is_full() const;
    /// Whether the best candidate reaches the requested share of the device's peak arithmetic.
    [[nodiscard]] bool is_good_enough() const;

private:
    [[nodiscard]] std::deque<Proposal>::iterator next_for(std::size_t workers);
    [[nodiscard]] TrialRecord record_of(const TemplateConfiguration& candidate) const;
    [[nodiscard]] TrialRecord record_of(const Proposal& candidate, const TrialInput& input) const;

    const TuneRun& run_;
    const Problem& problem_;
    TrialLedger& ledger_;
    const Operation& operation_;
    Effort& effort_;
    std::deque<Proposal> waiting_;
    std::size_t taken_ = 0;
};

}  // namespace smemtune
