#include "runtime/host/host_compiler.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "util/hash.h"
#include "util/process.h"
#include "util/temporary_folder.h"

namespace smemtune {

/// layout.h, cuda_on_cpu.h and checked.h, as they were when the library was built.
const std::map<std::string, std::string>& host_headers();

namespace {

namespace fs = std::filesystem;

std::string wrapper(const Program& program) {
    return "#include \"" + program.source_path + "\"\n" +
           "extern \"C\" void smemtune_call(void* const* arguments) { smemtune_host::call(" + program.entry +
           ", arguments); }\n"
           "extern \"C\" SmemtuneThread** smemtune_current() { return &smemtune_host::current; }\n";
}

// A filesystem error is not the candidate's fault.
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

// The compiler's first error, without the temporary folder's name.
std::string first_error(std::string output, const std::string& folder) {
    for (auto at = output.find(folder); at != std::string::npos; at = output.find(folder)) {
        output.erase(at, folder.size() + 1);
    }
    const auto error = output.find("error:");
    const auto start = error == std::string::npos ? 0 : output.rfind('\n', error) + 1;
    auto line = output.substr(start, output.find('\n', start) - start);
    // The compiler quotes the source below its message.
    if (output.substr(start, 400).find("extern __shared__") != std::string::npos) {
        line += " (the host device has no `extern __shared__`; use dynamic_shared<T>() of device/shared.h)";
    }
    return line;
}

}  // namespace

std::variant<Binary, Rejection> HostCompiler::compile(const Program& program) const {
    const auto begin = std::chrono::steady_clock::now();
    const TemporaryFolder folder = make_folder();
    for (const auto& [path, text] : program.files) write_text(folder, path, text);
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
    const bool clang = version().find("clang") != std::string::npos;
    if (clang) std::erase(command, "-fno-gnu-unique");
    if (options_.checked) {
        command.insert(command.end(), {"-g", "-include", in("checked.h"), "-fsanitize=kernel-address,bounds",
                                       "-fsanitize-recover=kernel-address,bounds"});
        for (const auto* setting : {"instrumentation-with-call-threshold=0", "stack=0", "globals=0"}) {
            if (clang) {
                command.insert(command.end(), {"-mllvm", std::string("-asan-") + setting});
            } else {
                command.insert(command.end(), {"--param", std::string("asan-") + setting});
            }
        }
        // clang may merge several accesses into one, which then has no line.
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

    Binary binary{.entry = program.entry, .target = target(), .compiler = version()};
    binary.code = read_file(folder / "kernel.so");
    binary.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return binary;
}

std::string HostCompiler::target() const {
    utsname name{};
    uname(&name);
    // The target names the headers, because code runs only on a backend with the same headers.
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
