#include "tuner/cli/argument_parsing.h"

#include <gmock/gmock.h>

#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

template <class Work>
std::string usage_error(Work work) {
    try {
        work();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

TEST(ParseDuration, TakesSecondsMinutesAndHours) {
    for (const auto& [text, seconds] : std::vector<std::pair<std::string, int>>{
             {"1", 1}, {"90", 90}, {"90s", 90}, {"2m", 120}, {"1h", 3600}, {"1000000", 1'000'000}}) {
        EXPECT_EQ(parse_duration(text).count(), seconds) << text;
    }
    EXPECT_EQ(parse_duration("1000000h").count(), 3'600'000'000);
    for (const std::string text : {"", "0", "-1", "1000001", "5x", "5 s", "s", "1.5h", "99999999999999999999", "5ss"}) {
        EXPECT_EQ(usage_error([&] { (void)parse_duration(text); }),
                  "duration '" + text + "' is not a time of 1 s or more; write for example 90s, 10m or 1h");
    }
}

TEST(StoredDevices, NumbersAreThisMachinesDevicesAndWordsArePatterns) {
    EXPECT_THAT(stored_devices(""), IsEmpty());
    EXPECT_THAT(stored_devices("NVIDIA*,sm_90"), ElementsAre("NVIDIA*", "sm_90"));
    EXPECT_THAT(stored_devices("host,x"), ElementsAre("host: *", "x"));
    EXPECT_THAT(stored_devices("x,all,y"), IsEmpty()) << "every device";
}

TEST(ChooseDevices, SeveralWorkersMayShareTheHost) {
    const auto groups = choose_devices("host,host");
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(groups[0].device.is_host());
    EXPECT_THAT(groups[0].names, ElementsAre("host", "host"));
    EXPECT_EQ(usage_error([] { (void)choose_devices(","); }),
              "--device names no device; write for example 0, 0,1, all, host or auto");
}

TEST(AnyDevice, IsAModelLimitsOrADeviceOfThisMachine) {
    EXPECT_EQ(any_device("sm_80").name, "sm_80");
    EXPECT_EQ(any_device("grid_x=7").grid_x, 7);
    EXPECT_TRUE(any_device("host").is_host());
}

TEST(ChooseTemplates, AListHasNamesAndFoldersInItsOrderEachOnce) {
    const auto names = [](const std::string& list, const std::string& operation = "") {
        std::vector<std::string> found;
        for (const auto& kernel : choose_templates(list, operation)) found.push_back(kernel.name);
        return found;
    };
    EXPECT_THAT(names("tiled,naive,tiled"), ElementsAre("tiled", "naive"));
    EXPECT_EQ(names("").size(), builtin_templates().size());
    for (const auto& kernel : choose_templates("", "transpose")) EXPECT_EQ(kernel.operation.name, "transpose");
    EXPECT_THAT(names("tiled,tiled_transpose", "transpose"), ElementsAre("tiled_transpose"));
    EXPECT_THAT(
        usage_error([&] { (void)names("tield"); }),
        StartsWith("--templates: 'tield' is neither a template nor a folder; did you mean 'tiled'? The templates "
                   "are "));
    EXPECT_EQ(usage_error([&] { (void)names(","); }), "--templates ',' names no template");
    EXPECT_THAT(usage_error([&] { (void)names("tiled", "transpos"); }),
                HasSubstr("no template of --templates tiled computes the operation 'transpos'"));
    EXPECT_THAT(usage_error([&] { (void)names("", "transpos"); }),
                HasSubstr("no template computes the operation 'transpos'; did you mean 'transpose'? Known: "));
}

TEST(FindTemplate, NamesTheOneThatIsMeant) {
    EXPECT_EQ(find_template("", "tiled").name, "tiled");
    EXPECT_EQ(
        usage_error([] { (void)find_template("", "tield"); }),
        "there is no template 'tield'; did you mean 'tiled'? 'smemtune templates' lists them; a folder of your own "
        "is named by --templates FOLDER");
}

TEST(KnownSizeForms, AreThatOfTheOperationOrAllOfThem) {
    EXPECT_THAT(known_size_forms("batched_gemm").at(0).names, ElementsAre("BATCH", "M", "N", "K"));
    EXPECT_EQ(known_size_forms("batched_gemm").size(), 1U);
    const auto all = known_size_forms("");
    EXPECT_EQ(known_size_forms("of my own").size(), all.size());
    ASSERT_GE(all.size(), 4U);
    for (std::size_t extents = 1; extents <= 4; ++extents) {
        EXPECT_EQ(all[all.size() - 5 + extents].names.size(), extents) << "a user's operation";
    }
}

TEST(MakeProblems, HaveTheTypeTheLayoutAndTheExtentsOfTheOperation) {
    const auto gemms = find_template("", "tiled").operation;
    const auto device = model_device("sm_90");
    EXPECT_THAT(make_problems(gemms, "8x9x10,7", "f16", "nt", device),
                ElementsAre(gemm(8, 9, 10, "f16", "nt"), gemm(7, 7, 7, "f16", "nt")));
    const auto transpose = find_template("", "tiled_transpose").operation;
    EXPECT_THAT(make_problems(transpose, "8x9", "f32", "nt", device),
                ElementsAre(Problem{"transpose", "f32", "", {{"M", 8}, {"N", 9}}}))
        << "an operation without layouts";
    EXPECT_NE(usage_error([&] { (void)make_problems(gemms, "8x9", "f32", "nn", device); }), "");
    EXPECT_NE(usage_error([&] { (void)make_problems(gemms, "8", "f32", "xx", device); }), "") << "no such layout";
    EXPECT_EQ(make_problem(gemms, "8", "f32", "nn", device), gemm(8, 8, 8));
    EXPECT_EQ(usage_error([&] { (void)make_problem(gemms, "8,9", "f32", "nn", device); }),
              "--sizes 8,9 has several sizes, and one size is needed here");
}

TEST(CheckHostTime, RefusesWhatTakesMinutesUnlessTheHostWasNamed) {
    const auto gemms = find_template("", "tiled").operation;
    const auto host = any_device("host");
    EXPECT_NO_THROW(check_host_time(gemms, gemm(512, 512, 512), host, false));
    EXPECT_NO_THROW(check_host_time(gemms, gemm(1 << 15, 1 << 15, 1 << 15), model_device("sm_90"), false));
    const auto refusal = usage_error([&] { check_host_time(gemms, gemm(1 << 15, 1 << 15, 1 << 15), host, false); });
    EXPECT_THAT(refusal, StartsWith("gemm f32 nn 32768x32768x32768 takes about "));
    EXPECT_THAT(refusal, HasSubstr(" minutes for each kernel on the host CPU; choose a smaller size, or write --device "
                                   "host to run it there all the same"));
    EXPECT_NO_THROW(check_host_time(gemms, gemm(1 << 15, 1 << 15, 1 << 15), host, true));
}

}  // namespace
}  // namespace smemtune
