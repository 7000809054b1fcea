// The sources of the host, read when the core asks.
#ifndef RAPIDEYE_AGENT_DAEMON_HOST_SOURCES_H_
#define RAPIDEYE_AGENT_DAEMON_HOST_SOURCES_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "agent/core/effects.h"
#include "agent/daemon/hardware_sources.h"
#include "agent/daemon/process_sources.h"
#include "agent/daemon/source_names.h"
#include "agent/sources/progress_page/fetch.h"
#include "agent/sources/runtime_metrics/fetch.h"
#include "agent/sources/tcp/peers.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct HostOptions {
  std::string runtime;  // HOST:PORT; where the training process listens
  // Where the kernel's file systems are to be seen: of tests, or of another
  // container.
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string dev_root = "/dev";
  Peers peers;                // whose addresses need not be asked of the coordinator
  std::string progress_page;  // "": there is none
  // HOST:PORT of Prometheus pages of this host.
  std::string device_plugin_metrics = "127.0.0.1:2112";
  std::string input_pipeline_metrics = "127.0.0.1:9431";
  WorkerId self;
  DisabledSources disabled;
  // Number of the process that the agent itself has started.
  std::optional<int64_t> command = std::nullopt;
};

// One member per source, read one after the other. Not synchronised: one thread
// at a time.
class HostSources {
 public:
  explicit HostSources(const HostOptions& options);

  // Blocks for what a look costs: each source keeps its own deadline.
  HostReading Read(HostLook look);
  // Readable once the training process ends; -1: there is none.
  int exit_descriptor() const;

 private:
  SocketReading ReadSockets(const std::set<uint64_t>& inodes) const;

  const Peers peers_;
  const WorkerId self_;
  const DisabledSources disabled_;
  std::optional<ProcessSources> process_;
  HardwareSources hardware_;
  std::optional<ProgressPageReader> progress_page_;
  MetricsReader metrics_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_HOST_SOURCES_H_
