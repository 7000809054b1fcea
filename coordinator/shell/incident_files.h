// What an incident is called, and what its files are called.
#ifndef RAPIDEYE_COORDINATOR_SHELL_INCIDENT_FILES_H_
#define RAPIDEYE_COORDINATOR_SHELL_INCIDENT_FILES_H_

#include "proto/wire/messages.h"

namespace rapideye::coordinator {

inline constexpr char kCaptureFile[] = "capture.jsonl.gz";
inline constexpr char kJsonFile[] = "digest.json";
inline constexpr char kTextFile[] = "digest.txt";
inline constexpr char kHtmlFile[] = "digest.html";

// Such a text is safe as the name of a directory, and sorts by time.
using wire::IsIncidentId;

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SHELL_INCIDENT_FILES_H_
