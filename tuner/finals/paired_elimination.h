// Decides which finalist is the fastest, from paired samples. It is fed plain numbers and knows nothing of devices.
#pragma once

#include <cstddef>
#include <vector>

namespace smemtune {

struct EliminationPolicy {
    /// Rounds before each decision. With six pairs, the true median ratio lies between the least and the largest ratio
    /// with 97 % confidence (two-sided, binomial).
    int rounds = 6;
    int most_rounds = 24;
    double equal = 0.005;  ///< finalists whose costs differ by less than this share are equals
};

/// Measures finalists in rounds. A round takes one sample of each, so that a drifting clock affects all alike. A
/// finalist that is certainly slower than the leader is eliminated. The finals are decided when all remaining finalists
/// are certainly equal. When the rounds are used up, the remaining ones count as equal within the noise.
class PairedElimination {
public:
    PairedElimination(std::size_t finalists, const EliminationPolicy& policy);

    /// The finalists that the next rounds measure, ascending; empty once decided.
    [[nodiscard]] const std::vector<std::size_t>& remaining() const { return remaining_; }
    /// Adds the samples of the remaining finalists: one list for each, one sample per round.
    void add(const std::vector<std::vector<double>>& samples);
    /// Eliminates a finalist that failed.
    void drop(std::size_t finalist);

    /// The finalists that no other one certainly beats, in ascending order. Precondition: decided.
    [[nodiscard]] const std::vector<std::size_t>& equals() const { return equals_; }

private:
    void decide();

    EliminationPolicy policy_;
    std::vector<std::vector<double>> samples_;  // sample k of every finalist is of the same round
    std::vector<std::size_t> remaining_;
    std::vector<std::size_t> equals_;
};

}  // namespace smemtune
