#include "agent/sources/log/fetch.h"

#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "agent/sources/log/limits.h"
#include "proto/common/file/regular_file.h"

namespace rapideye::agent {
namespace {

// Past files that are remembered, in case they appear again under another name.
constexpr size_t kMaxRemembered = 1024;
// Most different complaints that are reported.
constexpr size_t kMaxNotes = 100;

bool IsPattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// glob's functions for directories take no argument of ours.
thread_local int entries_left = 0;

// `too_many`: not all of its directories' entries were looked at.
std::vector<std::string> Expand(const std::string& pattern, bool& too_many) {
  if (!IsPattern(pattern)) return {pattern};
  std::vector<std::string> paths;
  glob_t found = {};
  found.gl_opendir = [](const char* path) -> void* { return opendir(path); };
  found.gl_readdir = [](void* directory) {
    return --entries_left < 0 ? nullptr : readdir(static_cast<DIR*>(directory));
  };
  found.gl_closedir = [](void* directory) { closedir(static_cast<DIR*>(directory)); };
  found.gl_lstat = lstat;
  found.gl_stat = stat;
  entries_left = kMaxSearchedEntries;
  if (glob(pattern.c_str(), GLOB_ALTDIRFUNC, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  too_many = entries_left < 0;
  globfree(&found);
  return paths;
}

}  // namespace

LogFollower::LogFollower(LogOptions options) : options_(std::move(options)) {
  for (OutputRing* ring : options_.outputs) outputs_.push_back({ring, ++last_number_, {}, {}});
}

LogFollower::~LogFollower() {
  for (auto& [path, file] : files_) Close(file);
}

absl::Duration LogFollower::Patience() const {
  const bool unfinished = std::any_of(files_.begin(), files_.end(), [](const auto& entry) {
    return entry.second.lines.unfinished();
  });
  return told_ && !unfinished && outputs_.empty() ? kLogCheck : kLogPoll;
}

logs::LogReading LogFollower::Read(absl::Duration now) {
  logs::LogReading reading;
  const FileChanges::News news = changes_.Take();
  grown_ = stacks_grew_ = false;
  events_.emplace(options_.signatures ? *options_.signatures : logs::SignatureTable::BuiltIn(),
                  reading);
  buffer_.resize(kLogReadBytes);
  NoteEndAsked();
  for (Output& output : outputs_) ReadOutput(output, reading);
  if (now >= next_search_ || news.names) {
    next_search_ = now + kLogSearch;
    Search(reading);
    first_look_ = false;
  }
  for (auto& [path, file] : files_) {
    if (file.descriptor < 0 && !Open(path, /*may_be_old=*/false, file, reading)) continue;
    ReadNew(path, file, reading);
    if (!WasReplaced(path, file)) continue;
    file.lines.Finish(
        [&](absl::string_view line) { Take(line, file.context, file.number, /*old=*/false); });
    Close(file);
    if (Open(path, /*may_be_old=*/false, file, reading)) ReadNew(path, file, reading);
  }
  const logs::StepReading steps = steps_.Read();
  if (steps != steps_told_) reading.steps = steps_told_ = steps;
  if (stacks_grew_) reading.stacks = NewStacksOfOneProcess();
  if (grown_) told_ = news.any || changes_.HasNews();
  return reading;
}

std::vector<Stack> LogFollower::NewStacksOfOneProcess() {
  std::vector<logs::LoggedStacks> dumps;
  for (const auto& [log, lines] : stacks_) {
    logs::StackLines so_far = lines;  // its last dump may go on
    for (logs::LoggedStacks& dump : so_far.Dumps()) dumps.push_back(std::move(dump));
  }
  if (dumps.size() != 1) return {};
  const logs::LoggedStacks& dump = dumps.front();
  // Until the main thread's outermost frame is there, another thread may be taken for it.
  const std::vector<std::string>& frames = dump.threads.front().frames;
  if (frames.empty() || (!absl::StartsWith(frames.back(), "<module> ") &&
                         !absl::StartsWith(frames.back(), "_run_module_as_main "))) {
    return {};
  }
  if (dump.threads == stacks_told_ && dump.at.advances == stacks_told_after_) return {};
  stacks_told_after_ = dump.at.advances;
  stacks_told_ = dump.threads;
  return stacks_told_;
}

// A process that was asked to end need not log it itself.
void LogFollower::NoteEndAsked() {
  if (end_noted_ || options_.told_to_end == nullptr) return;
  if (options_.told_to_end->load() != SIGTERM) return;
  end_noted_ = true;
  logs::LogContext own;
  Take("SIGTERM received by rapideye-agent exec, and passed on to the command", own, /*log=*/0,
       /*old=*/false);
}

void LogFollower::ReadOutput(Output& output, logs::LogReading& reading) {
  const auto take = [&](absl::string_view line) {
    Take(line, output.context, output.number, /*old=*/false);
  };
  int64_t seen = 0;
  while (seen < kMaxLogBacklogBytes) {
    const OutputRing::Portion portion = output.ring->Read(absl::MakeSpan(buffer_));
    if (portion.skipped > 0) {
      NoteOnce("the command writes faster than it is read; parts are skipped", reading);
      output.lines.SkipLine();
    }
    if (portion.size == 0) break;
    output.lines.Add(absl::string_view(buffer_.data(), portion.size), take);
    seen += static_cast<int64_t>(portion.size);
  }
  if (seen == 0) output.lines.Quiet(take);
}

void LogFollower::Search(logs::LogReading& reading) {
  // A file that a pattern matched makes room once its name is gone.
  for (auto it = files_.begin(); it != files_.end();) {
    struct stat status = {};
    const bool gone = stat(it->first.c_str(), &status) != 0;
    if (gone && it->second.descriptor >= 0 && fstat(it->second.descriptor, &status) == 0 &&
        status.st_nlink == 0) {
      ReadNew(it->first, it->second, reading);
      Close(it->second);
    }
    it = gone && it->second.descriptor < 0 ? files_.erase(it) : std::next(it);
  }
  for (const std::string& pattern : options_.patterns) {
    const std::string folder = FolderOf(pattern);
    if (!IsPattern(folder)) changes_.WatchDirectory(folder);
    bool too_many = false;
    const std::vector<std::string> paths = Expand(pattern, too_many);
    if (too_many) {
      NoteOnce(
          absl::StrCat("--log=", pattern, ": its directories hold more than ", kMaxSearchedEntries,
                       " entries: not all are looked at; make it narrower"),
          reading);
    }
    if (paths.empty()) {
      NoteOnce(absl::StrCat("--log=", pattern, ": nothing matches yet"), reading);
    }
    for (const std::string& path : paths) Discover(path, reading);
  }
}

void LogFollower::Discover(const std::string& path, logs::LogReading& reading) {
  if (files_.count(path) != 0) return;
  if (files_.size() == kMaxLogFiles) {
    NoteOnce(absl::StrCat("more than ", kMaxLogFiles, " log files: the others, such as ", path,
                          ", are not followed; make the patterns of --log narrower"),
             reading);
    return;
  }
  File file;
  if (Open(path, first_look_, file, reading)) files_.emplace(path, std::move(file));
}

bool LogFollower::Open(const std::string& path, bool may_be_old, File& file,
                       logs::LogReading& reading) {
  const absl::StatusOr<int> opened = file::OpenRegularFile(path);
  if (!opened.ok()) {
    NoteOnce(
        absl::StrCat("log ", std::string(opened.status().message()),
                     absl::IsNotFound(opened.status()) ? "; it is followed once it is there" : ""),
        reading);
    return false;
  }
  const int descriptor = *opened;
  struct stat status = {};
  const bool known = fstat(descriptor, &status) == 0;
  const FileId id = {status.st_dev, status.st_ino};
  const bool followed = std::any_of(files_.begin(), files_.end(), [&id](const auto& entry) {
    return entry.second.descriptor >= 0 && entry.second.id == id;
  });
  if (!known || followed) {
    close(descriptor);
    return false;
  }
  file = File{};
  file.number = ++last_number_;
  file.descriptor = descriptor;
  file.watch = changes_.WatchFile(path);
  file.id = id;
  const auto before = read_before_.find(id);
  if (before != read_before_.end() && before->second <= status.st_size) {
    file.offset = before->second;
  } else if (may_be_old) {
    file.old_until = status.st_size;
    file.offset = status.st_size;
    if (options_.read_old) {
      const auto tail = static_cast<int64_t>(kLogReadBytes);
      file.offset = std::max<int64_t>(0, status.st_size - tail);
    }
    if (file.offset > 0) {
      // The last line may still be being written.
      char last = '\n';
      if (pread(descriptor, &last, 1, file.offset - 1) == 1 && last != '\n') file.lines.SkipLine();
    }
  }
  return true;
}

void LogFollower::Close(File& file) {
  if (file.descriptor < 0) return;
  if (read_before_.size() == kMaxRemembered) read_before_.erase(read_before_.begin());
  read_before_[file.id] = file.offset;
  stacks_.erase(file.number);
  changes_.Forget(std::exchange(file.watch, -1));
  close(std::exchange(file.descriptor, -1));
}

void LogFollower::ReadNew(const std::string& path, File& file, logs::LogReading& reading) {
  struct stat status = {};
  if (fstat(file.descriptor, &status) != 0) return;
  const auto take_new = [&](absl::string_view line) {
    Take(line, file.context, file.number, /*old=*/false);
  };
  if (WasTruncated(file, status.st_size)) {
    file.lines.Finish(take_new);
    file.offset = file.old_until = 0;
    file.tail.clear();
  }
  const int64_t backlog = status.st_size - file.offset;
  if (backlog > kMaxLogBacklogBytes) {
    const int64_t skipped = backlog - static_cast<int64_t>(kLogReadBytes);
    NoteOnce(absl::StrCat("log ", path, ": grows faster than it is read; parts are skipped"),
             reading);
    file.offset += skipped;
    file.lines.SkipLine();
    file.tail.clear();
  }
  if (backlog <= 0) file.lines.Quiet(take_new);
  // Bytes that are appended during this read are left to the next read.
  while (file.offset < status.st_size) {
    const auto wanted = static_cast<size_t>(
        std::min<int64_t>(static_cast<int64_t>(buffer_.size()), status.st_size - file.offset));
    const ssize_t n = pread(file.descriptor, buffer_.data(), wanted, file.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    const absl::string_view bytes(buffer_.data(), static_cast<size_t>(n));
    file.offset += n;
    grown_ = true;
    const bool old = file.offset <= file.old_until;
    const auto take = [&, old](absl::string_view line) {
      Take(line, file.context, file.number, old);
    };
    file.lines.Add(bytes, take);
    if (old && file.offset == file.old_until) file.lines.Finish(take);
    absl::StrAppend(&file.tail, bytes.substr(bytes.size() - std::min(bytes.size(), kLogTailBytes)));
    file.tail.erase(0, file.tail.size() - std::min(file.tail.size(), kLogTailBytes));
  }
}

// True if the file is shorter than before, or as long again with other content. A writer that
// did not notice the truncation goes on at its old offset, with a hole before: its text there
// is new, and the hole holds no line.
bool LogFollower::WasTruncated(const File& file, int64_t size) {
  if (size < file.offset) return true;
  if (size == file.offset || file.tail.empty()) return false;
  std::string now(file.tail.size(), '\0');
  const ssize_t n = pread(file.descriptor, now.data(), now.size(),
                          file.offset - static_cast<int64_t>(now.size()));
  return n == static_cast<ssize_t>(now.size()) && now != file.tail &&
         now.find_first_not_of('\0') != std::string::npos;
}

bool LogFollower::WasReplaced(const std::string& path, const File& file) {
  struct stat status = {};
  // A writer may still write to a file whose name is gone.
  return stat(path.c_str(), &status) == 0 && FileId{status.st_dev, status.st_ino} != file.id;
}

void LogFollower::NoteOnce(std::string note, logs::LogReading& reading) {
  if (noted_.size() == kMaxNotes || !noted_.insert(note).second) return;
  reading.notes.push_back(std::move(note));
}

}  // namespace rapideye::agent
