#include "digest/html_timeline.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "digest/first_error.h"
#include "digest/html_text.h"
#include "digest/svg.h"
#include "digest/wording.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

constexpr int64_t kMinSpanMs = 20'000;
// A stop older than so many standstills does not widen the drawing: it stands at the edge.
constexpr int64_t kBeyondStandstill = 3;
constexpr size_t kMaxEventRows = 6;
constexpr size_t kMaxOrder = 6;

// Distances in pixels.
constexpr int kTimelineWide = 1112;
constexpr int kTimelineNarrow = 326;
constexpr int kLaneHeight = 30;
constexpr int kRowHeight = 20;
constexpr int kTop = 12;
// The name of the phase stands so far below its lane, which then is higher.
constexpr int kPhaseBelow = 12;
constexpr int kPhaseHeight = 14;
constexpr int kTimeWidth = 72;
constexpr int kCharacter = 8;  // widest, roughly

constexpr std::array<int64_t, 16> kTicksMs = {
    1'000,   2'000,     5'000,     10'000,    30'000,     60'000,     120'000,     300'000,
    600'000, 1'800'000, 3'600'000, 7'200'000, 21'600'000, 86'400'000, 604'800'000, 2'592'000'000};

// Parts of a time of FormatUtc.
constexpr size_t kTimeAt = 11;
constexpr size_t kToSeconds = 8;  // "11:04:31"
constexpr size_t kToTenths = 10;  // "11:04:31.2"

// The time of day, or how long before the collection (from logs alone: before their end).
std::string At(const Report& report, int64_t age_ms, size_t length = kToSeconds) {
  if (report.detected_unix_ms) {
    const std::optional<std::string> utc = FormatUtc(*report.detected_unix_ms - age_ms);
    if (utc) return utc->substr(kTimeAt, length);
  }
  if (age_ms > 0) return absl::StrCat("−", Duration(age_ms));
  return report.from_logs ? "the end" : "collected";
}

// An event that belongs to no lane: it has a row of its own below the lanes.
struct EventRow {
  int64_t age_ms;
  std::string text;
  const char* css_class;
};

// A line that others write, too, tells nothing of the culprit.
bool OfCulpritAlone(const LoggedLine& line) { return line.culprit && line.workers.size() == 1; }

std::vector<EventRow> EventRows(const Report& report) {
  std::vector<EventRow> rows;
  for (const LoggedLine& line : report.last_minutes.log) {
    if (!line.age_ms || (line.minor && !OfCulpritAlone(line))) continue;
    rows.push_back({*line.age_ms, line.text, line.culprit ? "mark culprit" : "mark"});
    if (rows.size() == kMaxEventRows) break;
  }
  // One minor line, the runtime's own alarm, stands for all that follow from the standstill.
  for (const LoggedLine& line : report.last_minutes.log) {
    if (rows.size() == kMaxEventRows) break;
    if (!line.age_ms || !line.minor || line.last || OfCulpritAlone(line)) continue;
    rows.push_back({*line.age_ms,
                    absl::StrCat(line.text, " (",
                                 Counted(static_cast<int64_t>(line.workers.size()), "worker"), ")"),
                    "mark"});
    break;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const EventRow& a, const EventRow& b) { return a.age_ms > b.age_ms; });
  return rows;
}

// Whether the stop belongs to the standstill: a host in reserve has stood for hours.
bool IsRecent(const Report& report, const Stop& stop) {
  const auto& still = report.last_minutes.still_ms;
  return stop.culprit || !still || stop.age_ms <= std::max(*still, kMinSpanMs) * kBeyondStandstill;
}

const char* Happens(StopKind kind) {
  switch (kind) {
    case StopKind::kCore:
      return " stops";
    case StopKind::kLoop:
      return " loops from here on";
    case StopKind::kProcess:
      return ": its process ended";
    case StopKind::kError:
      return ": its first error";
    case StopKind::kSilence:
      return ": its last line";
  }
  return "";
}

// "tpu-1-2 chip 2 TensorCore 0 stops"
std::string StopText(const Stop& stop) {
  return absl::StrCat(text::EscapeText(stop.first_core, text::kMaxNameBytes), Happens(stop.kind));
}

// The chip alone, where the whole name has no room.
Stop WithoutCore(Stop stop) {
  for (const char* core : {" TensorCore ", " SparseCore "}) {
    stop.first_core.resize(std::min(stop.first_core.rfind(core), stop.first_core.size()));
  }
  return stop;
}

// The other cores that stopped with the one that is named.
std::string Others(const Stop& stop) {
  const auto cores = static_cast<int64_t>(stop.cores);
  const auto logs = static_cast<int64_t>(stop.logs);
  switch (stop.kind) {
    case StopKind::kCore:
    case StopKind::kLoop:
      return cores > 1 ? absl::StrCat(" and ", Counted(cores - 1, "more core")) : "";
    case StopKind::kProcess:
      return cores == 0 ? "" : absl::StrCat("; ", Counted(cores, "core"), " stopped with it");
    case StopKind::kError:
    case StopKind::kSilence:
      break;
  }
  return logs > 1 ? absl::StrCat("; ", Counted(logs - 1, "more worker"), " with it") : "";
}

// How far back a timeline of logs goes: a worker that logs nothing but its start is not drawn to
// scale. 0: nothing tells.
int64_t ReachOfLogs(const Report& report) {
  int64_t reach = 0;
  for (const Lane& lane : report.last_minutes.lanes) {
    if (lane.culprit || !lane.completions.empty()) {
      reach = std::max(reach, lane.end_age_ms.value_or(0));
    }
    for (const Stop& stop : lane.stops) {
      if (stop.culprit) reach = std::max(reach, stop.age_ms);
    }
  }
  return reach;
}

int64_t SpanOf(const Report& report, const std::vector<EventRow>& rows) {
  int64_t oldest = 0;
  for (const Lane& lane : report.last_minutes.lanes) {
    oldest = std::max(oldest, lane.end_age_ms.value_or(0));
    for (const Stop& stop : lane.stops) {
      if (stop.culprit) oldest = std::max(oldest, stop.age_ms);
    }
  }
  for (const EventRow& row : rows) oldest = std::max(oldest, row.age_ms);
  if (const auto& still = report.last_minutes.still_ms; still && *still > 0) {
    oldest = std::min(oldest, *still * kBeyondStandstill);
  } else if (const int64_t reach = ReachOfLogs(report); report.from_logs && reach > 0) {
    oldest = std::min(oldest, reach * kBeyondStandstill);
  }
  // A capture may state any age: a pixel computed from it must not overflow.
  constexpr int64_t kMaxSpanMs = int64_t{1000} * 86'400'000;
  return std::clamp(oldest + oldest / 4, kMinSpanMs, kMaxSpanMs);
}

// Loops that are all in a step are in no phase worth a word.
bool ShowsPhases(const Report& report) {
  const std::vector<Lane>& lanes = report.last_minutes.lanes;
  return std::any_of(lanes.begin(), lanes.end(),
                     [](const Lane& lane) { return lane.phase.value_or("step") != "step"; });
}

// The beginning of a lane, its end, and the latest end that it could have.
struct LaneReach {
  int left;
  int end;
  int right;
};

// The phase that the training loops are in stands below the end of the lane at `y`.
void DrawPhase(const std::string& phase, const LaneReach& lane, int y, Svg& svg) {
  const auto columns = static_cast<size_t>((lane.right - lane.left) / kCharacter);
  const std::string text = WrapText("in phase " + phase, columns, 1).front();
  const int width = static_cast<int>(text.size()) * kCharacter;
  const bool room = lane.right - lane.end - 9 >= width;
  svg.Label(room ? lane.end + 9 : lane.right, y + kPhaseBelow, width, text, "soft",
            room ? Anchor::kStart : Anchor::kEnd);
}

class TimelineDrawing {
 public:
  TimelineDrawing(const Report& report, int width, int left)
      : report_(report),
        rows_(EventRows(report)),
        span_ms_(SpanOf(report, rows_)),
        shows_phases_(ShowsPhases(report)),
        width_(width),
        left_(left) {}

  std::string Draw(const char* css_class, const std::string& label) {
    Svg svg(width_, css_class, label);
    const int height = kLaneHeight + (shows_phases_ ? kPhaseHeight : 0);
    const int lanes_end = kTop + static_cast<int>(Lanes().size()) * height;
    const int rows_end = lanes_end + static_cast<int>(rows_.size()) * kRowHeight + 6;
    DrawTicks(rows_end, svg);
    for (size_t i = 0; i < rows_.size(); ++i) {
      DrawRow(rows_[i], lanes_end + static_cast<int>(i + 1) * kRowHeight, svg);
    }
    int y = kTop + kLaneHeight / 2;
    for (const Lane& lane : Lanes()) {
      DrawLane(lane, y, svg);
      y += height;
    }
    return std::move(svg).Finish(rows_end + 22);
  }

 private:
  const std::vector<Lane>& Lanes() const { return report_.last_minutes.lanes; }
  int Right() const { return width_ - 8; }

  int X(int64_t age_ms) const {
    const int64_t age = std::clamp<int64_t>(age_ms, 0, span_ms_);
    return Right() - static_cast<int>(age * (Right() - left_) / span_ms_);
  }

  void DrawTicks(int bottom, Svg& svg) const {
    const int64_t wanted = (width_ - left_) / 130 + 1;
    int64_t step = kTicksMs.back();
    for (const int64_t tick : kTicksMs) {
      if (span_ms_ / tick <= wanted) {
        step = tick;
        break;
      }
    }
    for (int64_t age = 0; age <= span_ms_; age += step) {
      const int x = X(age);
      svg.Line(x, kTop - 8, x, bottom, "grid");
      const bool last = age == 0;
      // The first label would overlap the names of the lanes, the last but one the last label.
      if (!last && (x - left_ < kTimeWidth / 2 || Right() - x < kTimeWidth * 3 / 2)) continue;
      svg.Label(x, bottom + 11, kTimeWidth, At(report_, age), "soft",
                last ? Anchor::kEnd : Anchor::kMiddle);
    }
  }

  void DrawRow(const EventRow& row, int y, Svg& svg) const {
    const int x = X(row.age_ms);
    svg.Line(x, kTop - 8, x, y - 4, row.css_class);
    const bool to_the_left = x > (left_ + Right()) / 2;
    const auto columns = static_cast<size_t>((to_the_left ? x - 8 : Right() - x - 8) / kCharacter);
    const std::vector<std::string> lines = WrapText(row.text, std::max<size_t>(columns, 8), 1);
    svg.Label(to_the_left ? x - 4 : x + 4, y - 4, to_the_left ? x - 8 : Right() - x - 4,
              lines.empty() ? "" : lines.front(),
              row.css_class == std::string_view("mark culprit") ? "bad" : "soft",
              to_the_left ? Anchor::kEnd : Anchor::kStart, row.text);
  }

  void DrawLane(const Lane& lane, int y, Svg& svg) const {
    const auto columns = static_cast<size_t>((left_ - 8) / kCharacter);
    svg.Label(0, y, left_ - 4, WrapText(lane.name, columns, 1).front(),
              lane.culprit ? "bad" : "soft", Anchor::kStart, lane.name);
    if (!lane.end_age_ms) {
      svg.Line(left_, y, Right(), y, "lane still");
      return;
    }
    // In a job that makes progress, a lane that moved just now reaches the right edge.
    const bool runs = report_.cause == Cause::kNoHang && *lane.end_age_ms * 20 < span_ms_;
    const int end = runs ? Right() : X(*lane.end_age_ms);
    svg.Line(left_, y, end, y, "lane");
    if (end < Right()) svg.Line(end, y, Right(), y, lane.culprit ? "lane stuck" : "lane still");
    std::string marks;
    int last = -1;
    for (const int64_t age : lane.completions) {
      const int x = X(age);
      if (age > span_ms_ || x == last) continue;
      absl::StrAppend(&marks, "M", x, " ", y - 7, "v14");
      last = x;
    }
    if (!marks.empty()) svg.Path(marks, "step");
    if (report_.cause != Cause::kNoHang) DrawStops(lane, y, svg);
    if (shows_phases_ && lane.phase) DrawPhase(*lane.phase, {left_, end, Right()}, y, svg);
  }

  void DrawStops(const Lane& lane, int y, Svg& svg) const {
    int last = 0;
    for (const Stop& stop : lane.stops) {
      if (!IsRecent(report_, stop)) continue;
      const int x = X(stop.age_ms);
      last = std::max(last, x);
      svg.Path(absl::StrCat("M", x - 5, " ", y - 12, "h10l-5 8z"),
               stop.culprit ? "stop culprit" : "stop");
    }
    const auto named = std::find_if(lane.stops.begin(), lane.stops.end(),
                                    [](const Stop& stop) { return stop.culprit; });
    if (named == lane.stops.end()) return;
    const auto columns = static_cast<size_t>(std::max(0, Right() - last - 12) / kCharacter);
    if (columns < 12) return;
    std::string label = StopText(*named);
    if (label.size() > columns) label = StopText(WithoutCore(*named));
    svg.Label(last + 9, y - 12, Right() - last - 9, WrapText(label, columns, 1).front(), "bad");
  }

  const Report& report_;
  const std::vector<EventRow> rows_;
  const int64_t span_ms_;
  const bool shows_phases_;
  const int width_;
  const int left_;
};

// Says in words when each lane moved last.
std::string LanesInWords(const Report& report) {
  const std::vector<Lane>& lanes = report.last_minutes.lanes;
  std::string words =
      absl::StrCat("Progress of ", Counted(static_cast<int64_t>(lanes.size()), "lane"), ". ");
  for (const Lane& lane : lanes) {
    if (!lane.end_age_ms) continue;
    absl::StrAppend(&words, lane.name, lane.culprit ? ", which holds a culprit," : "",
                    report.from_logs ? " logged last " : " moved last ", Duration(*lane.end_age_ms),
                    report.from_logs ? " before the end" : " before the collection",
                    lane.phase ? absl::StrCat(", in phase ", *lane.phase, ". ") : ". ");
    if (words.size() > text::kMaxSentenceBytes / 2) break;
  }
  return words;
}

void AppendOrder(const Report& report, std::string& page) {
  std::vector<Stop> stops;
  for (const Lane& lane : report.last_minutes.lanes) {
    std::copy_if(lane.stops.begin(), lane.stops.end(), std::back_inserter(stops),
                 [&report](const Stop& stop) { return IsRecent(report, stop); });
  }
  if (stops.size() < 2 || report.cause == Cause::kNoHang) return;
  std::stable_sort(stops.begin(), stops.end(), [](const Stop& a, const Stop& b) {
    return a.age_ms != b.age_ms ? a.age_ms > b.age_ms : a.culprit && !b.culprit;
  });
  const size_t more = stops.size() > kMaxOrder ? stops.size() - kMaxOrder : 0;
  stops.resize(std::min(stops.size(), kMaxOrder));
  absl::StrAppend(&page, "<h3>",
                  report.from_logs ? "It happened in this order" : "They stopped in this order",
                  "</h3>\n<ol class=\"order\">\n");
  for (const Stop& stop : stops) {
    absl::StrAppend(&page, "<li><code>", Html(At(report, stop.age_ms, kToTenths)), "</code> ",
                    stop.culprit ? "<b class=\"bad\">" : "",
                    Html(stop.kind == StopKind::kCore ? stop.first_core : StopText(stop)),
                    stop.culprit ? "</b>" : "", Others(stop), "</li>\n");
  }
  if (more > 0) absl::StrAppend(&page, "<li>… and ", more, " later times</li>\n");
  page += "</ol>\n";
}

void AppendStartUp(const Report& report, std::string& page) {
  const std::vector<StartUpGroup>& groups = report.last_minutes.start_up;
  if (groups.empty()) return;
  page +=
      "<h3>How far the start has come</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Start-up by stage\"><table>\n<thead><tr><th scope=\"col\">Workers</th>"
      "<th scope=\"col\">Reached</th><th scope=\"col\">Hosts</th><th scope=\"col\">In the way</th>"
      "</tr></thead>\n<tbody>\n";
  for (const StartUpGroup& group : groups) {
    std::string bar;
    for (size_t i = 0; i < kStartUpStages; ++i) {
      bar += i < group.reached ? "<i class=\"on\"></i>" : "<i></i>";
    }
    absl::StrAppend(&page, group.culprit ? "<tr class=\"culprit\">" : "<tr>", "<td>",
                    Grouped(static_cast<int64_t>(group.workers.size())),
                    "</td><td><span class=\"stages\">", bar, "</span> ", Html(group.stage),
                    "</td><td class=\"data\">", Html(FoldedHosts(report, group.workers)),
                    "</td><td>", Html(absl::StrJoin(group.obstacles, "; ")), "</td></tr>\n");
  }
  page += "</tbody>\n</table></div>\n";
}

void AppendMoments(const Report& report, std::string& page) {
  std::string items;
  const auto add = [&items](const char* what, const std::string& value) {
    absl::StrAppend(&items, "<li>", what, ": <b>", Html(value), "</b></li>\n");
  };
  if (report.first_error && report.first_error->at) {
    const auto& uncertainty = report.first_error->uncertainty_ms;
    add("First error",
        absl::StrCat(*report.first_error->at, ", ", FirstErrorName(report.first_error->type),
                     uncertainty ? ", or up to " + Duration(*uncertainty) + " earlier" : ""));
  }
  if (report.detected_at) add(report.from_logs ? "The logs end" : "Detected", *report.detected_at);
  if (const auto& timings = report.timings) {
    add("Collected", absl::StrCat(timings->detect_to_collect_ms > 0
                                      ? Duration(timings->detect_to_collect_ms) + " later"
                                      : "at once",
                                  ", in ", Duration(timings->collect_ms)));
    add("Classified in", Duration(timings->classify_ms));
  }
  if (!items.empty()) absl::StrAppend(&page, "<ul class=\"facts\">\n", items, "</ul>\n");
}

const char* HowToRead(const Report& report) {
  const bool hang = report.cause != Cause::kNoHang;
  if (report.from_logs && hang) {
    return "A lane is a worker's log and ends with its last line; a mark is a step that the log "
           "shows, a triangle the first error, the last line or the end of the process. A worker "
           "that logs little falls silent early, and need not be at fault.";
  }
  if (report.from_logs) {
    return "A lane is a worker's log and ends with its last line; a mark is a step that the log "
           "shows.";
  }
  if (!hang) return "A mark is a launch or a step that completed, as polls showed them.";
  return "A mark is a launch or a step that completed, a triangle a stop, as polls showed them. "
         "The lane that ends first is where to look.";
}

}  // namespace

std::string TimelineSection(const Report& report) {
  std::string page;
  if (!report.last_minutes.lanes.empty()) {
    absl::StrAppend(&page, "<p class=\"soft\">", HowToRead(report),
                    report.detected_unix_ms ? " Times are UTC." : "",
                    "</p>\n<div class=\"lanes\">\n");
    const std::string label = LanesInWords(report);
    page += TimelineDrawing(report, kTimelineWide, 150).Draw("wide", label);
    page += TimelineDrawing(report, kTimelineNarrow, 86).Draw("narrow", label);
    page += "</div>\n";
  }
  AppendOrder(report, page);
  AppendStartUp(report, page);
  AppendMoments(report, page);
  if (page.empty()) return "";
  return absl::StrCat("<section aria-labelledby=\"time\">\n<h2 id=\"time\">The last minutes</h2>\n",
                      page, "</section>\n");
}

std::string LogSection(const Report& report) {
  const LastMinutes& minutes = report.last_minutes;
  if (minutes.log.empty()) return "";
  std::string page =
      "<section aria-labelledby=\"log\">\n<h2 id=\"log\">Log around the stop</h2>\n<div "
      "class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Log lines\">\n<table "
      "class=\"log\">\n<thead><tr><th scope=\"col\">When</th><th scope=\"col\">Hosts</th><th "
      "scope=\"col\">Line</th></tr></thead>\n<tbody>\n";
  for (const LoggedLine& line : minutes.log) {
    absl::StrAppend(&page,
                    line.culprit && (!line.minor || line.last) ? "<tr class=\"culprit\">" : "<tr>",
                    "<td class=\"data\">", Html(line.age_ms ? At(report, *line.age_ms) : "?"),
                    "</td><td class=\"data\">", Html(FoldedHosts(report, line.workers, 200)),
                    line.source.empty() ? "" : absl::StrCat(" (", line.source, ")"),
                    line.count > static_cast<int64_t>(line.workers.size())
                        ? absl::StrCat(", ", Grouped(line.count), " times")
                        : "",
                    "</td><td class=\"data\">", Html(line.text),
                    line.last ? " <span class=\"soft\">(its last line)</span>" : "",
                    line.alike ? " <span class=\"soft\">(others with other numbers)</span>" : "",
                    "</td></tr>\n");
  }
  page += "</tbody>\n</table></div>\n";
  if (minutes.more_log > 0) {
    absl::StrAppend(&page, "<p class=\"soft\">… and ", minutes.more_log, " more</p>\n");
  }
  page += "</section>\n";
  return page;
}

}  // namespace rapideye::digest
