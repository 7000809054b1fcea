#include "digest/text_states.h"

#include <algorithm>
#include <vector>

#include "digest/fold.h"

namespace rapideye::digest {
namespace {

// Together with the other parts this keeps a digest under 200 lines.
constexpr size_t kMaxGroups = 8;
constexpr size_t kMaxPositions = 5;
// Members of a group are spelled out up to this many.
constexpr size_t kMaxSpelledOut = 10;

constexpr size_t kHeadingIndent = 4;
constexpr size_t kGroupIndent = 6;
constexpr size_t kPositionIndent = 8;

template <typename T>
std::string NumberText(const std::optional<T>& number, const char* absent) {
  return number ? absl::StrCat(*number) : absent;
}

// The `limit` elements to show, in their order: those with a culprit first
// chosen, then the largest.
template <typename T>
std::vector<const T*> Choose(const std::vector<T>& all, size_t limit) {
  std::vector<const T*> chosen;
  for (const bool culprit : {true, false}) {
    for (const T& element : all) {
      if (element.culprit == culprit && chosen.size() < limit) chosen.push_back(&element);
    }
  }
  std::sort(chosen.begin(), chosen.end());  // elements of one vector: by place
  return chosen;
}

size_t SizeOf(const ProgramGroup& group) { return group.cores; }
size_t SizeOf(const Position& position) { return position.cores.size(); }

template <typename T>
void AppendRest(size_t indent, const std::vector<T>& all, const std::vector<const T*>& shown,
                const char* what, TextLines& lines) {
  size_t cores = 0;
  for (const T& element : all) cores += SizeOf(element);
  for (const T* element : shown) cores -= SizeOf(*element);
  lines.AddMore(indent, all.size() - shown.size(), absl::StrCat(" ", what, " (", cores, " cores)"));
}

// Hosts at a position, split into those that hold a culprit and the others,
// each once, in the order of workers.
struct Hosts {
  std::vector<std::string> culprits;
  std::vector<std::string> others;
  std::vector<std::string> all;
};

Hosts HostsAt(const Report& report, const Position& position) {
  Hosts hosts;
  const std::vector<CoreAt>& cores = position.cores;
  for (size_t i = 0; i < cores.size();) {
    bool culprit = false;
    size_t end = i;
    for (; end < cores.size() && cores[end].worker == cores[i].worker; ++end) {
      culprit = culprit || cores[end].culprit;
    }
    std::string host = text::EscapeName(report.workers[cores[i].worker].host);
    // Workers of one host stand side by side: a host is named once.
    if (hosts.all.empty() || hosts.all.back() != host) {
      (culprit ? hosts.culprits : hosts.others).push_back(host);
      hosts.all.push_back(std::move(host));
    }
    i = end;
  }
  return hosts;
}

std::vector<text::ListItem> Items(const std::vector<std::string>& texts) {
  std::vector<text::ListItem> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back({text, 1});
  return items;
}

bool Fits(const std::vector<text::ListItem>& items, size_t room) {
  size_t total = 0;
  for (const text::ListItem& item : items) total += item.text.size() + 2;
  return total <= room;
}

void AppendFolded(const std::vector<std::string>& names, std::vector<text::ListItem>& items) {
  for (text::ListItem& item : FoldNames(names)) items.push_back(std::move(item));
}

// Few hosts are spelled out, and so are those that share a position with a
// culprit as far as a line goes; many are folded, behind the culprits.
std::vector<text::ListItem> HostItems(const Hosts& hosts, size_t room) {
  std::vector<text::ListItem> items = Items(hosts.all);
  if (items.size() <= kMaxSpelledOut) return items;
  if (!hosts.culprits.empty() && (hosts.others.empty() || Fits(items, room))) return items;
  items = Items(hosts.culprits);
  AppendFolded(hosts.others, items);
  return items;
}

std::string CoreText(const CoreAt& core) {
  return absl::StrCat(NumberText(core.chip, "?"), ":", core.index);
}

// Like HostItems, but an item for each core; folded items are shown by host.
std::vector<text::ListItem> CoreItems(const Report& report, const Position& position, size_t room) {
  std::vector<text::ListItem> all;
  std::vector<text::ListItem> culprits;
  for (const CoreAt& core : position.cores) {
    const bool few = position.cores.size() <= kMaxSpelledOut;
    if (!few && !position.culprit) break;
    text::ListItem item{
        absl::StrCat(WorkerText(report, report.workers[core.worker]), "@", CoreText(core)), 1};
    if (core.culprit) culprits.push_back(item);
    all.push_back(std::move(item));
  }
  const Hosts hosts = HostsAt(report, position);
  if (position.cores.size() <= kMaxSpelledOut) return all;
  if (position.culprit && (hosts.others.empty() || Fits(all, room))) return all;
  AppendFolded(hosts.others, culprits);
  return culprits;
}

constexpr size_t Room(size_t used) { return text::kMaxLineBytes - 1 - kPositionIndent - used; }

void AppendClassic(const Report& report, const ProgramGroup& group, TextLines& lines) {
  lines.Add(kGroupIndent, absl::StrCat("Module: ", ModuleText(group)));
  lines.Add(kGroupIndent, absl::StrCat("Fingerprint: ", FingerprintText(group)));
  lines.Add(kGroupIndent, absl::StrCat("Launch ID: ", NumberText(group.launch_id, "none")));
  const auto shown = Choose(group.positions, kMaxPositions);
  for (const Position* position : shown) {
    const std::string prefix = absl::StrCat(PositionText(*position), ": ");
    const Hosts hosts = HostsAt(report, *position);
    lines.AddList(kPositionIndent, prefix, HostItems(hosts, Room(prefix.size())));
  }
  AppendRest(kPositionIndent, group.positions, shown, "positions", lines);
}

// A culprit's core if the group holds a culprit, otherwise the first core.
const CoreAt* SampleCore(const ProgramGroup& group) {
  for (const Position& position : group.positions) {
    for (const CoreAt& core : position.cores) {
      if (core.culprit || !group.culprit) return &core;
    }
  }
  return nullptr;
}

void AppendGrouped(const Report& report, const ProgramGroup& group, TextLines& lines) {
  lines.Add(kGroupIndent, absl::StrCat("Launch ID: ", NumberText(group.launch_id, "none")));
  lines.Add(kGroupIndent,
            absl::StrCat("Module: ", ModuleText(group), " Fingerprint: ", FingerprintText(group)));
  if (const CoreAt* sample = SampleCore(group)) {
    const ReportWorker& worker = report.workers[sample->worker];
    lines.Add(kPositionIndent, absl::StrCat("Sample worker: ", text::EscapeName(report.job), "/",
                                            NumberText(worker.task_id, "?"), "@",
                                            text::EscapeName(worker.host), ":", CoreText(*sample)));
  }
  lines.Add(kGroupIndent, "Tag:PC breakdown:");
  const auto shown = Choose(group.positions, kMaxPositions);
  for (const Position* position : shown) {
    const std::string prefix =
        absl::StrCat(position->cores.size(), "@", PositionText(*position), ": [");
    lines.AddList(kPositionIndent, prefix, CoreItems(report, *position, Room(prefix.size() + 1)),
                  "]");
  }
  AppendRest(kPositionIndent, group.positions, shown, "positions", lines);
}

}  // namespace

std::string PositionText(const Position& position) {
  std::string hlo = "unknown";
  if (position.hlo) {
    hlo = text::EscapeName(*position.hlo);
  } else if (position.idle) {
    hlo = "idle";
  }
  return absl::StrCat(NumberText(position.tag, "?"), ":", PcText(position.pc), "(", hlo, ")");
}

std::string ModuleText(const ProgramGroup& group) {
  if (group.module) return text::EscapeName(*group.module);
  return group.fingerprint ? "unknown" : "none";
}

std::string FingerprintText(const ProgramGroup& group) {
  return group.fingerprint ? text::EscapeName(*group.fingerprint) : "none";
}

std::string WorkerText(const Report& report, const ReportWorker& worker) {
  return absl::StrCat(text::EscapeName(report.job), "/", NumberText(worker.task_id, "?"), ":",
                      text::EscapeName(worker.host));
}

std::string PcText(const std::optional<int64_t>& pc) {
  return pc ? absl::StrCat("0x", absl::Hex(static_cast<uint64_t>(*pc))) : "?";
}

void AppendTpuStates(const Report& report, TextFormat format, TextLines& lines) {
  lines.Add(kHeadingIndent, "TPU states:");
  const auto shown = Choose(report.tpu_states, kMaxGroups);
  for (const ProgramGroup* group : shown) {
    if (format == TextFormat::kClassic) {
      AppendClassic(report, *group, lines);
    } else {
      AppendGrouped(report, *group, lines);
    }
  }
  AppendRest(kGroupIndent, report.tpu_states, shown, "programs or launches", lines);
}

}  // namespace rapideye::digest
