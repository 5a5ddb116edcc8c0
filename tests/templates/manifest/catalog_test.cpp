#include "templates/manifest/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace smemtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::StartsWith;

// Returns a user's kernel: a manifest with operation and template, a source with kernel and reference, and two headers.
SourceTree users() {
    return {{"scale.toml", R"toml([operation]
name       = "scale"
extents    = ["M", "N"]
operations = "M * N"
bytes      = "2 * M * N * element_bytes"
terms      = "1"
reference  = "scale.cu"
argument   = [{ name = "M", kind = "extent" }, { name = "N", kind = "extent" },
              { name = "A", kind = "input", rows = "M", columns = "N" },
              { name = "B", kind = "output", rows = "M", columns = "N" }]
check      = [{ inputs = "uniform" }]

[template]
name      = "scale"
summary   = "one element per thread"
operation = "scale"
types     = ["f32"]

[[parameter]]
name   = "WIDTH"
values = [64, 128]

[launch]
block = ["WIDTH"]
grid  = ["ceil_div(M * N, WIDTH)"]
)toml"},
            {"scale.cu",
             "#include \"configuration.h\"\n#include \"helper.h\"\n"
             "extern \"C\" __global__ void scale(int M, int N, const Element* A, Element* B) {}\n"
             "extern \"C\" __global__ void reference(int M, int N, const Element* A, Element* B) {}\n"},
            {"helper.h", "  #  include \t\"deep/er.h\"\n"},
            {"deep/er.h", "#include \"helper.h\"  // in a circle\n#include \"device/vector.h\"\n#include <cmath>\n"}};
}

std::string tree_refusal(const SourceTree& tree) {
    try {
        return "loads " + std::to_string(load_templates(tree).size());
    } catch (const ManifestError& error) {
        return error.what();
    }
}

std::vector<std::string> names_of(const std::vector<KernelTemplate>& templates) {
    std::vector<std::string> names;
    for (const auto& each : templates) names.push_back(each.operation.name + "/" + each.name);
    return names;
}

SourceTree with(SourceTree tree, const std::string& path, const std::string& from, const std::string& to) {
    auto& text = tree.at(path);
    const auto at = text.find(from);
    if (at == std::string::npos) throw std::logic_error(path + " does not hold " + from);
    text.replace(at, from.size(), to);
    return tree;
}

std::string hash(const SourceTree& tree) { return load_templates(tree).at(0).hash; }

class Folder {
public:
    Folder() {
        auto pattern = (std::filesystem::temp_directory_path() / "smemtune_catalog_XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path = pattern;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const SourceTree& tree) const {
        for (const auto& [name, text] : tree) {
            std::filesystem::create_directories((path / name).parent_path());
            std::ofstream(path / name, std::ios::binary) << text;
        }
    }

    std::filesystem::path path;
};

TEST(Catalog, HoldsTheTeachingKernels) {
    const auto& templates = builtin_templates();
    EXPECT_THAT(names_of(templates),
                testing::IsSupersetOf({"gemm/naive", "gemm/row_tile", "gemm/row_column_tile", "gemm/tiled",
                                       "gemm/strip_tiled", "gemm/rectangular_tiled", "gemm/joint_tiled",
                                       "gemm/thread_tiled", "transpose/tiled_transpose"}));
    EXPECT_TRUE(std::ranges::is_sorted(names_of(templates)));
    for (const auto& each : templates) {
        EXPECT_FALSE(each.summary.empty()) << each.name;
        EXPECT_TRUE(each.model.has_value()) << each.name;
        EXPECT_TRUE(each.files.contains(each.source_path)) << each.name;
        EXPECT_TRUE(each.files.contains(each.operation.reference_path)) << each.name;
    }
    const auto is_baseline = [](const KernelTemplate& t) { return t.operation.name == "gemm" && t.baseline; };
    EXPECT_EQ(std::ranges::count_if(templates, is_baseline), 1);
}

TEST(Catalog, TheBuiltInFilesAreThoseOfTheFolder) {
    const auto tree = read_sources(std::filesystem::path(SMEMTUNE_SOURCE_DIR) / "templates/kernels");
    for (const auto& [path, text] : tree) {
        const bool is_code_of_ours = path.ends_with(".h") && path.find('/') == std::string::npos;
        if (is_code_of_ours) continue;
        ASSERT_TRUE(builtin_sources().contains(path)) << path << " is missing from templates/CMakeLists.txt";
        EXPECT_EQ(builtin_sources().at(path), text) << path;
    }
}

TEST(Catalog, AUsersKernelIsTwoFiles) {
    auto tree = users();
    tree.erase("helper.h");
    tree.erase("deep/er.h");
    tree = with(tree, "scale.cu", "#include \"helper.h\"\n", "");
    const auto templates = load_templates(tree);
    EXPECT_THAT(names_of(templates), ElementsAre("scale/scale"));
    EXPECT_EQ(templates[0].source_path, "scale.cu");
    EXPECT_EQ(templates[0].operation.reference_path, "scale.cu");  // the source also has the reference
    EXPECT_THAT(templates[0].files, ElementsAre(Key("scale.cu"), Key("scale.toml")));
}

TEST(Catalog, CollectsWhatASourceIncludesAndNothingElse) {
    auto tree = users();
    tree["unused.h"] = "";
    const auto kernel = load_templates(tree).at(0);
    EXPECT_THAT(kernel.files, ElementsAre(Key("deep/er.h"), Key("device/vector.h"), Key("helper.h"), Key("scale.cu"),
                                          Key("scale.toml")));
    EXPECT_EQ(kernel.files.at("device/vector.h"), builtin_sources().at("device/vector.h"));
}

TEST(Catalog, AUsersHeaderComesBeforeTheBuiltInOne) {
    auto tree = users();
    tree["device/vector.h"] = "// mine\n";
    EXPECT_EQ(load_templates(tree).at(0).files.at("device/vector.h"), "// mine\n");
}

TEST(Catalog, AUsersKernelMayComputeABuiltInOperation) {
    const auto manifest = builtin_sources().at("gemm/tiled.toml");
    const auto tree = with({{"mine.toml", manifest}, {"mine.cu", builtin_sources().at("gemm/tiled.cu")}}, "mine.toml",
                           "\"tiled\"", "\"mine\"");
    const auto kernel = load_templates(tree).at(0);
    EXPECT_EQ(kernel.operation.name, "gemm");
    EXPECT_THAT(kernel.files, ElementsAre(Key("gemm/fp64.h"), Key("gemm/operation.toml"), Key("gemm/reference.cu"),
                                          Key("mine.cu"), Key("mine.toml")));
}

TEST(Catalog, AMissingFileIsNamedWithWhoWantsIt) {
    auto tree = users();
    tree.erase("deep/er.h");
    EXPECT_THAT(tree_refusal(tree), StartsWith("helper.h:1: file 'deep/er.h' is missing"));
    tree.erase("helper.h");
    EXPECT_THAT(tree_refusal(tree), StartsWith("scale.cu:2: file 'helper.h' is missing"));
    tree.erase("scale.cu");
    EXPECT_THAT(tree_refusal(tree), StartsWith("scale.toml:1: file 'scale.cu' is missing; put it there"));
    EXPECT_THAT(tree_refusal(with(users(), "scale.toml", "\"scale.cu\"", "\"slow.cu\"")),
                StartsWith("scale.toml:7: file 'slow.cu' is missing"));
}

TEST(Catalog, TwoKernelsOrOperationsOfOneNameAreAnError) {
    auto tree = users();
    tree["zz.toml"] = tree.at("scale.toml").substr(tree.at("scale.toml").find("[template]"));
    tree["zz.cu"] = tree.at("scale.cu");
    EXPECT_EQ(tree_refusal(tree), "zz.toml:1: template 'scale' is also in scale.toml; rename one");
    tree["zz.toml"] = tree.at("scale.toml");
    EXPECT_EQ(tree_refusal(tree), "zz.toml:1: operation 'scale' is also in scale.toml; rename one");
}

TEST(Catalog, AKernelsFilesLoadAgainAsTheSameKernel) {
    for (const auto& kernel : builtin_templates()) {
        const auto again = load_template(kernel.files);
        EXPECT_EQ(again.name, kernel.name);
        EXPECT_EQ(again.hash, kernel.hash) << kernel.name;
        EXPECT_EQ(again.files, kernel.files) << kernel.name;
    }
}

TEST(Catalog, KernelsThatShareAnOperationInAThirdOnesManifestLoadAlone) {
    auto tree = users();
    const auto manifest = tree.at("scale.toml");
    tree["other.toml"] = manifest.substr(manifest.find("[template]"));
    tree = with(tree, "other.toml", "\"scale\"", "\"other\"");
    tree["other.cu"] = "#include \"configuration.h\"\n";
    const auto templates = load_templates(tree);
    ASSERT_THAT(names_of(templates), ElementsAre("scale/other", "scale/scale"));
    for (const auto& kernel : templates) {
        const auto again = load_template(kernel.files);
        EXPECT_EQ(again.name, kernel.name);
        EXPECT_EQ(again.hash, kernel.hash);
    }
}

// The reference is in the source of one template and uses that template's constants. A second template lacks these
// constants, so the reference would not compile with it.
TEST(Catalog, AReferenceBesideAKernelsConstantsServesThatKernelAlone) {
    auto files = users();
    files["other.toml"] =
        "[template]\nname = \"other\"\noperation = \"scale\"\ntypes = [\"f32\"]\n"
        "[launch]\nblock = [\"32\"]\ngrid = [\"M\"]\n";
    files["other.cu"] = "";
    try {
        (void)load_templates(files);
        FAIL();
    } catch (const ManifestError& error) {
        EXPECT_THAT(error.what(), StartsWith("other.toml:1: the reference of operation 'scale' is in scale.cu"));
        EXPECT_THAT(error.what(), HasSubstr("move the reference to a file of its own"));
    }
    files["reference.cu"] = files["scale.cu"];
    auto& manifest = files["scale.toml"];
    manifest.replace(manifest.find("\"scale.cu\""), 10, "\"reference.cu\"");
    EXPECT_EQ(load_templates(files).size(), 2U);
}

TEST(Catalog, AKernelThatExtendsAnotherLoadsAlone) {
    auto tree = users();
    tree["deep/other.toml"] =
        "[template]\nname = \"other\"\noperation = \"scale\"\ntypes = [\"f32\"]\nextends = \"scale.toml\"\n"
        "[launch]\nblock = [\"2 * WIDTH\"]\n";
    tree["deep/other.cu"] = "#include \"configuration.h\"\n";
    const auto kernel = load_templates(tree).at(0);
    EXPECT_EQ(kernel.name, "other");
    const auto again = load_template(kernel.files);
    EXPECT_EQ(again.hash, kernel.hash);
    EXPECT_EQ(again.files, kernel.files);
    EXPECT_EQ(again.block[0].text(), "2 * WIDTH");
    EXPECT_EQ(again.parameters.at(0).name, "WIDTH");
}

TEST(Catalog, AUsersKernelMayExtendABuiltInOne) {
    SourceTree tree{{"mine.toml",
                     "[template]\nname = \"mine\"\noperation = \"gemm\"\ntypes = [\"f32\"]\nextends = "
                     "\"gemm/tiled.toml\"\n"},
                    {"mine.cu", builtin_sources().at("gemm/tiled.cu")}};
    EXPECT_EQ(load_templates(tree).at(0).parameters.at(0).name, "TILE_WIDTH");
    tree = with(tree, "mine.toml", "gemm/tiled", "gemm/absent");
    EXPECT_THAT(tree_refusal(tree), StartsWith("mine.toml:5: file 'gemm/absent.toml' is missing; put it there"));
}

TEST(Catalog, FilesOfNoneOrSeveralKernelsAreNoStoredTemplate) {
    EXPECT_THROW((void)load_template({}), ManifestError);
    EXPECT_THROW((void)load_template(builtin_sources()), ManifestError);
}

TEST(Catalog, TheHashChangesWithWhatDecidesCodeAndLaunch) {
    const auto before = hash(users());
    EXPECT_EQ(hash(users()), before);
    EXPECT_NE(hash(with(users(), "scale.cu", "__global__", "/**/ __global__")), before);
    EXPECT_NE(hash(with(users(), "helper.h", "#  include", "#include")), before) << "a header";
    EXPECT_NE(hash(with(users(), "deep/er.h", "circle", "ring")), before) << "a header's header";
    EXPECT_NE(hash(with(users(), "scale.toml", "block = [\"WIDTH\"]", "block = [\"2 * WIDTH\"]")), before);
    EXPECT_NE(hash(with(users(), "scale.toml", "ceil_div(M * N, WIDTH)", "M * N")), before);
    EXPECT_NE(hash(with(users(), "scale.toml", "[launch]", "[launch]\ndynamic_shared_bytes = \"64\"")), before);
    EXPECT_NE(hash(with(users(), "scale.toml", "[launch]", "[launch]\nworkspace_bytes = \"0\"")), before)
        << "an argument more";
    EXPECT_NE(hash(with(users(), "scale.toml", "name      = \"scale\"", "name = \"reference\"")), before) << "entry";
    EXPECT_NE(hash(with(users(), "scale.toml", "{ name = \"N\", kind = \"extent\" }",
                        "{ name = \"N\", kind = \"extent\", type = \"i64\" }")),
              before);
    EXPECT_NE(hash(with(users(), "scale.toml", "argument ", "layouts.up = { FLIP = 0 }\nargument ")), before);
}

TEST(Catalog, TheHashDoesNotChangeWithAParameterThatNeitherCodeNorLaunchNames) {
    const auto before = hash(users());
    for (const auto* runtime : {"false", "true"}) {
        const auto added =
            std::string("[[parameter]]\nname = \"ORDER\"\nvalues = [0, 1]\nruntime = ") + runtime + "\n\n[[parameter]]";
        EXPECT_EQ(hash(with(users(), "scale.toml", "[[parameter]]", added)), before) << runtime;
    }
}

TEST(Catalog, TheHashChangesWithTheOrderOfRuntimeParameters) {
    const auto hash_with = [](const std::string& first, const std::string& second) {
        const auto parameter = [](const std::string& name) {
            return "[[parameter]]\nname = \"" + name + "\"\nvalues = [0, 1]\nruntime = true\n\n";
        };
        return hash(
            with(users(), "scale.toml", "[[parameter]]", parameter(first) + parameter(second) + "[[parameter]]"));
    };
    EXPECT_NE(hash_with("ORDER", "GROUP"), hash_with("GROUP", "ORDER"));
    EXPECT_EQ(hash_with("ORDER", "GROUP"), hash_with("ORDER", "GROUP"));
}

// Derived constants are part of the program. Other derived values are not.
TEST(Catalog, TheHashChangesWithDerivedConstantsAlone) {
    const auto with_derived = [](const std::string& value, const std::string& more) {
        return hash(with(users(), "scale.toml", "[launch]",
                         "[[derived]]\nname = \"TWICE\"\nvalue = \"" + value + "\"\n" + more + "[launch]"));
    };
    EXPECT_EQ(with_derived("2 * WIDTH", ""), hash(users()));
    const auto constant = with_derived("2 * WIDTH", "constant = true\n");
    EXPECT_NE(constant, hash(users()));
    EXPECT_NE(constant, with_derived("WIDTH", "constant = true\n"));
    EXPECT_EQ(constant, with_derived("2 * WIDTH", "constant = true\nsummary = \"more words\"\n"));
}

TEST(Catalog, AListOfVersionsWithTheSameCodeCountsOnlyIfItNamesThePresentOne) {
    const auto now = hash(users());
    const auto kernel = [](const std::string& list) {
        return load_templates(with(users(), "scale.toml", "[template]", "[template]\nsame_code = [" + list + "]"))
            .at(0);
    };
    const auto listed = kernel("\"before\", \"" + now + "\"");
    EXPECT_EQ(listed.hash, now) << "the list is no part of it";
    EXPECT_THAT(listed.same_code_as, ElementsAre("before"));
    EXPECT_TRUE(listed.is_same_code("before"));
    EXPECT_TRUE(listed.is_same_code(now));
    EXPECT_FALSE(listed.is_same_code("of another"));
    EXPECT_THAT(kernel("\"before\", \"of the version before\"").same_code_as, testing::IsEmpty());
}

// This test fails if an author changes the text of a kernel with `same_code`, or of a header that it includes. The
// author must then decide again whether the machine code is the same.
TEST(Catalog, TheBuiltInListsOfVersionsWithTheSameCodeNameThePresentOne) {
    for (const auto& kernel : builtin_templates()) {
        if (kernel.files.at(kernel.path).find("same_code") == std::string::npos) continue;
        EXPECT_THAT(kernel.same_code_as, testing::Not(testing::IsEmpty()))
            << kernel.path << ": same_code lacks the present hash " << kernel.hash
            << "; if the machine code is still the same, add the hash, otherwise delete same_code";
    }
}

TEST(Catalog, TheHashDoesNotChangeWithWords) {
    const auto before = hash(users());
    EXPECT_EQ(hash(with(users(), "scale.toml", "one element per thread", "an element for each thread")), before);
    EXPECT_EQ(hash(with(users(), "scale.toml", "[64, 128]", "[32, 64, 128]")), before);
    EXPECT_EQ(hash(with(users(), "scale.toml", "[[parameter]]", "# a comment\n[[parameter]]")), before);
    auto tree = with(users(), "scale.toml", "reference  = \"scale.cu\"", "reference = \"slow.cu\"");
    tree["slow.cu"] = "one reference\n";
    EXPECT_EQ(hash(tree), before);
    tree["slow.cu"] = "another\n";
    EXPECT_EQ(hash(tree), before);
}

// Stored trials and shipped portfolios contain these hashes. Replace a hash here only if the checks, the reference or
// the machine code of a kernel changed. Stored trials with the old hash no longer count then, so the kernel must be
// verified or timed again.
TEST(Catalog, TheHashesOfStoredTrialsCountAsThoseOfTheBuiltInTemplates) {
    std::map<std::string, const KernelTemplate*> kernels;
    std::map<std::string, std::string> identities;
    const auto templates = load_templates(builtin_sources());
    for (const auto& kernel : templates) {
        kernels[kernel.name] = &kernel;
        EXPECT_FALSE(kernel.operation.typed) << kernel.name;
        Problem problem{
            .operation = kernel.operation.name, .type = "f32", .layout = kernel.operation.layouts.empty() ? "" : "nn"};
        identities[kernel.operation.name] = operation_identity(kernel, problem);
    }
    const std::map<std::string, std::string> stored{{"batched_tiled", "e59142a3-6727-5d36-b2ce-644ecb743f34"},
                                                    {"batched_warp_tiled", "e25ac152-1a7f-5333-adcc-114ca2e1d6fd"},
                                                    {"joint_tiled", "e1b59bd5-64c5-5c02-94b4-dd1f6473cbdb"},
                                                    {"matrix_vector", "add7f5e3-1f9b-5f18-85e8-268a847df795"},
                                                    {"naive", "3d0395dd-7f06-55dd-b76d-6c230a1c498b"},
                                                    {"rectangular_tiled", "ba4c3225-485c-589a-87b4-1686674b43aa"},
                                                    {"row_column_tile", "c7a82c08-ebf6-554b-ae06-66567693ace1"},
                                                    {"row_tile", "985702ba-d7c7-52f0-836d-4587e2ab8997"},
                                                    {"skinny", "10d3f6d2-6b8e-5e47-aa90-c512b7ba62df"},
                                                    {"strip_tiled", "5420300a-c55e-55c5-9693-def48f5b30b8"},
                                                    {"tensor_skinny", "ea88902b-7bbd-541e-aae7-8154c6e9b717"},
                                                    {"tensor_split_tiled", "d5bc887a-aa64-5507-af44-dfc2c76daec6"},
                                                    {"tensor_warp_tiled", "505c05ca-5667-5144-a0e0-3758d9f733bd"},
                                                    {"thread_tiled", "7e92eb9a-c960-5caf-a511-a1f05c835ec1"},
                                                    {"tiled", "f53311fb-aafb-55bd-9c66-bc9919a26ddf"},
                                                    {"tiled_transpose", "48dd4b02-830a-5f75-893b-2eab3baf21d9"},
                                                    {"warp_tiled", "6431d4a5-403e-5d93-9383-e0e4bbf8d12e"},
                                                    {"wgmma_split_tiled", "85c85313-f1ba-5a5e-932a-f5e286886616"},
                                                    {"wgmma_tf32_tiled", "71bc9a43-e54f-52fb-8030-e732c0b74854"},
                                                    {"wgmma_tiled", "2aaaf5d7-4086-548b-8a9f-1b81ac771964"}};
    EXPECT_EQ(kernels.size(), stored.size());
    for (const auto& [name, hash] : stored) {
        const auto kernel = kernels.find(name);
        ASSERT_NE(kernel, kernels.end()) << name;
        EXPECT_TRUE(kernel->second->is_same_code(hash)) << name << " has hash " << kernel->second->hash;
    }
    const std::map<std::string, std::string> verified{{"batched_gemm", "87b23f65f54cf560ddc7961e364e64a2"},
                                                      {"gemm", "e019d4e0e1d38da25b083885d22f567f"},
                                                      {"transpose", "a4199cd40ce0ed1f218a8fb6c3d52f67"}};
    EXPECT_EQ(identities, verified);
}

// Replaces `from` by `to` in a file of the user's kernel. Returns the operation's identity with the changed file.
std::string identity_with(const std::string& file, const std::string& from, const std::string& to,
                          const std::string& layout = "") {
    auto tree = users();
    auto& text = tree.at(file);
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    const auto kernel = load_templates(tree).front();
    return operation_identity(kernel, {"scale", "f32", layout, {{"M", 3}, {"N", 5}}});
}

TEST(OperationIdentity, ChangesWithWhatAKernelIsVerifiedAgainst) {
    const auto before = identity_with("scale.toml", "", "");
    EXPECT_EQ(before.size(), 32U);
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {R"({ inputs = "uniform" })", R"({ inputs = "integer" })"},
             {R"({ inputs = "uniform" })", R"({ inputs = "uniform" }, { inputs = "integer" })"},
             {R"({ inputs = "uniform" })", R"({ inputs = "uniform", poison = false })"},
             {"terms      = \"1\"", "terms      = \"2\""},
             {R"(rows = "M", columns = "N" },)", R"(rows = "N", columns = "M" },)"},
             {R"(kind = "input")", R"(kind = "output")"}}) {
        EXPECT_NE(identity_with("scale.toml", from, to), before) << to;
    }
    EXPECT_NE(identity_with("scale.cu", "reference(int M", "reference(int  M"), before);
    EXPECT_NE(identity_with("deep/er.h", "<cmath>", "<math.h>"), before) << "the reference includes it";
}

TEST(OperationIdentity, DoesNotChangeWithWordsOrLayout) {
    const auto before = identity_with("scale.toml", "", "");
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"terms      = \"1\"", "terms = \"1\"  # a comment"},
                                                          {"extents    =", "summary = \"new\"\nextents ="},
                                                          {"operations = \"M * N\"", "operations = \"2 * M * N\""},
                                                          {"2 * M * N * element_bytes", "M * N"},
                                                          {"values = [64, 128]", "values = [64]"}}) {
        EXPECT_EQ(identity_with("scale.toml", from, to), before) << to;
    }
}

TEST(OperationIdentity, IsThatOfALayoutAndOfAStoredTemplate) {
    const auto& templates = builtin_templates();
    const auto& gemm_kernel = *std::ranges::find(templates, "tiled", &KernelTemplate::name);
    auto problem = gemm(64, 64, 64);
    const auto nn = operation_identity(gemm_kernel, problem);
    EXPECT_EQ(operation_identity(load_template(gemm_kernel.files), problem), nn);
    EXPECT_EQ(operation_identity(*std::ranges::find(templates, "naive", &KernelTemplate::name), problem), nn);
    problem.layout = "nt";
    EXPECT_NE(operation_identity(gemm_kernel, problem), nn);
}

TEST(Catalog, ReadsAFolderAsItsFilesByRelativePath) {
    const Folder folder;
    auto tree = users();
    folder.write(tree);
    folder.write({{"README.md", "not read"}, {"empty.h", ""}});
    tree["empty.h"] = "";
    EXPECT_EQ(read_sources(folder.path), tree);
    EXPECT_EQ(read_sources(folder.path / ""), tree);  // as in `--templates folder/`
    EXPECT_EQ(read_sources(folder.path / "deep" / ".."), tree);
}

TEST(Catalog, ALinkedFileKeepsThePlaceOfItsLink) {
    const Folder folder;
    const Folder elsewhere;
    elsewhere.write(users());
    std::filesystem::create_symlink(elsewhere.path / "scale.toml", folder.path / "linked.toml");
    EXPECT_THAT(read_sources(folder.path), ElementsAre(Key("linked.toml")));
}

TEST(Catalog, AFolderWithoutKernelsIsAnErrorThatSaysWhatAKernelIs) {
    const Folder folder;
    folder.write({{"kernel.cu", ""}});
    const auto refusal_of = [](const std::filesystem::path& path) -> std::string {
        try {
            return "reads " + std::to_string(read_sources(path).size());
        } catch (const ManifestError& error) {
            return error.what();
        }
    };
    EXPECT_THAT(refusal_of(folder.path), HasSubstr("holds no manifest; a kernel is two files, NAME.cu and NAME.toml"));
    EXPECT_THAT(refusal_of(folder.path / "absent"), HasSubstr("absent': No such file or directory"));
    EXPECT_THAT(refusal_of(folder.path / "kernel.cu"), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace smemtune
