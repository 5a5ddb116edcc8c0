#include "tuner/trial/reference/host_arrays.h"

#include <gmock/gmock.h>

#include "tests/tuner/trial/typed/support.h"

namespace smemtune {
namespace {

using ::testing::ElementsAre;

std::vector<std::byte> bytes_below(int count) {
    std::vector<std::byte> bytes;
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i));
    return bytes;
}

// The array has two 2x2 matrices. One unused element follows each row, another follows each matrix, and one guard
// element is at each end of the array.
TEST(HostArrays, DenseNumbersLeaveOutGuardsAndPadding) {
    MatrixOperand matrix{.type = argument_type("u8"), .rows = 2, .columns = 2, .stride = 3, .count = 2};
    matrix.batch_stride = 7;
    matrix.guard = 1;
    std::vector<int> numbers;
    for (const auto byte : dense_numbers(matrix, bytes_below(16))) numbers.push_back(std::to_integer<int>(byte));
    EXPECT_THAT(numbers, ElementsAre(1, 2, 4, 5, 8, 9, 11, 12));
    matrix = {.type = argument_type("u16"), .rows = 1, .columns = 2, .stride = 2, .count = 1};
    matrix.batch_stride = 2;
    matrix.guard = 1;
    numbers.clear();
    for (const auto byte : dense_numbers(matrix, bytes_below(8))) numbers.push_back(std::to_integer<int>(byte));
    EXPECT_THAT(numbers, ElementsAre(2, 3, 4, 5));
}

TEST(HostArrays, FloatingReferencesAreDoublesAndIntegersStayAsTheyAre) {
    auto& backend = typed_backend();
    const auto stored = [&](const std::string& output, const std::string& type, std::vector<std::byte> bytes,
                            std::size_t size) {
        Argument argument{.name = "o", .kind = Argument::Kind::output};
        argument.type = argument_type(output);
        const MatrixOperand matrix{.argument = &argument, .type = *argument.type};
        const OutputReference to{backend.allocate(size), nullptr};
        store_reference(backend, matrix, *argument_type(type).number, bytes, to);
        return host_copy(backend, *to.value);
    };
    const std::vector<std::byte> half{std::byte{0}, std::byte{0xc0}};  // -2 as an f16
    std::vector<std::byte> two(8);
    store_number(*argument_type("f64").number, -2, two);
    EXPECT_EQ(stored("f16", "f16", half, 8), two);
    EXPECT_EQ(stored("f16", "f64", two, 8), two);
    EXPECT_EQ(stored("u16", "u16", half, 2), half);
}

}  // namespace
}  // namespace smemtune
