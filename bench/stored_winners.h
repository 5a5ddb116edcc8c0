// Makes databases for benchmarks. Their winners look like tuned winners, but were never measured.
#pragma once

#include <algorithm>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

#include "db/store.h"
#include "runtime/compiler.h"
#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "util/hash.h"

namespace smemtune {

struct CompiledKernel {
    KernelTemplate kernel_template;
    Configuration configuration;
    Binary binary;
};

/// Compiles a built-in template for `problem`. Parameters that `values` does not name get their default.
inline CompiledKernel compile_builtin(const std::string& name, const std::string& values, const Problem& problem,
                                      const Compiler& compiler) {
    const auto& templates = builtin_templates();
    const auto kernel = std::ranges::find(templates, name, &KernelTemplate::name);
    if (kernel == templates.end()) throw std::invalid_argument("there is no template " + name);
    auto configuration = completed(parse_configuration(values), default_configuration(*kernel));
    auto compiled = compiler.compile(program_of(*kernel, configuration, problem));
    auto* const binary = std::get_if<Binary>(&compiled);
    if (binary == nullptr) throw std::runtime_error(name + " does not compile");
    return {*kernel, std::move(configuration), std::move(*binary)};
}

/// Stores `kernel` in the database as the winner of each of `problems`. The problems must have the element type and
/// layout that `kernel` was compiled for, because they all share its machine code.
inline void store_winners(const std::filesystem::path& database, const Device& device, const CompiledKernel& kernel,
                          std::span<const Problem> problems) {
    const auto& [kernel_template, configuration, binary] = kernel;
    Store store(database);
    TrialKey key{store.remember(device),
                 store.remember(TemplateRecord{kernel_template.name, kernel_template.operation.name,
                                               kernel_template.hash, kernel_template.files})};
    const auto verified_by = operation_identity(kernel_template, problems.front()) + "/testbed";
    const auto code_hash = sha256(std::as_bytes(std::span(binary.code)));
    for (const auto& problem : problems) {
        key.problem = store.remember(problem);
        store.remember(TrialRecord{.key = key,
                                   .configuration = configuration,
                                   .outcome = Measurement{.median_us = 10, .samples_us = {10}},
                                   .verified_by = verified_by,
                                   .code_hash = code_hash});
        std::optional<BinaryRecord> code;
        if (&problem == &problems.front()) {
            code = BinaryRecord{key.kernel_template, configuration, binary_key(binary.target, problem),
                                binary.compiler,     binary.code,   binary.resources};
        }
        store.set_winner(key, configuration, code);
    }
}

}  // namespace smemtune
