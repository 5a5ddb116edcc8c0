#include "tuner/portfolio/entries.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "runtime/backend.h"
#include "runtime/selection.h"
#include "templates/predict/correction.h"
#include "tuner/candidates/predicted_starts.h"
#include "tuner/portfolio/model/cross_times.h"
#include "tuner/problem/trial_ledger.h"
#include "util/parallel_for.h"

namespace smemtune {

namespace {

struct Found {
    const KernelTemplate* kernel = nullptr;
    std::int64_t template_row = 0;
    TrialRecord record;

    [[nodiscard]] double us() const { return std::get<Measurement>(record.outcome).median_us; }
};

constexpr std::size_t most_found_elsewhere = 300;  // limit of the configurations that found_elsewhere() returns

bool was_measured(const TrialRecord& record, const EntrySource&) {
    const auto* measured = std::get_if<Measurement>(&record.outcome);
    return measured != nullptr && !measured->cut_short && !record.code_hash.empty();
}

bool counts_as_found(const TrialRecord& record, const EntrySource& source) {
    return was_measured(record, source) && record.toolchain == source.toolchain &&
           (record.verified_by.empty() || record.verified_by == source.identity);
}

// Returns the fastest configurations of a problem, the fastest first. Only trials for which `counts` returns true are
// considered. If several configurations have the same machine code, returns only the fastest of them.
std::vector<Found> fastest_of(const EntrySource& source, const std::vector<std::int64_t>& template_rows,
                              std::int64_t problem_row, bool (*counts)(const TrialRecord&, const EntrySource&)) {
    std::vector<Found> all;
    for (std::size_t i = 0; i < template_rows.size(); ++i) {
        for (auto& record : source.resources.store.trials({source.device_row, template_rows[i], problem_row})) {
            if (counts(record, source)) {
                all.push_back({&source.templates[i], template_rows[i], std::move(record)});
            }
        }
    }
    std::ranges::stable_sort(all, {}, &Found::us);
    std::vector<Found> fastest;
    std::set<std::string> codes;
    for (auto& found : all) {
        if (fastest.size() == most_of_a_sample || found.us() > slowest_of_a_sample * all.front().us()) break;
        if (codes.insert(found.record.code_hash).second) fastest.push_back(std::move(found));
    }
    return fastest;
}

std::vector<std::int64_t> template_rows_of(const EntrySource& source) {
    std::vector<std::int64_t> rows;
    for (const auto& kernel : source.templates) {
        rows.push_back(source.resources.store.remember(
            TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files, kernel.same_code_as},
            default_configuration(kernel)));
    }
    return rows;
}

// Returns null if there is no such entry.
Entry* find_entry(std::vector<Entry>& entries, std::int64_t template_row, const Configuration& configuration) {
    const auto entry = std::ranges::find_if(entries, [&](const Entry& each) {
        return each.template_row == template_row && each.configuration == configuration;
    });
    return entry == entries.end() ? nullptr : &*entry;
}

BoundLaunch bound_of(const EntrySource& source, const KernelTemplate& kernel, const Configuration& configuration,
                     const Resources& resources) {
    return {kernel, configuration, source.resources.device, source.samples.front().problem,
            CompiledSize{resources.registers, resources.static_shared_bytes}};
}

// Adds the members of the stored portfolio. Cross-timing may have found faster configurations than a member at every
// sample. The member then is among the fastest at none of them, but may still be good at many.
void add_stored_members(const EntrySource& source, const std::vector<std::int64_t>& template_rows,
                        std::vector<Entry>& entries) {
    const auto& like = source.samples.front().problem;
    for (const auto& row :
         source.resources.store
             .portfolio({source.device_row, like.operation, like.type, like.layout}, TermsVersions::all)
             .members) {
        const auto& member = row.member;
        const auto place = std::ranges::find(template_rows, member.kernel_template);
        if (place == template_rows.end() || member.verified_by != source.identity) continue;
        const auto& kernel = source.templates[static_cast<std::size_t>(place - template_rows.begin())];
        // The template may have gained parameters since the member was stored, without a change of its code.
        const auto configuration = completed(member.configuration, default_configuration(kernel));
        if (find_entry(entries, member.kernel_template, configuration) != nullptr) continue;
        entries.push_back({.kernel = &kernel,
                           .template_row = member.kernel_template,
                           .configuration = configuration,
                           .code_hash = member.code_hash,
                           .bound = BoundLaunch(kernel, configuration, source.resources.device, like,
                                                {member.registers, member.static_shared_bytes})});
    }
}

// Finds the sample whose extents are the most similar to those of a problem.
class NearestSample {
public:
    explicit NearestSample(const std::vector<Sample>& samples) {
        for (const auto& sample : samples) place_of(sample.problem, places_.emplace_back());
    }
    std::size_t operator()(const Problem& problem) {
        place_of(problem, place_);
        const auto nearest = std::ranges::min_element(
            places_, {}, [&](const std::vector<double>& each) { return squared_distance(each, place_); });
        return static_cast<std::size_t>(nearest - places_.begin());
    }

private:
    std::vector<std::vector<double>> places_;
    std::vector<double> place_;
};

// Returns the stored problems that are not samples, each with its row in the database. Takes all problems of the
// samples' operation whose elements have the same size as those of the samples, in any layout.
std::vector<std::pair<Problem, std::int64_t>> problems_elsewhere(const EntrySource& source) {
    const auto& like = source.samples.front().problem;
    std::set<std::string> types;
    std::set<std::string> layouts{like.layout};
    for (const auto& kernel : source.templates) {
        for (const auto& layout : kernel.operation.layouts) layouts.insert(layout.first);
        for (const auto& type : kernel.types) {
            if (element_type(type).bytes == element_type(like.type).bytes) types.insert(type);
        }
    }
    std::set<Problem> samples;
    for (const auto& sample : source.samples) samples.insert(sample.problem);
    std::vector<std::pair<Problem, std::int64_t>> problems;
    for (const auto& type : types) {
        for (const auto& layout : layouts) {
            for (const auto& row : source.resources.store.best_of(source.device_row, like.operation, type, layout)) {
                const bool has_its_extents = std::ranges::equal(row.problem.extents, like.extents, {},
                                                                &std::pair<std::string, std::int64_t>::first,
                                                                &std::pair<std::string, std::int64_t>::first);
                if (has_its_extents && !samples.contains(row.problem))
                    problems.emplace_back(row.problem, row.record.key.problem);
            }
        }
    }
    return problems;
}

// Returns the fastest configurations of stored problems that are not samples (problems_elsewhere()). Such kernels are
// fast at similar extents. Transferred::problems lists the samples nearest to these problems. The configuration that is
// among the fastest of the most problems comes first.
std::vector<Transferred> found_elsewhere(const EntrySource& source, const std::vector<std::int64_t>& template_rows) {
    std::map<std::pair<std::int64_t, std::string>, Transferred> found;  // by template and configuration
    NearestSample nearest_sample(source.samples);
    for (const auto& [problem, row] : problems_elsewhere(source)) {
        const auto nearest = nearest_sample(problem);
        for (auto& fast : fastest_of(source, template_rows, row, was_measured)) {
            auto& each = found[{fast.template_row, to_text(fast.record.configuration)}];
            each.kernel = fast.kernel;
            each.configuration = std::move(fast.record.configuration);
            each.problems.push_back(nearest);
        }
    }
    std::vector<Transferred> all;
    all.reserve(found.size());
    for (auto& [key, each] : found) all.push_back(std::move(each));
    std::ranges::stable_sort(all, std::ranges::greater{}, [](const auto& each) { return each.problems.size(); });
    if (all.size() > most_found_elsewhere) all.resize(most_found_elsewhere);
    for (auto& each : all) {
        std::ranges::sort(each.problems);
        each.problems.erase(std::unique(each.problems.begin(), each.problems.end()), each.problems.end());
    }
    return all;
}

// Sets `code_hash` and `bound` of each entry whose configuration has a stored trial at one of the samples. Ignores
// trials of other toolchains and trials without a code hash.
void recall_compiled(const EntrySource& source, std::span<Entry> entries) {
    std::map<std::pair<std::int64_t, std::string>, Entry*> wanted;
    std::set<std::int64_t> template_rows;
    for (auto& entry : entries) {
        wanted[{entry.template_row, to_text(entry.configuration)}] = &entry;
        template_rows.insert(entry.template_row);
    }
    const auto& store = source.resources.store;
    for (const auto& sample : source.samples) {
        if (wanted.empty()) return;
        const auto problem_row = store.find(sample.problem);
        if (!problem_row) continue;
        for (const auto row : template_rows) {
            for (const auto& record : store.trials({source.device_row, row, *problem_row})) {
                if (record.code_hash.empty() || record.toolchain != source.toolchain) continue;
                const auto found = wanted.find({row, to_text(record.configuration)});
                if (found == wanted.end()) continue;
                auto& entry = *found->second;
                entry.code_hash = record.code_hash;
                entry.bound = bound_of(source, *entry.kernel, entry.configuration, record.resources);
                wanted.erase(found);
            }
        }
    }
}

}  // namespace

std::string toolchain_of(const TuneResources& resources) {
    const auto platform = platform_versions(resources.device);
    return resources.compiler.version() + (platform.empty() ? "" : "; " + platform);
}

std::vector<Entry> collect_entries(const EntrySource& source) {
    auto& store = source.resources.store;
    const auto template_rows = template_rows_of(source);
    std::vector<Entry> entries;
    for (std::size_t sample = 0; sample < source.samples.size(); ++sample) {
        const auto& problem = source.samples[sample].problem;
        const auto problem_row = store.find(problem);
        if (!problem_row) continue;
        bool is_fastest = true;
        for (const auto& found : fastest_of(source, template_rows, *problem_row, counts_as_found)) {
            const auto& record = found.record;
            auto* entry = find_entry(entries, found.template_row, record.configuration);
            if (entry == nullptr) {
                entries.push_back({.kernel = found.kernel,
                                   .template_row = found.template_row,
                                   .configuration = record.configuration,
                                   .code_hash = record.code_hash,
                                   .bound = bound_of(source, *found.kernel, record.configuration, record.resources)});
                entry = &entries.back();
            }
            entry->found.push_back(sample);
            if (is_fastest) entry->won.push_back(sample);
            is_fastest = false;
        }
    }
    add_stored_members(source, template_rows, entries);
    return entries;
}

void add_transferred_entries(const EntrySource& source, std::vector<Entry>& entries, Deadline deadline) {
    std::vector<Problem> problems;
    for (const auto& sample : source.samples) problems.push_back(sample.problem);
    const auto template_rows = template_rows_of(source);
    auto transferred = predicted_fastest(problems, source.resources.device, source.templates);
    std::ranges::move(found_elsewhere(source, template_rows), std::back_inserter(transferred));
    std::vector<Entry> added;
    for (auto& each : transferred) {
        const auto row = template_rows[static_cast<std::size_t>(each.kernel - source.templates.data())];
        auto* known = find_entry(entries, row, each.configuration);
        if (known == nullptr) known = find_entry(added, row, each.configuration);
        if (known == nullptr) {
            added.push_back({.kernel = each.kernel,
                             .template_row = row,
                             .configuration = each.configuration,
                             .code_hash = {},
                             .bound = bound_of(source, *each.kernel, each.configuration, {}),
                             .found = std::move(each.problems)});
        } else {
            std::vector<std::size_t> found;
            std::ranges::set_union(known->found, each.problems, std::back_inserter(found));
            known->found = std::move(found);
        }
    }
    recall_compiled(source, added);
    std::vector<std::size_t> not_compiled;
    for (std::size_t i = 0; i < added.size(); ++i) {
        if (added[i].code_hash.empty()) not_compiled.push_back(i);
    }
    provide_code(source, added, not_compiled, deadline);
    for (auto& entry : added) {
        if (entry.binary) {
            entry.bound = bound_of(source, *entry.kernel, entry.configuration, entry.binary->resources);
        }
        if (!entry.code_hash.empty()) entries.push_back(std::move(entry));
    }
}

void provide_code(const EntrySource& source, std::vector<Entry>& entries, const std::vector<std::size_t>& wanted,
                  Deadline deadline) {
    const auto& compiler = source.resources.compiler;
    const auto& like = source.samples.front().problem;
    std::vector<Entry*> missing;
    for (const auto i : wanted) {
        auto& entry = entries[i];
        if (entry.binary) continue;
        try {
            auto stored = source.resources.store.recall_binary(entry.template_row, entry.configuration,
                                                               binary_key(compiler.target(), like));
            if (stored && stored->compiler == compiler.version()) {
                entry.binary = Binary{entry.kernel->name, compiler.target(), stored->compiler, std::move(stored->code),
                                      stored->resources};
                entry.code_hash = code_hash_of(*entry.binary);
                continue;
            }
        } catch (const DamagedRow&) {  // the stored code is damaged, so the entry is compiled again
        }
        missing.push_back(&entry);
    }
    parallel_for(missing.size(), source.jobs, [&](std::size_t i) {
        if (source.resources.interrupted || Deadline::clock::now() > deadline) return;
        auto& entry = *missing[i];
        auto compiled = compiler.compile(program_of(*entry.kernel, entry.configuration, like));
        auto* binary = std::get_if<Binary>(&compiled);
        if (binary == nullptr) return;
        entry.code_hash = code_hash_of(*binary);
        entry.binary = std::move(*binary);
    });
}

}  // namespace smemtune
