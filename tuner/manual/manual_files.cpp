#include "tuner/manual/manual_files.h"

#include <fstream>
#include <system_error>

#include "tuner/cli/command_line.h"

namespace smemtune {

void write_manual_file(const std::filesystem::path& file, const std::string& text) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) throw UsageError("--to: " + file.string() + " cannot be written; choose another folder");
}

}  // namespace smemtune
