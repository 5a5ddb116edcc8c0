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

// The template's default configuration if it is valid; else the valid configuration that differs from the default in
// the fewest parameters.
std::optional<Configuration> sane_default(const KernelTemplate& kernel, const Problem& problem, const Device& device) {
    const auto defaults = default_configuration(kernel);
    if (!infeasibility(kernel, defaults, problem, device)) return defaults;
    // Tries changes of a single parameter first, because enumerating the space takes longer.
    for (const auto& parameter : kernel.parameters) {
        for (const auto value : parameter.values) {
            auto near = defaults;
            near.values[parameter.name] = value;
            if (!infeasibility(kernel, near, problem, device)) return near;
        }
    }
    const auto space = feasible_space(kernel, problem, device);
    if (space.size() == 0) return std::nullopt;
    std::size_t best = 0;
    auto least = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < space.size(); ++i) {
        const auto point = space.point(i);
        std::size_t differing = 0;
        for (std::size_t p = 0; p < point.size(); ++p) {
            const auto& parameter = space.parameters()[p];
            if (parameter.values[point[p]] != parameter.default_value) ++differing;
        }
        if (differing >= least) continue;
        least = differing;
        best = i;
    }
    return space[best];
}

// A pointer that owns nothing: the caller's templates outlive the candidates.
std::shared_ptr<const KernelTemplate> of_caller(const KernelTemplate& kernel) {
    return {std::shared_ptr<const void>(), &kernel};
}

bool has_same_layout(const Operation& a, const Operation& b, const std::string& layout) {
    const auto constants = [&](const Operation& of) {
        const auto found = of.layouts.find(layout);
        return found == of.layouts.end() ? Environment{} : found->second;
    };
    return constants(a) == constants(b);
}

bool is_same_argument(const Argument& a, const Argument& b) {
    return a.name == b.name && a.kind == b.kind && a.stride == b.stride && a.batch_stride == b.batch_stride &&
           a.type == b.type;
}

bool has_same_shape_texts(const Argument& a, const Argument& b) {
    return a.rows.text() == b.rows.text() && a.columns.text() == b.columns.text() && a.count.text() == b.count.text();
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
    // If the caller has the template that it asks for, only the caller's version of that template is used. If only the
    // database has the template, every version may be used.
    const auto named = std::ranges::find(templates_, kernel_template_, &KernelTemplate::name);
    if (named != templates_.end()) hashes_ = named->same_code_hashes();
    if (store != nullptr) begin();
}

void Candidates::begin() {
    is_last_ = true;
    rows_.clear();
    row_ = 0;
    has_predictions_ = false;
    prediction_ = 0;
    damage_.clear();
    problem_row_.reset();
    try {
        auto known = store_->known(problem_);
        devices_ = std::move(known.devices);
        problem_row_ = known.problem;
    } catch (const DamagedRow& error) {
        damage_ += std::string("; ") + error.what();
        devices_ = store_->devices();
    }
    replacements_ = store_->replacements();
    current_ = nullptr;
    step_ = 0;
    sort_devices();
    plan_steps();
}

void Candidates::sort_devices() {
    const auto own = std::ranges::find(devices_, device_, &std::pair<std::int64_t, Device>::second);
    own_row_ = own == devices_.end() ? std::nullopt : std::optional(own->first);
    sort_by_similarity(devices_, device_);
}

// Portfolios of other devices of the same compute capability come before this device's winners of other problems.
// Reason: the member that a portfolio predicts to be the fastest has a far smaller loss than the winner of the nearest
// problem.
void Candidates::plan_steps() {
    using What = Step::What;
    steps_.clear();
    steps_.reserve(4 * devices_.size());
    const auto here = [&](std::size_t i) { return devices_[i].second == device_; };
    const auto similar = [&](std::size_t i) { return is_similar(devices_[i].second, device_); };
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (here(i))
            steps_.insert(steps_.end(),
                          {{What::winner, Standing::exact, i}, {What::portfolio, Standing::predicted, i}});
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (similar(i))
            steps_.insert(steps_.end(),
                          {{What::winner, Standing::similar, i}, {What::portfolio, Standing::similar, i}});
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (here(i)) steps_.push_back({What::nearest, Standing::nearest, i});
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (here(i)) continue;
        if (!similar(i)) steps_.push_back({What::winner, Standing::remote, i});
        steps_.push_back({What::nearest, Standing::remote, i});
    }
}

void Candidates::find_expected() {
    const auto computes = [&](const KernelTemplate& kernel) { return kernel.operation.name == problem_.operation; };
    const auto is_own = [&](const KernelTemplate& kernel) { return std::ranges::count(own_, kernel.name) != 0; };
    const auto is_named = [&](const KernelTemplate& kernel) { return kernel.name == kernel_template_; };
    const auto rank = [&](const KernelTemplate& kernel) { return is_named(kernel) ? 2 : is_own(kernel) ? 1 : 0; };
    const int highest = !kernel_template_.empty() ? 2 : !own_.empty() ? 1 : 0;
    for (const auto& kernel : templates_) {
        if (computes(kernel) && (expected_ == nullptr || rank(kernel) > rank(*expected_))) expected_ = &kernel;
        if (expected_ != nullptr && rank(*expected_) == highest) break;
    }
    expects_own_ = expected_ != nullptr && is_own(*expected_);
}

void Candidates::pass_over(const std::string& kernel_template, const std::string& reason) {
    const auto text = "; " + kernel_template + ": " + reason;
    if (why_not_.find(text) == std::string::npos) why_not_ += text;  // several winners may give the same reason
}

bool Candidates::has_expected_signature(const KernelTemplate& kernel) {
    if (expected_ == &kernel) return true;
    const auto& expected = expected_ == nullptr ? kernel.operation : expected_->operation;
    const auto difference = difference_of_signatures(kernel.operation, expected, problem_, device_);
    if (difference.empty()) return true;
    pass_over(kernel.name, difference);
    return false;
}

// Whether the template has the application's own operation. Compares the identities, because two applications may
// define different operations with the same name and signature.
bool Candidates::has_own_operation(const KernelTemplate& kernel) {
    if (!expects_own_ || operation_identity(kernel, problem_) == operation_identity(*expected_, problem_)) return true;
    pass_over(kernel.name, "its " + problem_.operation + " is defined otherwise than the application's own");
    return false;
}

std::optional<Candidate> Candidates::next() {
    if (auto candidate = next_stored()) return candidate;
    if (!untuned_) untuned_ = untuned();
    while (default_ < untuned_->size()) {
        auto& candidate = (*untuned_)[default_++];
        if (!was_rejected(candidate)) return std::move(candidate);
    }
    return std::nullopt;
}

bool Candidates::was_rejected(const Candidate& untuned) {
    if (store_ == nullptr || !own_row_) return false;
    const auto& kernel = *untuned.kernel_template;
    const auto reason =
        store_->why_rejected(*own_row_, problem_row_, kernel.name, kernel.same_code_hashes(), *untuned.configuration);
    if (reason) {
        pass_over(kernel.name, "its default configuration was rejected (" + *reason +
                                   "); tune the problem with other templates or configurations");
    }
    return reason.has_value();
}

std::optional<Candidate> Candidates::next_stored() {
    // If a different file replaces the database, the row numbers that were read before are invalid. The search then
    // starts again.
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
        } else if (step_ < steps_.size()) {
            start(steps_[step_++]);
        } else {
            return std::nullopt;
        }
    }
}

void Candidates::start(const Step& step) {
    current_ = &step;
    rows_.clear();
    row_ = 0;
    skipped_ = 0;
    is_last_ = step.what != Step::What::nearest;
    has_predictions_ = false;
    prediction_ = 0;
    if (step.what == Step::What::winner) read_winner();
}

// Reads the winner of this very problem. This takes one seek in the database, and most fetches need no other row.
void Candidates::read_winner() {
    try {
        auto row = problem_row_
                       ? store_->best(devices_[current_->device].first, *problem_row_, kernel_template_, hashes_)
                       : std::nullopt;
        if (row) rows_.push_back(std::move(*row));
    } catch (const DamagedRow& error) {
        damage_ += std::string("; ") + error.what();
    }
}

// Reads the rows of the next nearest problems. Reading a row takes longer than finding it, and most fetches need only
// the nearest problem, so the first call reads one row. Each further call reads more rows, so that few calls suffice.
// The database ranks problems by their first four extents. For problems with more extents, the first call reads several
// rows, because the first row need not be the nearest problem.
void Candidates::read_more_rows() {
    constexpr std::size_t indexed_extents = 4;
    const bool one = skipped_ == 0 && problem_.extents.size() <= indexed_extents;
    const auto count = one ? 1 : std::max<std::int64_t>(8, skipped_);
    auto nearest =
        store_->nearest(devices_[current_->device].first, problem_, skipped_, count, kernel_template_, hashes_);
    skipped_ += count;
    is_last_ = nearest.is_last;
    rows_ = std::move(nearest.rows);
    row_ = 0;
    std::erase_if(rows_, [&](const TrialRow& row) { return row.problem == problem_; });
    std::ranges::stable_sort(rows_, {}, [&](const TrialRow& row) { return distance(problem_, row.problem); });
}

bool Candidates::is_outdated(const TrialRow& row, const Problem& tuned_for) const {
    if (expects_own_ && !row.record.was_verified_as(operation_identity(*expected_, tuned_for))) return true;
    if (std::ranges::find(own_, row.kernel_template) == own_.end()) return false;
    const auto now = std::ranges::find(templates_, row.kernel_template, &KernelTemplate::name);
    return now != templates_.end() && !now->is_same_code(row.template_hash);
}

// Whether a trial of the row's configuration for this very problem on this device ended with a rejection.
bool Candidates::was_rejected_here(const TrialRow& row) const {
    if (!own_row_ || !problem_row_ || row.record.key.problem == *problem_row_) return false;
    const auto known =
        store_->recall({*own_row_, row.record.key.kernel_template, *problem_row_}, row.record.configuration);
    return known && std::holds_alternative<Rejection>(known->outcome);
}

// Whether the row is another problem's winner whose machine code failed (wrong result or crash) at some problem. The
// code may then fail at this problem, too.
bool Candidates::failed_elsewhere(const TrialRow& row) const {
    return row.problem != problem_ && !row.record.code_hash.empty() &&
           store_->failed_somewhere(row.record.configuration, row.record.code_hash);
}

// The template of a stored trial; null if the template cannot be used. If the caller has the same version, returns the
// caller's template and does not read the stored files.
std::shared_ptr<const KernelTemplate> Candidates::template_of(const TrialRow& row) {
    const auto known = std::ranges::find(templates_, row.template_hash, &KernelTemplate::hash);
    if (known != templates_.end() && known->name == row.kernel_template) return of_caller(*known);
    if (stored_templates_ == StoredTemplates::known) {
        pass_over(row.kernel_template, "only the database has this version, and Options::trust excludes its sources");
        return nullptr;
    }
    const auto files = store_->recall_template(row.record.key.kernel_template);
    if (!files || files->name != row.kernel_template || files->hash != row.template_hash) return nullptr;
    auto kernel = load_template(files->files, files->hash);
    // A stored manifest must describe the template that its row names.
    if (kernel.name != row.kernel_template) return nullptr;
    return std::make_shared<const KernelTemplate>(std::move(kernel));
}

// `member`: the portfolio's member that the row belongs to, or null for a winner. Only a winner is checked for validity
// here, because the predictor ranks valid members only.
std::optional<Candidate> Candidates::tuned(const TrialRow& row, const Predictor::Member* member) {
    const auto& tuned_for = member != nullptr ? problem_ : row.problem;
    if (is_outdated(row, tuned_for)) return std::nullopt;
    try {
        if (was_rejected_here(row) || (member == nullptr && failed_elsewhere(row))) return std::nullopt;
        auto found = member != nullptr ? member->kernel_template : template_of(row);
        if (!found || !supports(*found, problem_, device_)) return std::nullopt;
        const bool is_to_be_compared = member == nullptr || member->same_signature_as != expected_;
        if (is_to_be_compared && !has_expected_signature(*found)) return std::nullopt;
        const auto& kernel = *found;
        const bool recorded = row.record.verified_by != unrecorded;
        if (!recorded && !has_own_operation(kernel)) return std::nullopt;
        const auto configuration = member != nullptr ? member->configuration
                                                     : std::make_shared<const Configuration>(completed(
                                                           row.record.configuration, default_configuration(kernel)));
        if (member == nullptr && infeasibility(kernel, *configuration, problem_, device_)) return std::nullopt;
        // Another problem's winner may have replaced the machine code that was verified for this problem.
        const bool replaced = !recorded && !row.record.code_hash.empty();
        const auto here = tuned_for == problem_ && !replaced ? Match::exact : Match::nearest;
        Choice choice{.kernel_template = kernel.name,
                      .configuration = member != nullptr ? member->text : to_text(*configuration),
                      .match = is_here() ? here : Match::transferred,
                      .tuned_for = member != nullptr ? std::string() : to_text(tuned_for),
                      .expected_us = std::get<Measurement>(row.record.outcome).median_us,
                      .device = row.device};
        // A winner whose code was replaced ranks no better than the winner of another problem.
        const auto standing = replaced ? std::max(current_->standing, Standing::nearest) : current_->standing;
        auto compiled = member != nullptr ? member->compiled : to_text(compiled_part(kernel, *configuration));
        return Candidate{
            std::move(found),
            configuration,
            std::move(compiled),
            std::move(choice),
            row.record.key.kernel_template,
            member != nullptr ? member->stored : std::make_shared<const Configuration>(row.record.configuration),
            row.template_hash,
            recorded ? row.record.code_hash : std::string(),
            standing};
    } catch (const DamagedRow& error) {
        damage_ += std::string("; ") + error.what();
        return std::nullopt;
    } catch (const ManifestError&) {  // a newer smemtune wrote the manifest
        return std::nullopt;
    } catch (const ExpressionError&) {  // an expression of the template has no value for this problem
        return std::nullopt;
    } catch (const std::invalid_argument& error) {
        if (expected_ != nullptr) throw;  // the problem does not fit the operation
        pass_over(row.kernel_template, error.what());
        return std::nullopt;
    }
}

void Candidates::predict() {
    const auto row = devices_[current_->device].first;
    const auto make = [&] {
        const auto portfolio = store_->portfolio({row, problem_.operation, problem_.type, problem_.layout});
        return std::make_shared<const Predictor>(
            portfolio, problem_, device_, [&](const TrialRow& member) { return template_of(member); }, expected_);
    };
    predictor_ =
        predictors_ == nullptr ? make() : predictors_->find_or_make(problem_, row, store_->replacements(), make);
    for (const auto& message : predictor_->damages()) damage_ += "; " + message;
    predictor_->predict(problem_, *scratch_);
    has_predictions_ = true;
    sorted_ = 0;
    std::erase_if((*scratch_).predictions, [&](const Predictor::Prediction& prediction) {
        const auto& member = prediction.member->row;
        return !kernel_template_.empty() &&
               (member.kernel_template != kernel_template_ ||
                (!hashes_.empty() && std::ranges::find(hashes_, member.template_hash) == hashes_.end()));
    });
}

// A portfolio of another device with the same compute capability is evaluated with the properties of `device_`. The
// clock and multiprocessors of `device_` scale the terms, and its limits decide which members are valid.
std::optional<Candidate> Candidates::next_predicted() {
    if (current_ == nullptr || current_->what != Step::What::portfolio) return std::nullopt;
    if (!has_predictions_) predict();
    auto& predictions = (*scratch_).predictions;
    while (prediction_ < predictions.size()) {
        // why_chosen() also needs the prediction after this one.
        while (sorted_ < std::min(prediction_ + 2, predictions.size())) {
            Predictor::put_first(std::span(predictions).subspan(sorted_++));
        }
        const auto& prediction = predictions[prediction_];
        auto candidate = tuned(prediction.member->row, prediction.member);
        ++prediction_;
        if (!candidate) continue;
        candidate->launch = prediction.member->bound.launch_at(problem_, (*scratch_).values);
        auto& choice = candidate->choice;
        const auto& measured_on = devices_[current_->device].second;
        choice.match = is_here() ? Match::predicted : Match::transferred;
        choice.expected_us = prediction.us;
        choice.uncertainty = prediction.error;
        choice.why = why_chosen(predictions, prediction_ - 1);
        if (!is_here()) choice.why += "; by the portfolio of " + measured_on.name;
        choice.device = measured_on.name;
        return candidate;
    }
    return std::nullopt;
}

// The default configurations of the templates, sorted: the configuration whose tiling gives the most operations per
// load comes first.
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
                            Candidate{of_caller(kernel), std::make_shared<const Configuration>(*configuration),
                                      to_text(compiled_part(kernel, *configuration)), std::move(choice), std::nullopt});
    }
    std::ranges::stable_sort(ranked, std::ranges::greater{}, [](const auto& each) { return each.first; });
    std::vector<Candidate> result;
    result.reserve(ranked.size());
    for (auto& [reuse, candidate] : ranked) result.push_back(std::move(candidate));
    return result;
}

bool is_same_signature(const Operation& operation, const Operation& expected, const std::string& layout) {
    return operation.extents == expected.extents && has_same_layout(operation, expected, layout) &&
           std::ranges::equal(operation.arguments, expected.arguments, is_same_argument) &&
           std::ranges::equal(operation.arguments, expected.arguments, has_same_shape_texts);
}

std::string difference_of_signatures(const Operation& operation, const Operation& expected, const Problem& problem,
                                     const Device& device) {
    if (is_same_signature(operation, expected, problem.layout)) return {};
    if (operation.extents != expected.extents) return "its operation has other extents than expected";
    if (!has_same_layout(operation, expected, problem.layout)) {
        return "its operation defines this layout differently than expected";
    }
    if (!std::ranges::equal(operation.arguments, expected.arguments, is_same_argument)) {
        return "its operation takes other arguments than expected, or in another order";
    }
    const auto environment = environment_of(operation, problem, device);
    const auto expected_environment = environment_of(expected, problem, device);
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
        const auto& argument = operation.arguments[i];
        if (!argument.is_matrix()) continue;
        const auto shape = shape_of(argument, environment);
        const auto wanted = shape_of(expected.arguments[i], expected_environment);
        if (shape.rows != wanted.rows || shape.columns != wanted.columns || shape.count != wanted.count) {
            return "its argument " + argument.name + " has another size than expected";
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
        if (a.*field <= 0 || b.*field <= 0) continue;  // the value is unknown
        const auto difference = std::log(static_cast<double>(a.*field)) - std::log(static_cast<double>(b.*field));
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

void sort_by_similarity(std::vector<StoredDevice>& devices, const Device& device) {
    const auto distance_of = [&](const StoredDevice& known) { return distance(device, known.second); };
    std::erase_if(devices, [&](const StoredDevice& known) {
        return std::isinf(distance_of(known)) || (is_checked(known.second) && known.second != device);
    });
    std::ranges::stable_sort(devices, {}, distance_of);
    // Several devices may have distance 0. Of these, the device that is equal to `device` must come first.
    std::stable_partition(devices.begin(), devices.end(),  // clang 14 rejects the std::ranges version
                          [&](const StoredDevice& known) { return known.second == device; });
}

bool is_similar(const Device& other, const Device& device) {
    return other != device && other.compute_capability == device.compute_capability && !device.is_host();
}

std::optional<StoredDevice> device_of_portfolio(const Store& store, const Problem& like, const Device& device) {
    auto devices = store.devices();
    sort_by_similarity(devices, device);
    for (const auto& [row, stored] : devices) {
        if (stored != device && !is_similar(stored, device)) continue;
        if (!store.portfolio({row, like.operation, like.type, like.layout}).members.empty()) return {{row, stored}};
    }
    return std::nullopt;
}

std::string binary_key(const std::string& target, const Problem& problem) {
    return target + " " + problem.type + (problem.layout.empty() ? "" : " " + problem.layout);
}

}  // namespace smemtune
