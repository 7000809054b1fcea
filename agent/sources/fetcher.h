// HostOptions and HostFindings hold the input of a host's fetches, and the results they share.
#ifndef RAPIDEYE_AGENT_SOURCES_FETCHER_H_
#define RAPIDEYE_AGENT_SOURCES_FETCHER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/sources/pcie/parse.h"
#include "agent/sources/process/state.h"
#include "agent/sources/source.h"
#include "agent/sources/tcp/peers.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Names of the platforms that can be asked, as --platform takes them.
inline constexpr char kComputeEngine[] = "compute-engine";
inline constexpr char kKubernetes[] = "kubernetes";
inline constexpr char kSlurm[] = "slurm";

struct PlatformOptions {
  std::set<std::string> names;                               // of those to ask; empty: none
  std::string metadata_server = "metadata.google.internal";  // HOST[:PORT]
  std::string api_server;                                    // URL without a path
  // The folder where Kubernetes puts token, CA and namespace of the pod's service account.
  std::string account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string scontrol = "/usr/bin/scontrol";
  // The worker's node and pod, as the platform calls them; empty: not known.
  std::string node;
  std::string pod;
};

struct HostOptions {
  std::string runtime;  // HOST:PORT; where the training process listens
  // Paths of the kernel's file systems: tests set their own, and so do agents in a
  // container of their own.
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string dev_root = "/dev";
  Peers peers;                // workers whose addresses the operator states
  std::string progress_page;  // "": there is none
  // HOST:PORT of Prometheus pages of this host.
  std::string device_plugin_metrics = "127.0.0.1:2112";
  std::string input_pipeline_metrics = "127.0.0.1:9431";
  WorkerId self;
  std::set<std::string> disabled;  // names of sources
  PlatformOptions platform = {};
  // Number of the process that the agent itself has started.
  std::optional<int64_t> command = std::nullopt;
  // Logs of the training process, as paths or shell patterns, by which it is found where
  // neither a command nor a listener is known.
  std::vector<std::string> logs = {};
};

// Findings pass from one source to another that needs them. Functions are empty while the source
// that offers them is not read; they may be called from Fetch only.
struct HostFindings {
  // From process: as of this look; absent: none is known.
  std::optional<ProcessSample> process;
  // From process: inodes of the sockets that it has open; absent: not known.
  std::function<std::optional<std::set<uint64_t>>()> socket_inodes;
  // From process: readable once the training process ends; -1: there is none.
  std::function<int()> exit_descriptor;
  // From stacks: true while a tool may have stopped threads of the process.
  std::function<bool()> process_held_up;
  // From pcie or kernel log, whichever is read: the TPUs as last listed (pcie/fetch.h).
  std::vector<TpuDevice> tpus;
  bool tpus_listed = false;  // in this look
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_FETCHER_H_
