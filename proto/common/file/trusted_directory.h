// TrustedDirectory opens files that no other user of the host can have placed or replaced.
#ifndef RAPIDEYE_PROTO_COMMON_FILE_TRUSTED_DIRECTORY_H_
#define RAPIDEYE_PROTO_COMMON_FILE_TRUSTED_DIRECTORY_H_

#include <sys/types.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rapideye::file {

// An open directory. Every component of its path, symbolic links included, belongs to root or
// to this process's effective user, and nobody else may write to it; above the last component
// a sticky directory such as /tmp is as good, since what stands in it can be replaced by its
// owner alone. Files are opened relative to the directory, so that a later change of the path
// changes nothing.
class TrustedDirectory {
 public:
  enum class IfMissing { kRefuse, kCreate };

  // Creates missing folders with mode 0700, if told to. NOT_FOUND if the directory does not exist;
  // PERMISSION_DENIED names the component that another user controls; else as errno says.
  static absl::StatusOr<TrustedDirectory> Open(const std::string& path, IfMissing if_missing);

  TrustedDirectory(TrustedDirectory&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  TrustedDirectory& operator=(TrustedDirectory&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~TrustedDirectory();

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

  // Opens the regular file `name`, a name without '/', as open(2) does with these flags; the
  // caller closes the descriptor. Follows no link and never blocks. NOT_FOUND if there is
  // none; PERMISSION_DENIED if it is not a regular file, has another name too (a hard link),
  // or if another user owns it or may write to it.
  absl::StatusOr<int> OpenFile(const std::string& name, int flags, mode_t mode = 0) const;

 private:
  TrustedDirectory(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

// A directory for state of this user, `name` being the program's: $XDG_RUNTIME_DIR/name, else
// /run/user/UID/name, else /var/tmp/name-UID. It is not created, and has to be checked by
// TrustedDirectory: others may have made the last one first.
std::string PrivateDirectory(const std::string& name);

}  // namespace rapideye::file

#endif  // RAPIDEYE_PROTO_COMMON_FILE_TRUSTED_DIRECTORY_H_
