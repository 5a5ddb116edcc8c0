#include "runtime/predict/predictor.h"

#include <algorithm>
#include <array>
#include <cstdio>

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

bool is_verified_as_now(const TrialRow& row, const KernelTemplate& kernel, const Problem& like) {
    return row.record.verified_by != unrecorded && row.record.was_verified_as(operation_identity(kernel, like));
}

}  // namespace

Predictor::Predictor(const Portfolio& portfolio, const Problem& like, const Device& device,
                     const FindTemplate& find_template)
    : element_bytes_(element_type(like.type).bytes), damages_(portfolio.damages) {
    for (const auto& stored : portfolio.members) {
        auto row = row_of(stored);
        try {
            const auto kernel = find_template(row);
            if (!kernel || !supports(*kernel, like, device) || !is_verified_as_now(row, *kernel, like)) continue;
            const auto configuration = completed(stored.member.configuration, default_configuration(*kernel));
            BoundLaunch bound(*kernel, configuration, device, like,
                              {stored.member.registers, stored.member.static_shared_bytes});
            members_.push_back({std::move(row), stored.member.model, stored.member.classes, std::move(bound)});
        } catch (const DamagedRow& error) {
            damages_.emplace_back(error.what());
        } catch (const ManifestError&) {          // a manifest of a newer smemtune
        } catch (const ExpressionError&) {        // a rule names something unknown
        } catch (const std::invalid_argument&) {  // the template computes other problems
        }
    }
}

std::vector<Predictor::Prediction> Predictor::ranking(const Problem& problem) const {
    const auto wanted = problem_class(problem, element_bytes_);
    std::vector<Prediction> predictions;
    for (const auto& member : members_) {
        if (std::ranges::find(member.classes, wanted) == member.classes.end()) continue;
        const auto terms = member.bound.terms(problem);
        if (!terms) continue;
        predictions.push_back({&member, member.model.predicted_us(*terms), member.model.shares(*terms)});
    }
    // A model that errs more must promise more: what counts is the time that it exceeds in one of three predictions.
    std::ranges::stable_sort(predictions, {}, [](const Prediction& prediction) {
        return prediction.us * (1 + prediction.member->model.error);
    });
    return predictions;
}

std::string why_chosen(const std::vector<Predictor::Prediction>& ranking, std::size_t chosen) {
    const auto number = [](const char* format, double value) {
        std::array<char, 40> text{};
        (void)std::snprintf(text.data(), text.size(), format, value);
        return std::string(text.data());
    };
    const auto& best = ranking[chosen];
    const auto largest = std::ranges::max_element(best.shares) - best.shares.begin();
    auto why = "predicted " + number("%.4g us", best.us) + " within " +
               number("%.2g %%", 100 * best.member->model.error) + ", mostly " +
               std::string(term_names[static_cast<std::size_t>(largest)]);
    if (chosen + 1 < ranking.size()) why += "; next " + number("%.4g us", ranking[chosen + 1].us);
    return why;
}

std::shared_ptr<const Predictor> PredictorCache::find_or_make(const Problem& problem, std::int64_t replacements,
                                                              const Make& make) {
    const std::scoped_lock lock(mutex_);
    auto& predictor = known_[{problem.operation, problem.type, problem.layout, replacements}];
    if (!predictor) predictor = make();
    return predictor;
}

}  // namespace smemtune
