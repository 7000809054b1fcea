#include "classifier/host/stacks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/host/frame.h"
#include "classifier/wording/phrases.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// Frames of any loop that waits for the next batch: queue.get under next().
constexpr std::array<std::string_view, 12> kInputFrames = {
    "data_loader", "dataloader", "parallel_loader", "input_pipeline", "next_batch",  "get_next",
    "prefetch",    "__next__",   "load_batch",      "get_batch",      "fetch_batch", "read_batch"};

// Names in the data loaders in use with JAX, and of functions that read data. A loop that trains on
// data may bear such a name, too.
constexpr std::array<std::string_view, 5> kDataFrames = {"grain", "tf_data", "tfds", "iterator",
                                                         "dataset"};

// Words in names of functions that take what they are named after from a queue that another thread
// or process fills.
constexpr std::array<std::string_view, 5> kTakenFrames = {"batch", "sample", "example", "loader",
                                                          "input"};

// In these functions a thread waits for the device, whatever function called them.
constexpr std::array<std::string_view, 6> kDeviceFrames = {
    "block_until_ready", "pxla", "pjit", "pjrt", "array.py", "xla::"};

// Limits: one sentence for each of so many workers, with so many frames of a stack.
constexpr size_t kMostWorkers = 3;
constexpr size_t kFramesTold = 4;

template <typename Parts>
bool FrameHoldsAny(std::string_view frame, const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(), [frame](std::string_view part) {
    return text::ContainsIgnoreCase(frame, part);
  });
}

// True for a wait for the next item of a queue: queue.get, and that of multiprocessing.
bool TakesFromQueue(const Frame& frame) {
  return frame.function == "get" &&
         (text::Contains(frame.file, "queue.py") || text::Contains(frame.file, "queues.py"));
}

bool IsCulprit(const Verdict& verdict, const WorkerId& worker) {
  return std::any_of(verdict.culprits.begin(), verdict.culprits.end(),
                     [&](const Culprit& culprit) { return culprit.worker == worker; });
}

std::string WhoIs(const Snapshot& snapshot) {
  return absl::StrCat("slice ", snapshot.worker.slice, " task ", snapshot.worker.task, " (",
                      Quote(snapshot.host), ")");
}

std::string StackSentence(const Snapshot& snapshot, const Stack& stack) {
  std::vector<std::string> frames;
  for (const std::string& frame : stack.frames) {
    if (frames.size() >= kFramesTold) break;
    frames.push_back(Quote(frame));
  }
  return absl::StrCat(WhoIs(snapshot), ": its thread ", Quote(stack.thread), " stands in ",
                      absl::StrJoin(frames, ", called by "));
}

std::string HolderSentence(const Snapshot& snapshot, const ChipHolder& holder) {
  std::vector<std::string> devices;
  for (const std::string& device : holder.devices) {
    if (devices.size() >= kFramesTold) break;
    devices.push_back(Quote(device));
  }
  std::sort(devices.begin(), devices.end());
  const Process& process = holder.process;
  std::string text = absl::StrCat(WhoIs(snapshot), ": process ", process.pid, " (",
                                  Quote(process.command.value_or("?")), ")");
  if (process.user.has_value()) absl::StrAppend(&text, " of user ", Quote(*process.user));
  if (process.started_ms_ago.has_value()) {
    absl::StrAppend(&text, ", which has run for ", Span(*process.started_ms_ago), " and");
  } else {
    absl::StrAppend(&text, ", which");
  }
  absl::StrAppend(&text, " is not its training process, holds ", absl::StrJoin(devices, ", "));
  return text;
}

}  // namespace

bool IsMainThread(const Stack& stack) {
  return stack.thread == "MainThread" || stack.thread == "main" ||
         stack.thread.rfind("main (", 0) == 0;
}

// The agent names the threads of child processes in this way.
bool IsOfChild(const Stack& stack) { return stack.thread.starts_with("child "); }

std::vector<const Stack*> LoopStacks(const Snapshot& snapshot) {
  std::vector<const Stack*> stacks;
  const bool known = std::any_of(snapshot.stacks.begin(), snapshot.stacks.end(), IsMainThread);
  for (const Stack& stack : snapshot.stacks) {
    if (known ? IsMainThread(stack) : !IsOfChild(stack)) stacks.push_back(&stack);
  }
  std::sort(stacks.begin(), stacks.end(), [](const Stack* a, const Stack* b) {
    return std::tie(a->thread, a->frames) < std::tie(b->thread, b->frames);
  });
  return stacks;
}

std::string InputFrame(const Stack& stack) {
  const Frames frames = ParseFrames(stack);
  const Frame* const innermost = ProgramFrame(frames);
  const auto outermost = std::find_if(frames.rbegin(), frames.rend(),
                                      [](const Frame& frame) { return frame.IsProgram(); });
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    const std::string& text = stack.frames[i];
    if (!frame.IsProgram()) {
      if (FrameHoldsAny(text, kDeviceFrames)) return "";
      if (FrameHoldsAny(text, kInputFrames) || FrameHoldsAny(text, kDataFrames)) return text;
      continue;
    }
    // The file of the main function holds the loop, and folders tell nothing of a function.
    const std::string_view file =
        frame.file == outermost->file ? "" : frame.file.substr(frame.file.rfind('/') + 1);
    if (FrameHoldsAny(frame.function, kInputFrames) || FrameHoldsAny(file, kInputFrames))
      return text;
    if (FrameHoldsAny(file, kDataFrames)) return text;
    if (&frame != innermost) continue;
    if (FrameHoldsAny(frame.function, kDataFrames)) return text;
    const bool takes = i > 0 && TakesFromQueue(frames[i - 1]);
    if (takes && FrameHoldsAny(frame.function, kTakenFrames)) return text;
  }
  return "";
}

void AddHostEvidence(const Capture& capture, Verdict& verdict) {
  if (verdict.cause == Cause::kNoHang) return;
  std::vector<const Snapshot*> snapshots;
  for (const Snapshot& snapshot : capture.snapshots) snapshots.push_back(&snapshot);
  std::sort(snapshots.begin(), snapshots.end(),
            [](const Snapshot* a, const Snapshot* b) { return a->worker < b->worker; });
  std::vector<EvidenceItem> stacks;
  std::vector<EvidenceItem> holders;
  for (const Snapshot* snapshot : snapshots) {
    const bool culprit = IsCulprit(verdict, snapshot->worker);
    // A process that holds chips may keep a worker from starting, and then there is no culprit.
    if (culprit || verdict.cause == Cause::kUnknown) {
      std::vector<std::string> sentences;
      for (const ChipHolder& holder : snapshot->chip_holders) {
        if (!holder.devices.empty()) sentences.push_back(HolderSentence(*snapshot, holder));
      }
      std::sort(sentences.begin(), sentences.end());
      if (!sentences.empty() && holders.size() < kMostWorkers) {
        // For a job that could not open its chips, the holder is the reason.
        const Strength strength =
            verdict.detail == Detail::kDeviceUnavailable ? Strength::kDirect : Strength::kWeak;
        holders.push_back({sentences.front(), strength, {snapshot->worker}});
      }
    }
    if (!culprit || snapshot->stacks.empty() || stacks.size() >= kMostWorkers) continue;
    const std::vector<const Stack*> loop = LoopStacks(*snapshot);
    if (loop.empty() || !IsMainThread(*loop.front()) || loop.front()->frames.empty()) continue;
    stacks.push_back(
        {StackSentence(*snapshot, *loop.front()), Strength::kWeak, {snapshot->worker}});
  }
  for (auto* items : {&stacks, &holders}) {
    for (EvidenceItem& item : *items) verdict.evidence.push_back(std::move(item));
  }
}

}  // namespace rapideye::classifier
