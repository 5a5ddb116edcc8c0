#include <gmock/gmock.h>

#include "runtime/backend.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ReportCommand, TuneWritesAPageOfItsTrialsAndReportWritesTheSame) {
    const Scratch scratch;
    const auto tuned = run(scratch, {"--device", "host", "--sizes", "16", "--templates", "naive", "--evaluations", "2",
                                     "--db", "t.db", "--report", "tuned.html"});
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_THAT(read_text(scratch / "tuned.html"),
                AllOf(HasSubstr(R"("size":"16x16x16")"), HasSubstr(R"("unfinished":false)")));
    EXPECT_EQ(run(scratch, {"report", "--db", "t.db", "--sizes", "16"}).code, 0);
    EXPECT_EQ(read_text(scratch / "report.html"), read_text(scratch / "tuned.html"));
}

TEST(ReportCommand, TuneWritesAPageOfItsOwnDevicesAndOperationAlone) {
    const Scratch scratch;
    {
        Store store(scratch / "t.db");
        const auto remember = [&](const Device& device, const std::string& operation, const Problem& problem) {
            store.remember(TrialRecord{
                .key = {store.remember(device), store.remember(TemplateRecord{"other", operation, "hash", {}}),
                        store.remember(problem)},
                .outcome = Measurement{.median_us = 5}});
        };
        remember(model_device("sm_80"), "gemm", gemm(24, 24, 24));
        remember(find_device("host").device, "transpose",
                 {.operation = "transpose", .type = "f32", .layout = "", .extents = {{"M", 40}, {"N", 40}}});
    }
    const auto tuned = run(scratch, {"--device", "host", "--sizes", "16", "--templates", "naive", "--evaluations", "1",
                                     "--db", "t.db", "--report", "tuned.html"});
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_THAT(read_text(scratch / "tuned.html"),
                AllOf(HasSubstr(R"("size":"16x16x16")"), ::testing::Not(HasSubstr(R"("size":"24x24x24")")),
                      ::testing::Not(HasSubstr(R"("size":"40x40")"))));
}

TEST(ReportCommand, NoOutputReplacesADatabase) {
    const Scratch scratch;
    {
        Store store(scratch / "t.db");
        store.remember(TrialRecord{
            .key = {store.remember(find_device("host").device),
                    store.remember(TemplateRecord{"naive", "gemm", "hash", {}}), store.remember(gemm(8, 8, 8))},
            .outcome = Measurement{.median_us = 5}});
    }
    const auto before = read_text(scratch / "t.db");
    const std::vector<std::string> tune{"tune", "--device", "host", "--sizes", "16", "--templates", "naive"};
    auto tune_into_page = tune;
    tune_into_page.insert(tune_into_page.end(), {"--db", "other.db", "--report", "t.db"});
    for (const auto& words : {std::vector<std::string>{"report", "t.db", "--db", "t.db"},
                              {"export-header", "gemm", "--output", "t.db"},
                              {"bench", "--device", "host", "--db", "t.db", "--json", "t.db"},
                              tune_into_page}) {
        const auto refused = run(scratch, words);
        EXPECT_EQ(refused.code, 2) << words.front();
        EXPECT_THAT(refused.err, HasSubstr("t.db is a database and is not replaced")) << words.front();
        EXPECT_EQ(read_text(scratch / "t.db"), before) << words.front();
    }
    auto same = tune;
    same.insert(same.end(), {"--db", "new.db", "--report", "./new.db"});
    EXPECT_THAT(run(scratch, same).err, HasSubstr("new.db is named by both --report and --db"));
    EXPECT_FALSE(std::filesystem::exists(scratch / "new.db"));
}

TEST(ReportCommand, MistakesAreNamed) {
    const Scratch scratch;
    Store store(scratch / "t.db");
    store.remember(
        TrialRecord{.key = {store.remember(model_device("sm_90")),
                            store.remember(TemplateRecord{"tiled", "gemm", "hash", {}}), store.remember(gemm(8, 8, 8))},
                    .outcome = Measurement{.median_us = 5}});
    write_text(scratch / "bench.json", "{}");
    struct {
        std::vector<std::string> words;
        int code;
        std::string message;
    } const mistakes[]{
        {{"--db", "absent.db"}, 4, "absent.db"},
        {{"--templates", "tilde"}, 1, "no trial matches"},
        {{"absent/page.html"}, 2, "absent/page.html: cannot be written"},
        {{"--bench", "absent.json"}, 2, "--bench absent.json: cannot be read"},
        {{"--bench", "bench.json"}, 2, "--bench bench.json: not what 'smemtune bench --json' prints"},
        {{"--against", "absent.db"}, 4, "absent.db"},
        {{"page.html", "--serve"}, 2, "leave out 'page.html'"},
        {{"--serve=70000"}, 2, "70000"},
    };
    for (const auto& [words, code, message] : mistakes) {
        std::vector<std::string> line{"report"};
        line.insert(line.end(), words.begin(), words.end());
        if (words.front() != "--db") line.insert(line.end(), {"--db", "t.db"});
        const auto finished = run(scratch, line);
        EXPECT_EQ(finished.code, code) << message;
        EXPECT_THAT(finished.err, HasSubstr(message));
    }
    const auto validated = run(scratch, {"tune", "--device", "host", "--validate", "--report", "page.html"});
    EXPECT_EQ(validated.code, 2);
    EXPECT_THAT(validated.err, HasSubstr("--validate stores nothing"));
}

}  // namespace
}  // namespace smemtune
