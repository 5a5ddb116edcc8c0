#include "tuner/page/data/configuration_dictionary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smemtune {

namespace {

Configuration one_value(std::int64_t value) { return {{{"X", value}}}; }

TEST(ConfigurationDictionary, EqualConfigurationsHaveOneNumber) {
    ConfigurationDictionary dictionary;
    EXPECT_EQ(dictionary.number_of(parse_configuration("A=1,B=2")), 0U);
    EXPECT_EQ(dictionary.number_of(parse_configuration("A=1,B=3")), 1U);
    EXPECT_EQ(dictionary.number_of(parse_configuration("B=2,A=1")), 0U);
    EXPECT_EQ(dictionary.to_json(), (nlohmann::json{{"parameters",
                                                     {{{"name", "A"}, {"values", {1}}},  //
                                                      {{"name", "B"}, {"values", {2, 3}}}}},
                                                    {"width", 1},
                                                    {"text", "AAAB"}}));
}

TEST(ConfigurationDictionary, AParameterThatIsLackingIsNull) {
    ConfigurationDictionary dictionary;
    (void)dictionary.number_of(parse_configuration("A=1"));
    (void)dictionary.number_of(parse_configuration("A=1,NEW=7"));
    const auto json = dictionary.to_json();
    EXPECT_EQ(json["parameters"][1]["values"], (nlohmann::json{nullptr, 7}));
    EXPECT_EQ(json["text"], "AAAB");
}

TEST(ConfigurationDictionary, AValueBeyondTheSixtyFourthNeedsTwoCharacters) {
    ConfigurationDictionary narrow;
    for (int i = 0; i < 64; ++i) (void)narrow.number_of(one_value(i));
    EXPECT_EQ(narrow.to_json()["width"], 1);
    EXPECT_EQ(narrow.to_json()["text"].get<std::string>().back(), '_');
    (void)narrow.number_of(one_value(64));
    EXPECT_EQ(narrow.to_json()["width"], 2);
    EXPECT_TRUE(narrow.to_json()["text"].get<std::string>().ends_with("A_BA"));
}

}  // namespace

}  // namespace smemtune
