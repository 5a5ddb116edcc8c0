// Measures the gain of Options::measure_first_calls at sizes that nobody tuned. The sizes come from standard input
// (MxNxK, one per line). For each size, prints the kernel that is used first and the kernel that is used after the
// first calls, each with its device time. Successive launches use different sets of operands: enough sets to exceed
// twice the size of the L2 cache, but at most 64. Prints members of a JSON object for bench/record.sh.
//
//     first_calls_bench DATABASE DEVICE [LAYOUT [CANDIDATES]] <SIZES
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <vector>

#include "runtime/inspector.h"
#include "runtime/runtime.h"
#include "util/statistics.h"

namespace {

using namespace smemtune;

constexpr std::size_t most_sets = 64;  // the same limit as in `smemtune bench`

class Fetched : public BoundKernel {
public:
    explicit Fetched(Kernel kernel) : kernel_(std::move(kernel)) {}
    void launch(StreamHandle stream, std::span<void* const> arguments) const override {
        kernel_.launch(stream, arguments);
    }

private:
    Kernel kernel_;
};

struct Product {
    std::array<std::unique_ptr<Memory>, 3> matrices;
    int m, n, k;
    float alpha = 1, beta = 0;
    long long lda, ldb, ldc;
    std::array<void*, 3> data{};

    Product(Backend& backend, const std::array<int, 3>& size, const std::string& layout)
        : m(size[0]), n(size[1]), k(size[2]), lda(layout[0] == 't' ? m : k), ldb(layout[1] == 't' ? k : n), ldc(n) {
        const std::array<std::size_t, 3> elements{std::size_t(m) * std::size_t(k), std::size_t(k) * std::size_t(n),
                                                  std::size_t(m) * std::size_t(n)};
        for (std::size_t i = 0; i < 3; ++i) {
            matrices[i] = backend.allocate_zeroed(elements[i] * sizeof(float));
            data[i] = matrices[i]->data();
        }
    }
    [[nodiscard]] static std::size_t bytes(const std::array<int, 3>& size) {
        const auto [m, n, k] = std::array{std::size_t(size[0]), std::size_t(size[1]), std::size_t(size[2])};
        return (m * k + k * n + m * n) * sizeof(float);
    }
    std::vector<void*> arguments() {
        return {&m,
                &n,
                &k,
                &alpha,
                static_cast<void*>(&data[0]),
                &lda,
                static_cast<void*>(&data[1]),
                &ldb,
                &beta,
                static_cast<void*>(&data[2]),
                &ldc};
    }
};

// Returns the time of one launch in microseconds: the median over batches of about two milliseconds.
double device_us(Backend& backend, const Kernel& kernel, std::vector<Product>& products) {
    const Fetched fetched(kernel);
    std::vector<Backend::Call> batch{{&fetched, products.front().arguments()}};
    const auto once = backend.time_us(batch);
    const auto launches = static_cast<std::size_t>(std::clamp(2000 / once, 2.0, 100.0));
    while (batch.size() < launches) {
        batch.push_back({&fetched, products[batch.size() % products.size()].arguments()});
    }
    std::vector<double> times;
    for (int i = 0; i < 7; ++i) times.push_back(backend.time_us(batch) / static_cast<double>(batch.size()));
    return median(times);
}

std::string text_of(const Choice& choice) {
    return fmt::format("{} {} {}", to_text(choice.match), choice.kernel_template, choice.configuration);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv, argv + argc);
    if (argc < 3) {
        std::cerr << "usage: first_calls_bench DATABASE DEVICE [LAYOUT [CANDIDATES]] <SIZES\n";
        return 2;
    }
    const std::string layout = argc > 3 ? arguments[3] : "nn";
    const std::size_t candidates = argc > 4 ? std::stoul(arguments[4]) : 3;
    Runtime plain({.database = arguments[1], .device = arguments[2]});
    Runtime measuring(
        {.database = arguments[1], .device = arguments[2], .measure_first_calls = {.candidates = candidates}});
    auto& backend = RuntimeInspector::backend(plain);
    backend.make_current();  // launches on the default stream run on the current GPU
    fmt::print("  \"layout\": \"{}\", \"candidates\": {}, \"sizes\": [\n", layout, candidates);
    const char* separator = "";
    for (std::string line; std::getline(std::cin, line);) {
        std::array<int, 3> size{};
        if (std::sscanf(line.c_str(), "%dx%dx%d", &size[0], &size[1], &size[2]) != 3) continue;
        const auto problem = gemm(size[0], size[1], size[2], "f32", layout);
        const auto l2_bytes = static_cast<std::size_t>(backend.device().l2_bytes);
        const auto sets = std::clamp<std::size_t>(2 * l2_bytes / Product::bytes(size) + 1, 1, most_sets);
        std::vector<Product> products;
        products.reserve(sets);
        while (products.size() < sets) products.emplace_back(backend, size, layout);
        const auto first = plain.fetch(problem);
        const auto kernel = measuring.fetch(problem);
        for (std::size_t call = 0; call < candidates; ++call) {
            kernel.launch(nullptr, products[call % sets].arguments());
        }
        backend.synchronize();
        kernel.launch(nullptr, products.front().arguments());  // all times are known, so this call chooses the kernel
        const auto before = device_us(backend, first, products);
        const auto after = device_us(RuntimeInspector::backend(measuring), kernel, products);
        fmt::print(
            "{}    {{\"size\": \"{}\", \"first_us\": {:.2f}, \"then_us\": {:.2f}, \"first\": \"{}\", \"then\": "
            "\"{}\", \"why\": \"{}\"}}",
            separator, line, before, after, text_of(first.choice()), text_of(kernel.choice()), kernel.choice().why);
        separator = ",\n";
    }
    fmt::print("\n  ]\n");
    return 0;
}
