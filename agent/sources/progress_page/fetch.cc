#include "agent/sources/progress_page/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/fetcher.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/progress_page/limits.h"

namespace rapideye::agent {
namespace {

absl::Duration MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::DurationFromTimespec(now);
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

absl::Status SystemError(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
}

// File systems on which a read may hang, or show a page of another machine.
bool IsRemote(int descriptor) {
  constexpr std::array<uint32_t, 6> kRemote = {
      NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,
      SMB2_SUPER_MAGIC, CEPH_SUPER_MAGIC, FUSE_SUPER_MAGIC,
  };
  struct statfs file_system = {};
  if (fstatfs(descriptor, &file_system) != 0) return false;
  return std::find(kRemote.begin(), kRemote.end(), static_cast<uint32_t>(file_system.f_type)) !=
         kRemote.end();
}

}  // namespace

ProgressPageReader::ProgressPageReader(std::string path, std::string proc_root)
    : path_(std::move(path)), proc_root_(std::move(proc_root)) {
  reader_.boot_id = FirstLine(absl::StrCat(proc_root_, "/sys/kernel/random/boot_id"));
  struct stat status = {};
  if (stat("/proc/self/ns/time", &status) == 0) reader_.time_namespace = status.st_ino;
}

ProgressReading ProgressPageReader::Read() {
  ProgressReading reading;
  if (given_up_.empty()) {
    absl::StatusOr<ProgressSample> sample = ReadFile();
    if (sample.ok()) {
      reading.progress = *std::move(sample);
    } else {
      reading.unavailable = absl::StrCat(path_, ": ", std::string(sample.status().message()));
      // The reader gives up for good: a read on a remote file system may hang.
      if (absl::IsUnimplemented(sample.status())) given_up_ = reading.unavailable;
    }
  } else {
    reading.unavailable = given_up_;
  }
  return reading;
}

absl::StatusOr<ProgressSample> ProgressPageReader::ReadFile() {
  // A FIFO would wait for its writer.
  const int descriptor =
      open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (descriptor < 0) return SystemError("it cannot be opened");
  const absl::Cleanup closing = [descriptor] { close(descriptor); };
  if (IsRemote(descriptor)) {
    return absl::UnimplementedError(
        "it lies on a network file system; put it in a directory of your own on this host, such as "
        "$XDG_RUNTIME_DIR, and restart the agent");
  }
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return SystemError("it cannot be looked at");
  if (!S_ISREG(status.st_mode)) return absl::InvalidArgumentError("it is not a regular file");
  if (status.st_nlink != 1 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::PermissionDeniedError(
        "other users may write to it, or know it by another name; put it in a directory of your "
        "own");
  }
  const absl::StatusOr<ProgressPage> page =
      ReadPage(descriptor, static_cast<size_t>(status.st_size));
  if (!page.ok()) return page.status();
  if (!Lives(descriptor, page->writer)) {
    return absl::FailedPreconditionError(
        absl::StrCat("its writer, process ", page->writer.pid, ", has ended"));
  }
  if (!IsOfWriter(status.st_uid, page->writer)) {
    return absl::PermissionDeniedError(
        absl::StrCat("it belongs to user ", status.st_uid,
                     ", who is neither the agent's nor that of the process that writes it"));
  }
  return page->sample;
}

bool ProgressPageReader::IsOfWriter(uid_t owner, const ProcessId& writer) const {
  if (owner == 0 || owner == geteuid()) return true;
  struct stat process = {};
  return stat(absl::StrCat(proc_root_, "/", writer.pid).c_str(), &process) == 0 &&
         process.st_uid == owner;
}

absl::StatusOr<ProgressPage> ProgressPageReader::ReadPage(int descriptor, size_t file_bytes) const {
  std::string before;
  absl::StatusOr<ProgressPage> page = absl::AbortedError("it is written without end");
  for (int i = 0; i < kProgressPageTries && absl::IsAborted(page.status()); ++i) {
    std::string bytes(kProgressPageSaid, '\0');
    const ssize_t got = pread(descriptor, bytes.data(), bytes.size(), 0);
    if (got < 0) return SystemError("it cannot be read");
    bytes.resize(static_cast<size_t>(got));
    // In what order the bytes are copied is not known. But if two copies are the same,
    // its sequence number included, no write happened between the two.
    const bool still = bytes == std::exchange(before, bytes);
    if (!still) continue;
    PageReader reader = reader_;
    reader.now = MonotonicNow();
    page = ParseProgressPage(bytes, file_bytes, reader);
  }
  return page;
}

bool ProgressPageReader::Lives(int descriptor, const ProcessId& writer) const {
  // The lock shows that the writer lives even in another container, with other process numbers. A
  // lock for reading, which whoever may read the page may hold, is not its writer's.
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) return true;
  const auto stat = ParseProcessStat(FirstLine(absl::StrCat(proc_root_, "/", writer.pid, "/stat")));
  return stat.ok() && stat->id == writer && stat->state != ProcessState::kZombie;
}

namespace {

class ProgressPageFetcher final : public Fetcher<ProgressReading> {
 public:
  explicit ProgressPageFetcher(const HostOptions& options)
      : reader_(options.progress_page, options.proc_root) {}

  std::optional<ProgressReading> Fetch(const HostLook&, absl::Duration, HostFindings&) override {
    return reader_.Read();
  }

 private:
  ProgressPageReader reader_;
};

}  // namespace

std::unique_ptr<Fetcher<ProgressReading>> ProgressPageSource::MakeFetcher(
    const HostOptions& options, HostFindings&) {
  if (options.progress_page.empty()) return nullptr;
  return std::make_unique<ProgressPageFetcher>(options);
}

}  // namespace rapideye::agent
