// Tests the formats of other autotuners. Results that are written in a format and read back must be unchanged.
#include "tuner/formats/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace smemtune {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Converts to JSON whose comparison ignores the order of keys.
nlohmann::json plain(const Fields& value) { return nlohmann::json::parse(value.dump()); }

void expect_same(const TuningResults& a, const TuningResults& b) {
    EXPECT_EQ(plain(a.header), plain(b.header));
    EXPECT_EQ(a.parameters, b.parameters);
    ASSERT_EQ(a.entries.size(), b.entries.size());
    for (std::size_t i = 0; i < a.entries.size(); ++i) EXPECT_EQ(plain(a.entries[i]), plain(b.entries[i]));
}

// A cache file as Kernel Tuner writes it. Its parameters have strings, booleans and fractions as values. The second
// configuration failed, and the first has user-defined fields and a NaN.
const std::string cache = R"({
"device_name": "NVIDIA A100", "kernel_name": "sum", "problem_size": [4096, 64],
"tune_params_keys": ["tile", "mode", "fast", "scale"],
"tune_params": {"tile": [16, 32], "mode": ["a,b", "16"], "fast": [true, false], "scale": [0.5, 1.0]},
"objective": "time",
"cache": {
"16,a,b,True,0.5": {"tile": 16, "mode": "a,b", "fast": true, "scale": 0.5, "time": 1.25, "times": [1.0, 1.5],
 "compile_time": 400.5, "verification_time": 0, "benchmark_time": 2.5, "strategy_time": 0, "framework_time": 0.75,
 "timestamp": "2022-12-23 12:11:26.411558+00:00", "GFLOP/s": 12.5, "power": NaN, "low": -Infinity, "note": "a \"b\"\n"},
"32,16,False,1.0": {"tile": 32, "mode": "16", "fast": false, "scale": 1.0, "time": "CompilationFailedConfig",
 "__error__": "CompilationFailedConfig", "times": [], "compile_time": 10, "timestamp": "2022-12-23 12:11:27+00:00"}
}
})";

std::string complaint_of(const std::string& text) {
    try {
        (void)parse_results("file.x", text);
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TuningResults read_cache() { return parse_kernel_tuner("cache.json", cache); }

TEST(Formats, ACacheOfKernelTunerComesInAndGoesOutEqual) {
    const auto results = read_cache();
    EXPECT_EQ(plain(python_parse(kernel_tuner_text(results))), plain(python_parse(cache)));
    EXPECT_THAT(kernel_tuner_text(results), HasSubstr(R"("power":NaN,"low":-Infinity)"));
}

// Kernel Tuner treats a cache file that ends with "}\n}" as complete. It appends entries to any other cache file.
TEST(Formats, ACacheEndsAsKernelTunerCloses) { EXPECT_TRUE(kernel_tuner_text(read_cache()).ends_with("}\n}")); }

TEST(Formats, AnOpenCacheIsReadToItsLastWholeEntry) {
    const auto end = cache.find(",\n\"32,16");
    EXPECT_EQ(parse_kernel_tuner("x", cache.substr(0, end + 1)).entries.size(), 1);
    EXPECT_EQ(parse_kernel_tuner("x", cache.substr(0, cache.find("\"fast\": false"))).entries.size(), 1);
}

TEST(Formats, T4ComesBackEqual) {
    const auto results = read_cache();
    expect_same(parse_t4("t4.json", t4_text(results)), results);
    EXPECT_EQ(t4_text(parse_t4("t4.json", t4_text(results))), t4_text(results));
}

// The first result is valid although its `correctness` is 0.5. The second has the `invalidity` "timeout", although its
// other fields say that the compile failed.
TEST(Formats, T4KeepsAVerdictThatItsOtherFieldsDoNotImply) {
    auto results = read_cache();
    results.entries[0]["correctness"] = 0.5;
    results.entries[1]["invalidity"] = "timeout";
    const auto back = parse_t4("t4.json", t4_text(results));
    expect_same(back, results);
    EXPECT_FALSE(back.entries[0].contains("invalidity"));
    EXPECT_FALSE(back.entries[1].contains("correctness"));
}

TEST(Formats, T4SaysWhatFailed) {
    const auto file = python_parse(t4_text(read_cache()));
    const auto& results = file["results"];
    EXPECT_EQ(file["schema_version"], "1.0.0");
    EXPECT_EQ(results[0]["invalidity"], "correct");
    EXPECT_EQ(results[0]["correctness"], 1);
    EXPECT_EQ(results[0]["times"]["compilation_time"], 400.5);
    EXPECT_EQ(results[0]["times"]["runtimes"].size(), 2);
    EXPECT_EQ(results[1]["invalidity"], "compile");
    EXPECT_EQ(results[1]["correctness"], 0);
    EXPECT_EQ(results[1]["configuration"]["mode"], "16");
}

// The schema of T4 allows only numbers, texts and lists as values of measurements.
TEST(Formats, T4HoldsOtherValuesBesideTheMeasurements) {
    auto results = read_cache();
    results.entries[0]["environment"] = Fields{{"date", "today"}};
    results.entries[0]["flag"] = true;
    const auto text = t4_text(results);
    const auto file = python_parse(text);
    for (const auto& each : file["results"][0]["measurements"]) {
        EXPECT_TRUE(each["value"].is_number() || each["value"].is_string() || each["value"].is_array()) << each;
    }
    expect_same(parse_t4("t4.json", text), results);
}

TEST(Formats, T4HasTheUnitOfEachMeasurement) {
    auto results = read_cache();
    results.entries[0]["time_of_reads"] = 3;
    results.entries[0]["units"] = Fields{{"GFLOP/s", "GFLOP/s"}, {"time_of_reads", "us"}};
    const auto text = t4_text(results);
    std::map<std::string, std::string> units;
    const auto file = python_parse(text);
    for (const auto& each : file["results"][0]["measurements"]) units[each["name"]] = each["unit"];
    EXPECT_EQ(units["time"], "ms");
    EXPECT_EQ(units["GFLOP/s"], "GFLOP/s");
    EXPECT_EQ(units["time_of_reads"], "us");
    EXPECT_EQ(units["power"], "");
    EXPECT_FALSE(units.contains("units"));
    expect_same(parse_t4("t4.json", text), results);
}

TEST(Formats, T4KeepsObjectivesThatAreNotThoseOfAllResults) {
    auto results = read_cache();
    EXPECT_EQ(python_parse(t4_text(results))["results"][0]["objectives"], (Fields{"time"}));
    EXPECT_FALSE(parse_t4("t4.json", t4_text(results)).entries[0].contains("objectives"));
    results.entries[1]["objectives"] = {"power"};
    expect_same(parse_t4("t4.json", t4_text(results)), results);
    results.header["objective"] = "GFLOP/s";
    EXPECT_EQ(python_parse(t4_text(results))["results"][0]["objectives"], (Fields{"GFLOP/s"}));
    expect_same(parse_t4("t4.json", t4_text(results)), results);
}

// Kernel Tuner writes the compile time as "compilation", which T4's schema does not allow.
TEST(Formats, T4sNamesOfTimesAndFailuresBecomeThoseOfKernelTuner) {
    const auto entry = [](const std::string& fields) {
        return parse_t4("x", R"({"results": [{"configuration": {"P": 1}, )" + fields + "}]}").entries.at(0);
    };
    const auto times = entry(R"("times": {"compilation_time": 1, "benchmark": 2, "framework": 3, "search_algorithm": 4,
                                          "validation": 5, "runtimes": [6], "other": 7})");
    EXPECT_EQ(plain(times), nlohmann::json::parse(R"({"P": 1, "compile_time": 1, "benchmark_time": 2,
        "framework_time": 3, "strategy_time": 4, "verification_time": 5, "times": [6], "other": 7})"));
    EXPECT_EQ(entry(R"("times": {"compilation": 8})")["compile_time"], 8);
    for (const auto& [invalidity, name] :
         {std::pair("constraints", "InvalidConfig"), std::pair("compile", "CompilationFailedConfig"),
          std::pair("runtime", "RuntimeFailedConfig"), std::pair("timeout", "RuntimeFailedConfig"),
          std::pair("correctness", "RuntimeFailedConfig")}) {
        EXPECT_EQ(entry(std::string(R"("invalidity": ")") + invalidity + '"')["__error__"], name) << invalidity;
    }
    EXPECT_FALSE(entry(R"("invalidity": "correct")").contains("__error__"));
    for (const auto& [name, invalidity] :
         {std::pair("InvalidConfig", "constraints"), std::pair("CompilationFailedConfig", "compile"),
          std::pair("RuntimeFailedConfig", "runtime"), std::pair("ErrorConfig", "runtime")}) {
        auto results = read_cache();
        results.entries[0]["time"] = name;
        EXPECT_EQ(python_parse(t4_text(results))["results"][0]["invalidity"], invalidity);
    }
}

TEST(Formats, NumbersThatAreNotFiniteAreToldFromTheirNamesInTexts) {
    const std::string text = R"({"a":"x \" NaN","b":NaN,"c":"Infinity","d":[-Infinity,Infinity],"e":"\\","f":NaN})";
    const auto value = python_parse(text);
    EXPECT_EQ(value["a"], "x \" NaN");
    EXPECT_EQ(value["c"], "Infinity");
    EXPECT_NE(value["b"], "NaN");
    EXPECT_EQ(python_dump(value), text);
}

TEST(Formats, CsvComesBackEqual) {
    const auto results = read_cache();
    const auto back = parse_csv("x.csv", results_csv_text({results}));
    ASSERT_EQ(back.size(), 1);
    expect_same(back[0], results);
}

TEST(Formats, CsvKeepsTextsThatLookLikeOtherValues) {
    TuningResults results{.header = {{"device_name", "d"}}, .parameters = {"P"}};
    for (const auto* text :
         {"16", "true", "null", "", "\"", "a,b", "line\nbreak", "[1", "NaN", " x", "1e400", "18446744073709551616"}) {
        results.entries.push_back({{"P", text}, {"time", 1.5}});
    }
    const auto back = parse_csv("x.csv", results_csv_text({results}));
    ASSERT_EQ(back.size(), 1);
    expect_same(back[0], results);
}

TEST(Formats, CsvWithTheLineEndsOfWindowsIsReadAlike) {
    auto results = read_cache();
    for (auto& entry : results.entries) entry.erase("note");  // the note contains a line end
    auto text = results_csv_text({results});
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
    const auto back = parse_csv("x.csv", text);
    ASSERT_EQ(back.size(), 1);
    expect_same(back[0], results);
}

TEST(Formats, AQuoteWithinACsvCellIsALetterAndTheLastLineNeedsNoEnd) {
    const auto read = parse_csv("x.csv", "parameter.P,note,time\n1,5\" wide,2.5\n2,\"\",3.5").at(0);
    ASSERT_EQ(read.entries.size(), 2);
    EXPECT_EQ(plain(read.entries[0]), (nlohmann::json{{"P", 1}, {"note", "5\" wide"}, {"time", 2.5}}));
    EXPECT_EQ(plain(read.entries[1]), (nlohmann::json{{"P", 2}, {"time", 3.5}})) << "an empty cell is no value";
}

TEST(Formats, CsvHoldsSeveralProblems) {
    auto other = read_cache();
    other.header["device_name"] = "H200";
    other.entries.resize(1);
    const auto back = parse_csv("x.csv", results_csv_text({read_cache(), other}));
    ASSERT_EQ(back.size(), 2);
    expect_same(back[0], read_cache());
    expect_same(back[1], other);
}

TEST(Formats, CsvHoldsConfigurationsWithOtherParametersApart) {
    auto other = read_cache();
    other.parameters = {"tile"};
    other.entries = {{{"tile", 8}, {"time", 2.5}}};
    const auto back = parse_csv("x.csv", results_csv_text({read_cache(), other}));
    ASSERT_EQ(back.size(), 2);
    expect_same(back[0], read_cache());
    expect_same(back[1], other);
}

TEST(Formats, CsvNamesTheLineOfARowAfterLineBreaksInsideCells) {
    const std::string text = "parameter.P,note\r\n1,\"two\nlines \"\"here\"\"\"\n2,ok\n3,x,y\n";
    try {
        (void)parse_results("x.csv", text);
        ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "x.csv: the row of line 5 has 3 cells, not 2; repair it");
    }
    EXPECT_THAT(complaint_of("parameter.P\n1\n\"2\n"), HasSubstr("the quoted cell in the row of line 3 has no end"));
}

TEST(Formats, IntegersKeepAllTheirDigitsInEveryFormat) {
    const std::string largest = "18446744073709551615";
    const std::string odd = "9007199254740993";  // 2^53 + 1, which a double cannot represent
    const auto results = parse_kernel_tuner(
        "x",
        R"({"device_name": "d", "kernel_name": "k", "problem_size": [1], "objective": "time", "tune_params_keys": )"
        R"(["A", "B", "C"], "cache": {"1": {"A": )" +
            largest + R"(, "B": )" + odd + R"(, "C": -9223372036854775808, "time": 1.0}}})");
    for (const auto& format : result_formats()) {
        const auto text = results_text(format, {results});
        for (const auto& digits : {largest, odd, std::string("-9223372036854775808")}) {
            EXPECT_THAT(text, HasSubstr(digits)) << format;
        }
        const auto back = parse_results("x", text);
        for (const auto* name : {"A", "B", "C"}) {
            EXPECT_EQ(back.at(0).entries.at(0)[name], results.entries[0][name]) << format;
        }
    }
}

TEST(Formats, NumbersThatWouldLoseDigitsOrOverflowAreRefusedByName) {
    for (const auto& [number, why] :
         {std::pair("18446744073709551616", "which 64 bits cannot hold"),
          std::pair("-9223372036854775809", "which 64 bits cannot hold"),
          std::pair("1e400", "beyond the range of doubles"), std::pair("-1e400", "beyond the range of doubles")}) {
        const auto value = std::string(number);
        for (const auto& text : {R"({"cache": {"1": {"A": )" + value + R"(}}, "tune_params_keys": ["A"]})",
                                 R"({"results": [{"configuration": {"A": )" + value + "}}]}",
                                 R"({"version": "1.0", "tunable_parameters": ["A"]})"
                                 "\n"
                                 R"({"config": [)" +
                                     value + R"(], "problem_size": [1], "time": 1, "environment": {}})",
                                 "parameter.A,time\n" + value + ",1\n"}) {
            EXPECT_THAT(complaint_of(text), AllOf(HasSubstr("file.x: "), HasSubstr(value), HasSubstr(why)));
        }
    }
    EXPECT_THAT(complaint_of("parameter.A,time\n1,1\n1e400,1\n"),
                HasSubstr("the row of line 3 holds the number 1e400"));
    EXPECT_EQ(complaint_of("parameter.A,time\n\"\"\"1e400\"\"\",1\n"), "") << "a text may look like it";
}

const std::string wisdom =
    R"({"version": "1.0", "objective": "time", "tunable_parameters": ["tile", "mode"], "key": "sum"}
# a comment
{"config": [16, "a"], "problem_size": [100], "time": 0.5, "environment": {"device_name": "A100", "compute_capability": 80, "date": "d"}}
{"config": [32, "a"], "problem_size": [100], "time": 0.75, "environment": {"device_name": "A100", "compute_capability": 80}}
{"config": [16, "b"], "problem_size": [200, 3], "time": 1.5, "environment": {"device_name": "A100"}}
)";

std::vector<nlohmann::json> json_lines(const std::string& text) {
    std::vector<nlohmann::json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with('#')) lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
}

TEST(Formats, AWisdomFileComesInAndGoesOutEqual) {
    const auto results = parse_wisdom("sum.wisdom", wisdom);
    ASSERT_EQ(results.size(), 2);
    EXPECT_EQ(results[0].entries.size(), 2);
    EXPECT_EQ(results[1].header["problem_size"], (Fields{200, 3}));
    EXPECT_EQ(json_lines(wisdom_text(results)), json_lines(wisdom));
}

TEST(Formats, AWisdomFileHasTheFastestFirstAndNoFailures) {
    auto results = read_cache();
    results.entries.push_back(results.entries[0]);
    results.entries.back()["time"] = 0.25;
    const auto lines = json_lines(wisdom_text({results}));
    ASSERT_EQ(lines.size(), 3);
    EXPECT_EQ(lines[1]["time"], 0.25);
    EXPECT_EQ(lines[2]["time"], 1.25);
    EXPECT_EQ(lines[2]["config"], (nlohmann::json{16, "a,b", true, 0.5}));
}

TEST(Formats, AWisdomFileTellsProblemsOfOneSizeApart) {
    auto single = read_cache();
    single.header["type"] = "f32";
    auto half = single;
    half.header["type"] = "f16";
    const auto back = parse_wisdom("x.wisdom", wisdom_text({single, half}));
    ASSERT_EQ(back.size(), 2);
    EXPECT_EQ(back[0].header["type"], "f32");
    EXPECT_EQ(back[1].header["type"], "f16");
}

TEST(Formats, AWisdomFileKeepsTheDateOfAnEnvironmentAndElseHasThatOfTheEntry) {
    auto results = read_cache();
    EXPECT_EQ(json_lines(wisdom_text({results}))[1]["environment"]["date"], "2022-12-23 12:11:26.411558+00:00");
    results.entries[0]["environment"] = Fields{{"date", "today"}};
    EXPECT_EQ(json_lines(wisdom_text({results}))[1]["environment"]["date"], "today");
}

TEST(Formats, AWisdomFileOfFailuresAloneIsRefused) {
    auto results = read_cache();
    results.entries.erase(results.entries.begin());
    EXPECT_THROW((void)wisdom_text({results}), std::invalid_argument);
}

TEST(Formats, AWisdomFileHoldsThreeExtents) {
    auto results = read_cache();
    results.header["problem_size"] = {1, 2, 3, 4};
    EXPECT_THROW((void)wisdom_text({results}), std::invalid_argument);
    results.header["problem_size"] = {1, 2, 3};
    EXPECT_EQ(json_lines(wisdom_text({results}))[1]["problem_size"], (nlohmann::json{1, 2, 3}));
    results.header["problem_size"] = 7;
    EXPECT_EQ(json_lines(wisdom_text({results}))[1]["problem_size"], nlohmann::json::array({7}));
}

TEST(Formats, AWisdomFileIsOfOneKernelAndOneObjective) {
    auto results = read_cache();
    auto other = results;
    other.header["kernel_name"] = "product";
    EXPECT_THROW((void)wisdom_text({results, other}), std::invalid_argument);
    results.header["objective"] = "GFLOP/s";
    results.entries.push_back(results.entries[0]);
    results.entries.back()["GFLOP/s"] = 2;
    results.entries.push_back(results.entries[0]);
    results.entries.back().erase("GFLOP/s");
    const auto lines = json_lines(wisdom_text({results}));
    ASSERT_EQ(lines.size(), 3);
    EXPECT_EQ(lines[0]["objective"], "GFLOP/s");
    EXPECT_EQ(lines[1]["GFLOP/s"], 2);
    EXPECT_EQ(lines[2]["GFLOP/s"], 12.5);
}

TEST(Formats, AWisdomFileMayHaveCommentsAndEmptyLinesAndItsMistakesHaveLines) {
    const auto end = wisdom.find('\n') + 1;
    const auto more = wisdom.substr(0, end) + "// another comment\n \t\r\n\n" + wisdom.substr(end);
    EXPECT_EQ(parse_wisdom("x", more).size(), 2);
    EXPECT_EQ(complaint_of(more + "{\"config\": [1], \"problem_size\": [1], \"environment\": {}}\n"),
              "file.x: line 9 is no result; repair or remove it");
    EXPECT_EQ(complaint_of("{\"tunable_parameters\": []}\n"),
              "file.x: is a wisdom file of version (none); only version 1.0 can be read");
}

TEST(Formats, EachFormatIsToldFromItsText) {
    const auto results = read_cache();
    for (const auto& format : result_formats()) EXPECT_EQ(format_of(results_text(format, {results})), format);
    EXPECT_EQ(format_of(R"({"cache": {}, "results": []})"), "kernel-tuner") << "the name that comes first decides";
    EXPECT_EQ(format_of(R"({"results": [], "cache": {}})"), "t4");
    EXPECT_EQ(format_of(" \t\r\n{\"results\": []}"), "t4");
    EXPECT_EQ(format_of("{}"), "kernel-tuner");
    EXPECT_EQ(format_of("{\n\"tunable_parameters\": [], \"results\": []}"), "t4") << "only on the first line";
    EXPECT_EQ(format_of(""), "csv");
    EXPECT_EQ(format_of("[1]"), "csv");
    for (const auto& format : {"kernel-tuner", "t4"}) {
        EXPECT_THROW((void)results_text(format, {results, results}), std::invalid_argument) << format;
    }
}

TEST(Formats, WhatAFormatCannotHoldIsSaid) {
    auto results = read_cache();
    results.entries[0].erase("mode");
    for (const auto& format : {"t4", "wisdom"}) {
        try {
            (void)results_text(format, {results});
            ADD_FAILURE() << format;
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), testing::StartsWith(std::string(format) + " cannot hold these results"));
        }
    }
}

TEST(Formats, MalformedFilesAreNamed) {
    for (const std::string text :
         {"", "{", "{}", "[]", "a,b\n1,2\n", R"({"results": [{}]})", R"({"results": 3})",
          "parameter.A,parameter.A,time\n1,2,3\n", "parameter.A,A,time\n1,2,3\n",
          R"({"results": [{"configuration": {"a": 1}}, {"configuration": {"a": 1, "b": 2}}]})",
          R"({"results": [{"configuration": {"a": 1, "b": 2}}, {"configuration": {"a": 1}}]})",
          R"({"cache": {"1": {}}, "tune_params_keys": ["A"]})", R"({"cache": {}, "tune_params_keys": ["A"]})",
          R"({"version": "2.0", "tunable_parameters": []})", R"({"version": 1, "tunable_parameters": []})",
          R"({"version": "1.0", "tunable_parameters": [3]})"
          "\n"
          R"({"config": [1], "problem_size": {}, "environment": {}})",
          "parameter.A,time\n1\n", "parameter.A\n\"1"}) {
        try {
            (void)parse_results("file.x", text);
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), HasSubstr("file.x")) << text;
        }
    }
}

}  // namespace
}  // namespace smemtune
