// From collected evidence to a digest on disk and in the log, off the core's
// thread.
#ifndef RAPIDEYE_COORDINATOR_SHELL_INCIDENT_WRITER_H_
#define RAPIDEYE_COORDINATOR_SHELL_INCIDENT_WRITER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/core/events.h"
#include "coordinator/shell/incident_store.h"
#include "digest/digest.h"

namespace rapideye::coordinator {

// Thread-safe. Two threads: one classifies, renders and logs; the other one
// writes, so that a disk which hangs cannot silence the digest.
class IncidentWriter {
 public:
  struct Settings {
    digest::TextFormat text_format = digest::TextFormat::kClassic;
    // Takes the digest's text, for the log. Called on the writer's thread.
    std::function<void(const std::string& incident_id, const std::string& text)> log_digest;
    // Called when the digest is in the log and the disk has done its work or has
    // run out of time.
    std::function<void(IncidentConcluded)> concluded;
  };

  IncidentWriter(IncidentStore store, Settings settings);
  // What has begun is finished, unless the disk hangs: then it is left behind.
  ~IncidentWriter();

  void Post(Conclude conclude);

 private:
  struct DiskJob {
    std::string id;
    std::vector<IncidentFile> files;
    std::promise<absl::Status> result;
  };
  // What the disk thread uses. It may outlive the writer if the disk hangs.
  struct DiskQueue;

  void Run();
  void Process(Conclude conclude);
  std::future<absl::Status> PostToDisk(std::string id, std::vector<IncidentFile> files);

  IncidentStore paths_;
  Settings settings_;
  std::shared_ptr<DiskQueue> disk_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable filled_;
  std::deque<Conclude> incidents_;
  bool stopping_ = false;
  std::thread disk_thread_;
  std::thread thread_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SHELL_INCIDENT_WRITER_H_
