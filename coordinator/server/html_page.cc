#include "coordinator/server/html_page.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "digest/html_assets.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::coordinator {
namespace {

using digest::Html;

// Updates the page without a reload: folds stay open, focus stays where it is, and the script
// asks nothing while the page is hidden.
constexpr char kLiveScript[] = R"js(
'use strict';
(() => {
  const PERIOD_MS = 2000, PATIENCE_MS = 10000;
  const notice = document.getElementById('stale');
  const sources = new Map();  // of parts, as the coordinator last sent them
  let heard = Date.now();

  const show = (page) => {
    const now = document.getElementById('live'), next = page.getElementById('live');
    if (!next) return;
    document.title = page.title;
    const open = new Set([...now.querySelectorAll('details[open]')].map((fold) => fold.dataset.key));
    const focused = document.activeElement;
    const worker = focused && focused.dataset.worker, key = focused && focused.closest('details') &&
        focused.tagName === 'SUMMARY' ? focused.parentElement.dataset.key : undefined;
    const href = focused && focused.getAttribute('href');
    const shown = now.querySelector('.hosts button[aria-expanded=true]');
    const panel = shown && shown.dataset.worker;
    const replaced = new Set();
    for (const section of next.querySelectorAll('[data-part]')) {
      const part = section.dataset.part, source = section.outerHTML;
      const old = now.querySelector(`[data-part="${part}"]`);
      if ((sources.get(part) ?? old.outerHTML) === source) continue;
      sources.set(part, source);
      old.replaceWith(section);
      replaced.add(part);
    }
    if (!replaced.size) return;
    for (const fold of now.querySelectorAll('details')) fold.open = fold.open || open.has(fold.dataset.key);
    const sentence = now.querySelector('h1');
    if (replaced.has('hero') && sentence) document.getElementById('said').textContent = sentence.textContent;
    if (replaced.has('map')) document.dispatchEvent(new Event('map-changed'));
    const button = (name) => name && [...now.querySelectorAll('.hosts button')].find((one) => one.dataset.worker === name);
    if (replaced.has('map') && button(panel)) button(panel).click();
    if (document.activeElement === focused) return;
    const again = button(worker) || (key && now.querySelector(`details[data-key="${CSS.escape(key)}"] summary`)) ||
        (href && [...now.querySelectorAll('a')].find((link) => link.getAttribute('href') === href));
    if (!again) return;
    if (worker) for (const other of again.parentElement.querySelectorAll('button')) other.tabIndex = -1;
    again.tabIndex = 0;
    again.focus({preventScroll: true});
  };

  const ask = async () => {
    if (document.visibilityState === 'visible') {
      try {
        const answer = await fetch(location.pathname, {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS)});
        if (!answer.ok) throw new Error(answer.statusText);
        show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
        heard = Date.now();
      } catch {
        // Said below.
      }
      notice.textContent = Date.now() - heard > PATIENCE_MS
          ? `The coordinator has not answered for ${Math.round((Date.now() - heard) / 1000)} s; this is what was last known.` : '';
    }
    setTimeout(ask, PERIOD_MS);
  };
  setTimeout(ask, PERIOD_MS);
})();
)js";

// Filters the rows of the list of incidents by text, cause and state.
constexpr char kFilterScript[] = R"js(
'use strict';
(() => {
  const form = document.getElementById('filter');
  if (!form) return;
  const rows = [...document.querySelectorAll('#incidents tbody tr')];
  const apply = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter((word) => word);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(words.every((word) => text.includes(word)) &&
          (!form.elements.cause.value || row.dataset.cause === form.elements.cause.value) &&
          (!form.elements.state.value || row.dataset.state === form.elements.state.value));
      if (!row.hidden) ++shown;
    }
    document.getElementById('shown').textContent = `${shown} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => event.preventDefault());
  for (const button of document.querySelectorAll('.tally button')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      form.elements[button.dataset.field].value = button.dataset.value;
      apply();
      form.elements[button.dataset.field].focus();
    });
  }
  apply();
})();
)js";

std::string HashSource(std::string_view script) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned int size = 0;
  EVP_Digest(script.data(), script.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return absl::StrCat(
      "'sha256-",
      absl::Base64Escape(absl::string_view(reinterpret_cast<const char*>(hash.data()), size)), "'");
}

void AppendLink(const PageFrame& frame, std::string_view path, const char* name,
                std::string& page) {
  absl::StrAppend(&page, "<a href=\"", std::string(path), "\"",
                  path == frame.path ? " aria-current=\"page\"" : "", ">", name, "</a>\n");
}

// In a narrow window a row is a card, in which each cell shows the name of its column.
std::string NameOf(std::string_view head) {
  return absl::StrCat(" data-name=\"", Html(head), "\"");
}

}  // namespace

std::string FramePage(const PageFrame& frame, const std::string& main) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  if (frame.live) page += "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n";
  absl::StrAppend(&page,
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>",
                  Html(frame.title), "</title>\n<style>", digest::kPageStyle,
                  "</style>\n</head>\n<body>\n<header class=\"bar\">\n<b>rapideye</b>\n<nav "
                  "aria-label=\"Pages\">\n");
  AppendLink(frame, "/", "Job", page);
  AppendLink(frame, "/incidents", "Incidents", page);
  AppendLink(frame, "/fleet", "Fleet", page);
  AppendLink(frame, "/metrics", "Metrics", page);
  absl::StrAppend(&page,
                  "</nav>\n</header>\n<main>\n<p id=\"stale\" class=\"bad\" "
                  "role=\"status\"></p>\n",
                  main, "<p class=\"soft small\">rapideye-coordinator ", Html(program::Version()),
                  "</p>\n<p id=\"said\" role=\"status\" class=\"unseen\"></p>\n</main>\n<script>",
                  digest::kPageScript, "</script>\n<script>",
                  frame.live ? kLiveScript : kFilterScript, "</script>\n</body>\n</html>\n");
  return page;
}

const std::string& PagePolicy() {
  static const auto& policy = *new std::string(absl::StrCat(
      "default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'; script-src ",
      HashSource(digest::kPageScript), " ", HashSource(kLiveScript), " ",
      HashSource(kFilterScript)));
  return policy;
}

std::string TimeHtml(absl::Time time) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  return absl::StrCat("<time datetime=\"", absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, utc),
                      "\">", absl::FormatTime("%E4Y-%m-%d %H:%M:%S UTC", time, utc), "</time>");
}

std::string AgeText(absl::Duration age) {
  if (age == absl::InfiniteDuration()) return "–";
  return digest::Duration(absl::ToInt64Milliseconds(std::max(age, absl::ZeroDuration())));
}

std::string IncidentLink(const std::string& id) {
  return absl::StrCat("<a href=\"/incidents/", Html(id), "\">", Html(id), "</a>");
}

HtmlTable::HtmlTable(const std::vector<std::string_view>& heads, bool sortable)
    : heads_(heads.begin(), heads.end()) {
  html_ = "<thead><tr>";
  for (const std::string_view head : heads) {
    absl::StrAppend(&html_, "<th scope=\"col\">", sortable ? "<button type=\"button\">" : "",
                    Html(head), sortable ? "</button>" : "", "</th>");
  }
  html_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::Row(const std::vector<std::string>& cells, const std::string& attributes) {
  absl::StrAppend(&html_, "<tr", attributes, ">");
  for (size_t i = 0; i < cells.size(); ++i) {
    absl::StrAppend(&html_, "<td", i < heads_.size() ? NameOf(heads_[i]) : "", ">", cells[i],
                    "</td>");
  }
  html_ += "</tr>\n";
}

std::string HtmlTable::Done() && {
  return absl::StrCat("<table>\n", html_, "</tbody>\n</table>\n");
}

}  // namespace rapideye::coordinator
