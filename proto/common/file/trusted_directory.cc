#include "proto/common/file/trusted_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <deque>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::file {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
// Linux itself follows as many.
constexpr int kMaxLinks = 40;

bool IsOurs(const struct stat& info) { return info.st_uid == 0 || info.st_uid == geteuid(); }

absl::Status Failed(const std::string& path) { return absl::ErrnoToStatus(errno, path); }

absl::Status Untrusted(const std::string& path, const char* why) {
  return absl::PermissionDeniedError(absl::StrCat(path, " ", why));
}

// `last`: files are to stand in it.
absl::Status CheckDirectory(int fd, const std::string& path, bool last) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return Failed(path);
  if (!IsOurs(info)) return Untrusted(path, "belongs to another user");
  const bool shared = (info.st_mode & kOthersMayWrite) != 0;
  if (shared && (last || (info.st_mode & S_ISVTX) == 0)) {
    return Untrusted(path, "can be written by other users");
  }
  return absl::OkStatus();
}

// Walks a path component by component, each relative to the descriptor of the one before.
class Walk {
 public:
  Walk(const std::string& path, TrustedDirectory::IfMissing if_missing)
      : create_(if_missing == TrustedDirectory::IfMissing::kCreate) {
    Prepend(path);
  }
  ~Walk() {
    if (fd_ >= 0) close(fd_);
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  absl::Status Run() {
    if (absl::Status status = Restart(); !status.ok()) return status;
    while (!left_.empty()) {
      const std::string name = left_.front();
      left_.pop_front();
      if (absl::Status status = Enter(name); !status.ok()) return status;
    }
    return CheckDirectory(fd_, Shown(), /*last=*/true);
  }
  int Release() { return std::exchange(fd_, -1); }

 private:
  // Puts the components of a path before those that are left.
  void Prepend(const std::string& path) {
    const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
    left_.insert(left_.begin(), parts.begin(), parts.end());
    absolute_ = path.starts_with('/');
  }

  absl::Status Restart() {
    shown_ = absolute_ ? "" : ".";
    return Move(open(absolute_ ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  absl::Status Enter(const std::string& name) {
    const std::string parent = Shown();
    absl::StrAppend(&shown_, "/", name);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    int next = openat(fd_, name.c_str(), kFlags);
    if (next < 0 && errno == ENOENT && create_) {
      // Other users could replace a directory that is made where they may write.
      if (mkdirat(fd_, name.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
        return Failed(Shown());
      }
      next = openat(fd_, name.c_str(), kFlags);
    }
    // With O_DIRECTORY and O_NOFOLLOW a link is ENOTDIR.
    if (next < 0 && (errno == ELOOP || errno == ENOTDIR)) return Follow(name, parent);
    return Move(next);
  }

  absl::Status Follow(const std::string& name, const std::string& parent) {
    struct stat info = {};
    if (fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return Failed(Shown());
    if (!S_ISLNK(info.st_mode)) {
      errno = ENOTDIR;
      return Failed(Shown());
    }
    if (!IsOurs(info)) return Untrusted(Shown(), "is a link of another user");
    std::array<char, PATH_MAX> target = {};
    const ssize_t size = readlinkat(fd_, name.c_str(), target.data(), target.size());
    if (size <= 0) return Failed(Shown());
    if (++links_ > kMaxLinks) {
      errno = ELOOP;
      return Failed(Shown());
    }
    Prepend(std::string(target.data(), static_cast<size_t>(size)));
    if (absolute_) return Restart();
    shown_ = parent;
    return absl::OkStatus();
  }

  // Takes the descriptor of the directory that is entered.
  absl::Status Move(int next) {
    if (next < 0) return Failed(Shown());
    if (fd_ >= 0) close(fd_);
    fd_ = next;
    return CheckDirectory(fd_, Shown(), /*last=*/false);
  }

  std::string Shown() const { return shown_.empty() ? "/" : shown_; }

  const bool create_;
  std::deque<std::string> left_;
  std::string shown_;
  bool absolute_ = true;
  int links_ = 0;
  int fd_ = -1;
};

bool IsDirectory(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

absl::StatusOr<TrustedDirectory> TrustedDirectory::Open(const std::string& path,
                                                        IfMissing if_missing) {
  if (path.empty()) return absl::InvalidArgumentError("the directory has no name");
  Walk walk(path, if_missing);
  if (absl::Status status = walk.Run(); !status.ok()) return status;
  return TrustedDirectory(walk.Release(), path);
}

TrustedDirectory::~TrustedDirectory() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<int> TrustedDirectory::OpenFile(const std::string& name, int flags,
                                               mode_t mode) const {
  const std::string shown = absl::StrCat(path_, "/", name);
  // Truncated once it is known to be ours.
  const int opened_with = (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const int fd = openat(fd_, name.c_str(), opened_with, mode);
  if (fd < 0) {
    // ELOOP: a link. ENXIO: a FIFO without a reader, or a socket.
    if (errno == ELOOP || errno == ENXIO) return Untrusted(shown, "is not a regular file");
    return Failed(shown);
  }
  struct stat info = {};
  absl::Status status;
  if (fstat(fd, &info) != 0) {
    status = Failed(shown);
  } else if (!S_ISREG(info.st_mode)) {
    status = Untrusted(shown, "is not a regular file");
  } else if (!IsOurs(info)) {
    status = Untrusted(shown, "belongs to another user");
  } else if (info.st_nlink != 1) {
    status = Untrusted(shown, "has another name, too");
  } else if ((info.st_mode & kOthersMayWrite) != 0) {
    status = Untrusted(shown, "can be written by other users");
  } else if ((flags & O_TRUNC) != 0 && ftruncate(fd, 0) != 0) {
    status = Failed(shown);
  }
  if (status.ok()) return fd;
  close(fd);
  return status;
}

std::string PrivateDirectory(const std::string& name) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return absl::StrCat(runtime, "/", name);
  const std::string of_user = absl::StrCat("/run/user/", geteuid());
  if (IsDirectory(of_user)) return absl::StrCat(of_user, "/", name);
  return absl::StrCat("/var/tmp/", name, "-", geteuid());
}

}  // namespace rapideye::file
