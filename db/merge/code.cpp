// Merges portfolios and machine code. Trials that were verified with replaced machine code become `unrecorded`, and
// portfolio members that were verified with replaced machine code are left out.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "db/integrity/row_hash.h"
#include "db/merge/merging.h"
#include "util/hash.h"

namespace smemtune {

namespace {

std::string text_of_members(const std::vector<PortfolioMember>& members) {
    auto json = nlohmann::json::array();
    for (const auto& member : members) {
        json.push_back({to_text(member.configuration), member.code_hash, member.model.coefficients, member.model.error,
                        member.classes, member.verified_by});
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string hash_of_code(const BinaryRecord& binary) { return sha256(std::as_bytes(std::span(binary.code))); }

}  // namespace

Merge::CodeAt Merge::code_of(const TrialRecord& trial) {
    return {trial.key.kernel_template, to_text(trial.configuration), trial.code_hash};
}

Merge::CodeAt Merge::code_of(const PortfolioMember& member) {
    return {member.kernel_template, to_text(member.configuration), member.code_hash};
}

std::string Merge::name_of(const PortfolioPlace& place) const {
    const auto& [device, operation, type, layout] = place;
    return "the portfolio of " + operation + " " + type + (layout.empty() ? "" : " " + layout) + " on " +
           result.content.devices.at(device).name;
}

std::string Merge::name_of(const PortfolioMember& member) const {
    return "a portfolio's member " + result.content.templates.at(member.kernel_template).name + " " +
           to_text(member.configuration);
}

void Merge::portfolios() {
    struct Kept {
        std::string newest{};
        std::vector<PortfolioMember> members{};
        [[nodiscard]] auto rank() const { return std::tuple(newest, members.size(), text_of_members(members)); }
    };
    std::map<PortfolioPlace, Kept> kept;
    std::set<PortfolioPlace> outdated;
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        const auto& rows = renumbered_[i];
        const auto place_of_key = [&](const PortfolioKey& key) {
            return PortfolioPlace(rows.devices.at(key.device), key.operation, key.type, key.layout);
        };
        for (const auto& key : databases_[i].outdated_portfolios) outdated.insert(place_of_key(key));
        for (const auto& [key, members] : databases_[i].portfolios) {
            const auto place = place_of_key(key);
            Kept candidate{{}, members};
            for (auto& member : candidate.members) {
                member.kernel_template = rows.templates.at(member.kernel_template);
                member.configuration = complete(member.kernel_template, member.configuration);
                const auto measured = measured_at_.find({std::get<0>(place), code_of(member)});
                if (measured != measured_at_.end()) candidate.newest = std::max(candidate.newest, measured->second);
            }
            auto& best = kept[place];
            if (candidate.rank() > best.rank()) best = std::move(candidate);
        }
    }
    for (const auto& place : outdated) {
        if (kept.contains(place)) continue;
        leave_out(name_of(place),
                  "its models are of another version; run 'smemtune portfolio --refit' on its database first");
    }
    for (auto& [place, portfolio] : kept) {
        const auto& [device, operation, type, layout] = place;
        result.content.portfolios.push_back({{device, operation, type, layout}, std::move(portfolio.members)});
    }
    drop_wrong_members();
}

// Removes the portfolio members whose machine code gave a wrong result in any trial. Otherwise the runtime could use
// this code for problems without a trial. Store::remember removes such members, too.
void Merge::drop_wrong_members() {
    std::set<CodeAt> wrong;
    for (const auto& [place, trial] : trials_) {
        const auto* rejection = std::get_if<Rejection>(&trial.record.outcome);
        if (rejection != nullptr && rejection->stage == Stage::wrong) wrong.insert(code_of(trial.record));
    }
    for (auto& portfolio : result.content.portfolios) {
        std::erase_if(portfolio.members, [&](const PortfolioMember& member) {
            if (!wrong.contains(code_of(member))) return false;
            leave_out(name_of(member), "its machine code gave a wrong result");
            return true;
        });
    }
}

std::map<Merge::CodeAt, std::string> Merge::verified_at() const {
    std::map<CodeAt, std::string> dates;
    for (const auto& [place, trial] : trials_) {
        if (!trial.record.is_verified() || trial.record.code_hash.empty()) continue;
        auto& date = dates[code_of(trial.record)];
        date = std::max(date, trial.finished_at);
    }
    return dates;
}

void Merge::machine_code() {
    std::set<CodeAt> of_members;
    std::set<CodeAt> of_winners;
    for (const auto& portfolio : result.content.portfolios) {
        for (const auto& member : portfolio.members) of_members.insert(code_of(member));
    }
    for (const auto& [place, trial] : trials_) {
        if (!trial.decided_at.empty()) of_winners.insert(code_of(trial.record));
    }
    const auto dates = verified_at();
    const auto code_of_binary = [](const BinaryRecord& binary) {
        return CodeAt(binary.kernel_template, to_text(binary.configuration), hash_of_code(binary));
    };
    const auto rank = [&](const BinaryRecord& binary) {
        const auto code = code_of_binary(binary);
        const auto date = dates.find(code);
        return std::tuple(of_members.contains(code), of_winners.contains(code),
                          date == dates.end() ? std::string() : date->second, row_sha256(binary));
    };
    // The machine code to keep, by template, configuration and target.
    std::map<std::tuple<Number, std::string, std::string>, BinaryRecord> kept;
    std::set<CodeAt> replaced;
    for (std::size_t i = 0; i < databases_.size(); ++i) {
        for (auto binary : databases_[i].binaries) {
            binary.kernel_template = renumbered_[i].templates.at(binary.kernel_template);
            binary.configuration = complete(binary.kernel_template, binary.configuration);
            replaced.insert(code_of_binary(binary));
            const auto [known, added] =
                kept.try_emplace({binary.kernel_template, to_text(binary.configuration), binary.target}, binary);
            if (!added && rank(binary) > rank(known->second)) known->second = std::move(binary);
        }
    }
    for (auto& [place, binary] : kept) {
        replaced.erase(code_of_binary(binary));
        result.content.binaries.push_back(std::move(binary));
    }
    forget_verification_with(replaced);
}

void Merge::forget_verification_with(const std::set<CodeAt>& replaced) {
    for (auto& [place, trial] : trials_) {
        if (!trial.record.is_verified() || !replaced.contains(code_of(trial.record))) continue;
        trial.record.verified_by = unrecorded;
        ++result.unrecorded_trials;
    }
    for (auto& portfolio : result.content.portfolios) {
        std::erase_if(portfolio.members, [&](const PortfolioMember& member) {
            if (!replaced.contains(code_of(member))) return false;
            leave_out(name_of(member), "a portfolio of another device has other machine code");
            return true;
        });
    }
    std::erase_if(result.content.portfolios, [](const StoredPortfolio& each) { return each.members.empty(); });
}

}  // namespace smemtune
