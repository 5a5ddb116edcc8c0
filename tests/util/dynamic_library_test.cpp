#include "util/dynamic_library.h"

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

}  // namespace
}  // namespace smemtune
