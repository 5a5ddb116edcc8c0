// Tests members of portfolios as an application uses them: fetched from a database and launched.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "db/integrity/row_hash.h"
#include "runtime/c/smemtune.h"
#include "runtime/runtime.h"
#include "tests/runtime/tuned.h"

namespace smemtune {
namespace {

using testing::HasSubstr;

// Tests with a database that has only a portfolio for the host device, with one member of the template `tiled`.
class ServedMember : public testing::Test {
protected:
    ServedMember() {
        Store store(database);
        const auto kernel_row =
            store.remember(TemplateRecord{kernel.name, kernel.operation.name, kernel.hash, kernel.files});
        const PortfolioMember member{.kernel_template = kernel_row,
                                     .configuration = configuration,
                                     .model = {.coefficients = {1, 0, 1, 0, 0, 0, 0, 0}, .error = 0.1},
                                     .classes = {"000", "001", "010", "011", "100", "101", "110", "111"},
                                     .verified_by = operation_identity(kernel, gemm(1, 1, 1)) + "/testbed",
                                     .code_hash = sha256(std::as_bytes(std::span(code.code)))};
        store.set_portfolio({store.remember(host_device()), "gemm", "f32", "nn"}, {member}, {record_of(code)});
    }

    [[nodiscard]] Runtime open(const std::string& compiler) const {
        return Runtime({.database = database, .device = "host", .host_compiler = compiler});
    }
    [[nodiscard]] BinaryRecord record_of(const Binary& binary) const {
        return {.kernel_template = 1,
                .configuration = configuration,
                .target = binary_key(binary.target, gemm(1, 1, 1)),
                .compiler = binary.compiler,
                .code = binary.code,
                .resources = binary.resources};
    }
    // Replaces the stored machine code and its hash with SQL, because a Store refuses to do so.
    void overwrite_code(const BinaryRecord& other) const {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
        sqlite3_stmt* statement = nullptr;
        ASSERT_EQ(sqlite3_prepare_v2(handle, "UPDATE binaries SET code = ?, sha256 = ?", -1, &statement, nullptr),
                  SQLITE_OK)
            << sqlite3_errmsg(handle);
        const auto hash = row_sha256(other);
        sqlite3_bind_blob(statement, 1, other.code.data(), static_cast<int>(other.code.size()), SQLITE_TRANSIENT);
        sqlite3_bind_text(statement, 2, hash.c_str(), -1, SQLITE_TRANSIENT);
        EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(handle);
        EXPECT_EQ(sqlite3_changes(handle), 1);
        sqlite3_finalize(statement);
        sqlite3_close(handle);
    }

    // Checks C = 2 A B + beta C with ones in A and B and threes in C. The addresses are aligned to elements, but not to
    // vectors of them.
    static void expect_right(const Kernel& kernel, int m, int n, int k, int padding, float beta) {
        const auto size = [&](int rows, int columns) {
            return 1 + static_cast<std::size_t>(rows * (columns + padding));
        };
        const std::vector<float> a(size(m, k), 1);
        const std::vector<float> b(size(k, n), 1);
        std::vector<float> c(size(m, n), 3);
        auto expected = c;
        for (int row = 0; row < m; ++row) {
            for (int column = 0; column < n; ++column) {
                expected[1 + static_cast<std::size_t>(row * (n + padding) + column)] =
                    2 * static_cast<float>(k) + beta * 3;
            }
        }
        kernel.launch(nullptr, {.a = a.data() + 1,
                                .b = b.data() + 1,
                                .c = c.data() + 1,
                                .lda = k + padding,
                                .ldb = n + padding,
                                .ldc = n + padding,
                                .alpha = 2,
                                .beta = beta});
        EXPECT_EQ(c, expected) << to_text(kernel.problem()) << " padding " << padding << " beta " << beta;
    }

    TemporaryFolder scratch;
    std::filesystem::path database = scratch / "tuning.db";
    const std::vector<KernelTemplate> templates = builtin_templates();
    const KernelTemplate& kernel = find_template(templates, "tiled");
    const Configuration configuration = parse_configuration("TILE_WIDTH=8");
    const Binary code = must_compile(*host_compiler(), program_of(kernel, configuration, gemm(1, 1, 1)));
    const std::string no_compiler = "/nowhere/c++";
};

TEST_F(ServedMember, IsRightForEveryStrideAddressAndScalar) {
    auto runtime = open(no_compiler);
    for (const auto& [m, n, k] : {std::array{16, 8, 24}, {9, 8, 12}, {1, 1, 1}, {17, 5, 3}}) {
        const auto fetched = runtime.fetch(gemm(m, n, k));
        EXPECT_EQ(fetched.choice().match, Match::predicted);
        for (const int padding : {0, 1, 4}) {
            for (const float beta : {0.0F, 1.0F, -2.0F}) expect_right(fetched, m, n, k, padding, beta);
        }
    }
}

TEST_F(ServedMember, HasThePredictedTimeAndItsUncertaintyInC) {
    smemtune_options options = SMEMTUNE_OPTIONS_INIT;
    const auto path = database.string();
    options.database = path.c_str();
    options.device = "host";
    options.host_compiler = no_compiler.c_str();
    smemtune_runtime* runtime = nullptr;
    ASSERT_EQ(smemtune_open(&options, &runtime), SMEMTUNE_OK) << smemtune_error_message();
    const auto problem = smemtune_gemm_problem("f32", "nn", 20, 30, 40);
    smemtune_kernel* fetched = nullptr;
    smemtune_choice choice = SMEMTUNE_CHOICE_INIT;
    EXPECT_EQ(smemtune_fetch(runtime, &problem, nullptr, &fetched), SMEMTUNE_OK) << smemtune_error_message();
    EXPECT_EQ(smemtune_kernel_choice(fetched, &choice), SMEMTUNE_OK) << smemtune_error_message();
    auto opened = open(no_compiler);
    const auto expected = opened.fetch(gemm(20, 30, 40)).choice();
    EXPECT_EQ(choice.match, SMEMTUNE_MATCH_PREDICTED);
    EXPECT_EQ(choice.uncertainty, 0.1);
    EXPECT_EQ(choice.uncertainty, expected.uncertainty);
    EXPECT_EQ(choice.expected_us, expected.expected_us);
    EXPECT_EQ(choice.why, expected.why);
    smemtune_release(fetched);
    smemtune_close(runtime);
}

TEST_F(ServedMember, ScalesCWhereThereIsNothingToSum) {
    const auto fetched = open(no_compiler).fetch(gemm(5, 4, 0));
    EXPECT_EQ(fetched.choice().match, Match::predicted);
    expect_right(fetched, 5, 4, 0, 1, 1.5F);
}

TEST_F(ServedMember, IsNoAnswerToAProblemThatMakesNoSense) {
    auto runtime = open(SMEMTUNE_CXX);
    const auto error_at = [&](const Problem& problem) -> std::string {
        try {
            (void)runtime.fetch(problem);
            return "nothing was thrown";
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
    };
    for (const auto value : {std::int64_t{-1}, std::int64_t{1} << 31, (std::int64_t{1} << 32) + 64}) {
        EXPECT_THAT(error_at(gemm(8, 8, value)), HasSubstr("extent K=" + std::to_string(value) + " is not in 1.."));
        EXPECT_THAT(error_at(gemm(value, 8, 8)), HasSubstr("extent M=" + std::to_string(value) + " is not in 1.."));
    }
    EXPECT_EQ(runtime.fetch(gemm(8, 8, 8)).choice().match, Match::predicted);
}

TEST_F(ServedMember, IsNotLaunchedForOtherExtents) {
    const auto fetched = open(no_compiler).fetch(gemm(4, 4, 4));
    int m = 8;
    std::array<void*, 11> arguments{};
    std::array<long long, 11> values{};
    for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = &values[i];
    arguments[0] = &m;
    EXPECT_THROW(fetched.launch(nullptr, arguments), std::invalid_argument);
}

TEST_F(ServedMember, WithOtherMachineCodeThanWasVerifiedIsCompiled) {
    auto other = record_of(code);
    other.code.assign(100, 0);
    overwrite_code(other);
    EXPECT_THAT(error_of<FetchError>([&] { (void)open(no_compiler).fetch(gemm(9, 8, 12)); }), HasSubstr(no_compiler));
    auto runtime = open(SMEMTUNE_CXX);
    const auto fetched = runtime.fetch(gemm(9, 8, 12));
    EXPECT_EQ(fetched.choice().match, Match::predicted);
    expect_right(fetched, 9, 8, 12, 0, 1);
}

// The application has read the portfolio and loaded the member's machine code before the tuner replaces the code.
TEST_F(ServedMember, WhoseCodeATunerReplacedMeanwhileIsNotServedWithTheNewCode) {
    auto runtime = open(no_compiler);
    EXPECT_EQ(runtime.fetch(gemm(9, 8, 12)).choice().match, Match::predicted);
    {
        Store store(database);
        auto other = code;
        other.code.push_back(0);
        store_winner(store, host_device(), kernel, gemm(64, 64, 64), configuration, 10, &other);
    }
    EXPECT_EQ(runtime.fetch(gemm(64, 64, 64)).choice().match, Match::exact);
    const auto fetched = runtime.fetch(gemm(10, 8, 12));
    EXPECT_EQ(fetched.choice().match, Match::predicted) << "the code that was verified is still loaded";
    expect_right(fetched, 10, 8, 12, 0, 1);
    EXPECT_EQ(open(no_compiler).fetch(gemm(10, 8, 12)).choice().match, Match::nearest) << "the member is gone";
}

}  // namespace
}  // namespace smemtune
