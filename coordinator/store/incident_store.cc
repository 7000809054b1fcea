#include "coordinator/store/incident_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"
#include "coordinator/store/incident_files.h"

namespace rapideye::coordinator {
namespace {

constexpr char kWritingPrefix[] = ".writing-";
constexpr char kRemovingPrefix[] = ".removing-";
// Directories of a later digest: the new one, and, where no swap is possible, the one it replaces.
constexpr char kReplacingPrefix[] = ".replacing-";
constexpr char kReplacedPrefix[] = ".replaced-";
constexpr char kVersionName[] = "/version";
// A version file is a number; a longer file is not the store's own.
constexpr size_t kMaxVersionBytes = 32;
// Files about an incident as a whole, whichever its digest is.
constexpr const char* kNotes[] = {kEndedFile, kAcknowledgedFile, kHooksFile};

}  // namespace

IncidentStore::IncidentStore(std::string state_dir, Disk& disk)
    : state_dir_(std::move(state_dir)),
      incidents_(absl::StrCat(state_dir_, "/incidents")),
      disk_(disk) {}

std::string IncidentStore::PathOf(const std::string& id) const {
  return absl::StrCat(incidents_, "/", id);
}

// The directories may have vanished, appeared or been replaced since the last time: they are
// looked at before every write.
absl::Status IncidentStore::MakeLayout(bool* unversioned) {
  if (absl::Status status = disk_.MakeDirectory(state_dir_); !status.ok()) return status;
  const std::string version_path = absl::StrCat(state_dir_, kVersionName);
  const absl::StatusOr<std::string> text = disk_.ReadFile(version_path, kMaxVersionBytes);
  if (text.ok()) {
    int version = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &version) || version < 1 ||
        version > kStateVersion) {
      return absl::UnimplementedError(absl::StrCat(
          version_path, " is not version ", kStateVersion,
          " or older: a newer rapideye-coordinator has written here, nothing is touched; run that "
          "one, or give another --state-dir"));
    }
    return disk_.MakeDirectory(incidents_);
  }
  if (!absl::IsNotFound(text.status())) return text.status();
  if (absl::Status status = disk_.MakeDirectory(incidents_); !status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> names = disk_.List(incidents_);
  if (!names.ok()) return names.status();
  *unversioned = !names->empty();
  const std::string temporary = absl::StrCat(state_dir_, "/", kWritingPrefix, "version");
  if (absl::Status status = disk_.RemoveAll(temporary); !status.ok()) return status;
  absl::Status status = disk_.WriteFile(temporary, absl::StrCat(kStateVersion, "\n"));
  if (!status.ok()) return status;
  status = disk_.Rename(temporary, version_path);
  if (absl::IsAlreadyExists(status)) status = disk_.RemoveAll(temporary);
  if (!status.ok()) return status;
  return disk_.SyncDirectory(state_dir_);
}

absl::StatusOr<IncidentStore::Leftovers> IncidentStore::Prepare() {
  Leftovers leftovers;
  if (absl::Status status = MakeLayout(&leftovers.unversioned); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> names = disk_.List(incidents_);
  if (!names.ok()) return names.status();
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, kReplacedPrefix)) continue;
    absl::Status status = FinishReplacing(name.substr(sizeof(kReplacedPrefix) - 1));
    if (!status.ok()) return status;
  }
  for (const std::string& name : *names) {
    if (absl::StartsWith(name, kReplacingPrefix)) {
      if (absl::Status status = disk_.RemoveAll(PathOf(name)); !status.ok()) return status;
      continue;
    }
    const bool half_written = absl::StartsWith(name, kWritingPrefix);
    if (!half_written && !absl::StartsWith(name, kRemovingPrefix)) continue;
    if (absl::Status status = disk_.RemoveAll(PathOf(name)); !status.ok()) return status;
    if (half_written) leftovers.half_written.push_back(name.substr(sizeof(kWritingPrefix) - 1));
  }
  return leftovers;
}

absl::Status IncidentStore::WriteDirectory(const std::string& path,
                                           const std::vector<IncidentFile>& files) {
  if (absl::Status status = disk_.RemoveAll(path); !status.ok()) return status;
  if (absl::Status status = disk_.MakeDirectory(path); !status.ok()) return status;
  for (const IncidentFile& file : files) {
    absl::Status status = disk_.WriteFile(absl::StrCat(path, "/", file.name), file.bytes);
    if (status.ok()) continue;
    // A half-written incident only takes up room, and a lack of room may be why it failed.
    disk_.RemoveAll(path).IgnoreError();
    return status;
  }
  return disk_.SyncDirectory(path);
}

absl::Status IncidentStore::Write(const std::string& id, const std::vector<IncidentFile>& files) {
  bool unversioned = false;
  if (absl::Status status = MakeLayout(&unversioned); !status.ok()) return status;
  const std::string temporary = PathOf(absl::StrCat(kWritingPrefix, id));
  if (absl::Status status = WriteDirectory(temporary, files); !status.ok()) return status;
  absl::Status status = disk_.Rename(temporary, PathOf(id));
  if (absl::IsAlreadyExists(status)) return disk_.RemoveAll(temporary);
  if (!status.ok()) return status;
  return disk_.SyncDirectory(incidents_);
}

absl::Status IncidentStore::FinishReplacing(const std::string& id) {
  const std::string replaced = PathOf(absl::StrCat(kReplacedPrefix, id));
  const absl::Status back = disk_.Rename(replaced, PathOf(id));
  if (absl::IsAlreadyExists(back)) return disk_.RemoveAll(replaced);
  if (!back.ok() && !absl::IsNotFound(back)) return back;
  return disk_.SyncDirectory(incidents_);
}

absl::Status IncidentStore::Replace(const std::string& id, const std::vector<IncidentFile>& files) {
  bool unversioned = false;
  if (absl::Status status = MakeLayout(&unversioned); !status.ok()) return status;
  if (absl::Status status = FinishReplacing(id); !status.ok()) return status;
  const absl::StatusOr<int64_t> there = disk_.BytesIn(PathOf(id));
  if (absl::IsNotFound(there.status())) return Write(id, files);
  if (!there.ok()) return there.status();
  const std::string temporary = PathOf(absl::StrCat(kReplacingPrefix, id));
  std::vector<IncidentFile> all = files;
  for (const char* name : kNotes) {
    auto note = disk_.ReadFile(absl::StrCat(PathOf(id), "/", name), kMaxIncidentBytes);
    if (note.ok()) all.push_back({name, *std::move(note)});
  }
  if (absl::Status status = WriteDirectory(temporary, all); !status.ok()) return status;
  absl::Status status = disk_.Exchange(temporary, PathOf(id));
  if (absl::IsUnimplemented(status)) {
    // For a moment neither directory has the name; after a crash then the old one is put back.
    const std::string replaced = PathOf(absl::StrCat(kReplacedPrefix, id));
    status = disk_.Rename(PathOf(id), replaced);
    if (status.ok()) status = disk_.Rename(temporary, PathOf(id));
    if (status.ok()) status = disk_.SyncDirectory(incidents_);
    return status.ok() ? disk_.RemoveAll(replaced) : status;
  }
  if (status.ok()) status = disk_.SyncDirectory(incidents_);
  return status.ok() ? disk_.RemoveAll(temporary) : status;
}

absl::Status IncidentStore::Annotate(const std::string& id, const IncidentFile& file) {
  bool unversioned = false;
  if (absl::Status status = MakeLayout(&unversioned); !status.ok()) return status;
  const std::string directory = PathOf(id);
  const absl::StatusOr<int64_t> there = disk_.BytesIn(directory);
  if (!there.ok()) return there.status();
  if (*there < 0) return absl::NotFoundError(absl::StrCat(directory, " is not there"));
  const std::string path = absl::StrCat(directory, "/", file.name);
  const std::string temporary = absl::StrCat(path, ".new");
  if (absl::Status status = disk_.RemoveAll(temporary); !status.ok()) return status;
  if (absl::Status status = disk_.WriteFile(temporary, file.bytes); !status.ok()) return status;
  if (absl::Status status = disk_.Replace(temporary, path); !status.ok()) return status;
  return disk_.SyncDirectory(directory);
}

IncidentStore::Retained IncidentStore::Retain(const Retention& retention,
                                              const std::string& latest) {
  Retained retained;
  absl::StatusOr<std::vector<std::string>> names = disk_.List(incidents_);
  if (!names.ok()) {
    retained.status = names.status();
    return retained;
  }
  // The newest come first: incidents beyond the limits are removed.
  std::sort(names->rbegin(), names->rend());
  std::vector<std::string> beyond;
  for (const std::string& name : *names) {
    if (!IsIncidentId(name)) continue;
    const absl::StatusOr<int64_t> bytes = disk_.BytesIn(PathOf(name));
    if (!bytes.ok()) {
      retained.status = bytes.status();
      return retained;
    }
    if (*bytes < 0) continue;
    const bool fits = beyond.empty() && retained.incidents < retention.incidents &&
                      retained.bytes + *bytes <= retention.bytes;
    if (fits || retained.incidents == 0 || name == latest) {
      ++retained.incidents;
      retained.bytes += *bytes;
    } else {
      beyond.push_back(name);
    }
  }
  std::reverse(beyond.begin(), beyond.end());
  for (const std::string& id : beyond) {
    retained.status = Remove(id);
    if (!retained.status.ok()) break;
    retained.removed.push_back(id);
  }
  return retained;
}

absl::Status IncidentStore::Remove(const std::string& id) {
  const std::string temporary = PathOf(absl::StrCat(kRemovingPrefix, id));
  if (absl::Status status = disk_.RemoveAll(temporary); !status.ok()) return status;
  if (absl::Status status = disk_.Rename(PathOf(id), temporary); !status.ok()) return status;
  if (absl::Status status = disk_.SyncDirectory(incidents_); !status.ok()) return status;
  return disk_.RemoveAll(temporary);
}

}  // namespace rapideye::coordinator
