#include "tuner/report/stored/csv.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace smemtune {
namespace {

using nlohmann::json;

TEST(Csv, NestedObjectsBecomeDottedColumnsAndMissingValuesEmptyCells) {
    EXPECT_EQ(csv_text(json::array({{{"id", 1}, {"problem", {{"type", "f32"}}}},
                                    {{"id", 2}, {"problem", nullptr}, {"us", 1.5}},
                                    {{"extents", {16, 32}}, {"id", 3}}})),
              "id,problem.type,us,extents\n"
              "1,f32,,\n"
              "2,,1.5,\n"
              "3,,,\"[16,32]\"\n");
}

TEST(Csv, CellsWithCommasQuotesAndLineEndsAreQuoted) {
    EXPECT_EQ(
        csv_text(json::array({{{"a", "x,y"}, {"b", "say \"hi\""}, {"c", "two\nlines"}, {"d", "\r"}, {"e", "; "}}})),
        "a,b,c,d,e\n\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\",\"\r\",; \n");
}

TEST(Csv, NoRowIsAnEmptyFile) { EXPECT_EQ(csv_text(json::array()), ""); }

}  // namespace
}  // namespace smemtune
