#include "coordinator/shell/incident_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;

constexpr char kTemporaryPrefix[] = ".writing-";

absl::Status Failed(const char* what, const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", path));
}

absl::Status Failed(const char* what, const std::string& path, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": ", error.message()));
}

class PosixDisk final : public Disk {
 public:
  absl::Status MakeDirectory(const std::string& path) override {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return Failed("cannot make directory", path, error);
    const std::string parent = fs::path(path).parent_path();
    return parent.empty() ? absl::OkStatus() : SyncDirectory(parent);
  }

  absl::Status WriteFile(const std::string& path, const std::string& bytes) override {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return Failed("cannot create", path, errno);
    const absl::Cleanup closer = [file] { close(file); };
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed("cannot write", path, errno);
      done += static_cast<size_t>(written);
    }
    if (fsync(file) != 0) return Failed("cannot sync", path, errno);
    return absl::OkStatus();
  }

  absl::Status SyncDirectory(const std::string& path) override {
    const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return Failed("cannot open directory", path, errno);
    const absl::Cleanup closer = [directory] { close(directory); };
    if (fsync(directory) != 0) return Failed("cannot sync directory", path, errno);
    return absl::OkStatus();
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
      return Failed("cannot rename to", to, errno);
    }
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

  absl::Status RemoveAll(const std::string& path) override {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return Failed("cannot remove", path, error);
    return absl::OkStatus();
  }
};

}  // namespace

Disk& RealDisk() {
  static PosixDisk disk;
  return disk;
}

IncidentStore::IncidentStore(std::string state_dir, Disk& disk)
    : incidents_(absl::StrCat(state_dir, "/incidents")), disk_(disk) {}

std::string IncidentStore::PathOf(const std::string& id) const {
  return absl::StrCat(incidents_, "/", id);
}

absl::Status IncidentStore::Prepare() {
  if (absl::Status status = disk_.MakeDirectory(incidents_); !status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> names = disk_.List(incidents_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, kTemporaryPrefix)) continue;
    if (absl::Status status = disk_.RemoveAll(PathOf(name)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status IncidentStore::Write(const std::string& id, const std::vector<IncidentFile>& files) {
  // The directories may have vanished, or appeared, since the start.
  if (absl::Status status = disk_.MakeDirectory(incidents_); !status.ok()) return status;
  const std::string temporary = PathOf(absl::StrCat(kTemporaryPrefix, id));
  if (absl::Status status = disk_.RemoveAll(temporary); !status.ok()) return status;
  if (absl::Status status = disk_.MakeDirectory(temporary); !status.ok()) return status;
  for (const IncidentFile& file : files) {
    absl::Status status = disk_.WriteFile(absl::StrCat(temporary, "/", file.name), file.bytes);
    if (status.ok()) continue;
    // What is half written only takes up room, which may be what is lacking.
    disk_.RemoveAll(temporary).IgnoreError();
    return status;
  }
  if (absl::Status status = disk_.SyncDirectory(temporary); !status.ok()) return status;
  absl::Status status = disk_.Rename(temporary, PathOf(id));
  if (absl::IsAlreadyExists(status)) return disk_.RemoveAll(temporary);
  if (!status.ok()) return status;
  return disk_.SyncDirectory(incidents_);
}

}  // namespace rapideye::coordinator
