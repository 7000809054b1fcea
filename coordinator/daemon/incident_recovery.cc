#include "coordinator/daemon/incident_recovery.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/limits.h"
#include "proto/common/worker/thread.h"

namespace rapideye::coordinator {

IncidentRecovery::IncidentRecovery(Read read, DigestLog log_digest, std::function<void(Event)> post)
    : read_(std::move(read)),
      log_digest_(std::move(log_digest)),
      sink_(std::make_shared<ClosableSink<Event>>(std::move(post))) {}

IncidentRecovery::~IncidentRecovery() {
  reteller_.Stop();
  sink_->Close();
  lister_.Stop(absl::ZeroDuration());
}

void IncidentRecovery::FindLeft(List list) {
  lister_.Post([sink = sink_, list = std::move(list)] {
    absl::StatusOr<IncidentsOnDisk> left = list();
    if (left.ok()) sink->Send(*std::move(left));
  });
}

void IncidentRecovery::Begin(const std::string& incident_id) {
  reteller_.Post([this, incident_id] { Retell(incident_id); });
}

void IncidentRecovery::Retell(const std::string& incident_id) {
  const absl::StatusOr<std::string> text =
      WithPatience([read = read_, incident_id] { return read(incident_id); }, kDiskPatience)
          .value_or(absl::DeadlineExceededError("the state directory hangs"));
  if (!text.ok()) {
    const bool damaged = !absl::IsDeadlineExceeded(text.status());
    spdlog::error("incident {}: its digest cannot be read: {}; collecting again{}", incident_id,
                  std::string(text.status().message()), damaged ? " under another name" : "");
    sink_->Send(IncidentUnreadable{.incident_id = incident_id, .damaged = damaged});
    return;
  }
  log_digest_(incident_id, *text, /*verdict=*/std::nullopt);
  sink_->Send(IncidentConcluded{.incident_id = incident_id, .hang = true});
}

}  // namespace rapideye::coordinator
