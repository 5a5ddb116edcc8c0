// A simulated device whose times the test decides.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/backend.h"
#include "templates/manifest/catalog.h"
#include "tuner/trial/testbed.h"

namespace smemtune {

/// The host device with a clock frequency and an L2 cache, which the test sets. The test also decides how long a batch
/// takes.
class Scripted : public Backend {
public:
    explicit Scripted(std::int64_t l2_bytes = 0) : device_(host_->device()) { device_.l2_bytes = l2_bytes; }

    std::function<double(const BoundKernel*)> launch_us = [](const BoundKernel*) { return 1.0; };
    std::function<void(const Call&)> after = [](const Call&) {};  ///< called after each launch of a batch
    std::function<std::int64_t()> clock = [] { return 0; };
    std::function<double(const BoundKernel*)> launch_uj = [](const BoundKernel*) { return 0.0; };
    std::vector<const BoundKernel*> batches;  ///< the kernel of each timed batch, in order

    [[nodiscard]] std::size_t free_bytes() override { return host_->free_bytes(); }
    [[nodiscard]] const Device& device() const override { return device_; }
    [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Binary& binary, std::int64_t dynamic) override {
        return host_->load(binary, dynamic);
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return host_->allocate(bytes); }
    [[nodiscard]] std::unique_ptr<Memory> allocate_zeroed(std::size_t bytes) override {
        return host_->allocate_zeroed(bytes);
    }
    void fill_with_zeros(std::byte* at, std::size_t bytes, StreamHandle stream) override {
        host_->fill_with_zeros(at, bytes, stream);
    }
    void copy_to_device(Memory& to, std::span<const std::byte> from) override { host_->copy_to_device(to, from); }
    void copy_to_host(std::span<std::byte> to, const Memory& from) override { host_->copy_to_host(to, from); }
    void synchronize() override {}
    [[nodiscard]] double time_us(std::span<const Call> calls) override {
        for (const auto& call : calls) {
            call.kernel->launch(nullptr, call.arguments);
            after(call);
        }
        batches.push_back(calls.front().kernel);
        return launch_us(batches.back()) * static_cast<double>(calls.size());
    }
    [[nodiscard]] std::int64_t clock_khz() override { return clock(); }
    [[nodiscard]] double energy_uj(std::span<const Call> calls) override { return launch_uj(calls.front().kernel); }

private:
    std::unique_ptr<Backend> host_ = open_backend("host");
    Device device_;
};

/// A kernel that writes nothing.
class Idle : public BoundKernel {
public:
    void launch(StreamHandle, std::span<void* const>) const override {}
};

inline const KernelTemplate& template_of(const std::string& operation) {
    static const auto& templates = builtin_templates();
    return *std::ranges::find(templates, operation, [](const KernelTemplate& each) { return each.operation.name; });
}

/// Returns a testbed for matrix products of 24x24x24 on `backend`.
inline Testbed testbed_on(Backend& backend) {
    static const auto compiler = make_compiler(find_device("host").device, {.host_compiler = SMEMTUNE_CXX});
    static const auto binaries = compile_testbed(*compiler, template_of("gemm"), gemm(24, 24, 24));
    return {backend, template_of("gemm").operation, gemm(24, 24, 24), binaries, 1};
}

}  // namespace smemtune
