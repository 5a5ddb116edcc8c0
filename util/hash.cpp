#include "util/hash.h"

#include <sha2.h>

#include <array>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace smemtune {

std::string content_hash(std::string_view text) {
    // An arbitrary namespace for our UUIDs. It must never change, because the hashes of all stored trials depend on it.
    static constexpr boost::uuids::uuid space{
        {0x73, 0x6d, 0x65, 0x6d, 0x74, 0x75, 0x6e, 0x65, 0x8a, 0x1e, 0x4c, 0x1d, 0x9b, 0x02, 0x5f, 0x77}};
    return to_string(boost::uuids::name_generator_sha1(space)(text.data(), text.size()));
}

std::string sha256(std::span<const std::byte> bytes) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text.data());
    return text.data();
}

std::string sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

}  // namespace smemtune
