// The key of a problem in the table of known problems.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "templates/space/problem.h"

namespace smemtune {

/// The problem and the name of a template, as a few 64-bit words. Equal problems have equal words. Different problems
/// have different words if is_complete(). Making a key allocates nothing.
class ProblemKey {
public:
    ProblemKey(const Problem& problem, std::string_view kernel_template) {  // NOLINT(*-member-init): see words_
        std::size_t size = 0;
        std::uint64_t sum = 0;  // sum of word * factor; no multiplication waits for the result of another
        const auto put = [&](std::uint64_t word) {
            if (size == most_words) {
                is_complete_ = false;
                return;
            }
            words_[size] = word;
            sum += word * factors[size];
            ++size;
        };
        for (const std::string_view name : {std::string_view(problem.operation), std::string_view(problem.type),
                                            std::string_view(problem.layout), kernel_template}) {
            put_name(name, put);
        }
        for (const auto& [name, extent] : problem.extents) {
            put_name(name, put);
            put(static_cast<std::uint64_t>(extent));
        }
        size_ = size;
        sum = (sum ^ (sum >> 32U)) * odd;
        hash_ = sum ^ (sum >> 32U);  // ShapeTable uses the low bits as index
    }

    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    /// Whether the words contain the whole problem. False only if names are very long or there are very many extents.
    [[nodiscard]] bool is_complete() const { return is_complete_; }
    // Compares word by word. The words were just stored one by one, and the wide loads of memcmp would have to wait
    // until these stores have reached the cache.
    bool operator==(const ProblemKey& other) const {
        if (hash_ != other.hash_ || size_ != other.size_) return false;
        for (std::size_t i = 0; i < size_; ++i) {
            if (words_[i] != other.words_[i]) return false;
        }
        return true;
    }

private:
    static constexpr std::size_t most_words = 40;

    // A name of up to 7 bytes becomes one word with the size in its most significant byte. A longer name becomes one
    // word with its size, then words with its bytes.
    template <class Put>
    static void put_name(std::string_view name, const Put& put) {
        const auto* const first = name.data();
        const auto size = name.size();
        if (size > 7) return put_long_name(name, put);
        std::uint64_t word = std::uint64_t{size} << 56U;
        if (size == 1) {  // most names of extents, such as M
            word |= load<std::uint8_t>(first);
        } else if (size >= 4) {  // the two loads may overlap
            word |= load<std::uint32_t>(first) | std::uint64_t{load<std::uint32_t>(first + size - 4)} << 8 * (size - 4);
        } else if (size > 0) {
            word |= load<std::uint8_t>(first) | std::uint64_t{load<std::uint8_t>(first + size / 2)} << 8 * (size / 2) |
                    std::uint64_t{load<std::uint8_t>(first + size - 1)} << 8 * (size - 1);
        }
        put(word);
    }

    template <class Put>
    static void put_long_name(std::string_view name, const Put& put) {
        put(~std::uint64_t{name.size()});  // most significant byte: 0xff; that of a short name is at most 7
        while (!name.empty()) {
            std::uint64_t word = 0;
            const auto bytes = std::min(sizeof word, name.size());
            std::memcpy(&word, name.data(), bytes);
            put(word);
            name.remove_prefix(bytes);
        }
    }

    static constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;  // 2^64 divided by the golden ratio

    // Powers of an odd number: they are odd and look random.
    static constexpr std::array<std::uint64_t, most_words> factors = [] {
        std::array<std::uint64_t, most_words> all{};
        std::uint64_t factor = odd;
        for (auto& each : all) each = factor *= odd;
        return all;
    }();

    template <class Number>
    static Number load(const char* from) {
        Number number;
        std::memcpy(&number, from, sizeof number);
        return number;
    }

    std::uint64_t hash_ = 0;
    std::size_t size_ = 0;
    bool is_complete_ = true;
    std::array<std::uint64_t, most_words> words_;  // NOLINT(*-member-init): only `size_` words are set, to save time
};

}  // namespace smemtune
