#include "coordinator/store/disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "proto/common/file/descriptor.h"
#include "proto/common/file/regular_file.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const char* what, const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", path));
}

absl::Status Failed(const char* what, const std::string& path, const std::error_code& error) {
  return Failed(what, path, error.value());
}

// Captures hold stacks and lines of logs: for this user and a group that may read them, not for
// every user of the host.
constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;

class PosixDisk final : public Disk {
 public:
  absl::Status MakeDirectory(const std::string& path) override {
    std::error_code error;
    if (fs::is_directory(path, error)) return absl::OkStatus();
    const std::string parent = fs::path(path).parent_path();
    if (!parent.empty() && parent != path) {
      if (absl::Status status = MakeDirectory(parent); !status.ok()) return status;
    }
    if (mkdir(path.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      return Failed("cannot make directory", path, errno);
    }
    return SyncDirectory(parent.empty() ? "." : parent);
  }

  absl::Status WriteFile(const std::string& path, const std::string& bytes) override {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
    if (file < 0) return Failed("cannot create", path, errno);
    const absl::Cleanup closer = [file] { close(file); };
    if (const int error = file::WriteAll(file, bytes); error != 0) {
      return Failed("cannot write", path, error);
    }
    if (fsync(file) != 0) return Failed("cannot sync", path, errno);
    return absl::OkStatus();
  }

  absl::Status SyncDirectory(const std::string& path) override {
    const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return Failed("cannot open directory", path, errno);
    const absl::Cleanup closer = [directory] { close(directory); };
    // EINVAL: the file system (mostly one of the network) cannot sync directories.
    if (fsync(directory) != 0 && errno != EINVAL) {
      return Failed("cannot sync directory", path, errno);
    }
    return absl::OkStatus();
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
      return absl::OkStatus();
    }
    // NFS and others do not know the flag. Even so rename() does not replace a directory
    // that has entries.
    if ((errno == EINVAL || errno == ENOSYS) && rename(from.c_str(), to.c_str()) == 0) {
      return absl::OkStatus();
    }
    return Failed("cannot rename to", to, errno == ENOTEMPTY ? EEXIST : errno);
  }

  absl::Status Replace(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return Failed("cannot rename to", to, errno);
  }

  absl::Status Exchange(const std::string& one, const std::string& other) override {
    if (renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) {
      return absl::OkStatus();
    }
    // NFS and others do not know the flag.
    if (errno == EINVAL || errno == ENOSYS) {
      return absl::UnimplementedError(absl::StrCat("cannot swap with ", one));
    }
    return Failed("cannot swap with", one, errno);
  }

  absl::Status RemoveAll(const std::string& path) override {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return Failed("cannot remove", path, error);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    std::error_code error;
    std::vector<std::string> names;
    fs::directory_iterator entry(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      names.push_back(entry->path().filename());
    }
    if (error) return Failed("cannot list", path, error);
    return names;
  }

  absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) override {
    // OpenRegularFile: a FIFO in the file's place would hold up the recovery of all incidents.
    const absl::StatusOr<int> file = file::OpenRegularFile(path);
    if (!file.ok()) return file.status();
    const absl::Cleanup closer = [file = *file] { close(file); };
    std::string bytes;
    if (const int error = file::ReadUpTo(*file, max_bytes, bytes); error != 0) {
      return Failed("cannot read", path, error);
    }
    return bytes;
  }

  absl::StatusOr<int64_t> BytesIn(const std::string& path) override {
    std::error_code error;
    const fs::file_status kind = fs::symlink_status(path, error);
    if (error) return Failed("cannot look at", path, error);
    if (!fs::is_directory(kind)) return -1;
    int64_t bytes = 0;
    fs::directory_iterator entry(path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code no_file;
      if (!entry->is_regular_file(no_file)) continue;
      const uintmax_t size = entry->file_size(no_file);
      if (!no_file) bytes += static_cast<int64_t>(size);
    }
    if (error) return Failed("cannot list", path, error);
    return bytes;
  }
};

}  // namespace

absl::Status StoreText(Disk& disk, const std::string& directory, const std::string& name,
                       const std::optional<std::string>& text) {
  const std::string path = absl::StrCat(directory, "/", name);
  if (!text.has_value()) return disk.RemoveAll(path);
  const std::string anew = absl::StrCat(path, ".new");
  if (absl::Status status = disk.MakeDirectory(directory); !status.ok()) return status;
  if (absl::Status status = disk.RemoveAll(anew); !status.ok()) return status;
  if (absl::Status status = disk.WriteFile(anew, *text); !status.ok()) return status;
  return disk.Replace(anew, path);
}

Disk& RealDisk() {
  static auto& disk = *new PosixDisk;  // threads that hang in it may outlive all statics
  return disk;
}

}  // namespace rapideye::coordinator
