#include <algorithm>
#include <vector>

#include "templates/space/expression.h"

using namespace smemtune;

// Fuzzes expressions. Evaluation by name and by slot must agree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const Expression expression(std::string(reinterpret_cast<const char*>(data), size));
        Environment environment;
        std::vector<std::int64_t> backwards;
        for (const auto& name : expression.names()) {
            environment[name] = static_cast<std::int64_t>(name.size()) * 7 - 8;
            backwards.insert(backwards.begin(), environment[name]);
        }
        const auto& names = expression.names();
        const auto rebound = expression.rebind([&](const std::string& name) {
            return names.size() - 1 - static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
        });
        if (expression.evaluate(environment) != rebound.evaluate(backwards)) __builtin_trap();
    } catch (const ExpressionError&) {
    }
    return 0;
}
