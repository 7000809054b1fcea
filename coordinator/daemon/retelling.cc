#include "coordinator/daemon/retelling.h"

#include <spdlog/spdlog.h>

#include <future>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

Retelling::Retelling(Read read, LogDigest log_digest, std::function<void(Event)> post)
    : read_(std::move(read)),
      log_digest_(std::move(log_digest)),
      mailbox_(std::make_shared<Mailbox>()) {
  mailbox_->post = std::move(post);
}

Retelling::~Retelling() {
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->post = nullptr;
}

void Retelling::FindLeft(List list) {
  std::thread([mailbox = mailbox_, list = std::move(list)] {
    absl::StatusOr<std::vector<std::string>> ids = list();
    const std::lock_guard lock(mailbox->mutex);
    if (ids.ok() && mailbox->post) mailbox->post(IncidentsOnDisk{*std::move(ids)});
  }).detach();
}

void Retelling::Begin(const std::string& incident_id) {
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, incident_id] { Run(incident_id); });
}

void Retelling::Run(const std::string& incident_id) {
  std::promise<absl::StatusOr<std::string>> promise;
  std::future<absl::StatusOr<std::string>> result = promise.get_future();
  std::thread([read = read_, incident_id, promise = std::move(promise)]() mutable {
    promise.set_value(read(incident_id));
  }).detach();
  absl::StatusOr<std::string> text = absl::DeadlineExceededError("the state directory hangs");
  if (result.wait_for(absl::ToChronoNanoseconds(kDiskPatience)) == std::future_status::ready) {
    text = result.get();
  }
  if (!text.ok()) {
    const bool damaged = !absl::IsDeadlineExceeded(text.status());
    spdlog::error("incident {}: its digest cannot be read: {}; collecting again{}", incident_id,
                  std::string(text.status().message()), damaged ? " under another name" : "");
    mailbox_->post(IncidentUnreadable{.incident_id = incident_id, .damaged = damaged});
    return;
  }
  log_digest_(incident_id, *text);
  mailbox_->post(IncidentConcluded{.incident_id = incident_id, .hang = true});
}

}  // namespace rapideye::coordinator
