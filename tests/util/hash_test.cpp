#include "util/hash.h"

#include <gtest/gtest.h>

namespace smemtune {
namespace {

// Stored trials and cached binaries are found by these hashes. If the hash function changed, none of them would be
// found.
TEST(Hash, NamesATextTheSameForEver) {
    EXPECT_EQ(content_hash(""), "eae35da8-d900-55d5-bc1f-9c11dd2f0e58");
    EXPECT_EQ(content_hash("smemtune"), "6a4c7e38-97e6-523a-808e-c9f4d2c8fd6f");
}

TEST(Hash, DistinguishesTexts) {
    EXPECT_NE(content_hash("a"), content_hash("b"));
    EXPECT_NE(content_hash("a"), content_hash(std::string_view("a\0", 2)));
}

// The examples of FIPS 180-4 that NIST publishes.
TEST(Hash, Sha256IsTheStandardOne) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, Sha256SeesEveryByte) {
    EXPECT_NE(sha256(std::string_view("a\0", 2)), sha256("a"));
    EXPECT_NE(sha256(std::string(100, 'x') + "y"), sha256(std::string(100, 'x') + "z"));
}

}  // namespace
}  // namespace smemtune
