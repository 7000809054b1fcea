// IncidentSummary describes an incident in one line of a list, taken from its digest's JSON.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_SUMMARY_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/job_status.h"
#include "coordinator/store/incident_notes.h"

namespace rapideye::coordinator {

// Texts are valid UTF-8 and bounded, but not escaped: each form escapes as it
// demands.
struct IncidentSummary {
  std::string id;
  std::string detected_at;  // RFC 3339, UTC
  std::string job;
  std::string cause;                 // a CauseName; "" if not known
  std::string detail;                // "" for none
  std::optional<double> confidence;  // absent: the cause states none
  std::string headline;
  std::string
      sentence;  // what stopped, where, how many wait; "": an older release wrote the digest
  int64_t revision = 1;               // more: a later look has replaced the digest
  std::vector<std::string> culprits;  // hosts, each once, at most kMaxListedCulprits
  size_t culprit_hosts = 0;           // number of all culprit hosts, also those not listed
  // The problem with the incident's files; "" for a complete incident. Fields that
  // could not be read are empty.
  std::string problem;

  // From the incident's notes, which the digest does not hold.
  std::optional<EndedIncident> ended = {};  // absent: it lasts, or nobody saw its end
  std::optional<Acknowledgement> acknowledged = {};
  bool newest = false;  // first of a list; older incidents are over
};

// Hosts that a line of a list names; `rapideye show` has them all.
inline constexpr size_t kMaxListedCulprits = 10;

// `json`: the bytes of a digest.json, of any writer. INVALID_ARGUMENT if it is
// no digest, or of a schema that is not known here. `id` and `problem` are the
// caller's to fill.
absl::StatusOr<IncidentSummary> SummariseDigest(const std::string& json);

// The part of the list's line about the digest itself.
ToldVerdict VerdictOf(const IncidentSummary& summary);

// The time from the incident's detection to its end; nullopt if one of them is not known.
std::optional<absl::Duration> Lasted(const IncidentSummary& summary);

// "2026-11-20T12:44:19Z" from "20261120T124419Z-5dc4d1c8", for an incident whose
// digest cannot be read. `id` must be an incident id.
std::string TimeOfId(const std::string& id);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_SUMMARY_H_
