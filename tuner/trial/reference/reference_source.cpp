#include "tuner/trial/reference/reference_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "runtime/configured_kernel.h"
#include "runtime/host/shared_object.h"
#include "runtime/workspace.h"
#include "templates/reference/reference_section.h"
#include "tuner/trial/reference/host_arrays.h"
#include "tuner/trial/reference/program_reference.h"
#include "tuner/trial/reference/widened_reference.h"
#include "util/hash.h"

namespace smemtune {

namespace {

bool is_result(const MatrixOperand& matrix) { return matrix.argument->kind == Argument::Kind::output; }

// Returns pointers to the arguments, followed by pointers to the operation's parameters.
std::vector<void*> pointers_of(const Operands& operands) {
    auto pointers = operands.pointers;
    // A launch does not change the parameters.
    for (const auto& value : operands.parameters) pointers.push_back(const_cast<int*>(&value));
    return pointers;
}

// Computes with the kernel `reference` of the operation.
class KernelReference : public ReferenceSource {
public:
    KernelReference(Backend& backend, const Binary& binary) : backend_(backend), kernel_(backend.load(binary, 0)) {}

    void compute(const Operands& operands, const std::vector<OutputReference>& results) override {
        auto pointers = pointers_of(operands);
        std::vector<void*> outputs;
        outputs.reserve(2 * results.size());  // reserved, so that the addresses taken below stay valid
        for (const auto& result : results) {
            for (const auto* memory : {result.value.get(), result.magnitude.get()}) {
                if (memory == nullptr) continue;
                outputs.push_back(memory->data());
                pointers.push_back(&outputs.back());
            }
        }
        long long most = 0;
        for (const auto& matrix : operands.matrices) {
            if (is_result(matrix)) most = std::max(most, matrix.count * matrix.rows * matrix.columns);
        }
        const auto blocks = (most + block_threads - 1) / block_threads;
        kernel_->launch(nullptr, {.grid = {blocks, 1, 1}, .block = {block_threads, 1, 1}}, pointers.data());
        backend_.synchronize();
    }

private:
    Backend& backend_;
    std::unique_ptr<LoadedKernel> kernel_;
};

// Computes with the default configuration of a template. The launch writes to separate memory, not to the candidate's
// outputs.
class ConfigurationReference : public ReferenceSource {
public:
    ConfigurationReference(Backend& backend, const Operation& operation, const Problem& problem, const Binary& binary)
        : backend_(backend), operation_(operation), kernel_template_(*operation.reference.configured) {
        const auto configuration = default_configuration(kernel_template_);
        const auto launch = launch_of(kernel_template_, configuration, problem, backend.device());
        std::shared_ptr<const LoadedKernel> loaded = backend.load(binary, launch.dynamic_shared_bytes);
        kernel_ = std::make_unique<ConfiguredKernel>(with_workspace(std::move(loaded), launch, backend), launch);
    }

    void compute(const Operands& operands, const std::vector<OutputReference>& results) override {
        auto pointers = operands.pointers;
        std::vector<std::unique_ptr<Memory>> outputs;
        std::vector<void*> addresses;
        addresses.reserve(results.size());  // reserved, so that the addresses taken below stay valid
        for (const auto& matrix : operands.matrices) {
            if (!is_result(matrix)) continue;
            // Every byte is set to 0xff. The elements are then NaNs, or integers that differ from the initial values of
            // a candidate's outputs. So an element that neither the reference nor the candidate writes differs between
            // the two.
            std::vector<std::byte> content(matrix.memory->size(), std::byte{0xff});
            if (matrix.argument->is_read) content = host_copy(backend_, *matrix.memory);
            outputs.push_back(backend_.allocate(content.size()));
            backend_.copy_to_device(*outputs.back(), content);
            addresses.push_back(outputs.back()->data() + matrix.guard * matrix.type.number->bytes);
            pointers[static_cast<std::size_t>(matrix.argument - operation_.arguments.data())] = &addresses.back();
        }
        kernel_->launch(nullptr, pointers);
        backend_.synchronize();
        auto output = outputs.begin();
        auto result = results.begin();
        for (const auto& matrix : operands.matrices) {
            if (!is_result(matrix)) continue;
            const auto numbers = dense_numbers(matrix, host_copy(backend_, **output++));
            must_be_a_result(matrix, numbers);
            store_reference(backend_, matrix, *matrix.type.number, numbers, *result++);
        }
    }

private:
    // Throws if the reference has only zeros or only NaNs. With zeros, a kernel that computes nothing could pass. With
    // NaNs, no kernel would pass.
    void must_be_a_result(const MatrixOperand& matrix, const std::vector<std::byte>& numbers) const {
        const auto& type = *matrix.type.number;
        const auto size = static_cast<std::size_t>(type.bytes);
        bool zeros = true;
        bool nans = type.is_floating;
        for (std::size_t at = 0; at < numbers.size() && (zeros || nans); at += size) {
            const auto value = load_number(type, std::span(numbers).subspan(at, size));
            zeros = zeros && value == 0;
            nans = nans && std::isnan(value);
        }
        if (!zeros && !nans) return;
        throw ReferenceError(fmt::format(
            "the reference, {}'s default configuration {}, leaves nothing but {} in {}; make that configuration right, "
            "or give the operation another reference",
            kernel_template_.name, to_text(default_configuration(kernel_template_)), zeros ? "zeros" : "NaNs",
            matrix.argument->name));
    }

    Backend& backend_;
    const Operation& operation_;
    const KernelTemplate& kernel_template_;
    std::unique_ptr<ConfiguredKernel> kernel_;
};

// Computes with a C++ function that takes the same parameters as a reference kernel.
class HostReference : public ReferenceSource {
public:
    HostReference(Backend& backend, const Operation& operation, const Binary& binary)
        : backend_(backend), operation_(operation), function_(binary.code) {}

    void compute(const Operands& operands, const std::vector<OutputReference>& results) override {
        auto pointers = pointers_of(operands);
        std::vector<std::vector<std::byte>> arrays;
        std::vector<void*> addresses;
        addresses.reserve(operands.matrices.size() + 2 * results.size());  // reserved, so that addresses stay valid
        std::string content;
        for (const auto& number : operands.numbers) {
            content.append(reinterpret_cast<const char*>(number.bytes.data()), number.bytes.size());
        }
        for (const auto value : operands.parameters) content += std::to_string(value) + ",";
        for (const auto& matrix : operands.matrices) {
            auto& array = arrays.emplace_back(host_copy(backend_, *matrix.memory));
            content += sha256(array);
            addresses.push_back(array.data() + matrix.guard * matrix.type.number->bytes);
            pointers[static_cast<std::size_t>(matrix.argument - operation_.arguments.data())] = &addresses.back();
        }
        auto& known = known_[content];
        if (known.empty()) {
            auto values = empty(operands, results);
            for (auto& value : values) {
                addresses.push_back(value.data());
                pointers.push_back(&addresses.back());
            }
            call(pointers);
            known = std::move(values);
        }
        auto value = known.begin();
        for (const auto& result : results) {
            for (auto* memory : {result.value.get(), result.magnitude.get()}) {
                if (memory != nullptr) backend_.copy_to_device(*memory, *value++);
            }
        }
    }

private:
    using Values = std::vector<std::vector<std::byte>>;

    // Returns memory for the function's results. Floating-point numbers are not written yet (unwritten_bits), integers
    // are zeros.
    static Values empty(const Operands& operands, const std::vector<OutputReference>& results) {
        Values values;
        auto result = results.begin();
        for (const auto& matrix : operands.matrices) {
            if (!is_result(matrix)) continue;
            for (const auto* memory : {result->value.get(), result->magnitude.get()}) {
                if (memory == nullptr) continue;
                auto& bytes = values.emplace_back(memory->size());
                if (matrix.argument->is_integer()) continue;
                const auto unwritten = std::as_bytes(std::span(&unwritten_bits, 1));
                for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = unwritten[at % unwritten.size()];
            }
            ++result;
        }
        return values;
    }
    void call(const std::vector<void*>& pointers) const {
        try {
            function_.call(pointers.data());
        } catch (const std::runtime_error& error) {
            throw ReferenceError(std::string("the reference, a C++ function, throws: ") + error.what());
        }
    }

    Backend& backend_;
    const Operation& operation_;
    HostFunction function_;
    std::map<std::string, Values> known_;  // earlier results, by the content of the arguments
};

class AnswerReference : public ReferenceSource {
public:
    AnswerReference(Backend& backend, const Operation& operation) : backend_(backend), operation_(operation) {}

    void compute(const Operands& operands, const std::vector<OutputReference>& results) override {
        auto result = results.begin();
        for (const auto& matrix : operands.matrices) {
            if (!is_result(matrix)) continue;
            const auto& answer = operation_.reference.answers.at(matrix.argument->name);
            store_reference(backend_, matrix, *argument_type(answer.type).number,
                            std::as_bytes(std::span(answer.data.bytes)), *result++);
        }
    }

private:
    Backend& backend_;
    const Operation& operation_;
};

}  // namespace

std::string preparation_text(const Operation& operation, const Problem& problem) {
    using Kind = OperationReference::Kind;
    const auto& reference = operation.reference;
    std::vector<std::string> code;
    const auto add = [&](const std::string& name, const std::string& path) {
        code.push_back(fmt::format("the {} '{}' of {}", is_host_source(path) ? "C++ function" : "kernel", name, path));
    };
    if (reference.kind == Kind::kernel || reference.kind == Kind::host) {
        add("reference", operation.reference_path);
    } else if (reference.kind == Kind::configuration) {
        code.push_back("the default configuration of " + reference.configured->name);
    } else if (reference.kind == Kind::program) {
        code.push_back(fmt::format("the program '{}'", fmt::join(reference.command, " ")));
    }
    if (!operation.prepare_path.empty()) add("prepare", operation.prepare_path);
    return to_text(problem) + ": computing inputs and reference outputs" +
           (code.empty() ? "" : fmt::format(" ({})", fmt::join(code, ", ")));
}

Problem reference_problem(const Operation& operation, const Problem& problem) {
    using Kind = OperationReference::Kind;
    auto result = problem;
    const auto kind = operation.reference.kind;
    const auto& element = element_type(problem.type);
    if (element.is_narrow() && (kind == Kind::kernel || kind == Kind::host)) result.type = element.wide;
    return result;
}

std::unique_ptr<ReferenceSource> make_reference_source(Backend& backend, const Operation& operation,
                                                       const Environment& environment, const Problem& problem,
                                                       const Binary& binary, const Binary& widen) {
    const auto widened = [&](std::unique_ptr<ReferenceSource> inner) -> std::unique_ptr<ReferenceSource> {
        if (reference_problem(operation, problem).type == problem.type) return inner;
        return std::make_unique<WidenedReference>(backend, operation, widen, std::move(inner));
    };
    switch (operation.reference.kind) {
        case OperationReference::Kind::kernel: return widened(std::make_unique<KernelReference>(backend, binary));
        case OperationReference::Kind::host:
            return widened(std::make_unique<HostReference>(backend, operation, binary));
        case OperationReference::Kind::configuration:
            return std::make_unique<ConfigurationReference>(backend, operation, problem, binary);
        case OperationReference::Kind::answer: return std::make_unique<AnswerReference>(backend, operation);
        case OperationReference::Kind::program:
            return std::make_unique<ProgramReference>(backend, operation, environment, problem);
        case OperationReference::Kind::verify_kernel:
        case OperationReference::Kind::verify_host:
        case OperationReference::Kind::none: break;
    }
    return nullptr;
}

}  // namespace smemtune
