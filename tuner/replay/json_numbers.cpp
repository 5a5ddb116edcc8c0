#include "tuner/replay/json_numbers.h"

#include <nlohmann/json.hpp>

namespace smemtune {

namespace {

// A number without '.' and exponent is an integer. The JSON parser passes an integer to number_float() only if it
// exceeds 64 bits.
bool is_integer(const std::string& number) { return number.find_first_of(".eE") == std::string::npos; }

class NumberCheck : public nlohmann::json_sax<nlohmann::json> {
public:
    bool number_float(number_float_t, const string_t& number) override {
        if (!is_integer(number)) return true;
        throw NumberOutOfRange("holds the integer " + number +
                               ", which 64 bits cannot hold; write it as a text, in quotes");
    }
    // The parser reports a number beyond the range of doubles as an error. Other errors mean malformed text, which is
    // not checked here.
    bool parse_error(std::size_t, const std::string& number, const nlohmann::detail::exception& error) override {
        constexpr int number_overflow = 406;
        if (error.id != number_overflow) return false;
        throw NumberOutOfRange("holds the number " + number +
                               ", which is beyond the range of doubles; write Infinity, or repair it");
    }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
};

}  // namespace

void check_numbers(const std::string& text) {
    NumberCheck check;
    static_cast<void>(nlohmann::json::sax_parse(text, &check));
}

}  // namespace smemtune
