// Tests applications without write permission. They read a database file while other processes store trials in it.
#include <SQLiteCpp/Database.h>

#include "db/file/journal.h"
#include "tests/db/scratch.h"

namespace smemtune {
namespace {

using std::filesystem::path;
using Access = Store::Access;

// Repeats a query until it returns all trials. Each answer must equal the content that the file had at some moment.
std::string read_until_complete(int output, const path& file, const StoreOptions& options, int total) {
    const Store store(file, Access::read, options);
    say(output, "r");
    std::size_t seen = 0;
    for (int queries = 1;; ++queries) {
        const auto trials = store.trials({1, 1, 1});
        if (trials.size() < seen) return "trials were lost";
        seen = trials.size();
        for (std::size_t i = 0; i < seen; ++i) {
            if (trials[i] != measured({1, 1, 1}, tile(static_cast<int>(i) + 1), total - static_cast<int>(i))) {
                return "a trial differs";
            }
        }
        if (const auto best = store.best(1, 1);
            !best || best->record.configuration < tile(static_cast<int>(seen) - 8)) {
            return "the winner is none of those just set";
        }
        if (store.recall_template(1) != tiled()) return "the template differs";
        if (static_cast<int>(seen) == total) return "";
        if (queries == 100'000'000) return "sees no newer trials";
    }
}

class ReadersTest : public ::testing::TestWithParam<bool> {
protected:
    StoreOptions options{.patience = std::chrono::minutes(10), .rollback_journal = GetParam()};
    int total = GetParam() ? 80 : 320;  // with a rollback journal, each commit waits for the disk
    Scratch scratch;
    path file = scratch / "tuned.db";

    void tune(int first, int count) {
        Store store(file, Access::write, options);
        const auto key = key_in(store);
        for (int i = first; i < first + count; ++i) {
            store.remember(measured(key, tile(i), total + 1 - i));
            store.set_winner(key, tile(i), {});
        }
    }
};

TEST_P(ReadersTest, AReaderThatMayNotWriteSeesEveryTrialOfRunsThatComeAndGo) {
    tune(1, 8);
    auto reader = in_child([&](int output) {
        become_nobody();
        std::string result;
        const auto error = error_of([&] { result = read_until_complete(output, file, options, total); });
        say(output, result + error);
    });
    std::string ready(1, ' ');
    ASSERT_GT(read(reader.output, ready.data(), 1), 0);
    ASSERT_EQ(ready, "r");
    for (int first = 9; first < total; first += 8) tune(first, 8);
    EXPECT_EQ(reader.finish(), "");
    EXPECT_EQ(Store(file, Access::read, options).damages().size(), 0U);
}

TEST_P(ReadersTest, AFileThatIsReplacedIsReadAnew) {
    tune(1, 8);
    const auto other = stored(scratch / "other.db", 3);
    const Store reader(file, Access::read, options);
    EXPECT_EQ(reader.trials({1, 1, 1}).size(), 8U);
    EXPECT_EQ(reader.replacements(), 0);
    rename(other, file);
    EXPECT_EQ(reader.trials({1, 1, 1}).size(), 3U);
    EXPECT_EQ(reader.replacements(), 1);
    tune(9, 1);
    EXPECT_EQ(reader.trials({1, 1, 1}).size(), 4U);
    EXPECT_EQ(reader.replacements(), 1) << "the same file, with more in it";
}

TEST_P(ReadersTest, TheDevicesAreThoseOfTheFileThatTookItsPlace) {
    tune(1, 1);
    const auto other = stored(scratch / "other.db", 1);
    SQLite::Database(other.string(), SQLite::OPEN_READWRITE).exec("UPDATE devices SET name = 'another'");
    const Store reader(file, Access::read, options);
    const auto before = reader.devices();
    EXPECT_NE(before.at(0).second.name, "another");
    EXPECT_EQ(reader.known(gemm(7, 7, 7)).devices, before);
    rename(other, file);
    EXPECT_EQ(reader.known(gemm(7, 7, 7)).devices.at(0).second.name, "another");
    EXPECT_EQ(reader.devices().at(0).second.name, "another");
}

TEST_P(ReadersTest, AFileIsLookedAtBeforeItIsOpenedAndBeforeAnotherTakesItsPlace) {
    tune(1, 8);
    std::vector<path> looked_at;
    options.before_opening = [&](const path& at) {
        looked_at.push_back(at);
        if (looked_at.size() == 2) throw std::runtime_error("not this one");
    };
    const Store reader(file, Access::read, options);
    EXPECT_EQ(looked_at, std::vector{canonical(file)});
    rename(stored(scratch / "other.db", 3), file);
    EXPECT_THROW((void)reader.trials({1, 1, 1}), std::runtime_error);
    EXPECT_EQ(reader.trials({1, 1, 1}).size(), 3U);
    EXPECT_EQ(looked_at.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Journal, ReadersTest, ::testing::Values(false, true),
                         [](const auto& rollback) { return rollback.param ? "Rollback" : "Log"; });

// The reader cannot create files beside the database, so it cannot use the log's shared memory. It must read the file
// without locks, and notice when the file changes.
TEST(Readers, AFileAtRestIsReadWithoutLocksUntilItChanges) {
    const Scratch scratch;
    const auto file = stored(scratch / "tuned.db", 600);
    permissions(file, std::filesystem::perms(0444));
    permissions(scratch.path(), std::filesystem::perms(0555));
    auto reader = in_child([&](int output) {
        become_nobody();
        say(output, error_of([&] {
                const Store store(file, Access::read);
                if (exists(path(file.string() + "-shm")))
                    throw StoreError("a file of the reader's would lock the owner out");
                say(output, std::to_string(store.trials({1, 1, 1}).size()) + ".");
                std::size_t seen = 600;
                while (seen == 600) seen = store.trials({1, 1, 1}).size();
                if (seen != 0) throw StoreError("sees " + std::to_string(seen));
            }));
    });
    std::string answer;
    for (char letter = ' '; letter != '.' && read(reader.output, &letter, 1) == 1;) answer += letter;
    EXPECT_EQ(answer, "600.");
    permissions(file, std::filesystem::perms(0644));
    permissions(scratch.path(), std::filesystem::perms(0755));
    Store(file).forget({1, 1, 1});
    EXPECT_EQ(reader.finish(), "");
}

}  // namespace
}  // namespace smemtune
