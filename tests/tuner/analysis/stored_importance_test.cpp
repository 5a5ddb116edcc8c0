// Tests the importance of parameters on a database of an exhaustive search. The shares must equal the main effects,
// which the test computes by their definition.
#include "tuner/analysis/stored_importance.h"

#include <gmock/gmock.h>

#include <SQLiteCpp/Database.h>

#include <cmath>
#include <map>

#include "tests/tuner/support.h"
#include "tuner/replay/landscape.h"

namespace smemtune {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// A database with a trial of every valid configuration of six templates, at one size on the host device.
class ExhaustiveSample : public ::testing::Test {
protected:
    void SetUp() override { write_text(path, read_unpacked(fixture("databases/exhaustive.db.gz"))); }

    [[nodiscard]] std::vector<StoredImportance> groups() const {
        return stored_importance(Store(path, Store::Access::read), {});
    }

    // Returns Var(E[log t | parameter]) / Var(log t) for each parameter with several values.
    [[nodiscard]] std::map<std::string, double> main_effects(const std::string& kernel_template) const {
        std::vector<double> logs;
        std::map<std::string, std::map<std::int64_t, std::vector<double>>> by_value;
        for (const auto& row : Store(path, Store::Access::read).rows({.kernel_templates = {kernel_template}})) {
            const auto* measured = std::get_if<Measurement>(&row.record.outcome);
            if (measured == nullptr) continue;
            logs.push_back(std::log(measured->median_us));
            for (const auto& [name, value] : row.record.configuration.values)
                by_value[name][value].push_back(logs.back());
        }
        const auto mean = [](const std::vector<double>& values) {
            double sum = 0;
            for (const auto value : values) sum += value;
            return sum / static_cast<double>(values.size());
        };
        const auto all = mean(logs);
        double total = 0;
        for (const auto value : logs) total += (value - all) * (value - all);
        std::map<std::string, double> shares;
        for (const auto& [name, values] : by_value) {
            if (values.size() < 2) continue;
            for (const auto& [value, group] : values)
                shares[name] += static_cast<double>(group.size()) * std::pow(mean(group) - all, 2) / total;
        }
        return shares;
    }

    Scratch scratch;
    std::string path = scratch / "exhaustive.db";
};

TEST_F(ExhaustiveSample, EachParameterHasItsExactMainEffect) {
    const auto found = groups();
    ASSERT_THAT(found, SizeIs(6));
    for (const auto& group : found) {
        EXPECT_EQ(group.importance.too_little, "") << group.kernel_template;
        EXPECT_TRUE(group.importance.exact) << group.kernel_template;
        const auto exact = main_effects(group.kernel_template);
        ASSERT_THAT(group.importance.parameters, SizeIs(exact.size())) << group.kernel_template;
        for (const auto& parameter : group.importance.parameters) {
            EXPECT_NEAR(parameter.share, exact.at(parameter.name), 1e-9) << group.kernel_template << parameter.name;
        }
    }
}

TEST_F(ExhaustiveSample, APartOfItIsTooLittleAndThatIsSaid) {
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("DELETE FROM trials WHERE id % 3 = 0");
    for (const auto& group : groups()) {
        EXPECT_FALSE(group.importance.exact);
        EXPECT_THAT(group.importance.too_little, HasSubstr("30 are needed, so tune with more --evaluations"));
        EXPECT_TRUE(group.importance.parameters.empty());
    }
}

}  // namespace
}  // namespace smemtune
