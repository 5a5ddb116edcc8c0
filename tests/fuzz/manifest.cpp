#include <algorithm>

#include "templates/launch/launch.h"
#include "templates/manifest/catalog.h"

using namespace smemtune;

// Fuzzes folders of templates. In the input, a line `=== PATH` precedes each file. Every template that loads from the
// folder must also load from its own files alone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    SourceTree tree;
    for (auto at = text.find("=== "); at != std::string::npos;) {
        const auto line = std::min(text.find('\n', at), text.size() - 1);
        const auto next = text.find("\n=== ", line);
        tree[text.substr(at + 4, line - at - 4)] = text.substr(line + 1, next - line);
        at = next == std::string::npos ? next : next + 1;
    }
    try {
        const auto device = model_device("sm_90");
        for (const auto& kernel : load_templates(tree)) {
            if (load_template(kernel.files).hash != kernel.hash) __builtin_trap();
            Problem problem{.operation = kernel.operation.name, .type = kernel.types.front()};
            if (!kernel.operation.layouts.empty()) problem.layout = kernel.operation.layouts.begin()->first;
            for (const auto& name : kernel.operation.extents) problem.extents.emplace_back(name, 100);
            try {
                (void)launch_of(kernel, default_configuration(kernel), problem, device);
                (void)render(kernel, default_configuration(kernel), problem);
            } catch (const ExpressionError&) {
            }
        }
    } catch (const ManifestError&) {
    }
    return 0;
}
