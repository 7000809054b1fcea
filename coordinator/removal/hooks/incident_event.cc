#include "coordinator/removal/hooks/incident_event.h"

#include <string_view>
#include <utility>

#include "coordinator/fleet/records/records.h"

namespace rapideye::coordinator {
namespace {

constexpr std::string_view kEndOfKey = "-end";

}  // namespace

std::string EndKey(const std::string& incident_key) {
  return incident_key + std::string(kEndOfKey);
}

IncidentEvent EventOf(const std::string& key) {
  const bool end = key.ends_with(kEndOfKey);
  IncidentOfKey digest = ParseIncidentKey(end ? key.substr(0, key.size() - kEndOfKey.size()) : key);
  return {.id = std::move(digest.id), .revision = digest.revision, .end = end};
}

}  // namespace rapideye::coordinator
