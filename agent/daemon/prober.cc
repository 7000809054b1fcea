#include "agent/daemon/prober.h"

#include <utility>

namespace rapideye::agent {

Prober::Prober(const ProbeOptions& options, Sink sink)
    : options_(options), sink_(std::move(sink)), thread_([this] { Run(); }) {}

Prober::~Prober() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void Prober::Start(const MakeProbes& probes) {
  const std::lock_guard lock(mutex_);
  next_ = probes;
  changed_.notify_one();
}

void Prober::Run() {
  while (true) {
    MakeProbes probes;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || next_.has_value(); });
      if (stopping_) return;
      probes = *std::exchange(next_, std::nullopt);
    }
    sink_(ProbesMade{probes.request, ProbeAll(probes.targets, options_)});
  }
}

}  // namespace rapideye::agent
