#include "tuner/shipping/compile_portfolio.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "runtime/selection.h"
#include "templates/manifest/catalog.h"
#include "tuner/problem/trial_ledger.h"
#include "util/parallel_for.h"

namespace smemtune {

namespace {

// For some programs, there are two possible machine codes. Which of the two NVRTC makes depends on addresses in its
// memory (seen with NVRTC 13.0). Each of the two codes was the result of at least 40% of the compiles, so 8 compiles
// miss the verified code in less than 2% of cases.
constexpr int most_compiles = 8;

// Programs with two possible machine codes are rare. If the machine code of more members than this number differs from
// the verified code, the compiler is a different one, although its version has the same text. Then no member is
// compiled again.
std::size_t most_varying(std::size_t members) { return std::max<std::size_t>(2, members / 8); }

// A member's machine code, or the reason why the member is left out.
using Compiled = std::variant<Binary, std::string>;

// Returns the template of a member, or the reason why the member is left out.
std::variant<const KernelTemplate*, std::string> template_of(const PortfolioRow& row, const Problem& like,
                                                             const std::vector<KernelTemplate>& templates) {
    const auto kernel = std::ranges::find(templates, row.kernel_template, &KernelTemplate::name);
    if (kernel == templates.end()) return "there is no such template";
    if (!kernel->is_same_code(row.template_hash)) return "the template was edited since the portfolio was measured";
    if (!row.member.verified_by.starts_with(operation_identity(*kernel, like) + "/")) {
        return "the operation's reference or checks were edited since the portfolio was measured";
    }
    for (const auto& [name, value] : row.member.configuration.values) {
        const auto parameter = std::ranges::find(kernel->parameters, name, &Parameter::name);
        if (parameter == kernel->parameters.end()) return "the template has no parameter " + name;
        if (std::ranges::find(parameter->values, value) == parameter->values.end()) {
            return fmt::format("{} is no value of the template's parameter {}", value, name);
        }
    }
    return &*kernel;
}

Compiled compile_member(const PortfolioRow& row, const KernelTemplate& kernel, const Problem& like,
                        const Compiler& compiler) {
    const auto configuration = completed(row.member.configuration, default_configuration(kernel));
    auto result = compiler.compile(program_of(kernel, configuration, like));
    if (const auto* rejection = std::get_if<Rejection>(&result)) return rejection->reason;
    return std::move(std::get<Binary>(result));
}

bool is_other_code(const Compiled& compiled, const PortfolioRow& row) {
    const auto* binary = std::get_if<Binary>(&compiled);
    return binary != nullptr && code_hash_of(*binary) != row.member.code_hash;
}

}  // namespace

CompiledPortfolio compile_portfolio(const PortfolioText& portfolio, const std::vector<KernelTemplate>& templates,
                                    const Compiler& compiler, std::size_t jobs, Store& store) {
    const Problem like{portfolio.operation, portfolio.type, portfolio.layout, {}};
    std::vector<const KernelTemplate*> kernels(portfolio.members.size());
    std::vector<Compiled> compiled(portfolio.members.size());
    parallel_for(portfolio.members.size(), jobs, [&](std::size_t i) {
        const auto& row = portfolio.members[i];
        const auto kernel = template_of(row, like, templates);
        if (const auto* reason = std::get_if<std::string>(&kernel)) {
            compiled[i] = *reason;
            return;
        }
        kernels[i] = std::get<const KernelTemplate*>(kernel);
        compiled[i] = compile_member(row, *kernels[i], like, compiler);
    });
    std::vector<std::size_t> differing;
    for (std::size_t i = 0; i < compiled.size(); ++i) {
        if (is_other_code(compiled[i], portfolio.members[i])) differing.push_back(i);
    }
    const bool may_vary =
        compiler.version() == portfolio.compiler && differing.size() <= most_varying(portfolio.members.size());
    int compiles = 1;
    for (; may_vary && !differing.empty() && compiles < most_compiles; ++compiles) {
        parallel_for(differing.size(), jobs, [&](std::size_t n) {
            const auto i = differing[n];
            compiled[i] = compile_member(portfolio.members[i], *kernels[i], like, compiler);
        });
        std::erase_if(differing, [&](std::size_t i) { return !is_other_code(compiled[i], portfolio.members[i]); });
    }
    for (const auto i : differing) {
        const auto& binary = std::get<Binary>(compiled[i]);
        compiled[i] =
            fmt::format("{} made machine code that differs from the verified code{} (SHA-256 {})", binary.compiler,
                        compiles == 1 ? "" : fmt::format(" in each of {} compiles", compiles), code_hash_of(binary));
    }

    CompiledPortfolio result;
    std::vector<PortfolioMember> members;
    std::vector<BinaryRecord> binaries;
    for (std::size_t i = 0; i < compiled.size(); ++i) {
        const auto& row = portfolio.members[i];
        if (const auto* reason = std::get_if<std::string>(&compiled[i])) {
            result.left_out.push_back(row.kernel_template + " " + to_text(row.member.configuration) + ": " + *reason);
            continue;
        }
        auto& binary = std::get<Binary>(compiled[i]);
        auto member = row.member;
        member.kernel_template = store.remember(
            TemplateRecord{kernels[i]->name, kernels[i]->operation.name, kernels[i]->hash, kernels[i]->files});
        binaries.push_back({.kernel_template = member.kernel_template,
                            .configuration = member.configuration,
                            .target = binary_key(compiler.target(), like),
                            .compiler = binary.compiler,
                            .code = std::move(binary.code),
                            .resources = binary.resources});
        members.push_back(std::move(member));
    }
    result.stored = members.size();
    if (members.empty()) return result;
    store.set_portfolio({store.remember(portfolio.device), like.operation, like.type, like.layout}, members, binaries);
    return result;
}

}  // namespace smemtune
