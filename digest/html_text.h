// Writes the parts that all sections of the page share. Text of workers leaves here escaped.
#ifndef RAPIDEYE_DIGEST_HTML_TEXT_H_
#define RAPIDEYE_DIGEST_HTML_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/verdict/verdict.h"
#include "digest/report_model.h"

namespace rapideye::digest {

// Longest list of hosts, and longest list of anything else, in one place of the page.
inline constexpr size_t kMaxHostsBytes = 600;
inline constexpr size_t kMaxListed = 500;

// `text`, bounded to a sentence, as content of an element or of an attribute in quotes.
std::string Html(std::string_view text);

// "<code>tpu-1-2</code> (slice 1 task 2)"
std::string WorkerHtml(const ReportWorker& worker);

// True if a sentence says itself of which worker it is: "… slice 1 task 2 (tpu-1-2) …".
bool NamesWorker(std::string_view sentence, const ReportWorker& worker);

// The hosts of these workers, folded: "tpu-[0-3] (4)". Not yet escaped for HTML.
std::string FoldedHosts(const Report& report, const std::vector<size_t>& workers,
                        size_t max_bytes = kMaxHostsBytes);
std::string FoldedHosts(const std::vector<std::string>& hosts, size_t max_bytes = kMaxHostsBytes);

// "1,023"
std::string Grouped(int64_t number);
// "1 core", "1,023 cores"
std::string Counted(int64_t number, const char* noun);
// "850 ms", "4.9 s", "3 min 12 s", "2 h 5 min"
std::string Duration(int64_t ms);

// "0-46,48-63", of ascending numbers.
std::string SliceRanges(const std::vector<int32_t>& slices);

// A text of JSON that may stand in a <script> element: it holds no "<".
std::string JsonInHtml(std::string json);

// "Bad TPU chip", "Broken link": the cause, with its detail, for people.
std::string CauseTitle(Cause cause, Detail detail);

// <tag>, an element each, at most kMaxListed.
template <typename List, typename ToHtml>
void AppendList(std::string& page, const std::string& tag, const List& list, ToHtml to_html) {
  absl::StrAppend(&page, "<", tag, ">\n");
  for (size_t i = 0; i < list.size() && i < kMaxListed; ++i) {
    absl::StrAppend(&page, "<li>", to_html(list[i]), "</li>\n");
  }
  if (list.size() > kMaxListed) {
    absl::StrAppend(&page, "<li>… and ", list.size() - kMaxListed, " more</li>\n");
  }
  absl::StrAppend(&page, "</", tag.substr(0, tag.find(' ')), ">\n");
}

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_HTML_TEXT_H_
