// Holds the candidates of one problem between proposal and outcome.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "tuner/candidates/proposal.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

/// Keeps enough compiles in flight that the device need not wait for them, hands compiled candidates to workers, and
/// records their outcomes in the ledger.
class SearchPipeline {
public:
    /// The next candidate to compile; nothing if there is none at the moment.
    using Source = std::function<std::optional<TemplateConfiguration>()>;

    /// Adds the times that it measures to `effort`. All arguments must outlive the pipeline.
    SearchPipeline(const TuneRun& run, const Problem& problem, TrialLedger& ledger, const Operation& operation,
                   Effort& effort);

    /// Submits candidates from `source` until `most` wait. Returns how many wait.
    std::size_t fill(std::size_t most, const Source& source);
    /// Submits the stored trials that are to be tried again until `most` wait. Returns how many wait.
    std::size_t fill_with_unverified(std::size_t most);
    /// Submits a candidate to the compiler, unless its outcome is stored or it breaks a limit of the device.
    void submit(TemplateConfiguration candidate);
    /// Drops the waiting candidates of searches that ended before their space was used up. No gain is likely from them.
    void drop_ended();
    /// Drops all waiting candidates.
    void clear() { waiting_.clear(); }

    /// The next candidate for one of `workers`. A single worker gets them in the order of proposal. Several workers get
    /// compiled ones first: one program may take ten times as long to compile as the programs after it, and with
    /// several workers outcomes arrive out of order anyway.
    std::optional<Proposal> take(std::size_t workers);
    /// Whether the candidate that take() would give is compiled. Precondition: not empty.
    [[nodiscard]] bool is_ready(std::size_t workers);
    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    /// The number of candidates that workers have.
    [[nodiscard]] std::size_t taken() const { return taken_; }

    /// Finishes a compiled candidate without a trial if possible: another process has stored its outcome, the compiler
    /// refused it, it breaks a limit, or its machine code was timed before.
    bool settle_without_trial(const Proposal& candidate);
    /// Whether a compiled candidate was timed before with this machine code, so that it need only be verified.
    [[nodiscard]] bool needs_only_verification(const Proposal& candidate) const;
    void finish(const Proposal& candidate, const TrialReport& report);
    /// Takes back a candidate whose worker was lost before the trial began.
    void give_back(Proposal candidate);

    /// Whether another candidate may be proposed: the limit of evaluations is not reached, and the best is not good
    /// enough.
    [[nodiscard]] bool wants_more() const { return !is_good_enough() && !is_full(); }
    /// Whether the candidates that are tried, waiting or taken reach the request's limit of evaluations.
    [[nodiscard]] bool is_full() const;
    /// Whether the best candidate reaches the request's share of the device's peak.
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
