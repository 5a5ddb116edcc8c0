#include "db/outcome.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace smemtune {
namespace {

TEST(Stage, EachHasAStoredNameThatIsReadBack) {
    for (const auto stage :
         {Stage::limits, Stage::compile, Stage::launch, Stage::wrong, Stage::crash, Stage::timeout}) {
        EXPECT_EQ(parse_stage(to_text(stage)), stage);
    }
    EXPECT_EQ(to_text(Stage::timeout), "timeout");
}

TEST(Stage, AnUnknownNameIsRefusedWithTheNamesThatThereAre) {
    try {
        parse_stage("exploded");
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "'exploded' is not a stage; use one of: limits, compile, launch, wrong, crash, timeout");
    }
    EXPECT_THROW(to_text(static_cast<Stage>(17)), std::invalid_argument);
}

}  // namespace
}  // namespace smemtune
