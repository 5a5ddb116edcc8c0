#include "tuner/shipping/export_database.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "tuner/cli/shell_text.h"
#include "util/hash.h"

namespace smemtune {

namespace {

class Copy {
public:
    Copy(const Store& from, Store& to) : from_(from), to_(to) {
        for (const auto& [row, device] : from.devices()) devices_[row] = device;
    }

    void winners() {
        Store::Filter each_winner;
        each_winner.best_only = true;
        for (const auto& row : from_.rows(each_winner)) {
            if (row.winner) attempt(row.kernel_template + " for " + to_text(row.problem), [&] { winner(row); });
        }
    }

    void portfolios() {
        for (const auto& origin : from_.portfolios()) portfolio(origin.key);
        std::ranges::move(outdated_portfolios(from_), std::back_inserter(result.left_out));
    }

    Exported result;

private:
    // Calls work(), which copies `what`. If work() finds a damaged row, records `what` as left out.
    template <class Work>
    void attempt(const std::string& what, const Work& work) {
        try {
            work();
        } catch (const DamagedRow& error) {
            result.has_damage = true;
            leave_out(what, error.what());
        }
    }

    void leave_out(const std::string& what, const std::string& why) { result.left_out.push_back(what + ": " + why); }

    std::int64_t device(std::int64_t row) { return to_.remember(devices_.at(row)); }

    std::int64_t kernel_template(std::int64_t row) {
        auto known = templates_.find(row);
        if (known == templates_.end()) {
            const auto record = from_.recall_template(row);
            if (!record) throw DamagedRow("its template is missing");
            known = templates_.emplace(row, to_.remember(*record)).first;
        }
        return known->second;
    }

    // Returns the stored machine code with this hash; nothing if there is none. `row` is the template's row in the
    // source database. The result has the template's row in the copy instead.
    std::optional<BinaryRecord> code(std::int64_t row, const Configuration& configuration, const std::string& hash) {
        for (auto& binary : from_.binaries(row, configuration)) {
            if (sha256(std::as_bytes(std::span(binary.code))) != hash) continue;
            binary.kernel_template = kernel_template(row);
            return std::move(binary);
        }
        return std::nullopt;
    }

    void winner(const TrialRow& row) {
        const auto what = row.kernel_template + " for " + to_text(row.problem);
        if (row.record.verified_by == unrecorded)
            return leave_out(what, "it is unknown how it was verified; tune it again");
        const auto& key = row.record.key;
        auto trial = row.record;
        trial.run = 0;
        std::get<Measurement>(trial.outcome).samples_us.clear();
        trial.key = {device(key.device), kernel_template(key.kernel_template), to_.remember(row.problem)};
        if (const auto binary = code(key.kernel_template, trial.configuration, trial.code_hash)) {
            to_.set_winner(trial, *binary);
        } else {
            to_.remember(trial);
            to_.set_winner(trial.key, trial.configuration, std::nullopt);
            if (!trial.code_hash.empty()) {
                leave_out("the machine code of " + what, "it is missing or damaged; tune again to store it");
            }
        }
        ++result.winners;
    }

    void portfolio(const PortfolioKey& key) {
        const auto stored = from_.portfolio(key);
        for (const auto& damage : stored.damages) leave_out("a member of a portfolio", damage);
        result.has_damage = result.has_damage || !stored.damages.empty();
        std::vector<PortfolioMember> members;
        std::vector<BinaryRecord> binaries;
        for (const auto& row : stored.members) {
            const auto what = row.kernel_template + " " + to_text(row.member.configuration);
            attempt(what, [&] {
                auto binary = code(row.member.kernel_template, row.member.configuration, row.member.code_hash);
                if (!binary) return leave_out(what, "the machine code that was verified is missing");
                auto member = row.member;
                member.kernel_template = binary->kernel_template;
                members.push_back(std::move(member));
                binaries.push_back(std::move(*binary));
            });
        }
        if (members.empty()) return;
        auto place = key;
        place.device = device(key.device);
        to_.set_portfolio(place, members, binaries);
        result.members += members.size();
    }

    const Store& from_;
    Store& to_;
    std::map<std::int64_t, Device> devices_;
    std::map<std::int64_t, std::int64_t> templates_;  // maps a template's row in from_ to its row in to_
};

}  // namespace

std::vector<std::string> outdated_portfolios(const Store& store) {
    std::map<std::int64_t, std::string> devices;
    for (const auto& [row, device] : store.devices()) devices[row] = device.name;
    std::vector<std::string> texts;
    for (const auto& key : store.outdated_portfolios()) {
        texts.push_back("the portfolio of " + key.operation + " " + key.type +
                        (key.layout.empty() ? "" : " " + key.layout) + " on " + devices[key.device] +
                        ": its models are of another version of smemtune; run " +
                        command_for(store.summary().path, "portfolio --refit") + ", which needs no device");
    }
    return texts;
}

Exported export_database(const Store& from, Store& to, bool winners) {
    Copy copy(from, to);
    if (winners) copy.winners();
    copy.portfolios();
    return std::move(copy.result);
}

}  // namespace smemtune
