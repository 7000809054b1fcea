// Queries the metrics endpoints of a TPU host, when the job stands still.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_FETCH_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "agent/sources/runtime_metrics/state.h"

namespace rapideye::agent {

// Each address is a HOST:PORT.
struct MetricsAddresses {
  std::string runtime;
  std::string device_plugin = "127.0.0.1:2112";
  std::string input_pipeline = "127.0.0.1:9431";
};

// Not synchronised. Opens nothing before it is first asked to read.
class MetricsReader {
 public:
  explicit MetricsReader(MetricsAddresses addresses);
  ~MetricsReader();
  MetricsReader(const MetricsReader&) = delete;
  MetricsReader& operator=(const MetricsReader&) = delete;

  // Reads all endpoints at once, for no longer than the deadline; an endpoint without an answer
  // by then is left out, and the reading says so.
  MetricsReading Read(absl::Duration deadline);

 private:
  struct Runtime;

  const MetricsAddresses addresses_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_FETCH_H_
