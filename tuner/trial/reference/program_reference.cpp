#include "tuner/trial/reference/program_reference.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tuner/trial/reference/host_arrays.h"
#include "util/hash.h"
#include "util/process.h"
#include "util/temporary_folder.h"

namespace smemtune {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string file_text(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::int64_t> shape_of(const MatrixOperand& matrix, const Environment& environment) {
    std::vector<std::int64_t> shape;
    for (const auto& extent : matrix.argument->shape) shape.push_back(extent.evaluate(environment));
    if (shape.empty()) {
        if (matrix.argument->count != Expression("1")) shape.push_back(matrix.count);
        shape.insert(shape.end(), {matrix.rows, matrix.columns / matrix.type.lanes});
    }
    if (matrix.type.lanes > 1) shape.push_back(matrix.type.lanes);
    return shape;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

// Returns the end of a program's output, because error messages are usually printed last.
std::string last_lines(const std::string& output) {
    constexpr std::size_t most = 300;
    auto text = output.substr(output.size() - std::min(output.size(), most));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "it printed nothing" : text;
}

}  // namespace

ProgramReference::ProgramReference(Backend& backend, const Operation& operation, Environment environment,
                                   const Problem& problem)
    : backend_(backend), operation_(operation), environment_(std::move(environment)), element_(problem.type) {}

void ProgramReference::compute(const Operands& operands, const std::vector<OutputReference>& results) {
    const auto inputs = inputs_of(operands);
    std::string content;
    for (const auto& [name, file] : inputs) content += name + " " + sha256(file) + "\n";
    auto found = known_.find(content);
    if (found == known_.end()) found = known_.emplace(content, run(inputs, operands)).first;
    auto output = found->second.begin();
    auto result = results.begin();
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::output) continue;
        store_reference(backend_, matrix, *argument_type(output->type).number,
                        std::as_bytes(std::span(output->numbers)), *result++);
        ++output;
    }
}

ProgramReference::Files ProgramReference::inputs_of(const Operands& operands) const {
    Files files;
    auto matrix = operands.matrices.begin();
    auto number = operands.numbers.begin();
    for (const auto& argument : operation_.arguments) {
        auto& file = files[argument.name + ".npy"];
        if (!argument.is_matrix()) {
            const auto& type = *type_of(argument, element_).number;
            file = numpy_file(type, {}, text_of(number++->bytes).substr(0, static_cast<std::size_t>(type.bytes)));
            continue;
        }
        const auto& its = *matrix++;
        if (argument.kind == Argument::Kind::output && !argument.is_read) {
            files.erase(argument.name + ".npy");
            continue;
        }
        const auto numbers = dense_numbers(its, host_copy(backend_, *its.memory));
        file = numpy_file(*its.type.number, shape_of(its, environment_), text_of(numbers));
    }
    for (std::size_t i = 0; i < operands.parameters.size(); ++i) {
        files[operation_.parameters[i].first + ".npy"] =
            numpy_file(*argument_type("i32").number, {}, text_of(std::as_bytes(std::span(&operands.parameters[i], 1))));
    }
    return files;
}

std::vector<ProgramReference::Output> ProgramReference::run(const Files& inputs, const Operands& operands) const {
    const auto& reference = operation_.reference;
    const TemporaryFolder folder;
    for (const auto& [name, file] : inputs) folder.write("inputs/" + name, file);
    for (const auto& [word, text] : reference.program_files)
        folder.write(std::filesystem::path("program") / word, text);
    std::filesystem::create_directory(folder / "outputs");
    auto command = reference.command;
    for (auto& word : command) {
        if (reference.program_files.contains(word)) word = (folder / "program" / word).string();
        replace_all(word, "{inputs}", (folder / "inputs").string());
        replace_all(word, "{outputs}", (folder / "outputs").string());
    }
    const auto fail = [&](const std::string& what) {
        return ReferenceError(fmt::format("the reference, program '{}', {}", fmt::join(reference.command, " "), what));
    };
    const auto result = run_process(command, std::chrono::seconds(reference.time_limit_s));
    if (!result.started) throw fail("cannot be run; install " + command.front() + ", or name another program");
    if (result.timed_out) {
        throw fail(
            fmt::format("ran past its time limit of {} s; write time_limit = {} beside it, or tune smaller "
                        "sizes",
                        reference.time_limit_s, 2 * reference.time_limit_s));
    }
    if (result.exit_code != 0) {
        throw fail(fmt::format("ended with exit code {}: {}", result.exit_code, last_lines(result.output)));
    }
    std::vector<Output> outputs;
    for (const auto& matrix : operands.matrices) {
        if (matrix.argument->kind != Argument::Kind::output) continue;
        const auto name = matrix.argument->name + ".npy";
        if (!std::filesystem::exists(folder / "outputs" / name)) {
            throw fail("has not written {outputs}/" + name + ", the values of an output");
        }
        const auto content = file_text(folder / "outputs" / name);
        try {
            const auto type = result_type(name, content, *matrix.type.number);
            auto data = read_data_file(name, content, *argument_type(type).number);
            const auto numbers = matrix.count * matrix.rows * matrix.columns;
            if (data.count != numbers) {
                throw std::invalid_argument(fmt::format("has {} numbers, not {}", data.count, numbers));
            }
            outputs.push_back({type, std::move(data.bytes)});
        } catch (const std::invalid_argument& error) {
            throw fail("has written {outputs}/" + name + ", which " + error.what());
        }
    }
    return outputs;
}

}  // namespace smemtune
