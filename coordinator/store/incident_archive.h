// IncidentArchive reads what IncidentStore wrote: for the operator's service and for HTTP.
//
// Damaged or foreign entries of the state directory (half of an incident, one of
// another version, other files) are reported as what they are; nothing there can
// make reading crash.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_ARCHIVE_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_ARCHIVE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "coordinator/store/incident_form.h"
#include "coordinator/store/incident_summary.h"
#include "proto/common/sync/mutex.h"

namespace rapideye::coordinator {

// Thread-safe. Every call reads the disk, and may block as long as the disk does:
// never call it on the core's thread.
class IncidentArchive {
 public:
  // `state_dir` as IncidentStore has it; it need not exist yet.
  explicit IncidentArchive(const std::string& state_dir);

  // The newest `limit` incidents, newest first; none if there is no directory yet. An entry
  // whose name is no incident id is left out; an incident whose files are missing or broken is
  // listed with its `problem`. UNAVAILABLE if the directory cannot be read.
  absl::StatusOr<std::vector<IncidentSummary>> List(size_t limit) const;

  // The ids of all incidents, in no order. Errors as List.
  absl::StatusOr<std::vector<std::string>> Ids() const;

  // The incident's end or acknowledgement; nullopt: none, or the disk does not give it.
  std::optional<EndedIncident> EndOf(const std::string& id) const;
  std::optional<Acknowledgement> AcknowledgementOf(const std::string& id) const;

  // Returns the whole document as it was stored; a form that was not stored, or is lost,
  // is rendered from the capture (and says the same, by the same classifier). The
  // results of hooks (kHooks) are no part of it, and NOT_FOUND until they exist.
  //   INVALID_ARGUMENT    `id` is no incident id
  //   NOT_FOUND           no such incident; the message says where they are listed
  //   DATA_LOSS           the files it takes are missing or broken; names them
  //   RESOURCE_EXHAUSTED  more than kMaxIncidentBytes; names the file to copy
  //   UNAVAILABLE         the disk does not give it
  absl::StatusOr<std::string> Read(const std::string& id, IncidentForm form) const;

 private:
  // The summary of a digest whose file has this time and size.
  struct Known {
    int64_t modified_ns = 0;
    int64_t bytes = 0;
    IncidentSummary summary;
  };

  std::string PathOf(const std::string& id, const char* file) const;
  IncidentSummary Summarise(const std::string& id) const;
  IncidentSummary SummariseDigestOf(const std::string& id) const;
  absl::StatusOr<std::string> Render(const std::string& id, IncidentForm form) const;

  const std::string incidents_;
  mutable Mutex mutex_;
  mutable std::map<std::string, Known> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_ARCHIVE_H_
