#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fuzzer/FuzzedDataProvider.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>

#include "runtime/runtime.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "tuner/replay/landscape.h"
#include "tuner/report/database_report.h"
#include "util/hash.h"
#include "util/temporary_folder.h"

using namespace smemtune;

namespace {

// A template with a short text, because the template is parsed for each fuzz input.
const SourceTree sources{{"scale.toml", R"toml([operation]
name       = "scale"
summary    = "B = alpha * A"
extents    = ["M"]
operations = "M"
bytes      = "2 * M * element_bytes"
terms      = "1"
reference  = "scale.cu"

[[operation.argument]]
name = "M"
kind = "extent"

[[operation.argument]]
name = "alpha"
kind = "scalar"

[[operation.argument]]
name = "A"
kind = "input"
rows = "1"
columns = "M"

[[operation.argument]]
name = "B"
kind = "output"
rows = "1"
columns = "M"

[[operation.check]]
inputs = "uniform"
scalars = { alpha = 1 }

[template]
name      = "scale"
operation = "scale"
summary   = "one element per thread"
types     = ["f32"]

[[parameter]]
name    = "BLOCK"
values  = [32, 64]
default = 64
summary = "threads of a block"

[[constraint]]
rule   = "BLOCK <= 1024"
reason = "the largest block"

[launch]
block = ["BLOCK"]
grid  = ["ceil_div(M, BLOCK)"]
static_shared_bytes  = "0"
dynamic_shared_bytes = "0"

[requires]
compute_capability = 75
)toml"},
                         {"scale.cu", "// scale and reference\n"}};

// A small valid database with a list of its tables' columns.
struct Base {
    Base() {
        Store store(folder / "base.db", Store::Access::write, {.rollback_journal = true});
        const auto& kernel = kernels.front();
        const TrialKey key{store.remember(device), store.remember({kernel.name, "scale", kernel.hash, kernel.files}),
                           store.remember(problem)};
        const auto best = default_configuration(kernel);
        auto other = best;
        other.values["BLOCK"] = 32;
        const auto run = store.start_run({R"({"sizes":"64"})", "{}", R"({"smemtune":"0.1"})"});
        const std::vector<std::uint8_t> code{1, 2, 3};
        store.remember(TrialRecord{.key = key,
                                   .configuration = best,
                                   .outcome = Measurement{.median_us = 2, .samples_us = {2}},
                                   .run = run,
                                   .verified_by = operation_identity(kernel, problem) + "/testbed",
                                   .code_hash = sha256(std::as_bytes(std::span(code)))});
        store.remember(TrialRecord{.key = key, .configuration = other, .outcome = Rejection{Stage::wrong, "why"}});
        const auto target = binary_key("sm_90a", problem);
        store.set_winner(key, best, BinaryRecord{key.kernel_template, best, target, "nvrtc", code, {}});
        store.finish_run(run, "complete");
    }
    void find_columns() {
        const SQLite::Database database(folder / "base.db");
        SQLite::Statement query(database,
                                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                                "WHERE m.type = 'table'");
        while (query.executeStep())
            columns.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getString());
    }

    TemporaryFolder folder;
    Device device = model_device("sm_90");
    Problem problem{"scale", "f32", "", {{"M", 64}}};
    std::vector<KernelTemplate> kernels = load_templates(sources);
    std::vector<std::pair<std::string, std::string>> columns;
};

// Changes the values of cells. SQLite refuses values of a type that the STRICT table does not allow. It does not check
// the CHECKs.
void change_cells(const Base& base, const std::string& path, FuzzedDataProvider& input) {
    try {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec("PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
        while (input.remaining_bytes() > 0) {
            const auto& [table, column] =
                base.columns[input.ConsumeIntegralInRange<std::size_t>(0, base.columns.size() - 1)];
            SQLite::Statement update(database, "UPDATE \"" + table + "\" SET \"" + column + "\" = ?");
            const auto text = input.ConsumeRandomLengthString(2000);
            switch (input.ConsumeIntegralInRange(0, 4)) {
                case 0: update.bind(1, input.ConsumeIntegral<std::int64_t>()); break;
                case 1: update.bind(1, input.ConsumeFloatingPoint<double>()); break;
                case 2: update.bind(1, text); break;
                case 3: update.bind(1, text.data(), static_cast<int>(text.size())); break;
                default: update.bind(1);
            }
            (void)update.tryExecuteStep();
        }
    } catch (const SQLite::Exception&) {  // SQLite may refuse a change because of earlier changes
    }
}

void change_bytes(const std::string& path, FuzzedDataProvider& input) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto size = std::filesystem::file_size(path);
    while (input.remaining_bytes() > 0) {
        file.seekp(static_cast<std::streamoff>(input.ConsumeIntegralInRange<std::uint64_t>(0, size - 1)));
        file << input.ConsumeRandomLengthString(64);
    }
}

// Reads everything that `smemtune db` and a fetch read. Loads no machine code.
void read(const Base& base, const std::string& path) {
    const Store store(path, Store::Access::read);
    (void)inventory_text(store.summary(), 0, store.inventory({}), 80);
    TrialReader reader(store);
    std::vector<TrialFacts> facts;
    for (auto& row : store.rows({})) {
        facts.push_back(reader.read(row));
        const auto run = store.recall_run(facts.back().row.record.run);
        (void)trial_text(facts.back(), run ? &*run : nullptr, 80);
    }
    (void)trials_text(facts, 0, 80);
    facts.clear();
    for (auto& row : store.rows({.best_only = true})) facts.push_back(reader.read(row));
    (void)best_text(facts, 80);
    Candidates candidates(base.problem, base.device, &store, base.kernels, "");
    for (int i = 0; i < 3; ++i) {
        const auto candidate = candidates.next();
        if (!candidate) break;
        if (!candidate->template_row) continue;
        (void)store.recall_binary(*candidate->template_row, *candidate->configuration,
                                  binary_key("sm_90a", base.problem));
    }
}

template <class Work>
void attempt(const Work& work) {
    try {
        work();
    } catch (const StoreError&) {
    } catch (const ManifestError&) {
    } catch (const ExpressionError&) {
    } catch (const std::invalid_argument&) {
    } catch (const std::length_error&) {
    }
}

}  // namespace

// Fuzzes whole databases. The input says which cells or bytes of a valid database change, and whether `simulate` or
// `db` reads the changed file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto base = [] {
        auto made = std::make_unique<Base>();
        made->find_columns();
        return made;
    }();
    FuzzedDataProvider input(data, size);
    const auto path = (base->folder / "changed.db").string();
    for (const auto* rest : {"", "-journal", "-wal", "-shm"}) std::filesystem::remove(path + rest);
    std::filesystem::copy_file(base->folder / "base.db", path);
    const bool simulates = input.ConsumeBool();
    if (input.ConsumeBool()) {
        change_cells(*base, path, input);
    } else {
        change_bytes(path, input);
    }
    // Sets an old date, because a reader waits until a changed file is 20 ms old.
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    attempt([&] {
        if (simulates) {
            (void)read_landscape(path, {});
        } else {
            read(*base, path);
        }
    });
    return 0;
}
