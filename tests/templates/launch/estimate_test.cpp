#include "templates/launch/estimate.h"

#include <gtest/gtest.h>

#include "templates/manifest/catalog.h"
#include "tests/templates/launch/support.h"

namespace smemtune {
namespace {

KernelTemplate gemm_template(const std::string& name) {
    for (auto& kernel : load_templates(builtin_sources())) {
        if (kernel.name == name) return kernel;
    }
    throw std::runtime_error(name);
}

double estimate(const std::string& name, std::map<std::string, std::int64_t> values, std::int64_t size) {
    const auto kernel = gemm_template(name);
    auto configuration = default_configuration(kernel);
    for (const auto& [parameter, value] : values) configuration.values[parameter] = value;
    return estimated_us(kernel, configuration, gemm(size, size, size), model_device("sm_90")).value();
}

TEST(Estimate, AWiderTileIsExpectedToBeFasterWhereItFillsTheDevice) {
    EXPECT_LT(estimate("tiled", {{"TILE_WIDTH", 32}}, 4096), estimate("tiled", {{"TILE_WIDTH", 8}}, 4096));
}

TEST(Estimate, ATileTooWideForASmallProblemIsExpectedToBeSlower) {
    const auto small = std::map<std::string, std::int64_t>{{"TSZ_ROWS", 64}, {"TSZ_COLS", 16}, {"TSZ_STRIPS", 8}};
    const auto large = std::map<std::string, std::int64_t>{{"TSZ_ROWS", 256}, {"TSZ_COLS", 64}, {"TSZ_STRIPS", 8}};
    EXPECT_LT(estimate("joint_tiled", small, 256), estimate("joint_tiled", large, 256))
        << "four blocks leave most multiprocessors idle";
}

TEST(Estimate, ItIsNoLessThanThePeakAllows) {
    for (const auto size : {1024, 4096}) {
        const auto peak_us = 2.0 * size * size * size / peak_fp32_flops(model_device("sm_90")) * 1e6;
        EXPECT_GE(estimate("joint_tiled", {}, size), 0.99 * peak_us);
    }
}

// If a grid has one block more than fit on the device at once, it needs a second wave.
TEST(Estimate, OneBlockMoreThanAWaveCostsAnotherWave) {
    const auto kernel = gemm_template("tiled");
    auto device = model_device("sm_90");
    device.multiprocessors = 4;
    const auto us = [&](std::int64_t rows) {
        return estimated_us(kernel, {{{"TILE_WIDTH", 32}}}, gemm(rows, 32, 512), device).value();
    };
    const auto full = 4 * 2 * 32;  // rows of a full wave: two blocks of 1024 threads on each of four multiprocessors
    EXPECT_DOUBLE_EQ(us(full - 32), us(full));
    EXPECT_GT(us(full + 32), 1.4 * us(full));
}

// A phase takes as long as its longest part.
TEST(Estimate, WhatTakesLongestInAPhaseDecides) {
    const auto tiled = gemm_template("tiled");
    const auto us = [&](auto set) {
        auto kernel = tiled;
        set(*kernel.model);
        return estimated_us(kernel, default_configuration(kernel), gemm(64, 64, 64), model_device("sm_90")).value();
    };
    const auto usual = us([](Model&) {});
    for (const auto member : {&Model::loads_per_phase, &Model::operations_per_phase, &Model::barriers_per_phase,
                              &Model::shared_loads_per_phase}) {
        const auto million = us([&](Model& model) { model.*member = Expression("1000000"); });
        const auto two_million = us([&](Model& model) { model.*member = Expression("2000000"); });
        EXPECT_GT(million, 2 * usual);
        EXPECT_NEAR(two_million, 2 * million, 0.01 * million);
    }
}

TEST(Estimate, WithoutAModelOrOnADeviceTooSmallThereIsNone) {
    auto kernel = gemm_template("tiled");
    const auto problem = gemm(64, 64, 64);
    auto tiny = model_device("sm_90");
    tiny.threads_per_block = 16;
    EXPECT_FALSE(estimated_us(kernel, default_configuration(kernel), problem, tiny));
    kernel.model.reset();
    EXPECT_FALSE(estimated_us(kernel, default_configuration(kernel), problem, model_device("sm_90")));
}

TEST(ModelValues, AreTheTextbooksForATile) {
    const auto tiled = gemm_template("tiled");
    const auto device = model_device("sm_90");
    const auto small = model_values(tiled, tile(16), gemm(1024, 1024, 1000), device);
    EXPECT_EQ(launch_of(tiled, tile(16), gemm(1024, 1024, 1000), device).shared_bytes(), 2 * 1024);
    EXPECT_EQ(small.phases, 63);
    EXPECT_EQ(small.loads_per_phase, 512);
    EXPECT_EQ(small.operations_per_phase, 8192);
    EXPECT_EQ(small.barriers_per_phase, 2);
    EXPECT_EQ(small.operations_per_load(), 16);
    const auto large = model_values(tiled, tile(32), gemm(1024, 1024, 1000), device);
    EXPECT_EQ(launch_of(tiled, tile(32), gemm(1024, 1024, 1000), device).shared_bytes(), 8 * 1024);
    EXPECT_EQ(large.loads_per_phase, 2048);
    EXPECT_EQ(large.operations_per_phase, 65536);
    EXPECT_EQ(large.operations_per_load(), 32);
}

TEST(ModelValues, AreZeroWithoutAModel) {
    auto tiled = gemm_template("tiled");
    tiled.model.reset();
    const auto reuse = model_values(tiled, tile(16), gemm(8, 8, 8), model_device("sm_90"));
    EXPECT_EQ(reuse.loads_per_phase, 0);
    EXPECT_EQ(reuse.operations_per_load(), 0);
}

// Estimates launches whose phases have work for one resource only. The time follows from the rates in
// templates/launch/hardware_rates.h.
TEST(Estimate, EachPartTakesWhatTheHeaderSays) {
    auto kernel = gemm_template("tiled");
    for (const auto member : {&Model::phases, &Model::loads_per_phase, &Model::operations_per_phase,
                              &Model::barriers_per_phase, &Model::shared_loads_per_phase}) {
        (*kernel.model).*member = Expression("0");
    }
    auto device = model_device("sm_90");
    device.clock_khz = 1'000'000;  // a cycle takes a nanosecond
    const auto us = [&](const char* phases, Expression Model::*member, const char* amount, std::int64_t rows = 32) {
        auto changed = kernel;
        changed.model->phases = Expression(phases);
        (*changed.model).*member = Expression(amount);
        return estimated_us(changed, {{{"TILE_WIDTH", 32}}}, gemm(rows, 32, 32), device).value();
    };
    EXPECT_DOUBLE_EQ(us("1", &Model::barriers_per_phase, "0"), 0.6) << "the memory's latency";
    EXPECT_DOUBLE_EQ(us("5", &Model::barriers_per_phase, "2"), 5 * 0.66);
    EXPECT_DOUBLE_EQ(us("1", &Model::operations_per_phase, "256000"), 1) << "128 lanes that multiply and add";
    EXPECT_DOUBLE_EQ(us("3", &Model::operations_per_phase, "256000"), 3);
    EXPECT_DOUBLE_EQ(us("1", &Model::loads_per_phase, "16000"), 1) << "16 floats, 64 bytes";
    EXPECT_DOUBLE_EQ(us("1", &Model::shared_loads_per_phase, "32000"), 1);
    kernel.model->phases = Expression("1");
    kernel.model->loads_per_phase = Expression("32000");
    EXPECT_DOUBLE_EQ(estimated_us(kernel, {{{"TILE_WIDTH", 32}}}, gemm(32, 32, 32, "f16"), device).value(), 1)
        << "32 numbers of 16 bits, 64 bytes";
    kernel.model->loads_per_phase = Expression("0");
    // Two blocks of 1024 threads fit on a multiprocessor and share its rates. A third block waits.
    device.multiprocessors = 1;
    EXPECT_DOUBLE_EQ(us("1", &Model::operations_per_phase, "256000", 64), 2);
    EXPECT_DOUBLE_EQ(us("1", &Model::operations_per_phase, "256000", 96), 4);
    EXPECT_DOUBLE_EQ(us("1", &Model::barriers_per_phase, "0", 64), 0.6);
    EXPECT_DOUBLE_EQ(us("1", &Model::barriers_per_phase, "0", 96), 1.2);
    device.clock_khz = 0;
    EXPECT_DOUBLE_EQ(us("1", &Model::barriers_per_phase, "0"), 0.6) << "in thousands of cycles";
    device.compute_capability = 0;
    EXPECT_DOUBLE_EQ(us("1", &Model::barriers_per_phase, "0", 64), 1.2) << "on the host, one block at a time";
}

}  // namespace
}  // namespace smemtune
