#include "coordinator/server/live_map.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/server/html_page.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

using digest::Counted;
using digest::Html;
using Json = nlohmann::ordered_json;

// A job of at most so many hosts is shown whole; of a larger job, at most so many slices.
constexpr size_t kSmallJob = 128;
constexpr size_t kMaxOpenSlices = 8;
constexpr size_t kMaxLinesOfSlices = 64;

struct StateOnMap {
  WorkerState state;
  const char* css_class;
  const char* name;
};
// By state.
constexpr std::array<StateOnMap, 6> kStates = {{
    {WorkerState::kAway, "gone", "not connected"},
    {WorkerState::kNotRunning, "si", "no progress known"},
    {WorkerState::kStarting, "s0", "starting"},
    {WorkerState::kPaused, "s2", "in an announced pause"},
    {WorkerState::kAdvancing, "s1", "advancing"},
    {WorkerState::kLate, "late", "late"},
}};

size_t IndexOf(WorkerState state) { return static_cast<size_t>(state); }

struct SliceOnMap {
  int32_t slice = 0;
  size_t hosts = 0;
  bool accused = false;
  std::array<size_t, kStates.size()> workers = {};

  bool Has(WorkerState state) const { return workers[IndexOf(state)] > 0; }
  bool Remarkable() const { return accused || Has(WorkerState::kAway) || Has(WorkerState::kLate); }
  // False if all hosts of the slice are alike: its line then tells as much as its boxes.
  bool WorthOpening() const {
    const bool alike = std::find(workers.begin(), workers.end(), hosts) != workers.end();
    return accused || (Remarkable() && !alike);
  }
};

// Hosts that the present hang's verdict names.
std::set<std::string> Accused(const JobStatus& status) {
  if (status.activity != Activity::kWaiting || !status.last_verdict.has_value()) return {};
  return {status.last_verdict->culprits.begin(), status.last_verdict->culprits.end()};
}

std::vector<SliceOnMap> SlicesOf(const JobStatus& status, const std::set<std::string>& accused) {
  std::vector<SliceOnMap> slices;
  for (const WorkerOnMap& worker : status.workers) {
    if (slices.empty() || slices.back().slice != worker.id.slice) {
      slices.emplace_back().slice = worker.id.slice;
    }
    SliceOnMap& slice = slices.back();
    ++slice.hosts;
    ++slice.workers[IndexOf(worker.state)];
    slice.accused = slice.accused || accused.contains(worker.host);
  }
  return slices;
}

// "62 advancing, 2 late".
std::string CountStates(const SliceOnMap& slice) {
  std::string text;
  for (auto state = kStates.rbegin(); state != kStates.rend(); ++state) {
    const size_t count = slice.workers[IndexOf(state->state)];
    if (count == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", state->name);
  }
  return text;
}

std::string Pills(const SliceOnMap& slice) {
  std::string html;
  if (slice.accused) html += " <span class=\"pill red\">culprit here</span>";
  if (slice.Has(WorkerState::kLate)) {
    html += " <span class=\"pill amber\">late</span>";
  }
  if (slice.Has(WorkerState::kAway)) {
    html += " <span class=\"pill amber\">hosts missing</span>";
  }
  return html;
}

void AppendOpen(const SliceOnMap& slice, std::string& page) {
  absl::StrAppend(&page, "<div class=\"slice\">\n<h3>Slice ", slice.slice, Pills(slice),
                  "</h3>\n<p class=\"soft\">", Counted(static_cast<int64_t>(slice.hosts), "host"),
                  "; ", CountStates(slice), "</p>\n<div class=\"hosts\" data-slices=\"",
                  slice.slice, "\"></div>\n</div>\n");
}

void AppendFolded(const std::vector<SliceOnMap>& slices, const std::vector<size_t>& members,
                  std::string& page) {
  std::vector<int32_t> ids;
  for (const size_t member : members) ids.push_back(slices[member].slice);
  const std::string ranges = digest::SliceRanges(ids);
  const SliceOnMap& first = slices[members.front()];
  absl::StrAppend(
      &page, "<details class=\"slice calm\" data-key=\"", ids.front(), "\"><summary><b>Slice",
      ids.size() == 1 ? " " : "s ", Html(text::CutText(ranges, digest::kMaxHostsBytes)), "</b>",
      Pills(first), " <span class=\"soft\">", Counted(static_cast<int64_t>(first.hosts), "host"),
      ids.size() > 1 ? " each; " : "; ", CountStates(first),
      "</span></summary><div class=\"hosts\" data-slices=\"", ranges, "\"></div></details>\n");
}

std::string Describe(const WorkerOnMap& worker) {
  std::string text = kStates[IndexOf(worker.state)].name;
  if (worker.since_completion.has_value()) {
    absl::StrAppend(&text, ", ", AgeText(*worker.since_completion), " ago");
  }
  if (worker.step.has_value()) absl::StrAppend(&text, ", step ", *worker.step);
  return text;
}

// The same data as MapData of a digest's page, which the same script draws.
std::string LiveMapData(const JobStatus& status, const std::set<std::string>& accused) {
  Json states = Json::array();
  for (const StateOnMap& state : kStates) states.push_back({state.name, 0, 0, state.css_class});
  Json workers = Json::array();
  for (const WorkerOnMap& worker : status.workers) {
    const bool culprit = accused.contains(worker.host);
    const bool away = worker.state == WorkerState::kAway;
    Json cells = Json::array();
    if (!away) cells = {-1, 1, 0, IndexOf(worker.state), culprit ? 1 : 0};
    workers.push_back({worker.id.slice, worker.id.task, text::EscapeName(worker.host), away ? 0 : 1,
                       culprit ? 1 : 0, std::move(cells), nullptr, Describe(worker)});
  }
  return digest::JsonInHtml(
      Json{{"states", std::move(states)}, {"workers", std::move(workers)}}.dump(
          -1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
}

void AppendLegend(const JobStatus& status, const std::set<std::string>& accused,
                  std::string& page) {
  std::array<size_t, kStates.size()> counts = {};
  for (const WorkerOnMap& worker : status.workers) ++counts[IndexOf(worker.state)];
  page += "<ul class=\"legend\">\n";
  if (!accused.empty()) page += "<li><i class=\"bad\"></i>culprit</li>\n";
  for (const StateOnMap& state : kStates) {
    const size_t count = counts[IndexOf(state.state)];
    if (count == 0) continue;
    absl::StrAppend(&page, "<li><i class=\"", state.css_class, "\"></i>", state.name, " (", count,
                    ")</li>\n");
  }
  page += "</ul>\n";
}

}  // namespace

std::string LiveMapSection(const JobStatus& status) {
  if (status.workers.empty()) return "";
  const std::set<std::string> accused = Accused(status);
  const std::vector<SliceOnMap> slices = SlicesOf(status, accused);
  const bool whole = status.workers.size() <= kSmallJob && slices.size() <= kMaxOpenSlices;
  std::vector<size_t> open;
  std::map<std::tuple<bool, size_t, decltype(SliceOnMap::workers)>, std::vector<size_t>> alike;
  for (const bool of_culprits : {true, false}) {
    for (size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].accused != of_culprits) continue;
      if ((whole || slices[i].WorthOpening()) && open.size() < kMaxOpenSlices) {
        open.push_back(i);
      } else {
        alike[{slices[i].accused, slices[i].hosts, slices[i].workers}].push_back(i);
      }
    }
  }
  std::vector<std::vector<size_t>> lines;
  for (auto& [key, members] : alike) lines.push_back(std::move(members));
  std::sort(lines.begin(), lines.end(), [&slices](const auto& a, const auto& b) {
    const bool a_first = slices[a.front()].Remarkable();
    const bool b_first = slices[b.front()].Remarkable();
    return a_first != b_first ? a_first : a < b;
  });

  std::string page = absl::StrCat(
      "<h2 id=\"map\">The job</h2>\n<p class=\"soft\">",
      Counted(static_cast<int64_t>(slices.size()), "slice"), ", ",
      Counted(static_cast<int64_t>(status.workers.size()), "host"),
      "; a box is a host. Slices that look alike are folded. Arrow keys move from host to host, "
      "Enter shows its progress.</p>\n");
  AppendLegend(status, accused, page);
  page += "<div class=\"slices\">\n";
  for (const size_t slice : open) AppendOpen(slices[slice], page);
  for (size_t i = 0; i < lines.size() && i < kMaxLinesOfSlices; ++i) {
    AppendFolded(slices, lines[i], page);
  }
  page += "</div>\n";
  if (lines.size() > kMaxLinesOfSlices) {
    absl::StrAppend(&page, "<p>… and ", lines.size() - kMaxLinesOfSlices,
                    " more groups of slices</p>\n");
  }
  absl::StrAppend(&page,
                  "<div id=\"host\" role=\"status\"></div>\n<script type=\"application/json\" "
                  "id=\"map-data\">",
                  LiveMapData(status, accused), "</script>\n");
  return page;
}

}  // namespace rapideye::coordinator
