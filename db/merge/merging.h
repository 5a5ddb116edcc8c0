// How merge() works: one function for each kind of row, in the order in which they run.
#pragma once

#include <set>
#include <tuple>
#include <utility>

#include "db/merge/merge.h"

namespace smemtune {

class Merge {
public:
    Merge(const std::vector<DatabaseContent>& databases, const DefaultsOf& defaults_of);

    MergedContent result;

private:
    using Number = std::int64_t;  ///< of a row of the merged database, unless it is the key of a Renumbering
    using TrialPlace = std::tuple<Number, Number, Number, std::string>;  ///< device, template, problem, configuration
    using CodeAt = std::tuple<Number, std::string, std::string>;         ///< template, configuration, hash of the code
    using PortfolioPlace = std::tuple<Number, std::string, std::string, std::string>;  ///< as PortfolioKey

    /// The rows of one database -> rows of the merged one.
    struct Renumbering {
        std::map<Number, Number> devices{}, templates{}, problems{}, runs{};
    };
    struct Declared {
        std::map<TrialPlace, std::string> by_trial{};  ///< when it was declared the winner
        std::set<std::size_t> databases{};
    };

    // rows.cpp
    void devices();
    void problems();
    void runs();
    void templates();

    // merge.cpp
    void trials();
    void add(DatedTrial trial, std::size_t database, const std::string& first_at);
    void winners();
    void sort_trials();

    // code.cpp
    void portfolios();
    void drop_wrong_members();
    void machine_code();
    void forget_verification_with(const std::set<CodeAt>& replaced);
    [[nodiscard]] std::map<CodeAt, std::string> verified_at() const;

    /// The configuration with all parameters that the merged template has.
    [[nodiscard]] Configuration complete(Number kernel_template, const Configuration& configuration) const;
    static TrialPlace place_of(const TrialRecord& trial);
    static CodeAt code_of(const TrialRecord& trial);
    static CodeAt code_of(const PortfolioMember& member);
    [[nodiscard]] std::string name_of(const PortfolioPlace& place) const;
    [[nodiscard]] std::string name_of(const PortfolioMember& member) const;
    void leave_out(const std::string& what, const std::string& why) { result.left_out.push_back(what + ": " + why); }

    const std::vector<DatabaseContent>& databases_;
    const DefaultsOf& defaults_of_;
    std::vector<Renumbering> renumbered_;
    std::map<Number, Configuration> defaults_{};  ///< of templates whose files differ
    std::map<TrialPlace, DatedTrial> trials_{};
    std::map<TrialPlace, std::string> first_at_{};  ///< when it was tried first, at the latest
    std::map<TrialPlace, bool> shared_{};           ///< trials that several databases hold: whether they differ
    std::map<std::pair<Number, Number>, Declared> declared_{};        ///< by device and problem
    std::map<std::pair<Number, CodeAt>, std::string> measured_at_{};  ///< by device: the newest trial of the code
};

}  // namespace smemtune
