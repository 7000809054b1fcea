#include "agent/sources/start_up/fetch.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "agent/sources/pcie/fetch.h"
#include "agent/sources/start_up/fetch_obstacles.h"
#include "agent/sources/start_up/fetch_settings.h"
#include "agent/sources/start_up/limits.h"
#include "agent/sources/start_up/parse.h"
#include "agent/sources/start_up/settings.h"
#include "proto/common/address/address.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {

StartUpFetcher::StartUpFetcher(const HostOptions& options)
    : proc_root_(options.proc_root),
      sys_root_(options.sys_root),
      dev_root_(options.dev_root),
      coordination_port_(kCoordinationPort) {
  // Without a command, the training process is the one that listens there.
  const std::optional<Endpoint> runtime = ParseEndpoint(options.runtime);
  if (options.command.has_value() && runtime.has_value()) runtime_port_ = runtime->port;
}

std::optional<StartUpReading> StartUpFetcher::Fetch(const HostLook& look, absl::Duration now,
                                                    HostFindings& found) {
  if (!look.starting && !look.hang) return std::nullopt;
  const bool lives = found.process.has_value() && !found.process->Ended();
  StartUpReading reading;
  reading.process = lives;
  if (lives && look.starting) {
    LearnPorts(*found.process);
    reading.device = HasDeviceOpen(proc_root_, dev_root_, found.process->id.pid);
    reading.coordination = IsJoined(found.process->id.pid, found);
  }
  if (look.starting && (look.hang || now >= next_search_)) {
    next_search_ = now + kObstacleSpacing;
    reading.obstacles = FindObstacles({.proc_root = proc_root_,
                                       .sys_root = sys_root_,
                                       .dev_root = dev_root_,
                                       .training = found.process,
                                       .has_device = reading.device,
                                       .ports = ports_,
                                       .tpus = KnownTpus(sys_root_, look, found)});
  }
  if (lives && look.hang) {
    reading.settings = ReadSettings(proc_root_, found.process->id.pid, SaltedHash(look.salt));
  }
  return reading;
}

void StartUpFetcher::LearnPorts(const ProcessSample& process) {
  if (learnt_from_ == process.id) return;
  learnt_from_ = process.id;
  const std::string environment = ReadEnvironment(proc_root_, process.id.pid).value_or("");
  ports_ = OwnPorts(environment);
  if (runtime_port_.has_value()) ports_.insert(*runtime_port_);
  coordination_port_ = CoordinationPort(environment);
}

bool StartUpFetcher::IsJoined(int64_t pid, const HostFindings& found) const {
  if (!found.socket_inodes) return false;
  std::set<uint64_t> connections;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    const auto text =
        file::ReadSmallFile(absl::StrCat(proc_root_, "/", pid, table), kMaxConnectionTableBytes);
    if (text.has_value()) connections.merge(ConnectionsTo(*text, coordination_port_));
  }
  if (connections.empty()) return false;
  const std::optional<std::set<uint64_t>> own = found.socket_inodes();
  return own.has_value() && std::any_of(connections.begin(), connections.end(),
                                        [&](uint64_t inode) { return own->contains(inode); });
}

std::unique_ptr<Fetcher<StartUpReading>> StartUpSource::MakeFetcher(const HostOptions& options,
                                                                    HostFindings&) {
  return std::make_unique<StartUpFetcher>(options);
}

}  // namespace rapideye::agent
