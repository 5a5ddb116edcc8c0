#include "tuner/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "util/hash.h"

namespace smemtune {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, TheEmbeddedLibrariesAreThePinnedOnes) {
    std::istringstream sums(page_files().at("vendor/SHA256SUMS"));
    std::string sum;
    std::string name;
    int count = 0;
    for (; sums >> sum >> name; ++count) EXPECT_EQ(sha256(page_files().at("vendor/" + name)), sum) << name;
    EXPECT_EQ(count, 3);
}

TEST(Page, NoScriptEndsEarly) {
    for (const auto& [name, text] : page_files()) {
        if (!name.ends_with(".js")) continue;
        EXPECT_THAT(text, Not(HasSubstr("</script"))) << name;
    }
}

TEST(Page, DataCannotLeaveItsElement) {
    const auto page =
        page_html(R"({"a":"</script><script>alert(1)</script><!--","b":"{scripts}{data}{policy}"})", PageSource::file);
    EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
    EXPECT_THAT(page, HasSubstr(R"("a":"\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--")"));
    EXPECT_THAT(page, HasSubstr(R"("b":"{scripts}{data}{policy}")"));
}

TEST(Page, OnlyAServedPageMayConnect) {
    const auto file = page_html("{}", PageSource::file);
    const auto served = page_html("{}", PageSource::server);
    EXPECT_THAT(file, HasSubstr("default-src 'none'; script-src 'sha256-"));
    EXPECT_THAT(file, Not(HasSubstr("connect-src")));
    EXPECT_THAT(served, HasSubstr("; connect-src 'self'\""));
    for (const auto& page : {file, served}) {
        const auto policy = page.substr(page.find("default-src"),
                                        page.find("\">", page.find("default-src")) - page.find("default-src"));
        EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
        EXPECT_THAT(policy, Not(HasSubstr("http")));
    }
}

}  // namespace

}  // namespace smemtune
