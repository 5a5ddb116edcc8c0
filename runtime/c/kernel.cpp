// The C interface of kernels of any operation: fetching, what was chosen, and launches with arguments by name.
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "runtime/c/handles.h"
#include "runtime/c/structs.h"
#include "templates/manifest/kernel_template.h"

namespace smemtune {

namespace {

// The bytes of an argument as the kernel takes it: a number of up to 8 bytes or a pointer.
struct ArgumentValue {
    alignas(8) std::array<std::byte, 8> bytes{};
};

template <class Value>
ArgumentValue stored(Value value) {
    ArgumentValue result;
    static_assert(sizeof(value) <= sizeof(result.bytes));
    std::memcpy(result.bytes.data(), &value, sizeof(value));
    return result;
}

smemtune_argument_kind kind_of(const KernelArgument& argument, const NumberType& type) {
    switch (argument.kind) {
        case KernelArgument::Kind::extent:
        case KernelArgument::Kind::stride: return SMEMTUNE_INTEGER;
        case KernelArgument::Kind::scalar: return type.is_floating ? SMEMTUNE_NUMBER : SMEMTUNE_INTEGER;
        case KernelArgument::Kind::matrix: break;
    }
    return SMEMTUNE_ADDRESS;
}

const char* name_of(smemtune_argument_kind kind) {
    switch (kind) {
        case SMEMTUNE_INTEGER: return "SMEMTUNE_INTEGER";
        case SMEMTUNE_NUMBER: return "SMEMTUNE_NUMBER";
        case SMEMTUNE_ADDRESS: return "SMEMTUNE_ADDRESS";
    }
    return "no kind";
}

// Returns the extent with this name; 0 if the problem has no such extent.
std::int64_t extent_of(const Problem& problem, std::string_view name) {
    for (const auto& [known, value] : problem.extents)
        if (known == name) return value;
    return 0;
}

// Returns the caller's argument with this name; null if there is none. Looks at index `place` first: the argument is
// there if the caller keeps the kernel's order.
const smemtune_argument* find(std::span<const smemtune_argument> given, std::string_view name, std::size_t place) {
    const auto matches = [&](const smemtune_argument& each) { return name == &required(each.name, "argument.name"); };
    if (place < given.size() && matches(given[place])) return &given[place];
    const auto found = std::find_if(given.begin(), given.end(), matches);
    return found == given.end() ? nullptr : &*found;
}

ArgumentValue integer_value(const KernelArgument& expected, const NumberType& type, std::int64_t value) {
    if (type.bytes < 8 && !type.holds(static_cast<double>(value))) {
        throw std::invalid_argument(expected.name + "=" + std::to_string(value) + " does not fit its type, " +
                                    expected.type);
    }
    // In two's complement, the low bytes of a number are the same number in a shorter type.
    ArgumentValue result;
    std::memcpy(result.bytes.data(), &value, static_cast<std::size_t>(type.bytes));
    return result;
}

ArgumentValue extent_value(const KernelArgument& expected, const NumberType& type, const smemtune_argument* given,
                           const Problem& problem) {
    const auto value = extent_of(problem, expected.name);
    if (given != nullptr && given->integer != value) {
        throw std::invalid_argument(expected.name + "=" + std::to_string(given->integer) +
                                    ", but the kernel was fetched for " + to_text(problem));
    }
    return integer_value(expected, type, value);
}

ArgumentValue value_of(const KernelArgument& expected, const NumberType& type, const smemtune_argument* given,
                       const Problem& problem) {
    if (given != nullptr && given->kind != kind_of(expected, type)) {
        throw std::invalid_argument("the argument " + expected.name + " is " + name_of(kind_of(expected, type)) +
                                    ", not " + name_of(given->kind));
    }
    if (expected.kind == KernelArgument::Kind::extent) return extent_value(expected, type, given, problem);
    if (given == nullptr) throw std::invalid_argument("the argument " + expected.name + " is missing");
    if (expected.kind == KernelArgument::Kind::matrix) {
        if (given->address == nullptr) throw std::invalid_argument("the argument " + expected.name + " is null");
        return stored(given->address);
    }
    if (!type.is_floating) return integer_value(expected, type, given->integer);
    ArgumentValue result;
    store_number(type, given->number, result.bytes);
    return result;
}

void launch_by_name(const smemtune_kernel& kernel, smemtune_stream stream, std::span<const smemtune_argument> given) {
    const auto& problem = kernel.kernel.problem();
    constexpr std::size_t usual = 16;
    boost::container::small_vector<ArgumentValue, usual> values(kernel.arguments.size());
    boost::container::small_vector<void*, usual> addresses;
    std::size_t used = 0;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const auto* argument = find(given, kernel.arguments[i].name, i);
        if (argument != nullptr) ++used;
        values[i] = value_of(kernel.arguments[i], *kernel.types[i], argument, problem);
        addresses.push_back(values[i].bytes.data());
    }
    if (used != given.size()) {
        std::string names;
        for (const auto& each : kernel.arguments) names += (names.empty() ? "" : ", ") + each.name;
        throw std::invalid_argument("an argument is given twice or unknown; the kernel takes " + names);
    }
    kernel.kernel.launch(stream, std::span<void* const>(addresses.data(), addresses.size()));
}

smemtune_problem problem_with(const char* operation, const char* type, const char* layout,
                              std::initializer_list<smemtune_extent> extents) {
    smemtune_problem problem{};
    problem.operation = operation;
    problem.type = type;
    problem.layout = layout;
    std::copy(extents.begin(), extents.end(), problem.extents);
    return problem;
}

}  // namespace

Problem problem_of(const smemtune_problem& given) {
    Problem problem;
    problem.operation = &required(given.operation, "problem.operation");
    if (given.type != nullptr) problem.type = given.type;
    if (given.layout != nullptr) problem.layout = given.layout;
    for (const auto& extent : given.extents) {
        if (extent.name == nullptr) break;
        problem.extents.emplace_back(extent.name, extent.value);
    }
    return problem;
}

}  // namespace smemtune

smemtune_problem smemtune_gemm_problem(const char* type, const char* layout, int64_t m, int64_t n, int64_t k) {
    return smemtune::problem_with("gemm", type, layout, {{"M", m}, {"N", n}, {"K", k}});
}

smemtune_problem smemtune_batched_gemm_problem(const char* type, const char* layout, int64_t batch, int64_t m,
                                               int64_t n, int64_t k) {
    return smemtune::problem_with("batched_gemm", type, layout, {{"BATCH", batch}, {"M", m}, {"N", n}, {"K", k}});
}

smemtune_status smemtune_fetch(smemtune_runtime* runtime, const smemtune_problem* problem, const char* kernel_template,
                               smemtune_kernel** kernel) {
    using namespace smemtune;
    return status_of([&] {
        required(kernel, "kernel") = nullptr;
        auto fetched = required(runtime, "runtime")
                           .runtime.fetch(problem_of(required(problem, "problem")),
                                          kernel_template == nullptr ? "" : kernel_template);
        auto arguments = fetched.arguments();
        std::vector<const NumberType*> types;
        types.reserve(arguments.size());
        for (const auto& argument : arguments) types.push_back(argument_type(argument.type).number);
        *kernel = std::make_unique<smemtune_kernel>(
                      smemtune_kernel{std::move(fetched), std::move(arguments), std::move(types)})
                      .release();
    });
}

void smemtune_release(smemtune_kernel* kernel) {
    (void)smemtune::status_of([&] { const std::unique_ptr<smemtune_kernel> owner(kernel); });
}

const char* smemtune_match_text(smemtune_match match) {
    switch (match) {
        case SMEMTUNE_MATCH_EXACT: return "exact";
        case SMEMTUNE_MATCH_PREDICTED: return "predicted";
        case SMEMTUNE_MATCH_NEAREST: return "nearest";
        case SMEMTUNE_MATCH_TRANSFERRED: return "transferred";
        case SMEMTUNE_MATCH_UNTUNED: return "untuned";
    }
    return "unknown match";
}

smemtune_status smemtune_kernel_choice(const smemtune_kernel* kernel, smemtune_choice* choice) {
    using namespace smemtune;
    return status_of([&] {
        const auto& chosen = required(kernel, "kernel").kernel.choice();
        smemtune_choice result = SMEMTUNE_CHOICE_INIT;
        result.kernel_template = chosen.kernel_template.c_str();
        result.configuration = chosen.configuration.c_str();
        result.tuned_for = chosen.tuned_for.c_str();
        result.device = chosen.device.c_str();
        result.why = chosen.why.c_str();
        result.match = static_cast<smemtune_match>(chosen.match);
        result.expected_us = chosen.expected_us;
        result.uncertainty = chosen.uncertainty;
        write_struct(result, required(choice, "choice"), offsetof(smemtune_choice, uncertainty) + sizeof(double),
                     "smemtune_choice");
    });
}

smemtune_status smemtune_kernel_workspace(const smemtune_kernel* kernel, int64_t* bytes) {
    using namespace smemtune;
    return status_of([&] { required(bytes, "bytes") = required(kernel, "kernel").kernel.workspace_bytes(); });
}

smemtune_status smemtune_kernel_argument(const smemtune_kernel* kernel, size_t index, smemtune_argument* argument) {
    using namespace smemtune;
    return status_of([&] {
        const auto& known = required(kernel, "kernel").arguments;
        if (index >= known.size()) {
            throw std::invalid_argument("index=" + std::to_string(index) + ", but the kernel has " +
                                        std::to_string(known.size()) + " arguments");
        }
        smemtune_argument result{};
        result.name = known[index].name.c_str();
        result.kind = kind_of(known[index], *kernel->types[index]);
        if (known[index].kind == KernelArgument::Kind::extent)
            result.integer = extent_of(kernel->kernel.problem(), result.name);
        required(argument, "argument") = result;
    });
}

smemtune_status smemtune_launch(const smemtune_kernel* kernel, smemtune_stream stream,
                                const smemtune_argument* arguments, size_t count) {
    using namespace smemtune;
    return status_of([&] {
        if (count > 0) required(arguments, "arguments");
        launch_by_name(required(kernel, "kernel"), stream, {arguments, count});
    });
}
