#include "db/integrity/row_hash.h"

#include <initializer_list>

#include "util/hash.h"

namespace smemtune {

namespace {

std::string joined_sha256(std::initializer_list<std::string_view> fields) {
    return sha256_of(std::span<const std::string_view>(fields.begin(), fields.size()));
}

}  // namespace

// Each field is hashed after its length. Otherwise the fields ("ab", "c") and ("a", "bc") would have the same hash.
std::string sha256_of(std::span<const std::string_view> fields) {
    std::string all;
    for (const auto field : fields) all.append(std::to_string(field.size())).append(":").append(field);
    return sha256(all);
}

std::string row_sha256(const TemplateRecord& kernel_template) {
    std::string files;
    for (const auto& [path, text] : kernel_template.files) files += joined_sha256({path, text});
    return joined_sha256({kernel_template.name, kernel_template.operation, kernel_template.hash, files});
}

std::string row_sha256(const BinaryRecord& binary) {
    const auto& resources = binary.resources;
    return joined_sha256({std::to_string(binary.kernel_template),
                          to_text(binary.configuration),
                          binary.target,
                          binary.compiler,
                          {reinterpret_cast<const char*>(binary.code.data()), binary.code.size()},
                          std::to_string(resources.registers),
                          std::to_string(resources.spill_bytes),
                          std::to_string(resources.static_shared_bytes),
                          std::to_string(resources.dynamic_shared_bytes)});
}

// The migration step to schema version 4 repeats the SQL expressions for templates and machine code, and is never
// edited. If you change one of these expressions, add a migration step.
std::string template_sha256_in_sql(const std::string& hash) {
    return "smemtune_sha256(name, operation, " + hash +
           ", (SELECT group_concat(smemtune_sha256(path, text), '') FROM (SELECT path, text FROM template_files "
           "WHERE template = templates.id ORDER BY path)))";
}

std::string binary_sha256_in_sql(const std::string& kernel_template, const std::string& configuration) {
    return "smemtune_sha256(" + kernel_template + ", " + configuration +
           ", target, compiler, code, registers, spill_bytes, static_shared_bytes, dynamic_shared_bytes)";
}

std::string portfolio_sha256_in_sql(const std::string& kernel_template, const std::string& configuration) {
    return "smemtune_sha256(device, operation, type, layout, " + kernel_template + ", " + configuration +
           ", terms_version, coefficients, error, registers, static_shared_bytes, classes, verified_by, code_hash)";
}

}  // namespace smemtune
