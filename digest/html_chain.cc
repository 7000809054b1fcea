#include "digest/html_chain.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/wording/wording.h"
#include "digest/html_text.h"
#include "digest/svg.h"
#include "digest/text_states.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

// Widths of the drawings: the wide one fits a window of 1,180 pixels, the narrow one 390.
constexpr int kWide = 1112;
constexpr int kNarrow = 326;
constexpr int kGap = 100;
constexpr int kMaxBoxWidth = 300;
constexpr size_t kMaxColumns = 4;
constexpr int kBetween = 14;
constexpr int kNarrowBetween = 34;
constexpr int kPadding = 12;
constexpr int kLineHeight = 18;
constexpr int kLabelLine = 16;
constexpr int kGutter = 26;
constexpr int kLanes = 5;
constexpr size_t kMaxNamedHosts = 2;
constexpr size_t kMaxSlicesNamed = 6;
constexpr size_t kMaxLabelBytes = 1000;

// Widest character of each font, roughly, in tenths of a pixel.
constexpr int kMono = 80;
constexpr int kBold = 100;
constexpr int kPlain = 78;
constexpr int kSmall = 70;

// The text must be short: it stands beside an arrow.
const char* ArrowText(WaitEdgeKind kind) {
  switch (kind) {
    case WaitEdgeKind::kCollective:
      return "wait in the slice for";
    case WaitEdgeKind::kTransfer:
      return "wait across slices for";
    case WaitEdgeKind::kSparseCore:
      return "wait for the SparseCore of";
    case WaitEdgeKind::kInput:
      return "wait for the input of";
    case WaitEdgeKind::kLaunch:
      return "wait for a launch by";
    case WaitEdgeKind::kHost:
      return "wait on the host for";
    case WaitEdgeKind::kStartUp:
      return "cannot start without";
    case WaitEdgeKind::kAfter:
      return "stopped because of";
    case WaitEdgeKind::kBrokenLink:
      return "nothing gets through";
    case WaitEdgeKind::kDivergence:
      return "never meet";
  }
  return "";
}

bool IsBroken(WaitEdgeKind kind) {
  return kind == WaitEdgeKind::kBrokenLink || kind == WaitEdgeKind::kDivergence;
}

// One line of a box.
struct BoxLine {
  std::string text;
  const char* css_class;
  std::string title;  // the whole, if the line is a part
};

struct Box {
  size_t group = 0;
  std::string title;  // of the group, in one line
  std::vector<BoxLine> lines;
  int x = 0, y = 0, width = 0, height = 0;
};

class Names {
 public:
  explicit Names(const Report& report) : report_(report) {}

  std::string HostOf(WorkerId id) const {
    const auto& workers = report_.workers;
    auto it = std::lower_bound(workers.begin(), workers.end(), id,
                               [](const ReportWorker& w, WorkerId want) { return w.id < want; });
    if (it == workers.end() || it->id != id)
      return absl::StrCat("slice ", id.slice, " task ", id.task);
    return text::EscapeName(it->host);
  }

  // "host-1-07 chip 2", "252 cores", "12 workers".
  std::string Title(const ChainGroup& group) const {
    if (group.workers.size() == 1 && (group.head || group.cores <= 1)) {
      std::string title = HostOf(group.workers.front());
      if (group.chip) absl::StrAppend(&title, " chip ", *group.chip);
      return title;
    }
    if (group.cores > 0) return Counted(group.cores, "core");
    return Counted(static_cast<int64_t>(group.workers.size()), "worker");
  }

  // "slices 0, 2, 3 (192 hosts)", "slice 1, 63 hosts", "tpu-0-1, tpu-0-2".
  std::string Where(const ChainGroup& group) const {
    if (group.workers.size() == 1) {
      const WorkerId id = group.workers.front();
      std::string text = absl::StrCat("slice ", id.slice, " task ", id.task);
      if (!group.head && group.cores > 1) text = absl::StrCat(HostOf(id), ", ", text);
      if (group.head && group.cores > 1) absl::StrAppend(&text, ", ", Counted(group.cores, "core"));
      return text;
    }
    if (group.workers.size() <= kMaxNamedHosts) {
      std::vector<std::string> hosts;
      for (const WorkerId id : group.workers) hosts.push_back(HostOf(id));
      return absl::StrJoin(hosts, ", ");
    }
    std::set<int32_t> slices;
    for (const WorkerId id : group.workers) slices.insert(id.slice);
    const std::string hosts = Counted(static_cast<int64_t>(group.workers.size()), "host");
    if (slices.size() == 1) return absl::StrCat("slice ", *slices.begin(), ", ", hosts);
    if (slices.size() > kMaxSlicesNamed) return absl::StrCat(slices.size(), " slices, ", hosts);
    return absl::StrCat("slices ", absl::StrJoin(slices, ", "), " (", hosts, ")");
  }

  static std::string Place(const ChainGroup& group) {
    std::string place;
    if (group.instruction) {
      place = text::EscapeName(*group.instruction);
    } else if (group.pc && *group.pc != 0) {
      place = absl::StrCat("pc ", PcText(group.pc));
    }
    return place;
  }

 private:
  const Report& report_;
};

bool ShowsModules(const WaitChain& chain) {
  return std::any_of(chain.edges.begin(), chain.edges.end(),
                     [](const ChainEdge& edge) { return edge.kind == WaitEdgeKind::kDivergence; });
}

// The other side of a divergence, if `group` is one.
const ChainGroup* OtherSide(const WaitChain& chain, size_t group) {
  for (const ChainEdge& edge : chain.edges) {
    if (edge.kind != WaitEdgeKind::kDivergence) continue;
    if (edge.from == group) return &chain.groups[edge.to];
    if (edge.to == group) return &chain.groups[edge.from];
  }
  return nullptr;
}

class BoxWriter {
 public:
  BoxWriter(const Report& report, int width) : report_(report), names_(report), width_(width) {}

  Box Write(size_t index) {
    const ChainGroup& group = report_.chain.groups[index];
    box_ = {.group = index, .title = names_.Title(group), .lines = {}, .width = width_};
    Add(box_.title, group.head ? "t bad" : "t", kBold, 2);
    Add(names_.Where(group), "s", kPlain, 2);
    Add(Names::Place(group), "m", kMono, 2);
    if (ShowsModules(report_.chain) && group.module) {
      Add(absl::StrCat("runs ", text::EscapeName(*group.module)), "m", kMono, 2);
    }
    if (const ChainGroup* other = OtherSide(report_.chain, index);
        other != nullptr && group.fingerprint && other->module == group.module) {
      constexpr size_t kDigits = 12;
      Add(absl::StrCat("compiled as ", text::EscapeName(group.fingerprint->substr(0, kDigits))),
          "m bad", kMono, 1);
    }
    AddQueue(index);
    if (group.wait == WaitKind::kRunning) AddLaunch(group);
    // The sides of a cut or of a divergence stand wherever they stand.
    if (group.wait != WaitKind::kMixed) Add(WaitText(group), "s", kPlain, 2);
    if (group.host_place) Add(*group.host_place, "s", kPlain, 3);
    const std::optional<int64_t>& time = group.loops_ms ? group.loops_ms : group.since_ms;
    if (time && *time > 0) {
      const bool event = group.wait == WaitKind::kEnded || group.wait == WaitKind::kHalted;
      Add(event ? absl::StrCat(Duration(*time), " ago") : absl::StrCat("for ", Duration(*time)),
          "s", kPlain, 1);
    }
    box_.height = 2 * kPadding + static_cast<int>(box_.lines.size()) * kLineHeight;
    return std::move(box_);
  }

 private:
  void Add(const std::string& text, const char* css_class, int tenths, size_t max_lines) {
    if (text.empty()) return;
    const auto columns = static_cast<size_t>((width_ - 2 * kPadding) * 10 / tenths);
    const std::vector<std::string> lines = WrapText(text, std::max<size_t>(columns, 4), max_lines);
    const bool cut = absl::StrJoin(lines, "").size() < text.size() - lines.size();
    for (const std::string& line : lines) {
      box_.lines.push_back({line, css_class, cut ? text : ""});
    }
  }

  // Of groups that run what tells them apart.
  void AddLaunch(const ChainGroup& group) {
    if (group.module) Add(text::EscapeName(*group.module), "m", kMono, 2);
    if (group.launch_id) Add(absl::StrCat("launch ", *group.launch_id), "m", kMono, 1);
  }

  // The programs in a side's queue, in order; the first one unlike the other side's is marked.
  // Sides that run one program, compiled differently, may have queued more or less of it.
  void AddQueue(size_t index) {
    const ChainGroup& group = report_.chain.groups[index];
    const ChainGroup* other = OtherSide(report_.chain, index);
    bool differs = other == nullptr ||
                   (group.module == other->module && group.fingerprint != other->fingerprint);
    for (size_t i = 0; i < group.queue.size(); ++i) {
      const bool here = !differs && (i >= other->queue.size() || other->queue[i] != group.queue[i]);
      differs = differs || here;
      Add(absl::StrCat(i + 1, ". ", text::EscapeName(group.queue[i]), here ? " ◀" : ""),
          here ? "m bad" : "m", kMono, 1);
    }
  }

  const Report& report_;
  const Names names_;
  const int width_;
  Box box_;
};

// Distance of each group from the end of the chain, along its edges; edges that close a circle
// are not followed.
class Layers {
 public:
  explicit Layers(const WaitChain& chain)
      : chain_(chain), layer_(chain.groups.size()), state_(chain.groups.size(), kNew) {
    if (chain.edges.empty()) {
      Spread();
      return;
    }
    for (size_t i = 0; i < chain.groups.size(); ++i) Visit(i);
    SetAside();
  }
  size_t Of(size_t group) const { return layer_[group]; }
  size_t count() const {
    return layer_.empty() ? 0 : *std::max_element(layer_.begin(), layer_.end()) + 1;
  }

 private:
  enum State { kNew, kOpen, kDone };

  // The recursion is as deep as there are groups: at most kMaxChainGroups.
  size_t Visit(size_t group) {  // NOLINT(misc-no-recursion)
    if (state_[group] != kNew) return layer_[group];
    state_[group] = kOpen;
    size_t layer = 0;
    for (const ChainEdge& edge : chain_.edges) {
      if (edge.from != group || state_[edge.to] == kOpen) continue;
      layer = std::max(layer, Visit(edge.to) + 1);
    }
    state_[group] = kDone;
    return layer_[group] = layer;
  }

  // No group is known to wait for another: they stand side by side, row after row.
  void Spread() {
    const size_t columns = std::min(kMaxColumns, layer_.size());
    for (size_t i = 0; i < layer_.size(); ++i) layer_[i] = columns - 1 - i % columns;
  }

  // A group that neither waits nor is waited for stands with the groups furthest from the heads.
  void SetAside() {
    std::vector<bool> has_edge(chain_.groups.size());
    for (const ChainEdge& edge : chain_.edges) has_edge[edge.from] = has_edge[edge.to] = true;
    const size_t furthest = count() - (layer_.empty() ? 0 : 1);
    for (size_t i = 0; i < chain_.groups.size(); ++i) {
      if (!has_edge[i] && !chain_.groups[i].head) layer_[i] = furthest;
    }
  }

  const WaitChain& chain_;
  std::vector<size_t> layer_;
  std::vector<State> state_;
};

void DrawBox(const Report& report, const Box& box, Svg& svg) {
  const bool head = report.chain.groups[box.group].head;
  std::string html = absl::StrCat("<div class=\"box", head ? " head" : "", "\">");
  for (const BoxLine& line : box.lines) {
    absl::StrAppend(&html, "<div class=\"", line.css_class, "\"",
                    line.title.empty() ? "" : absl::StrCat(" title=\"", Html(line.title), "\""),
                    ">", Html(line.text), "</div>");
  }
  svg.Place(box.x, box.y, box.width, box.height, html + "</div>");
}

const char* LineClass(WaitEdgeKind kind) { return IsBroken(kind) ? "edge dead" : "edge"; }

std::string Arrowhead(int x, int y, bool both, int from_x, int from_y) {
  std::string path =
      absl::StrCat("M", x - 8, " ", y - 5, "L", x, " ", y, "L", x - 8, " ", y + 5, "Z");
  if (both) {
    absl::StrAppend(&path, "M", from_x + 8, " ", from_y - 5, "L", from_x, " ", from_y, "L",
                    from_x + 8, " ", from_y + 5, "Z");
  }
  return path;
}

// Draws the groups in columns from left to right, the heads rightmost.
class WideDrawing {
 public:
  WideDrawing(const Report& report, const Layers& layers) : report_(report), layers_(layers) {}

  std::string Draw(const std::string& label) {
    const auto columns = static_cast<int>(layers_.count());
    const int width = std::min(kMaxBoxWidth, (kWide - (columns - 1) * kGap) / columns);
    std::vector<int> heights(static_cast<size_t>(columns), 0);
    for (size_t i = 0; i < report_.chain.groups.size(); ++i) {
      Box box = BoxWriter(report_, width).Write(i);
      const size_t column = static_cast<size_t>(columns) - 1 - layers_.Of(i);
      box.x = static_cast<int>(column) * (width + kGap) + 1;
      box.y = heights[column] + (heights[column] > 0 ? kBetween : 0);
      heights[column] = box.y + box.height;
      boxes_.push_back(std::move(box));
    }
    const int height = *std::max_element(heights.begin(), heights.end());
    for (size_t i = 0; i < boxes_.size(); ++i) {
      const size_t column = static_cast<size_t>(columns) - 1 - layers_.Of(i);
      boxes_[i].y += (height - heights[column]) / 2 + 1;
    }
    Svg svg(columns * width + (columns - 1) * kGap + 2, "wide", label);
    for (size_t i = 0; i < report_.chain.edges.size(); ++i) DrawEdge(i, svg);
    for (const Box& box : boxes_) DrawBox(report_, box, svg);
    return std::move(svg).Finish(height + 2);
  }

 private:
  void DrawEdge(size_t index, Svg& svg) const {
    const ChainEdge& edge = report_.chain.edges[index];
    const Box& from = boxes_[edge.from];
    const Box& to = boxes_[edge.to];
    const bool right = from.x < to.x;
    const int x1 = right ? from.x + from.width : from.x;
    const int x2 = right ? to.x : to.x + to.width;
    const int y1 = from.y + from.height / 2;
    const int y2 = to.y + to.height / 2;
    const int bend = right ? kGap / 2 : -kGap / 2;
    svg.Path(absl::StrCat("M", x1, " ", y1, "C", x1 + bend, " ", y1, " ", x2 - bend, " ", y2, " ",
                          x2, " ", y2),
             LineClass(edge.kind));
    if (right) {
      svg.Path(Arrowhead(x2, y2, IsBroken(edge.kind), x1, y1),
               IsBroken(edge.kind) ? "tip dead" : "tip");
    }
    // Lines of one kind that part or meet share a label.
    const auto& edges = report_.chain.edges;
    const bool said = std::any_of(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(index),
                                  [&edge](const ChainEdge& other) {
                                    return other.kind == edge.kind &&
                                           (other.from == edge.from || other.to == edge.to);
                                  });
    if (said || !right) return;
    const std::vector<std::string> lines =
        WrapText(ArrowText(edge.kind), (kGap - 14) * 10 / kSmall, 3);
    // The label stands on the side from which the line bends away.
    const int above = y1 - 14 - (static_cast<int>(lines.size()) - 1) * kLabelLine;
    int y = y2 < y1 - kLabelLine ? y1 + 14 : above;
    for (const std::string& line : lines) {
      svg.Label(x1 + kGap / 2, y, kGap - 12, line, IsBroken(edge.kind) ? "bad" : "soft",
                Anchor::kMiddle);
      y += kLabelLine;
    }
  }

  const Report& report_;
  const Layers& layers_;
  std::vector<Box> boxes_;
};

// Draws the groups one below the other, the heads last; edges run in a gutter on the left.
class NarrowDrawing {
 public:
  NarrowDrawing(const Report& report, const Layers& layers) : report_(report), layers_(layers) {}

  std::string Draw(int width, const char* css_class, const std::string& label) {
    std::vector<size_t> order;
    for (size_t i = 0; i < report_.chain.groups.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return layers_.Of(a) > layers_.Of(b); });
    boxes_.resize(order.size());
    int y = 1;
    for (const size_t group : order) {
      Box box = BoxWriter(report_, width - kGutter - 1).Write(group);
      box.x = kGutter;
      box.y = y;
      y += box.height + kNarrowBetween;
      boxes_[group] = std::move(box);
    }
    Svg svg(width, css_class, label);
    for (size_t i = 0; i < report_.chain.edges.size(); ++i) DrawEdge(i, svg);
    for (const Box& box : boxes_) DrawBox(report_, box, svg);
    return std::move(svg).Finish(y - kNarrowBetween + 1);
  }

 private:
  void DrawEdge(size_t index, Svg& svg) const {
    const ChainEdge& edge = report_.chain.edges[index];
    const Box& from = boxes_[edge.from];
    const Box& to = boxes_[edge.to];
    const int y1 = from.y + from.height - 10;
    const int y2 = to.y + std::min(22, to.height / 2);
    const int x = kGutter - 6 - 4 * (static_cast<int>(index) % kLanes);
    svg.Path(absl::StrCat("M", kGutter, " ", y1, "H", x, "V", y2, "H", kGutter - 2),
             LineClass(edge.kind));
    svg.Path(Arrowhead(kGutter, y2, /*both=*/false, 0, 0),
             IsBroken(edge.kind) ? "tip dead" : "tip");
    const bool said = index > 0 && report_.chain.edges[index - 1].from == edge.from;
    if (said) return;
    const auto columns = static_cast<size_t>((from.width - kPadding) * 10 / kPlain);
    svg.Label(from.x + kPadding, from.y + from.height + kNarrowBetween / 2, from.width - kPadding,
              WrapText(absl::StrCat("↓ ", ArrowText(edge.kind), " ", to.title), columns, 1).front(),
              IsBroken(edge.kind) ? "bad" : "soft");
  }

  const Report& report_;
  const Layers& layers_;
  std::vector<Box> boxes_;
};

// The drawing in words.
std::string ChainInWords(const Report& report) {
  const Names names(report);
  std::string words;
  for (const ChainEdge& edge : report.chain.edges) {
    const ChainGroup& from = report.chain.groups[edge.from];
    const ChainGroup& to = report.chain.groups[edge.to];
    std::string step =
        IsBroken(edge.kind)
            ? absl::StrCat(names.Title(from), " and ", names.Title(to), ": ", ArrowText(edge.kind))
            : absl::StrCat(names.Title(from), " (", names.Where(from), ") ", ArrowText(edge.kind),
                           " ", names.Title(to));
    absl::StrAppend(&words, words.empty() ? "" : "; ", step);
    if (words.size() > kMaxLabelBytes) break;
  }
  if (words.empty()) {
    for (const ChainGroup& group : report.chain.groups) {
      absl::StrAppend(&words, words.empty() ? "" : "; ", names.Title(group), ", ",
                      names.Where(group));
      if (words.size() > kMaxLabelBytes) break;
    }
  }
  return text::CutText(std::move(words), kMaxLabelBytes);
}

bool IsSound(const WaitChain& chain) {
  return std::all_of(chain.edges.begin(), chain.edges.end(),
                     [&chain](const ChainEdge& edge) {
                       return edge.from < chain.groups.size() && edge.to < chain.groups.size();
                     }) &&
         std::all_of(chain.groups.begin(), chain.groups.end(),
                     [](const ChainGroup& group) { return !group.workers.empty(); });
}

std::string Drawings(const Report& report) {
  const WaitChain& chain = report.chain;
  if (chain.groups.empty() || chain.groups.size() > kMaxChainGroups || !IsSound(chain)) return "";
  const Layers layers(chain);
  const std::string label = ChainInWords(report);
  const bool columns = layers.count() <= kMaxColumns;
  std::string html = columns ? WideDrawing(report, layers).Draw(label)
                             : NarrowDrawing(report, layers).Draw(kWide / 2, "wide", label);
  absl::StrAppend(&html, NarrowDrawing(report, layers).Draw(kNarrow, "narrow", label));
  if (chain.more_groups > 0) {
    absl::StrAppend(&html, "<p class=\"soft\">… and ", Counted(chain.more_groups, "smaller group"),
                    " of ", Counted(chain.more_cores, "core"), ".</p>\n");
  }
  return html;
}

std::string LinksHtml(const Report& report) {
  if (report.links.empty()) return "";
  std::string html;
  if (!report.partition[0].empty()) {
    html += "<h3>Cut between</h3>\n";
    AppendList(html, "ul", report.partition, [](const std::vector<ReportWorker>& side) {
      std::vector<std::string> hosts;
      for (const ReportWorker& worker : side) hosts.push_back(text::EscapeName(worker.host));
      return absl::StrCat(Counted(static_cast<int64_t>(side.size()), "worker"), ": <code>",
                          Html(FoldedHosts(hosts)), "</code>");
    });
  }
  html += "<h3>Broken links</h3>\n";
  AppendList(html, "ul", report.links, [](const ReportLink& link) {
    if (NamesWorker(link.why, link.from) && NamesWorker(link.why, link.to)) return Html(link.why);
    std::string item = absl::StrCat(WorkerHtml(link.from), " → ", WorkerHtml(link.to));
    if (link.nic) absl::StrAppend(&item, " over <code>", Html(*link.nic), "</code>");
    if (!link.why.empty()) absl::StrAppend(&item, ": ", Html(link.why));
    return item;
  });
  return html;
}

}  // namespace

std::string ChainSection(const Report& report) {
  const std::string drawings = Drawings(report);
  const std::string links = LinksHtml(report);
  if (drawings.empty() && links.empty()) return "";
  return absl::StrCat("<section aria-labelledby=\"chain\">\n<h2 id=\"chain\">",
                      report.cause == Cause::kNoHang ? "Where everybody is"
                      : report.chain.edges.empty()   ? "Where everybody stands"
                                                     : "Who waits for whom",
                      "</h2>\n<div class=\"chain\">\n", drawings, "</div>\n", links,
                      "</section>\n");
}

}  // namespace rapideye::digest
