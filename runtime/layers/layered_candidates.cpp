#include "runtime/layers/layered_candidates.h"

#include <utility>

namespace smemtune {

void LayeredCandidates::read_head(std::size_t layer) {
    auto& source = sources_[layer];
    if (source.head || source.has_ended) return;
    try {
        source.head = layers_.use(layer, [&](Store& store) {
            if (!source.candidates) source.candidates.emplace(make_(&store, &layers_.predictors(layer)));
            return source.candidates->next_stored();
        });
    } catch (const DamagedRow& error) {
        if (layers_.is_required(layer)) throw;
        layers_.set_aside(layer, error.what());
    }
    if (!source.head) {
        source.has_ended = true;
        return;
    }
    source.head->layer = layer;
    source.head->choice.database = layers_.file(layer).string();
}

std::optional<Candidate> LayeredCandidates::next() {
    Source* best = nullptr;
    for (std::size_t layer = 0; layer < sources_.size(); ++layer) {
        read_head(layer);
        auto& source = sources_[layer];
        if (source.head && (best == nullptr || source.head->standing < best->head->standing)) best = &source;
        if (best != nullptr && best->head->standing == Standing::exact) break;
    }
    if (best != nullptr) return std::exchange(best->head, std::nullopt);
    if (!defaults_) defaults_.emplace(make_(nullptr, nullptr));
    auto untuned = defaults_->next();
    while (untuned && was_rejected(*untuned)) untuned = defaults_->next();
    return untuned;
}

// Whether a trial of this default configuration was rejected according to any layer.
bool LayeredCandidates::was_rejected(const Candidate& untuned) {
    for (std::size_t layer = 0; layer < sources_.size(); ++layer) {
        auto& candidates = sources_[layer].candidates;
        if (candidates && layers_.use(layer, [&](Store&) { return candidates->was_rejected(untuned); })) return true;
    }
    return false;
}

std::string LayeredCandidates::damage() const {
    std::string all;
    for (const auto& source : sources_) {
        if (source.candidates) all += source.candidates->damage();
    }
    return all;
}

std::string LayeredCandidates::why_not() const {
    std::string all;
    const auto add = [&](const std::optional<Candidates>& candidates) {
        // Layers often leave out the same templates for the same reasons. The text of these reasons is added only once.
        if (candidates && all.find(candidates->why_not()) == std::string::npos) all += candidates->why_not();
    };
    for (const auto& source : sources_) add(source.candidates);
    add(defaults_);
    return all;
}

}  // namespace smemtune
