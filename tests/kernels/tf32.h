// Numbers, most of which TF32 cannot represent, and their products on tensor cores, for tests on the host device and on
// a GPU.
#pragma once

#include <cmath>
#include <vector>

namespace smemtune {

/// Returns ties, neighbours of ties, numbers that need all 24 bits of a float, and one that TF32 can represent. 2^-11
/// is half of the distance between neighbouring numbers of TF32 from 1 to 2.
inline const std::vector<float>& numbers_beyond_tf32() {
    static const std::vector<float> numbers{1 + 0x1p-11F,  1 + 0x1p-11F - 0x1p-23F, 1 + 0x1p-11F + 0x1p-23F,
                                            -1 - 0x1p-11F, 1 + 3 * 0x1p-11F,        2 - 0x1p-23F,
                                            0x1.345678p9F, -0x1.fedcbap-7F,         3};
    return numbers;
}

/// Returns the products of all pairs of `numbers`, as a row-major matrix. Both factors are rounded to 11 bits, to
/// nearest, ties away from zero. The products are exact in FP32.
inline std::vector<float> products_in_tf32(const std::vector<float>& numbers) {
    const auto rounded = [](float number) {
        int exponent = 0;
        const auto fraction = std::frexp(static_cast<double>(number), &exponent);
        return std::ldexp(std::round(std::ldexp(fraction, 11)), exponent - 11);  // std::round: ties away from zero
    };
    std::vector<float> products;
    for (const auto a : numbers) {
        for (const auto b : numbers) products.push_back(static_cast<float>(rounded(a) * rounded(b)));
    }
    return products;
}

}  // namespace smemtune
