// FileLock lets one process at a time use a directory or file (flock).
#ifndef RAPIDEYE_PROTO_COMMON_FILE_FILE_LOCK_H_
#define RAPIDEYE_PROTO_COMMON_FILE_FILE_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace rapideye::file {

// Held while the object lives; the kernel releases it when the process ends.
class FileLock {
 public:
  // Creates the file if it does not exist. ALREADY_EXISTS if another process holds the lock,
  // UNAVAILABLE if the file cannot be created. On a file system without locks it always succeeds.
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
