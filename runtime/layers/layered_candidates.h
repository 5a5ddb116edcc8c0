// Merges the candidates of all databases of a Runtime into one list.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/layers/layers.h"
#include "runtime/selection.h"

namespace smemtune {

/// The candidates of all layers, sorted by enum Standing, the best first. Among candidates of equal Standing, the
/// candidate of the earlier layer comes first. If the next candidate of a layer has Standing::exact, next() does not
/// open later layers. The templates' defaults come last.
class LayeredCandidates {
public:
    /// Makes the candidates of one database. If `store` is null, the candidates are the templates' defaults.
    using Make = std::function<Candidates(const Store* store, PredictorCache* predictors)>;

    LayeredCandidates(Layers& layers, Make make) : layers_(layers), make_(std::move(make)), sources_(layers.count()) {}

    /// Returns the next candidate; nullopt after the last. Throws what Candidates::next throws.
    std::optional<Candidate> next();
    /// Messages about damaged rows, whose candidates were left out: "; MESSAGE" for each.
    [[nodiscard]] std::string damage() const;
    /// The templates that were left out so far, and why: `; NAME: reason` for each.
    [[nodiscard]] std::string why_not() const;

private:
    struct Source {
        std::optional<Candidates> candidates;
        std::optional<Candidate> head;  ///< the layer's next candidate, if it was read already
        bool has_ended = false;
    };

    void read_head(std::size_t layer);
    bool was_rejected(const Candidate& untuned);

    Layers& layers_;
    Make make_;
    std::vector<Source> sources_;  // one for each layer
    std::optional<Candidates> defaults_;
};

}  // namespace smemtune
