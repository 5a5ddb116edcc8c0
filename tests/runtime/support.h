// Helpers for the runtime's tests: compiles kernels from source text for the host device.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/compiler.h"
#include "runtime/host/host_backend.h"
#include "templates/manifest/catalog.h"
#include "util/temporary_folder.h"

namespace smemtune {

/// Writes an executable shell script and returns its path.
inline std::string script(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
}

/// A program with the kernel `k` in its own file, and with the headers that built-in templates share.
inline Program program(const std::string& source) {
    auto files = builtin_sources();
    files["k.cu"] = source;
    files["configuration.h"] = "using Element = float;\n";
    return {"k", "k.cu", std::move(files)};
}

inline std::unique_ptr<Compiler> host_compiler(bool checked = false) {
    return make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX, .checked = checked});
}

inline Binary must_compile(const Compiler& compiler, const Program& what) {
    auto result = compiler.compile(what);
    if (const auto* rejection = std::get_if<Rejection>(&result)) throw std::runtime_error(rejection->reason);
    return std::get<Binary>(std::move(result));
}

/// The stage and reason of the rejection of `source`; empty if `source` compiles.
inline std::string reason_of(const Compiler& compiler, const std::string& source) {
    const auto result = compiler.compile(program(source));
    const auto* rejection = std::get_if<Rejection>(&result);
    return rejection == nullptr ? "" : std::string(to_text(rejection->stage)) + ": " + rejection->reason;
}

/// The number of the first line that contains `text`, counted from 1.
inline std::string line_of(const std::string& source, const std::string& text) {
    const auto at = source.find(text);
    if (at == std::string::npos) throw std::runtime_error("the source does not hold " + text);
    return std::to_string(1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// The message of the Error that `work` throws; empty if `work` throws nothing.
template <class Error, class Work>
std::string error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace smemtune
