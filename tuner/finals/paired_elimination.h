// Which finalist is the fastest, from samples taken in turn. Fed plain numbers; knows nothing of devices.
#pragma once

#include <cstddef>
#include <vector>

namespace smemtune {

struct EliminationPolicy {
    /// Rounds at a time: with six pairs, the median of their ratios lies between the least and the largest in 97 of 100
    /// cases (binomial, two-sided).
    int rounds = 6;
    int most_rounds = 24;
    double equal = 0.005;  ///< finalists whose costs differ by less than this share are equals
};

/// Finalists are measured in rounds, one sample of each in turn, so that a drifting clock meets all alike. Whoever is
/// certainly behind the leader leaves; it ends when all that are left are certain to be equals, or the rounds are used
/// up, which makes them equals within the noise.
class PairedElimination {
public:
    PairedElimination(std::size_t finalists, const EliminationPolicy& policy);

    /// Who plays the next rounds; empty when it is decided.
    [[nodiscard]] const std::vector<std::size_t>& playing() const { return playing_; }
    /// One entry for each that plays: a sample per round.
    void add(const std::vector<std::vector<double>>& samples);
    /// Out of the game: it failed.
    void drop(std::size_t finalist);

    /// Those that no other finalist certainly beats, ascending. Precondition: decided.
    [[nodiscard]] const std::vector<std::size_t>& equals() const { return equals_; }

private:
    void decide();

    EliminationPolicy policy_;
    std::vector<std::vector<double>> samples_;  // the k-th sample of each is of the same round
    std::vector<std::size_t> playing_;
    std::vector<std::size_t> equals_;
};

}  // namespace smemtune
