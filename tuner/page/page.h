// The page of a report: one HTML file that needs nothing else.
#pragma once

#include <map>
#include <string>

namespace smemtune {

/// The files of tuner/page/web, as they were when the program was built.
const std::map<std::string, std::string>& page_files();

enum class PageSource {
    file,    ///< opened from disk: nothing may be loaded
    server,  ///< served by us: the page may ask its own server for newer data
};

/// The page with `data`, the result of page_data(). Its Content-Security-Policy allows the page's own scripts and
/// styles, by their SHA-256, and nothing else: no text in the data can run or load anything.
std::string page_html(const std::string& data, PageSource source);

}  // namespace smemtune
