// Helpers for the tests of typed operations: a template with given arguments, and the kernels of its testbed.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runtime/backend.h"
#include "templates/manifest/catalog.h"
#include "tuner/trial/operands.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

/// Returns a template `made_up`, whose operation has the extent n and the given arguments.
inline KernelTemplate typed_template(const std::string& arguments, const std::string& source = "",
                                     const std::string& terms = "0",
                                     const std::string& checks = "{ inputs = \"uniform\" }") {
    const std::string manifest =
        "[operation]\nname = \"made_up\"\nextents = [\"n\"]\noperations = \"0\"\nbytes = \"0\"\n"
        "terms = \"" +
        terms +
        "\"\nreference = \"made_up.cu\"\n"
        "argument = [{ name = \"n\", kind = \"extent\" },\n" +
        arguments +
        "]\n"
        "check = [" +
        checks + "]\n" + R"toml(
[template]
name = "made_up"
operation = "made_up"
types = ["f32"]
[launch]
block = ["32"]
grid = ["ceil_div(n, 32)"]
[requires]
host = true
)toml";
    return load_templates({{"made_up.cu", source}, {"made_up.toml", manifest}}).front();
}

inline Problem typed_problem(std::int64_t n) { return {"made_up", "f32", "", {{"n", n}}}; }

inline Backend& typed_backend() {
    static const auto backend = open_backend("host", {.seed = 1, .threads = 1});
    return *backend;
}

inline const Compiler& typed_compiler() {
    static const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
    return *compiler;
}

/// Returns the testbed's kernels for typed operations, with a reference that does nothing.
inline const TestbedBinaries& typed_binaries() {
    static const auto binaries = [] {
        const auto source = "__global__ void reference(int, const int*, int*) {}\n";
        const auto kernel = typed_template(R"({ name = "out", kind = "output", type = "i32", shape = ["n"] })",
                                           "__global__ void made_up(int, int*) {}\n" + std::string(source));
        return compile_testbed(typed_compiler(), kernel, typed_problem(1));
    }();
    return binaries;
}

/// Returns the numbers of an array as text, without those in guard bands.
inline std::vector<std::string> numbers_of(const MatrixOperand& matrix) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(matrix.bytes()));
    typed_backend().copy_to_host(bytes, *matrix.memory);
    const auto size = static_cast<std::size_t>(matrix.type.number->bytes);
    std::vector<std::string> numbers;
    for (auto i = matrix.guard; i < matrix.elements() - matrix.guard; ++i) {
        numbers.push_back(
            number_text(*matrix.type.number, std::span(bytes).subspan(static_cast<std::size_t>(i) * size, size)));
    }
    return numbers;
}

}  // namespace smemtune
