#include "db/portfolio/portfolio_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "templates/manifest/catalog.h"
#include "templates/manifest/section.h"
#include "templates/predict/correction.h"

namespace smemtune {

namespace {

constexpr std::int64_t text_format = 1;

// Values beyond these limits are typing errors, and predictions from them would overflow.
constexpr double largest_number = 1e9;             // of coefficients and errors
constexpr std::int64_t largest_residual = 20'000;  // in thousandths of log(measured / modelled time)
constexpr std::int64_t largest_extent = 2'147'483'647;

constexpr auto introduction =
    R"(# A portfolio: a few dozen configurations, each with a model of its time in microseconds. For every size, one of them is
# meant to be near the best (docs/design.md). Written by 'smemtune db export --portfolio-text'. The build compiles the
# configurations for the system's database. `code` is the SHA-256 of the machine code that was verified on the device
# below. `residuals` are the logarithms of measured over modelled times at `problems`, in thousandths.
)";

// Writes a string or a list of strings in TOML, which has the same notation for them as JSON.
std::string in_toml(const nlohmann::json& value) { return value.dump(); }

// Writes a number with six digits, which are far more precise than a measurement. A whole number gets the fraction .0,
// because 1 is not a floating-point number in TOML.
std::string toml_number(double value) {
    std::array<char, 40> text{};
    (void)std::snprintf(text.data(), text.size(), "%.6g", value);
    return nlohmann::json(std::strtod(text.data(), nullptr)).dump();
}

// Writes the coefficients that are not 0, with the names of their terms.
std::string coefficients_text(const Terms& coefficients) {
    std::string text;
    for (std::size_t i = 0; i < term_count; ++i) {
        if (coefficients[i] == 0) continue;
        text += (text.empty() ? "" : ", ") + std::string(term_names[i]) + " = " + toml_number(coefficients[i]);
    }
    return "{" + (text.empty() ? "" : " " + text + " ") + "}";
}

using Places = std::vector<std::vector<std::int64_t>>;

// Returns the extents of each problem at which at least one member was measured.
Places places_of(const PortfolioText& portfolio) {
    Places places;
    std::set<std::vector<std::int64_t>> known;
    for (const auto& row : portfolio.members) {
        for (const auto& residual : row.member.model.residuals) {
            auto extents = extents_at(residual.place);
            if (known.insert(extents).second) places.push_back(std::move(extents));
        }
    }
    return places;
}

// Returns a text such as 64x128x256.
std::string place_text(const std::vector<std::int64_t>& extents) {
    std::string text;
    for (const auto extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

// Writes a member's residual at each problem, in whole thousandths, because measured times are not more precise than
// that. A dash stands for a problem at which the member was not measured.
std::string residuals_text(const std::vector<Residual>& residuals, const Places& places) {
    std::map<std::vector<std::int64_t>, double> known;
    for (const auto& residual : residuals) known[extents_at(residual.place)] = residual.log_ratio;
    std::string text;
    for (const auto& place : places) {
        const auto found = known.find(place);
        text += (text.empty() ? "" : " ") +
                (found == known.end() ? "-" : std::to_string(std::lround(1000 * found->second)));
    }
    return text;
}

std::string member_text(const PortfolioRow& row, const PortfolioText& portfolio, const Places& places) {
    // If PortfolioMember or TimeModel gets a new field, these structured bindings no longer compile. Then write the
    // field here, and read it in class Reader.
    const auto& [kernel_template, configuration, model, registers, static_shared_bytes, classes, verified_by, code] =
        row.member;
    const auto& [coefficients, error, residuals] = model;
    auto text = "\n[[member]]\ntemplate = " + in_toml(row.kernel_template) +
                "\nconfiguration = " + in_toml(to_text(configuration)) + "\nclasses = " + in_toml(classes) +
                "\ncoefficients = " + coefficients_text(coefficients) + "\nerror = " + toml_number(error) +
                "\nregisters = " + std::to_string(registers) +
                "\nstatic_shared_bytes = " + std::to_string(static_shared_bytes) + "\ncode = " + in_toml(code) + "\n";
    if (!residuals.empty()) text += "residuals = " + in_toml(residuals_text(residuals, places)) + "\n";
    // The head of the text has the template hashes and the first member's `verified_by`. A member's entry has these
    // values only if they differ from those of the head.
    const auto& first = portfolio.members.front();
    if (verified_by != first.member.verified_by) text += "verified_by = " + in_toml(verified_by) + "\n";
    const auto same_name = std::ranges::find(portfolio.members, row.kernel_template, &PortfolioRow::kernel_template);
    if (row.template_hash != same_name->template_hash) text += "template_hash = " + in_toml(row.template_hash) + "\n";
    return text;
}

class Reader {
public:
    Reader(const std::string& path, const toml::table& table) : path_(path), root_(path, "the portfolio", table) {}

    PortfolioText read() {
        root_.allow_only({"format", "operation", "type", "layout", "target", "compiler", "toolchain", "measured_at",
                          "commit", "terms_version", "verified_by", "problems", "device", "templates", "member"});
        require("format", text_format, "this smemtune reads");
        require("terms_version", terms_version, "the models of this smemtune have");
        const auto optional = [&](const char* key) { return root_.value_or<std::string>(key, "\"...\"", ""); };
        PortfolioText result{.device = read_device(),
                             .operation = text(root_, "operation"),
                             .type = text(root_, "type"),
                             .layout = optional("layout"),
                             .target = text(root_, "target"),
                             .compiler = text(root_, "compiler"),
                             .toolchain = optional("toolchain"),
                             .measured_at = optional("measured_at"),
                             .commit = optional("commit"),
                             .members = {}};
        read_places();
        const auto& templates = root_.table_at("templates", "{ tiled = \"hash\" }");
        const Section hashes(path_, "[templates]", templates);
        std::set<std::string> known;
        for (const auto& section : root_.sections("member", "[[member]]")) {
            auto row = read_member(section, hashes);
            const auto name = row.kernel_template + " " + to_text(row.member.configuration);
            if (!known.insert(name).second) root_.fail("has the [[member]] " + name + " twice");
            result.members.push_back(std::move(row));
        }
        if (result.members.empty()) root_.fail("has no [[member]]");
        return result;
    }

private:
    [[noreturn]] static void fail(const Section& section, const std::string& key, const std::string& what) {
        section.fail_at(key, "'" + key + "' " + what);
    }

    static std::string text(const Section& section, const std::string& key) {
        auto value = section.value<std::string>(key, "\"...\"");
        if (value.empty()) fail(section, key, "is empty");
        return value;
    }

    void require(const char* key, std::int64_t wanted, const char* who) const {
        const auto found = root_.value<std::int64_t>(key, std::to_string(wanted));
        if (found == wanted) return;
        fail(root_, key,
             "is " + std::to_string(found) + ", and " + who + " " + std::to_string(wanted) +
                 "; export the portfolio again with this smemtune");
    }

    [[nodiscard]] Device read_device() const {
        const auto& table = root_.table_at("device", "{ name = \"...\" }");
        const Section section(path_, "[device]", table);
        std::set<std::string> known{"name"};
        Device device{.name = text(section, "name")};
        for (const auto& field : device_fields()) {
            const std::string name(field.name);
            known.insert(name);
            device.*field.member = section.value<std::int64_t>(name, "1");
            if (device.*field.member < 0) fail(section, name, "is negative");
        }
        section.allow_only(known);
        if (device.warp_size == 0) fail(section, "warp_size", "is 0");
        return device;
    }

    static double not_negative(const Section& section, const std::string& key) {
        const auto value = section.value<double>(key, "0.5");
        if (!(value >= 0 && value <= largest_number)) fail(section, key, "is not a number from 0 to 1e9");
        return value;
    }

    static std::int64_t whole_number(const Section& section, const std::string& key, const std::string& word) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size()) {
            fail(section, key, "has '" + word + "', which is no whole number");
        }
        return value;
    }

    void read_places() {
        if (!root_.has("problems")) return;
        std::set<std::vector<double>> known;
        for (const auto& text : root_.list<std::string>("problems", "[\"64x128x256\"]")) {
            std::vector<double> place;
            for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
                end = std::min(text.find('x', begin), text.size());
                const auto word = text.substr(begin, end - begin);
                const auto extent = whole_number(root_, "problems", word);
                if (extent < 1 || extent > largest_extent) {
                    fail(root_, "problems",
                         "has the extent " + word + "; extents are 1 to " + std::to_string(largest_extent));
                }
                place.push_back(std::log(static_cast<double>(extent)));
            }
            if (!places_.empty() && place.size() != places_.front().size()) {
                fail(root_, "problems", "has '" + text + "', whose number of extents differs from the first problem's");
            }
            if (!known.insert(place).second) fail(root_, "problems", "has '" + text + "' twice");
            places_.push_back(std::move(place));
        }
    }

    [[nodiscard]] std::vector<Residual> read_residuals(const Section& section) const {
        if (!section.has("residuals")) return {};
        std::vector<Residual> residuals;
        std::istringstream words(text(section, "residuals"));
        std::size_t count = 0;
        for (std::string word; words >> word; ++count) {
            if (word == "-" || count >= places_.size()) continue;
            const auto thousandths = whole_number(section, "residuals", word);
            if (thousandths < -largest_residual || thousandths > largest_residual) {
                fail(section, "residuals",
                     "has " + word + "; residuals are " + std::to_string(-largest_residual) + " to " +
                         std::to_string(largest_residual));
            }
            residuals.push_back({places_[count], static_cast<double>(thousandths) / 1000});
        }
        if (count != places_.size()) {
            fail(section, "residuals",
                 "has " + std::to_string(count) + " numbers for " + std::to_string(places_.size()) + " problems");
        }
        return residuals;
    }

    [[nodiscard]] Terms read_coefficients(const Section& member) const {
        const auto& table = member.table_at("coefficients", "{ launch = 2.5 }");
        const Section section(path_, "coefficients", table);
        section.allow_only({term_names.begin(), term_names.end()});
        Terms coefficients{};
        for (std::size_t i = 0; i < term_count; ++i) {
            const std::string name(term_names[i]);
            if (section.has(name)) coefficients[i] = not_negative(section, name);
        }
        return coefficients;
    }

    [[nodiscard]] PortfolioRow read_member(const Section& section, const Section& hashes) const {
        section.allow_only({"template", "configuration", "classes", "coefficients", "error", "registers",
                            "static_shared_bytes", "code", "residuals", "verified_by", "template_hash"});
        PortfolioRow row{.member = {}, .kernel_template = text(section, "template"), .template_hash = {}};
        row.template_hash =
            section.has("template_hash") ? text(section, "template_hash") : text(hashes, row.kernel_template);
        auto& member = row.member;
        try {
            member.configuration = parse_configuration(text(section, "configuration"));
        } catch (const std::invalid_argument& error) {
            fail(section, "configuration", std::string("cannot be read: ") + error.what());
        }
        member.classes = section.list<std::string>("classes", "[\"111\"]");
        member.model = {.coefficients = read_coefficients(section),
                        .error = not_negative(section, "error"),
                        .residuals = read_residuals(section)};
        const auto count = [&](const char* key) {
            const auto value = section.value<std::int64_t>(key, "0");
            if (value < 0) fail(section, key, "is negative");
            return value;
        };
        member.registers = count("registers");
        member.static_shared_bytes = count("static_shared_bytes");
        member.code_hash = text(section, "code");
        member.verified_by = text(section.has("verified_by") ? section : root_, "verified_by");
        return row;
    }

    const std::string& path_;
    Section root_;
    std::vector<std::vector<double>> places_;
};

}  // namespace

std::string to_toml(const PortfolioText& portfolio) {
    if (portfolio.members.empty()) throw std::invalid_argument("a portfolio without members is no portfolio");
    std::string text = introduction;
    const auto line = [&](const std::string& key, const std::string& value) { text += key + " = " + value + "\n"; };
    const auto known = [&](const std::string& key, const std::string& value) {
        if (!value.empty()) line(key, in_toml(value));
    };
    line("format", std::to_string(text_format));
    line("terms_version", std::to_string(terms_version));
    line("operation", in_toml(portfolio.operation));
    line("type", in_toml(portfolio.type));
    known("layout", portfolio.layout);
    line("target", in_toml(portfolio.target));
    line("compiler", in_toml(portfolio.compiler));
    known("toolchain", portfolio.toolchain);
    known("measured_at", portfolio.measured_at);
    known("commit", portfolio.commit);
    line("verified_by", in_toml(portfolio.members.front().member.verified_by));
    const auto places = places_of(portfolio);
    if (!places.empty()) {
        std::vector<std::string> measured;
        for (const auto& place : places) measured.push_back(place_text(place));
        line("problems", in_toml(measured));
    }
    text += "\n[device]\n";
    line("name", in_toml(portfolio.device.name));
    for (const auto& field : device_fields()) {
        line(std::string(field.name), std::to_string(portfolio.device.*field.member));
    }
    text += "\n[templates]\n";
    std::set<std::string> named;
    for (const auto& row : portfolio.members) {
        if (named.insert(row.kernel_template).second) line(in_toml(row.kernel_template), in_toml(row.template_hash));
    }
    for (const auto& row : portfolio.members) text += member_text(row, portfolio, places);
    return text;
}

PortfolioText parse_portfolio_text(const std::string& path, const std::string& text) {
    const auto table = parse_toml(path, text);
    return Reader(path, table).read();
}

}  // namespace smemtune
