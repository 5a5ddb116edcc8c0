#include "tuner/shipping/portfolio_texts.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "tuner/cli/shell_text.h"
#include "util/hash.h"

namespace smemtune {

namespace {

const BinaryRecord& code_of(const Store& store, const std::vector<BinaryRecord>& binaries, const PortfolioRow& row) {
    const auto is_verified = [&](const BinaryRecord& binary) {
        return sha256(std::as_bytes(std::span(binary.code))) == row.member.code_hash;
    };
    const auto found = std::ranges::find_if(binaries, is_verified);
    if (found != binaries.end()) return *found;
    throw StoreError("the portfolio's member " + row.kernel_template + " " + to_text(row.member.configuration) +
                     " lacks the machine code that was verified; run " +
                     command_for(store.summary().path, "portfolio") + " again");
}

// Returns the architecture alone: "sm_90a" of the target "sm_90a f32 nn".
std::string target_of(const BinaryRecord& binary) { return binary.target.substr(0, binary.target.find(' ')); }

PortfolioText text_of(const Store& store, const PortfolioOrigin& origin, const Device& device,
                      const std::string& commit) {
    auto stored = store.portfolio(origin.key);
    if (!stored.damages.empty()) throw StoreError(stored.damages.front());
    PortfolioText text{.device = device,
                       .operation = origin.key.operation,
                       .type = origin.key.type,
                       .layout = origin.key.layout,
                       .target = {},
                       .compiler = {},
                       .toolchain = origin.toolchain,
                       .measured_at = origin.measured_at,
                       .commit = commit,
                       .members = std::move(stored.members)};
    for (auto& row : text.members) {
        const auto binaries = store.binaries(row.member.kernel_template, row.member.configuration);
        const auto& code = code_of(store, binaries, row);
        if (text.compiler.empty()) {
            text.compiler = code.compiler;
            text.target = target_of(code);
        } else if (text.compiler != code.compiler) {
            throw StoreError("the portfolio's members were made by different compilers (" + text.compiler + ", " +
                             code.compiler + "); run " + command_for(store.summary().path, "portfolio") + " again");
        }
        row.member.kernel_template = 0;
    }
    return text;
}

}  // namespace

std::vector<PortfolioText> portfolio_texts(const Store& store, const std::string& commit) {
    const auto devices = store.devices();
    std::vector<PortfolioText> texts;
    for (const auto& origin : store.portfolios()) {
        const auto device = std::ranges::find(devices, origin.key.device, &std::pair<std::int64_t, Device>::first);
        if (device == devices.end()) continue;  // another process has removed the portfolio's device
        texts.push_back(text_of(store, origin, device->second, commit));
    }
    return texts;
}

std::string file_name(const PortfolioText& portfolio) {
    const auto plain = [](std::string text) {
        for (auto& letter : text) {
            const auto code = static_cast<unsigned char>(letter);
            letter = std::isalnum(code) != 0 ? static_cast<char>(std::tolower(code)) : '_';
        }
        return text;
    };
    return plain(portfolio.device.name) + "-" + plain(portfolio.operation) + "-" + plain(portfolio.type) +
           (portfolio.layout.empty() ? "" : "-" + plain(portfolio.layout)) + ".toml";
}

}  // namespace smemtune
