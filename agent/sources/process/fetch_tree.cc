#include "agent/sources/process/fetch_tree.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/process/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

int64_t Grown(int64_t now, int64_t before) { return std::max<int64_t>(0, now - before); }

void AddChildren(const std::string& proc_root, int64_t pid, std::vector<int64_t>& pids) {
  const std::string folder = absl::StrCat(proc_root, "/", pid, "/task");
  size_t threads = 0;
  file::ForEachEntry(folder, [&](const char* thread) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(thread, &number)) return true;
    const auto text =
        file::ReadSmallFile(absl::StrCat(folder, "/", thread, "/children"), kMaxProcFileBytes);
    for (const absl::string_view word : absl::StrSplit(text.value_or(""), ' ')) {
      int64_t child = 0;
      if (absl::SimpleAtoi(word, &child)) pids.push_back(child);
    }
    return ++threads < kMaxTreeThreads;
  });
}

}  // namespace

std::vector<int64_t> ProcessesBelow(const std::string& proc_root, int64_t pid) {
  std::vector<int64_t> pids;
  AddChildren(proc_root, pid, pids);
  // Grows while it is walked through: children of children follow.
  for (size_t i = 0; i < pids.size() && pids.size() < kMaxTreeProcesses; ++i) {
    AddChildren(proc_root, pids[i], pids);
  }
  if (pids.size() > kMaxTreeProcesses) pids.resize(kMaxTreeProcesses);
  return pids;
}

std::optional<int64_t> IoBytes(absl::string_view text) {
  // A third of the range each, so that their sum cannot overflow.
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max() / 3;
  uint64_t sum = 0;
  int found = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    uint64_t value = 0;
    if (!absl::ConsumePrefix(&line, "rchar: ") && !absl::ConsumePrefix(&line, "wchar: ")) continue;
    if (!absl::SimpleAtoi(line, &value)) return std::nullopt;
    sum += std::min(value, kMost);
    ++found;
  }
  if (found != 2) return std::nullopt;
  return static_cast<int64_t>(sum);
}

std::optional<int64_t> WantedMs(absl::string_view text) {
  constexpr uint64_t kNanosInMs = 1'000'000;
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  uint64_t ran = 0;
  uint64_t waited = 0;
  if (words.size() < 2 || !absl::SimpleAtoi(words[0], &ran) ||
      !absl::SimpleAtoi(words[1], &waited)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(ran / kNanosInMs + waited / kNanosInMs);
}

ProcessTree::ProcessTree(std::string proc_root)
    : proc_root_(std::move(proc_root)),
      ticks_per_second_(std::max<int64_t>(1, sysconf(_SC_CLK_TCK))) {}

std::optional<ProcessWork> ProcessTree::Read(const ProcessId& process, absl::Duration now) {
  if (process_ != process) {
    process_ = process;
    last_.clear();
    last_wanted_ms_.reset();
    total_ = {};
    next_list_ = now;
  }
  if (now >= next_list_) {
    next_list_ = now + kTreeSpacing;
    pids_ = ProcessesBelow(proc_root_, process.pid);
    pids_.insert(pids_.begin(), process.pid);
  }
  std::map<int64_t, Counters> seen;
  for (const int64_t pid : pids_) {
    const std::optional<Counters> one = ReadOne(pid);
    if (!one.has_value()) continue;
    const auto before = last_.find(pid);
    if (before != last_.end() && before->second.id == one->id) {
      total_.cpu_ms += Grown(one->cpu_ms, before->second.cpu_ms);
      if (one->io_bytes.has_value() && before->second.io_bytes.has_value()) {
        total_.io_bytes =
            total_.io_bytes.value_or(0) + Grown(*one->io_bytes, *before->second.io_bytes);
      }
    }
    seen.emplace(pid, *one);
  }
  last_ = std::move(seen);
  const auto self = last_.find(process.pid);
  if (self == last_.end() || self->second.id != process) return std::nullopt;
  AddWanted();
  return total_;
}

void ProcessTree::AddWanted() {
  const auto text = file::ReadSmallFile(absl::StrCat(proc_root_, "/", process_->pid, "/schedstat"),
                                        kMaxProcFileBytes);
  const std::optional<int64_t> wanted = text.has_value() ? WantedMs(*text) : std::nullopt;
  if (wanted.has_value()) {
    total_.wanted_ms =
        total_.wanted_ms.value_or(0) + Grown(*wanted, last_wanted_ms_.value_or(*wanted));
  }
  last_wanted_ms_ = wanted;
}

std::optional<ProcessTree::Counters> ProcessTree::ReadOne(int64_t pid) const {
  const std::string folder = absl::StrCat(proc_root_, "/", pid);
  const auto line = file::ReadSmallFile(absl::StrCat(folder, "/stat"), kMaxProcFileBytes);
  if (!line.has_value()) return std::nullopt;
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(*line);
  if (!stat.ok()) return std::nullopt;
  Counters counters = {.id = stat->id, .io_bytes = std::nullopt};
  counters.cpu_ms = stat->cpu_ticks / ticks_per_second_ * 1000 +
                    stat->cpu_ticks % ticks_per_second_ * 1000 / ticks_per_second_;
  if (const auto io = file::ReadSmallFile(absl::StrCat(folder, "/io"), kMaxProcFileBytes)) {
    counters.io_bytes = IoBytes(*io);
  }
  return counters;
}

}  // namespace rapideye::agent
