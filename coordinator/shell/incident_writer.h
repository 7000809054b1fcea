// From collected evidence to a digest on disk and in the log, off the core's
// thread.
#ifndef RAPIDEYE_COORDINATOR_SHELL_INCIDENT_WRITER_H_
#define RAPIDEYE_COORDINATOR_SHELL_INCIDENT_WRITER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "classifier/verdict.h"
#include "coordinator/core/events.h"
#include "coordinator/limits.h"
#include "coordinator/shell/incident_keeper.h"
#include "digest/digest.h"

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
    // Called when the digest is in the log and the disk has done its work, has
    // failed for now, or has run out of time.
    std::function<void(IncidentConcluded)> concluded;
  };

  // `keeper` outlives the writer.
  IncidentWriter(IncidentKeeper& keeper, Settings settings);
  // What has begun is finished.
  ~IncidentWriter();

  void Post(Conclude conclude);

 private:
  void Run();
  void Process(Conclude conclude);

  IncidentKeeper& keeper_;
  Settings settings_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable filled_;
  std::deque<Conclude> incidents_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SHELL_INCIDENT_WRITER_H_
