#include "runtime/c/status.h"

#include <gtest/gtest.h>

#include <new>
#include <set>
#include <thread>

#include "db/store.h"
#include "runtime/backend.h"
#include "runtime/runtime.h"
#include "templates/manifest/catalog.h"

namespace smemtune {
namespace {

template <class Error>
smemtune_status status_for(const Error& error) {
    return status_of([&] { throw error; });
}

TEST(Status, EachKindOfFailureHasItsOwn) {
    EXPECT_EQ(status_of([] {}), SMEMTUNE_OK);
    EXPECT_EQ(status_for(std::invalid_argument("m")), SMEMTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(status_for(CallError(SMEMTUNE_INVALID_STRUCT, "m")), SMEMTUNE_INVALID_STRUCT);
    EXPECT_EQ(status_for(DeviceError("m")), SMEMTUNE_NO_DEVICE);
    EXPECT_EQ(status_for(DatabaseAbsent("m")), SMEMTUNE_NO_DATABASE);
    EXPECT_EQ(status_for(StoreError("m")), SMEMTUNE_DATABASE_ERROR);
    EXPECT_EQ(status_for(UntrustedFile("m")), SMEMTUNE_UNTRUSTED_FILE);
    EXPECT_EQ(status_for(ManifestError("m")), SMEMTUNE_INVALID_TEMPLATE);
    EXPECT_EQ(status_for(FetchError("m")), SMEMTUNE_NO_KERNEL);
    EXPECT_EQ(status_for(LaunchError("m")), SMEMTUNE_LAUNCH_REFUSED);
    EXPECT_EQ(status_for(DeviceFault("m")), SMEMTUNE_DEVICE_FAULT);
    EXPECT_EQ(status_for(OutOfMemory("m")), SMEMTUNE_OUT_OF_MEMORY) << "though it is a DeviceError";
    EXPECT_STREQ(smemtune_error_message(), "m");
    EXPECT_EQ(status_for(std::bad_alloc()), SMEMTUNE_OUT_OF_MEMORY);
    EXPECT_EQ(status_for(std::runtime_error("r")), SMEMTUNE_INTERNAL_ERROR);
    EXPECT_STREQ(smemtune_error_message(), "r");
    EXPECT_EQ(status_for(3), SMEMTUNE_INTERNAL_ERROR);
    EXPECT_STREQ(smemtune_error_message(), "an exception of an unknown type");
}

TEST(Status, TheMessageIsThatOfTheCallingThreadsLastFailure) {
    (void)status_for(std::runtime_error("here"));
    std::thread([] {
        EXPECT_STREQ(smemtune_error_message(), "");
        (void)status_for(std::runtime_error("there"));
        EXPECT_STREQ(smemtune_error_message(), "there");
    }).join();
    (void)status_of([] {});
    EXPECT_STREQ(smemtune_error_message(), "here");
}

TEST(Status, EachHasATextOfItsOwn) {
    std::set<std::string> texts;
    for (int status = SMEMTUNE_OK; status <= SMEMTUNE_INTERNAL_ERROR; ++status)
        texts.insert(smemtune_status_text(static_cast<smemtune_status>(status)));
    EXPECT_EQ(texts.size(), SMEMTUNE_INTERNAL_ERROR + 1U);
    EXPECT_FALSE(texts.contains("unknown status"));
    EXPECT_STREQ(smemtune_status_text(static_cast<smemtune_status>(SMEMTUNE_INTERNAL_ERROR + 1)), "unknown status");
}

}  // namespace
}  // namespace smemtune
