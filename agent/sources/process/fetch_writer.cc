#include "agent/sources/process/fetch_writer.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/process/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

using FileId = std::pair<dev_t, ino_t>;

FileId IdOf(const struct stat& status) { return {status.st_dev, status.st_ino}; }

std::set<FileId> FilesOf(const std::vector<std::string>& patterns) {
  std::set<FileId> files;
  for (const std::string& pattern : patterns) {
    glob_t found = {};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) {
        struct stat status = {};
        if (stat(found.gl_pathv[i], &status) == 0) files.insert(IdOf(status));
      }
    }
    globfree(&found);
  }
  return files;
}

// "flags:\t0100001", octal.
bool IsOpenForWriting(const std::string& info) {
  for (absl::string_view line : absl::StrSplit(info, '\n')) {
    if (!absl::ConsumePrefix(&line, "flags:")) continue;
    unsigned flags = 0;
    for (const char digit : absl::StripAsciiWhitespace(line)) {
      if (digit < '0' || digit > '7') return false;
      flags = flags << 3 | static_cast<unsigned>(digit - '0');
    }
    return (flags & O_ACCMODE) != O_RDONLY;
  }
  return false;
}

// The descriptors of a process, as far as they matter here.
struct Descriptors {
  std::set<FileId> writes;         // files and pipes
  std::optional<FileId> fed_from;  // the pipe that is its standard input
};

class Search {
 public:
  explicit Search(const std::string& proc_root) : proc_root_(proc_root) {
    const auto give_up =
        std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(kProcessSearchDeadline);
    const int64_t self = getpid();
    file::ForEachEntry(proc_root_, [&](const char* name) {
      int64_t pid = 0;
      if (!absl::SimpleAtoi(name, &pid) || pid == self) return true;
      Descriptors descriptors = Read(pid);
      if (!descriptors.writes.empty()) processes_[pid] = std::move(descriptors);
      return std::chrono::steady_clock::now() < give_up;
    });
  }

  // The firsts of the families that write one of these.
  std::set<int64_t> Writers(const std::set<FileId>& files) const {
    std::set<int64_t> writers;
    for (const auto& [pid, descriptors] : processes_) {
      for (const FileId& file : descriptors.writes) {
        if (files.contains(file)) writers.insert(pid);
      }
    }
    std::set<int64_t> firsts;
    for (const int64_t pid : writers) {
      const auto line =
          file::ReadSmallFile(absl::StrCat(proc_root_, "/", pid, "/stat"), kMaxProcFileBytes);
      if (!line.has_value()) continue;
      const absl::StatusOr<ProcessStat> stat = ParseProcessStat(*line);
      if (stat.ok() && !writers.contains(stat->parent)) firsts.insert(pid);
    }
    return firsts;
  }

  std::optional<FileId> FedFrom(int64_t pid) const {
    const auto found = processes_.find(pid);
    return found == processes_.end() ? std::nullopt : found->second.fed_from;
  }

 private:
  Descriptors Read(int64_t pid) const {
    Descriptors descriptors;
    const std::string folder = absl::StrCat(proc_root_, "/", pid);
    size_t seen = 0;
    file::ForEachEntry(absl::StrCat(folder, "/fd"), [&](const char* name) {
      struct stat status = {};
      const bool there = stat(absl::StrCat(folder, "/fd/", name).c_str(), &status) == 0;
      if (there && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode))) {
        const auto info =
            file::ReadSmallFile(absl::StrCat(folder, "/fdinfo/", name), kMaxProcFileBytes);
        if (info.has_value() && IsOpenForWriting(*info)) {
          descriptors.writes.insert(IdOf(status));
        } else if (S_ISFIFO(status.st_mode) && absl::string_view(name) == "0") {
          descriptors.fed_from = IdOf(status);
        }
      }
      return ++seen < kMaxDescriptorsSearched;
    });
    return descriptors;
  }

  const std::string& proc_root_;
  std::map<int64_t, Descriptors> processes_;
};

}  // namespace

std::optional<int64_t> FindLogWriter(const std::string& proc_root,
                                     const std::vector<std::string>& patterns) {
  const std::set<FileId> files = FilesOf(patterns);
  if (files.empty()) return std::nullopt;
  const Search search(proc_root);
  std::set<int64_t> writers = search.Writers(files);
  // A pipeline is followed to its beginning; the bound is for one that feeds itself.
  constexpr int kLongestPipeline = 8;
  for (int i = 0; i < kLongestPipeline && writers.size() == 1; ++i) {
    const std::optional<FileId> pipe = search.FedFrom(*writers.begin());
    if (!pipe.has_value()) break;
    std::set<int64_t> feeders = search.Writers({*pipe});
    feeders.erase(*writers.begin());
    if (feeders.empty()) break;
    writers = std::move(feeders);
  }
  return writers.size() == 1 ? std::optional(*writers.begin()) : std::nullopt;
}

}  // namespace rapideye::agent
