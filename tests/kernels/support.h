// Shared by the tests of kernels: problems of awkward sizes, samples of configurations, and operands without memory
// behind their last element.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/backend.h"
#include "runtime/compiler.h"
#include "runtime/host/host_backend.h"
#include "runtime/workspace.h"
#include "templates/launch/limits.h"
#include "templates/manifest/catalog.h"
#include "tuner/compile/compile_pool.h"
#include "tuner/trial/reference/reference_source.h"

namespace smemtune {

inline const std::vector<KernelTemplate>& builtins() {
    static const auto& templates = builtin_templates();
    return templates;
}

/// Whether the tests that go through all templates include this template. These tests leave out templates for tensor
/// cores, because the host device emulates tensor cores too slowly for tiles of usual sizes. tensor_warp_tiled_test.cpp
/// tests the templates for tensor cores with small tiles.
inline bool is_tested_with_all(const KernelTemplate& kernel) { return kernel.host && kernel.types.front() == "f32"; }

inline std::vector<std::string> builtin_names() {
    std::vector<std::string> names;
    for (const auto& kernel : builtins()) {
        if (is_tested_with_all(kernel)) names.push_back(kernel.name);
    }
    return names;
}

inline KernelTemplate builtin(const std::string& name) {
    const auto found = std::ranges::find(builtins(), name, &KernelTemplate::name);
    if (found == builtins().end()) throw std::invalid_argument("there is no template " + name);
    return *found;
}

/// A built-in template with one of its layouts. The layout is "" if the template's operation has no layouts.
struct Laid {
    std::string kernel, layout;
};
inline std::string name_of(const testing::TestParamInfo<Laid>& info) {
    return info.param.kernel + (info.param.layout.empty() ? "" : "_" + info.param.layout);
}
/// Names the test parameter in messages. Without this function, GoogleTest would print the parameter's bytes.
inline void PrintTo(const Laid& laid, std::ostream* out) { *out << laid.kernel << ' ' << laid.layout; }
/// Returns the built-in templates for f32 in every layout. Templates for tensor cores have their own tests, such as
/// tensor_warp_tiled_test.cpp.
inline std::vector<Laid> builtins_in_every_layout() {
    std::vector<Laid> all;
    for (const auto& kernel : builtins()) {
        if (!is_tested_with_all(kernel)) continue;
        if (kernel.layouts.empty()) all.push_back({kernel.name, ""});
        for (const auto& layout : kernel.layouts) all.push_back({kernel.name, layout});
    }
    return all;
}

/// Whether the tests run this configuration at this size. `configuration` and `size` are indices. The first
/// configuration runs at every size. Each other configuration runs at every second size. The configuration's index and
/// the layout decide whether these are the sizes with even or with odd indices. If a template has all four layouts,
/// they together cover every configuration at every size. Always true if the environment variable
/// SMEMTUNE_ALL_CONFIGURATIONS is set.
inline bool is_sampled(const Laid& laid, std::size_t configuration, std::size_t size) {
    if (configuration == 0 || std::getenv("SMEMTUNE_ALL_CONFIGURATIONS") != nullptr) return true;
    const auto transposed = static_cast<std::size_t>(std::ranges::count(laid.layout, 't'));
    return (configuration + size + transposed) % 2 == 0;
}

/// Returns a problem for the template with as many of `extents` as its operation has. If the operation has one extent
/// more, which is the size of a batch, this size is 3. If `layout` is empty, the problem has the template's first
/// layout.
inline Problem problem_of(const KernelTemplate& kernel, const std::vector<std::int64_t>& extents,
                          const std::string& layout = "") {
    Problem problem{.operation = kernel.operation.name, .type = kernel.types.front(), .layout = layout};
    if (layout.empty() && !kernel.layouts.empty()) problem.layout = kernel.layouts.front();
    auto values = extents;
    if (values.size() < kernel.operation.extents.size()) values.insert(values.begin(), 3);
    for (std::size_t i = 0; i < kernel.operation.extents.size(); ++i) {
        problem.extents.emplace_back(kernel.operation.extents[i], values.at(i));
    }
    return problem;
}

/// Returns the default configuration and `count` more that are spread evenly over the feasible space. Returns all
/// configurations if `count` is 0.
inline std::vector<Configuration> configurations_of(const KernelTemplate& kernel, const Problem& problem,
                                                    std::size_t count) {
    const auto space = feasible_space(kernel, problem, host_device());
    std::set<Configuration> chosen;
    if (count == 0) {
        for (std::size_t i = 0; i < space.size(); ++i) chosen.insert(space[i]);
    } else {
        chosen.insert(default_configuration(kernel));
        for (std::size_t i = 0; i < count; ++i) chosen.insert(space[i * (space.size() - 1) / (count - 1)]);
    }
    return {chosen.begin(), chosen.end()};
}

/// Returns a problem that has rows of whole 16-byte vectors and for which the template has configurations. If the
/// template requires it, the problem has few columns, or one column.
inline Problem aligned_problem_of(const KernelTemplate& kernel, const std::string& layout) {
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{{64, 68, 36}, {68, 12, 68}}) {
        const auto problem = problem_of(kernel, extents, layout);
        if (feasible_space(kernel, problem, host_device()).size() > 0) return problem;
    }
    return problem_of(kernel, {68, 1, 68}, layout);
}

inline Binary binary_of(const CompilePool::Result& result) {
    if (const auto* rejection = std::get_if<Rejection>(&result)) throw std::runtime_error(rejection->reason);
    return std::get<Binary>(result);
}

inline std::shared_ptr<const LoadedKernel> load(Backend& backend, const Binary& binary, const Launch& launch) {
    return with_workspace(backend.load(binary, launch.dynamic_shared_bytes), launch, backend);
}

/// Returns the operation's reference kernel, which computes expected values. Its accesses are not checked, because it
/// is not under test.
inline std::unique_ptr<LoadedKernel> unchecked_reference(Backend& backend, const KernelTemplate& kernel,
                                                         const Problem& problem) {
    const auto compiler = make_compiler(host_device(), {.host_compiler = SMEMTUNE_CXX});
    return backend.load(
        binary_of(compiler->compile(reference_program(kernel, reference_problem(kernel.operation, problem)))), 0);
}

inline unsigned cores() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Operands without memory behind their last element, so that checked mode detects reads past it. NaNs fill the padding
/// between rows and matrices and, if Check::poison is true, the outputs. All other numbers are uniform, or integers so
/// small that the results are exact in a float.
class ExactOperands {
public:
    ExactOperands(Backend& backend, const Operation& operation, const Problem& problem, const Check& check,
                  bool integers = true)
        : backend_(backend) {
        const auto environment = environment_of(operation, problem, backend.device());
        std::minstd_rand random(7);
        std::uniform_real_distribution<float> uniform(-1, 1);
        const auto count = operation.arguments.size();
        matrices_.reserve(count);
        numbers_.reserve(count);
        for (const auto& argument : operation.arguments) {
            if (!argument.is_matrix()) continue;
            auto& matrix = matrices_.emplace_back();
            matrix.argument = &argument;
            matrix.type = type_of(argument, problem.type).number;
            matrix.shape = shape_of(argument, environment);
            const auto& [rows, columns, matrices] = matrix.shape;
            const bool broadcast = std::ranges::count(check.broadcast, argument.name) != 0;
            matrix.stride = argument.stride.empty() ? columns : check.stride_of(columns);
            matrix.batch_stride = rows * matrix.stride + (argument.batch_stride.empty() ? 0 : check.batch_padding);
            if (broadcast) matrix.batch_stride = 0;
            matrix.before.assign(
                static_cast<std::size_t>((matrices - 1) * matrix.batch_stride + (rows - 1) * matrix.stride + columns),
                std::nanf(""));
            if (argument.kind == Argument::Kind::input || !check.poison) {
                for (std::size_t i = 0; i < matrix.before.size(); ++i) {
                    if (!matrix.place(i)) continue;
                    matrix.before[i] =
                        integers ? static_cast<float>(static_cast<int>(random() % 9) - 4) : uniform(random);
                }
            }
            matrix.memory = backend.allocate(matrix.before.size() * static_cast<std::size_t>(matrix.type->bytes));
            matrix.data = matrix.memory->data();
        }
        for (const auto& argument : operation.arguments) {
            const auto owner = std::ranges::find_if(matrices_, [&](const Matrix& matrix) {
                return matrix.argument == &argument || matrix.argument->stride == argument.name ||
                       matrix.argument->batch_stride == argument.name;
            });
            auto& number = numbers_.emplace_back();
            switch (argument.kind) {
                case Argument::Kind::extent:
                    number.extent =
                        static_cast<int>(check.extents.contains(argument.name) ? check.extents.at(argument.name)
                                                                               : environment.at(argument.name));
                    break;
                case Argument::Kind::scalar: number.scalar = static_cast<float>(check.scalars.at(argument.name)); break;
                case Argument::Kind::stride: pointers_.push_back(&owner->stride); continue;
                case Argument::Kind::batch_stride: pointers_.push_back(&owner->batch_stride); continue;
                case Argument::Kind::input:
                case Argument::Kind::output: pointers_.push_back(&owner->data); continue;
            }
            pointers_.push_back(&number);
        }
    }

    /// Computes the expected results with the operation's reference kernel, which reads the inputs as FP32.
    void expect(const LoadedKernel& reference) {
        std::vector<std::unique_ptr<Memory>> wide;
        for (auto& matrix : matrices_) {
            wide.push_back(backend_.allocate(matrix.before.size() * sizeof(float)));
            backend_.copy_to_device(*wide.back(), std::as_bytes(std::span(matrix.before)));
            matrix.data = wide.back()->data();
        }
        auto pointers = pointers_;
        std::vector<std::unique_ptr<Memory>> results;
        std::vector<void*> addresses;
        addresses.reserve(2 * matrices_.size());
        long long most = 0;
        for (auto& matrix : matrices_) {
            if (!matrix.is_output()) continue;
            most = std::max(most, matrix.elements());
            for (int i = 0; i < 2; ++i) {  // i = 0: the value, i = 1: the magnitude
                results.push_back(backend_.allocate(static_cast<std::size_t>(matrix.elements()) * sizeof(double)));
                addresses.push_back(results.back()->data());
                pointers.push_back(&addresses.back());
            }
        }
        reference.launch(nullptr, {.grid = {(most + 255) / 256, 1, 1}, .block = {256, 1, 1}}, pointers.data());
        backend_.synchronize();
        for (auto& matrix : matrices_) matrix.data = matrix.memory->data();
        auto result = results.begin();
        for (auto& matrix : matrices_) {
            if (!matrix.is_output()) continue;
            matrix.expected.resize(static_cast<std::size_t>(matrix.elements()));
            backend_.copy_to_host(std::as_writable_bytes(std::span(matrix.expected)), **result);
            result += 2;
        }
    }

    /// Launches the kernel on new operands. Throws DeviceFault.
    void run(const LoadedKernel& kernel, const Launch& launch) {
        fill();
        auto pointers = pointers_;
        auto runtime_arguments = launch.runtime_arguments;
        for (auto& argument : runtime_arguments) pointers.push_back(&argument);
        kernel.launch(nullptr, launch, pointers.data());
        backend_.synchronize();
    }

    /// Returns a message about the first element that differs from the expected value, or about the first change in the
    /// padding. Call it after run().
    [[nodiscard]] std::optional<std::string> wrong() const {
        for (const auto& matrix : matrices_) {
            const auto after = content(matrix);
            const auto before = matrix.content();
            const auto size = static_cast<std::size_t>(matrix.type->bytes);
            const auto named = [&](std::size_t i) {
                return matrix.argument->name + ", element " + std::to_string(i) + " of its memory,";
            };
            for (std::size_t i = 0; i < matrix.before.size(); ++i) {
                const auto place = matrix.is_output() ? matrix.place(i) : std::nullopt;
                const auto got = std::span(after).subspan(i * size, size);
                if (!place) {
                    if (!std::ranges::equal(got, std::span(before).subspan(i * size, size))) {
                        return named(i) + " was written";
                    }
                    continue;
                }
                std::vector<std::byte> rounded(size);
                store_number(*matrix.type, matrix.expected[*place], rounded);
                const auto value = load_number(*matrix.type, got);
                const auto expected = load_number(*matrix.type, rounded);
                if (!(value == expected)) {
                    return named(i) + " is " + std::to_string(value) + ", not " + std::to_string(expected);
                }
            }
        }
        return std::nullopt;
    }

    /// Returns the bits of all outputs. Call it after run().
    [[nodiscard]] std::vector<std::byte> bits() const {
        std::vector<std::byte> all;
        for (const auto& matrix : matrices_) {
            if (!matrix.is_output()) continue;
            const auto bytes = content(matrix);
            all.insert(all.end(), bytes.begin(), bytes.end());
        }
        return all;
    }

private:
    struct Matrix {
        const Argument* argument = nullptr;
        const NumberType* type = nullptr;
        Shape shape;
        long long stride = 0, batch_stride = 0;
        std::vector<float> before;
        std::vector<double> expected;
        std::unique_ptr<Memory> memory;
        void* data = nullptr;

        [[nodiscard]] bool is_output() const { return argument->kind == Argument::Kind::output; }
        /// Converts `before` to the matrix's type. Returns the bytes.
        [[nodiscard]] std::vector<std::byte> content() const {
            const auto size = static_cast<std::size_t>(type->bytes);
            std::vector<std::byte> bytes(before.size() * size);
            for (std::size_t i = 0; i < before.size(); ++i) {
                store_number(*type, static_cast<double>(before[i]), std::span(bytes).subspan(i * size, size));
            }
            return bytes;
        }
        [[nodiscard]] long long elements() const { return shape.count * shape.rows * shape.columns; }
        /// Returns the index of element `at` without counting padding; nothing if element `at` is padding.
        [[nodiscard]] std::optional<std::size_t> place(std::size_t at) const {
            const auto i = static_cast<long long>(at);
            const auto matrix = batch_stride == 0 ? 0 : i / batch_stride;
            const auto rest = i - matrix * batch_stride;
            const auto row = rest / stride;
            const auto column = rest % stride;
            if (row >= shape.rows || column >= shape.columns) return std::nullopt;
            return static_cast<std::size_t>((matrix * shape.rows + row) * shape.columns + column);
        }
    };
    union Number {
        int extent = 0;
        float scalar;
    };

    void fill() {
        for (auto& matrix : matrices_) backend_.copy_to_device(*matrix.memory, matrix.content());
    }
    [[nodiscard]] std::vector<std::byte> content(const Matrix& matrix) const {
        std::vector<std::byte> bytes(matrix.memory->size());
        backend_.copy_to_host(bytes, *matrix.memory);
        return bytes;
    }

    Backend& backend_;
    std::vector<Matrix> matrices_;
    std::vector<Number> numbers_;
    std::vector<void*> pointers_;
};

/// Runs a kernel in checked mode. Returns the message of a fault or of a wrong result; nothing if there is neither.
inline std::optional<std::string> failure_of(ExactOperands& operands, const LoadedKernel& loaded,
                                             const Launch& launch) {
    try {
        operands.run(loaded, launch);
    } catch (const DeviceFault& fault) {
        return fault.what();
    }
    const auto wrong = operands.wrong();
    return wrong ? std::optional("wrong: " + *wrong) : std::nullopt;
}

}  // namespace smemtune
