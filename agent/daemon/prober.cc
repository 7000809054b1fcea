#include "agent/daemon/prober.h"

#include <utility>

namespace rapideye::agent {

Prober::Prober(const ProbeOptions& options, Sink sink)
    : options_(options), sink_(std::move(sink)) {}

void Prober::Start(const MakeProbes& probes) {
  worker_.PostLatest(
      [this, probes] { sink_(ProbesMade{probes.request, ProbeAll(probes.targets, options_)}); });
}

}  // namespace rapideye::agent
