#include "classifier/host_place.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/phrases.h"
#include "classifier/stacks.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

using Frames = std::vector<std::string>;

// A function of a module, as "shutdown (jax/_src/distributed.py:199)" shows it; either may
// be empty, and parts of names suffice.
struct Function {
  std::string_view name;
  std::string_view file;
};

bool IsIn(const std::string& frame, const Function& function) {
  const size_t bracket = frame.find('(');
  const std::string_view all = frame;
  const std::string_view name = bracket == std::string::npos ? all : all.substr(0, bracket);
  const std::string_view file = bracket == std::string::npos ? "" : all.substr(bracket);
  return text::ContainsIgnoreCase(name, function.name) &&
         (function.file.empty() || text::ContainsIgnoreCase(file, function.file));
}

// The innermost frame that is one of these; null: none.
const std::string* Find(const Frames& frames, std::initializer_list<Function> functions) {
  for (const std::string& frame : frames) {
    for (const Function& function : functions) {
      if (IsIn(frame, function)) return &frame;
    }
  }
  return nullptr;
}

struct Match {
  HostWait wait = HostWait::kNone;
  HostActivity activity = HostActivity::kOther;
  const std::string* frame = nullptr;
};

// Within a checkpoint a loop may wait for the others, or for its storage.
HostWait WaitOf(const Frames& frames) {
  if (Find(frames, {{"sync_global", ""},
                    {"process_allgather", ""},
                    {"broadcast_one_to_all", ""},
                    {"wait_at_barrier", ""},
                    {"WaitAtBarrier", ""},
                    {"barrier_with_timeout", ""}}) != nullptr) {
    return HostWait::kBarrier;
  }
  if (Find(frames, {{"block_until_ready", ""},
                    {"BlockUntilReady", ""},
                    {"_value", "array.py"},
                    {"GlooCommunicator", ""},
                    {"gloo::", ""},
                    {"ncclGroup", ""},
                    {"xla::", ""},
                    {"pjrt", ""}}) != nullptr) {
    return HostWait::kDevice;
  }
  return HostWait::kNone;
}

// From what is known best to what is known least: a compilation holds frames of a wait for
// the device, a wait of the loader those of a lock.
Match MatchFrames(const Frames& frames) {
  if (const auto* frame = Find(frames, {{"backend_compile", ""}, {"compile_or_get_cached", ""}})) {
    return {HostWait::kNone, HostActivity::kCompilation, frame};
  }
  if (const auto* frame =
          Find(frames, {{"shutdown", "distributed"}, {"clean_up", "distributed"}})) {
    return {HostWait::kShutdown, HostActivity::kShutdown, frame};
  }
  if (const auto* frame = Find(frames, {{"initialize", "distributed"}})) {
    return {HostWait::kStartUp, HostActivity::kStartUp, frame};
  }
  const HostWait wait = WaitOf(frames);
  if (const auto* frame = Find(frames, {{"", "orbax"}, {"", "checkpoint"}, {"checkpoint", ""}})) {
    const bool restores = Find(frames, {{"restore", ""}}) != nullptr;
    return {wait, restores ? HostActivity::kCheckpointRestore : HostActivity::kCheckpointSave,
            frame};
  }
  if (const auto* frame = Find(frames, {{"gc_callback", ""}, {"gc_collect", ""}})) {
    return {HostWait::kNone, HostActivity::kGarbageCollection, frame};
  }
  if (wait == HostWait::kBarrier) return {wait, HostActivity::kBarrier, nullptr};
  if (wait == HostWait::kDevice) return {wait, HostActivity::kOther, nullptr};
  if (const auto* frame = Find(frames, {{"retry", ""}, {"", "tenacity"}, {"backoff", ""}})) {
    return {HostWait::kNone, HostActivity::kRetry, frame};
  }
  const std::string& innermost = frames.front();
  if (Find({innermost}, {{"recv_into", ""}, {"read", "ssl.py"}, {"readinto", ""}, {"pread", ""}})) {
    return {HostWait::kNone, HostActivity::kStorageRead, &innermost};
  }
  if (Find({innermost}, {{"acquire", ""}, {"wait", "threading.py"}, {"lll_lock_wait", ""}})) {
    return {HostWait::kNone, HostActivity::kLock, &innermost};
  }
  return {HostWait::kNone, HostActivity::kOther, nullptr};
}

bool IsNative(const Stack& stack) { return stack.thread.rfind("main", 0) == 0; }

std::optional<HostPlace> PlaceByStack(const Snapshot& snapshot) {
  // What Python says names the program; the native side, where it is all there is, the
  // libraries.
  const Stack* best = nullptr;
  const bool has_main = std::any_of(snapshot.stacks.begin(), snapshot.stacks.end(),
                                    [](const Stack& stack) { return IsMainThread(stack); });
  for (const Stack* stack : LoopStacks(snapshot)) {
    if (!has_main || stack->frames.empty()) continue;
    if (best == nullptr || (IsNative(*best) && !IsNative(*stack))) best = stack;
  }
  if (best == nullptr) return std::nullopt;
  Match match = MatchFrames(best->frames);
  const std::string input = InputFrame(*best);
  if (!input.empty() && match.wait == HostWait::kNone &&
      match.activity != HostActivity::kCompilation &&
      match.activity != HostActivity::kCheckpointSave &&
      match.activity != HostActivity::kCheckpointRestore) {
    match = {HostWait::kNone, HostActivity::kInput, &input};
  }
  HostPlace place;
  place.wait = match.wait;
  place.activity = match.activity;
  place.by_stack = true;
  place.text = absl::StrCat("stands in ", Quote(best->frames.front()));
  if (match.frame != nullptr && *match.frame != best->frames.front()) {
    absl::StrAppend(&place.text, ", called by ", Quote(*match.frame));
  }
  return place;
}

std::optional<HostPlace> PlaceByPage(const Progress& page) {
  HostPlace place;
  const char* what = "";
  switch (page.phase) {
    case Phase::kUnspecified:
      return std::nullopt;
    case Phase::kStep:
      place.wait = HostWait::kDevice;  // as far as a page tells
      what = "is within a step";
      break;
    case Phase::kInput:
      place.activity = HostActivity::kInput;
      what = "waits for input";
      break;
    case Phase::kCheckpoint:
      place.activity = HostActivity::kCheckpointSave;
      what = "is in a checkpoint";
      break;
    case Phase::kCompile:
      place.activity = HostActivity::kCompilation;
      what = "compiles";
      break;
    case Phase::kEval:
      what = "evaluates";
      break;
  }
  place.text = absl::StrCat(what, " by its progress page");
  if (page.phase_ms.has_value()) absl::StrAppend(&place.text, ", for ", Span(*page.phase_ms));
  return place;
}

}  // namespace

std::optional<HostPlace> PlaceOfHost(const Snapshot& snapshot) {
  std::optional<HostPlace> place = PlaceByStack(snapshot);
  if (!place.has_value() && snapshot.progress.has_value()) place = PlaceByPage(*snapshot.progress);
  if (place.has_value() && snapshot.progress.has_value()) place->step = snapshot.progress->step;
  return place;
}

}  // namespace rapideye::classifier
