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

}  // namespace

std::vector<Candidate> FindLogWriters(const std::string& proc_root, const std::string& dev_root,
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
  std::vector<Candidate> writers;
  for (const auto& [pid, stat] : processes) {
    const std::string folder = folder_of(pid);
    if (!Has(folder, "1", files) && !Has(folder, "2", files)) continue;
    writers.push_back(LookAtCandidate(proc_root, dev_root, stat));
    if (writers.size() == kMaxLogWriters) break;
  }
  return writers;
}

}  // namespace rapideye::agent
