// IncidentEvent states the event of an incident for which hooks run.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_INCIDENT_EVENT_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_INCIDENT_EVENT_H_

#include <cstdint>
#include <string>

namespace rapideye::coordinator {

// The key of an incident's end in the journal of hooks; `incident_key` (IncidentKey) names the
// digest that was out.
std::string EndKey(const std::string& incident_key);

// The subject of a key in the journal of hooks.
struct IncidentEvent {
  std::string id;        // of the incident
  int64_t revision = 1;  // of its digest
  bool end = false;      // of the incident, after that digest

  // "opened" for the first digest, "changed" for a later one, "recovered" for the end.
  const char* name() const {
    if (end) return "recovered";
    return revision > 1 ? "changed" : "opened";
  }
};
// The event of an IncidentKey or an EndKey; any other text is taken for an id.
IncidentEvent EventOf(const std::string& key);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_INCIDENT_EVENT_H_
