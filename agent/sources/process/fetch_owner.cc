#include "agent/sources/process/fetch_owner.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/sources/process/limits.h"
#include "agent/sources/process/parse.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {

// The kernel counts a start from the boot of the machine, its sleep included. A start that
// is still to come was counted by another clock (of another machine, or a sandbox's own).
std::optional<int64_t> AgeMs(const ProcessId& process) {
  timespec now = {};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nullopt;
  const int64_t ticks_per_second = std::max<int64_t>(1, sysconf(_SC_CLK_TCK));
  const int64_t started_ms = process.start_ticks / ticks_per_second * 1000 +
                             process.start_ticks % ticks_per_second * 1000 / ticks_per_second;
  const int64_t age_ms = absl::ToInt64Milliseconds(absl::DurationFromTimespec(now)) - started_ms;
  if (age_ms < 0) return std::nullopt;
  return age_ms;
}

std::optional<std::string> OwnerOf(const std::string& proc_root, int64_t pid) {
  struct stat folder = {};
  if (stat(absl::StrCat(proc_root, "/", pid).c_str(), &folder) != 0) return std::nullopt;
  const auto users = file::ReadSmallFile("/etc/passwd", kMaxPasswordFileBytes);
  if (users.has_value()) {
    if (auto name = UserName(*users, folder.st_uid)) return name;
  }
  return absl::StrCat(folder.st_uid);
}

void DescribeOwner(const std::string& proc_root, const ProcessId& id, Process& process) {
  process.user = OwnerOf(proc_root, id.pid);
  process.started_ms_ago = AgeMs(id);
}

}  // namespace rapideye::agent
