#include "agent/sources/stacks/parse.h"

#include <sys/syscall.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"
#include "agent/sources/stacks/limits.h"

namespace rapideye::agent {
namespace {

using Json = nlohmann::json;

// py-spy calls the first thread as Python does.
constexpr char kPythonMain[] = "MainThread";

void AddFrame(std::string frame, std::vector<std::string>& frames) {
  if (frames.size() >= kMaxStackFrames || frame.empty()) return;
  if (frame.size() > kMaxStackFrameBytes) frame.resize(kMaxStackFrameBytes);
  frames.push_back(std::move(frame));
}

absl::string_view LastPart(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

// "#3  0x000000000053acbc PyObject_Vectorcall - /usr/bin/python3.11" as
// "PyObject_Vectorcall (python3.11)"; addresses differ from process to process and
// are left out.
std::string EuFrame(absl::string_view line) {
  const size_t address = line.find("0x");
  if (address == absl::string_view::npos) return "";
  absl::string_view rest = line.substr(address);
  rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  absl::string_view module;
  // The name may hold " - ", too ("operator - (…)"), a module begins with a slash or a
  // bracket.
  for (const absl::string_view mark : {" - /", " - ["}) {
    const size_t dash = rest.rfind(mark);
    if (dash == absl::string_view::npos) continue;
    module = LastPart(rest.substr(dash + 3));
    rest = rest.substr(0, dash);
    break;
  }
  absl::string_view name = absl::StripAsciiWhitespace(rest);
  name = name.substr(0, name.find('@'));  // the version of the symbol
  if (name == "-") name = "";
  if (name.empty() && module.empty()) return "";
  if (module.empty()) return std::string(name);
  return absl::StrCat(name.empty() ? "?" : name, " (", module, ")");
}

std::string TextOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

int64_t NumberOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

// py-spy shortens the path of an installed package to its innermost folders where an outer
// one has no __init__.py, as that of Orbax.
std::string PyFile(const Json& frame) {
  const std::string file = TextOf(frame, "filename");
  for (const std::string folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = file.rfind(folder);
    if (at != std::string::npos) return file.substr(at + folder.size());
  }
  const std::string shortened = TextOf(frame, "short_filename");
  return shortened.empty() ? file : shortened;
}

// "__next__ (grain/_src/python/data_loader.py:421)"
std::string PyFrame(const Json& frame) {
  const std::string file = PyFile(frame);
  const std::string name = TextOf(frame, "name");
  if (file.empty()) return name;
  return absl::StrCat(name.empty() ? "?" : name, " (", file, ":", NumberOf(frame, "line"), ")");
}

// "futex" for the number; most of the threads of a process wait in one of these.
std::string SystemCall(int64_t number) {
  static constexpr std::pair<int64_t, const char*> kNames[] = {
      {SYS_read, "read"},
      {SYS_write, "write"},
      {SYS_ioctl, "ioctl"},
      {SYS_nanosleep, "nanosleep"},
      {SYS_recvfrom, "recvfrom"},
      {SYS_recvmsg, "recvmsg"},
      {SYS_wait4, "wait4"},
      {SYS_futex, "futex"},
      {SYS_clock_nanosleep, "clock_nanosleep"},
      {SYS_ppoll, "ppoll"},
      {SYS_epoll_pwait, "epoll_pwait"},
#ifdef SYS_poll  // arm64 has none of the older three
      {SYS_poll, "poll"},
      {SYS_select, "select"},
      {SYS_epoll_wait, "epoll_wait"},
#endif
  };
  for (const auto& [known, name] : kNames) {
    if (known == number) return absl::StrCat("system call ", name);
  }
  return absl::StrCat("system call ", number);
}

// Collects entries until the snapshot has enough.
class Selection {
 public:
  void Add(std::string thread, std::vector<std::string> frames) {
    size_t bytes = thread.size();
    for (const std::string& frame : frames) bytes += frame.size() + 2;
    if (frames.empty() || stacks_.size() >= kMaxStacks || bytes_ + bytes > kMaxStackBytes) return;
    bytes_ += bytes;
    stacks_.push_back({std::move(thread), std::move(frames)});
  }
  std::vector<Stack> Take() { return std::move(stacks_); }

 private:
  std::vector<Stack> stacks_;
  size_t bytes_ = 0;
};

std::string NameOr(const std::string& name, absl::string_view otherwise) {
  return name.empty() ? std::string(otherwise) : name.substr(0, kMaxCommandBytes);
}

// Python's own process that counts shared resources: it waits for ever in health.
bool IsResourceTracker(const ThreadStack& thread) {
  return std::any_of(thread.frames.begin(), thread.frames.end(), [](const std::string& frame) {
    return absl::StrContains(frame, "multiprocessing/resource_tracker.py");
  });
}

// Splits the threads of all children into their main threads and the others, under the
// names that tell them from those of the process itself.
void NameChildren(std::vector<ChildStacks> children, std::vector<ThreadStack>& mains,
                  std::vector<ThreadStack>& others) {
  for (ChildStacks& child : children) {
    for (ThreadStack& thread : child.threads) {
      if (IsResourceTracker(thread)) continue;
      const bool main = thread.name == kPythonMain || thread.tid == child.pid;
      const std::string name = main ? kPythonMain : NameOr(thread.name, "Python thread");
      const std::string command = NameOr(child.command, "?");
      thread.name = absl::StrCat("child ", child.pid, " (", command, "): ", name);
      (main ? mains : others).push_back(std::move(thread));
    }
  }
}

// Threads of a pool stand alike.
void AddRest(const std::vector<ThreadStack>& rest, Selection& selection) {
  std::map<std::vector<std::string>, std::vector<const ThreadStack*>> alike;
  for (const ThreadStack& thread : rest) alike[thread.frames].push_back(&thread);
  std::vector<std::pair<size_t, const std::vector<std::string>*>> order;
  for (const auto& [frames, threads] : alike) order.emplace_back(threads.size(), &frames);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [count, frames] : order) {
    std::string name = alike[*frames].front()->name;
    if (name.empty()) name = "thread";
    if (count > 1) absl::StrAppend(&name, " and ", count - 1, " more");
    selection.Add(std::move(name), *frames);
  }
}

}  // namespace

std::vector<ThreadStack> ParseEuStack(absl::string_view text) {
  std::vector<ThreadStack> threads;
  std::string last;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "TID ")) {
      int64_t tid = 0;
      if (!absl::SimpleAtoi(absl::StripSuffix(line, ":"), &tid) || tid <= 0) continue;
      if (threads.size() >= kMaxThreadsRead) break;
      threads.emplace_back().tid = tid;
      last.clear();
    } else if (absl::StartsWith(line, "#") && !threads.empty()) {
      std::string frame = EuFrame(line);
      // A function without a name calls others of its kind.
      if (absl::StartsWith(frame, "? (") && frame == last) continue;
      last = frame;
      AddFrame(std::move(frame), threads.back().frames);
    }
  }
  return threads;
}

absl::StatusOr<std::vector<ThreadStack>> ParsePySpy(absl::string_view json) {
  const Json dump = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!dump.is_array()) {
    return absl::InvalidArgumentError("py-spy's answer is no JSON array of threads");
  }
  std::vector<ThreadStack> threads;
  for (const Json& element : dump) {
    if (threads.size() >= kMaxThreadsRead) break;
    const auto frames = element.is_object() ? element.find("frames") : element.end();
    if (!element.is_object() || frames == element.end() || !frames->is_array()) {
      return absl::InvalidArgumentError(
          absl::StrCat("py-spy's answer: thread ", threads.size(), " has no list of frames"));
    }
    ThreadStack& thread = threads.emplace_back();
    thread.name = TextOf(element, "thread_name");
    thread.tid = NumberOf(element, "os_thread_id");
    for (const Json& frame : *frames) {
      if (frame.is_object()) AddFrame(PyFrame(frame), thread.frames);
    }
  }
  return threads;
}

std::vector<std::string> ParseKernelStack(absl::string_view stack, absl::string_view wait_channel,
                                          absl::string_view system_call) {
  std::vector<std::string> frames;
  // "[<0>] hrtimer_nanosleep+0x74/0xf0"
  for (absl::string_view line : absl::StrSplit(stack, '\n')) {
    const size_t bracket = line.find("] ");
    if (!absl::StartsWith(line, "[<") || bracket == absl::string_view::npos) continue;
    const absl::string_view name = line.substr(bracket + 2);
    AddFrame(absl::StrCat(name.substr(0, name.find('+')), " (kernel)"), frames);
  }
  wait_channel = absl::StripAsciiWhitespace(wait_channel);
  // "0" is how the kernel says that it does not tell.
  if (frames.empty() && !wait_channel.empty() && wait_channel != "0") {
    AddFrame(absl::StrCat(wait_channel, " (kernel)"), frames);
  }
  // "202 0x7f…" while it is in one; otherwise "running", or "-1 …" in a fault.
  int64_t number = 0;
  const absl::string_view first = system_call.substr(0, system_call.find(' '));
  if (absl::SimpleAtoi(first, &number) && number >= 0) AddFrame(SystemCall(number), frames);
  return frames;
}

std::vector<Stack> SelectStacks(int64_t pid, std::vector<ThreadStack> python,
                                std::vector<ThreadStack> native,
                                std::vector<ChildStacks> children) {
  std::vector<ThreadStack> children_mains;
  std::vector<ThreadStack> children_others;
  NameChildren(std::move(children), children_mains, children_others);
  for (std::vector<ThreadStack>* threads : {&python, &native}) {
    for (ThreadStack& thread : *threads)
      thread.name.resize(std::min(thread.name.size(), kMaxCommandBytes));
  }
  Selection selection;
  const auto main_first = [](std::vector<ThreadStack>& threads, const auto& is_main) {
    std::stable_partition(threads.begin(), threads.end(), is_main);
    return !threads.empty() && is_main(threads.front());
  };
  const bool python_main = main_first(python, [pid](const ThreadStack& thread) {
    return thread.name == kPythonMain || thread.tid == pid;
  });
  const bool native_main =
      main_first(native, [pid](const ThreadStack& thread) { return thread.tid == pid; });
  if (python_main) selection.Add(kPythonMain, std::move(python.front().frames));
  if (native_main) {
    const std::string name = NameOr(native.front().name, "process");
    selection.Add(absl::StrCat("main (", name, ")"), std::move(native.front().frames));
  }
  AddRest(children_mains, selection);
  if (python_main) python.erase(python.begin());
  for (ThreadStack& thread : python) thread.name = NameOr(thread.name, "Python thread");
  AddRest(python, selection);
  if (native_main) native.erase(native.begin());
  AddRest(native, selection);
  AddRest(children_others, selection);
  return selection.Take();
}

}  // namespace rapideye::agent
