#include "agent/sources/process/fetch_oom.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {

std::optional<std::string> OomCounterFile(absl::string_view cgroups, const std::string& sys_root) {
  std::optional<std::string> file;
  // "4:memory:/pods/a" (v1), "0::/pods/a" (v2). Where both are mounted v1 has the memory.
  for (absl::string_view line : absl::StrSplit(cgroups, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    bool v1 = false;
    for (absl::string_view controller : controllers) v1 = v1 || controller == "memory";
    const bool v2 = fields[0] == "0" && fields[1].empty();
    if ((!v1 && !v2) || (v2 && file.has_value())) continue;
    // "/../…" is a group outside of this namespace.
    absl::string_view path = fields[2];
    if (!absl::StartsWith(path, "/") || absl::StrContains(path, "..")) continue;
    absl::ConsumeSuffix(&path, "/");
    const std::string folder = absl::StrCat(sys_root, "/fs/cgroup", v1 ? "/memory" : "", path);
    file = absl::StrCat(folder, v1 ? "/memory.oom_control" : "/memory.events");
    if (v1) break;
  }
  return file;
}

std::optional<int64_t> OomKills(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t kills = 0;
    if (absl::ConsumePrefix(&line, "oom_kill ") && absl::SimpleAtoi(line, &kills)) return kills;
  }
  return std::nullopt;
}

OomWatch::OomWatch(std::string proc_root, std::string sys_root)
    : proc_root_(std::move(proc_root)), sys_root_(std::move(sys_root)) {}

void OomWatch::Lives(int64_t pid) {
  kills_.reset();
  file_.reset();
  const auto cgroups =
      file::ReadSmallFile(absl::StrCat(proc_root_, "/", pid, "/cgroup"), kMaxProcFileBytes);
  if (cgroups.has_value()) file_ = OomCounterFile(*cgroups, sys_root_);
  if (!file_.has_value()) return;
  const auto text = file::ReadSmallFile(*file_, kMaxProcFileBytes);
  if (text.has_value()) kills_ = OomKills(*text);
}

bool OomWatch::KilledSince() const {
  if (!file_.has_value() || !kills_.has_value()) return false;
  const auto text = file::ReadSmallFile(*file_, kMaxProcFileBytes);
  const std::optional<int64_t> now = text.has_value() ? OomKills(*text) : std::nullopt;
  return now.has_value() && *now > *kills_;
}

}  // namespace rapideye::agent
