#include "runtime/backend.h"

#include <gtest/gtest.h>

#include "tests/runtime/support.h"

namespace smemtune {
namespace {

TEST(Backend, ASymbolNeedsRoomForAllBytesOfItsArgument) {
    const SymbolArgument symbol{"filter", 2, 64};
    const auto refusal = [&](std::size_t bytes) {
        return error_of<LaunchError>([&] { must_have_room(symbol, bytes); });
    };
    EXPECT_EQ(refusal(64), "");
    EXPECT_EQ(refusal(65), "");
    EXPECT_EQ(refusal(63),
              "the kernel's array 'filter' has 63 bytes, but its argument has 64; make the array longer, or tune a "
              "smaller size");
    EXPECT_EQ(
        refusal(0),
        "the manifest names the symbol 'filter', but the kernel's code has no array of this name outside namespaces");
}

TEST(Backend, TheHostDeviceComesLastAndHasNoPlatform) {
    const auto devices = list_devices();
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices.back().name, "host");
    EXPECT_TRUE(devices.back().device.is_host());
    for (std::size_t i = 0; i + 1 < devices.size(); ++i) EXPECT_EQ(devices[i].name, std::to_string(i));
    EXPECT_EQ(find_device("host").device, devices.back().device);
    EXPECT_EQ(platform_versions(devices.back().device), "");
}

}  // namespace
}  // namespace smemtune
