#include "classifier/host_place.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/frame.h"
#include "classifier/phrases.h"
#include "classifier/stacks.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// Innermost first; they refer into the snapshot.
using Frames = std::vector<Frame>;

Frames ParseFrames(const Stack& stack) {
  Frames frames;
  for (const std::string& text : stack.frames) frames.push_back(ParseFrame(text));
  return frames;
}

// A function of a module; either may be empty, and parts of names suffice.
struct Function {
  std::string_view name;
  std::string_view file;
};
using Functions = std::initializer_list<Function>;

bool IsAnyOf(const Frame& frame, Functions functions) {
  return std::any_of(functions.begin(), functions.end(), [&](const Function& function) {
    return text::ContainsIgnoreCase(frame.function, function.name) &&
           text::ContainsIgnoreCase(frame.file, function.file);
  });
}

bool HasWord(const Frame& frame, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text::ContainsIgnoreCase(frame.function, word);
  });
}

// The innermost frame of which it is true; null: none.
template <typename Is>
const Frame* FindIf(const Frames& frames, const Is& is) {
  const auto it = std::find_if(frames.begin(), frames.end(), is);
  return it == frames.end() ? nullptr : &*it;
}

const Frame* Find(const Frames& frames, Functions functions) {
  return FindIf(frames, [&](const Frame& frame) { return IsAnyOf(frame, functions); });
}

const Frame* ProgramFrame(const Frames& frames) {
  return FindIf(frames, [](const Frame& frame) { return frame.IsProgram(); });
}

struct Match {
  HostWait wait = HostWait::kNone;
  HostActivity activity = HostActivity::kOther;
  const Frame* frame = nullptr;  // that tells it
};

// Recomputation in the backward pass bears the same name as a checkpoint.
bool IsOfCheckpoint(const Frame& frame) {
  if (frame.IsOf("orbax")) return true;
  if (frame.IsOf("jax") || frame.IsOf("torch") || frame.IsOf("flax")) return false;
  const bool named = HasWord(frame, {"checkpoint", "ckpt"}) ||
                     text::ContainsIgnoreCase(frame.file, "checkpoint") ||
                     text::ContainsIgnoreCase(frame.file, "ckpt");
  return named && HasWord(frame, {"save", "restore", "load", "write", "read", "wait", "commit",
                                  "finali", "snapshot", "close"});
}

// Within a checkpoint a loop may wait for the others, or for its storage.
const Frame* BarrierFrame(const Frames& frames) {
  return Find(frames, {{"sync_global", ""},
                       {"process_allgather", ""},
                       {"broadcast_one_to_all", ""},
                       {"wait_at_barrier", ""},
                       {"WaitAtBarrier", ""},
                       {"barrier_with_timeout", ""},
                       {"barrier", "torch/distributed"},
                       {"sync_processes", "orbax"}});
}

// The Python side: a wait of the runtime, or of a function of JAX that nothing else names.
const Frame* DeviceFrame(const Frames& frames) {
  if (const Frame* frame = Find(frames, {{"block_until_ready", ""},
                                         {"BlockUntilReady", ""},
                                         {"_value", "array.py"},
                                         {"GlooCommunicator", ""},
                                         {"gloo::", ""},
                                         {"nccl", ""},
                                         {"synchronize", "torch/"},
                                         {"all_reduce", "torch/distributed"},
                                         {"mark_step", "torch_xla"}})) {
    return frame;
  }
  const Frame& innermost = frames.front();
  return innermost.IsOf("jax") || innermost.IsOf("jaxlib") ? &innermost : nullptr;
}

Match OfLibraries(const Frames& frames) {
  // From what is known best to what is known least: a compilation holds frames of a wait
  // for the device, a wait of the loader those of a lock.
  if (const Frame* frame = Find(frames, {{"backend_compile", ""},
                                         {"compile_or_get_cached", ""},
                                         {"XlaCompile", ""},
                                         {"lower_jaxpr_to_module", ""},
                                         {"trace_to_jaxpr", "jax/"}})) {
    return {HostWait::kNone, HostActivity::kCompilation, frame};
  }
  if (const Frame* frame = Find(frames, {{"shutdown", "jax/_src/distributed"},
                                         {"clean_up", "jax/_src/distributed"},
                                         {"destroy_process_group", "torch/distributed"}})) {
    return {HostWait::kShutdown, HostActivity::kShutdown, frame};
  }
  if (const Frame* frame = Find(frames, {{"_shutdown", "threading.py"},
                                         {"_exit_function", "multiprocessing/util.py"},
                                         {"Py_FinalizeEx", ""}})) {
    return {HostWait::kNone, HostActivity::kShutdown, frame};
  }
  if (const Frame* frame = Find(frames, {{"initialize", "jax/_src/distributed"},
                                         {"init_process_group", "torch/distributed"}})) {
    return {HostWait::kStartUp, HostActivity::kStartUp, frame};
  }
  if (const Frame* frame = Find(frames, {{"make_pjrt", "jax"},
                                         {"make_tpu_client", ""},
                                         {"backends", "xla_bridge"},
                                         {"_init_backend", "xla_bridge"}})) {
    return {HostWait::kNone, HostActivity::kStartUp, frame};
  }
  const Frame* const barrier = BarrierFrame(frames);
  const Frame* const device = DeviceFrame(frames);
  const HostWait wait = barrier != nullptr  ? HostWait::kBarrier
                        : device != nullptr ? HostWait::kDevice
                                            : HostWait::kNone;
  if (const Frame* frame = FindIf(frames, IsOfCheckpoint)) {
    const bool restores = FindIf(frames, [](const Frame& one) {
                            return HasWord(one, {"restore", "load_checkpoint", "deserialize"});
                          }) != nullptr;
    return {wait, restores ? HostActivity::kCheckpointRestore : HostActivity::kCheckpointSave,
            frame};
  }
  if (barrier != nullptr) return {wait, HostActivity::kBarrier, barrier};
  return {wait, HostActivity::kOther, device};
}

// What the program's own function is in, where no library has a name for it.
Match OfProgram(const Frames& frames) {
  const auto own = [&frames](HostActivity activity, const Frame* frame) {
    return Match{HostWait::kNone, activity, frame == nullptr ? &frames.front() : frame};
  };
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return HasWord(one, {"gc_callback", "gc_collect", "garbage", "deduce_unreachable"});
      })) {
    return own(HostActivity::kGarbageCollection, frame);
  }
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return one.IsOf("tenacity") || HasWord(one, {"retry", "retries", "backoff"});
      })) {
    return own(HostActivity::kRetry, frame);
  }
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return one.IsOf("gcsfs") || one.IsOf("s3fs") || one.IsOf("fsspec") || one.IsOf("socket") ||
               one.IsOf("ssl") || one.IsOf("urllib") || one.IsOf("urllib3") ||
               one.IsOf("requests") || one.IsOf("http") || one.IsOf("aiohttp") ||
               one.IsOf("botocore") || one.IsOf("boto3") || one.IsOf("tensorstore") ||
               IsAnyOf(one, {{"", "google/cloud/storage"}, {"", "lib/io/file_io"}});
      })) {
    return own(HostActivity::kStorageRead, frame);
  }
  const Frame& innermost = frames.front();
  if (IsAnyOf(innermost, {{"acquire", ""}, {"wait", "threading.py"}, {"_wait_for_tstate", ""}})) {
    return own(HostActivity::kLock, nullptr);
  }
  if (!innermost.IsProgram()) return {};
  if (HasWord(innermost, {"lock", "mutex", "acquire"})) return own(HostActivity::kLock, nullptr);
  if (HasWord(innermost, {"read", "fetch", "download", "open_"})) {
    return own(HostActivity::kStorageRead, nullptr);
  }
  return {};
}

// The native side below the innermost function of Python.
Match OfNative(const Frames& all) {
  const auto python = std::find_if(all.begin(), all.end(), [](const Frame& frame) {
    return frame.function.starts_with("_PyEval_Eval");
  });
  const Frames frames(all.begin(), python);
  if (frames.empty()) return {};
  if (const Frame* frame = Find(frames, {{"gc_collect", ""},
                                         {"PyGC_Collect", ""},
                                         {"deduce_unreachable", ""},
                                         {"gc_main", ""}})) {
    return {HostWait::kNone, HostActivity::kGarbageCollection, frame};
  }
  if (const Frame* frame = Find(frames, {{"BlockUntilReady", ""},
                                         {"gloo::", ""},
                                         {"Gloo", ""},
                                         {"nccl", ""},
                                         {"xla::", ""},
                                         {"pjrt", ""},
                                         {"tpu::", ""}})) {
    return {HostWait::kDevice, HostActivity::kOther, frame};
  }
  if (const Frame* frame = Find(frames, {{"PyThread_acquire_lock", ""},
                                         {"acquire_timed", ""},
                                         {"lll_lock_wait", ""},
                                         {"pthread_mutex_lock", ""},
                                         {"sem_wait", ""},
                                         {"sem_clockwait", ""}})) {
    return {HostWait::kNone, HostActivity::kLock, frame};
  }
  const auto is = [&frames](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return text::ContainsIgnoreCase(frames.front().function, name);
    });
  };
  if (is({"read", "open", "recv", "connect", "stat", "getaddrinfo"})) {
    return {HostWait::kNone, HostActivity::kStorageRead, &frames.front()};
  }
  return {};
}

// Where the kernel lets the main thread wait; names of functions of Linux.
HostActivity OfWaitChannel(std::string_view channel) {
  const auto has = [channel](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [channel](std::string_view part) { return text::Contains(channel, part); });
  };
  if (has({"futex"})) return HostActivity::kLock;
  if (has({"wait_for_partner", "nfs", "rpc_wait", "request_wait_answer", "fuse", "io_schedule",
           "folio_wait", "wait_on_page", "sk_wait_data", "tcp_recvmsg", "inet_csk_accept",
           "unix_stream_read", "pipe_read", "anon_pipe_read"})) {
    return HostActivity::kStorageRead;
  }
  return HostActivity::kOther;
}

bool IsNative(const Stack& stack) { return stack.thread.rfind("main (", 0) == 0; }

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
    frames_ = ParseFrames(*loop_);
    Match match = OfLoop();
    if (match.wait == HostWait::kDevice && EnterCallback()) match = OfLoop();
    HostPlace place;
    place.wait = match.wait;
    place.activity = match.activity;
    place.by_stack = true;
    const Frame* const program = ProgramFrame(frames_);
    if (program != nullptr)
      place.program = absl::StrCat(Text(program->file), " ", Text(program->function));
    place.text = Sentence(match, program);
    return place;
  }

 private:
  static std::string Text(std::string_view view) { return std::string(view); }

  // "read_shard (train.py:88)"
  static std::string Name(const Frame& frame) {
    std::string text(frame.function);
    if (!frame.file.empty()) {
      absl::StrAppend(&text, text.empty() ? "" : " ", "(", Text(frame.file));
      if (frame.line.has_value()) absl::StrAppend(&text, ":", *frame.line);
      absl::StrAppend(&text, ")");
    }
    return Quote(text);
  }

  // What stands innermost, what tells why, and where the program called it.
  std::string Sentence(const Match& match, const Frame* program) const {
    std::string text = absl::StrCat("stands in ", Name(frames_.front()));
    const Frame* last = &frames_.front();
    for (const Frame* frame : {match.frame, program}) {
      const bool of_loop =
          frame != nullptr && frame >= frames_.data() && frame < frames_.data() + frames_.size();
      if (!of_loop || frame <= last) continue;
      absl::StrAppend(&text, ", called by ", Name(*frame));
      last = frame;
    }
    return text;
  }

  Match OfLoop() {
    Match match = OfLibraries(frames_);
    if (match.wait != HostWait::kNone || match.activity != HostActivity::kOther) return match;
    if (!InputFrame(*loop_).empty()) {
      const std::string input = InputFrame(*loop_);
      const auto at = std::find(loop_->frames.begin(), loop_->frames.end(), input);
      return {HostWait::kNone, HostActivity::kInput,
              &frames_[static_cast<size_t>(at - loop_->frames.begin())]};
    }
    if (EnterAwaitedThread()) return OfLoop();
    match = OfProgram(frames_);
    if (match.activity != HostActivity::kOther || loop_ == native_) return match;
    // The main thread's own: that of another thread has no native side.
    if (loop_ != python_) return match;
    if (native_ != nullptr) {
      native_frames_ = ParseFrames(*native_);
      const Match native = OfNative(native_frames_);
      if (native.wait != HostWait::kNone || native.activity != HostActivity::kOther) return native;
    }
    for (const Process& process : snapshot_.processes) {
      if (!process.wait_channel.has_value()) continue;
      match.activity = OfWaitChannel(*process.wait_channel);
      break;
    }
    return match;
  }

  // A main thread that only waits for one other thread of the program leaves the loop to it.
  bool EnterAwaitedThread() {
    if (loop_ != python_ || !IsAnyOf(frames_.front(), {{"join", "threading.py"},
                                                       {"_wait_for_tstate_lock", "threading.py"},
                                                       {"_join_thread", "threading.py"}})) {
      return false;
    }
    const Stack* only = nullptr;
    for (const Stack* other : others_) {
      if (ProgramFrame(ParseFrames(*other)) == nullptr) continue;
      if (only != nullptr) return false;
      only = other;
    }
    return Enter(only);
  }

  // The device itself may wait for a function of the program that it has called.
  bool EnterCallback() {
    for (const Stack* other : others_) {
      const Frames frames = ParseFrames(*other);
      const Frame* const callback = FindIf(frames, [](const Frame& frame) {
        return frame.IsOf("jax") && text::Contains(frame.file, "callback");
      });
      const Frame* const program = ProgramFrame(frames);
      if (callback != nullptr && program != nullptr && program < callback) return Enter(other);
    }
    return false;
  }

  bool Enter(const Stack* stack) {
    if (stack == nullptr) return false;
    loop_ = stack;
    frames_ = ParseFrames(*stack);
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
  if (page.phase_ms.has_value()) absl::StrAppend(&place.text, ", for ", Span(*page.phase_ms));
  return place;
}

}  // namespace

std::optional<HostPlace> PlaceOfHost(const Snapshot& snapshot) {
  std::optional<HostPlace> place = StackReader(snapshot).Place();
  if (!snapshot.progress.has_value()) return place;
  const Progress& page = *snapshot.progress;
  if (!place.has_value()) place = PlaceByPage(page);
  if (!place.has_value()) return place;
  place->step = page.step;
  if (page.phase != Phase::kUnspecified) place->phase = page.phase;
  if (place->by_stack && page.phase_ms.has_value() && place->phase.has_value()) {
    absl::StrAppend(&place->text, ", for ", Span(*page.phase_ms));
  }
  return place;
}

bool IsFrozen(const Process& process) {
  return process.wait_channel == "__refrigerator" || process.wait_channel == "do_freezer_trap";
}

}  // namespace rapideye::classifier
