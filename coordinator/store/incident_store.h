// IncidentStore keeps incidents on disk: a directory per incident, complete or absent.
//
//   <state-dir>/version                   of this layout, "1"
//   <state-dir>/incidents/<id>/{capture.jsonl.gz,digest.json,digest.txt,digest.html}
//                                         and hlo-<slice>-<task>.txt.gz of programs that diverged
//
// An incident is written under a temporary name, every file and the directory
// synced, then renamed, and the rename synced: after a crash at any point the
// incident is there as a whole or not at all. An incident that is removed is
// renamed first, for the same reason. A later digest of an incident is written likewise, and
// then swapped with the earlier one: after a crash there is one of them, whole. Entries without an
// incident's name are left alone.
//
// A state directory without a version file is older than versions: its layout is the
// same, and it gets the file. What happens later to an incident as a whole stands in small files
// of its own beside the digest (Annotate; hooks.json), and stays when a later digest comes. A
// directory of a newer version is not touched.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_STORE_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/store/disk.h"

namespace rapideye::coordinator {

// The layout that this program writes.
inline constexpr int kStateVersion = 1;

struct IncidentFile {
  std::string name;
  std::string bytes;
};

// Limits of the incidents that are kept. The newest is always kept.
struct Retention {
  int64_t incidents = 1000;
  int64_t bytes = int64_t{10} << 30;
};

// Not synchronised.
class IncidentStore {
 public:
  IncidentStore(std::string state_dir, Disk& disk);

  // Leftovers of an earlier process.
  struct Leftovers {
    std::vector<std::string> half_written;  // incidents; removed
    bool unversioned = false;               // was; the directory held incidents
  };
  // Makes the directories and removes incidents that a crash left half written or half removed.
  // An error names the reason why incidents cannot be written; Write tries again anyway.
  // UNIMPLEMENTED: a newer version wrote the directory, which is not touched.
  absl::StatusOr<Leftovers> Prepare();

  // The directory where an incident's files lie, or will lie.
  std::string PathOf(const std::string& id) const;
  // Writes one incident. OK if an incident of that id is already there.
  absl::Status Write(const std::string& id, const std::vector<IncidentFile>& files);
  // Writes these files in the place of all files of the incident but what happened to it as a
  // whole, or calls Write if it has none. What another thread writes meanwhile may be lost: it
  // writes its file again once it has seen the later digest.
  absl::Status Replace(const std::string& id, const std::vector<IncidentFile>& files);

  // Writes one more file beside those of an incident, in the place of an older file of that name.
  // NOT_FOUND if the incident is not on disk.
  absl::Status Annotate(const std::string& id, const IncidentFile& file);

  struct Retained {
    std::vector<std::string> removed;  // ids, oldest first
    int64_t incidents = 0;             // incidents that are left, and
    int64_t bytes = 0;                 // their size
    absl::Status status;               // the error that ended the removal early
  };
  // Removes the oldest incidents beyond `retention`, but never the newest, nor `latest` (a clock
  // that was set back gives a new incident an old name; "": none).
  Retained Retain(const Retention& retention, const std::string& latest);

 private:
  absl::Status MakeLayout(bool* unversioned);
  // Writes all files, synced, into a directory of this name.
  absl::Status WriteDirectory(const std::string& path, const std::vector<IncidentFile>& files);
  // Ends an interrupted Replace: puts the old files back, or removes them if the new ones stand.
  absl::Status FinishReplacing(const std::string& id);
  absl::Status Remove(const std::string& id);

  std::string state_dir_;
  std::string incidents_;
  Disk& disk_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_STORE_H_
