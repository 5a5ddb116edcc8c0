// What one size hears of another: its second look, without any worker.
#include <gmock/gmock.h>

#include <set>

#include "tests/tuner/support.h"
#include "tuner/problem/problem_tuner.h"
#include "tuner/report/progress.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Its machine code is the configuration.
class TellingCompiler : public Compiler {
public:
    [[nodiscard]] std::variant<Binary, Rejection> compile(const Program& program) const override {
        const auto& text = program.files.at("configuration.h");
        return Binary{
            .entry = program.entry, .target = target(), .compiler = version(), .code = {text.begin(), text.end()}};
    }
    [[nodiscard]] std::string target() const override { return "pretended"; }
    [[nodiscard]] std::string version() const override { return "1"; }
};

// A search of WORK that ends after a few of its nine values: all take 100 us, but for what a test says.
class SecondLook : public ::testing::Test {
protected:
    static Problem transpose(std::int64_t size) {
        return {.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", size}, {"N", size}}};
    }

    void start() {
        spaces_ = plan(request_, device_);
        context_.emplace(TuningContext{.request = request_,
                                       .device = device_,
                                       .device_row = store_.remember(device_),
                                       .compiler = compiler_,
                                       .pool = pool_,
                                       .store = store_,
                                       .run = store_.start_run({"{}", "{}", "{}"}),
                                       .ahead = 1,
                                       .report = report_,
                                       .progress = progress_});
        tuner_ = std::make_unique<ProblemTuner>(*context_, request_.problems.front(), spaces_.front());
    }
    void plan_and_search() {
        start();
        play();
        ASSERT_TRUE(tuner_->is_done());
        tasks_.clear();
    }

    static std::string name(const Proposal& candidate) {
        return candidate.lane->kernel_template().name + " " + to_text(candidate.configuration);
    }
    static std::string text(const Task& task) {
        if (const auto* trial = std::get_if<TrialTask>(&task)) return "try " + name(trial->candidate);
        std::string players = "play";
        for (const auto& candidate : std::get<FinalTask>(task).candidates) players += ", " + name(candidate);
        return players;
    }
    [[nodiscard]] Measurement measured(const Proposal& candidate) const {
        const auto found = us_.find(name(candidate));
        const auto us = found == us_.end() ? 100 : found->second;
        const auto joules = uj_.find(name(candidate));
        return {.median_us = us,
                .samples_us = std::vector<double>(6, us),
                .energy_uj = joules == uj_.end() ? 100 : joules->second};
    }

    // Performs what it asks for, as one worker would.
    void play() {
        while (auto task = tuner_->next()) perform(*task);
        while (!tuner_->is_done() && soon([&] { return !tuner_->is_compiling(); })) {
            auto task = tuner_->next();
            if (!task) break;
            perform(*task);
        }
    }
    void perform(const Task& task) {
        if (tasks_.empty() || tasks_.back() != text(task)) tasks_.push_back(text(task));
        if (const auto* trial = std::get_if<TrialTask>(&task)) {
            if (tuner_->settle_without_trial(trial->candidate)) return;
            tuner_->finish(trial->candidate, TrialReport{.outcome = measured(trial->candidate)});
            return;
        }
        std::vector<Outcome> outcomes;
        for (const auto& candidate : std::get<FinalTask>(task).candidates) outcomes.emplace_back(measured(candidate));
        tuner_->finish(std::get<FinalTask>(task), outcomes, 0);
    }

    // The fastest trial of the template at another size.
    void found_at(const Problem& problem, const Configuration& configuration, const KernelTemplate& kernel) {
        const TemplateRecord record{kernel.name, kernel.operation.name, kernel.hash, kernel.files};
        const TrialKey key{context_->device_row, store_.remember(record, default_configuration(kernel)),
                           store_.remember(problem)};
        store_.remember(TrialRecord{
            .key = key, .configuration = configuration, .outcome = Measurement{.median_us = 1, .samples_us = {1}}});
    }
    void found_at(std::int64_t size, std::int64_t work) {
        found_at(transpose(size), {{{"WORK", work}}}, request_.templates.front());
    }
    // Values of WORK that the search has not tried.
    [[nodiscard]] std::vector<std::int64_t> untried() const {
        std::vector<std::int64_t> values;
        for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) {
            const auto rows = store_.rows({.size = "16x16"});
            const bool tried = std::ranges::any_of(
                rows, [&](const TrialRow& row) { return row.record.configuration.values.at("WORK") == value; });
            if (!tried) values.push_back(value);
        }
        return values;
    }
    static std::string work(std::int64_t value) { return "work WORK=" + std::to_string(value); }

    Scratch scratch_;
    Device device_ = model_device("sm_90");
    TuneRequest request_{.problems = {transpose(16)},
                         .templates = load_templates(read_sources(fixture("work"))),
                         .stopping = {.patience = 2}};
    std::vector<std::vector<PlannedSpace>> spaces_;
    Store store_{scratch_ / "t.db", Store::Access::write};
    TuneReport report_;
    Progress progress_{stderr, Progress::Style::silent, {}};
    TellingCompiler compiler_;
    CompilePool pool_{compiler_, 1};
    std::optional<TuningContext> context_;
    std::unique_ptr<ProblemTuner> tuner_;
    std::map<std::string, double> us_, uj_;
    std::vector<std::string> tasks_;  // in turn; the same again is one
};

TEST_F(SecondLook, WhatWonAtAnotherSizeSinceMeetsTheWinner) {
    plan_and_search();
    const auto before = tuner_->result();
    const auto news = untried().at(0);
    us_[work(news)] = 50;
    found_at(32, news);
    tuner_->look_again();
    EXPECT_TRUE(tuner_->is_searching());
    play();
    ASSERT_TRUE(tuner_->is_done());
    const auto winner = "work " + to_text(before.best->configuration);
    EXPECT_THAT(tasks_, ElementsAre("try " + work(news), "play, " + work(news) + ", " + winner, "play, " + work(news)));
    const auto result = tuner_->result();
    EXPECT_EQ(to_text(result.best->configuration), "WORK=" + std::to_string(news));
    EXPECT_EQ(result.evaluations, before.evaluations + 1);
    EXPECT_EQ(result.ended, "gain unlikely");
    EXPECT_GT(result.effort.total, before.effort.total);
    EXPECT_EQ(winners_in(scratch_ / "t.db").at(0), "transpose f32 16x16 " + work(news));
}

TEST_F(SecondLook, WhereNothingIsNewNothingIsTouched) {
    plan_and_search();
    const auto before = tuner_->result();
    const auto trials = trials_in(scratch_ / "t.db");
    for (const auto value : {64, 5}) {  // tried, and not a value here
        found_at(32 + value, value);
    }
    tuner_->look_again();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_EQ(tuner_->result().effort.total, before.effort.total);
    EXPECT_EQ(trials_in(scratch_ / "t.db"), trials + 2);
}

TEST_F(SecondLook, OneThatIsSlowHereCostsATrialAndNoFinals) {
    plan_and_search();
    const auto before = tuner_->result().best->configuration;
    const auto news = untried().at(0);
    us_[work(news)] = 106;
    found_at(32, news);
    tuner_->look_again();
    play();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_THAT(tasks_, ElementsAre("try " + work(news)));
    EXPECT_EQ(tuner_->result().best->configuration, before);
}

TEST_F(SecondLook, FourSizesAreHeardOfTheNearest) {
    plan_and_search();
    const auto news = untried();
    ASSERT_GE(news.size(), 5U);
    const std::vector<std::int64_t> sizes{256, 128, 64, 32, 20};
    for (std::size_t i = 0; i < 5; ++i) {
        us_[work(news[i])] = 200;
        found_at(sizes[i], news[i]);
    }
    tuner_->look_again();
    play();
    EXPECT_THAT(tasks_, UnorderedElementsAre("try " + work(news[1]), "try " + work(news[2]), "try " + work(news[3]),
                                             "try " + work(news[4])));
}

TEST_F(SecondLook, ATemplateThatIsClearlyBehindHearsNothing) {
    auto sources = read_sources(fixture("work"));
    auto manifest = sources.at("work.toml");
    manifest.replace(manifest.find("\"work\""), 6, "\"slow\"");
    sources.emplace("slow.cu", sources.at("work.cu"));
    sources.emplace("slow.toml", manifest);
    request_.templates = load_templates(sources);
    ASSERT_EQ(request_.templates.size(), 2U);
    for (const auto value : {64, 48, 32, 24, 16, 12, 1, 8, 4}) us_["slow WORK=" + std::to_string(value)] = 300;
    plan_and_search();
    for (const auto& kernel : request_.templates) {
        for (const auto value : {64, 48, 32, 24}) found_at(transpose(20 + value), {{{"WORK", value}}}, kernel);
    }
    tuner_->look_again();
    play();
    for (const auto& task : tasks_) EXPECT_EQ(task.find("try slow"), std::string::npos) << task;
}

TEST_F(SecondLook, ALimitThatIsReachedLeavesNoRoomForOne) {
    request_.evaluations = 2;
    plan_and_search();
    ASSERT_EQ(tuner_->result().evaluations, 2U);
    found_at(32, untried().at(0));
    tuner_->look_again();
    EXPECT_TRUE(tuner_->is_done());
}

TEST_F(SecondLook, ABudgetThatIsSpentEndsItAndWhatWasFoundPlays) {
    plan_and_search();
    const auto news = untried();
    us_[work(news[0])] = 50;
    found_at(20, news[0]);
    found_at(32, news[1]);
    tuner_->look_again();
    const auto task = tuner_->next();
    ASSERT_TRUE(task);
    perform(*task);
    tuner_->end_search("budget");
    play();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_EQ(tuner_->result().ended, "gain unlikely") << "as its own search did";
    EXPECT_EQ(to_text(tuner_->result().best->configuration), "WORK=" + std::to_string(news[0]));
    EXPECT_THAT(tasks_, ::testing::Not(::testing::Contains("try " + work(news[1]))));
}

TEST_F(SecondLook, NoMoreIsCompiledAtOnceThanASearchWould) {
    plan_and_search();
    const auto news = untried();
    for (std::size_t i = 0; i < 4; ++i) found_at(20 + static_cast<std::int64_t>(i), news.at(i));
    tuner_->look_again();
    ASSERT_TRUE(tuner_->next(2));
    ASSERT_TRUE(tuner_->next(2)) << "a second one, while the first is tried";
    const auto asked_for = std::ranges::count_if(news, [&](std::int64_t value) {
        return pool_.was_asked_for(
            program_of(request_.templates.front(), {{{"WORK", value}}}, request_.problems.front()));
    });
    EXPECT_EQ(asked_for, 2);
}

TEST_F(SecondLook, WhereNothingWasCrownedTheBestIsWhatCostsLeast) {
    request_.objective = Objective::energy;
    us_[work(64)] = 90;
    uj_[work(64)] = 300;
    start();
    for (int i = 0; i < 2; ++i) perform(tuner_->next().value());
    tuner_->stop("interrupted");
    ASSERT_EQ(tasks_.front(), "try " + work(64));
    EXPECT_EQ("try work " + to_text(tuner_->result().best->configuration), tasks_.back());
}

TEST_F(SecondLook, AnInterruptLeavesTheWinner) {
    plan_and_search();
    const auto before = tuner_->result();
    const auto news = untried().at(0);
    us_[work(news)] = 50;
    found_at(32, news);
    tuner_->look_again();
    const auto trial = tuner_->next();
    ASSERT_TRUE(trial);
    perform(*trial);
    auto final = tuner_->next();
    ASSERT_TRUE(soon([&] { return final || (final = tuner_->next()); }));
    tuner_->stop("interrupted");
    perform(*final);
    EXPECT_FALSE(tuner_->next());
    EXPECT_EQ(tuner_->result().best->configuration, before.best->configuration);
}

TEST_F(SecondLook, WhatALostWorkerGivesBackIsTriedByAnother) {
    plan_and_search();
    const auto news = untried().at(0);
    us_[work(news)] = 50;
    found_at(32, news);
    tuner_->look_again();
    auto trial = tuner_->next(2);
    ASSERT_TRUE(trial);
    EXPECT_FALSE(tuner_->next(2)) << "what follows depends on it";
    tuner_->give_back(std::move(*trial));
    play();
    EXPECT_EQ(to_text(tuner_->result().best->configuration), "WORK=" + std::to_string(news));
}

TEST_F(SecondLook, TheNextRunMeasuresNothing) {
    plan_and_search();
    const auto news = untried().at(0);
    us_[work(news)] = 50;
    found_at(32, news);
    tuner_->look_again();
    play();
    const auto winners = winners_in(scratch_ / "t.db");
    store_.finish_run(context_->run, "complete");
    tuner_ = std::make_unique<ProblemTuner>(*context_, request_.problems.front(), spaces_.front());
    tasks_.clear();
    play();
    EXPECT_TRUE(tuner_->is_done());
    EXPECT_THAT(tasks_, IsEmpty()) << "its search has ended, whatever came from elsewhere after that";
    EXPECT_EQ(to_text(tuner_->result().best->configuration), "WORK=" + std::to_string(news));
    EXPECT_EQ(winners_in(scratch_ / "t.db"), winners);
}

// A run-time argument is left at its default first, here as in a search.
TEST_F(SecondLook, TheRunTimeArgumentsOfANewcomerAreSwept) {
    request_.templates = load_templates(read_sources(fixture("grouped")));
    request_.problems = {{.operation = "grouping", .type = "f32", .layout = "", .extents = {{"N", 16}}}};
    const auto grouped = [](int backwards, int group, int threads) {
        return Configuration{{{"BACKWARDS", backwards}, {"GROUP", group}, {"THREADS", threads}}};
    };
    request_.evaluations = 1;  // the default alone
    plan_and_search();
    request_.evaluations.reset();
    auto other = request_.problems.front();
    other.extents = {{"N", 32}};
    found_at(other, grouped(0, 8, 64), request_.templates.front());
    us_["grouped " + to_text(grouped(0, 4, 64))] = 90;
    us_["grouped " + to_text(grouped(0, 8, 64))] = 80;
    tuner_->look_again();
    play();
    EXPECT_EQ(tasks_.front(), "try grouped " + to_text(grouped(0, 4, 64)));
    const std::set<std::string> tried(tasks_.begin(), tasks_.end());
    for (const auto& swept : {grouped(0, 2, 64), grouped(1, 2, 64), grouped(0, 8, 64)}) {
        EXPECT_TRUE(tried.contains("try grouped " + to_text(swept))) << to_text(swept);
    }
    EXPECT_EQ(tuner_->result().best->configuration, grouped(0, 8, 64));
    EXPECT_EQ(tuner_->result().evaluations, 5U);
}

}  // namespace
}  // namespace smemtune
