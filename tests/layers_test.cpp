// Checks that each layer includes only itself, lower layers (util <- templates <- db <- runtime <- tuner) and allowed
// libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace smemtune {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Paths = std::set<std::string>;

// The layers, from the lowest to the highest.
const std::vector<std::string> layers{"util", "templates", "db", "runtime", "tuner"};

// Returns the layer of a path relative to the root; layers.end() if the path is in no layer.
auto layer_of(const std::string& path) { return std::ranges::find(layers, path.substr(0, path.find('/'))); }

// Returns the length of the comment, string or character literal at the start of `rest`; 0 if `rest` starts with none.
std::size_t extent_of_token(std::string_view rest) {
    const auto past = [&](std::string_view end, std::size_t from) {
        const auto at = rest.find(end, from);
        return at == std::string_view::npos ? rest.size() : at + end.size();
    };
    if (rest.starts_with("//")) return std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("/*")) return past("*/", 2);
    if (rest.starts_with("R\"")) return past(")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"", 2);
    if (!rest.starts_with('"') && !rest.starts_with('\'')) return 0;
    std::size_t at = 1;
    while (at < rest.size() && rest[at] != rest[0]) at += rest[at] == '\\' ? 2 : 1;
    return std::min(at + 1, rest.size());
}

// Returns the code without comments. Removes the content of quotes, too, unless `strings` is true. Line numbers do not
// change.
std::string code_of(const std::string& text, bool strings) {
    std::string code;
    for (std::size_t at = 0; at < text.size();) {
        const bool in_number = text[at] == '\'' && !code.empty() && std::isalnum(code.back()) != 0;
        const auto extent = in_number ? 0 : extent_of_token(std::string_view(text).substr(at));
        const auto token = text.substr(at, std::max<std::size_t>(extent, 1));
        if (extent == 0 || (strings && !token.starts_with('/'))) {
            code += token;
        } else {
            code.append(static_cast<std::size_t>(std::ranges::count(token, '\n')), '\n');
        }
        at += token.size();
    }
    return code;
}

// Whether the file is one of the testbed's own kernels.
bool is_testbed_kernel(const std::string& path) {
    return path.starts_with("tuner/trial/kernels/") || path.starts_with("tuner/trial/typed/kernels/");
}

// Whether the file is a header that kernels of the templates or of the testbed include.
bool is_kernel_header(const std::string& path) {
    return path.ends_with(".h") && (path.starts_with("templates/kernels/") || is_testbed_kernel(path));
}
bool is_kernel_code(const std::string& path) { return path.ends_with(".cu") || is_kernel_header(path); }

// Returns the file that an include in quotes refers to, as the compiler finds it; empty if there is none.
std::string resolve(const std::string& path, const std::string& name, const Paths& files) {
    const auto beside = (fs::path(path).parent_path() / name).lexically_normal().generic_string();
    std::vector<std::string> candidates{beside, name};
    if (is_kernel_code(path)) candidates.push_back("templates/kernels/" + name);  // include folder of kernels
    if (is_testbed_kernel(path)) candidates.push_back("tuner/trial/" + name);     // include folder of these kernels
    const auto found = std::ranges::find_if(candidates, [&](const auto& each) { return files.contains(each); });
    return found == candidates.end() ? "" : *found;
}

bool is_cuda(const std::string& header) {
    return header.starts_with("cuda") || header.starts_with("nvrtc") || header.starts_with("cublas");
}
// The only header that may include cuBLAS's headers. Only files of its own folder may include it, because these files
// are compiled only if cuBLAS's headers are installed.
constexpr const char* private_cuda_header = "runtime/cublas/cublas_api.h";

bool is_sqlite(const std::string& header) { return header.starts_with("sqlite") || header.starts_with("SQLiteCpp"); }

// Returns the reason why the file `path` must not include `header`; empty if it may.
std::string objection(const std::string& path, const std::string& header, bool quoted, const Paths& files) {
    const auto layer = layer_of(path);
    if (quoted) {
        const bool is_kernel = is_kernel_code(path);
        if (is_kernel && header == "configuration.h") return "";  // this header is generated for each candidate
        const auto target = resolve(path, header, files);
        if (target.empty()) return "is no file of the repository";
        if (target == private_cuda_header && !path.starts_with("runtime/cublas/")) return "is private to its folder";
        if (is_kernel) return is_kernel_header(target) ? "" : "is no header for kernels";
        if (layer_of(target) == layers.end()) return "is in no layer";
        return layer_of(target) > layer ? "runs from " + *layer + " up to " + *layer_of(target) : "";
    }
    if (is_cuda(header) && *layer != "runtime" && *layer != "tuner") return "brings CUDA into " + *layer;
    if (is_cuda(header) && path.ends_with(".h") && path != private_cuda_header) return "brings CUDA into a header";
    if (is_sqlite(header) && *layer != "db") return "brings SQLite into " + *layer;
    if (header == "iostream" && *layer != "tuner") return "is for printing";
    return "";
}

// Returns all violations in one file, as `PATH:LINE: what`. `files` are all files of the repository.
std::vector<std::string> violations(const std::string& path, const std::string& text, const Paths& files) {
    static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
    static const std::regex environment(R"(\b(secure_)?getenv\b)");
    static const std::regex printing(R"(\bf?v?printf\s*\(|\bf?put(s|c|char)\s*\(|\bperror\b|std::c(out|err|log)\b|)"
                                     R"(\bfmt::print\b|\bstd::print\b)");
    std::vector<std::string> found;
    std::istringstream with_strings(code_of(text, true));
    std::istringstream without_strings(code_of(text, false));
    std::string line;
    std::string words;
    for (int number = 1; std::getline(with_strings, line) && std::getline(without_strings, words); ++number) {
        const auto add = [&](const std::string& what) {
            found.push_back(path + ":" + std::to_string(number) + ": " + what);
        };
        std::smatch match;
        if (std::regex_search(line, match, include)) {
            const auto what = objection(path, match[2], match[1] == "\"", files);
            if (!what.empty()) add("include of " + match[2].str() + " " + what);
        }
        if (path != "tuner/main.cpp" && std::regex_search(words, match, environment)) add("reads the environment");
        // The host device may call printf, because kernels may.
        const bool for_kernels = path.find("host_device/") != std::string::npos;
        if (*layer_of(path) != "tuner" && !for_kernels && std::regex_search(words, match, printing)) add("prints");
    }
    return found;
}

std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Paths repository() {
    const fs::path root = SMEMTUNE_SOURCE_DIR;
    Paths files;
    for (const auto& folder : {"util", "templates", "db", "runtime", "tuner", "tests"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const auto extension = entry.path().extension();
            if (extension != ".h" && extension != ".cpp" && extension != ".cu") continue;
            files.insert(entry.path().lexically_relative(root).generic_string());
        }
    }
    return files;
}

TEST(Layers, NoFileUsesWhatItsLayerMayNot) {
    const auto files = repository();
    std::set<std::string> seen;
    for (const auto& path : files) {
        if (layer_of(path) == layers.end()) continue;
        EXPECT_THAT(violations(path, read(fs::path(SMEMTUNE_SOURCE_DIR) / path), files), IsEmpty());
        seen.insert(*layer_of(path));
    }
    EXPECT_EQ(seen.size(), layers.size());
}

// Returns the violations in a file with this path that has only this line.
std::vector<std::string> planted(const std::string& path, const std::string& line) {
    return violations(path, "// A file.\n" + line + "\n", repository());
}

TEST(Layers, APlantedIncludeThatRunsUpwardsIsFound) {
    EXPECT_THAT(planted("templates/launch/limits.cpp", "#include \"db/store.h\""),
                ElementsAre("templates/launch/limits.cpp:2: include of db/store.h runs from templates up to db"));
    EXPECT_THAT(planted("templates/launch/limits.h", "#include \"../../runtime/runtime.h\""),
                ElementsAre(HasSubstr("runs from templates up to runtime")));
    EXPECT_THAT(planted("db/store.cpp", "#include \"runtime/backend.h\""),
                ElementsAre(HasSubstr("runs from db up to runtime")));
    EXPECT_THAT(planted("runtime/host/block.cpp", "  # include \"tuner/search/search.h\""),
                ElementsAre(HasSubstr("runs from runtime up to tuner")));
    EXPECT_THAT(planted("runtime/host/block.cpp", "#include \"../../tuner/search/search.h\""),
                ElementsAre(HasSubstr("runs from runtime up to tuner")));
    EXPECT_THAT(planted("db/store.h", "/* why */ #include \"tuner/search/search.h\""),
                ElementsAre(HasSubstr("db up to tuner")));
}

TEST(Layers, AnIncludeThatRunsDownwardsIsFine) {
    EXPECT_THAT(planted("tuner/main.cpp", "#include \"templates/launch/limits.h\""), IsEmpty());
    EXPECT_THAT(planted("runtime/runtime.h", "#include \"../templates/space/problem.h\""), IsEmpty());
    EXPECT_THAT(planted("runtime/host/block.cpp", "#include \"layout.h\""), IsEmpty());
    EXPECT_THAT(planted("templates/launch/limits.cpp", "// #include \"db/store.h\""), IsEmpty());
    EXPECT_THAT(planted("templates/launch/limits.cpp", "/*\n#include \"db/store.h\"\n*/"), IsEmpty());
}

TEST(Layers, APlantedIncludeOfNoFileOrOfATestIsFound) {
    EXPECT_THAT(planted("tuner/tuning/tune.cpp", "#include \"tuner/tuen.h\""), ElementsAre(HasSubstr("is no file")));
    EXPECT_THAT(planted("tuner/tuning/tune.cpp", "#include \"tests/layers_test.cpp\""),
                ElementsAre(HasSubstr("in no layer")));
}

TEST(Layers, APlantedIncludeOfOursInAKernelIsFound) {
    EXPECT_THAT(planted("templates/kernels/gemm/new.cu", "#include \"templates/launch/limits.h\""),
                ElementsAre(HasSubstr("is no header for kernels")));
    EXPECT_THAT(planted("templates/kernels/gemm/new.h", "#include \"templates/launch/limits.h\""),
                ElementsAre(HasSubstr("is no header for kernels")));
    for (const auto* path : {"templates/kernels/gemm/new.cu", "templates/kernels/gemm/new.h"}) {
        EXPECT_THAT(planted(path, "#include \"device/vector.h\"\n#include \"configuration.h\""), IsEmpty());
        EXPECT_THAT(planted(path, "#include \"gemm/fp64.h\""), IsEmpty()) << "what two operations share";
    }
}

TEST(Layers, ThePrivateHeaderOfAnotherFolderIsFound) {
    const std::string line = "#include \"runtime/cublas/cublas_api.h\"";
    EXPECT_THAT(planted("runtime/cublas/cublas_lt.cpp", line), IsEmpty());
    EXPECT_THAT(planted("runtime/runtime.cpp", line), ElementsAre(HasSubstr("is private to its folder")));
}

TEST(Layers, APlantedLibraryInTheWrongLayerIsFound) {
    for (const auto* header : {"cuda.h", "cuda_runtime.h", "nvrtc.h", "cublas_v2.h"}) {
        const auto line = "#include <" + std::string(header) + ">";
        EXPECT_THAT(planted("templates/space/device.cpp", line), ElementsAre(HasSubstr("brings CUDA into templates")));
        EXPECT_THAT(planted("db/store.cpp", line), ElementsAre(HasSubstr("brings CUDA into db")));
        EXPECT_THAT(planted("runtime/runtime.h", line), ElementsAre(HasSubstr("brings CUDA into a header")));
        EXPECT_THAT(planted("runtime/cuda/nvrtc.cpp", line), IsEmpty());
        EXPECT_THAT(planted("runtime/cublas/cublas_api.h", line), IsEmpty());
    }
    for (const auto* header : {"sqlite3.h", "SQLiteCpp/Database.h"}) {
        const auto line = "#include <" + std::string(header) + ">";
        EXPECT_THAT(planted("templates/space/device.cpp", line),
                    ElementsAre(HasSubstr("brings SQLite into templates")));
        EXPECT_THAT(planted("tuner/tuning/tune.cpp", line), ElementsAre(HasSubstr("brings SQLite into tuner")));
        EXPECT_THAT(planted("db/store.cpp", line), IsEmpty());
    }
}

TEST(Layers, PlantedPrintingIsFoundBelowTheTuner) {
    for (const auto* line : {"#include <iostream>", "std::cerr << 1;", "printf(\"%d\", 1);", "std::fprintf(stderr, s);",
                             "puts (s);", "fmt::print(\"\");"}) {
        for (const auto* path :
             {"templates/new.cpp", "db/new.cpp", "runtime/host/new.cpp", "templates/kernels/gemm/new.cu"}) {
            EXPECT_EQ(planted(path, line).size(), 1U) << path << " " << line;
        }
        EXPECT_THAT(planted("tuner/report/report.cpp", line), IsEmpty());
    }
    EXPECT_THAT(planted("db/new.cpp", "snprintf(a, 3, b);  // not printf(b)"), IsEmpty());
    EXPECT_THAT(planted("db/new.cpp", "fail(\"printf(1)\", R\"(std::cout)\");"), IsEmpty());
}

TEST(Layers, PlantedReadingOfTheEnvironmentIsFoundOutsideMain) {
    EXPECT_THAT(planted("runtime/new.cpp", "std::getenv(\"HOME\");"),
                ElementsAre("runtime/new.cpp:2: reads the environment"));
    EXPECT_THAT(planted("tuner/tuning/tune.cpp", "const auto read = &::secure_getenv;"),
                ElementsAre(HasSubstr("environment")));
    EXPECT_THAT(planted("tuner/main.cpp", "std::getenv(\"HOME\");"), IsEmpty());
    // Text that looks like the start of a string or comment must not hide the code behind it.
    EXPECT_THAT(planted("tuner/tuning/tune.cpp", "x = 20'000; getenv(a); y = 30'000; c = '\"'; // \""),
                ElementsAre(HasSubstr("environment")));
}

// Counts the headers and sources of each folder, without subfolders. The limit keeps folders small enough to survey.
TEST(Layers, NoFolderHoldsMoreThanFifteenSources) {
    std::map<std::string, int> sources;
    for (const auto& path : repository()) {
        if (!path.starts_with("tests/") && !path.ends_with(".cu")) ++sources[fs::path(path).parent_path().string()];
    }
    for (const auto& [folder, count] : sources) EXPECT_LE(count, 15) << folder;
}

// docs/trust.md names tests for each danger, as `Suite.Name`, where * matches any text.
TEST(Documents, TrustNamesTestsThatExist) {
    const auto text = [](const fs::path& path) {
        std::ifstream file(fs::path(SMEMTUNE_SOURCE_DIR) / path);
        return std::string(std::istreambuf_iterator(file), {});
    };
    const auto matches = [](const std::string& in, const std::regex& pattern) {
        return std::vector<std::smatch>(std::sregex_iterator(in.begin(), in.end(), pattern), std::sregex_iterator());
    };
    std::string tests;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SMEMTUNE_SOURCE_DIR) / "tests")) {
        if (entry.path().extension() != ".cpp") continue;
        const auto source = text(entry.path());
        for (const auto& test : matches(source, std::regex("TEST(?:_F|_P)?\\((\\w+),\\s*(\\w+)\\)"))) {
            tests += test[1].str() + "." + test[2].str() + "\n";
        }
    }
    const auto document = text("docs/trust.md");
    const auto named = matches(document, std::regex("`([A-Z]\\w*\\.[\\w*]+)`"));
    EXPECT_GT(named.size(), 40U);
    for (const auto& each : named) {
        const auto pattern = std::regex_replace(each[1].str(), std::regex("\\*"), "\\w*");
        EXPECT_TRUE(std::regex_search(tests, std::regex("(^|\n)" + pattern + "\n"))) << each[1].str();
    }
}

}  // namespace
}  // namespace smemtune
