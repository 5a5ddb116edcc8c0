#include "runtime/host/shared_object.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <filesystem>

#include "tests/runtime/support.h"

namespace smemtune {
namespace {

using testing::StartsWith;

const std::vector<std::uint8_t> nonsense(100, 'x');

auto open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

// While a FileLimit exists, this process cannot write files longer than `bytes`.
class FileLimit {
public:
    explicit FileLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limited{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limited);
    }
    ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    rlimit before_{};
};

TEST(SharedObject, OneThatCannotBeLoadedLeavesNoDescriptorOpen) {
    const auto before = open_descriptors();
    EXPECT_THAT(error_of<LaunchError>([] { const SharedObject object(nonsense); }),
                StartsWith("the kernel cannot be loaded: "));
    EXPECT_EQ(open_descriptors(), before);
}

TEST(SharedObject, OneThatCannotBeWrittenLeavesNoDescriptorOpen) {
    const auto before = open_descriptors();
    EXPECT_EQ(error_of<DeviceError>([] {
                  const FileLimit limit(1);  // makes writing the shared object fail
                  const SharedObject object(nonsense);
              }),
              "the host has no memory for a kernel");
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace smemtune
