#include "digest/html_map.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "digest/html_text.h"
#include "digest/sentence.h"
#include "digest/text_states.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

using Json = nlohmann::ordered_json;

// As many colours as the style sheet has; the other places share one more.
constexpr size_t kColours = 4;
constexpr size_t kMaxOpenSlices = 4;
constexpr size_t kMaxLinesOfSlices = 64;
constexpr size_t kMaxPlacesInLine = 3;
constexpr size_t kMaxCards = 12;
constexpr size_t kMaxChipsOfCard = 16;
// A program with more places in one launch has them shown singly.
constexpr size_t kMaxComparedPlaces = 256;
// A job of so few slices is shown whole.
constexpr size_t kSmallJob = 2;

std::string Label(const ProgramGroup& group, const Position& position) {
  std::string label = PositionText(position);
  if (group.module) absl::StrAppend(&label, " in ", text::EscapeName(*group.module));
  if (group.launch_id) absl::StrAppend(&label, ", launch ", *group.launch_id);
  return label;
}

std::set<WorkerId> AccusedWorkers(const Report& report) {
  std::set<WorkerId> accused;
  for (const ReportCulprit& culprit : report.culprits) accused.insert(culprit.worker.id);
  return accused;
}

// " <span …>stopped here</span>"; empty for a slice without a culprit.
std::string CulpritPill(const Report& report, size_t accused) {
  const std::string label = accused > 0 ? CulpritLabel(report) : "";
  if (label.empty()) return "";
  return absl::StrCat(" <span class=\"pill red\">", label, "</span>");
}

// Counts the cores of one slice by the place where each stands.
struct SliceState {
  int32_t slice = 0;
  size_t hosts = 0;
  size_t accused = 0;
  size_t missing = 0;
  std::map<size_t, size_t> cores;  // by state, but for SparseCores that do nothing
};

// A place in a program, numbered as in MapData.
struct PlaceState {
  const ProgramGroup* group;
  const Position* position;
  // Colours go to the places of most cores; what runs nothing has one of its own.
  std::optional<size_t> rank;
  std::string text;  // "all-reduce.3", with as much of module and launch as tells it from others
  size_t like;       // the first of the places that are shown as one with this; itself, if none
  size_t cores;      // of all places that are shown as one
  bool visible;      // a chip of the map has its colour
};

bool IsSparse(CoreType type) {
  return type == CoreType::kSparseCore || type == CoreType::kSparseCoreV0;
}

// SparseCores and TensorCores never share a place.
bool IsSparse(const Position& position) { return IsSparse(position.cores.front().type); }

// True if two places of a program are one for a reader: the same instruction, whatever the pc; in
// a job that runs, the same launch.
bool IsOnePlace(const Report& report, const PlaceState& a, const PlaceState& b) {
  if (a.position->idle || b.position->idle) return a.position == b.position;
  if (a.group != b.group || IsSparse(*a.position) != IsSparse(*b.position)) return false;
  if (report.cause == Cause::kNoHang && a.group->module) return true;
  return a.position->hlo.has_value() && a.position->hlo == b.position->hlo;
}

std::string InstructionText(const Position& position) {
  if (position.idle) return "nothing runs";
  if (position.hlo) return text::EscapeName(*position.hlo);
  if (position.pc) return absl::StrCat("pc ", PcText(position.pc));
  return "an unknown place";
}

// Names of places, each different from the others as far as the report tells.
void NamePlaces(const Report& report, std::vector<PlaceState>& states) {
  std::vector<PlaceState*> shown;
  for (size_t i = 0; i < states.size(); ++i) {
    PlaceState& state = states[i];
    const bool runs = report.cause == Cause::kNoHang && state.group->module;
    state.text = runs ? text::EscapeName(*state.group->module) : InstructionText(*state.position);
    if (state.like == i) shown.push_back(&state);
  }
  const auto count = [&shown] {
    std::map<std::string, size_t> counts;
    for (const PlaceState* state : shown) ++counts[state->text];
    return counts;
  };
  const std::map<std::string, size_t> by_instruction = count();
  for (PlaceState* state : shown) {
    if (!state->rank || by_instruction.at(state->text) == 1) continue;
    if (IsSparse(*state->position)) state->text = absl::StrCat("SparseCore ", state->text);
    if (state->group->module && report.cause != Cause::kNoHang) {
      absl::StrAppend(&state->text, " in ", text::EscapeName(*state->group->module));
    }
  }
  const std::map<std::string, size_t> by_module = count();
  for (PlaceState* state : shown) {
    if (!state->rank || by_module.at(state->text) == 1 || !state->group->launch_id) continue;
    absl::StrAppend(&state->text, ", launch ", *state->group->launch_id);
  }
  for (PlaceState& state : states) state.text = states[state.like].text;
}

// A chip is coloured by its TensorCore, unless only a SparseCore of it runs something.
void FindVisible(std::vector<PlaceState>& states) {
  std::set<std::pair<size_t, int32_t>> busy;
  for (const PlaceState& state : states) {
    if (state.position->idle || IsSparse(*state.position)) continue;
    for (const CoreAt& core : state.position->cores) {
      busy.emplace(core.worker, core.chip.value_or(-1));
    }
  }
  for (PlaceState& state : states) {
    const auto& cores = state.position->cores;
    if (state.position->idle) continue;
    states[state.like].visible =
        states[state.like].visible || !IsSparse(*state.position) ||
        std::any_of(cores.begin(), cores.end(), [&busy](const CoreAt& core) {
          return core.culprit || !busy.contains({core.worker, core.chip.value_or(-1)});
        });
  }
}

std::vector<PlaceState> PlaceStates(const Report& report) {
  std::vector<PlaceState> states;
  for (const ProgramGroup& group : report.tpu_states) {
    const size_t first = states.size();
    for (const Position& position : group.positions) {
      PlaceState state = {&group, &position, std::nullopt, "", states.size(), 0, false};
      for (size_t i = first; i < states.size() && i < first + kMaxComparedPlaces; ++i) {
        if (states[i].like == i && IsOnePlace(report, state, states[i])) {
          state.like = i;
          break;
        }
      }
      states.push_back(state);
      states[state.like].cores += position.cores.size();
    }
  }
  FindVisible(states);
  std::vector<size_t> ranked;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].like == i && !states[i].position->idle) ranked.push_back(i);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&states](size_t a, size_t b) {
    return std::tuple(!states[a].visible, states[b].cores) <
           std::tuple(!states[b].visible, states[a].cores);
  });
  for (size_t rank = 0; rank < ranked.size(); ++rank) states[ranked[rank]].rank = rank;
  for (PlaceState& state : states) state.rank = states[state.like].rank;
  NamePlaces(report, states);
  return states;
}

std::string ColourClass(const PlaceState& state) {
  if (!state.rank) return "si";
  return absl::StrCat("s", std::min(*state.rank, kColours));
}

bool IsIdleSparse(const Position& position, const CoreAt& core) {
  return position.idle && IsSparse(core.type);
}

std::vector<SliceState> SliceStates(const Report& report, const std::vector<PlaceState>& places) {
  std::vector<SliceState> slices;
  std::vector<size_t> slice_of(report.workers.size());
  const std::set<WorkerId> accused = AccusedWorkers(report);
  for (size_t i = 0; i < report.workers.size(); ++i) {
    const ReportWorker& worker = report.workers[i];
    if (slices.empty() || slices.back().slice != worker.id.slice) {
      slices.emplace_back();
      slices.back().slice = worker.id.slice;
    }
    ++slices.back().hosts;
    if (!worker.reported) ++slices.back().missing;
    if (accused.count(worker.id) > 0) ++slices.back().accused;
    slice_of[i] = slices.size() - 1;
  }
  for (size_t state = 0; state < places.size(); ++state) {
    for (const CoreAt& core : places[state].position->cores) {
      if (IsIdleSparse(*places[state].position, core)) continue;
      ++slices[slice_of[core.worker]].cores[places[state].like];
    }
  }
  return slices;
}

// "768 cores at recv-done.12, 3 at all-reduce.3, 96 SparseCores at pc 0x300".
std::string StandsAt(const std::map<size_t, size_t>& cores, size_t slices,
                     const std::vector<PlaceState>& places) {
  size_t idle = 0;
  std::vector<std::pair<size_t, size_t>> largest;
  for (const auto& [state, count] : cores) {
    if (places[state].rank) {
      largest.emplace_back(state, count);
    } else {
      idle += count;
    }
  }
  const auto sparse = [&places](size_t state) { return IsSparse(*places[state].position); };
  std::stable_sort(largest.begin(), largest.end(), [&sparse](const auto& a, const auto& b) {
    return std::pair(sparse(a.first), b.second) < std::pair(sparse(b.first), a.second);
  });
  std::string html;
  for (size_t i = 0; i < largest.size() && i < kMaxPlacesInLine; ++i) {
    const auto& [state, count] = largest[i];
    const bool of_a_kind = i > 0 && sparse(largest[i - 1].first) == sparse(state);
    absl::StrAppend(
        &html, i == 0 ? "" : ", ",
        of_a_kind ? Grouped(static_cast<int64_t>(count))
                  : Counted(static_cast<int64_t>(count), sparse(state) ? "SparseCore" : "core"),
        i == 0 && slices > 1 ? " each" : "", " at <code>", Html(places[state].text), "</code>");
  }
  if (largest.size() > kMaxPlacesInLine) {
    absl::StrAppend(
        &html, " and ",
        Counted(static_cast<int64_t>(largest.size() - kMaxPlacesInLine), "other place"));
  }
  if (idle > 0) {
    absl::StrAppend(&html, html.empty() ? "" : "; ", Counted(static_cast<int64_t>(idle), "core"),
                    html.empty() && slices > 1 ? " each" : "",
                    idle == 1 ? " has nothing to run" : " have nothing to run");
  }
  return html.empty() ? "no core is known" : html;
}

// A culprit with its chips, larger than on the map and readable without it.
void AppendCard(const Report& report, size_t worker, const std::vector<PlaceState>& places,
                std::string& page) {
  struct Chip {
    std::string text;
    bool culprit = false;
  };
  std::map<int32_t, Chip> chips;
  for (const PlaceState& place : places) {
    for (const CoreAt& core : place.position->cores) {
      if (core.worker != worker || IsIdleSparse(*place.position, core)) continue;
      Chip& chip = chips[core.chip.value_or(-1)];
      if (chip.text.empty() || (core.culprit && !chip.culprit))
        chip.text = InstructionText(*place.position);
      chip.culprit = chip.culprit || core.culprit;
    }
  }
  const ReportWorker& who = report.workers[worker];
  absl::StrAppend(&page, "<li class=\"card\"><b>", Html(text::EscapeName(who.host)),
                  "</b> <span class=\"soft\">slice ", who.id.slice, " task ", who.id.task,
                  "</span>");
  if (!who.reported) page += " <span class=\"pill red\">missing</span>";
  if (chips.empty()) {
    for (const ReportCulprit& culprit : report.culprits) {
      if (culprit.worker.id != who.id || !culprit.end) continue;
      absl::StrAppend(&page, " <span>", Html(text::EscapeText(*culprit.end, kMaxHostsBytes)),
                      "</span>");
      break;
    }
  }
  page += "<span class=\"chips\">";
  size_t shown = 0;
  for (const auto& [number, chip] : chips) {
    if (shown++ == kMaxChipsOfCard) break;
    absl::StrAppend(&page, "<span class=\"chip", chip.culprit ? " bad" : "", "\">",
                    chip.culprit ? "◆ " : "", "chip ", number < 0 ? "?" : absl::StrCat(number), " ",
                    "<code>", Html(chip.text), "</code></span>");
  }
  page += "</span></li>\n";
}

void AppendOpenSlice(const Report& report, const SliceState& slice,
                     const std::vector<PlaceState>& places, std::string& page) {
  absl::StrAppend(
      &page, "<div class=\"slice\">\n<h3>Slice ", slice.slice, CulpritPill(report, slice.accused),
      slice.missing > 0
          ? absl::StrCat(" <span class=\"pill amber\">", slice.missing, " missing</span>")
          : "",
      "</h3>\n<p class=\"soft\">", Counted(static_cast<int64_t>(slice.hosts), "host"), "; ",
      StandsAt(slice.cores, 1, places), "</p>\n");
  const std::set<WorkerId> accused = AccusedWorkers(report);
  std::string cards;
  size_t count = 0;
  for (size_t i = 0; i < report.workers.size(); ++i) {
    if (report.workers[i].id.slice != slice.slice) continue;
    if (accused.count(report.workers[i].id) == 0) continue;
    if (++count > kMaxCards) continue;
    AppendCard(report, i, places, cards);
  }
  if (count > 0) absl::StrAppend(&page, "<ul class=\"cards\">\n", cards, "</ul>\n");
  if (count > kMaxCards)
    absl::StrAppend(&page, "<p>… and ", count - kMaxCards, " more hosts</p>\n");
  absl::StrAppend(&page, "<div class=\"hosts\" data-slices=\"", slice.slice, "\"></div>\n</div>\n");
}

void AppendFolded(const Report& report, const std::vector<SliceState>& slices,
                  const std::vector<size_t>& members, const std::vector<PlaceState>& places,
                  std::string& page) {
  const SliceState& first = slices[members.front()];
  std::vector<int32_t> ids;
  for (const size_t member : members) ids.push_back(slices[member].slice);
  const std::string ranges = SliceRanges(ids);
  absl::StrAppend(
      &page, "<details class=\"slice calm\"><summary><b>Slice", ids.size() == 1 ? " " : "s ",
      Html(text::CutText(ranges, kMaxHostsBytes)), "</b>", CulpritPill(report, first.accused),
      first.accused == 0 && first.missing > 0 ? " <span class=\"pill amber\">hosts missing</span>"
                                              : "",
      " <span class=\"soft\">", Counted(static_cast<int64_t>(first.hosts), "host"),
      ids.size() > 1 ? " each" : "", "; ", StandsAt(first.cores, ids.size(), places),
      "</span></summary><div class=\"hosts\" data-slices=\"", ranges, "\"></div></details>\n");
}

void AppendLegend(const Report& report, const std::vector<PlaceState>& places, std::string& page) {
  page += "<ul class=\"legend\">\n";
  const auto entry = [&page](const std::string& css_class, const std::string& html) {
    absl::StrAppend(&page, "<li><i class=\"", css_class, "\"></i>", html, "</li>\n");
  };
  if (!report.culprits.empty()) entry("bad", "culprit");
  if (!report.missing.empty()) entry("gone", "did not report");
  size_t other = 0;
  for (const PlaceState& place : places) {
    if (!place.visible) continue;
    const auto cores = static_cast<int64_t>(place.cores);
    if (*place.rank < kColours) {
      entry(ColourClass(place),
            absl::StrCat("<code>", Html(place.text), "</code> (", Counted(cores, "core"), ")"));
    } else {
      ++other;
    }
  }
  if (other > 0) {
    entry(absl::StrCat("s", kColours), Counted(static_cast<int64_t>(other), "other place"));
  }
  const bool idle = std::any_of(places.begin(), places.end(),
                                [](const PlaceState& place) { return !place.rank; });
  std::set<size_t> known;
  for (const PlaceState& place : places) {
    for (const CoreAt& core : place.position->cores) known.insert(core.worker);
  }
  bool unknown = false;
  for (size_t i = 0; i < report.workers.size(); ++i) {
    unknown = unknown || (report.workers[i].reported && !known.contains(i));
  }
  if (idle || unknown) {
    entry("si", !unknown ? "nothing runs"
                : idle   ? "nothing runs, or no core is known"
                         : "no core is known");
  }
  page += "</ul>\n";
}

}  // namespace

std::string MapSection(const Report& report) {
  if (report.workers.empty()) return "";
  const std::vector<PlaceState> places = PlaceStates(report);
  const std::vector<SliceState> slices = SliceStates(report, places);
  std::vector<size_t> open;
  // Slices that look alike share a line: what stands where, whether somebody is missing.
  std::map<std::tuple<size_t, size_t, bool, std::map<size_t, size_t>>, std::vector<size_t>> alike;
  for (const bool of_culprits : {true, false}) {
    for (size_t i = 0; i < slices.size(); ++i) {
      const SliceState& slice = slices[i];
      if ((slice.accused > 0) != of_culprits) continue;
      const bool worth = slice.accused > 0 || slice.missing > 0 || slices.size() <= kSmallJob;
      if (worth && open.size() < kMaxOpenSlices) {
        open.push_back(i);
      } else {
        alike[{slice.hosts, slice.missing, slice.accused > 0, slice.cores}].push_back(i);
      }
    }
  }
  std::vector<std::vector<size_t>> lines;
  for (auto& [key, members] : alike) lines.push_back(std::move(members));
  std::sort(lines.begin(), lines.end());
  size_t chips = 0;
  for (const PlaceState& place : places) chips += place.position->cores.empty() ? 0 : 1;

  std::string page = absl::StrCat(
      "<section aria-labelledby=\"map\">\n<h2 id=\"map\">The job</h2>\n<p class=\"soft\">",
      Counted(static_cast<int64_t>(slices.size()), "slice"), ", ",
      Counted(static_cast<int64_t>(report.workers.size()), "host"),
      chips == 0 ? "; no chip reported" : "; a box is a host, a cell a chip",
      report.torus.empty() ? "" : ", in the order of the torus",
      ". Slices that stand alike are folded.",
      chips == 0 ? "" : " Arrow keys move from host to host, Enter shows its cores.", "</p>\n");
  AppendLegend(report, places, page);
  page += "<div class=\"slices\">\n";
  for (const size_t slice : open) AppendOpenSlice(report, slices[slice], places, page);
  for (size_t i = 0; i < lines.size() && i < kMaxLinesOfSlices; ++i) {
    AppendFolded(report, slices, lines[i], places, page);
  }
  page += "</div>\n";
  if (lines.size() > kMaxLinesOfSlices) {
    absl::StrAppend(&page, "<p>… and ", lines.size() - kMaxLinesOfSlices,
                    " more groups of slices</p>\n");
  }
  absl::StrAppend(&page,
                  "<div id=\"host\" role=\"status\"></div>\n<script "
                  "type=\"application/json\" id=\"map-data\">",
                  MapData(report), "</script>\n</section>\n");
  return page;
}

std::string MapData(const Report& report) {
  const std::vector<PlaceState> places = PlaceStates(report);
  Json states = Json::array();
  std::vector<Json> cores(report.workers.size(), Json::array());
  for (const ProgramGroup& group : report.tpu_states) {
    for (const Position& position : group.positions) {
      const size_t state = states.size();
      states.push_back({Label(group, position), position.cores.size(), position.idle ? 1 : 0,
                        ColourClass(places[state])});
      for (const CoreAt& core : position.cores) {
        Json& list = cores[core.worker];
        list.push_back(core.chip.value_or(-1));
        list.push_back(static_cast<int>(core.type));
        list.push_back(core.index);
        list.push_back(state);
        list.push_back(core.culprit ? 1 : 0);
      }
    }
  }
  const std::set<WorkerId> accused = AccusedWorkers(report);
  Json workers = Json::array();
  for (size_t i = 0; i < report.workers.size(); ++i) {
    const ReportWorker& worker = report.workers[i];
    Json entry = {worker.id.slice,
                  worker.id.task,
                  text::EscapeName(worker.host),
                  worker.reported ? 1 : 0,
                  accused.count(worker.id) > 0 ? 1 : 0,
                  std::move(cores[i])};
    if (i < report.torus.size() && report.torus[i]) entry.push_back(*report.torus[i]);
    workers.push_back(std::move(entry));
  }
  std::string json = Json{{"states", std::move(states)}, {"workers", std::move(workers)}}.dump(
      -1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return JsonInHtml(std::move(json));
}

}  // namespace rapideye::digest
