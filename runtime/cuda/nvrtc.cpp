#include "runtime/cuda/nvrtc.h"

#include <nvrtc.h>

#include <array>
#include <regex>

#include "runtime/cuda/toolkit_library.h"
#include "util/dynamic_library.h"

namespace smemtune {

namespace {

// The functions of libnvrtc, looked up by name: a program that only fetches stored machine code runs without libnvrtc.
class Nvrtc {
public:
    static const Nvrtc& instance() {
        static const Nvrtc library;
        return library;
    }

    decltype(&nvrtcVersion) version = nullptr;
    decltype(&nvrtcCreateProgram) create_program = nullptr;
    decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
    decltype(&nvrtcCompileProgram) compile_program = nullptr;
    decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
    decltype(&nvrtcGetCUBIN) cubin = nullptr;
    decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
    decltype(&nvrtcGetProgramLog) log = nullptr;
    decltype(&nvrtcGetErrorString) error_string = nullptr;
    decltype(&nvrtcSetFlowCallback) set_flow_callback = nullptr;  // since CUDA 12.9

    void check(nvrtcResult result, const char* what) const {
        if (result != NVRTC_SUCCESS) throw CompilerError(std::string("NVRTC: ") + what + ": " + error_string(result));
    }

private:
    Nvrtc() {
        const auto names = toolkit_library_names("libnvrtc");
        DynamicLibrary library(names);
        if (!library) {
            throw CompilerError("compiling for a GPU needs NVRTC, and " + names.front() +
                                " was not found; install the CUDA Toolkit or add its lib64 folder to LD_LIBRARY_PATH");
        }
        library.keep_open();
        const auto find = [&](const char* name, auto& function, bool required = true) {
            if (!library.find(name, function) && required)
                throw CompilerError(std::string("this NVRTC lacks ") + name + "; use 12.8 or newer");
        };
        find("nvrtcVersion", version);
        find("nvrtcCreateProgram", create_program);
        find("nvrtcDestroyProgram", destroy_program);
        find("nvrtcCompileProgram", compile_program);
        find("nvrtcGetCUBINSize", cubin_size);
        find("nvrtcGetCUBIN", cubin);
        find("nvrtcGetProgramLogSize", log_size);
        find("nvrtcGetProgramLog", log);
        find("nvrtcGetErrorString", error_string);
        find("nvrtcSetFlowCallback", set_flow_callback, false);
    }
};

class NvrtcProgram {
public:
    NvrtcProgram(const Nvrtc& nvrtc, const Program& program) : nvrtc_(nvrtc) {
        std::vector<const char*> texts;
        std::vector<const char*> names;
        for (const auto& [path, text] : program.files) {
            if (path == program.source_path || !path.ends_with(".h")) continue;
            names.push_back(path.c_str());
            texts.push_back(text.c_str());
        }
        nvrtc.check(
            nvrtc.create_program(&handle_, program.files.at(program.source_path).c_str(), program.source_path.c_str(),
                                 static_cast<int>(names.size()), texts.data(), names.data()),
            "create program");
    }
    ~NvrtcProgram() { nvrtc_.destroy_program(&handle_); }
    NvrtcProgram(const NvrtcProgram&) = delete;
    NvrtcProgram& operator=(const NvrtcProgram&) = delete;

    [[nodiscard]] nvrtcProgram handle() const { return handle_; }
    [[nodiscard]] std::string log() const {
        std::size_t size = 0;
        nvrtc_.check(nvrtc_.log_size(handle_, &size), "log");
        std::string text(size, '\0');
        nvrtc_.check(nvrtc_.log(handle_, text.data()), "log");
        text.resize(text.find_last_not_of(std::string("\0\n", 2)) + 1);
        return text;
    }
    [[nodiscard]] std::vector<std::uint8_t> cubin() const {
        std::size_t size = 0;
        nvrtc_.check(nvrtc_.cubin_size(handle_, &size), "cubin");
        std::vector<std::uint8_t> code(size);
        nvrtc_.check(nvrtc_.cubin(handle_, reinterpret_cast<char*>(code.data())), "cubin");
        return code;
    }

private:
    const Nvrtc& nvrtc_;
    nvrtcProgram handle_ = nullptr;
};

std::string first_error(const std::string& log) {
    const auto error = log.find("error");
    if (error == std::string::npos) return log.substr(0, log.find('\n'));
    const auto start = log.rfind('\n', error) + 1;
    return log.substr(start, log.find('\n', start) - start);
}

// Options of every program; they are part of the compiler's version. They select device code as the manifest declares
// it and ptxas's report, and disable NVRTC's own cache.
constexpr std::array common_options{"-std=c++17", "--ptxas-options=-v", "--no-cache"};

int past_deadline(void* deadline, void*) {
    return std::chrono::steady_clock::now() > *static_cast<std::chrono::steady_clock::time_point*>(deadline) ? 1 : 0;
}

}  // namespace

NvrtcCompiler::NvrtcCompiler(std::int64_t compute_capability, const CompilerOptions& options)
    // From 9.0 on, only the 'a' targets have architecture-specific features (wgmma, setmaxnreg).
    : target_("sm_" + std::to_string(compute_capability) + (compute_capability >= 90 ? "a" : "")),
      time_limit_(options.time_limit) {}

std::string NvrtcCompiler::version() const {
    int major = 0;
    int minor = 0;
    Nvrtc::instance().version(&major, &minor);
    auto text = "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
    for (const auto* option : common_options) text += std::string(" ") + option;
    return text;
}

std::variant<Binary, Rejection> NvrtcCompiler::compile(const Program& program) const {
    const auto& nvrtc = Nvrtc::instance();
    const auto begin = std::chrono::steady_clock::now();
    auto deadline = begin + time_limit_;
    const NvrtcProgram compiled(nvrtc, program);
    if (nvrtc.set_flow_callback != nullptr) {
        nvrtc.check(nvrtc.set_flow_callback(compiled.handle(), past_deadline, &deadline), "set flow callback");
    }
    const auto architecture = "-arch=" + target_;
    std::vector<const char*> options{architecture.c_str()};
    options.insert(options.end(), common_options.begin(), common_options.end());
    const auto result = nvrtc.compile_program(compiled.handle(), static_cast<int>(options.size()), options.data());
    if (std::chrono::steady_clock::now() > deadline) {
        return Rejection{Stage::compile, "the compiler ran past " + std::to_string(time_limit_.count()) + " s"};
    }
    const auto log = compiled.log();
    if (result == NVRTC_ERROR_INVALID_OPTION) {
        throw CompilerError(version() + " cannot compile for " + target_ + ": " + first_error(log) +
                            "; use a newer CUDA Toolkit");
    }
    // If a kernel does not fit the target (too much shared memory), ptxas refuses it with a result code of its own.
    if (result == NVRTC_ERROR_COMPILATION || (result != NVRTC_SUCCESS && !log.empty())) {
        return Rejection{Stage::compile, first_error(log)};
    }
    nvrtc.check(result, "compile");

    Binary binary{.entry = program.entry, .target = target_, .compiler = version(), .code = compiled.cubin()};
    if (log.find("'" + program.entry + "'") == std::string::npos) {
        return Rejection{Stage::compile, program.source_path + ": no kernel " + program.entry +
                                             " in the machine code; write extern \"C\" __global__ void " +
                                             program.entry + "(...)"};
    }
    binary.resources = parse_ptxas_report(log, program.entry);
    binary.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return binary;
}

Resources parse_ptxas_report(const std::string& log, const std::string& entry) {
    Resources resources;
    // A kernel's report starts at its name and ends where another kernel's begins.
    const auto begin = log.find("'" + entry + "'");
    if (begin == std::string::npos) return resources;
    const auto next = log.find("Compiling entry function", begin);
    const auto report = log.substr(begin, next == std::string::npos ? next : next - begin);
    const auto number = [&](const char* pattern) -> std::int64_t {
        std::smatch match;
        return std::regex_search(report, match, std::regex(pattern)) ? std::stoll(match[1]) : 0;
    };
    resources.registers = number("Used ([0-9]+) registers");
    resources.spill_bytes = number("([0-9]+) bytes spill stores") + number("([0-9]+) bytes spill loads");
    resources.static_shared_bytes = number("([0-9]+) bytes smem");
    return resources;
}

}  // namespace smemtune
