// Names the files of an incident, and states which texts are incident ids.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_FILES_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_FILES_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

inline constexpr char kCaptureFile[] = "capture.jsonl.gz";
inline constexpr char kJsonFile[] = "digest.json";
inline constexpr char kTextFile[] = "digest.txt";
inline constexpr char kHtmlFile[] = "digest.html";
// The record of the incident that the fleet is to keep (fleet/records/record_json.h).
inline constexpr char kRecordFile[] = "record.json";
// The decisions about the incident and its hooks; written later than the files above.
inline constexpr char kHooksFile[] = "hooks.json";

// Notes that are written when the incident ends or is acknowledged (incident_notes.h).
inline constexpr char kEndedFile[] = "ended.json";
inline constexpr char kAcknowledgedFile[] = "acknowledged.json";

// The HLO that this worker gave of the program that it runs.
inline std::string ModuleTextFile(const WorkerId& worker) {
  return absl::StrCat("hlo-", worker.slice, "-", worker.task, ".txt.gz");
}

// Such a text is safe as the name of a directory, and sorts by time.
using wire::IsIncidentId;

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_FILES_H_
