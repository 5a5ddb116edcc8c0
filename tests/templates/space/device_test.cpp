#include "templates/space/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace smemtune {
namespace {

using testing::HasSubstr;

std::string device_refusal(std::string_view specification) {
    try {
        return "is " + model_device(specification).name;
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

TEST(Device, EveryNamedModelIsComplete) {
    for (const auto* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
        const auto device = model_device(name);
        EXPECT_EQ(device.name, name);
        EXPECT_EQ("sm_" + std::to_string(device.compute_capability), name);
        EXPECT_FALSE(device.is_host());
        for (const auto& field : device_fields()) {
            const bool may_be_zero = field.name == "memory_bytes" || field.name == "shared_bytes_reserved_per_block";
            EXPECT_TRUE(may_be_zero || device.*field.member > 0) << name << " " << field.name;
        }
        // A block with the most shared memory fits on a multiprocessor together with the memory that the system
        // reserves for the block.
        EXPECT_LE(device.shared_bytes_per_block + device.shared_bytes_reserved_per_block,
                  device.shared_bytes_per_multiprocessor)
            << name;
    }
}

// The numbers come from "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide.
TEST(Device, ModelsHoldTheProgrammingGuidesNumbers) {
    const auto hopper = model_device("sm_90");
    EXPECT_EQ(hopper.shared_bytes_per_block, 227 * 1024);
    EXPECT_EQ(hopper.shared_bytes_per_multiprocessor, 228 * 1024);
    EXPECT_EQ(hopper.static_shared_bytes_per_block, 48 * 1024);
    EXPECT_EQ(hopper.threads_per_multiprocessor, 2048);
    EXPECT_EQ(hopper.blocks_per_multiprocessor, 32);
    EXPECT_EQ(hopper.registers_per_thread, 255);
    const auto turing = model_device("sm_75");
    EXPECT_EQ(turing.threads_per_multiprocessor, 1024);
    EXPECT_EQ(turing.shared_bytes_reserved_per_block, 0);
    EXPECT_EQ(model_device("sm_86").shared_bytes_per_block, 99 * 1024);
    EXPECT_EQ(model_device("sm_89").blocks_per_multiprocessor, 24);
}

TEST(Device, PeakCountsAMultiplyAddPerLaneAndClock) {
    EXPECT_NEAR(peak_fp32_flops(model_device("sm_90")) / 1e12, 66.9, 0.1);  // the data sheet of H100 SXM says 67
    EXPECT_NEAR(peak_fp32_flops(model_device("sm_80")) / 1e12, 19.5, 0.1);  // the data sheet of A100 says 19.5
    EXPECT_EQ(peak_fp32_flops(model_device("threads_per_block=256")), 0);
}

TEST(Device, LimitsGivenByHandChangeAModel) {
    const auto device = model_device("sm_90, shared_bytes_per_block=65536, multiprocessors=2");
    EXPECT_EQ(device.shared_bytes_per_block, 65536);
    EXPECT_EQ(device.multiprocessors, 2);
    EXPECT_EQ(device.threads_per_multiprocessor, 2048);
    EXPECT_NE(device.name, "sm_90");  // a model with changed limits has a different name
}

TEST(Device, OfLimitsGivenByHandAloneTheOthersDoNotLimit) {
    const auto device = model_device("threads_per_multiprocessor=1536,shared_bytes_per_multiprocessor=16384");
    EXPECT_EQ(device.threads_per_multiprocessor, 1536);
    EXPECT_EQ(device.shared_bytes_per_multiprocessor, 16384);
    EXPECT_EQ(device.warp_size, 32);
    EXPECT_EQ(device.shared_bytes_reserved_per_block, 0);
    for (auto member : {&Device::threads_per_block, &Device::blocks_per_multiprocessor, &Device::grid_y,
                        &Device::registers_per_block, &Device::shared_bytes_per_block}) {
        EXPECT_GE(device.*member, 1 << 30);
    }
}

TEST(Device, WhatIsNoDeviceIsRefusedWithWhatIsKnown) {
    EXPECT_THAT(device_refusal("sm_91"), testing::AllOf(HasSubstr("'sm_91' is not a known model"), HasSubstr("sm_90"),
                                                        HasSubstr("shared_bytes_per_block=65536")));
    EXPECT_THAT(device_refusal(""), HasSubstr("not a known model"));
    EXPECT_THAT(device_refusal("SM_90"), HasSubstr("not a known model"));
    EXPECT_THAT(device_refusal("sm_90,threads=3"),
                testing::AllOf(HasSubstr("'threads' is unknown"), HasSubstr("threads_per_block")));
    EXPECT_THAT(device_refusal("sm_90,threads_per_block"), HasSubstr("'threads_per_block' is not NAME=VALUE"));
    EXPECT_THAT(device_refusal("sm_90,threads_per_block=many"), HasSubstr("'threads_per_block=many'"));
    EXPECT_THAT(device_refusal("grid_x=1,grid_x=2"), HasSubstr("'grid_x' is given twice"));
}

TEST(Device, LimitsThatNoArithmeticCouldUseAreRefused) {
    EXPECT_THAT(device_refusal("sm_90,grid_x=-1"), HasSubstr("'grid_x' is not in 0.."));
    EXPECT_THAT(device_refusal("sm_90,warp_size=0"), HasSubstr("'warp_size' is not in 1.."));
    EXPECT_THAT(device_refusal("sm_90,shared_bytes_reserved_per_block=9223372036854775807"),
                HasSubstr("is not in 0.."));
}

TEST(Device, FieldsAreNamedOnceAndGiveTheEnvironment) {
    Device device;
    std::set<std::string_view> names;
    std::int64_t number = 100;
    for (const auto& field : device_fields()) {
        names.insert(field.name);
        device.*field.member = ++number;
    }
    EXPECT_EQ(names.size(), device_fields().size());
    const auto environment = environment_of(device);
    EXPECT_EQ(environment.size(), names.size());
    for (const auto& field : device_fields()) {
        EXPECT_EQ(environment.at("device." + std::string(field.name)), device.*field.member) << field.name;
    }
}

// The numbers come from "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide. L2 cache
// and peak come from a GPU's data sheet: Titan RTX, A100, RTX 3090 Ti, RTX 4090, H100 SXM, B200, RTX 5090.
TEST(Device, EachModelHasTheNumbersOfItsComputeCapability) {
    struct Row {
        const char* name;
        std::int64_t threads, blocks, shared_kib, block_kib, reserved, l2_mib;
        double peak_tflops;
    };
    for (const auto& row :
         {Row{"sm_75", 1024, 16, 64, 64, 0, 6, 16.3}, Row{"sm_80", 2048, 32, 164, 163, 1024, 40, 19.5},
          Row{"sm_86", 1536, 16, 100, 99, 1024, 6, 40.0}, Row{"sm_89", 1536, 24, 100, 99, 1024, 72, 82.6},
          Row{"sm_90", 2048, 32, 228, 227, 1024, 50, 66.9}, Row{"sm_100", 2048, 32, 228, 227, 1024, 126, 74.4},
          Row{"sm_120", 1536, 24, 100, 99, 1024, 96, 104.8}}) {
        const auto device = model_device(row.name);
        EXPECT_EQ(device.threads_per_multiprocessor, row.threads) << row.name;
        EXPECT_EQ(device.blocks_per_multiprocessor, row.blocks) << row.name;
        EXPECT_EQ(device.shared_bytes_per_multiprocessor, row.shared_kib * 1024) << row.name;
        EXPECT_EQ(device.shared_bytes_per_block, row.block_kib * 1024) << row.name;
        EXPECT_EQ(device.shared_bytes_reserved_per_block, row.reserved) << row.name;
        EXPECT_EQ(device.l2_bytes, row.l2_mib << 20) << row.name;
        EXPECT_NEAR(peak_fp32_flops(device) / 1e12, row.peak_tflops, 0.06) << row.name;
        EXPECT_EQ(device.warp_size, 32);
        EXPECT_EQ(device.threads_per_block, 1024);
        EXPECT_EQ(device.static_shared_bytes_per_block, 48 * 1024);
        EXPECT_EQ(device.registers_per_thread, 255);
        EXPECT_EQ(device.registers_per_block, 64 * 1024);
        EXPECT_EQ(device.registers_per_multiprocessor, 64 * 1024);
        EXPECT_EQ(device.grid_x, 2147483647);
        EXPECT_EQ(device.grid_y, 65535);
        EXPECT_EQ(device.grid_z, 65535);
        EXPECT_EQ(device.memory_bytes, 0) << "unknown";
    }
    EXPECT_EQ(peak_fp32_flops(model_device("sm_90,compute_capability=85")), 0);
    EXPECT_EQ(peak_fp32_flops(model_device("sm_90,compute_capability=74")), 0);
    EXPECT_GT(peak_fp32_flops(model_device("sm_90,compute_capability=86")), 0);
}

TEST(Device, TheNameSaysWhetherLimitsWereGivenByHandOrItIsChecked) {
    EXPECT_EQ(model_device("sm_90,grid_x=1").name, "sm_90 with limits given by hand");
    EXPECT_EQ(model_device("sm_90,").name, "sm_90");
    EXPECT_EQ(model_device("grid_x=1").name, "limits given by hand");
    EXPECT_TRUE(model_device("grid_x=1").is_host());
    const auto device = model_device("sm_90");
    EXPECT_EQ(checked(device).name, "sm_90 (checked)");
    EXPECT_TRUE(is_checked(checked(device)));
    EXPECT_FALSE(is_checked(device));
    auto same = checked(device);
    same.name = device.name;
    EXPECT_EQ(same, device);
}

TEST(Device, LimitsAreTakenUpToTheirBordersAndRefusedBeyond) {
    EXPECT_EQ(model_device("sm_90,grid_x=0").grid_x, 0);
    EXPECT_EQ(model_device("sm_90,grid_x=1125899906842624").grid_x, std::int64_t{1} << 50);
    EXPECT_EQ(device_refusal("sm_90,grid_x=1125899906842625"), "device limit 'grid_x' is not in 0..1125899906842624");
    EXPECT_EQ(model_device("sm_90,warp_size=1").warp_size, 1);
    EXPECT_EQ(model_device("sm_90,warp_size=1024").warp_size, 1024);
    EXPECT_EQ(device_refusal("sm_90,warp_size=1025"), "device limit 'warp_size' is not in 1..1024");
    EXPECT_EQ(device_refusal("sm_90,grid_x=1.5"),
              "device: 'grid_x=1.5' is not NAME=INTEGER; write for example sm_90,multiprocessors=66");
    EXPECT_EQ(
        device_refusal("sm_9"),
        "device 'sm_9' is not a known model; known: sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; or give limits by "
        "hand, e.g. sm_90,shared_bytes_per_block=65536");
    const auto alone = model_device("multiprocessors=0");
    for (const auto& field : device_fields()) {
        EXPECT_THAT(device_refusal("x=1"), HasSubstr(" " + std::string(field.name)));
        const auto given = model_device(std::string(field.name) + "=7");
        for (const auto& other : device_fields()) {
            EXPECT_EQ(given.*other.member, other.name == field.name ? 7 : alone.*other.member)
                << field.name << " " << other.name;
        }
    }
    for (auto member : {&Device::l2_bytes, &Device::memory_bytes, &Device::clock_khz, &Device::compute_capability,
                        &Device::shared_bytes_reserved_per_block}) {
        EXPECT_EQ(alone.*member, 0);
    }
    EXPECT_EQ(alone.grid_z, 2147483647);
}

}  // namespace
}  // namespace smemtune
