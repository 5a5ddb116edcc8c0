// Points of a space as rows of numbers in [0, 1], so that a model can tell how far apart two of them are.
#pragma once

#include <vector>

#include "tuner/search/hints.h"

namespace smemtune {

/// A parameter gives its rank among its values and, where that says more, its alignment: how often its value can be
/// halved. 96 is next to 80, yet 64 may be what it performs like. A setup's features and its estimate are added as
/// ranks, the share of a sample of the space that lies below: their scale then does not matter.
class Encoding {
public:
    /// Keeps a reference to `hints`.
    explicit Encoding(Hints& hints);

    /// Of each number in a row: how fast costs are expected to part over it, before anything was observed.
    [[nodiscard]] const std::vector<double>& rates() const { return rates_; }
    /// As long as rates().
    [[nodiscard]] std::vector<float> encode(std::size_t index) const;

private:
    struct View {
        std::size_t parameter;
        std::vector<float> places;  // of each of its values
    };
    void add_views(std::size_t parameter);
    void add_extras();
    [[nodiscard]] std::vector<double> extras(std::size_t index) const;

    Hints& hints_;
    std::vector<View> views_;
    std::vector<std::vector<double>> samples_;  // of each number the setup adds, sorted
    std::vector<double> rates_;
};

}  // namespace smemtune
