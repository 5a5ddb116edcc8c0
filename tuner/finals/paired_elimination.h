// Decides from paired samples alone which finalist is the fastest.
#pragma once

#include <cstddef>
#include <vector>

namespace smemtune {

struct EliminationPolicy {
    /// The number of rounds before each decision. With six pairs, the true median ratio lies between the least and the
    /// largest ratio with 97 % confidence (two-sided, binomial).
    int rounds = 6;
    int most_rounds = 24;
    double equal = 0.005;  ///< finalists whose costs differ by less than this share are equals
};

/// Eliminates finalists by their samples. A round takes one sample of each finalist, so that a drifting clock affects
/// all alike. A finalist that is certainly slower than the leader is eliminated. The finals are decided when all
/// remaining finalists are certainly equal. They are also decided when the rounds are used up. A remaining finalist
/// then counts as equal if its median cost exceeds the leader's by at most EliminationPolicy::equal.
class PairedElimination {
public:
    PairedElimination(std::size_t finalists, const EliminationPolicy& policy);

    /// The finalists that the next rounds measure, in ascending order. Empty once the finals are decided.
    [[nodiscard]] const std::vector<std::size_t>& remaining() const { return remaining_; }
    /// Adds the samples of the remaining finalists: one list for each finalist, with one sample for each round.
    void add(const std::vector<std::vector<double>>& samples);
    /// Eliminates a finalist that failed.
    void drop(std::size_t finalist);

    /// The finalists that are equal to the fastest within the noise, in ascending order. Precondition: remaining() is
    /// empty.
    [[nodiscard]] const std::vector<std::size_t>& equals() const { return equals_; }

private:
    void decide();

    EliminationPolicy policy_;
    std::vector<std::vector<double>> samples_;  // by finalist; samples with the same index are from the same round
    std::vector<std::size_t> remaining_;
    std::vector<std::size_t> equals_;
};

}  // namespace smemtune
