#include "proto/common/file/regular_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::file {
namespace {

// Linux itself follows as many.
constexpr int kMostLinks = 40;

bool IsOfProc(int fd) {
  struct statfs file_system = {};
  return fstatfs(fd, &file_system) == 0 && file_system.f_type == PROC_SUPER_MAGIC;
}

// Walks a path component by component, so that the links checked are the links followed, even if
// other processes rename them meanwhile.
class LinkWalk {
 public:
  explicit LinkWalk(const std::string& path) : path_(path) { Prepend(path); }
  ~LinkWalk() { Leave(); }
  LinkWalk(const LinkWalk&) = delete;
  LinkWalk& operator=(const LinkWalk&) = delete;

  absl::StatusOr<int> OpenFile() {
    absl::StatusOr<int> file = Walk();
    if (file.ok() && *file < 0) return NotRegular();
    return file;
  }

  absl::StatusOr<int> OpenDirectory() {
    const absl::StatusOr<int> file = Walk();
    if (!file.ok()) return file.status();
    if (*file >= 0) {
      close(*file);
      return absl::ErrnoToStatus(ENOTDIR, path_);
    }
    struct stat info = {};
    if (fstat(fd_, &info) != 0) return Failed();
    if (!MayShow(info)) return LeadsToAnother();
    const int directory = openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return Failed();
    return directory;
  }

 private:
  // The file at the path's end; -1: that is the directory fd_.
  absl::StatusOr<int> Walk() {
    Restart();
    while (fd_ >= 0 && !left_.empty()) {
      const std::string name = left_.front();
      left_.pop_front();
      const int next = openat(fd_, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
      struct stat info = {};
      if (next < 0) return Failed();
      if (fstat(next, &info) != 0) {
        const absl::Status failed = Failed();
        close(next);
        return failed;
      }
      if (S_ISLNK(info.st_mode)) {
        const int error = Follow(next, info, name);
        close(next);
        errno = error;
        if (error != 0) return Failed();
      } else if (!left_.empty() || S_ISDIR(info.st_mode)) {
        Leave();
        fd_ = next;
      } else {
        close(next);
        return OpenLast(name, info);
      }
    }
    if (fd_ < 0) return Failed();
    return -1;
  }

  absl::Status Failed() const { return absl::ErrnoToStatus(errno, path_); }
  absl::Status NotRegular() const {
    return absl::FailedPreconditionError(absl::StrCat(path_, " is not a regular file"));
  }
  absl::Status LeadsToAnother() const {
    return absl::PermissionDeniedError(
        absl::StrCat(path_,
                     " leads by a link of another user to a file that is not that "
                     "user's; name the file itself"));
  }
  // True if the owners of all links may show it.
  bool MayShow(const struct stat& target) const {
    return std::all_of(owners_.begin(), owners_.end(),
                       [&target](uid_t owner) { return owner == target.st_uid; });
  }

  void Leave() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  void Restart() {
    Leave();
    fd_ = open(absolute_ ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  // Puts the components of a path before the components that are left.
  void Prepend(const std::string& path) {
    const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
    left_.insert(left_.begin(), parts.begin(), parts.end());
    absolute_ = path.starts_with('/');
  }

  // 0, or errno.
  int Follow(int link, const struct stat& info, const std::string& name);

  absl::StatusOr<int> OpenLast(const std::string& name, const struct stat& seen) const {
    if (!S_ISREG(seen.st_mode)) return NotRegular();
    if (!MayShow(seen)) return LeadsToAnother();
    const int file =
        openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return Failed();
    struct stat opened = {};
    if (fstat(file, &opened) == 0 && opened.st_dev == seen.st_dev && opened.st_ino == seen.st_ino) {
      return file;
    }
    close(file);
    return absl::UnavailableError(absl::StrCat(path_, " was replaced while it was opened"));
  }

  const std::string path_;
  std::deque<std::string> left_;
  bool absolute_ = true;
  std::vector<uid_t> owners_;  // of the links followed, but for root and this user
  int links_ = 0;
  int fd_ = -1;  // the directory that has been reached
};

int LinkWalk::Follow(int link, const struct stat& info, const std::string& name) {
  if (++links_ > kMostLinks) return ELOOP;
  if (IsOfProc(link)) {
    // A link of the kernel's own: /proc/1/root leads where no link's text does.
    const int next = openat(fd_, name.c_str(), O_PATH | O_CLOEXEC);
    if (next < 0) return errno;
    Leave();
    fd_ = next;
    // A file that a descriptor under /proc is open as has no name to be opened again by.
    return left_.empty() ? ELOOP : 0;
  }
  if (info.st_uid != 0 && info.st_uid != geteuid()) owners_.push_back(info.st_uid);
  std::array<char, PATH_MAX> target = {};
  const ssize_t size = readlinkat(link, "", target.data(), target.size());
  if (size <= 0) return size < 0 ? errno : ENOENT;
  Prepend(std::string(target.data(), static_cast<size_t>(size)));
  if (absolute_) Restart();
  return fd_ < 0 ? errno : 0;
}

}  // namespace

absl::StatusOr<int> OpenRegularFile(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the file has no name");
  return LinkWalk(path).OpenFile();
}

absl::StatusOr<int> OpenDirectory(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the directory has no name");
  return LinkWalk(path).OpenDirectory();
}

}  // namespace rapideye::file
