// What an incident is called, and what its files are called.
#ifndef RAPIDEYE_COORDINATOR_SHELL_INCIDENT_FILES_H_
#define RAPIDEYE_COORDINATOR_SHELL_INCIDENT_FILES_H_

#include <string_view>

namespace rapideye::coordinator {

inline constexpr char kCaptureFile[] = "capture.jsonl.gz";
inline constexpr char kJsonFile[] = "digest.json";
inline constexpr char kTextFile[] = "digest.txt";
inline constexpr char kHtmlFile[] = "digest.html";

// True for YYYYMMDDTHHMMSSZ-<8 lower-case hex>, and nothing else: such a text is
// safe as the name of a directory, and sorts by time.
bool IsIncidentId(std::string_view text);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SHELL_INCIDENT_FILES_H_
