#include "runtime/cuda/nvrtc.h"

#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "runtime/cuda/toolkit_headers.h"
#include "runtime/cuda/toolkit_library.h"
#include "templates/source/source_scan.h"
#include "util/dynamic_library.h"

namespace smemtune {

namespace {

// The functions of libnvrtc, looked up by name at run time. A program that only fetches stored machine code then runs
// without libnvrtc.
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
    decltype(&nvrtcAddNameExpression) add_name_expression = nullptr;
    decltype(&nvrtcSetFlowCallback) set_flow_callback = nullptr;  // null before CUDA 12.9

    /// The path of the libnvrtc that was loaded.
    [[nodiscard]] std::string path() const {
        Dl_info info{};
        return dladdr(reinterpret_cast<const void*>(version), &info) != 0 ? info.dli_fname : "";
    }

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
        find("nvrtcAddNameExpression", add_name_expression);
        find("nvrtcSetFlowCallback", set_flow_callback, false);
    }
};

class NvrtcProgram {
public:
    NvrtcProgram(const Nvrtc& nvrtc, const Program& program) : nvrtc_(nvrtc) {
        std::vector<const char*> texts;
        std::vector<const char*> names;
        const auto add = [&](const std::string& name, const std::string& text) {
            names.push_back(name.c_str());
            texts.push_back(text.c_str());
        };
        for (const auto& [path, text] : program.files) {
            if (path != program.source_path && !path.ends_with(".toml")) add(path, text);
        }
        // NVRTC finds a file in memory only by the name that the #include spells.
        spelled_ = names_by_spelling(program);
        for (const auto& [name, path] : spelled_) add(name, program.files.at(path));
        if (program.needs.system_headers) {
            for (const auto& [name, text] : stand_in_headers()) {
                if (!program.files.contains(name) && !spelled_.contains(name)) add(name, text);
            }
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
    // Maps names in #include lines to paths of the program's files. The map has the names that are relative to the
    // including file or to an include folder. A name that is itself the path of a file needs no entry.
    static std::map<std::string, std::string> names_by_spelling(const Program& program) {
        std::map<std::string, std::string> result;
        for (const auto& [path, text] : program.files) {
            if (path.ends_with(".toml") || text.find("include") == std::string::npos) continue;
            auto folders = program.include_folders;
            folders.insert(folders.begin(), std::filesystem::path(path).parent_path().generic_string());
            for (const auto& include : includes_of(text)) {
                if (program.files.contains(include.name)) continue;
                for (const auto& folder : folders) {
                    const auto found =
                        (std::filesystem::path(folder) / include.name).lexically_normal().generic_string();
                    if (program.files.contains(found)) {
                        result.emplace(include.name, found);
                        break;
                    }
                }
            }
        }
        return result;
    }

    const Nvrtc& nvrtc_;
    std::map<std::string, std::string> spelled_;
    nvrtcProgram handle_ = nullptr;
};

std::string first_error(const std::string& log) {
    const auto error = log.find("error");
    if (error == std::string::npos) return log.substr(0, log.find('\n'));
    const auto start = log.rfind('\n', error) + 1;
    return readable_error(log.substr(start, log.find('\n', start) - start));
}

// The options that every program is compiled with. They are part of NvrtcCompiler::version(). -v makes ptxas report the
// resources of a kernel; --no-cache disables NVRTC's own cache.
constexpr std::array common_options{"-std=c++17", "--ptxas-options=-v", "--no-cache"};

// Advice for the user if NVRTC cannot open a header and the source includes system headers. Empty for all other errors.
std::string remedy_of(const std::string& log, const Program& program) {
    if (log.find("could not open source file") == std::string::npos &&
        log.find("cannot open source file") == std::string::npos) {
        return "";
    }
    return program.needs.system_headers
               ? "; NVRTC takes CUDA's headers from a CUDA Toolkit: name the folder of a toolkit in CUDA_HOME, or "
                 "remove headers of the host's C++ library from the source"
               : "";
}

int past_deadline(void* deadline, void*) {
    return std::chrono::steady_clock::now() > *static_cast<std::chrono::steady_clock::time_point*>(deadline) ? 1 : 0;
}

}  // namespace

NvrtcCompiler::NvrtcCompiler(std::int64_t compute_capability, const CompilerOptions& options)
    // From compute capability 9.0 on, only targets with an 'a' have architecture-specific features (wgmma, setmaxnreg).
    : target_("sm_" + std::to_string(compute_capability) + (compute_capability >= 90 ? "a" : "")),
      time_limit_(options.time_limit),
      toolkits_(options.toolkits),
      host_(options) {}

std::string NvrtcCompiler::version() const {
    int major = 0;
    int minor = 0;
    Nvrtc::instance().version(&major, &minor);
    auto text = "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
    for (const auto* option : common_options) text += std::string(" ") + option;
    return text;
}

std::variant<Binary, Rejection> NvrtcCompiler::compile(const Program& program) const {
    if (program.on_host) return host_.compile(program);
    const auto& nvrtc = Nvrtc::instance();
    const auto begin = std::chrono::steady_clock::now();
    auto deadline = begin + time_limit_;
    const NvrtcProgram compiled(nvrtc, program);
    if (nvrtc.set_flow_callback != nullptr) {
        nvrtc.check(nvrtc.set_flow_callback(compiled.handle(), past_deadline, &deadline), "set flow callback");
    }
    // NVRTC instantiates a C++ template only if it is named, here by a name expression.
    const bool is_instance = program.entry.find('<') != std::string::npos;
    if (is_instance) {
        nvrtc.check(nvrtc.add_name_expression(compiled.handle(), program.entry.c_str()), "add name expression");
    }
    const auto written = options_of(program);
    std::vector<const char*> options;
    options.reserve(written.size());
    for (const auto& option : written) options.push_back(option.c_str());
    const auto result = nvrtc.compile_program(compiled.handle(), static_cast<int>(options.size()), options.data());
    if (std::chrono::steady_clock::now() > deadline) {
        return Rejection{Stage::compile, "the compiler ran past " + std::to_string(time_limit_.count()) + " s"};
    }
    const auto log = compiled.log();
    if (result == NVRTC_ERROR_INVALID_OPTION) {
        if (!program.options.empty()) {
            return Rejection{Stage::compile, program.source_path +
                                                 ": NVRTC does not take all options of the template (" +
                                                 first_error(log) + "); change 'options' in its manifest"};
        }
        throw CompilerError(version() + " cannot compile for " + target_ + ": " + first_error(log) +
                            "; use a newer CUDA Toolkit");
    }
    // If a kernel exceeds a limit of the target (too much shared memory), ptxas refuses the kernel, and NVRTC returns
    // an error other than NVRTC_ERROR_COMPILATION.
    if (result == NVRTC_ERROR_COMPILATION || (result != NVRTC_SUCCESS && !log.empty())) {
        const bool name_is_wrong =
            result == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID || log.find("__nv_name_map") != std::string::npos;
        return Rejection{Stage::compile, name_is_wrong ? program.source_path + ": no kernel '" + program.entry + "' (" +
                                                             first_error(log) + "); change 'entry' in its manifest"
                                                       : first_error(log) + remedy_of(log, program)};
    }
    nvrtc.check(result, "compile");

    Binary binary{
        .entry = base_name(program.entry), .target = target_, .compiler = version(), .code = compiled.cubin()};
    const auto name = mangled_name(binary.code, binary.entry);
    if (name.empty()) {
        return Rejection{Stage::compile, program.source_path + ": no kernel " + program.entry +
                                             " in the machine code, or several of that name; write __global__ void " +
                                             program.entry +
                                             "(...), or name the entry point in the manifest with entry"};
    }
    if (const auto reason = ptxas_complaint(log); !reason.empty()) return Rejection{Stage::compile, reason};
    binary.resources = parse_ptxas_report(log, name);
    binary.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return binary;
}

// The options that `program` is compiled with.
std::vector<std::string> NvrtcCompiler::options_of(const Program& program) const {
    std::vector<std::string> options{"-arch=" + target_};
    const bool has_standard =
        std::ranges::any_of(program.options, [](const auto& each) { return each.find("-std=") < 2; });
    for (const std::string option : common_options) {
        if (!has_standard || !option.starts_with("-std=")) options.push_back(option);
    }
    options.insert(options.end(), program.options.begin(), program.options.end());
    if (program.needs.configuration) options.emplace_back("--pre-include=configuration.h");
    if (program.needs.system_headers) {
        for (const auto& folder : toolkit_include_folders(toolkits_, Nvrtc::instance().path())) {
            options.push_back("--include-path=" + folder);
        }
    }
    return options;
}

namespace {

// Returns NAME for each section `.text.NAME`. Each kernel has its machine code in a section of this kind.
std::set<std::string> code_sections(std::string_view cubin) {
    constexpr std::string_view prefix = ".text.";
    std::set<std::string> names;
    for (auto at = cubin.find(prefix); at != std::string_view::npos; at = cubin.find(prefix, at + 1)) {
        const auto begin = at + prefix.size();
        names.emplace(cubin.substr(begin, cubin.find('\0', begin) - begin));
    }
    return names;
}

}  // namespace

std::string mangled_name(const std::vector<std::uint8_t>& cubin, const std::string& entry) {
    // A mangled name contains the identifier's length, then the identifier.
    const auto part = std::to_string(entry.size()) + entry;
    std::set<std::string> found;
    for (const auto& name : code_sections({reinterpret_cast<const char*>(cubin.data()), cubin.size()})) {
        if (name == entry) return name;
        if (name.starts_with("_Z") && name.find(part) != std::string::npos) found.insert(name);
    }
    return found.size() == 1 ? *found.begin() : "";
}

bool waits_for_previous_kernel(const std::vector<std::uint8_t>& cubin) {
    const std::string_view text(reinterpret_cast<const char*>(cubin.data()), cubin.size());
    if (text.find("smemtune_waits_for_previous_kernel") == std::string_view::npos) return false;
    return code_sections(text).size() == 1;  // the cubin does not say which of several kernels waits
}

std::string ptxas_complaint(const std::string& log) {
    static const std::regex pattern(R"(\((C750[89]|C751[0-9])\) ?([^\n]*))");
    std::smatch match;
    return std::regex_search(log, match, pattern) ? "ptxas " + match[1].str() + ": " + match[2].str() : "";
}

Resources parse_ptxas_report(const std::string& log, const std::string& entry) {
    Resources resources;
    // A kernel's report starts at its name and ends where the report of the next kernel begins.
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
