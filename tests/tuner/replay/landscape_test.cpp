#include "tuner/replay/landscape.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "templates/launch/limits.h"
#include "tests/tuner/support.h"

namespace smemtune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void write_gzip(const std::filesystem::path& file, const std::string& text) {
    auto* gzip = gzopen(file.c_str(), "wb");
    ASSERT_NE(gzip, nullptr);
    ASSERT_EQ(gzwrite(gzip, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(gzip);
}

// Returns a cache file in the format of Kernel Tuner: a header, then one entry per line.
std::string cache(const std::vector<std::string>& entries, const std::string& header = R"("objective": "time",)",
                  const std::string& parameters = R"("A": [1, 2, 4], "B": [10, 20])",
                  const std::string& keys = R"("A", "B")") {
    std::string text = "{\n\"device_name\": \"GPU X\",\n\"kernel_name\": \"work\",\n\"problem_size\": [64, 32],\n" +
                       ("\"tune_params_keys\": [" + keys + "],\n\"tune_params\": {") + parameters + "},\n" + header +
                       "\n\"cache\": {\n";
    for (std::size_t i = 0; i < entries.size(); ++i) {
        text += "\"" + std::to_string(i) + "\": " + entries[i] + (i + 1 < entries.size() ? ",\n" : "}\n}");
    }
    return text;
}

const std::string fine = R"({"A": 1, "B": 10, "time": 3.5, "times": [3.4, 3.6], "GFLOP/s": 7.0})";

Landscape read(const std::string& text) {
    const Scratch scratch;
    write_text(scratch / "x.json", text);
    return read_landscape(scratch / "x.json");
}

// Returns a line for each configuration, such as `A=1,B=10 3.5`, in the order of the space. A failed configuration has
// the word `failed` in place of the cost.
std::vector<std::string> points(const Landscape& landscape) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < landscape.space->size(); ++i) {
        std::string line;
        for (const auto& [name, value] : landscape.spelled((*landscape.space)[i])) {
            line += (line.empty() ? "" : ",") + name + "=" + value;
        }
        const auto cost = landscape.costs.at(i);
        lines.push_back(line + " " + (cost ? json(*cost).dump() : "failed"));
    }
    return lines;
}

TEST(Landscape, OfAClosedCacheHoldsWhatItLists) {
    const auto landscape = read(cache({R"({"A": 4, "B": 20, "time": 1.25})", fine}));
    EXPECT_EQ(landscape.device, "GPU X");
    EXPECT_EQ(landscape.kernel, "work");
    EXPECT_EQ(landscape.problem, "64x32");
    EXPECT_EQ(landscape.objective, "ms");
    EXPECT_THAT(points(landscape), ElementsAre("A=1,B=10 3.5", "A=4,B=20 1.25"));
    EXPECT_EQ(landscape.space->raw_size(), 6U) << "the values are those declared, used or not";
    EXPECT_THAT(landscape.by_cost(), ElementsAre(1, 0));
}

class Failure : public ::testing::TestWithParam<const char*> {};

TEST_P(Failure, IsAConfigurationWithoutACost) {
    const auto landscape = read(cache({fine, std::string(R"({"A": 2, "B": 10, )") + GetParam() + "}"}));
    EXPECT_THAT(points(landscape), ElementsAre("A=1,B=10 3.5", "A=2,B=10 failed"));
    EXPECT_THAT(landscape.by_cost(), ElementsAre(0));
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, Failure,
    ::testing::Values(R"("__error__": "InvalidConfig")", R"("__error__": "CompilationFailedConfig")",
                      R"("__error__": "RuntimeFailedConfig")", R"("__error__": "ErrorConfig", "time": 0.1)",
                      R"("__error__": "SomethingNew")", R"("time": "InvalidConfig")",
                      R"("time": "CompilationFailedConfig")", R"("time": "RuntimeFailedConfig")",
                      R"("time": "ErrorConfig")", R"("time": "SomethingNew")",
                      R"("time": 0.1, "verification": "RuntimeFailedConfig")", R"("GFLOP/s": "ErrorConfig")",
                      R"("time": null)", R"("time": NaN)", R"("time": Infinity)", R"("time": -Infinity)",
                      R"("time": 0)", R"("time": -1.0)", R"("compile_time": 12.5)"));

TEST(Landscape, ReadsWhatPythonWritesForNumbersThatAreNone) {
    const auto landscape = read(
        cache({R"({"A": 1, "B": 10, "time": 3.5, "power": NaN, "x": [-Infinity, Infinity], "s": "a \" NaN \\"})"}));
    EXPECT_THAT(points(landscape), ElementsAre("A=1,B=10 3.5"));
}

TEST(Landscape, WithoutAnObjectiveIsOneOfTimes) {
    const auto landscape = read(cache({fine}, ""));
    EXPECT_EQ(landscape.objective, "ms");
    EXPECT_THAT(points(landscape), ElementsAre("A=1,B=10 3.5"));
}

TEST(Landscape, OfARateHasTheHighestAsItsBest) {
    const auto landscape = read(cache({R"({"A": 1, "B": 10, "GFLOP/s": 4.0})", R"({"A": 2, "B": 10, "GFLOP/s": 8.0})"},
                                      R"("objective": "GFLOP/s",)"));
    EXPECT_THAT(points(landscape), ElementsAre("A=1,B=10 0.25", "A=2,B=10 0.125"));
}

TEST(Landscape, NamesAProblemHoweverItIsSpelt) {
    for (const auto& [spelt, expected] : std::map<std::string, std::string>{
             {"4096", "4096"}, {"[4096]", "4096"}, {"[64, 32, 8]", "64x32x8"}, {"\"callable\"", "callable"}}) {
        auto text = cache({fine});
        text.replace(text.find("[64, 32]"), 8, spelt);
        EXPECT_EQ(read(text).problem, expected);
    }
}

TEST(Landscape, KeepsValuesThatAreNoWholeNumbersByTheirIndices) {
    const auto landscape = read(cache({R"({"A": true, "B": "fast", "C": 0.5, "D": 16.0, "time": 1.0})",
                                       R"({"A": false, "B": "slow", "C": 2, "D": 32, "time": 2.0})"},
                                      "", R"("A": [false, true], "B": ["slow", "fast"], "C": [2, 0.5], "D": [16, 32])",
                                      R"("A", "B", "C", "D")"));
    EXPECT_THAT(points(landscape), ElementsAre("A=0,B=slow,C=2,D=32 2.0", "A=1,B=fast,C=0.5,D=16 1.0"));
    EXPECT_EQ(to_text((*landscape.space)[0]), "A=0,B=0,C=0,D=32");
    EXPECT_EQ(to_text((*landscape.space)[1]), "A=1,B=1,C=1,D=16");
}

TEST(Landscape, FindsAConfigurationOfASiblingThatCountsItsValuesDifferently) {
    const auto here = read(cache({R"({"A": 1, "B": "x", "time": 1.0})", R"({"A": 1, "B": "y", "time": 2.0})"}, "",
                                 R"("A": [1], "B": ["x", "y"])"));
    const auto sibling = read(cache({R"({"A": 1, "B": "y", "time": 1.0})", R"({"A": 1, "B": "z", "time": 2.0})"}, "",
                                    R"("A": [1], "B": ["z", "y"])"));
    const auto found = here.configuration(sibling.spelled((*sibling.space)[1]));
    ASSERT_TRUE(found);
    EXPECT_EQ(here.spelled(*found), (Landscape::Spelled{{"A", "1"}, {"B", "y"}}));
    EXPECT_FALSE(here.configuration(sibling.spelled((*sibling.space)[0]))) << "z is not known here";
    EXPECT_FALSE(here.configuration({{"A", "1"}})) << "B is missing";
}

TEST(Landscape, TakesValuesThatTheHeaderDoesNotDeclare) {
    const auto landscape = read(cache({R"({"A": 8, "B": 10, "time": 1.0})", fine}));
    EXPECT_THAT(points(landscape), ElementsAre("A=1,B=10 3.5", "A=8,B=10 1.0"));
}

TEST(Landscape, OfAnOpenCacheIsWhatTheInterruptedRunWrote) {
    const auto closed = cache({fine, R"({"A": 2, "B": 10, "time": 4.0})", R"({"A": 4, "B": 10, "time": 5.0})"});
    const auto entries = closed.substr(0, closed.size() - 4);  // without the ends of the last entry and of the file
    ASSERT_TRUE(entries.ends_with("5.0"));
    for (const auto* tail : {"},\n", "},", "}", "},\n\n"}) {
        EXPECT_EQ(read(entries + tail).costs.size(), 3U) << tail;
    }
    EXPECT_EQ(read(entries.substr(0, entries.size() - 8)).costs.size(), 2U) << "interrupted within an entry";
}

TEST(Landscape, IsUnpackedWhateverTheFileIsCalled) {
    const Scratch scratch;
    const auto text = cache({fine});
    write_gzip(scratch / "packed.json", text);
    write_text(scratch / "plain.json.gz", text);
    write_text(scratch / "twice.gz", read_text(scratch / "packed.json") + read_text(scratch / "packed.json"));
    EXPECT_EQ(read_landscape(scratch / "packed.json").costs.size(), 1U);
    EXPECT_EQ(read_landscape(scratch / "plain.json.gz").costs.size(), 1U);
    write_gzip(scratch / "open.gz", text.substr(0, text.size() - 3) + ",\n");
    EXPECT_EQ(read_landscape(scratch / "open.gz").costs.size(), 1U);
}

struct Broken {
    const char* name;
    std::string text;
    std::string says;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenLandscape : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenLandscape, IsRefusedByNameWithARemedy) {
    EXPECT_THAT(complaint([] { read(GetParam().text); }), AllOf(HasSubstr("x.json: "), HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(Landscape, BrokenLandscape,
                         ::testing::Values(Broken{"empty", "", "is empty; give a recorded cache"},
                                           Broken{"text", "hello\n", "is not JSON; give a cache file of Kernel Tuner"},
                                           Broken{"bytes", std::string("\x01\x02\x03", 3), "is not JSON"},
                                           Broken{"not_a_cache", R"({"results": []})", "not a cache of Kernel Tuner"},
                                           Broken{"an_array", "[1, 2]", "not a cache of Kernel Tuner"},
                                           Broken{"no_entries", cache({}) + "}}", "is an empty cache"},
                                           Broken{"open_header", cache({}), "is an empty cache"},
                                           Broken{"all_failed", cache({R"({"A": 1, "B": 10, "time": "ErrorConfig"})"}),
                                                  "none of its 1 configurations succeeded"},
                                           Broken{"no_value", cache({R"({"A": 1, "time": 1.0})"}),
                                                  R"(its entry "0" gives "B" no value)"},
                                           Broken{"nested", cache({R"({"A": [[[[1]]]], "B": 10, "time": 1})"}),
                                                  "nests lists deeper than 3 levels"},
                                           Broken{"no_object", cache({"17"}), R"(its entry "0" is not a JSON object)"},
                                           Broken{"other_objective", cache({fine}, R"("objective": "energy",)"),
                                                  R"(no entry has the objective "energy")"}),
                         [](const auto& each) { return each.param.name; });

TEST(Landscape, RefusesGzipThatWasCutOrDamaged) {
    const Scratch scratch;
    write_gzip(scratch / "whole.gz", cache(std::vector<std::string>(200, fine)));
    const auto packed = read_text(scratch / "whole.gz");
    write_text(scratch / "cut.gz", packed.substr(0, packed.size() / 2));
    EXPECT_THAT(complaint([&] { read_landscape(scratch / "cut.gz"); }),
                HasSubstr("cut.gz: ends in the middle of its gzip data; copy it again"));
    auto damaged = packed;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    write_text(scratch / "damaged.gz", damaged);
    EXPECT_THAT(complaint([&] { read_landscape(scratch / "damaged.gz"); }),
                AllOf(HasSubstr("damaged.gz: is damaged gzip data ("), HasSubstr("); copy it again")));
}

// The gzip file is only about 1 MB long. Its unpacked content may have at most 256 MiB.
TEST(Landscape, RefusesGzipThatUnpacksBeyondTheLimit) {
    const Scratch scratch;
    const auto of_size = [&](std::size_t size) {
        auto* gzip = gzopen((scratch / "bomb.gz").c_str(), "wb1");
        const std::string block(1 << 20, ' ');
        for (; size > 0; size -= std::min(size, block.size())) {
            gzwrite(gzip, block.data(), static_cast<unsigned>(std::min(size, block.size())));
        }
        gzclose(gzip);
        return complaint([&] { read_landscape(scratch / "bomb.gz"); });
    };
    EXPECT_THAT(of_size(longest_cache), HasSubstr("is empty"));
    EXPECT_THAT(of_size(longest_cache + 1), HasSubstr("more than 268435456 bytes when unpacked"));
}

TEST(Landscape, RefusesWhatIsNoFile) {
    const Scratch scratch;
    EXPECT_THAT(complaint([&] { read_landscape(scratch / "none.json"); }), HasSubstr("none.json: does not exist"));
    EXPECT_THAT(complaint([&] { read_landscape(scratch.path()); }), HasSubstr("is not a file"));
}

// Writes a database with the templates `names`, each tried at two sizes.
void write_database(const std::string& path, const std::vector<std::string>& names) {
    Store store(path);
    Device device;
    device.name = "GPU Y";
    const auto device_id = store.remember(device);
    for (const auto& name : names) {
        const auto kernel = store.remember(TemplateRecord{name, "gemm", "hash of " + name, {}});
        for (const std::int64_t size : {64, 128}) {
            const TrialKey key{device_id, kernel, store.remember(gemm(size, size, size))};
            store.remember({key, {{{"T", 8}}}, Measurement{.median_us = 5.0, .samples_us = {5.0}}});
            store.remember({key, {{{"T", 16}}}, Measurement{.median_us = 4.0, .samples_us = {4.0}}});
            store.remember({key, {{{"T", 4}}}, Rejection{Stage::wrong, "off by one"}});
        }
    }
}

TEST(Landscape, OfADatabaseIsOneTemplateOnOneProblem) {
    const Scratch scratch;
    write_database(scratch / "tuning.json", {"tiled", "joint_tiled"});  // a database in spite of its name
    const auto landscape = read_landscape(scratch / "tuning.json", {.kernel_templates = {"tiled"}, .sizes = {"128x*"}});
    EXPECT_EQ(landscape.device, "GPU Y");
    EXPECT_EQ(landscape.kernel, "tiled") << "not joint_tiled";
    EXPECT_EQ(landscape.problem, "gemm f32 nn 128x128x128");
    EXPECT_EQ(landscape.objective, "us");
    EXPECT_THAT(points(landscape), ElementsAre("T=4 failed", "T=8 5.0", "T=16 4.0"));
}

TEST(Landscape, OfADatabaseIsTheLastVersionOfATemplate) {
    const Scratch scratch;
    Store store(scratch / "tuning.db");
    const auto device = store.remember(model_device("sm_90"));
    const auto problem = store.remember(gemm(64, 64, 64));
    for (const std::int64_t version : {1, 2}) {
        const auto row = store.remember(TemplateRecord{"tiled", "gemm", std::to_string(version), {}});
        store.remember(
            {{device, row, problem}, {{{"T", version}}}, Measurement{.median_us = 5.0, .samples_us = {5.0}}});
        std::this_thread::sleep_for(2ms);  // the next date, in milliseconds, must be later
    }
    EXPECT_THAT(points(read_landscape(scratch / "tuning.db")), ElementsAre("T=2 5.0"));
}

TEST(Landscape, OfADatabaseWithSeveralSaysWhatThereIs) {
    const Scratch scratch;
    write_database(scratch / "tuning.db", {"tiled", "naive"});
    EXPECT_THAT(complaint([&] { read_landscape(scratch / "tuning.db"); }),
                HasSubstr("tuning.db: holds several recordings; choose one; --templates naive | tiled; --sizes and "
                          "--layout, of gemm f32 "
                          "nn 128x128x128 | gemm f32 nn 64x64x64"));
    for (const auto& nothing : {LandscapeFilter{.kernel_templates = {"none"}}, LandscapeFilter{.layout = "tt"}})
        EXPECT_THAT(complaint([&] { read_landscape(scratch / "tuning.db", nothing); }),
                    HasSubstr("holds no trial of that device, template and size"));
}

TEST(Landscape, OfADatabaseWithManyRecordingsNamesTheFirst) {
    const Scratch scratch;
    std::vector<std::string> names;
    for (int i = 10; i < 40; ++i) names.push_back("kernel_" + std::to_string(i));
    write_database(scratch / "tuning.db", names);
    const auto message = complaint([&] { read_landscape(scratch / "tuning.db"); });
    EXPECT_THAT(message, HasSubstr("kernel_14 | kernel_15 | ... (30 in all)"));
    EXPECT_LT(message.size(), 400U);
}

TEST(Landscape, OfADatabaseCountsTheValidConfigurationsThatWereTried) {
    const Scratch scratch;
    const auto device = model_device("sm_90");
    const auto problem = gemm(64, 64, 64);
    const auto& kernels = builtin_templates();
    const auto& kernel = *std::ranges::find(kernels, "tiled", &KernelTemplate::name);
    const auto space = feasible_space(kernel, problem, device);
    Store store(scratch / "tuning.db");
    const TrialKey key{store.remember(device),
                       store.remember(TemplateRecord{"tiled", "gemm", kernel.hash, kernel.files}),
                       store.remember(problem)};
    const auto read_again = [&] { return read_landscape(scratch / "tuning.db"); };
    for (std::size_t i = 0; i < space.size(); ++i) {
        store.remember({key, space[i], Measurement{.median_us = 5.0, .samples_us = {5.0}}});
        EXPECT_EQ(read_again().tried, i + 1);
    }
    EXPECT_EQ(read_again().valid, space.size());
    EXPECT_TRUE(read_again().of_database);
    EXPECT_EQ(read(cache({fine})).valid, std::nullopt) << "a cache does not say which configurations are valid";
    EXPECT_FALSE(read(cache({fine})).of_database);
}

}  // namespace
}  // namespace smemtune
