// Reads the sources of the host when the core asks.
#ifndef RAPIDEYE_AGENT_DAEMON_HOST_SOURCES_H_
#define RAPIDEYE_AGENT_DAEMON_HOST_SOURCES_H_

#include <memory>
#include <tuple>

#include "agent/sources/fetcher.h"
#include "agent/sources/registry.h"
#include "agent/sources/source.h"

namespace rapideye::agent {

template <typename List>
struct FetchersOf;
template <typename... Source>
struct FetchersOf<SourceList<Source...>> {
  std::tuple<std::unique_ptr<Fetcher<typename Source::Reading>>...> all;
};

// Reads the sources of the registry one after the other. Not synchronised: one thread at a
// time.
class HostSources {
 public:
  explicit HostSources(const HostOptions& options);
  HostSources(const HostSources&) = delete;
  HostSources& operator=(const HostSources&) = delete;

  // Blocks for as long as the look takes: each source keeps its own deadline.
  HostReading Read(HostLook look);
  // Readable once the training process ends; -1: there is none.
  int exit_descriptor() const;

 private:
  HostFindings found_;
  FetchersOf<Sources> fetchers_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_HOST_SOURCES_H_
