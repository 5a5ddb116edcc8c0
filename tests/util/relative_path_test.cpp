#include "util/relative_path.h"

#include <gtest/gtest.h>

#include <string>

namespace smemtune {
namespace {

TEST(RelativePath, OnlyANormalisedPathBelowAFolderStaysInside) {
    for (const auto* path : {"a", "gemm/tiled.cu", "a/b/c.h", "..a/b..", ".hidden", "a b/\xc3\xa4.cu"}) {
        EXPECT_TRUE(stays_inside(path)) << path;
    }
    for (const auto* path :
         {"",     "/",    "/etc/passwd", "..",    ".",    "../a",  "a/../b", "a/..",  "a/./b", "a//b", "a/",
          "a\\b", "a\nb", "a\"b",        "a\x7f", "\x01", "a\x1f", "a/b/..", "a/b/.", "./a",   "a/b//"}) {
        EXPECT_FALSE(stays_inside(path)) << path;
    }
    EXPECT_FALSE(stays_inside(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace smemtune
