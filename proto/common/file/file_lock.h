// One process at a time.
#ifndef RAPIDEYE_PROTO_COMMON_FILE_FILE_LOCK_H_
#define RAPIDEYE_PROTO_COMMON_FILE_FILE_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace rapideye::file {

// Held for as long as it lives, and no longer than its process.
class FileLock {
 public:
  // The file is made if it is not there. UNAVAILABLE if another holds it, or if the disk
  // does not let it be made. A file system that knows no locks keeps nobody away.
  static absl::StatusOr<FileLock> Take(const std::string& path);

  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace rapideye::file

#endif  // RAPIDEYE_PROTO_COMMON_FILE_FILE_LOCK_H_
