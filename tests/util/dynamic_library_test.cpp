#include "util/dynamic_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

namespace smemtune {
namespace {

TEST(DynamicLibrary, OpensTheFirstNameThatThereIs) {
    const DynamicLibrary library({"libnone.so.1", "libc.so.6", "libnone.so"});
    ASSERT_TRUE(library);
    int (*absolute)(int) = nullptr;
    ASSERT_TRUE(library.find("abs", absolute));
    EXPECT_EQ(absolute(-3), 3);
}

TEST(DynamicLibrary, ASymbolThatIsMissingIsNull) {
    const DynamicLibrary library({"libc.so.6"});
    int dummy = 0;
    int* object = &dummy;
    EXPECT_FALSE(library.find("there_is_no_such_symbol", object));
    EXPECT_EQ(object, nullptr);
}

TEST(DynamicLibrary, WithoutALibraryNothingIsFoundAndTheErrorNamesTheLastOne) {
    const DynamicLibrary library({"libnone.so.1", "libnone.so.2"});
    EXPECT_FALSE(library);
    EXPECT_THAT(library.error(), testing::HasSubstr("libnone.so.2"));
    int (*absolute)(int) = nullptr;
    EXPECT_FALSE(library.find("abs", absolute));
}

TEST(DynamicLibrary, ClosesWithItsOwnerUnlessItIsKeptOpen) {
    constexpr auto* name = "libBrokenLocale.so.1";  // a library of glibc that no other code opens
    const auto is_open = [&] {
        void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        if (handle != nullptr) dlclose(handle);
        return handle != nullptr;
    };
    ASSERT_FALSE(is_open());
    {
        const DynamicLibrary library({name});
        ASSERT_TRUE(library) << library.error();
        EXPECT_EQ(library.error(), "");
        EXPECT_TRUE(is_open());
    }
    EXPECT_FALSE(is_open());
    {
        DynamicLibrary library({name});
        library.keep_open();
    }
    EXPECT_TRUE(is_open());
}

}  // namespace
}  // namespace smemtune
