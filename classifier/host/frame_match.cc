#include "classifier/host/frame_match.h"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "absl/strings/ascii.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

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

bool IsAlpha(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }

// The words of "read_block" and of "readBlock" are "read" and "block".
bool HoldsWord(std::string_view name, std::initializer_list<std::string_view> words) {
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin + 1;
    while (end < name.size() && IsAlpha(name[end]) &&
           !(absl::ascii_islower(name[end - 1]) && absl::ascii_isupper(name[end]))) {
      ++end;
    }
    const std::string_view word = name.substr(begin, end - begin);
    if (std::any_of(words.begin(), words.end(), [word](std::string_view one) {
          return word.size() == one.size() && text::ContainsIgnoreCase(word, one);
        })) {
      return true;
    }
    begin = end;
    while (begin < name.size() && !IsAlpha(name[begin])) ++begin;
  }
  return false;
}

// The innermost frame of which it is true; null: none.
template <typename Is>
const Frame* FindIf(std::span<const Frame> frames, const Is& is) {
  const auto it = std::find_if(frames.begin(), frames.end(), is);
  return it == frames.end() ? nullptr : &*it;
}

const Frame* Find(std::span<const Frame> frames, Functions functions) {
  return FindIf(frames, [&](const Frame& frame) { return IsAnyOf(frame, functions); });
}

// JAX's own writer of checkpoints, and Levanter's writer above it.
bool IsOfSerialiser(const Frame& frame) {
  return text::Contains(frame.file, "array_serialization") ||
         text::Contains(frame.file, "tensorstore_serialization");
}

// `main_file`: holds the program's loop, which may bear the name of what it does besides.
// Recomputation in the backward pass also goes by the name of checkpoint.
bool IsOfCheckpoint(const Frame& frame, std::string_view main_file) {
  if (frame.IsOf("orbax") || IsOfSerialiser(frame)) return true;
  // torch.load reads samples of data sets as well.
  if (IsAnyOf(frame, {{"", "torch/distributed/checkpoint"}, {"save", "torch/serialization"}})) {
    return true;
  }
  if (frame.IsOf("jax") || frame.IsOf("torch") || frame.IsOf("flax")) return false;
  const bool named =
      HasWord(frame, {"checkpoint", "ckpt"}) ||
      (frame.file != main_file && (text::ContainsIgnoreCase(frame.file, "checkpoint") ||
                                   text::ContainsIgnoreCase(frame.file, "ckpt")));
  return named && HasWord(frame, {"save", "restore", "load", "write", "read", "wait", "commit",
                                  "finali", "snapshot", "close"});
}

const Frame* CheckpointFrame(const Frames& frames) {
  const auto main = std::find_if(frames.rbegin(), frames.rend(),
                                 [](const Frame& frame) { return frame.IsProgram(); });
  const std::string_view main_file = main == frames.rend() ? std::string_view() : main->file;
  return FindIf(frames, [&](const Frame& frame) { return IsOfCheckpoint(frame, main_file); });
}

// The frame in which a loop waits for the other processes, which it may do within a checkpoint.
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

// A function that waits for the device and does nothing else.
const Frame* NamedDeviceFrame(const Frames& frames) {
  return Find(frames, {{"block_until_ready", ""},
                       {"BlockUntilReady", ""},
                       {"_value", "array.py"},
                       {"GlooCommunicator", ""},
                       {"gloo::", ""},
                       {"nccl", ""},
                       {"synchronize", "torch/"},
                       {"all_reduce", "torch/distributed"},
                       {"mark_step", "torch_xla"}});
}

// The Python side: a wait of the runtime, or of a function of JAX without a name of its own here.
const Frame* DeviceFrame(const Frames& frames) {
  if (const Frame* frame = NamedDeviceFrame(frames)) return frame;
  const Frame& innermost = frames.front();
  if (IsOfSerialiser(innermost)) return nullptr;
  // PyTorch runs its all-reduces within the backward pass; a function of the program that the pass
  // calls stands further in.
  const bool of_torch = IsAnyOf(innermost, {{"", "torch/autograd"},
                                            {"", "torch/cuda"},
                                            {"", "torch/distributed/distributed_c10d"},
                                            {"", "torch/distributed/fsdp"}});
  return of_torch || innermost.IsOf("jax") || innermost.IsOf("jaxlib") ? &innermost : nullptr;
}

}  // namespace

size_t FramesAboveWait(const Frames& frames) {
  const Frame* const program = ProgramFrame(frames);
  const Frame* const barrier = BarrierFrame(frames);
  const Frame* const device = NamedDeviceFrame(frames);
  const Frame* const wait =
      barrier == nullptr || (device != nullptr && device < barrier) ? device : barrier;
  if (program == nullptr || wait == nullptr || wait <= program || wait->IsProgram()) {
    return frames.size();
  }
  return static_cast<size_t>(wait - frames.data());
}

FrameMatch MatchLibraries(const Frames& frames) {
  // Takes the best known activity first: a compilation holds frames of a wait
  // for the device, and a wait of the loader holds frames of a lock.
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
                                         {"Py_FinalizeEx", ""},
                                         {"run_exit_handlers", ""},
                                         {"__cxa_finalize", ""}})) {
    return {HostWait::kNone, HostActivity::kShutdown, frame};
  }
  // Where the C library has no names but those that programs call.
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return one.function == "exit" && text::Contains(one.file, "libc");
      })) {
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
  if (const Frame* frame = CheckpointFrame(frames)) {
    const bool restores = FindIf(frames, [](const Frame& one) {
                            return HasWord(one, {"restore", "load_checkpoint", "deserialize"});
                          }) != nullptr;
    return {wait, restores ? HostActivity::kCheckpointRestore : HostActivity::kCheckpointSave,
            frame};
  }
  if (barrier != nullptr) return {wait, HostActivity::kBarrier, barrier};
  return {wait, HostActivity::kOther, device};
}

FrameMatch MatchProgram(const Frames& frames) {
  const auto own = [&frames](HostActivity activity, const Frame* frame) {
    return FrameMatch{HostWait::kNone, activity, frame == nullptr ? &frames.front() : frame};
  };
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return HasWord(one, {"gc_callback", "gc_collect", "garbage", "deduce_unreachable"}) ||
               (one.function == "collect" && one.IsOf("gc"));
      })) {
    return own(HostActivity::kGarbageCollection, frame);
  }
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return one.IsOf("tenacity") || HasWord(one, {"retry", "retries", "backoff"});
      })) {
    return own(HostActivity::kRetry, frame);
  }
  // A command or a person answers here: a read from their pipe is no read from storage.
  if (const Frame* frame = FindIf(frames, [](const Frame& one) {
        return one.IsOf("subprocess") || one.IsOf("pdb") || one.IsOf("bdb") ||
               one.IsOf("debugpy") || one.IsOf("IPython");
      })) {
    return own(HostActivity::kOther, frame);
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
  if (HoldsWord(innermost.function, {"lock", "rlock", "flock", "filelock", "mutex", "acquire"})) {
    return own(HostActivity::kLock, nullptr);
  }
  if (HoldsWord(innermost.function, {"read", "fetch", "download", "open"})) {
    return own(HostActivity::kStorageRead, nullptr);
  }
  return {};
}

FrameMatch MatchNative(const Frames& all) {
  const auto python = std::find_if(all.begin(), all.end(), [](const Frame& frame) {
    return frame.function.starts_with("_PyEval_Eval");
  });
  const std::span<const Frame> frames(all.begin(), python);
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
                                         {"tpu::", ""},
                                         {"c10d::", ""},
                                         {"", "libcuda.so"},
                                         {"", "libnccl"},
                                         {"", "librccl"},
                                         {"", "libhsa-runtime"},
                                         {"", "libtpu.so"}})) {
    return {HostWait::kDevice, HostActivity::kOther, frame};
  }
  if (const Frame* frame = Find(frames, {{"PyThread_acquire_lock", ""},
                                         {"acquire_timed", ""},
                                         {"lll_lock_wait", ""},
                                         {"pthread_mutex_lock", ""},
                                         {"sem_wait", ""},
                                         {"sem_clockwait", ""},
                                         {"flock", ""},
                                         {"fcntl", ""}})) {
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

HostActivity ActivityOfWaitChannel(std::string_view channel) {
  const auto has = [channel](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [channel](std::string_view part) { return text::Contains(channel, part); });
  };
  // Of a file, too: flock and fcntl wait in locks_lock_inode_wait, flock_lock_inode_wait, ….
  if (has({"futex", "lock_inode", "posix_lock"})) return HostActivity::kLock;
  if (has({"wait_for_partner", "nfs", "rpc_wait", "request_wait_answer", "fuse", "io_schedule",
           "folio_wait", "wait_on_page", "sk_wait_data", "tcp_recvmsg", "inet_csk_accept",
           "unix_stream_read", "pipe_read", "anon_pipe_read"})) {
    return HostActivity::kStorageRead;
  }
  return HostActivity::kOther;
}

}  // namespace rapideye::classifier
