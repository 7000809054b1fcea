#include "coordinator/removal/tenant_machines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/common/file/descriptor.h"

namespace rapideye::coordinator {
namespace {

// Bound of the file: some hundred bytes for each machine of the largest fleets.
constexpr size_t kMaxFile = size_t{64} << 20;

absl::Status Failed(const std::string& path, const std::string& why) {
  return absl::PermissionDeniedError(absl::StrCat("--tenant-machines: ", path, ": ", why));
}

}  // namespace

absl::StatusOr<std::vector<TenantMachine>> ParseTenantMachines(std::string_view text) {
  std::vector<TenantMachine> machines;
  int64_t number = 0;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const absl::string_view content = line.substr(0, line.find('#'));
    std::vector<std::string> words =
        absl::StrSplit(content, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    if (words.size() == 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number, ": names a role and no machine; a line is ROLE NAME [NAME...]"));
    }
    TenantMachine& machine = machines.emplace_back();
    machine.role = std::move(words.front());
    machine.names.assign(std::make_move_iterator(words.begin() + 1),
                         std::make_move_iterator(words.end()));
  }
  return machines;
}

absl::StatusOr<std::vector<TenantMachine>> ReadTenantMachines(const std::string& path) {
  // O_NONBLOCK: a FIFO must not hold up the process that opens it.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("--tenant-machines: ", path));
  }
  const absl::Cleanup closer = [descriptor] { close(descriptor); };
  struct stat info{};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
    return Failed(path, "is no regular file");
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return Failed(path, "belongs to another user: give it to root, or to whoever reads it");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Failed(path, "others may write to it: chmod go-w");
  }
  std::string text;
  const int error = file::ReadUpTo(descriptor, kMaxFile + 1, text);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat("--tenant-machines: ", path));
  if (text.size() > kMaxFile) return Failed(path, "is larger than 64 MiB");
  absl::StatusOr<std::vector<TenantMachine>> machines = ParseTenantMachines(text);
  if (machines.ok()) return machines;
  return absl::Status(
      machines.status().code(),
      absl::StrCat("--tenant-machines: ", path, ": ", std::string(machines.status().message())));
}

}  // namespace rapideye::coordinator
