#include "tuner/analysis/convergence.h"

#include <gmock/gmock.h>

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoredConvergence : public ::testing::Test {
protected:
    Scratch scratch;
    std::filesystem::path file{scratch / "c.db"};
    Store store{file};
    std::vector<KernelTemplate> templates = builtin_templates();
    const KernelTemplate& kernel = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    std::int64_t next = 1;

    // Stores a trial that finished `second` seconds after 01:00:00. Its compile took one second.
    void trial(std::int64_t run, double second, Outcome outcome, const Problem& problem = gemm(64, 64, 64)) {
        TrialRecord record{
            .key = {store.remember(model_device("sm_90")),
                    store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files}),
                    store.remember(problem)},
            .configuration = completed({{{"TILE_WIDTH", next++}}}, default_configuration(kernel)),
            .outcome = std::move(outcome),
            .compile_ms = 1000,
            .run = run,
            .verified_by = "op/testbed"};
        store.remember(record);
        SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
            .exec(fmt::format("UPDATE trials SET finished_at = '2026-11-23T01:00:{:06.3f}Z' "
                              "WHERE id = (SELECT max(id) FROM trials)",
                              second));
    }
};

// The finals measured the first trial again, so it has a later date than the second trial.
TEST_F(StoredConvergence, AStepIsStoredForEachImprovementWhereItWasFirstTried) {
    const auto run = store.start_run({"{}", "{}", "{}"});
    trial(run, 4, Measurement{.median_us = 10});
    trial(run, 2, Rejection{Stage::compile, "no"});
    trial(run, 5, Measurement{.median_us = 12});
    trial(run, 7, Measurement{.median_us = 8});
    const auto found = stored_convergence(store, {.limit = 1});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].evaluations, 4U);
    EXPECT_DOUBLE_EQ(found[0].seconds, 6);  // from second 1, when the first compile began, to second 7
    ASSERT_THAT(found[0].steps, SizeIs(2));
    EXPECT_EQ(found[0].steps[0].evaluations, 1U);
    EXPECT_DOUBLE_EQ(found[0].steps[0].seconds, 1);
    EXPECT_DOUBLE_EQ(found[0].steps[1].seconds, 6);
    EXPECT_EQ(found[0].steps[1].best_us, 8);
    EXPECT_EQ(found[0].steps[1].trial, 4);
    EXPECT_EQ(found[0].within(0.25).evaluations, 1U);
    EXPECT_EQ(found[0].within(0.2).evaluations, 4U);
    EXPECT_THAT(found[0].speeds(4), ElementsAre(0.8, 0.8, 0.8, 1));
    EXPECT_THAT(found[0].speeds(2), ElementsAre(0.8, 1));
}

TEST_F(StoredConvergence, TheTimeBetweenRunsDoesNotCount) {
    const auto first = store.start_run({"{}", "{}", "{}"});
    const auto second = store.start_run({"{}", "{}", "{}"});
    trial(first, 2, Measurement{.median_us = 10});
    trial(first, 3, Measurement{.median_us = 9});
    trial(second, 50, Measurement{.median_us = 8});
    EXPECT_DOUBLE_EQ(stored_convergence(store, {})[0].seconds, 2 + 1);
}

TEST_F(StoredConvergence, AProblemWithoutAMeasurementIsLeftOut) {
    const auto run = store.start_run({"{}", "{}", "{}"});
    trial(run, 2, Rejection{Stage::crash, "no"});
    EXPECT_THAT(stored_convergence(store, {}), IsEmpty());
    trial(run, 3, Measurement{.median_us = 9}, gemm(32, 32, 32));
    EXPECT_THAT(stored_convergence(store, {}), SizeIs(1));
}

}  // namespace
}  // namespace smemtune
