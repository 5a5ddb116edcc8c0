#include <nlohmann/json.hpp>

#include "tuner/worker/messages.h"

using namespace smemtune;

// Fuzzes the messages that a worker sends and receives. The input is CBOR, or JSON that is first converted to CBOR. A
// message that can be decoded must not change when it is encoded and decoded again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, data + size);
    if (size > 0 && data[0] == '{') {
        const auto text = nlohmann::json::parse(data, data + size, nullptr, false);
        if (text.is_discarded()) return 0;
        bytes = nlohmann::json::to_cbor(text);
    }
    const auto reply = decode_reply(bytes);
    if (const auto* sound = std::get_if<Reply>(&reply)) {
        const auto again = encode(*sound);
        if (encode(std::get<Reply>(decode_reply(again))) != again) __builtin_trap();
    }
    const auto request = decode_request(bytes);
    if (const auto* sound = std::get_if<Request>(&request)) {
        const auto again = encode(*sound);
        if (encode(std::get<Request>(decode_request(again))) != again) __builtin_trap();
    }
    return 0;
}
