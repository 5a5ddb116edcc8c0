#include "tuner/page/page.h"

#include <array>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <string_view>
#include <vector>

#include "util/hash.h"

namespace smemtune {

namespace {

constexpr std::array scripts{"vendor/vega.min.js",
                             "vendor/vega-lite.min.js",
                             "vendor/vega-interpreter.min.js",
                             "data.js",
                             "format.js",
                             "dom.js",
                             "table.js",
                             "plot.js",
                             "overview.js",
                             "problem.js",
                             "parameters.js",
                             "runs.js",
                             "compare.js",
                             "app.js"};

// Returns the SHA-256 of `text` in the form that a Content-Security-Policy needs: 'sha256-BASE64'.
std::string source_hash(const std::string& text) {
    using namespace boost::archive::iterators;
    using Base64 = base64_from_binary<transform_width<std::string::const_iterator, 6, 8>>;
    const auto hash = sha256(text);
    std::string bytes;
    for (std::size_t i = 0; i < hash.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hash.substr(i, 2), nullptr, 16));
    }
    bytes += '\0';  // 33 bytes give 44 characters, the last of which becomes the padding
    std::string text64(Base64(bytes.begin()), Base64(bytes.end()));
    text64.back() = '=';
    return " 'sha256-" + text64 + "'";
}

// Escapes every `<`. Inside <script>, HTML interprets only text that begins with `<`.
std::string without_markup(const std::string& json) {
    std::string text;
    text.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            text += "\\u003c";
        } else {
            text += c;
        }
    }
    return text;
}

void replace(std::string& text, std::string_view name, const std::string& value) {
    const auto at = text.find(name);
    text.replace(at, name.size(), value);
}

}  // namespace

std::string page_html(const std::string& data, PageSource source) {
    const auto& files = page_files();
    std::string script_hashes;
    std::string script_elements;
    for (const auto* name : scripts) {
        const auto& text = files.at(name);
        script_hashes += source_hash(text);
        script_elements += "<script>" + text + "</script>\n";
    }
    const auto& style = files.at("style.css");
    const auto policy = "default-src 'none'; script-src" + script_hashes + "; style-src" + source_hash(style) +
                        "; base-uri 'none'; form-action 'none'" +
                        (source == PageSource::server ? "; connect-src 'self'" : "");
    auto page = files.at("page.html");
    replace(page, "{policy}", policy);
    replace(page, "{style}", style);
    replace(page, "{source}", source == PageSource::server ? "server" : "file");
    // The data is inserted last, because it may contain any text, even a placeholder.
    const auto data_at = page.find("{data}");
    const auto scripts_at = page.find("{scripts}");
    return page.substr(0, data_at) + without_markup(data) + page.substr(data_at + 6, scripts_at - data_at - 6) +
           script_elements + page.substr(scripts_at + 9);
}

}  // namespace smemtune
