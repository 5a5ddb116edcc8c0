#include "tuner/shipping/new_database.h"

#include <unistd.h>

#include <string>
#include <system_error>

namespace smemtune {

namespace fs = std::filesystem;

NewDatabase::NewDatabase(fs::path file) : file_(std::move(file)), unfinished_(file_) {
    unfinished_ += ".unfinished-" + std::to_string(getpid());
    remove_unfinished();
    StoreOptions options;
    options.rollback_journal = true;
    store_.emplace(unfinished_, Store::Access::write, options);
}

NewDatabase::~NewDatabase() {
    store_.reset();
    remove_unfinished();
}

void NewDatabase::finish() {
    store_.reset();
    std::error_code error;
    fs::rename(unfinished_, file_, error);
    if (error) throw StoreError(file_.string() + ": cannot be written (" + error.message() + "); choose another path");
}

void NewDatabase::remove_unfinished() const {
    std::error_code ignored;
    fs::remove(unfinished_, ignored);
    fs::remove(unfinished_.string() + "-journal", ignored);
}

}  // namespace smemtune
