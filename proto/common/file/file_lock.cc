#include "proto/common/file/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace rapideye::file {

absl::StatusOr<FileLock> FileLock::Take(const std::string& path) {
  constexpr mode_t kMode = 0600;
  FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (lock.fd_ < 0) {
    return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  if (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return absl::AlreadyExistsError(absl::StrCat(path, ": another process holds it"));
  }
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace rapideye::file
