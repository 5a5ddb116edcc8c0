#include <algorithm>
#include <span>

#include "runtime/launch/first_calls.h"
#include "runtime/launch/kernel_state.h"
#include "runtime/table/counted.h"

namespace smemtune {

void Kernel::State::launch_gemm(StreamHandle stream, GemmArguments& arguments) const {
    if (is_empty(arguments)) return;
    if (gemm->skips_products) skip_products(arguments);
    const auto addresses = addresses_of(arguments, gemm->kind);
    enqueue(stream, std::span(addresses).first(operation->arguments.size()));
}

void Kernel::State::enqueue(StreamHandle stream, std::span<void* const> arguments) const {
    if (first_calls) return first_calls->launch(stream, arguments);
    kernel.launch(stream, arguments);
}

const Kernel::State& Kernel::State::current() const { return first_calls ? first_calls->current() : *this; }

Kernel::Kernel(const Kernel& other) : state_(other.state_), counted_(other.counted_) {
    if (counted_ != nullptr) counted_->add();
}
Kernel::~Kernel() {
    if (counted_ != nullptr) counted_->remove();
}

const Choice& Kernel::choice() const { return state_->current().choice; }
const Problem& Kernel::problem() const { return state_->problem; }

namespace {

KernelArgument::Kind kind_of(const Argument& argument) {
    switch (argument.kind) {
        case Argument::Kind::extent: return KernelArgument::Kind::extent;
        case Argument::Kind::stride:
        case Argument::Kind::batch_stride: return KernelArgument::Kind::stride;
        case Argument::Kind::scalar: return KernelArgument::Kind::scalar;
        case Argument::Kind::input:
        case Argument::Kind::output: break;
    }
    return KernelArgument::Kind::matrix;
}

// The grid was computed for the extents of the fetch. With larger extents a kernel would not compute all elements.
void must_be_as_fetched(const FetchedExtent& extent, const void* argument, const Problem& problem) {
    const std::int64_t given =
        extent.is_wide ? *static_cast<const std::int64_t*>(argument) : *static_cast<const std::int32_t*>(argument);
    if (given == extent.value || (given == 0 && extent.may_be_zero)) return;
    throw std::invalid_argument(extent.name + "=" + std::to_string(given) + " is not " + std::to_string(extent.value) +
                                ", as in " + to_text(problem) +
                                ", for which the kernel was fetched; fetch a kernel for the new size");
}

}  // namespace

std::vector<FetchedExtent> fetched_extents(const Operation& operation, const Problem& problem) {
    std::vector<FetchedExtent> extents;
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
        const auto& argument = operation.arguments[i];
        if (argument.kind != Argument::Kind::extent) continue;
        const auto at = [&](const auto& extent) { return extent.first == argument.name; };
        const auto found = std::ranges::find_if(problem.extents, at);
        if (found == problem.extents.end()) continue;
        const bool zero = std::ranges::any_of(
            operation.checks, [&](const Check& check) { return check.extents.contains(argument.name); });
        extents.push_back({i, argument.name, found->second, zero, type_of(argument, problem.type).bytes() == 8});
    }
    return extents;
}

std::vector<KernelArgument> Kernel::arguments() const {
    std::vector<KernelArgument> arguments;
    for (const auto& argument : state_->operation->arguments) {
        arguments.push_back({argument.name, kind_of(argument), type_of(argument, state_->problem.type).name(),
                             argument.kind == Argument::Kind::output});
    }
    return arguments;
}

namespace {

// Whether a value of the C++ type `given` may be passed as `argument`.
bool stands_for(const CppType& given, const KernelArgument& argument) {
    if (given.is_pointer != (argument.kind == KernelArgument::Kind::matrix)) return false;
    if (given.is_pointer && given.is_read_only && argument.is_output) return false;
    if (given.is_pointer && given.bytes == 0) return true;
    const auto type = argument_type(argument.type);
    if (static_cast<std::int64_t>(given.bytes) != type.bytes()) return false;
    // __half and float2 are structs. An application may also pass a __half as an unsigned short with the same bits.
    if (type.lanes > 1 || type.number->is_half()) return !given.is_floating;
    return !given.is_struct && given.is_floating == type.number->is_floating;
}

std::string signature_text(const std::vector<KernelArgument>& arguments) {
    std::string text;
    for (const auto& argument : arguments) {
        const auto type = argument_type(argument.type).cpp_name();
        text += (text.empty() ? "" : ", ") + type + (argument.kind == KernelArgument::Kind::matrix ? "* " : " ") +
                argument.name;
    }
    return "(" + text + ")";
}

}  // namespace

void must_take(const Kernel& kernel, std::span<const CppType> types) {
    const auto arguments = kernel.arguments();
    const auto fail = [&](const std::string& what) {
        throw std::invalid_argument(what + "; the kernel of " + kernel.problem().operation + " takes " +
                                    signature_text(arguments));
    };
    if (types.size() != arguments.size()) {
        fail(std::to_string(types.size()) + " types are given for " + std::to_string(arguments.size()) + " arguments");
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (stands_for(types[i], arguments[i])) continue;
        fail("the type of argument " + std::to_string(i + 1) + ", " + arguments[i].name + ", does not match");
    }
}

std::int64_t Kernel::workspace_bytes() const {
    const auto& workspace = state_->current().kernel.parameters().workspace;
    return workspace ? workspace->bytes : 0;
}

void Kernel::launch(CUstream_st* stream, std::span<void* const> arguments) const {
    const auto count = state_->operation->arguments.size();
    if (arguments.size() != count) {
        throw std::invalid_argument("the kernel takes " + std::to_string(count) + " arguments, not " +
                                    std::to_string(arguments.size()));
    }
    const auto& gemm = state_->gemm;
    if (!gemm) {
        for (const auto& extent : state_->extents) {
            must_be_as_fetched(extent, arguments[extent.position], state_->problem);
        }
        return state_->enqueue(stream, arguments);
    }
    auto given = gemm_arguments(arguments.data(), gemm->kind);
    const auto& fetched = gemm->extents;
    // A launch may also pass K = 0. The kernel then computes C = beta * C, as with alpha = 0.
    const bool same = given.batch == fetched.batch && given.m == fetched.m && given.n == fetched.n &&
                      (given.k == fetched.k || (given.k == 0 && gemm->skips_products));
    if (!same) {
        throw std::invalid_argument("the kernel was fetched for " + to_text(state_->problem) +
                                    ", but its arguments give other extents; fetch a kernel for those");
    }
    state_->launch_gemm(stream, given);
}

namespace {

// Returns the leading dimension of a matrix: `given`, or `row` if `given` is 0. `row` is the number of elements of a
// stored row. `ld` is the argument's name in messages.
long long stride_of(std::int64_t given, std::int64_t row, const char* ld) {
    if (given == 0) return row;
    if (given < row) {
        throw std::invalid_argument(std::string(ld) + "=" + std::to_string(given) + " is shorter than a row of " +
                                    std::to_string(row) + " elements");
    }
    return given;
}

long long batch_stride_of(std::optional<std::int64_t> given, long long packed, std::int64_t least, const char* name) {
    if (given && *given < least) {
        throw std::invalid_argument(std::string(name) + "=" + std::to_string(*given) + " is less than " +
                                    std::to_string(least) + "; leave it out for matrices one behind the other");
    }
    return given.value_or(packed);
}

}  // namespace

void Kernel::launch(CUstream_st* stream, const GemmOperands& operands) const {
    const auto& gemm = state_->gemm;
    if (!gemm) throw std::invalid_argument(state_->problem.operation + " does not take the operands of a gemm");
    auto given = gemm->extents;
    given.alpha = static_cast<float>(operands.alpha);
    given.a = operands.a;
    given.b = operands.b;
    given.beta = static_cast<float>(operands.beta);
    given.c = operands.c;
    given.lda = stride_of(operands.lda, gemm->shapes.a.columns, "lda");
    given.ldb = stride_of(operands.ldb, gemm->shapes.b.columns, "ldb");
    given.ldc = stride_of(operands.ldc, gemm->shapes.c.columns, "ldc");
    if (gemm->kind == GemmKind::batched) {
        const auto& [a, b, c] = gemm->shapes;
        given.stride_a = batch_stride_of(operands.batch_stride_a, a.rows * given.lda, 0, "batch_stride_a");
        given.stride_b = batch_stride_of(operands.batch_stride_b, b.rows * given.ldb, 0, "batch_stride_b");
        given.stride_c = batch_stride_of(operands.batch_stride_c, c.rows * given.ldc, 1, "batch_stride_c");
    } else if (operands.batch_stride_a || operands.batch_stride_b || operands.batch_stride_c) {
        throw std::invalid_argument("a gemm is one product and takes no batch stride; fetch a batched_gemm");
    }
    state_->launch_gemm(stream, given);
}

}  // namespace smemtune
