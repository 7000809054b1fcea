#include "coordinator/removal/hooks/hook_process.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "coordinator/removal/hooks/bounded_output.h"
#include "proto/common/file/descriptor.h"
#include "proto/common/process/run_process.h"

namespace rapideye::coordinator {
namespace {

using End = HookOutcome::End;

std::string Reason(const char* what, int error) {
  return absl::StrCat(what, ": ", std::strerror(error));
}

HookOutcome NotStarted(std::string why) {
  return {.end = End::kNotStarted, .error = std::move(why)};
}

// A file in memory that holds `input`, at its beginning: unlike a pipe it takes all bytes at once,
// whether or not the hook reads them. -1 with errno if there is no room.
int InputFile(const std::string& input) {
  const int file = memfd_create("digest", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (const int error = file::WriteAll(file, input); error != 0) {
    close(file);
    errno = error;
    return -1;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

// The outcome of the process, without its output.
HookOutcome EndOf(const ProcessOutcome& process) {
  using Stopped = ProcessOutcome::Stopped;
  if (!process.not_started.empty()) {
    return NotStarted(Reason(process.not_started.c_str(), process.error));
  }
  HookOutcome outcome;
  if (process.signal.has_value()) {
    outcome = {.end = End::kSignalled, .status = *process.signal};
  } else if (process.exit_status.has_value()) {
    outcome = {.end = End::kExited, .status = *process.exit_status};
  }
  if (process.stopped == Stopped::kTimedOut) outcome.end = End::kTimedOut;
  if (process.stopped == Stopped::kInterrupted) outcome.end = End::kInterrupted;
  outcome.took = process.took;
  return outcome;
}

// A file on a read-only mount, as the volume of a ConfigMap is, cannot change, whatever its mode.
bool MayChange(const std::string& path) {
  struct statvfs file_system = {};
  return statvfs(path.c_str(), &file_system) != 0 || (file_system.f_flag & ST_RDONLY) == 0;
}

// True if other users may change the file, by its group or mode.
bool OthersMayChange(const std::string& path, const struct stat& info) {
  return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && MayChange(path);
}

// True if it belongs to a user, other than root, who may change it and whatever is in it.
bool IsOfAnother(const std::string& path, const struct stat& info) {
  return info.st_uid != 0 && info.st_uid != geteuid() && MayChange(path);
}

// A user who may write to a folder may replace the files in it; in a sticky folder, such as /tmp,
// only the folder's owner may.
absl::Status CheckFolder(const std::string& hook, const std::string& folder) {
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0)
    return absl::InvalidArgumentError(Reason(folder.c_str(), errno));
  if (IsOfAnother(folder, info)) {
    return absl::InvalidArgumentError(absl::StrCat("hook ", hook,
                                                   " may be replaced by the owner of ", folder,
                                                   ": chown it to root, or put the hook "
                                                   "elsewhere"));
  }
  if ((info.st_mode & S_ISVTX) == 0 && OthersMayChange(folder, info)) {
    return absl::InvalidArgumentError(
        absl::StrCat("hook ", hook, " may be replaced by other users of this machine: chmod go-w ",
                     folder, ", or put the hook elsewhere"));
  }
  return absl::OkStatus();
}

// Checks each folder in which a part of the path is looked up, also those that links lead through.
absl::Status CheckFoldersOf(const std::string& hook) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as Linux itself follows
  std::error_code error;
  fs::path at = "/";
  std::deque<fs::path> left;
  const auto prepend = [&](const fs::path& path) {
    const fs::path parts = path.relative_path();
    left.insert(left.begin(), parts.begin(), parts.end());
    if (path.is_absolute()) at = "/";
  };
  prepend(fs::absolute(hook, error));
  for (int links = 0; !error && !left.empty();) {
    const fs::path next = at / left.front();
    left.pop_front();
    if (absl::Status status = CheckFolder(hook, at.string()); !status.ok()) return status;
    if (!fs::is_symlink(next, error)) {
      at = next.lexically_normal();
      continue;
    }
    if (++links > kMostLinks)
      error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (const fs::path target = fs::read_symlink(next, error); !error) prepend(target);
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat("hook ", hook, ": ", error.message()));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckHook(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) {
    return absl::InvalidArgumentError(Reason(absl::StrCat("hook ", path).c_str(), errno));
  }
  if (!S_ISREG(file.st_mode) || access(path.c_str(), X_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hook ", path, " is not a file that may be executed; chmod +x it, or name another"));
  }
  if (OthersMayChange(path, file)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hook ", path, " may be changed by other users of this machine; chmod go-w it"));
  }
  if (IsOfAnother(path, file)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hook ", path, " belongs to another user, who may change it; chown it to root"));
  }
  return CheckFoldersOf(path);
}

HookOutcome RunHookProcess(const std::string& path, const std::string& input,
                           std::vector<std::string> environment, const HookLimits& limits,
                           int interrupt) {
  const int digest = InputFile(input);
  if (digest < 0) return NotStarted(Reason("cannot hold the digest for it", errno));
  const absl::Cleanup closer = [digest] { close(digest); };
  BoundedOutput output(limits.max_output);
  ProcessOptions options;
  options.command = {path};
  options.environment = std::move(environment);
  options.input = digest;
  options.output = [&output](std::string_view bytes) {
    output.Append(bytes);
    return true;
  };
  options.timeout = limits.timeout;
  options.grace = limits.grace;
  options.reap_patience = limits.grace;
  options.interrupt = interrupt;
  HookOutcome outcome = EndOf(RunProcess(options));
  if (outcome.end != End::kNotStarted) outcome.output = output.Text();
  return outcome;
}

}  // namespace rapideye::coordinator
