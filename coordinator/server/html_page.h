// HtmlPage frames the coordinator's own pages: one style, one navigation, one policy.
#ifndef RAPIDEYE_COORDINATOR_SERVER_HTML_PAGE_H_
#define RAPIDEYE_COORDINATOR_SERVER_HTML_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "digest/html_text.h"

namespace rapideye::coordinator {

struct PageFrame {
  std::string title;  // not escaped
  const char* path;   // of this page, for the navigation
  bool live = false;  // the page asks for itself again, and shows changes
};

// The whole document around `main`, the HTML of the page's content.
std::string FramePage(const PageFrame& frame, const std::string& main);

// The Content-Security-Policy of such a page. It runs the program's own scripts and no others, and
// asks nobody but the coordinator.
const std::string& PagePolicy();

// "<time>": "2026-11-20 12:44:19 UTC".
std::string TimeHtml(absl::Time time);
// "850 ms", "4.9 s"; "–" for InfiniteDuration.
std::string AgeText(absl::Duration age);
std::string IncidentLink(const std::string& id);

// Writes a table whose cells are HTML already. With `sortable` a heading sorts by its column.
class HtmlTable {
 public:
  HtmlTable(const std::vector<std::string_view>& heads, bool sortable);
  // `attributes`: of the row, with a space in front, or empty.
  void Row(const std::vector<std::string>& cells, const std::string& attributes = "");
  std::string Done() &&;

 private:
  std::vector<std::string> heads_;
  std::string html_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_HTML_PAGE_H_
