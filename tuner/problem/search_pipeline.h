// The candidates of one problem between their proposal and their outcome.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "tuner/candidates/proposal.h"
#include "tuner/problem/trial_ledger.h"

namespace smemtune {

/// Keeps enough compiles in flight that the device does not wait for them, hands compiled candidates to workers, and
/// enters their outcomes into the ledger.
class SearchPipeline {
public:
    /// The next candidate to compile; nothing when there is none now.
    using Source = std::function<std::optional<TemplateConfiguration>()>;

    /// Adds its times to `effort`. All arguments must outlive the pipeline.
    SearchPipeline(const TuneRun& run, const Problem& problem, TrialLedger& ledger, const Operation& operation,
                   Effort& effort);

    /// Submits candidates of `source` until `most` wait, and gives how many do.
    std::size_t fill(std::size_t most, const Source& source);
    /// Gives a candidate to the compiler, unless its outcome is stored or it breaks a limit of the device.
    void submit(TemplateConfiguration candidate);
    /// Drops everything that waits.
    void clear() { waiting_.clear(); }

    /// The next candidate for one of `workers`. One worker alone gets them in the order of their proposal. Several get
    /// a compiled one first: a program may take ten times as long to compile as those proposed after it, and their
    /// outcomes arrive in no order anyway.
    std::optional<Proposal> take(std::size_t workers);
    /// Whether the candidate that take() would give is compiled. Precondition: not empty.
    [[nodiscard]] bool is_ready(std::size_t workers);
    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    /// Candidates that workers have.
    [[nodiscard]] std::size_t taken() const { return taken_; }

    /// Finishes a compiled candidate without a trial where that is possible: its outcome is stored meanwhile, the
    /// compiler refused it, it breaks a limit, or its machine code was timed already.
    bool settle_without_trial(const Proposal& candidate);
    void finish(const Proposal& candidate, const TrialReport& report);
    /// The worker was lost before it began.
    void give_back(Proposal candidate);

    /// Whether another candidate may be proposed: within the limit of evaluations, and not fast enough yet.
    [[nodiscard]] bool wants_more() const { return !is_good_enough() && !is_full(); }
    /// Whether known, waiting and taken candidates reach the request's limit of evaluations.
    [[nodiscard]] bool is_full() const;
    /// Whether the best reaches the request's share of the device's peak.
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
