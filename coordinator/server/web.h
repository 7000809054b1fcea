// Web serves the coordinator's pages and documents over HTTP:
//
//   /                 the job now, a page      /incidents                  a page
//   /metrics          for Prometheus           /incidents/<id>[.html]      the digest
//   /healthz          is it at work?           /incidents/<id>.json .txt   as well
//   /readyz           does it take agents?     /incidents/<id>.capture.jsonl.gz
//   /fleet            the fleet history        /incidents/<id>.hooks.json  what was done
//
// Requests are untrusted and change nothing.
#ifndef RAPIDEYE_COORDINATOR_SERVER_WEB_H_
#define RAPIDEYE_COORDINATOR_SERVER_WEB_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "coordinator/server/fleet_page.h"
#include "coordinator/server/metrics.h"
#include "coordinator/server/status_cache.h"
#include "coordinator/store/incident_archive.h"
#include "proto/common/http/http.h"
#include "proto/common/worker/worker.h"

namespace rapideye::coordinator {

// Thread-safe. No answer takes longer than kDocumentPatience, even if core or disk hang, and a
// bounded number of threads waits for the disk, so that other threads stay free.
class Web {
 public:
  struct Sources {
    StatusCache* cache = nullptr;
    std::shared_ptr<const IncidentArchive> archive;
    const Telemetry* telemetry = nullptr;
    std::function<Readings()> read;  // all but the status; returns at once
    FleetSource fleet = {};
  };

  // The objects that `sources` points to outlive this.
  explicit Web(Sources sources);
  // Leaves a thread behind if its disk hangs.
  ~Web();

  http::Response Answer(const http::Request& request);
  // Answers waiting and later requests at once, without waiting for disk or core.
  void Stop();

 private:
  struct Waiting;  // outlives this while the disk hangs

  std::shared_ptr<const JobStatus> AskStatus();
  // The answer of `work`, which reads the disk on a thread of its own.
  http::Response FromDisk(std::function<http::Response(const IncidentArchive&)> work);
  // The answer of `work`, which reads the fleet history; absent: too late, or too many callers.
  std::optional<std::string> FromFleet(std::function<std::string(const FleetSource&)> work);
  http::Response Fleet();
  http::Response Health(bool readiness);
  // Redirects to the newest incident, in the form of this suffix.
  http::Response Newest(const std::string& suffix);
  // The page of an incident, with the history of its machines.
  http::Response WithHistory(http::Response page, const std::string& id);
  http::Response Incident(const std::string& name);

  const Sources sources_;
  const std::shared_ptr<Waiting> waiting_;
  Worker disk_;
  Worker fleet_;  // a history that hangs must not hold up pages from disk
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_WEB_H_
