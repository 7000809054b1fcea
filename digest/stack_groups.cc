#include "digest/stack_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/host/frame.h"
#include "classifier/host/frame_match.h"
#include "classifier/host/host_place.h"
#include "classifier/host/stacks.h"
#include "classifier/wording/phrases.h"
#include "digest/fold.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

using classifier::Frame;

// If the workers stand at more places than this, further groups tell a reader little.
constexpr size_t kMaxStackGroups = 64;
constexpr size_t kMaxGroupsInText = 6;
// Members are spelled out up to this many.
constexpr size_t kMaxHostsSpelledOut = 10;
constexpr size_t kMaxHostsBytes = 1024;

// Beginnings of names of the C library, the loader, the kernel and the interpreter.
constexpr std::array<std::string_view, 8> kInsideModules = {
    "libc.so", "libc-", "libpthread", "ld-linux", "libpython", "python", "kernel", "["};

bool StartsWithAny(std::string_view text, const auto& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view beginning) { return text.starts_with(beginning); });
}

std::string_view BaseName(std::string_view file) {
  return file.substr(file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1);
}

// Whether the frame tells threads apart: frames of the interpreter and the C library do not.
bool Counts(const Frame& frame) {
  if (frame.IsPython()) return !frame.IsStandardLibrary();
  return !frame.file.empty() && !frame.function.empty() && frame.function != "?" &&
         !StartsWithAny(frame.file, kInsideModules);
}

std::string Write(const Frame& frame, std::string_view file) {
  std::string text = absl::StrCat(std::string(frame.function.empty() ? "?" : frame.function), " (",
                                  std::string(file));
  if (frame.IsProgram() && frame.line.has_value()) absl::StrAppend(&text, ":", *frame.line);
  return absl::StrCat(text, ")");
}

// The frame that tells where a thread stands: one that has a known name (a barrier, say), else
// the innermost of the program, or the library function that the program has called there.
const Frame& Telling(const std::vector<Frame>& frames) {
  const classifier::FrameMatch match = classifier::MatchLibraries(frames);
  if (match.frame != nullptr) return *match.frame;
  const auto program = std::find_if(frames.begin(), frames.end(),
                                    [](const Frame& frame) { return frame.IsProgram(); });
  if (program == frames.end()) return frames.front();
  return program == frames.begin() ? *program : *(program - 1);
}

// A Python stack names the program's functions; a native stack, the fallback, names those of
// libraries.
const Stack* MainStack(const Snapshot& snapshot) {
  const Stack* best = nullptr;
  for (const Stack* stack : classifier::LoopStacks(snapshot)) {
    if (!classifier::IsMainThread(*stack)) continue;
    if (best == nullptr || stack->thread == "MainThread") best = stack;
  }
  return best;
}

std::optional<StackGroup> PlaceOf(const Snapshot& snapshot) {
  const Stack* stack = MainStack(snapshot);
  if (stack == nullptr) return std::nullopt;
  std::vector<Frame> frames;
  for (const std::string& text : stack->frames) {
    const Frame frame = classifier::ParseFrame(text);
    if (Counts(frame)) frames.push_back(frame);
  }
  if (frames.empty()) return std::nullopt;
  StackGroup group;
  for (const Frame& frame : frames) {
    group.frames.push_back(text::ValidUtf8(Write(frame, frame.file), text::kMaxNameBytes));
  }
  const Frame& telling = Telling(frames);
  group.at = text::ValidUtf8(Write(telling, BaseName(telling.file)), text::kMaxNameBytes);
  const std::optional<classifier::HostPlace> place = classifier::PlaceOfHost(snapshot);
  group.waits = place.has_value() && place->by_stack && place->wait != classifier::HostWait::kNone;
  if (snapshot.progress.has_value()) group.since_ms = snapshot.progress->phase_ms;
  return group;
}

std::string Subject(const Report& report, const StackGroup& group, bool largest, size_t all) {
  if (largest && group.workers.size() > 1) return absl::StrCat(group.workers.size(), " of ", all);
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  for (const size_t worker : group.workers) {
    std::string host = text::EscapeName(report.workers[worker].host);
    if (seen.insert(host).second) hosts.push_back(std::move(host));
  }
  if (hosts.size() <= kMaxHostsSpelledOut) return absl::StrJoin(hosts, ", ");
  return absl::StrCat(group.workers.size(), " of ", all, " (",
                      text::JoinBounded(FoldNames(std::move(hosts)), kMaxHostsBytes), ")");
}

}  // namespace

std::vector<StackGroup> GroupStacks(const Capture& capture,
                                    const std::vector<ReportWorker>& workers,
                                    const std::vector<Culprit>& culprits) {
  std::set<WorkerId> named;
  for (const Culprit& culprit : culprits) named.insert(culprit.worker);
  std::map<WorkerId, const Snapshot*> snapshots;
  for (const Snapshot& snapshot : capture.snapshots) snapshots[snapshot.worker] = &snapshot;
  std::map<std::pair<bool, std::vector<std::string>>, StackGroup> alike;
  for (size_t i = 0; i < workers.size(); ++i) {
    const auto snapshot = snapshots.find(workers[i].id);
    if (snapshot == snapshots.end()) continue;
    std::optional<StackGroup> place = PlaceOf(*snapshot->second);
    if (!place.has_value()) continue;
    auto [it, first] = alike.try_emplace({place->waits, place->frames}, *place);
    StackGroup& group = it->second;
    // The time that every worker of the group has waited; absent if a worker tells none.
    if (!first && group.since_ms.has_value()) {
      group.since_ms = place->since_ms.has_value()
                           ? std::optional(std::min(*group.since_ms, *place->since_ms))
                           : std::nullopt;
    }
    group.workers.push_back(i);
    group.culprit = group.culprit || named.contains(workers[i].id);
  }
  std::vector<StackGroup> groups;
  for (auto& [key, group] : alike) groups.push_back(std::move(group));
  const auto rank = [](const StackGroup& a, const StackGroup& b) {
    if (a.workers.size() != b.workers.size()) return a.workers.size() > b.workers.size();
    return a.workers < b.workers;
  };
  if (groups.size() > kMaxStackGroups) {
    std::sort(groups.begin(), groups.end(), [&](const StackGroup& a, const StackGroup& b) {
      return a.culprit != b.culprit ? a.culprit : rank(a, b);
    });
    groups.resize(kMaxStackGroups);
  }
  std::sort(groups.begin(), groups.end(), rank);
  return groups;
}

std::string StackGroupsText(const Report& report) {
  size_t all = 0;
  for (const StackGroup& group : report.stack_groups) all += group.workers.size();
  std::vector<const StackGroup*> shown;
  for (const bool culprit : {true, false}) {
    for (const StackGroup& group : report.stack_groups) {
      if (group.culprit == culprit && shown.size() < kMaxGroupsInText) shown.push_back(&group);
    }
  }
  std::sort(shown.begin(), shown.end());  // elements of one vector: by place
  std::vector<std::string> clauses;
  for (const StackGroup* group : shown) {
    const bool largest = group == &report.stack_groups.front();
    const bool one = group->workers.size() == 1;
    const char* verb =
        group->waits ? (one ? " waits in " : " wait in ") : (one ? " stands in " : " stand in ");
    std::string clause = absl::StrCat(Subject(report, *group, largest, all), verb,
                                      text::EscapeText(group->at, text::kMaxNameBytes));
    if (group->since_ms.has_value()) {
      absl::StrAppend(&clause, ", for ", classifier::Span(*group->since_ms));
    }
    clauses.push_back(std::move(clause));
  }
  if (shown.size() < report.stack_groups.size()) {
    clauses.push_back(
        absl::StrCat("… and ", report.stack_groups.size() - shown.size(), " more places"));
  }
  return absl::StrJoin(clauses, "; ");
}

}  // namespace rapideye::digest
