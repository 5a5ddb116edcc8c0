#include "runtime/host/host_compiler.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "runtime/host/shared_object.h"
#include "templates/source/source_scan.h"
#include "util/hash.h"
#include "util/process.h"
#include "util/temporary_folder.h"

namespace smemtune {

/// The texts of layout.h, cuda_on_cpu.h, host_device/*.h and checked.h when the library was built, by file name.
const std::map<std::string, std::string>& host_headers();

namespace {

namespace fs = std::filesystem;

std::string wrapper(const Program& program) {
    std::string symbols;
    for (const auto& name : program.symbols) {
        symbols += "if (smemtune_is(name, \"" + name + "\")) { *bytes = sizeof(" + name + "); return (void*)&" + name +
                   "; }\n";
    }
    // NVRTC predefines these two types, too.
    return std::string("using size_t = decltype(sizeof 0); using ptrdiff_t = decltype((char*)0 - (char*)0);\n") +
           (program.needs.configuration ? "#include \"configuration.h\"\n" : "") + "#include \"" + program.source_path +
           "\"\n" + "extern \"C\" void smemtune_call(void* const* arguments) { smemtune_host::call(" + program.entry +
           ", arguments); }\n"
           "extern \"C\" SmemtuneThread** smemtune_current() { return &smemtune_host::current; }\n"
           "static bool smemtune_is(const char* a, const char* b) { return *a == *b && (*a == 0 || smemtune_is(a + 1, "
           "b + "
           "1)); }\n"
           "extern \"C\" void* smemtune_symbol(const char* name, unsigned long* bytes) {\n" +
           symbols + "return nullptr;\n}\n";
}

// The limit of every GPU. The host device has it, too, so that a kernel that passes there also compiles for a GPU.
constexpr std::int64_t most_static_shared_bytes = 48 << 10;

// Headers of the CUDA Toolkit that are empty on the host device, because cuda_on_cpu.h declares what a kernel needs of
// them.
constexpr std::array toolkit_headers{
    "cuda.h",           "cuda_runtime.h",     "cuda_runtime_api.h", "device_launch_parameters.h",
    "math_constants.h", "vector_functions.h", "vector_types.h"};

// Replaces `extern __shared__ T name[];`, which C++ does not have, with a pointer to dynamic shared memory, on the same
// line. Outside functions, such a declaration becomes an error, because a pointer there would have one value for all
// blocks.
std::string with_dynamic_shared(const std::string& source) {
    if (source.find("__shared__") == std::string::npos) return source;
    static const std::regex declaration(
        R"(\bextern\s+__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s*|alignas\s*\(\s*\d+\s*\)\s*)?([A-Za-z_][\w:<>, ]*?)\s+(\w+)\s*\[\s*\]\s*;)");
    static const std::regex scope(R"(\b(?:namespace[^{};]*|extern\s*"C"\s*)\{)");
    const auto plain = without_comments(source);
    std::string result;
    auto done = source.begin();
    for (std::sregex_iterator at(source.begin(), source.end(), declaration), end; at != end; ++at) {
        const auto before = plain.substr(0, static_cast<std::size_t>(at->position()));
        const auto scopes =
            std::distance(std::sregex_iterator(before.begin(), before.end(), scope), std::sregex_iterator());
        const bool in_function = std::ranges::count(before, '{') - std::ranges::count(before, '}') - scopes > 0;
        result.append(done, (*at)[0].first);
        result += at->format(in_function ? "$1* const $2 = static_cast<$1*>(smemtune_dynamic_shared());"
                                         : "static_assert(false, \"the host device supports `extern __shared__` only "
                                           "inside functions; declare $2 there, or use dynamic_shared<T>() of "
                                           "device/shared.h\");");
        done = (*at)[0].second;
    }
    return result.append(done, source.end());
}

// A filesystem error becomes a CompilerError, not a rejection, because the candidate did not cause it.
void write_text(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
    try {
        folder.write(name, text);
    } catch (const std::runtime_error& error) {
        throw CompilerError(error.what());
    }
}

TemporaryFolder make_folder() {
    try {
        return TemporaryFolder();
    } catch (const std::runtime_error& error) {
        throw CompilerError(error.what());
    }
}

std::vector<std::uint8_t> read_file(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The first error in the compiler's output. The path of the temporary folder is removed.
std::string first_error(std::string output, const std::string& folder) {
    for (auto at = output.find(folder); at != std::string::npos; at = output.find(folder)) {
        output.erase(at, folder.size() + 1);
    }
    const auto error = output.find("error:");
    const auto start = error == std::string::npos ? 0 : output.rfind('\n', error) + 1;
    return readable_error(output.substr(start, output.find('\n', start) - start));
}

// Source text that makes a user's C++ function callable like a kernel: with an array of addresses. The call returns
// null, or the message of the exception that the function threw.
std::string function_wrapper(const Program& program) {
    return "#include \"configuration.h\"\n#include \"" + program.source_path + R"("
#include <cstddef>
#include <exception>
#include <string>
#include <utility>
template <class... SmemtuneT, std::size_t... smemtune_i>
void smemtune_apply(void (*function)(SmemtuneT...), void* const* arguments, std::index_sequence<smemtune_i...>) {
    function(*static_cast<SmemtuneT*>(arguments[smemtune_i])...);
}
template <class... SmemtuneT> void smemtune_apply(void (*function)(SmemtuneT...), void* const* arguments) {
    smemtune_apply(function, arguments, std::index_sequence_for<SmemtuneT...>());
}
extern "C" const char* smemtune_call_function(void* const* arguments) {
    static std::string error;
    try {
        smemtune_apply()" +
           program.entry + R"(, arguments);
        return nullptr;
    } catch (const std::exception& thrown) {
        error = thrown.what();
    } catch (...) {
        error = "an exception";
    }
    return error.c_str();
}
)";
}

}  // namespace

std::variant<Binary, Rejection> HostCompiler::compile_function(const Program& program) const {
    const TemporaryFolder folder = make_folder();
    for (const auto& [path, text] : program.files) write_text(folder, path, text);
    write_text(folder, "smemtune_wrapper.cpp", function_wrapper(program));
    const auto in = [&](const char* name) { return (folder / name).string(); };
    std::vector<std::string> command{options_.host_compiler, "-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-I",
                                     folder.path().string()};
    for (const auto& each : program.include_folders) command.insert(command.end(), {"-I", in(each.c_str())});
    command.insert(command.end(), {in("smemtune_wrapper.cpp"), "-o", in("function.so")});
    const auto result = run_process(command, options_.time_limit);
    if (!result.started) {
        throw CompilerError("'" + program.entry + "' is a C++ function, which needs a C++ compiler, and '" +
                            options_.host_compiler + "' does not run; install g++, or name another one in CXX");
    }
    if (result.timed_out) {
        return Rejection{Stage::compile, "the compiler ran past " + std::to_string(options_.time_limit.count()) + " s"};
    }
    if (result.exit_code != 0) {
        auto reason = first_error(result.output, folder.path().string());
        if (reason.starts_with("smemtune_wrapper.cpp")) {
            reason = program.source_path + ": no function void " + program.entry + "(...) that can be called (" +
                     reason + ")";
        }
        return Rejection{Stage::compile, reason};
    }
    Binary binary{.entry = program.entry, .target = "host function"};
    binary.code = read_file(folder / "function.so");
    return binary;
}

std::variant<Binary, Rejection> HostCompiler::compile(const Program& program) const {
    if (program.on_host) return compile_function(program);
    const auto begin = std::chrono::steady_clock::now();
    const TemporaryFolder folder = make_folder();
    for (const auto& [path, text] : program.files) {
        write_text(folder, path, path.ends_with(".toml") ? text : with_dynamic_shared(text));
    }
    if (program.needs.system_headers) {
        for (const auto* name : toolkit_headers) {
            if (!program.files.contains(name)) write_text(folder, name, "#pragma once\n");
        }
    }
    for (const auto& [path, text] : host_headers()) write_text(folder, path, text);
    write_text(folder, "smemtune_wrapper.cpp", wrapper(program));
    const auto in = [&](const char* name) { return (folder / name).string(); };

    std::vector<std::string> command{options_.host_compiler,
                                     "-std=c++17",
                                     "-O2",
                                     "-fPIC",
                                     "-shared",
                                     "-fno-gnu-unique",
                                     "-w",
                                     "-fno-exceptions",
                                     "-I",
                                     folder.path().string(),
                                     "-include",
                                     in("cuda_on_cpu.h")};
    for (const auto& option : program.options) {
        // Only options that set the language standard or macros are passed on. All others are for NVRTC.
        const bool is_standard = option.starts_with("-std=") || option.starts_with("--std=");
        if (is_standard) command[1] = option.substr(option.find("-std="));
        if (option.starts_with("--define-macro=")) command.push_back("-D" + option.substr(15));
        if (option.starts_with("-D") || option.starts_with("-U")) command.push_back(option);
    }
    for (const auto& each : program.include_folders) command.insert(command.end(), {"-I", in(each.c_str())});
    if (program.needs.system_headers) command.emplace_back("-DSMEMTUNE_SYSTEM_HEADERS");
    const bool clang = version().find("clang") != std::string::npos;
    if (clang) std::erase(command, "-fno-gnu-unique");
    if (options_.checked) {
        command.insert(command.end(), {"-g1", "-include", in("checked.h"), "-fsanitize=kernel-address,bounds",
                                       "-fsanitize-recover=kernel-address,bounds"});
        for (const auto* setting : {"instrumentation-with-call-threshold=0", "stack=0", "globals=0"}) {
            if (clang) {
                command.insert(command.end(), {"-mllvm", std::string("-asan-") + setting});
            } else {
                command.insert(command.end(), {"--param", std::string("asan-") + setting});
            }
        }
        // Turns tail merging off, because clang could merge several accesses into one that has no line number.
        if (clang) command.insert(command.end(), {"-mllvm", "-enable-tail-merge=false"});
    }
    command.insert(command.end(), {in("smemtune_wrapper.cpp"), "-o", in("kernel.so")});

    const auto result = run_process(command, options_.time_limit);
    if (!result.started) throw CompilerError("cannot run the C++ compiler '" + options_.host_compiler + "'");
    if (result.timed_out) {
        return Rejection{Stage::compile, "the compiler ran past " + std::to_string(options_.time_limit.count()) + " s"};
    }
    if (result.exit_code > 128 || result.output.find("Killed signal") != std::string::npos) {
        throw CompilerError("the C++ compiler was killed; is there too little memory? Try fewer --jobs");
    }
    if (result.exit_code != 0) {
        auto reason = first_error(result.output, folder.path().string());
        if (reason.starts_with("smemtune_wrapper.cpp")) {
            reason = program.source_path + ": no kernel '" + program.entry + "' that can be called (" + reason + ")";
        }
        return Rejection{Stage::compile, reason};
    }

    Binary binary{.entry = base_name(program.entry), .target = target(), .compiler = version()};
    binary.code = read_file(folder / "kernel.so");
    if (const auto bytes = static_shared_bytes(binary.code, binary.entry); bytes > most_static_shared_bytes) {
        return Rejection{Stage::limits, "static shared bytes per block: asks for " + std::to_string(bytes) +
                                            ", GPUs allow " + std::to_string(most_static_shared_bytes) +
                                            "; use dynamic shared memory"};
    }
    binary.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return binary;
}

std::string HostCompiler::target() const {
    utsname name{};
    uname(&name);
    // The target contains a hash of the host headers, because code is compatible only with a backend that was built
    // with the same headers.
    static const auto headers = [] {
        std::string text;
        for (const auto& [path, content] : host_headers()) text += content;
        return content_hash(text).substr(0, 8);
    }();
    return std::string("host-") + name.machine + "-" + headers + (options_.checked ? "-checked" : "");
}

std::string HostCompiler::version() const {
    std::call_once(asked_, [this] {
        const auto result = run_process({options_.host_compiler, "--version"}, std::chrono::seconds(10));
        if (!result.started || result.exit_code != 0) {
            throw CompilerError("the host device needs a C++ compiler, and '" + options_.host_compiler +
                                "' does not run; install g++, or name another one in CXX");
        }
        version_ = result.output.substr(0, result.output.find('\n')) + " -O2";
    });
    return version_;
}

}  // namespace smemtune
