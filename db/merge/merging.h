// Implements merge(), with one function for each kind of row. The constructor calls these functions in order.
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
    using Number = std::int64_t;  ///< a row number of the merged database; the keys of Renumbering are original numbers
    using TrialPlace = std::tuple<Number, Number, Number, std::string>;  ///< device, template, problem, configuration
    using CodeAt = std::tuple<Number, std::string, std::string>;  ///< template, configuration, hash of machine code
    using PortfolioPlace = std::tuple<Number, std::string, std::string, std::string>;  ///< the fields of PortfolioKey

    /// Maps the row numbers of one database to row numbers of the merged database.
    struct Renumbering {
        std::map<Number, Number> devices{}, templates{}, problems{}, runs{};
    };
    struct Declared {
        std::map<TrialPlace, std::string> by_trial{};  ///< the date at which each trial was declared the winner
        std::set<std::size_t> databases{};
    };

    // The functions from devices() to templates() are defined in rows.cpp.
    void devices();
    void problems();
    void runs();
    void templates();

    // The functions from trials() to sort_trials() are defined in merge.cpp.
    void trials();
    void add(DatedTrial trial, std::size_t database, const std::string& first_at);
    void winners();
    void sort_trials();

    // The functions from portfolios() to verified_at() are defined in code.cpp.
    void portfolios();
    void drop_wrong_members();
    void machine_code();
    void forget_verification_with(const std::set<CodeAt>& replaced);
    [[nodiscard]] std::map<CodeAt, std::string> verified_at() const;

    /// Returns the configuration with all parameters of the merged template. Missing parameters get their defaults.
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
    std::map<Number, Configuration> defaults_{};  ///< defaults of the templates whose files differ between databases
    std::map<TrialPlace, DatedTrial> trials_{};
    std::map<TrialPlace, std::string> first_at_{};  ///< the latest possible date of each trial's first attempt
    std::map<TrialPlace, bool> shared_{};           ///< for a trial in several databases: whether its copies differ
    std::map<std::pair<Number, Number>, Declared> declared_{};        ///< the declared winners by device and problem
    std::map<std::pair<Number, CodeAt>, std::string> measured_at_{};  ///< date of the newest trial, by device and code
};

}  // namespace smemtune
