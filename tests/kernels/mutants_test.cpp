// Mutation tests. A mutant is a copy of a built-in kernel with one wrong change, such as a missing barrier or a shifted
// bound. On the host device in checked mode, every mutant must give a wrong result or access memory out of bounds. The
// tests cover the built-in kernels that have barriers.
#include <cctype>
#include <iostream>
#include <sstream>

#include "tests/kernels/support.h"

namespace smemtune {
namespace {

struct Mutant {
    std::string name;
    std::string path;  // the mutated file
    std::string source;
};

// Whether the text at position `at` of `line` is the bound of a loop over a thread's or a tile's own elements. With one
// step too many, the loop would access a local array out of bounds, which checked mode does not notice.
bool is_constant_loop(const std::string& line, std::size_t at) {
    const auto loop = line.rfind("for (", at);
    if (loop == std::string::npos || line.substr(loop, at - loop).find(')') != std::string::npos) return false;
    auto bound = line.substr(at, line.find(';', at) - at);
    if (const auto scope = bound.rfind("::"); scope != std::string::npos) bound.erase(0, scope);
    if (bound.find("BATCH") != std::string::npos) return false;  // not a constant, because BATCH is an extent
    return std::ranges::none_of(bound, [](unsigned char c) { return std::islower(c); });
}

// Whether results stay right if the comparison at position `at` of `line` is changed.
bool is_harmless(const std::string& line, std::size_t at) {
    for (const std::string_view code : {
             "first_line() < LINES_PER_PASS",  // copies a line twice, which is harmless
             "line_offset(i) < steps",         // an additional k-step, for which an operand has zeros
             "* WIDTH < steps",                // an additional k-step with zeros, in another loader
             "source < sources; source",       // adds zeros, because each load has its own guard
             "first < count; first",           // adds nothing, because each sum has its own guard
             "i < ACCUMULATORS; i += GROUPS",  // stores nothing, because each group has its own guard
         }) {
        const auto begin = line.find(code);
        if (begin != std::string::npos && at >= begin && at < begin + code.size()) return true;
    }
    return false;
}

// Returns the mutants of a file. For at least one problem, each mutant gives a wrong result or accesses memory out of
// bounds. Three kinds of changes are left out, because the results stay right: a change of `left > 0` adds a phase of
// zeros; a change of `>=` before a vector access selects the slow path; a bound in a static assertion does nothing at
// run time.
std::vector<Mutant> mutants_of(const std::string& path, const std::string& source) {
    struct Change {
        std::string from, to;
    };
    static const std::vector<Change> changes{
        {"__syncthreads();", ";"},             // a barrier is missing
        {" < ", " <= "},                       // one step too many in a guard or along K
        {"int left = K", "int left = K - 1"},  // the last step along K is missing
        {"int left = K", "int left = K + 1"},  // one step along K too many
        {"ragged = K", "ragged = K - 1"},      // one step along K is missing
        {"ragged = K", "ragged = K + 1"},
        {"(M - 1) / ", "M / "},  // one row of tiles too many
        {"(N - 1) / ", "N / "},  // one column of tiles too many
        {" >= M", " > M"},       // a wrong guard at the end of C
        {" >= N", " > N"},
        {"buffer ^= 1", "buffer ^= 0"},                            // overwrites the tile that is read
        {"column(n)][a_next.row(n)", "row(n)][a_next.column(n)"},  // does not transpose the tile
        {"row(n) < rows && ", ""},                                 // a guard is missing
        {" && column(n) < columns", ""},
        {"row < rows ? columns - column : 0", "columns - column"},
        {"left - BLOCK_K, ", "left, "},  // the last phase loads elements that do not exist
        {"(tx, ", "(ty, "},              // a thread computes the columns of another thread
        {"i / 4 * threads", "i / 4"},    // a thread computes the same columns twice
    };
    std::vector<Mutant> mutants;
    std::istringstream lines(source);
    std::size_t begin = 0;
    int number = 0;
    for (std::string line; std::getline(lines, line); begin += line.size() + 1) {
        ++number;
        if (line.starts_with('#') || line.find("static_assert") != std::string::npos) continue;
        const auto code = line.substr(0, line.find("//"));
        for (const auto& [from, to] : changes) {
            for (auto at = code.find(from); at != std::string::npos; at = code.find(from, at + 1)) {
                if (is_constant_loop(code, at) || is_harmless(code, at)) continue;
                auto changed = source;
                changed.replace(begin + at, from.size(), to);
                const auto first = code.find_first_not_of(' ');
                mutants.push_back({path + ":" + std::to_string(number) + ":" + std::to_string(at + 1) + ": `" + from +
                                       "` -> `" + to + "` in `" + code.substr(first) + "`",
                                   path, std::move(changed)});
            }
        }
    }
    return mutants;
}

// Returns the kernel's source and the headers in its folder. gemm/fp64.h is left out, because only the reference
// includes it.
std::vector<std::string> own_files(const KernelTemplate& kernel) {
    const auto folder = kernel.source_path.substr(0, kernel.source_path.rfind('/') + 1);
    std::vector<std::string> files;
    for (const auto& [path, text] : kernel.files) {
        const bool body = path.ends_with(".h") && path.starts_with(folder) && path != "gemm/fp64.h";
        if (path == kernel.source_path || body) files.push_back(path);
    }
    return files;
}

// Returns configurations whose tiles are so small that problems have several phases and tiles. If a kernel has guards
// for spare threads, at least one configuration has spare threads. A mutant survives only if no configuration detects
// it.
std::vector<Configuration> configurations_for(const KernelTemplate& kernel) {
    if (kernel.name == "rectangular_tiled") return {parse_configuration("TILE_ROWS=32,TILE_COLUMNS=32,TILE_DEPTH=16")};
    if (kernel.name == "thread_tiled") {  // two groups of four columns and several loads per thread
        return {parse_configuration("BLOCK_M=32,BLOCK_N=64,BLOCK_K=16,THREAD_M=4,THREAD_N=8")};
    }
    if (kernel.name == "warp_tiled") {
        // The host device lacks clusters, so none of the five configurations uses them. The first one uses the pipeline
        // wherever N has a whole tile, and some of its threads copy no line of B in the last round. The second one uses
        // the pipeline with vectors, if rows are aligned. The third one splits K and adds up the parts through device
        // memory, even at sizes where the tile is wider than C. The fourth one writes a tile in two parts. In the
        // fifth one, the launch chooses the number of parts, up to 10.
        const std::string common = "BLOCK_M=16,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,CLUSTER_K=1,A_FIRST=1,";
        return {parse_configuration(common + "BLOCK_N=96,SLICES_K=2,SPLIT_K=1,VECTOR_A=1,VECTOR_B=1,STAGES=3,ASYNC=1," +
                                    "LANE_PAIRS=1,BLOCKS_PER_SM=1,GROUP_M=4"),
                parse_configuration(common + "BLOCK_N=64,SLICES_K=1,SPLIT_K=1,VECTOR_A=4,VECTOR_B=4,STAGES=4,ASYNC=0," +
                                    "LANE_PAIRS=0,BLOCKS_PER_SM=1,GROUP_M=4"),
                parse_configuration(common + "BLOCK_N=64,SLICES_K=2,SPLIT_K=4,VECTOR_A=1,VECTOR_B=1,STAGES=2,ASYNC=1," +
                                    "LANE_PAIRS=0,BLOCKS_PER_SM=1,GROUP_M=4"),
                parse_configuration("BLOCK_M=64,BLOCK_N=64,BLOCK_K=8,THREAD_M=16,THREAD_N=4,LANES_M=4,CLUSTER_K=1,"
                                    "A_FIRST=1,SLICES_K=1,SPLIT_K=1,VECTOR_A=1,VECTOR_B=1,STAGES=2,ASYNC=1,"
                                    "LANE_PAIRS=0,BLOCKS_PER_SM=1,GROUP_M=4"),
                parse_configuration("BLOCK_M=16,BLOCK_N=64,BLOCK_K=8,THREAD_M=4,THREAD_N=4,LANES_M=4,CLUSTER_K=1,"
                                    "A_FIRST=1,SLICES_K=4,SPLIT_K=0,VECTOR_A=1,VECTOR_B=1,STAGES=2,ASYNC=1,"
                                    "LANE_PAIRS=0,BLOCKS_PER_SM=1,GROUP_M=4")};
    }
    if (kernel.name == "skinny") {
        // All three configurations have several tiles, stages and slices. In the first one, each block has its own
        // tile. In the second and the third, several blocks share K through memory. The second has spare threads when
        // it adds the sums.
        return {parse_configuration("BLOCK_M=8,BLOCK_N=4,BLOCK_K=64,THREAD_M=2,THREAD_N=4,SLICES_K=16,STAGES=2,"
                                    "BLOCKS_PER_SM=1"),
                parse_configuration("BLOCK_M=16,BLOCK_N=8,BLOCK_K=128,THREAD_M=4,THREAD_N=4,SLICES_K=32,STAGES=2,"
                                    "BLOCKS_PER_SM=1"),
                parse_configuration("BLOCK_M=16,BLOCK_N=32,BLOCK_K=32,THREAD_M=4,THREAD_N=4,SLICES_K=4,STAGES=3,"
                                    "BLOCKS_PER_SM=1")};
    }
    if (kernel.name == "matrix_vector") {
        // The configurations cover matrices that are contiguous along the elements of C, matrices that are contiguous
        // along K, tiles that one block computes, and tiles for which several blocks divide K among them.
        return {parse_configuration("VECTOR_IS_B=0,TILE=16,OWN=4,THREADS=128,LOADS=2,BLOCKS_PER_SM=1"),
                parse_configuration("VECTOR_IS_B=1,TILE=4,OWN=2,THREADS=128,LOADS=2,BLOCKS_PER_SM=1"),
                parse_configuration("VECTOR_IS_B=0,TILE=64,OWN=8,THREADS=128,LOADS=1,BLOCKS_PER_SM=1")};
    }
    return {default_configuration(kernel)};
}

// Returns sizes, in this order: partial tiles with aligned rows, whole tiles along N, partial tiles in all dimensions,
// less than one phase along K.
std::vector<std::vector<std::int64_t>> sizes_for(const KernelTemplate& kernel) {
    std::vector<std::vector<std::int64_t>> all{{67, 36, 269}, {66, 64, 270}, {65, 71, 41}, {17, 33, 3}};
    // The sizes for warp_tiled are wide enough for a pipeline without guards. They are, in this order: aligned rows,
    // partial tiles in all dimensions, fewer phases than stages, less than one phase along K, enough phases for 10
    // parts.
    if (kernel.name == "warp_tiled") {
        all.insert(all.end(), {{48, 192, 44}, {35, 197, 29}, {35, 192, 16}, {17, 101, 3}, {17, 70, 700}});
    }
    return all;
}

class Mutants : public testing::TestWithParam<std::string> {
protected:
    const KernelTemplate kernel = builtin(GetParam());
    const std::unique_ptr<Backend> backend = open_host({.seed = 1});
    const std::unique_ptr<Compiler> compiler =
        make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX, .checked = true});
    CompilePool pool{*compiler, cores()};
    const std::unique_ptr<LoadedKernel> reference =
        unchecked_reference(*backend, kernel, problem_of(kernel, {1, 1, 1}));

    std::shared_future<CompilePool::Result> compile(const Configuration& configuration, const Mutant* mutant) {
        auto program = program_of(kernel, configuration, problem_of(kernel, {1, 1, 1}));
        if (mutant != nullptr) program.files.at(mutant->path) = mutant->source;
        return pool.submit(program);
    }

    // Runs the original and all mutants that were not detected yet, on one size after another with every check. Stops
    // when all mutants are detected, even if sizes are left for the original. correctness_test.cpp and bounds_test.cpp
    // run the original on more sizes.
    void attack(const Configuration& configuration, const std::vector<Mutant>& mutants,
                std::vector<std::optional<std::string>>& causes) {
        std::vector<std::pair<std::size_t, std::shared_future<CompilePool::Result>>> alive;
        for (std::size_t i = 0; i < mutants.size(); ++i) {
            if (!causes[i]) alive.emplace_back(i, compile(configuration, &mutants[i]));
        }
        if (alive.empty()) return;
        const auto original = compile(configuration, nullptr);
        auto device = backend->device();
        device.grid_y = 2;             // less than the three matrices of a batch
        device.multiprocessors = 140;  // skinny and matrix_vector split K to fill all multiprocessors
        // Only the operands of one case are allocated at a time, because checked mode compares each access with all
        // allocated memory.
        for (const auto& extents : sizes_for(kernel)) {
            const auto problem = problem_of(kernel, extents);
            const auto launch = launch_of(kernel, configuration, problem, device);
            for (const auto& check : kernel.operation.checks) {
                if (alive.empty()) return;
                ExactOperands operands(*backend, kernel.operation, problem, check);
                operands.expect(*reference);
                const auto death_of = [&](const std::shared_future<CompilePool::Result>& compiled) {
                    return failure_of(operands, *load(*backend, binary_of(compiled.get()), launch), launch);
                };
                EXPECT_EQ(death_of(original), std::nullopt) << to_text(configuration) << " " << to_text(problem);
                for (const auto& [i, compiled] : alive) causes[i] = death_of(compiled);
                std::erase_if(alive, [&](const auto& each) { return causes[each.first].has_value(); });
            }
        }
    }
};

TEST_P(Mutants, AllDieAndTheOriginalLives) {
    std::vector<Mutant> mutants;
    for (const auto& path : own_files(kernel)) {
        std::ranges::move(mutants_of(path, kernel.files.at(path)), std::back_inserter(mutants));
    }
    std::vector<std::optional<std::string>> causes(mutants.size());
    for (const auto& configuration : configurations_for(kernel)) {
        attack(completed(configuration, default_configuration(kernel)), mutants, causes);
    }
    int without_barrier = 0;
    for (std::size_t i = 0; i < mutants.size(); ++i) {
        without_barrier += mutants[i].name.find("__syncthreads") != std::string::npos ? 1 : 0;
        EXPECT_TRUE(causes[i].has_value()) << mutants[i].name << " survives";
        if (causes[i] && std::getenv("SMEMTUNE_SHOW_MUTANTS") != nullptr) {
            std::cout << mutants[i].name << "\n    " << *causes[i] << "\n";
        }
    }
    EXPECT_GE(without_barrier, 1);
    EXPECT_GE(std::ssize(mutants) - without_barrier, 3) << "the patterns no longer fit the source";
}

std::vector<std::string> staged() {
    auto names = builtin_names();
    std::erase_if(names, [](const std::string& name) {
        const auto kernel = builtin(name);
        return std::ranges::none_of(own_files(kernel), [&](const std::string& path) {
            return kernel.files.at(path).find("__syncthreads") != std::string::npos;
        });
    });
    return names;
}

INSTANTIATE_TEST_SUITE_P(Templates, Mutants, testing::ValuesIn(staged()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace smemtune
