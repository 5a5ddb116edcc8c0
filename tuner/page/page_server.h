// `smemtune report --serve`: serves the page over HTTP to browsers on this machine.
#pragma once

#include <filesystem>

#include "tuner/page/data/page_data.h"

namespace smemtune {

/// Prints the address, and answers `/`, `/data.json` and `/events` on 127.0.0.1 until Ctrl-C. Never writes the
/// database. Returns an exit code. Throws StoreError if the database cannot be opened, std::runtime_error if the port
/// is taken.
int serve_page(const std::filesystem::path& database, const PageRequest& request, unsigned short port);

}  // namespace smemtune
