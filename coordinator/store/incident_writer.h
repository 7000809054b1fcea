// From collected evidence to a digest on disk and in the log, off the core's
// thread.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_WRITER_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_WRITER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "classifier/verdict.h"
#include "coordinator/core/events.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/store/incident_keeper.h"
#include "digest/digest.h"
#include "proto/common/worker/worker.h"

namespace rapideye::coordinator {

// Thread-safe. Its thread classifies, renders and logs; the keeper's writes, so
// that a disk which hangs cannot silence the digest.
class IncidentWriter {
 public:
  struct Settings {
    digest::TextFormat text_format = digest::TextFormat::kClassic;
    // So long a digest waits for the disk, to be able to say where it lies.
    absl::Duration disk_patience = kDiskPatience;
    // Takes the digest's text, for the log. Called on the writer's thread.
    std::function<void(const std::string& incident_id, const std::string& text)> log_digest;
    // Told of every verdict, NO_HANG included. May be empty.
    std::function<void(Cause cause, absl::Duration classification)> classified;
    // Told of every hang, before it goes to the keeper. May be empty.
    std::function<void(IncidentRecord)> found = nullptr;
    // Asks for the texts of programs that have diverged, to be answered by Post with a
    // TextsGathered. Empty: there are none to be had.
    std::function<void(TextsWanted)> want_texts = nullptr;
    // Called when the digest is in the log and the disk has done its work, has
    // failed for now, or has run out of time.
    std::function<void(IncidentConcluded)> concluded;
  };

  // `keeper` outlives the writer.
  IncidentWriter(IncidentKeeper& keeper, Settings settings);
  // What has begun is finished, without the texts that are still wanted.
  ~IncidentWriter();

  void Post(Conclude conclude);
  // For an incident that waits for none it is passed over.
  void Post(TextsGathered texts);

 private:
  // An incident on its way to its digest.
  struct Begun {
    Conclude conclude;
    Verdict verdict;
    absl::Duration classification;
    std::vector<IncidentFile> texts = {};
  };

  void Process(Conclude conclude);
  void Process(TextsGathered texts);
  // Without the texts that it still waits for.
  void FinishWaiting();
  void Finish(Begun begun);

  IncidentKeeper& keeper_;
  const Settings settings_;
  std::optional<Begun> awaits_texts_;  // of the thread
  Worker worker_;                      // last: its jobs use the others
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_WRITER_H_
