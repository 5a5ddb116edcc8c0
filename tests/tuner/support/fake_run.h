// A tuning run without workers, for tests of ProblemTuner and its parts.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "tests/tuner/support/fake_compiler.h"
#include "tuner/candidates/proposal.h"
#include "tuner/report/progress.h"
#include "tuner/trial/sampling.h"
#include "tuner/trial/testbed.h"
#include "tuner/tuning/plan.h"
#include "tuner/tuning/tune_run.h"

namespace smemtune {

inline Problem transpose(std::int64_t size) {
    return {.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", size}, {"N", size}}};
}
inline Configuration work(std::int64_t value) { return {{{"WORK", value}}}; }
inline std::string name(const TemplateSearch& search, const Configuration& configuration) {
    return search.kernel_template().name + " " + to_text(configuration);
}
inline std::string name(const Proposal& candidate) { return name(*candidate.search, candidate.configuration); }

/// A run that tunes tests/fixtures/work at 16x16 for a GPU. A test may change `request` before it calls start().
struct FakeRun {
    explicit FakeRun(unsigned threads = 1) : pool(compiler, threads) {}
    ~FakeRun() { compiler.release_all(); }

    const TuneRun& start(std::size_t ahead = 1) {
        spaces = plan(request, device);
        return run.emplace(TuneRun{.request = request,
                                   .resources = resources,
                                   .device_row = store.remember(device),
                                   .run_row = store.start_run({"{}", "{}", "{}"}),
                                   .pool = pool,
                                   .ahead = ahead,
                                   .report = report,
                                   .progress = progress,
                                   .toolchain = "fake 1"});
    }
    /// Returns a search for each template of the first problem. The searches know no stored trials.
    [[nodiscard]] TemplateSearches searches() {
        TemplateSearches made;
        const auto& problem = request.problems.front();
        for (const auto& planned : spaces.front()) {
            const auto& kernel = *planned.kernel_template;
            const TemplateRecord record{kernel.name, kernel.operation.name, kernel.hash, kernel.files};
            const TrialKey key{run->device_row, store.remember(record, default_configuration(kernel)),
                               store.remember(problem)};
            made.push_back(std::make_unique<TemplateSearch>(planned, key, request, problem, device, WarmStart{}));
        }
        return made;
    }
    [[nodiscard]] const Problem& problem() const { return request.problems.front(); }
    /// Returns the verification identity of trials at the first problem.
    [[nodiscard]] std::string identity() const {
        return verification_identity(request.templates.front(), problem(), compiler);
    }
    /// Adds a second template, `name`, which is a copy of the fixture's template.
    void add_copy(const std::string& name) {
        auto sources = read_sources(fixture("work"));
        auto manifest = sources.at("work.toml");
        manifest.replace(manifest.find("\"work\""), 6, "\"" + name + "\"");
        sources.emplace(name + ".cu", sources.at("work.cu"));
        sources.emplace(name + ".toml", manifest);
        request.templates = load_templates(sources);
    }

    Scratch scratch;
    Device device = model_device("sm_90");
    TuneRequest request{.problems = {transpose(16)}, .templates = load_templates(read_sources(fixture("work")))};
    std::vector<std::vector<PlannedSpace>> spaces;
    Store store{scratch / "t.db", Store::Access::write};
    TuneReport report;
    Progress progress{stderr, Progress::Style::silent, {}};
    FakeCompiler compiler;
    SamplingPolicy sampling;
    std::atomic<bool> interrupted = false;
    TuneResources resources{device, compiler, store, {}, sampling, interrupted};
    CompilePool pool;
    std::optional<TuneRun> run;
};

/// Returns a measurement with six equal samples.
inline Measurement steady(double us, double energy_uj = 0) {
    return {.median_us = us, .samples_us = std::vector<double>(6, us), .energy_uj = energy_uj};
}

}  // namespace smemtune
