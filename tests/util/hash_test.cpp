#include "util/hash.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

// Stored trials and cached binaries are found by these hashes. A change would make all of them unreachable.
TEST(Hash, NamesATextTheSameForEver) {
    EXPECT_EQ(content_hash(""), "eae35da8-d900-55d5-bc1f-9c11dd2f0e58");
    EXPECT_EQ(content_hash("smemtune"), "6a4c7e38-97e6-523a-808e-c9f4d2c8fd6f");
}

TEST(Hash, DistinguishesTexts) {
    EXPECT_NE(content_hash("a"), content_hash("b"));
    EXPECT_NE(content_hash("a"), content_hash(std::string_view("a\0", 2)));
}

}  // namespace
}  // namespace smemtune
