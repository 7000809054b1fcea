#include "agent/daemon/host_sources.h"

#include <chrono>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/sources/nic/fetch.h"
#include "agent/sources/runtime_metrics/limits.h"
#include "agent/sources/tcp/fetch.h"
#include "agent/sources/tcp/limits.h"
#include "proto/common/address/address.h"
#include "proto/common/clock/clock.h"

namespace rapideye::agent {

HostSources::HostSources(const HostOptions& options)
    : peers_(options.peers),
      self_(options.self),
      disabled_(options.disabled),
      hardware_(options.sys_root, options.dev_root, options.disabled),
      metrics_({options.runtime, options.device_plugin_metrics, options.input_pipeline_metrics}) {
  if (!options.progress_page.empty() && !disabled_.contains(Source::kProgressPage)) {
    progress_page_.emplace(options.progress_page, options.proc_root);
  }
  if (disabled_.contains(Source::kProcess)) return;
  if (const std::optional<Endpoint> runtime = ParseEndpoint(options.runtime)) {
    process_.emplace(options.proc_root, options.dev_root, *runtime, options.command, disabled_);
  }
}

HostReading HostSources::Read(HostLook look) {
  const absl::Duration now = MonotonicTime();
  HostReading reading;
  reading.hardware = hardware_.Read(look);
  if (progress_page_.has_value()) reading.progress = progress_page_->Read();
  if (look.hang && !disabled_.contains(Source::kRuntimeMetrics)) {
    reading.metrics = metrics_.Read(kMetricsDeadline);
  }
  // Without a process, its stacks are not to be waited for.
  if (look.stacks && !process_.has_value()) reading.stacks.emplace();
  if (!process_.has_value()) return reading;
  process_->Read(look, now, reading);
  if (!look.sockets || disabled_.contains(Source::kTcp)) return reading;
  if (const std::optional<std::set<uint64_t>> inodes = process_->SocketInodes()) {
    reading.sockets = ReadSockets(*inodes);
  }
  return reading;
}

SocketReading HostSources::ReadSockets(const std::set<uint64_t>& inodes) const {
  const absl::StatusOr<std::vector<TcpConnection>> connections =
      ListTcpConnections(kSocketDeadline);
  if (!connections.ok()) {
    return {
        .sockets = {}, .strangers = {}, .unavailable = std::string(connections.status().message())};
  }
  return SocketsOf(*connections, inodes, peers_, self_, ListNics());
}

int HostSources::exit_descriptor() const {
  return process_.has_value() ? process_->exit_descriptor() : -1;
}

}  // namespace rapideye::agent
