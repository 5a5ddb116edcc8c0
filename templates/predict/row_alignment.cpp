#include "templates/predict/row_alignment.h"

namespace smemtune {

namespace {

constexpr std::size_t most_matrices = 32;  // WholeUnits has one bit for each matrix

}  // namespace

RowAlignment::RowAlignment(const Operation& operation, const Problem& like, const Device& device)
    : names_(operation.extents) {
    Problem any{like.operation, like.type, like.layout, {}};
    for (const auto& name : names_) any.extents.emplace_back(name, 1);
    auto environment = environment_of(operation, any, device);
    for (const auto& [name, value] : operation.parameters) environment.try_emplace(name, value);
    auto line = std::make_shared<StraightLine>(names_);
    for (const auto& argument : operation.arguments) {
        if (!argument.is_matrix() || matrices_.size() == most_matrices) continue;
        matrices_.push_back({line->add(argument.columns, environment), type_of(argument, like.type).bytes()});
    }
    line_ = std::move(line);
}

WholeUnits RowAlignment::of(std::span<const std::int64_t> extents) const {
    if (!line_ || extents.size() != names_.size()) return {};
    Problem problem;
    for (std::size_t i = 0; i < names_.size(); ++i) problem.extents.emplace_back(names_[i], extents[i]);
    StraightLine::Values values;
    return of(problem, values);
}

WholeUnits RowAlignment::of(const Problem& problem, StraightLine::Values& values) const {
    if (!line_) return {};
    line_->evaluate(problem, values);
    WholeUnits whole;
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
        const auto& [columns, bytes] = matrices_[i];
        if (!values[columns].exists) continue;
        const auto number = values[columns].number;
        const auto bit = std::uint32_t{1} << i;
        if (number % 16 * bytes % 16 == 0) whole.of_16_bytes |= bit;
        if (number % 32 * bytes % 32 == 0) whole.of_32_bytes |= bit;
    }
    return whole;
}

}  // namespace smemtune
