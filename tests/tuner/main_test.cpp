#include <sys/wait.h>

#include <cstdlib>

#include "tests/tuner/support.h"

namespace smemtune {
namespace {

TEST(Main, OutputThatCannotBeWrittenIsAnErrorEvenIfItIsShort) {
    const Scratch scratch;
    const auto errors = scratch / "errors";
    const auto status = std::system((SMEMTUNE_PROGRAM " --version >/dev/full 2>" + errors).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_EQ(read_text(errors), "smemtune: cannot write the output: No space left on device\n");
}

}  // namespace
}  // namespace smemtune
