#include "tuner/report/trial_facts.h"

#include "templates/manifest/catalog.h"
#include "tuner/report/text.h"

namespace smemtune {

namespace {

// Returns the arithmetic operations of a launch. Returns nothing if the operation does not declare them.
std::optional<double> operations_of(const Operation& operation, const Problem& problem, const Device& device) {
    try {
        const auto operations = operation.operations.evaluate(environment_of(operation, problem, device));
        return operations > 0 ? std::optional(static_cast<double>(operations)) : std::nullopt;
    } catch (const std::exception&) {  // another version of smemtune wrote the manifest
        return std::nullopt;
    }
}

}  // namespace

std::string TrialFacts::differences() const {
    const auto& configuration = row.record.configuration;
    return defaults ? differences_text(configuration, *defaults) : to_text(configuration);
}

TrialReader::TrialReader(const Store& store) : store_(store) {
    for (auto& [row, device] : store.devices()) devices_.emplace(row, std::move(device));
}

TrialFacts TrialReader::read(TrialRow row) {
    const auto key = row.record.key;
    TrialFacts facts{.row = std::move(row), .device = devices_[key.device]};
    const auto* kernel = this->kernel(key.kernel_template);
    if (kernel != nullptr) {
        facts.defaults = default_configuration(*kernel);
        facts.operation_identity = operation_identity(*kernel, facts.row.problem);
    }
    const auto* measured = std::get_if<Measurement>(&facts.row.record.outcome);
    if (measured == nullptr) return facts;
    const auto operations =
        kernel == nullptr ? std::nullopt : operations_of(kernel->operation, facts.row.problem, facts.device);
    if (operations) {
        facts.flops = *operations / (measured->median_us * 1e-6);
        const auto peak = peak_fp32_flops(facts.device);
        if (peak > 0) facts.share_of_peak = *facts.flops / peak;
    }
    if (const auto& baseline = baseline_of(facts.row.problem.operation); !baseline.empty()) {
        const auto us = store_.best_us(key.device, key.problem, baseline);
        if (us) facts.times_baseline = *us / measured->median_us;
    }
    if (facts.row.winner) facts.faster_trial = faster_trial(facts.row);
    return facts;
}

// Returns the id of a trial whose stored time is shorter than that of `winner`; nothing if there is none. Precondition:
// `winner` was measured.
std::optional<std::int64_t> TrialReader::faster_trial(const TrialRow& winner) const {
    const auto& key = winner.record.key;
    try {
        const auto fastest = store_.fastest(key.device, key.problem);
        if (!fastest) return std::nullopt;
        const auto us = std::get<Measurement>(fastest->record.outcome).median_us;
        return us < std::get<Measurement>(winner.record.outcome).median_us ? std::optional(fastest->id) : std::nullopt;
    } catch (const DamagedRow&) {  // `smemtune db verify` lists the damaged rows
        return std::nullopt;
    }
}

const KernelTemplate* TrialReader::kernel(std::int64_t row) {
    const auto [found, is_new] = kernels_.try_emplace(row);
    if (!is_new) return found->second.get();
    try {
        if (const auto record = store_.recall_template(row)) {
            found->second = std::make_unique<KernelTemplate>(load_template(record->files));
        }
    } catch (const ManifestError&) {  // another version of smemtune wrote the manifest
    } catch (const DamagedRow&) {     // `smemtune db verify` lists the damaged rows
    }
    return found->second.get();
}

const std::string& TrialReader::baseline_of(const std::string& operation) {
    const auto [found, is_new] = baselines_.try_emplace(operation);
    if (!is_new) return found->second;
    for (const auto row : store_.templates_of(operation)) {
        const auto* kernel = this->kernel(row);
        if (kernel != nullptr && kernel->baseline) found->second = kernel->name;
    }
    return found->second;
}

}  // namespace smemtune
