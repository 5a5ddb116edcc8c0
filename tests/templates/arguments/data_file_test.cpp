#include "templates/arguments/data_file.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace smemtune {
namespace {

using ::testing::HasSubstr;

// Returns the content of a file as numpy.save writes it.
std::string npy(const std::string& type, const std::string& order, const std::string& numbers, char version = 1) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (2,), }";
    header.resize(118, ' ');
    header += '\n';
    std::string file = "\x93NUMPY";
    file += version;
    file += '\0';
    file += static_cast<char>(header.size());
    file += '\0';
    if (version > 1) file += std::string(2, '\0');
    return file + header + numbers;
}

const NumberType& number(const std::string& name) { return *argument_type(name).number; }

std::string refusal(const std::string& path, const std::string& content, const std::string& type) {
    try {
        (void)read_data_file(path, content, number(type));
        return "";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TEST(DataFile, ANumpyFileHoldsTheNumbersBehindItsHeader) {
    for (const char version : {char{1}, char{2}}) {
        const auto data = read_data_file("x.npy", npy("<i4", "False", "aaaabbbb", version), number("i32"));
        EXPECT_EQ(data.bytes, "aaaabbbb");
        EXPECT_EQ(data.count, 2);
    }
    EXPECT_EQ(read_data_file("x.npy", npy("|u1", "False", "ab"), number("u8")).count, 2);
    EXPECT_EQ(read_data_file("x.npy", npy("<u2", "False", "abcd"), number("bf16")).count, 2);
    EXPECT_EQ(read_data_file("x.npy", npy("<f8", "False", std::string(16, 'a')), number("f64")).count, 2);
}

TEST(DataFile, ARawFileHoldsNothingElse) {
    EXPECT_EQ(read_data_file("x.raw", "aaaabbbb", number("f32")).count, 2);
    EXPECT_THAT(refusal("x.bin", "aaaab", "f32"), HasSubstr("5 bytes of numbers, which is no multiple of 4"));
    EXPECT_TRUE(is_data_file("a/b.npy"));
    EXPECT_FALSE(is_data_file("a.npy.txt"));
}

TEST(DataFile, AWrittenNumpyFileIsReadAgain) {
    const auto file = numpy_file(number("i16"), {2, 3}, "aabbccddeeff");
    EXPECT_EQ(read_data_file("x.npy", file, number("i16")).bytes, "aabbccddeeff");
    EXPECT_THAT(file, HasSubstr("'descr': '<i2'"));
    EXPECT_THAT(file, HasSubstr("'shape': (2,3,), }"));
    EXPECT_EQ((file.size() - 12) % 64, 0U) << "NumPy aligns the numbers";
    EXPECT_EQ(file[file.size() - 13], '\n');
    const auto one = numpy_file(number("u8"), {}, "a");
    EXPECT_THAT(one, HasSubstr("'descr': '|u1'"));
    EXPECT_THAT(one, HasSubstr("'shape': (), }"));
    EXPECT_EQ(read_data_file("x.npy", one, number("u8")).count, 1);
}

TEST(DataFile, AResultMayHaveDoublesWhereItsTypeIsShorter) {
    const auto doubles = numpy_file(number("f64"), {1}, "aaaabbbb");
    EXPECT_EQ(result_type("x.npy", doubles, number("f32")), "f64");
    EXPECT_EQ(result_type("x.npy", numpy_file(number("f32"), {1}, "aaaa"), number("f32")), "f32");
    EXPECT_EQ(result_type("x.npy", doubles, number("i32")), "i32");
    EXPECT_EQ(result_type("x.raw", doubles, number("f32")), "f32");
}

TEST(DataFile, OtherNumpyFilesAreRefusedWithRemedy) {
    EXPECT_THAT(refusal("x.npy", npy("<f8", "False", ""), "f32"),
                HasSubstr("type <f8 where <f4 is needed; save it with .astype('<f4')"));
    EXPECT_THAT(refusal("x.npy", npy(">f4", "False", ""), "f32"), HasSubstr("type >f4 where <f4 is needed"));
    EXPECT_THAT(refusal("x.npy", npy("<u4", "False", ""), "i32"), HasSubstr("type <u4 where <i4 is needed"));
    EXPECT_THAT(refusal("x.npy", npy("<f4", "True", ""), "f32"), HasSubstr("numpy.ascontiguousarray"));
    EXPECT_THAT(refusal("x.npy", "12345678901234", "f32"), HasSubstr("is no .npy file"));
    EXPECT_THAT(refusal("x.npy", npy("<f4", "False", "").substr(0, 60), "f32"), HasSubstr("save it again"));
    EXPECT_THAT(refusal("x.npy", npy("<f4", "False", "", 4), "f32"), HasSubstr("version 1 to 3"));
}

// For types with many fields, NumPy writes headers of more than 255 bytes, and even of more than 65,535 bytes.
TEST(DataFile, AHeaderMayBeLong) {
    const std::string description = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    const auto with_header = [&](char version, std::size_t length, int bytes_of_length) {
        auto header = description;
        header.resize(length, ' ');
        std::string file = "\x93NUMPY";
        file += version;
        file += '\0';
        for (int i = 0; i < bytes_of_length; ++i) file += static_cast<char>(length >> (8 * i) & 255U);
        return file + header + "abcd";
    };
    for (const std::size_t length : {300U, 65535U}) {
        EXPECT_EQ(read_data_file("x.npy", with_header(1, length, 2), number("i32")).bytes, "abcd") << length;
    }
    for (const char version : {char{2}, char{3}}) {
        for (const std::size_t length : {300U, 0x10203U}) {
            const auto file = with_header(version, length, 4);
            EXPECT_EQ(read_data_file("x.npy", file, number("i32")).bytes, "abcd");
            EXPECT_EQ(read_data_file("x.npy", file.substr(0, file.size() - 4), number("i32")).count, 0);
            EXPECT_EQ(refusal("x.npy", file.substr(0, file.size() - 5), "i32"),
                      "has a header that is no .npy header of version 1 to 3; save it again");
        }
    }
}

TEST(DataFile, MessagesNameTheTypeFoundAndTheSizeOfTheTypeNeeded) {
    EXPECT_EQ(refusal("x.npy", npy("<c8", "False", ""), "f16"),
              "holds numbers of type <c8 where <f2 is needed; save it with .astype('<f2')");
    EXPECT_EQ(refusal("x.npy", npy("V8", "False", ""), "bf16"),
              "holds numbers of type unknown where <u2 is needed; save it with .astype('<u2')");
    EXPECT_EQ(refusal("x.npy", npy("<i2", "False", "abc"), "i16"),
              "has 3 bytes of numbers, which is no multiple of 2, the size of i16");
    EXPECT_EQ(refusal("x.npy", npy("<i2", "True", "ab"), "i16"),
              "is in Fortran order; save it with numpy.ascontiguousarray");
    EXPECT_EQ(refusal("x.npy", npy("=i2", "False", "ab"), "i16"), "") << "native order";
    for (const auto* path : {"a.npy", "a.bin", "a.raw"}) EXPECT_TRUE(is_data_file(path)) << path;
    for (const auto* path : {"a.txt", "npy", "a.bin2", ""}) EXPECT_FALSE(is_data_file(path)) << path;
    EXPECT_EQ(result_type("x.npy", numpy_file(number("f64"), {1}, "aaaabbbb"), number("bf16")), "f64");
}

TEST(DataFile, ALengthThatTheContentDoesNotHoldIsRefused) {
    const auto file = npy("<i4", "False", "aaaabbbb", 2);
    EXPECT_EQ(refusal("x.npy", file.substr(0, 11), "i32"), "is no .npy file") << "the length has four bytes";
    auto header = std::string("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }");
    header.resize(0x10000, ' ');
    for (const char place : {char{2}, char{3}}) {  // the header has 2^16 bytes; the file says 2^16 or 2^24
        std::string long_file = "\x93NUMPY";
        long_file += std::string{2, 0, 0, 0, place == 2 ? char{1} : char{0}, place == 3 ? char{1} : char{0}};
        EXPECT_EQ(refusal("x.npy", long_file + header + "aaaabbbb", "i32"),
                  place == 2 ? "" : "has a header that is no .npy header of version 1 to 3; save it again");
    }
}

TEST(DataFile, AWrittenFileMayHaveAHeaderOfMoreThan255Bytes) {
    const auto file = numpy_file(number("u8"), std::vector<std::int64_t>(80, 1000), "a");
    EXPECT_EQ(file.size() % 64, 1U);
    EXPECT_GT(file.size(), 10U + 256U);
    EXPECT_EQ(read_data_file("x.npy", file, number("u8")).bytes, "a");
}

}  // namespace
}  // namespace smemtune
