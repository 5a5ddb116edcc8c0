// The part of the C interface that opens and closes a runtime and fetches kernels in advance (smemtune_warm_up).
#include "runtime/c/handles.h"
#include "runtime/c/structs.h"

namespace smemtune {

namespace {

constexpr std::uint32_t known_flags = SMEMTUNE_DATABASE_MAY_BE_ABSENT | SMEMTUNE_ANY_OWNER |
                                      SMEMTUNE_ANY_TEMPLATE_OWNER | SMEMTUNE_NO_MACHINE_CODE |
                                      SMEMTUNE_NO_STORED_TEMPLATES | SMEMTUNE_NO_JIT | SMEMTUNE_NO_HOST_CODE;

Trust trust_of(std::uint32_t flags) {
    const auto has = [&](std::uint32_t flag) { return (flags & flag) != 0; };
    return {.any_owner = has(SMEMTUNE_ANY_OWNER),
            .any_template_owner = has(SMEMTUNE_ANY_TEMPLATE_OWNER),
            .machine_code = !has(SMEMTUNE_NO_MACHINE_CODE),
            .stored_templates = !has(SMEMTUNE_NO_STORED_TEMPLATES),
            .jit = !has(SMEMTUNE_NO_JIT),
            .host_code = !has(SMEMTUNE_NO_HOST_CODE)};
}

Runtime::Options runtime_options(const smemtune_options& given) {
    if ((given.flags & ~known_flags) != 0) {
        throw std::invalid_argument("options.flags=" + std::to_string(given.flags) +
                                    " has a flag that this library does not know");
    }
    Runtime::Options options;
    if (given.database != nullptr) options.database = given.database;
    if (given.device != nullptr) options.device = given.device;
    if (given.host_compiler != nullptr) options.host_compiler = given.host_compiler;
    if (given.remembered_problems != 0) options.remembered_problems = given.remembered_problems;
    for (const auto* next = given.databases; next != nullptr && *next != nullptr; ++next) {
        options.databases.emplace_back(*next);
    }
    if (given.system_databases != nullptr) options.system_databases = given.system_databases;
    for (const auto* folder = given.template_folders; folder != nullptr && *folder != nullptr; ++folder) {
        options.template_folders.emplace_back(*folder);
    }
    options.measure_first_calls.candidates = given.measure_candidates;
    if (given.measure_lost_ms != 0) options.measure_first_calls.most_lost_ms = given.measure_lost_ms;
    options.database_may_be_absent = (given.flags & SMEMTUNE_DATABASE_MAY_BE_ABSENT) != 0;
    options.trust = trust_of(given.flags);
    if (given.log != nullptr) {
        options.log = [log = given.log, user = given.log_user](LogLevel level, const std::string& message) {
            log(user, level == LogLevel::info ? SMEMTUNE_LOG_INFO : SMEMTUNE_LOG_WARNING, message.c_str());
        };
    }
    return options;
}

}  // namespace

}  // namespace smemtune

smemtune_status smemtune_open(const smemtune_options* options, smemtune_runtime** runtime) {
    using namespace smemtune;
    return status_of([&] {
        required(runtime, "runtime") = nullptr;
        const smemtune_options defaults = SMEMTUNE_OPTIONS_INIT;
        const auto given =
            read_struct(options == nullptr ? defaults : *options,
                        offsetof(smemtune_options, measure_lost_ms) + sizeof(double), "smemtune_options");
        *runtime = std::make_unique<smemtune_runtime>(smemtune_runtime{Runtime(runtime_options(given))}).release();
    });
}

void smemtune_close(smemtune_runtime* runtime) {
    (void)smemtune::status_of([&] { const std::unique_ptr<smemtune_runtime> owner(runtime); });
}

smemtune_status smemtune_warm_up(smemtune_runtime* runtime, const smemtune_problem* problems, size_t count) {
    using namespace smemtune;
    return status_of([&] {
        auto& fetching = required(runtime, "runtime").runtime;
        if (count > 0) required(problems, "problems");
        std::vector<Problem> all;
        for (size_t i = 0; i < count; ++i) all.push_back(problem_of(problems[i]));
        fetching.warm_up(all);
    });
}
