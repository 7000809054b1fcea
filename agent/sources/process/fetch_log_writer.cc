#include "agent/sources/process/fetch_log_writer.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/limits.h"
#include "proto/common/file/regular_file.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

using FileId = std::pair<dev_t, ino_t>;
using Clock = std::chrono::steady_clock;

// Programs that start another one and wait for it.
constexpr auto kLaunchers = std::to_array<absl::string_view>(
    {"accelerate", "bash",  "catatonit", "dash",    "deepspeed", "docker-init",
     "dumb-init",  "env",   "fish",      "ksh",     "mpiexec",   "mpirun",
     "nice",       "nohup", "orterun",   "prterun", "script",    "setsid",
     "sh",         "srun",  "stdbuf",    "su",      "sudo",      "systemd",
     "tee",        "time",  "timeout",   "tini",    "torchrun",  "zsh"});
// A trainer has tens of threads more than a launcher that has only started it.
constexpr int64_t kFarMoreThreads = 4;

bool IsLauncher(const LogWriter& writer) {
  const auto is = [&](absl::string_view name) { return writer.stat.command == name; };
  return std::any_of(kLaunchers.begin(), kLaunchers.end(), is);
}

template <typename Keep>
void KeepIfAny(std::vector<LogWriter>& writers, Keep keep) {
  if (std::any_of(writers.begin(), writers.end(), keep)) {
    std::erase_if(writers, [&](const LogWriter& writer) { return !keep(writer); });
  }
}

// Its child that does the work, if it only waits for it.
const LogWriter* Worker(const std::vector<LogWriter>& writers, const LogWriter& parent) {
  const LogWriter* best = nullptr;
  for (const LogWriter& one : writers) {
    const bool works = one.stat.parent == parent.stat.id.pid &&
                       one.threads >= kFarMoreThreads * parent.threads &&
                       one.stat.cpu_ticks > parent.stat.cpu_ticks;
    if (works && (best == nullptr || one.stat.cpu_ticks > best->stat.cpu_ticks)) best = &one;
  }
  return best;
}

std::optional<FileId> IdOf(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileId{facts.st_dev, facts.st_ino};
}

std::set<FileId> FilesOf(const std::vector<std::string>& patterns) {
  std::set<FileId> files;
  for (const std::string& pattern : patterns) {
    glob_t found = {};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) {
        // A link of the job may name a file that another user's process writes.
        const absl::StatusOr<int> log = file::OpenRegularFile(found.gl_pathv[i]);
        if (!log.ok()) continue;
        struct stat facts = {};
        if (fstat(*log, &facts) == 0) files.insert({facts.st_dev, facts.st_ino});
        close(*log);
      }
    }
    globfree(&found);
  }
  return files;
}

bool Has(const std::string& folder, const char* descriptor, const std::set<FileId>& files) {
  const auto id = IdOf(absl::StrCat(folder, "/fd/", descriptor));
  return id.has_value() && files.contains(*id);
}

// Any of its descriptors: `tee` has its copy open as a later one.
bool HasAny(const std::string& folder, const std::set<FileId>& files) {
  bool found = false;
  size_t seen = 0;
  file::ForEachEntry(folder + "/fd", [&](const char* name) {
    found = Has(folder, name, files);
    return !found && ++seen < kMaxDescriptorsSearched;
  });
  return found;
}

bool HasChips(const std::string& folder, const std::string& dev_root) {
  bool found = false;
  size_t seen = 0;
  file::ForEachEntry(folder + "/fd", [&](const char* name) {
    std::array<char, 256> link;
    const ssize_t size =
        readlink(absl::StrCat(folder, "/fd/", name).c_str(), link.data(), link.size());
    if (size > 0) {
      const absl::string_view target(link.data(), static_cast<size_t>(size));
      found = ChipDevice(target, dev_root).has_value() ||
              absl::StartsWith(target, absl::StrCat(dev_root, "/nvidia"));
    }
    return !found && ++seen < kMaxDescriptorsSearched;
  });
  return found;
}

int64_t ThreadsOf(const std::string& folder) {
  int64_t threads = 0;
  file::ForEachEntry(folder + "/task", [&](const char* name) {
    int64_t number = 0;
    threads += absl::SimpleAtoi(name, &number) ? 1 : 0;
    return threads < int64_t{kMaxTreeThreads};
  });
  return threads;
}

}  // namespace

std::optional<ProcessStat> ChooseTraining(const std::vector<LogWriter>& writers) {
  std::vector<LogWriter> left = writers;
  KeepIfAny(left, [](const LogWriter& writer) { return writer.has_chips; });
  KeepIfAny(left, [](const LogWriter& writer) { return !IsLauncher(writer); });
  const auto has_parent = [&](const LogWriter& writer) {
    return std::any_of(left.begin(), left.end(), [&](const LogWriter& other) {
      return other.stat.id.pid == writer.stat.parent && other.stat.id.pid != writer.stat.id.pid;
    });
  };
  const LogWriter* best = nullptr;
  for (const LogWriter& root : left) {
    if (has_parent(root)) continue;
    const LogWriter* one = &root;
    std::set<int64_t> seen;
    while (seen.insert(one->stat.id.pid).second) {
      const LogWriter* worker = Worker(left, *one);
      if (worker == nullptr) break;
      one = worker;
    }
    if (best == nullptr || one->stat.cpu_ticks > best->stat.cpu_ticks) best = one;
  }
  if (best == nullptr) return std::nullopt;
  return best->stat;
}

std::vector<LogWriter> FindLogWriters(const std::string& proc_root, const std::string& dev_root,
                                      const std::vector<std::string>& logs) {
  std::set<FileId> files = FilesOf(logs);
  if (files.empty()) return {};
  const auto give_up = Clock::now() + absl::ToChronoMilliseconds(kProcessSearchDeadline);
  std::map<int64_t, ProcessStat> processes;
  file::ForEachEntry(proc_root, [&](const char* name) {
    int64_t pid = 0;
    if (!absl::SimpleAtoi(name, &pid) || pid == getpid()) return Clock::now() < give_up;
    const auto line =
        file::ReadSmallFile(absl::StrCat(proc_root, "/", pid, "/stat"), kMaxProcFileBytes);
    absl::StatusOr<ProcessStat> stat = ParseProcessStat(line.value_or(""));
    if (stat.ok() && stat->id.pid == pid) processes.emplace(pid, *std::move(stat));
    return Clock::now() < give_up;
  });
  const auto folder_of = [&](int64_t pid) { return absl::StrCat(proc_root, "/", pid); };
  // Pipes into a tee that writes the log: a process at their other end writes the log, too.
  std::set<FileId> pipes;
  for (const auto& [pid, stat] : processes) {
    if (stat.command != "tee" || !HasAny(folder_of(pid), files)) continue;
    if (const auto id = IdOf(folder_of(pid) + "/fd/0")) pipes.insert(*id);
  }
  files.merge(pipes);
  std::vector<LogWriter> writers;
  for (const auto& [pid, stat] : processes) {
    const std::string folder = folder_of(pid);
    if (!Has(folder, "1", files) && !Has(folder, "2", files)) continue;
    writers.push_back({stat, ThreadsOf(folder), HasChips(folder, dev_root)});
    if (writers.size() == kMaxLogWriters) break;
  }
  return writers;
}

}  // namespace rapideye::agent
