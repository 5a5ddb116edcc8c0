#include "runtime/predict/predictor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>

#include "runtime/selection.h"
#include "templates/manifest/catalog.h"

namespace smemtune {

namespace {

TrialRow row_of(const PortfolioRow& stored) {
    TrialRow row{.kernel_template = stored.kernel_template, .template_hash = stored.template_hash};
    row.record.key.kernel_template = stored.member.kernel_template;
    row.record.configuration = stored.member.configuration;
    row.record.verified_by = stored.member.verified_by;
    row.record.code_hash = stored.member.code_hash;
    return row;
}

// A template, and the identity of the operation that the template describes now. `kernel` is null if the template
// cannot compute the problems. `same_signature_as` is the value for Predictor::Member::same_signature_as.
struct FoundTemplate {
    std::shared_ptr<const KernelTemplate> kernel;
    std::string identity;
    const KernelTemplate* same_signature_as = nullptr;
};

// The key by which predictions are sorted. Members with equal times are sorted by their addresses, and so stay in the
// order of the portfolio.
std::pair<double, const Predictor::Member*> place_in_ranking(const Predictor::Prediction& prediction) {
    return {prediction.us * (1 + prediction.error), prediction.member};
}

bool is_verified_as_now(const TrialRow& row, const FoundTemplate& found) {
    return row.record.verified_by != unrecorded && row.record.was_verified_as(found.identity);
}

}  // namespace

Predictor::Predictor(const Portfolio& portfolio, const Problem& like, const Device& device,
                     const FindTemplate& find_template, const KernelTemplate* expected)
    : damages_(portfolio.damages) {
    // Each template is looked up only once, because many members share a template, and each look-up computes the hash
    // that identifies its operation.
    std::map<std::int64_t, FoundTemplate> known;  // the key is the template's row
    const auto find = [&](const TrialRow& row) -> const FoundTemplate& {
        const auto place = known.find(row.record.key.kernel_template);
        if (place != known.end()) return place->second;
        FoundTemplate found{.kernel = find_template(row)};
        if (found.kernel && !supports(*found.kernel, like, device)) found.kernel = nullptr;
        if (found.kernel) {
            found.identity = operation_identity(*found.kernel, like);
            const bool is_same =
                expected != nullptr && is_same_signature(found.kernel->operation, expected->operation, like.layout);
            if (is_same) found.same_signature_as = expected;
        }
        return known.emplace(row.record.key.kernel_template, std::move(found)).first->second;
    };
    RowAlignment alignment;
    for (const auto& stored : portfolio.members) {
        auto row = row_of(stored);
        try {
            const auto& found = find(row);
            if (!found.kernel || !is_verified_as_now(row, found)) continue;
            if (!line_) {
                extents_ = found.kernel->operation.extents;
                line_ = std::make_shared<StraightLine>(extents_);
                alignment = RowAlignment(found.kernel->operation, like, device);
            }
            if (found.kernel->operation.extents != extents_) continue;
            element_bytes_ = element_type(like.type).bytes;
            const auto configuration = std::make_shared<const Configuration>(
                completed(stored.member.configuration, default_configuration(*found.kernel)));
            BoundLaunch bound(*found.kernel, *configuration, device, like,
                              {stored.member.registers, stored.member.static_shared_bytes}, line_);
            members_.push_back({std::move(row), found.kernel,
                                std::make_shared<const Configuration>(stored.member.configuration), configuration,
                                to_text(*configuration), to_text(compiled_part(*found.kernel, *configuration)),
                                stored.member.model, stored.member.classes, std::move(bound), found.same_signature_as});
        } catch (const DamagedRow& error) {
            damages_.emplace_back(error.what());
        } catch (const ManifestError&) {          // a newer smemtune wrote the manifest: the member is left out
        } catch (const ExpressionError&) {        // an expression has an unknown name: the member is left out
        } catch (const std::invalid_argument&) {  // the template cannot compute the problem: the member is left out
        }
    }
    std::vector<TimeModel> models;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        models.push_back(members_[i].model);
        for (const auto& each : std::set(members_[i].classes.begin(), members_[i].classes.end()))
            by_class_[each].members.push_back(i);
    }
    correction_ = Correction(models, std::move(alignment));
    for (auto& [name, of_class] : by_class_) {
        std::vector<StraightLine::Slot> rules;
        std::vector<StraightLine::Slot> needed;
        for (const auto i : of_class.members) {
            std::ranges::copy(members_[i].bound.rules(), std::back_inserter(rules));
            std::ranges::copy(members_[i].bound.needed(), std::back_inserter(needed));
        }
        of_class.rules = line_->part(rules);
        of_class.terms = line_->part(needed, of_class.rules);
    }
}

std::vector<Predictor::Prediction> Predictor::ranking(const Problem& problem) const {
    Scratch scratch;
    predict(problem, scratch);
    std::ranges::sort(scratch.predictions, {}, place_in_ranking);
    return std::move(scratch.predictions);
}

void Predictor::put_first(std::span<Prediction> predictions) {
    const auto first = std::ranges::min_element(predictions, {}, place_in_ranking);
    std::swap(*first, predictions.front());
}

void Predictor::predict(const Problem& problem, Scratch& scratch) const {
    scratch.predictions.clear();
    const bool is_like =
        std::ranges::equal(problem.extents, extents_, {}, &std::pair<std::string, std::int64_t>::first);
    const bool is_valid =
        std::ranges::all_of(problem.extents, [](const auto& extent) { return is_valid_extent(extent.second); });
    if (members_.empty() || !is_like || !is_valid) return;
    const auto verified = by_class_.find(problem_class(problem, element_bytes_));
    if (verified == by_class_.end()) return;
    const auto& [members, rules, terms_of_members] = verified->second;
    line_->evaluate(problem, rules, scratch.values);
    scratch.valid.clear();
    for (const auto i : members) {
        if (members_[i].bound.follows_rules(scratch.values)) scratch.valid.push_back(i);
    }
    line_->evaluate(problem, terms_of_members, scratch.values);
    correction_.find(problem, scratch.corrections);
    for (const auto i : scratch.valid) {
        const auto& member = members_[i];
        const auto terms = member.bound.terms_at(scratch.values);
        if (!terms) continue;
        const auto corrected = correction_.of(i, scratch.corrections.near);
        auto& prediction = scratch.predictions.emplace_back(Prediction{.member = &member,
                                                                       .error = corrected.error(member.model.error),
                                                                       .factor = corrected.factor,
                                                                       .shares = member.model.shares(*terms)});
        for (auto& share : prediction.shares) {
            prediction.us += share;
            share *= corrected.factor;
        }
        prediction.us *= corrected.factor;
    }
}

std::string why_chosen(const std::vector<Predictor::Prediction>& ranking, std::size_t chosen) {
    const auto number = [](double value, int digits) {
        std::array<char, 40> text{};
        const auto end =
            std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
        return std::string(text.data(), end.ptr);
    };
    const auto& best = ranking[chosen];
    const auto largest = std::ranges::max_element(best.shares) - best.shares.begin();
    auto why = "predicted " + number(best.us, 4) + " us within " + number(100 * best.error, 2) + " %, mostly " +
               std::string(term_names[static_cast<std::size_t>(largest)]);
    if (chosen + 1 < ranking.size()) why += "; next " + number(ranking[chosen + 1].us, 4) + " us";
    return why;
}

std::shared_ptr<const Predictor> PredictorCache::find_or_make(const Problem& problem, std::int64_t device,
                                                              std::int64_t replacements, const Make& make) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(known_, [&](const auto& known) { return std::get<4>(known.first) < replacements; });
    auto& predictor = known_[{problem.operation, problem.type, problem.layout, device, replacements}];
    if (!predictor) predictor = make();
    return predictor;
}

}  // namespace smemtune
