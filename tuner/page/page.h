// Makes the page of a report: one HTML file that loads no other file.
#pragma once

#include <map>
#include <string>

namespace smemtune {

/// The files of tuner/page/web, as they were when the program was built.
const std::map<std::string, std::string>& page_files();

enum class PageSource {
    file,    ///< a page on disk, which may load nothing
    server,  ///< a page of `smemtune report --serve`, which may load newer data from its server
};

/// Makes the page that shows `data`, the result of page_data(). The Content-Security-Policy of the page allows only the
/// page's own scripts and styles, by their SHA-256. So no text in the data can run or load anything.
std::string page_html(const std::string& data, PageSource source);

}  // namespace smemtune
