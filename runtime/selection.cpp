#include "runtime/selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "templates/launch/estimate.h"
#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"

namespace smemtune {

namespace {

// The default if it is valid; else the valid configuration that differs from it in the fewest parameters.
std::optional<Configuration> sane_default(const KernelTemplate& kernel, const Problem& problem, const Device& device) {
    const auto defaults = default_configuration(kernel);
    if (!infeasibility(kernel, defaults, problem, device)) return defaults;
    for (const auto& parameter : kernel.parameters) {  // tried first, to avoid enumerating a large space
        for (const auto value : parameter.values) {
            auto near = defaults;
            near.values[parameter.name] = value;
            if (!infeasibility(kernel, near, problem, device)) return near;
        }
    }
    const auto space = feasible_space(kernel, problem, device);
    std::optional<Configuration> best;
    auto least = std::numeric_limits<std::ptrdiff_t>::max();
    for (std::size_t i = 0; i < space.size(); ++i) {
        auto configuration = space[i];
        const auto differing = std::ranges::count_if(
            configuration.values, [&](const auto& value) { return defaults.values.at(value.first) != value.second; });
        if (differing >= least) continue;
        least = differing;
        best = std::move(configuration);
    }
    return best;
}

}  // namespace

Candidates::Candidates(const Problem& problem, const Device& device, const Store* store,
                       const std::vector<KernelTemplate>& templates, std::string_view kernel_template,
                       std::span<const std::string> own, StoredTemplates stored_templates, PredictorCache* predictors)
    : problem_(problem),
      device_(device),
      store_(store),
      templates_(templates),
      kernel_template_(kernel_template),
      own_(own),
      stored_templates_(stored_templates),
      predictors_(predictors) {
    find_expected();
    // A template that is chosen by name must be the current version, unless only the database has it.
    const auto named = std::ranges::find(templates_, kernel_template_, &KernelTemplate::name);
    if (named != templates_.end()) hashes_ = named->same_code_hashes();
    if (store != nullptr) begin();
}

void Candidates::begin() {
    const auto distance_of = [&](const auto& known) { return distance(device_, known.second); };
    devices_ = store_->devices();
    replacements_ = store_->replacements();
    is_last_ = true;
    rows_.clear();
    row_ = 0;
    device_row_ = 0;
    predictions_.reset();
    prediction_ = 0;
    damage_.clear();
    // Times in checked mode say nothing about times without it.
    std::erase_if(devices_, [&](const auto& known) {
        return std::isinf(distance_of(known)) || (is_checked(known.second) && known.second != device_);
    });
    std::ranges::stable_sort(devices_, std::ranges::greater{}, distance_of);
    // The distance may be 0 for several devices; this very device comes first among them.
    std::stable_partition(devices_.begin(), devices_.end(),  // clang 14 rejects the std::ranges version
                          [&](const auto& known) { return known.second != device_; });
}

void Candidates::find_expected() {
    const auto computes = [&](const KernelTemplate& kernel) { return kernel.operation.name == problem_.operation; };
    const auto is_own = [&](const KernelTemplate& kernel) { return std::ranges::count(own_, kernel.name) != 0; };
    const auto is_named = [&](const KernelTemplate& kernel) { return kernel.name == kernel_template_; };
    const auto rank = [&](const KernelTemplate& kernel) { return is_named(kernel) ? 2 : is_own(kernel) ? 1 : 0; };
    for (const auto& kernel : templates_) {
        if (computes(kernel) && (expected_ == nullptr || rank(kernel) > rank(*expected_))) expected_ = &kernel;
    }
    expects_own_ = expected_ != nullptr && is_own(*expected_);
}

void Candidates::pass_over(const std::string& kernel_template, const std::string& reason) {
    const auto text = "; " + kernel_template + ": " + reason;
    if (why_not_.find(text) == std::string::npos) why_not_ += text;  // many winners may share a template
}

bool Candidates::has_expected_signature(const KernelTemplate& kernel) {
    if (expected_ == &kernel) return true;
    const auto& expected = expected_ == nullptr ? kernel.operation : expected_->operation;
    const auto difference = difference_of_signatures(kernel.operation, expected, problem_, device_);
    if (difference.empty()) return true;
    pass_over(kernel.name, difference);
    return false;
}

// An application may define an operation of its own by a name and a signature that others use for something else.
bool Candidates::has_own_operation(const KernelTemplate& kernel) {
    if (!expects_own_ || operation_identity(kernel, problem_) == operation_identity(*expected_, problem_)) return true;
    pass_over(kernel.name, "its " + problem_.operation + " is defined otherwise than the application's own");
    return false;
}

std::optional<Candidate> Candidates::next() {
    if (auto candidate = next_stored()) return candidate;
    if (!untuned_) untuned_ = untuned();
    return default_ < untuned_->size() ? std::optional(std::move((*untuned_)[default_++])) : std::nullopt;
}

std::optional<Candidate> Candidates::next_stored() {
    // Rows have other numbers in a file that took the place of the one they were read from.
    const auto was_replaced = [&] { return store_ != nullptr && store_->replacements() != replacements_; };
    for (;;) {
        if (was_replaced()) begin();
        if (row_ < rows_.size()) {
            auto candidate = tuned(rows_[row_++]);
            if (candidate && !was_replaced()) return candidate;
        } else if (auto predicted = next_predicted()) {
            if (!was_replaced()) return predicted;
        } else if (!is_last_) {
            read_more_rows();
        } else if (!devices_.empty()) {
            read_nearest_device();
        } else {
            return std::nullopt;
        }
    }
}

// Goes on to the nearest device not read yet, and reads its row of this very problem. That is one seek, and most
// fetches need no other row.
void Candidates::read_nearest_device() {
    const auto [number, device] = std::move(devices_.back());
    devices_.pop_back();
    device_row_ = number;
    rows_here_ = device == device_;
    skipped_ = 0;
    is_last_ = false;
    rows_.clear();
    row_ = 0;
    try {
        const auto same = store_->find(problem_);
        auto row = same ? store_->best(number, *same, kernel_template_, hashes_) : std::nullopt;
        if (row) rows_.push_back(std::move(*row));
    } catch (const DamagedRow& error) {
        damage_ += std::string("; ") + error.what();
    }
}

// The rows of the next nearest problems. First only one, which serves most fetches: to read a row takes longer than to
// find it. Then each time more, so that the cost of reading far is bounded. The index ranks by the first four extents,
// so of problems with more the nearest is among the first few.
void Candidates::read_more_rows() {
    constexpr std::size_t indexed_extents = 4;
    const bool one = skipped_ == 0 && problem_.extents.size() <= indexed_extents;
    const auto count = one ? 1 : std::max<std::int64_t>(8, skipped_);
    auto nearest = store_->nearest(device_row_, problem_, skipped_, count, kernel_template_, hashes_);
    skipped_ += count;
    is_last_ = nearest.is_last;
    rows_ = std::move(nearest.rows);
    row_ = 0;
    std::erase_if(rows_, [&](const TrialRow& row) { return row.problem == problem_; });
    std::ranges::stable_sort(rows_, {}, [&](const TrialRow& row) { return distance(problem_, row.problem); });
}

bool Candidates::is_outdated(const TrialRow& row) const {
    if (expects_own_ && !row.record.was_verified_as(operation_identity(*expected_, row.problem))) return true;
    if (std::ranges::find(own_, row.kernel_template) == own_.end()) return false;
    const auto now = std::ranges::find(templates_, row.kernel_template, &KernelTemplate::name);
    return now != templates_.end() && !now->is_same_code(row.template_hash);
}

// The template of a stored trial; nothing if it cannot serve. A version that the caller has is taken from there, so its
// stored files are not read.
std::optional<KernelTemplate> Candidates::template_of(const TrialRow& row) {
    const auto known = std::ranges::find(templates_, row.template_hash, &KernelTemplate::hash);
    if (known != templates_.end() && known->name == row.kernel_template) return *known;
    if (stored_templates_ == StoredTemplates::known) {
        pass_over(row.kernel_template, "only the database has this version, and Options::trust excludes its sources");
        return std::nullopt;
    }
    const auto files = store_->recall_template(row.record.key.kernel_template);
    if (!files || files->name != row.kernel_template || files->hash != row.template_hash) return std::nullopt;
    auto kernel = load_template(files->files);
    // A stored manifest decides nothing but its own row.
    if (kernel.name != row.kernel_template) return std::nullopt;
    return kernel;
}

std::optional<Candidate> Candidates::tuned(const TrialRow& row) {
    if (is_outdated(row)) return std::nullopt;
    try {
        auto loaded = template_of(row);
        if (!loaded || !supports(*loaded, problem_, device_) || !has_expected_signature(*loaded)) return std::nullopt;
        auto& kernel = *loaded;
        const bool recorded = row.record.verified_by != unrecorded;
        if (!recorded && !has_own_operation(kernel)) return std::nullopt;
        const auto configuration = completed(row.record.configuration, default_configuration(kernel));
        if (infeasibility(kernel, configuration, problem_, device_)) return std::nullopt;
        // Another problem's winner may have replaced the machine code that was verified for this one.
        const bool replaced = !recorded && !row.record.code_hash.empty();
        const auto here = row.problem == problem_ && !replaced ? Match::exact : Match::nearest;
        Choice choice{.kernel_template = kernel.name,
                      .configuration = to_text(configuration),
                      .match = rows_here_ ? here : Match::transferred,
                      .tuned_for = to_text(row.problem),
                      .expected_us = std::get<Measurement>(row.record.outcome).median_us,
                      .device = row.device};
        return Candidate{std::move(kernel),
                         configuration,
                         std::move(choice),
                         row.record.key.kernel_template,
                         row.record.configuration,
                         row.template_hash,
                         recorded ? row.record.code_hash : std::string()};
    } catch (const DamagedRow& error) {
        damage_ += std::string("; ") + error.what();
        return std::nullopt;
    } catch (const ManifestError&) {  // a manifest of a newer smemtune
        return std::nullopt;
    } catch (const ExpressionError&) {  // a rule of the template has no value for this problem
        return std::nullopt;
    } catch (const std::invalid_argument& error) {
        if (expected_ != nullptr) throw;  // the problem fits no template
        pass_over(row.kernel_template, error.what());
        return std::nullopt;
    }
}

void Candidates::predict() {
    const auto make = [&] {
        const auto portfolio = store_->portfolio({device_row_, problem_.operation, problem_.type, problem_.layout});
        return std::make_shared<const Predictor>(portfolio, problem_, device_,
                                                 [&](const TrialRow& row) { return template_of(row); });
    };
    predictor_ = predictors_ == nullptr ? make() : predictors_->find_or_make(problem_, store_->replacements(), make);
    for (const auto& message : predictor_->damages()) damage_ += "; " + message;
    predictions_ = predictor_->ranking(problem_);
    std::erase_if(*predictions_, [&](const Predictor::Prediction& prediction) {
        const auto& row = prediction.member->row;
        return !kernel_template_.empty() &&
               (row.kernel_template != kernel_template_ ||
                (!hashes_.empty() && std::ranges::find(hashes_, row.template_hash) == hashes_.end()));
    });
}

// After the winner of this very problem, before those of other problems.
std::optional<Candidate> Candidates::next_predicted() {
    if (!rows_here_ || device_row_ == 0) return std::nullopt;
    if (!predictions_) predict();
    while (prediction_ < predictions_->size()) {
        const auto& prediction = (*predictions_)[prediction_];
        auto row = prediction.member->row;
        row.problem = problem_;
        auto candidate = tuned(row);
        ++prediction_;
        if (!candidate) continue;
        auto& choice = candidate->choice;
        choice.match = Match::predicted;
        choice.tuned_for.clear();
        choice.expected_us = prediction.us;
        choice.uncertainty = prediction.member->model.error;
        choice.why = why_chosen(*predictions_, prediction_ - 1);
        choice.device = device_.name;
        return candidate;
    }
    return std::nullopt;
}

// Most promising first: by the operations per load that the tiling achieves.
std::vector<Candidate> Candidates::untuned() {
    std::vector<std::pair<double, Candidate>> ranked;
    for (const auto& kernel : templates_) {
        if (!supports(kernel, problem_, device_) || (!kernel_template_.empty() && kernel.name != kernel_template_)) {
            continue;
        }
        if (!has_expected_signature(kernel) || !has_own_operation(kernel)) continue;
        const auto configuration = sane_default(kernel, problem_, device_);
        if (!configuration) continue;
        Choice choice{.kernel_template = kernel.name,
                      .configuration = to_text(*configuration),
                      .match = Match::untuned,
                      .device = device_.name};
        ranked.emplace_back(model_values(kernel, *configuration, problem_, device_).operations_per_load(),
                            Candidate{kernel, *configuration, std::move(choice), std::nullopt, {}});
    }
    std::ranges::stable_sort(ranked, std::ranges::greater{}, [](const auto& each) { return each.first; });
    std::vector<Candidate> result;
    result.reserve(ranked.size());
    for (auto& [reuse, candidate] : ranked) result.push_back(std::move(candidate));
    return result;
}

std::string difference_of_signatures(const Operation& operation, const Operation& expected, const Problem& problem,
                                     const Device& device) {
    if (operation.extents != expected.extents) return "its operation has other extents";
    const auto constants = [&](const Operation& of) {
        const auto layout = of.layouts.find(problem.layout);
        return layout == of.layouts.end() ? Environment{} : layout->second;
    };
    if (constants(operation) != constants(expected)) return "its operation means another layout by this name";
    const auto same_argument = [](const Argument& a, const Argument& b) {
        return a.name == b.name && a.kind == b.kind && a.stride == b.stride && a.batch_stride == b.batch_stride;
    };
    if (!std::ranges::equal(operation.arguments, expected.arguments, same_argument)) {
        return "its operation takes other arguments, or in another order";
    }
    const auto environment = environment_of(operation, problem, device);
    const auto expected_environment = environment_of(expected, problem, device);
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
        const auto& argument = operation.arguments[i];
        if (!argument.is_matrix()) continue;
        const auto shape = shape_of(argument, environment);
        const auto wanted = shape_of(expected.arguments[i], expected_environment);
        if (shape.rows != wanted.rows || shape.columns != wanted.columns || shape.count != wanted.count) {
            return "its argument " + argument.name + " has another size";
        }
    }
    return {};
}

double distance(const Problem& a, const Problem& b) {
    const auto same_name = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (a.operation != b.operation || a.type != b.type || a.layout != b.layout ||
        !std::ranges::equal(a.extents, b.extents, same_name)) {
        return std::numeric_limits<double>::infinity();
    }
    double sum = 0;
    for (std::size_t i = 0; i < a.extents.size(); ++i) {
        const auto difference =
            std::log(static_cast<double>(a.extents[i].second)) - std::log(static_cast<double>(b.extents[i].second));
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

double distance(const Device& a, const Device& b) {
    if (a.is_host() != b.is_host()) return std::numeric_limits<double>::infinity();
    constexpr std::array fields{
        &Device::compute_capability,           &Device::multiprocessors, &Device::shared_bytes_per_multiprocessor,
        &Device::registers_per_multiprocessor, &Device::l2_bytes,        &Device::clock_khz};
    double sum = 0;
    for (const auto field : fields) {
        if (a.*field <= 0 || b.*field <= 0) continue;  // unknown
        const auto difference = std::log(static_cast<double>(a.*field)) - std::log(static_cast<double>(b.*field));
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

std::string binary_key(const std::string& target, const Problem& problem) {
    return target + " " + problem.type + (problem.layout.empty() ? "" : " " + problem.layout);
}

}  // namespace smemtune
