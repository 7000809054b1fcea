// Incidents on disk: a directory per incident, complete or absent.
//
//   <state-dir>/incidents/<id>/{capture.jsonl.gz,digest.json,digest.txt}
//
// An incident is written under a temporary name, every file and the directory
// synced, then renamed, and the rename synced: after a crash at any point the
// incident is there as a whole or not at all.
#ifndef RAPIDEYE_COORDINATOR_SHELL_INCIDENT_STORE_H_
#define RAPIDEYE_COORDINATOR_SHELL_INCIDENT_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rapideye::coordinator {

// The few things a store does to a disk; tests wrap it to fail or to crash.
// Every operation is durable when it returns OK. Errors name path and reason.
class Disk {
 public:
  virtual ~Disk() = default;
  // Also the missing parents. OK if it is there already.
  virtual absl::Status MakeDirectory(const std::string& path) = 0;
  // A new file with these bytes, synced.
  virtual absl::Status WriteFile(const std::string& path, const std::string& bytes) = 0;
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // ALREADY_EXISTS if `to` is there.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path) = 0;
  virtual absl::Status RemoveAll(const std::string& path) = 0;
};

// The machine's file system. Thread-safe.
Disk& RealDisk();

struct IncidentFile {
  std::string name;
  std::string bytes;
};

// Not synchronised.
class IncidentStore {
 public:
  IncidentStore(std::string state_dir, Disk& disk);

  // Makes the directories and removes what a crash left half written. An error
  // says what keeps incidents from being written; Write tries again anyway.
  absl::Status Prepare();
  // Where an incident's files lie, or will.
  std::string PathOf(const std::string& id) const;
  // Writes one incident. OK if an incident of that id is already there.
  absl::Status Write(const std::string& id, const std::vector<IncidentFile>& files);

 private:
  std::string incidents_;
  Disk& disk_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SHELL_INCIDENT_STORE_H_
