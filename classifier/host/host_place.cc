#include "classifier/host/host_place.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/host/frame.h"
#include "classifier/host/frame_match.h"
#include "classifier/host/library_counts.h"
#include "classifier/host/stacks.h"
#include "classifier/host/watchdog.h"
#include "classifier/wording/phrases.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

bool IsNative(const Stack& stack) { return stack.thread.rfind("main (", 0) == 0; }

// True for a frame that runs tasks in threads of a pool, or waits for them.
bool IsOfExecutor(const Frame& frame) { return text::Contains(frame.file, "concurrent/futures"); }

std::string Text(std::string_view view) { return std::string(view); }

// "read_shard (train.py:88)"
std::string NameOf(const Frame& frame) {
  std::string text(frame.function);
  if (!frame.file.empty()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", "(", Text(frame.file));
    if (frame.line.has_value()) absl::StrAppend(&text, ":", *frame.line);
    absl::StrAppend(&text, ")");
  }
  return Quote(text);
}

// Names the innermost frame, the frame that tells why, and the program's frame that called it.
std::string StandsIn(const Frames& frames, const Frame* telling, const Frame* program) {
  std::string text = absl::StrCat("stands in ", NameOf(frames.front()));
  const Frame* last = &frames.front();
  for (const Frame* frame : {telling, program}) {
    const bool of_these =
        frame != nullptr && frame >= frames.data() && frame < frames.data() + frames.size();
    if (!of_these || frame <= last) continue;
    absl::StrAppend(&text, ", called by ", NameOf(*frame));
    last = frame;
  }
  return text;
}

// Reads the stacks of one worker.
class StackReader {
 public:
  explicit StackReader(const Snapshot& snapshot) : snapshot_(snapshot) {
    for (const Stack& stack : snapshot.stacks) {
      if (stack.frames.empty()) continue;
      if (!IsMainThread(stack)) {
        others_.push_back(&stack);
      } else if (IsNative(stack)) {
        native_ = &stack;
      } else if (python_ == nullptr) {
        python_ = &stack;
      }
    }
  }

  std::optional<HostPlace> Place() {
    loop_ = python_ != nullptr ? python_ : native_;
    if (loop_ == nullptr) return std::nullopt;
    Enter(loop_);
    FrameMatch match = OfLoop();
    HostPlace place;
    if (match.wait == HostWait::kDevice && EnterCallback()) {
      match = OfLoop();
      place.in_callback = true;
    }
    place.wait = match.wait;
    place.activity = match.activity;
    place.by_stack = true;
    const Frame* const program = ProgramFrame(frames_);
    if (program != nullptr) {
      place.program = absl::StrCat(Text(program->file), " ", Text(program->function));
    }
    place.text = StandsIn(frames_, match.frame, program);
    return place;
  }

 private:
  FrameMatch OfLoop() {
    FrameMatch match = MatchLibraries(frames_);
    if (!match.IsNothing()) return match;
    const bool interrupted = frames_.size() < loop_->frames.size();
    if (const std::string input = InputFrame(*loop_); !interrupted && !input.empty()) {
      const auto at = std::find(loop_->frames.begin(), loop_->frames.end(), input);
      return {HostWait::kNone, HostActivity::kInput,
              &frames_[static_cast<size_t>(at - loop_->frames.begin())]};
    }
    if (EnterAwaitedThread()) return OfLoop();
    match = MatchProgram(frames_);
    if (match.frame != nullptr || loop_ == native_) return match;
    // The native side belongs to the main thread: other threads have none here.
    if (loop_ != python_) return match;
    if (native_ != nullptr) {
      native_frames_ = ParseFrames(*native_);
      const FrameMatch native = MatchNative(native_frames_);
      if (!native.IsNothing()) return native;
    }
    for (const Process& process : snapshot_.processes) {
      if (!process.wait_channel.has_value()) continue;
      match.activity = ActivityOfWaitChannel(*process.wait_channel);
      break;
    }
    return match;
  }

  // If the main thread only waits for another thread of the program, that thread runs the loop.
  // Among several, the loop is the thread with frames of a known library, as in a training step.
  bool EnterAwaitedThread() {
    if (loop_ != python_) return false;
    const Frame& innermost = frames_.front();
    const bool joins =
        innermost.IsOf("threading") && (text::Contains(innermost.function, "join") ||
                                        innermost.function == "_wait_for_tstate_lock");
    const bool awaits_task = std::any_of(frames_.begin(), frames_.end(), [](const Frame& frame) {
      return IsOfExecutor(frame) || frame.IsOf("asyncio");
    });
    if (!joins && !(awaits_task && innermost.IsStandardLibrary())) return false;
    std::vector<const Stack*> awaited;
    std::vector<const Stack*> telling;
    for (const Stack* other : others_) {
      const Frames frames = ParseFrames(*other);
      const bool runs_task = std::any_of(frames.begin(), frames.end(), IsOfExecutor);
      if (IsOfChild(*other) || ProgramFrame(frames) == nullptr || !(joins || runs_task)) continue;
      awaited.push_back(other);
      if (!MatchLibraries(frames).IsNothing()) telling.push_back(other);
    }
    if (awaited.size() != 1) awaited = std::move(telling);
    return awaited.size() == 1 && Enter(awaited.front());
  }

  // The device itself may wait for a function of the program that it has called.
  bool EnterCallback() {
    for (const Stack* other : others_) {
      const Frames frames = ParseFrames(*other);
      const auto callback = std::find_if(frames.begin(), frames.end(), [](const Frame& frame) {
        return frame.IsOf("jax") && text::Contains(frame.file, "callback");
      });
      const Frame* const program = ProgramFrame(frames);
      if (callback != frames.end() && program != nullptr && program < &*callback) {
        return Enter(other);
      }
    }
    return false;
  }

  bool Enter(const Stack* stack) {
    if (stack == nullptr) return false;
    loop_ = stack;
    frames_ = ParseFrames(*stack);
    frames_.resize(FramesAboveWait(frames_));
    return true;
  }

  const Snapshot& snapshot_;
  const Stack* python_ = nullptr;  // the main thread
  const Stack* native_ = nullptr;  // likewise
  std::vector<const Stack*> others_;
  const Stack* loop_ = nullptr;
  Frames frames_;  // of it
  Frames native_frames_;
};

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
      place.wait = HostWait::kDevice;  // likewise
      what = "evaluates";
      break;
  }
  place.text = absl::StrCat(what, " by its progress page");
  place.where = place.text;
  place.since_ms = page.phase_ms;
  if (page.phase_ms.has_value()) absl::StrAppend(&place.text, ", for ", Span(*page.phase_ms));
  return place;
}

std::optional<HostPlace> PlaceByCounts(const std::vector<Metric>& metrics) {
  const std::optional<CheckpointUnderWay> checkpoint = CheckpointByCounts(metrics);
  if (!checkpoint.has_value()) return std::nullopt;
  HostPlace place;
  place.activity = checkpoint->activity;
  place.text = checkpoint->text;
  return place;
}

bool HasEnded(const Snapshot& snapshot) {
  return !snapshot.processes.empty() &&
         std::all_of(snapshot.processes.begin(), snapshot.processes.end(),
                     [](const Process& process) {
                       return process.state == ProcessState::kExited ||
                              process.state == ProcessState::kZombie;
                     });
}

// The place where a watchdog ended the worker for standing still: that of the stacks in its log.
// If an error had reached it before, the stacks show what it does after that; if it was that a peer
// was gone from a collective, it had stood in that collective.
std::optional<HostPlace> PlaceByWatchdog(const Snapshot& snapshot) {
  const bool by_watchdog = std::any_of(
      snapshot.processes.begin(), snapshot.processes.end(),
      [&snapshot](const Process& process) { return EndedByWatchdog(process, snapshot); });
  if (!by_watchdog) return std::nullopt;
  bool has_failed = false;
  for (const LogEvent& event : snapshot.log_events) {
    if (IsOfWatchdog(event) || !text::Contains(event.text, "Error: ")) continue;
    has_failed = true;
    if (event.kind != LogKind::kFollowOn || !text::ContainsIgnoreCase(event.text, "gloo")) continue;
    HostPlace place;
    place.wait = HostWait::kDevice;
    place.text = "stood in a collective until a peer was gone from it";
    return place;
  }
  return has_failed ? std::nullopt : StackReader(snapshot).Place();
}

}  // namespace

std::optional<HostPlace> PlaceOfHost(const Snapshot& snapshot) {
  std::optional<HostPlace> place;
  if (HasEnded(snapshot)) {
    // Its last place is the past, unless it was ended there.
    place = PlaceByWatchdog(snapshot);
  } else {
    place = StackReader(snapshot).Place();
    if (!place.has_value() && snapshot.progress.has_value()) {
      place = PlaceByPage(*snapshot.progress);
    }
    if (!place.has_value()) place = PlaceByCounts(snapshot.metrics);
  }
  if (place.has_value() && place->where.empty()) place->where = place->text;
  if (!place.has_value() || !snapshot.progress.has_value()) return place;
  const Progress& page = *snapshot.progress;
  place->step = page.step;
  if (page.phase != Phase::kUnspecified) place->phase = page.phase;
  if (place->by_stack && page.phase_ms.has_value() && place->phase.has_value()) {
    place->since_ms = page.phase_ms;
    absl::StrAppend(&place->text, ", for ", Span(*page.phase_ms));
  }
  return place;
}

bool IsFrozen(const Process& process) {
  // Channels of cgroup v1, and of v2 by version of the kernel. A stopped process waits there, too.
  static constexpr std::array<std::string_view, 3> kChannels = {"__refrigerator", "do_freezer_trap",
                                                                "get_signal"};
  const bool waits =
      process.state == ProcessState::kSleeping || process.state == ProcessState::kUninterruptible;
  return waits && process.wait_channel.has_value() &&
         std::find(kChannels.begin(), kChannels.end(), *process.wait_channel) != kChannels.end();
}

}  // namespace rapideye::classifier
