#include "tuner/bench/baselines.h"

#include <gmock/gmock.h>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class BaselinesTest : public ::testing::Test {
protected:
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        folder.write(name, text);
        return (folder / name).string();
    }
    TemporaryFolder folder;
    const std::string report = file("r.json", R"({"commit": "abc", "date": "2026-01-02", "device": {"name": "GPU"},
        "problems": [{"problem": {"operation": "gemm", "type": "f32", "layout": "nn", "extents": [["M", 4]]},
        "caches": {"cold": {"against": {"cublas": {"ratio": 1.5, "interval": [1.25, 1.75]}}}}}]})");
};

TEST_F(BaselinesTest, AreLibrariesDatabasesAndOneReport) {
    const auto database = file("t.db", "");
    const auto all = parse_baselines("cublaslt," + database + "," + report + ",cublas");
    EXPECT_THAT(all.libraries, ElementsAre("cublaslt", "cublas"));
    EXPECT_THAT(all.databases, ElementsAre(database));
    ASSERT_TRUE(all.previous);
    EXPECT_EQ(all.previous->path, report);
    EXPECT_EQ(all.previous->commit, "abc");
    EXPECT_EQ(all.previous->date, "2026-01-02");
    EXPECT_EQ(all.previous->device, "GPU");
    ASSERT_EQ(all.previous->figures.size(), 1U);
    EXPECT_EQ(all.previous->figures[0].ratio, 1.5);
}

TEST_F(BaselinesTest, WithoutLibrariesAndDatabasesMeanBothLibraries) {
    EXPECT_THAT(parse_baselines("").libraries, ElementsAre("cublas", "cublaslt"));
    EXPECT_THAT(parse_baselines(report).libraries, ElementsAre("cublas", "cublaslt"));
    EXPECT_THAT(parse_baselines("cublas").libraries, ElementsAre("cublas"));
    EXPECT_THAT(parse_baselines(file("t.db", "")).libraries, IsEmpty());
}

TEST_F(BaselinesTest, MistakesAreNamed) {
    const auto refusal = [](const std::string& list) { return complaint([&] { (void)parse_baselines(list); }); };
    EXPECT_THAT(refusal("cublass"), HasSubstr("--against 'cublass' is neither cublas, cublaslt nor a file"));
    const auto second = file("s.json", R"({"problems": []})");
    EXPECT_THAT(refusal(report + "," + second),
                HasSubstr("--against takes one JSON file, not both " + report + " and " + second));
    const auto other = file("o.json", "{}");
    EXPECT_THAT(refusal(other), HasSubstr("--against " + other + ": it is not what 'smemtune bench --json' writes"));
    const auto list = file("l.json", "[]");
    EXPECT_THAT(refusal(list), HasSubstr("--against " + list + " is no JSON object"));
}

TEST_F(BaselinesTest, ChangesSaySinceWhichReportAndOnWhichDevice) {
    const auto previous = *parse_baselines(report).previous;
    BenchReport now;
    now.provenance.device.name = "GPU";
    EXPECT_THAT(changes_since(previous, now), StartsWith("\nsince " + report + " (commit abc, 2026-01-02)\n0 ratios"));
    now.provenance.device.name = "other";
    EXPECT_THAT(changes_since(previous, now),
                StartsWith("\nsince " + report + " (commit abc, 2026-01-02, on another device: GPU)\n"));
}

}  // namespace
}  // namespace smemtune
