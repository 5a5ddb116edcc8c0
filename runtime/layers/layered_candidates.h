// Chooses among the candidates of all databases of a Runtime.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/layers/layers.h"
#include "runtime/selection.h"

namespace smemtune {

/// The candidates of all layers, in the order of Standing; ties go to the first layer. A layer is not opened if an
/// earlier one holds the winner of this very problem. The templates' defaults come last.
class LayeredCandidates {
public:
    /// Makes the candidates of one database. With a null `store`, these are the defaults.
    using Make = std::function<Candidates(const Store* store, PredictorCache* predictors)>;

    LayeredCandidates(Layers& layers, Make make) : layers_(layers), make_(std::move(make)), sources_(layers.count()) {}

    /// Nothing after the last. Throws what Candidates::next throws.
    std::optional<Candidate> next();
    /// The candidates that were passed over because their rows are damaged: "; MESSAGE" for each.
    [[nodiscard]] std::string damage() const;
    /// The templates that were passed over so far, with the reasons: `; NAME: reason` for each.
    [[nodiscard]] std::string why_not() const;

private:
    struct Source {
        std::optional<Candidates> candidates;
        std::optional<Candidate> head;  ///< read, and not returned yet
        bool has_ended = false;
    };

    void read_head(std::size_t layer);

    Layers& layers_;
    Make make_;
    std::vector<Source> sources_;  // one for each layer
    std::optional<Candidates> defaults_;
};

}  // namespace smemtune
