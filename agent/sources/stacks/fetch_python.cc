#include "agent/sources/stacks/fetch_python.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/stacks/fetch_tool.h"
#include "agent/sources/stacks/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

// Lists the descendants of the process, the oldest first.
std::vector<ProcessStat> Descendants(const std::string& proc_root, int64_t pid) {
  std::multimap<int64_t, ProcessStat> by_parent;
  file::ForEachEntry(proc_root, [&](const char* name) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(name, &number)) return true;
    absl::StatusOr<ProcessStat> stat = ParseProcessStat(
        file::ReadSmallFile(absl::StrCat(proc_root, "/", number, "/stat"), kMaxProcFileBytes)
            .value_or(""));
    if (!stat.ok() || stat->state == ProcessState::kZombie) return true;
    const int64_t parent = stat->parent;
    by_parent.emplace(parent, *std::move(stat));
    return true;
  });
  std::vector<ProcessStat> found;
  std::set<int64_t> seen = {pid};  // the numbers change while one looks
  std::vector<int64_t> parents = {pid};
  for (size_t i = 0; i < parents.size(); ++i) {
    const auto [begin, end] = by_parent.equal_range(parents[i]);
    for (auto it = begin; it != end; ++it) {
      if (!seen.insert(it->second.id.pid).second) continue;
      parents.push_back(it->second.id.pid);
      found.push_back(it->second);
    }
  }
  std::sort(found.begin(), found.end(), [](const ProcessStat& a, const ProcessStat& b) {
    return std::tie(a.id.start_ticks, a.id.pid) < std::tie(b.id.start_ticks, b.id.pid);
  });
  if (found.size() > kMaxChildrenRead) found.resize(kMaxChildrenRead);
  return found;
}

// A process that is no Python lacks no Python stacks.
bool IsOtherProgram(const ToolRun& run) {
  return absl::StrContains(run.error, "Failed to find python version");
}

}  // namespace

PythonReading ReadPython(const StackOptions& options, const ProcessSample& process, int cancel) {
  PythonReading reading;
  if (!options.py_spy.has_value()) {
    if (options.eu_stack.has_value() && absl::StartsWith(process.command, "python")) {
      reading.unavailable = "py-spy is not on the PATH (pip install py-spy): Python's frames lack";
    }
    return reading;
  }
  const absl::Duration end = MonotonicTime() + options.python_deadline;
  ToolRun run;
  const auto ask = [&](int64_t pid) -> absl::StatusOr<std::vector<ThreadStack>> {
    run = RunTool({*options.py_spy, "dump", "--nonblocking", "--json", "--pid", absl::StrCat(pid)},
                  end - MonotonicTime(), kMaxToolBytes, cancel);
    if (run.output.empty()) return std::vector<ThreadStack>();
    return ParsePySpy(run.output);
  };
  absl::StatusOr<std::vector<ThreadStack>> threads = ask(process.id.pid);
  // Frames change while py-spy reads a running process: a second reading may be consistent.
  if ((!threads.ok() || threads->empty()) && !run.killed) threads = ask(process.id.pid);
  if (!threads.ok()) {
    reading.unavailable = std::string(threads.status().message());
  } else if (run.killed || !IsOtherProgram(run)) {
    reading.unavailable = WhyNoOutput("py-spy", run, options.python_deadline, options.proc_root);
  }
  if (threads.ok()) reading.threads = *std::move(threads);
  // A child that cannot be read is of another language, or has ended.
  for (const ProcessStat& child : Descendants(options.proc_root, process.id.pid)) {
    if (MonotonicTime() >= end) break;
    threads = ask(child.id.pid);
    if (!threads.ok() || threads->empty()) continue;
    reading.children.push_back({child.id.pid, child.command, *std::move(threads)});
  }
  return reading;
}

}  // namespace rapideye::agent
