// Reads stored templates and machine code, and compares each row with its hash.
#include "db/file/functions.h"
#include "db/integrity/row_hash.h"
#include "db/store_state.h"
#include "util/relative_path.h"

namespace smemtune {

std::optional<TemplateRecord> Store::State::read_template(std::int64_t id) {
    auto record = query("SELECT name, operation, hash FROM templates WHERE id = ?")
                      .with(id)
                      .first([](const SQLite::Statement& row) {
                          return TemplateRecord{.name = row.getColumn(0).getString(),
                                                .operation = row.getColumn(1).getString(),
                                                .hash = row.getColumn(2).getString(),
                                                .files = {}};
                      });
    if (!record) return record;
    int bytes = 0;
    const auto read = [&](const SQLite::Statement& row) {
        bytes += row.getColumn(0).getBytes() + row.getColumn(1).getBytes();
        if (bytes > largest_value_bytes) throw UnreadableRow(record->name + ": its files are larger than any template");
        return std::pair(row.getColumn(0).getString(), row.getColumn(1).getString());
    };
    for (auto& file : query("SELECT path, text FROM template_files WHERE template = ?").with(id).all(read)) {
        if (!stays_inside(file.first))
            throw UnreadableRow(record->name + ": the path '" + file.first + "' leads outside the template's folder");
        record->files.insert(std::move(file));
    }
    query("SELECT sha256 FROM templates WHERE id = ?").with(id).first([&](const auto& row) {
        check_hash(row.getColumn(0), row_sha256(*record), schema >= hashed_schema);
        return true;
    });
    return record;
}

std::optional<TemplateRecord> Store::recall_template(std::int64_t kernel_template) const {
    return state_->guarded([&] {
        const SQLite::Transaction same_moment(state_->connection.database);
        return state_->read_template(kernel_template);
    });
}

std::optional<BinaryRecord> Store::recall_binary(std::int64_t kernel_template, const Configuration& configuration,
                                                 const std::string& target) const {
    return state_->guarded([&] {
        return state_->query(find_binary)
            .with(kernel_template, to_text(configuration), target)
            .first([&](const auto& row) { return read_binary(row, state_->schema >= hashed_schema); });
    });
}

std::optional<BinaryRecord> Store::recall_binary(const std::string& kernel_template, const std::string& hash,
                                                 const Configuration& configuration, const std::string& target) const {
    return state_->guarded([&] {
        return state_->query(find_binary_of_version)
            .with(kernel_template, hash, to_text(configuration), target)
            .first([&](const auto& row) { return read_binary(row, state_->schema >= hashed_schema); });
    });
}

std::vector<BinaryRecord> Store::binaries(std::int64_t kernel_template, const Configuration& configuration) const {
    return state_->guarded([&] {
        return state_->query(find_binaries)
            .with(kernel_template, to_text(configuration))
            .all_but<UnreadableRow>([&](const auto& row) { return read_binary(row, state_->schema >= hashed_schema); });
    });
}

}  // namespace smemtune
