#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <fstream>
#include <mutex>
#include <vector>

#include "tests/runtime/c/support.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

TEST_F(CInterface, TheVersionOfTheLibraryIsThatOfTheHeaderAndTheProject) {
    EXPECT_EQ(smemtune_version(), SMEMTUNE_VERSION);
    EXPECT_EQ(std::to_string(SMEMTUNE_VERSION_MAJOR) + "." + std::to_string(SMEMTUNE_VERSION_MINOR) + "." +
                  std::to_string(SMEMTUNE_VERSION_PATCH),
              SMEMTUNE_PROJECT_VERSION);
}

TEST_F(CInterface, OptionsMayBeLeftOutAndHandlesMayBeNull) {
    EXPECT_EQ(smemtune_open(&options, nullptr), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_STREQ(smemtune_error_message(), "runtime is null");
    smemtune_runtime* opened = nullptr;
    const auto status = smemtune_open(nullptr, &opened);  // opens the device "auto", which fails without a GPU
    EXPECT_TRUE(status == SMEMTUNE_NO_DEVICE || status == SMEMTUNE_OK);
    smemtune_close(opened);
    smemtune_close(nullptr);
    smemtune_release(nullptr);
}

constexpr auto first_size = offsetof(smemtune_options, databases);  // size of the struct in its first version

TEST_F(CInterface, AStructOfNoVersionIsRefused) {
    for (const std::size_t size : {std::size_t{0}, first_size - 1, std::size_t{4097}}) {
        options.struct_size = size;
        EXPECT_EQ(try_to_open(), SMEMTUNE_INVALID_STRUCT) << size;
        EXPECT_THAT(smemtune_error_message(), HasSubstr("smemtune_options.struct_size=" + std::to_string(size)));
    }
}

// Simulates an application that was built with a later version of the header, which appended a field.
TEST_F(CInterface, FieldsOfALaterVersionMayBeThereUnlessTheyAreSet) {
    struct {
        smemtune_options known;
        std::int64_t later;
    } newer{options, 0};
    newer.known.struct_size = sizeof(newer);
    smemtune_runtime* opened = nullptr;
    EXPECT_EQ(smemtune_open(&newer.known, &opened), SMEMTUNE_OK) << smemtune_error_message();
    smemtune_close(opened);
    newer.later = 1;
    EXPECT_EQ(smemtune_open(&newer.known, &opened), SMEMTUNE_INVALID_STRUCT);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("newer than this library"));
    EXPECT_EQ(opened, nullptr);
}

TEST_F(CInterface, FieldsThatAnEarlierVersionLacksAreNotRead) {
    options.databases = reinterpret_cast<const char* const*>(1);  // not in the caller's struct: must not be read
    options.system_databases = reinterpret_cast<const char*>(1);
    options.struct_size = first_size;
    EXPECT_EQ(try_to_open(), SMEMTUNE_OK) << smemtune_error_message();
}

TEST_F(CInterface, AnUnknownFlagIsRefused) {
    options.flags = 128;
    EXPECT_EQ(try_to_open(), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("options.flags=128"));
}

TEST_F(CInterface, AnAbsentDeviceIsNamed) {
    options.device = "99";
    EXPECT_EQ(try_to_open(), SMEMTUNE_NO_DEVICE) << smemtune_error_message();
    EXPECT_THAT(smemtune_error_message(), HasSubstr("99"));
    options.device = "host";
    options.flags = SMEMTUNE_NO_HOST_CODE;
    EXPECT_EQ(try_to_open(), SMEMTUNE_NO_DEVICE);
}

TEST_F(CInterface, AnAbsentDatabaseIsAnErrorUnlessItMayBe) {
    const auto database = (scratch / "none.db").string();
    options.database = database.c_str();
    EXPECT_EQ(try_to_open(), SMEMTUNE_NO_DATABASE);
    EXPECT_THAT(smemtune_error_message(), HasSubstr(database + ": does not exist"));
    options.flags = SMEMTUNE_DATABASE_MAY_BE_ABSENT;
    EXPECT_EQ(try_to_open(), SMEMTUNE_OK);
}

TEST_F(CInterface, AnUnreadableDatabaseIsAnError) {
    const auto database = (scratch / "text.db").string();
    std::ofstream(database) << std::string(4096, 'x');
    options.database = database.c_str();
    EXPECT_EQ(try_to_open(), SMEMTUNE_DATABASE_ERROR) << smemtune_error_message();
}

TEST_F(CInterface, FilesThatOthersCanChangeAreRefusedUnlessTrusted) {
    const auto folder = scratch / "kernels";
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::all);
    const auto path = folder.string();
    const std::vector<const char*> folders{path.c_str(), nullptr};
    options.template_folders = folders.data();
    EXPECT_EQ(try_to_open(), SMEMTUNE_UNTRUSTED_FILE) << smemtune_error_message();
    for (const auto flag : {SMEMTUNE_ANY_OWNER, SMEMTUNE_ANY_TEMPLATE_OWNER}) {
        options.flags = flag;
        EXPECT_EQ(try_to_open(), SMEMTUNE_INVALID_TEMPLATE) << "the folder is read, and is empty";
    }
}

TEST_F(CInterface, AnInvalidTemplateIsAnError) {
    std::ofstream(scratch / "broken.toml") << "[template]\nname = 3\n";
    const auto path = scratch.path().string();
    const std::vector<const char*> folders{path.c_str(), nullptr};
    options.template_folders = folders.data();
    EXPECT_EQ(try_to_open(), SMEMTUNE_INVALID_TEMPLATE) << smemtune_error_message();
    EXPECT_THAT(smemtune_error_message(), HasSubstr("broken.toml"));
}

// Makes a database with a winner of the gemm 64x64x64 and its machine code. Returns the path.
std::string tuned_database(const TemporaryFolder& scratch, const KernelTemplate& kernel, const std::string& values) {
    const auto path = (scratch / (kernel.name + ".db")).string();
    const auto configuration = parse_configuration(values);
    const auto problem = gemm(64, 64, 64);
    const auto code = must_compile(*host_compiler(), program_of(kernel, configuration, problem));
    Store store(path);
    store_winner(store, host_device(), kernel, problem, configuration, 10, &code);
    return path;
}

// Fetches the gemm 64x64x64. Returns the match and the template of the choice, such as "exact tiled".
std::string choice_of(smemtune_runtime* runtime) {
    const auto problem = smemtune_gemm_problem("f32", "nn", 64, 64, 64);
    smemtune_kernel* kernel = nullptr;
    EXPECT_EQ(smemtune_fetch(runtime, &problem, nullptr, &kernel), SMEMTUNE_OK) << smemtune_error_message();
    smemtune_choice choice = SMEMTUNE_CHOICE_INIT;
    EXPECT_EQ(smemtune_kernel_choice(kernel, &choice), SMEMTUNE_OK);
    auto text = std::string(smemtune_match_text(choice.match)) + " " + choice.kernel_template;
    smemtune_release(kernel);
    return text;
}

TEST_F(CInterface, SeveralDatabasesAreSearchedInTheirOrder) {
    const auto tiled = tuned_database(scratch, find_template(builtin_templates(), "tiled"), "TILE_WIDTH=8");
    const auto naive = tuned_database(scratch, find_template(builtin_templates(), "naive"), "BLOCK_X=8,BLOCK_Y=8");
    const auto absent = (scratch / "absent.db").string();
    int warnings = 0;
    options.log_user = &warnings;
    options.log = [](void* user, smemtune_log_level level, const char*) {
        if (level == SMEMTUNE_LOG_WARNING) ++*static_cast<int*>(user);
    };
    const std::vector<const char*> both{absent.c_str(), naive.c_str(), tiled.c_str(), nullptr};
    options.databases = both.data();
    EXPECT_EQ(choice_of(open().get()), "exact naive");
    EXPECT_EQ(warnings, 1) << "one is absent";
    options.database = tiled.c_str();
    EXPECT_EQ(choice_of(open().get()), "exact tiled");
}

TEST_F(CInterface, TheSystemsDatabasesAreThoseOfTheFolderInTheOptions) {
    const TemporaryFolder folder;
    const auto tuned = tuned_database(folder, find_template(builtin_templates(), "tiled"), "TILE_WIDTH=8");
    const auto path = folder.path().string();
    options.system_databases = path.c_str();
    EXPECT_EQ(choice_of(open().get()), "exact tiled");
    options.system_databases = "";
    EXPECT_THAT(choice_of(open().get()), testing::StartsWith("untuned"));
}

TEST_F(CInterface, FlagsExcludeStoredCodeAndTheCompilerIsThatOfTheOptions) {
    const auto known = tuned_database(scratch, find_template(builtin_templates(), "tiled"), "TILE_WIDTH=8");
    const auto unknown = tuned_database(scratch, load_templates(stepping_sources()).front(), "STEP=2");
    options.host_compiler = "/nowhere/c++";
    const auto problem = smemtune_gemm_problem("f32", "nn", 64, 64, 64);
    const auto status_with = [&](const std::string& database, std::uint32_t flags) {
        options.database = database.c_str();
        options.flags = flags;
        return smemtune_warm_up(open().get(), &problem, 1);
    };
    EXPECT_EQ(status_with(known, 0), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_EQ(status_with(known, SMEMTUNE_NO_STORED_TEMPLATES), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_EQ(status_with(known, SMEMTUNE_NO_MACHINE_CODE), SMEMTUNE_NO_KERNEL);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("/nowhere/c++"));
    EXPECT_EQ(status_with(unknown, 0), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_EQ(status_with(unknown, SMEMTUNE_NO_STORED_TEMPLATES), SMEMTUNE_NO_KERNEL);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("only the database has this version"));
}

TEST_F(CInterface, NoMoreProblemsAreRememberedThanTheOptionsSay) {
    int choices = 0;
    options.log_user = &choices;
    options.log = [](void* user, smemtune_log_level, const char*) { ++*static_cast<int*>(user); };
    const auto database = tuned_database(scratch, find_template(builtin_templates(), "tiled"), "TILE_WIDTH=8");
    options.database = database.c_str();
    for (const auto& [remembered, expected] : {std::pair<std::size_t, int>{4, 12}, {0, 11}}) {
        options.remembered_problems = remembered;
        const auto runtime = open();
        choices = 0;
        for (const auto m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1}) {
            const auto problem = smemtune_gemm_problem("f32", "nn", m, 64, 64);
            EXPECT_EQ(smemtune_warm_up(runtime.get(), &problem, 1), SMEMTUNE_OK);
        }
        EXPECT_EQ(choices, expected) << "the first problem was forgotten, or not";
    }
}

TEST_F(CInterface, FirstCallsAreMeasuredIfTheOptionsSaySoAndWithinTheirBudget) {
    const auto database = (scratch / "tuning.db").string();
    {
        Store store(database);
        const auto& templates = builtin_templates();
        std::int64_t m = 30;
        for (const auto* values : {"TILE_WIDTH=8", "TILE_WIDTH=16"}) {
            const auto configuration = parse_configuration(values);
            const auto near = gemm(m++, 32, 32);
            const auto code =
                must_compile(*host_compiler(), program_of(find_template(templates, "tiled"), configuration, near));
            store_winner(store, host_device(), find_template(templates, "tiled"), near, configuration, 10, &code);
        }
    }
    options.database = database.c_str();
    const auto why_after_calls = [](smemtune_runtime* runtime, std::int64_t m) {
        const std::vector<float> ones(40 * 40, 1);
        std::vector<float> c(40 * 40);
        const auto kernel = fetch(runtime, smemtune_gemm_problem("f32", "nn", m, 32, 31));
        for (int call = 0; call < 4; ++call) {
            EXPECT_EQ(smemtune_launch_gemm(kernel.get(), nullptr, 1, ones.data(), 31, ones.data(), 32, 0, c.data(), 32),
                      SMEMTUNE_OK);
        }
        smemtune_choice choice = SMEMTUNE_CHOICE_INIT;
        EXPECT_EQ(smemtune_kernel_choice(kernel.get(), &choice), SMEMTUNE_OK);
        return std::string(choice.why);
    };
    EXPECT_EQ(why_after_calls(open().get(), 33), "");
    options.measure_candidates = 2;
    const auto generous = open();
    EXPECT_THAT(why_after_calls(generous.get(), 33), HasSubstr("the fastest of 2"));
    EXPECT_THAT(why_after_calls(generous.get(), 34), HasSubstr("the fastest of 2"));
    options.measure_lost_ms = 1e-6;
    const auto thrifty = open();
    EXPECT_THAT(why_after_calls(thrifty.get(), 33), HasSubstr("the fastest of 2"));
    EXPECT_EQ(why_after_calls(thrifty.get(), 34), "") << "the first problem has used up the budget";
}

TEST_F(CInterface, WarmUpTakesSeveralProblemsAtOnceAndFailsIfOneDoes) {
    struct Logged {
        std::mutex mutex;  // several threads may call `log`
        std::vector<std::string> messages{};
    } log;
    const auto& logged = log.messages;
    options.log_user = &log;
    options.log = [](void* user, smemtune_log_level level, const char* message) {
        auto& to = *static_cast<Logged*>(user);
        const std::scoped_lock lock(to.mutex);
        to.messages.push_back(std::to_string(level) + " " + message);
    };
    const auto runtime = open();
    const std::vector problems{smemtune_gemm_problem("f32", "nn", 8, 8, 8), smemtune_gemm_problem("f64", "nn", 8, 8, 8),
                               smemtune_gemm_problem("f32", "nn", 9, 8, 8)};
    EXPECT_EQ(smemtune_warm_up(runtime.get(), problems.data(), 1), SMEMTUNE_OK) << smemtune_error_message();
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_THAT(logged[0], testing::MatchesRegex("1 gemm f32 nn 8x8x8: [a-z_]+ .*, untuned"));
    EXPECT_NE(smemtune_warm_up(runtime.get(), problems.data(), 2), SMEMTUNE_OK);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("f64"));
    EXPECT_EQ(logged.size(), 1U) << "the first problem is known";
    const std::array others{problems[0], problems[2], smemtune_gemm_problem("f32", "nn", 10, 8, 8)};
    EXPECT_EQ(smemtune_warm_up(runtime.get(), others.data(), others.size()), SMEMTUNE_OK);
    EXPECT_EQ(logged.size(), 3U);
    EXPECT_EQ(smemtune_warm_up(runtime.get(), nullptr, 0), SMEMTUNE_OK);
    EXPECT_EQ(smemtune_warm_up(runtime.get(), nullptr, 1), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(smemtune_warm_up(nullptr, problems.data(), 1), SMEMTUNE_INVALID_ARGUMENT);
}

TEST_F(CInterface, ACandidateThatCannotBeUsedIsLoggedOnceAnotherServes) {
    const auto database = tuned_database(scratch, find_template(builtin_templates(), "tiled"), "TILE_WIDTH=8");
    {
        Store store(database);
        store_winner(store, host_device(), find_template(builtin_templates(), "naive"), gemm(65, 64, 64),
                     parse_configuration("BLOCK_X=64,BLOCK_Y=1"), 10);
    }
    std::string warnings;
    options.log_user = &warnings;
    options.log = [](void* user, smemtune_log_level level, const char* message) {
        if (level == SMEMTUNE_LOG_WARNING) *static_cast<std::string*>(user) += message;
    };
    options.flags = SMEMTUNE_NO_JIT;
    options.database = database.c_str();
    const auto problem = smemtune_gemm_problem("f32", "nn", 65, 64, 64);
    EXPECT_EQ(smemtune_warm_up(open().get(), &problem, 1), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_THAT(warnings, testing::AllOf(HasSubstr("gemm f32 nn 65x64x64: cannot use naive"), HasSubstr("(jit)")));
}

TEST_F(CInterface, WhereNoCandidateServesTheErrorNamesThemAndNothingIsLogged) {
    std::string logged;
    options.log_user = &logged;
    options.log = [](void* user, smemtune_log_level, const char* message) {
        *static_cast<std::string*>(user) += message;
    };
    options.flags = SMEMTUNE_NO_JIT;
    const auto problem = smemtune_gemm_problem("f32", "nn", 8, 8, 8);
    EXPECT_EQ(smemtune_warm_up(open().get(), &problem, 1), SMEMTUNE_NO_KERNEL);
    EXPECT_THAT(smemtune_error_message(), HasSubstr("; naive "));
    EXPECT_EQ(logged, "");
}

}  // namespace
}  // namespace smemtune
