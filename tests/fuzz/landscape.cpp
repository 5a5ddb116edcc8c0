#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <stdexcept>
#include <string>

#include "db/store.h"
#include "tuner/replay/landscape.h"

using namespace smemtune;

// Fuzzes cache files of Kernel Tuner. Each input is read twice: as it is (plain text or damaged gzip), and packed by
// gzip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const bool packed : {false, true}) {
        const int file = memfd_create("landscape", MFD_CLOEXEC);
        const auto path = "/proc/self/fd/" + std::to_string(file);
        if (packed) {
            auto* gzip = gzopen(path.c_str(), "wb1");
            gzwrite(gzip, data, static_cast<unsigned>(size));
            gzclose(gzip);
        } else if (write(file, data, size) != static_cast<ssize_t>(size)) {
            __builtin_trap();
        }
        try {
            const auto landscape = read_landscape(path, {});
            for (std::size_t i = 0; i < landscape.space->size(); ++i) {
                const auto configuration = (*landscape.space)[i];
                if (landscape.configuration(landscape.spelled(configuration)) != configuration) __builtin_trap();
            }
        } catch (const std::invalid_argument&) {
        } catch (const std::length_error&) {
        } catch (const StoreError&) {  // the first bytes are those of a database
        }
        close(file);
    }
    return 0;
}
