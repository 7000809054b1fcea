// Disk does the few operations of the coordinator on a disk, so that tests can make one fail.
#ifndef RAPIDEYE_COORDINATOR_STORE_DISK_H_
#define RAPIDEYE_COORDINATOR_STORE_DISK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rapideye::coordinator {

// Every change is durable when it returns OK. Errors name path and reason; their
// codes are those of absl::ErrnoToStatus.
class Disk {
 public:
  virtual ~Disk() = default;
  // Makes the missing parents, too. OK if the directory is there already.
  virtual absl::Status MakeDirectory(const std::string& path) = 0;
  // Makes a new file with these bytes, synced.
  virtual absl::Status WriteFile(const std::string& path, const std::string& bytes) = 0;
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // ALREADY_EXISTS if `to` is there; an empty directory or a file may be replaced
  // on a file system that knows no better.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // Replaces `to`, if it exists, atomically: a reader finds the old or the new file.
  virtual absl::Status Replace(const std::string& from, const std::string& to) = 0;
  // Swaps two entries that both exist: a reader finds either whole at any time.
  // UNIMPLEMENTED on a file system that cannot.
  virtual absl::Status Exchange(const std::string& one, const std::string& other) = 0;
  // Removes the entry with its contents; OK if there is none.
  virtual absl::Status RemoveAll(const std::string& path) = 0;

  // Names of the entries of a directory, in no order.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path) = 0;
  // At most the first `max_bytes` of a file; NOT_FOUND if there is none.
  virtual absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) = 0;
  // Bytes of all files of a directory, its own directories not entered; -1 if
  // `path` is no directory.
  virtual absl::StatusOr<int64_t> BytesIn(const std::string& path) = 0;
};

// Makes `text` all that a small file holds, atomically, in a directory that need not be there;
// absent: removes the file. Its name with ".new" behind it is free.
absl::Status StoreText(Disk& disk, const std::string& directory, const std::string& name,
                       const std::optional<std::string>& text);

// The machine's file system. Thread-safe.
Disk& RealDisk();

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_DISK_H_
