#include "tuner/search/search.h"

#include <stdexcept>

#include "tuner/search/strategies/annealing.h"
#include "tuner/search/strategies/enumeration.h"
#include "tuner/search/strategies/genetic.h"
#include "tuner/search/strategies/local.h"
#include "tuner/search/strategies/surrogate.h"

namespace smemtune {

std::string_view auto_search() { return "surrogate"; }

const std::vector<std::string>& search_names() {
    static const std::vector<std::string> names{"auto",      "exhaustive", "random",   "local",
                                                "annealing", "genetic",    "surrogate"};
    return names;
}

bool learns(std::string_view name) { return name != "exhaustive" && name != "random"; }

std::unique_ptr<Search> make_search(std::string_view name, SearchSetup setup) {
    const auto wanted = name == "auto" ? auto_search() : name;
    if (wanted == "exhaustive") return exhaustive_search(setup);
    if (wanted == "random") return random_search(setup);
    if (wanted == "local") return local_search(std::move(setup));
    if (wanted == "annealing") return annealing_search(std::move(setup));
    if (wanted == "genetic") return genetic_search(std::move(setup));
    if (wanted == "surrogate") return surrogate_search(std::move(setup));
    std::string known;
    for (const auto& each : search_names()) known += " " + each;
    throw std::invalid_argument("search '" + std::string(name) + "' is unknown; known:" + known);
}

}  // namespace smemtune
