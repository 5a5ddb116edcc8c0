#include "tuner/search/search.h"

#include <stdexcept>

#include "tuner/search/walk.h"

namespace smemtune {

const std::vector<std::string>& search_names() {
    static const std::vector<std::string> names{"exhaustive", "random"};
    return names;
}

std::unique_ptr<Search> make_search(std::string_view name, SearchSetup setup) {
    if (name == "exhaustive") return exhaustive_search(setup);
    if (name == "random") return random_search(setup);
    std::string known;
    for (const auto& each : search_names()) known += " " + each;
    throw std::invalid_argument("search '" + std::string(name) + "' is unknown; known:" + known);
}

}  // namespace smemtune
