// Tests which kernel an application gets when one of its databases is absent, damaged, too new or not trusted.
#include "runtime/layers/layers.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <map>

#include "tests/runtime/layers/change_database.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

class LayersOnHost : public testing::Test {
protected:
    // Stores a winner with machine code in a database with a rollback journal, like an exported database.
    static void tuned(const fs::path& file, const Problem& problem, const std::string& configuration) {
        StoreOptions options;
        options.rollback_journal = true;
        Store store(file, Store::Access::write, options);
        const auto& templates = builtin_templates();
        const auto& kernel = find_template(templates, "tiled");
        const auto values = parse_configuration(configuration);
        const auto code = must_compile(*host_compiler(), program_of(kernel, values, problem));
        store_winner(store, host_device(), kernel, problem, values, 10, &code);
    }

    // Fetches a kernel without permission to compile, so only kernels with stored machine code can be chosen.
    Choice serve(Runtime::Options options, const Problem& problem = gemm(64, 64, 64)) {
        options.device = "host";
        options.trust.jit = false;
        options.log = [&](LogLevel level, const std::string& message) {
            const bool is_of_a_kernel = message.find("cannot use") != std::string::npos;
            if (level == LogLevel::warning && !is_of_a_kernel) warnings.push_back(message);
        };
        warnings.clear();
        Runtime runtime(options);
        auto choice = runtime.fetch(problem).choice();
        const auto told = warnings.size();
        try {
            (void)runtime.fetch(gemm(64, 32, 64), "tiled");
        } catch (const FetchError&) {
        }
        EXPECT_LE(warnings.size(), told) << "a database is reported once";
        return choice;
    }

    static constexpr auto layer_of = [](const Choice& choice) { return fs::path(choice.database).filename().string(); };

    // Functions that damage a database in different ways. The key is a part of the warning that must follow.
    static std::map<std::string, std::function<void(const fs::path&)>> damages() {
        return {
            {"does not exist", [](const auto& file) { fs::remove(file); }},
            {"is empty", [](const auto& file) { write_bytes(file, ""); }},
            {"is a directory",
             [](const auto& file) {
                 fs::remove(file);
                 fs::create_directory(file);
             }},
            {"corrupt", [](const auto& file) { fs::resize_file(file, fs::file_size(file) / 2); }},
            {"corrupt ",
             [](const auto& file) {
                 auto bytes = bytes_of(file);
                 bytes.replace(4096, bytes.size() / 2, bytes.size() / 2, '\xaa');
                 write_bytes(file, bytes);
             }},
            {"not a", [](const auto& file) { write_bytes(file, std::string(8192, 'x')); }},
            {"newer smemtune",
             [](const auto& file) {
                 change_database(file, "PRAGMA user_version = 1000; UPDATE compatibility SET oldest_reader = 1000");
             }},
            {"others can change it", [](const auto& file) { fs::permissions(file, fs::perms(0666)); }},
        };
    }

    TemporaryFolder scratch;
    const fs::path application = scratch / "application.db";
    const fs::path system = scratch / "system/shipped.db";
    std::vector<std::string> warnings;

    void SetUp() override {
        fs::create_directory(scratch / "system");
        tuned(application, gemm(64, 64, 64), "TILE_WIDTH=8");
        tuned(system, gemm(64, 64, 64), "TILE_WIDTH=16");
    }
    [[nodiscard]] Runtime::Options both() const {
        return {.databases = {application}, .system_databases = system.parent_path()};
    }
};

TEST_F(LayersOnHost, EveryKindOfDamageCostsTheApplicationsLayerOnly) {
    EXPECT_EQ(layer_of(serve(both())), "application.db");
    EXPECT_THAT(warnings, IsEmpty());
    const auto sound = bytes_of(application);
    for (const auto& [what, damage] : damages()) {
        damage(application);
        EXPECT_EQ(layer_of(serve(both())), "shipped.db") << what;
        const auto words = what.substr(0, what.find_last_not_of(' ') + 1);
        EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("application.db"), HasSubstr(words),
                                                HasSubstr("this database is left out"))))
            << what;
        fs::remove_all(application);
        write_bytes(application, sound);
        fs::permissions(application, fs::perms(0644));
    }
    EXPECT_EQ(layer_of(serve(both())), "application.db");
}

TEST_F(LayersOnHost, EveryKindOfDamageCostsTheSystemsLayerOnly) {
    tuned(scratch / "system/later.db", gemm(64, 64, 64), "TILE_WIDTH=32");
    const Runtime::Options only_system{.system_databases = system.parent_path()};
    fs::rename(system, scratch / "system/earlier.db");
    const auto earlier = scratch / "system/earlier.db";
    EXPECT_EQ(layer_of(serve(only_system)), "earlier.db") << "in the order of their names";
    const auto sound = bytes_of(earlier);
    for (const auto& [what, damage] : damages()) {
        damage(earlier);
        EXPECT_EQ(layer_of(serve(only_system)), "later.db") << what;
        const bool is_absent = what == "does not exist";  // a file that is not in the folder causes no warning
        EXPECT_EQ(warnings.size(), is_absent ? 0 : 1) << what;
        fs::remove_all(earlier);
        write_bytes(earlier, sound);
        fs::permissions(earlier, fs::perms(0644));
    }
}

TEST_F(LayersOnHost, TheFirstDatabaseIsRequired) {
    const Runtime::Options required{
        .database = application, .system_databases = system.parent_path(), .device = "host"};
    for (const auto& [what, damage] : damages()) {
        if (what == "does not exist") continue;
        const auto sound = bytes_of(application);
        damage(application);
        EXPECT_ANY_THROW(Runtime{required}) << what;
        fs::remove_all(application);
        write_bytes(application, sound);
        fs::permissions(application, fs::perms(0644));
    }
    fs::remove(application);
    EXPECT_THROW(Runtime{required}, DatabaseAbsent);
    auto may_be_absent = required;
    may_be_absent.database_may_be_absent = true;
    EXPECT_EQ(layer_of(serve(may_be_absent)), "shipped.db");
}

TEST_F(LayersOnHost, AFileOfAnotherUserIsLeftOut) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    ASSERT_EQ(chown(application.c_str(), 12345, 12345), 0);
    EXPECT_EQ(layer_of(serve(both())), "shipped.db");
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("only files of the user who runs this")));
    auto any_owner = both();
    any_owner.trust.any_owner = true;
    EXPECT_EQ(layer_of(serve(any_owner)), "application.db");
}

// Damages the application's database by flipping one bit, at 31 places in turn. Each fetch must then get either the
// verified machine code of this database, or the kernel of the system's database.
TEST_F(LayersOnHost, AFlippedByteNeverServesOtherCode) {
    const auto sound = bytes_of(application);
    std::size_t elsewhere = 0;
    for (std::size_t i = 0; i < 31; ++i) {
        auto bytes = sound;
        const auto at = i * bytes.size() / 31;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        write_bytes(application, bytes);
        const auto choice = serve(both());
        EXPECT_EQ(choice.match, Match::exact) << at;
        if (layer_of(choice) == "shipped.db") ++elsewhere;
        EXPECT_EQ(choice.configuration, layer_of(choice) == "shipped.db" ? "TILE_WIDTH=16" : "TILE_WIDTH=8") << at;
    }
    EXPECT_GT(elsewhere, 0);
}

TEST_F(LayersOnHost, DamageAfterTheOpeningCostsTheLayerToo) {
    tuned(system, gemm(32, 32, 32), "TILE_WIDTH=16");
    tuned(application, gemm(32, 32, 32), "TILE_WIDTH=8");
    auto options = both();
    options.device = "host";
    options.log = [&](LogLevel level, const std::string& message) {
        if (level == LogLevel::warning) warnings.push_back(message);
    };
    Runtime runtime(options);
    const auto before = runtime.fetch(gemm(64, 64, 64));
    EXPECT_EQ(layer_of(before.choice()), "application.db");
    fs::rename(application, scratch / "moved.db");
    write_bytes(application, std::string(8192, 'x'));
    EXPECT_EQ(layer_of(runtime.fetch(gemm(32, 32, 32)).choice()), "shipped.db");
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("application.db")));
    EXPECT_EQ(layer_of(runtime.fetch(gemm(64, 64, 64)).choice()), "application.db") << "what is loaded stays";
    fs::rename(scratch / "moved.db", application);
    EXPECT_EQ(layer_of(runtime.fetch(gemm(64, 64, 32)).choice()), "shipped.db") << "left out for good";
    EXPECT_EQ(warnings.size(), 1);
}

TEST_F(LayersOnHost, TrustCanExcludeAllButTheSystems) {
    auto options = both();
    options.database = application;
    options.trust.named_databases = false;
    EXPECT_EQ(layer_of(serve(options)), "shipped.db");
    options.database = scratch / "absent.db";
    EXPECT_EQ(layer_of(serve(options)), "shipped.db") << "it is not even looked for";
}

TEST(Layers, TheDatabasesOfAFolderAreThoseOfItsNamesInOrder) {
    const TemporaryFolder folder;
    for (const auto* name : {"c.db", "a.db", "b.db.unfinished-7", "e.db", "notes.txt", "d.db", "b.db"}) {
        write_bytes(folder / name, "");
    }
    Layers layers({}, [](const std::string& message) { ADD_FAILURE() << message; });
    layers.add_folder(folder.path());
    std::string names;
    for (std::size_t i = 0; i < layers.count(); ++i) names += layers.file(i).filename().string() + " ";
    EXPECT_EQ(names, "a.db b.db c.db d.db e.db ");
}

TEST_F(LayersOnHost, AFolderThatDoesNotExistIsNoDamageAndAnEmptyNameIsNone) {
    write_bytes(scratch / "system/README", "no database");
    auto options = both();
    EXPECT_EQ(layer_of(serve(options)), "application.db");
    options.system_databases = scratch / "nowhere";
    EXPECT_EQ(layer_of(serve(options)), "application.db");
    EXPECT_THAT(warnings, IsEmpty());
    options.databases.clear();
    options.system_databases = fs::path();
    EXPECT_THROW((void)serve(options), FetchError);
    EXPECT_THAT(warnings, IsEmpty());
}

}  // namespace
}  // namespace smemtune
