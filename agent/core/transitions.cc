#include "agent/core/transitions.h"

#include <utility>

#include "agent/core/limits.h"

namespace rapideye::agent {
namespace {

bool SamePosition(const Transitions::Change& a, const Transitions::Change& b) {
  return a.fingerprint == b.fingerprint && a.launch_id == b.launch_id && a.pc == b.pc &&
         a.tag == b.tag;
}

}  // namespace

void Transitions::Observe(const RuntimeSample& sample, absl::Duration now) {
  std::map<int32_t, Ring> present;
  for (const CoreSample& core : sample.cores) {
    Change change;
    change.seen = now;
    change.fingerprint = core.fingerprint;
    change.launch_id = core.launch_id;
    if (!core.sequencers.empty()) {
      change.pc = core.sequencers.front().pc;
      change.tag = core.sequencers.front().tag;
    }
    Ring& ring = present[core.id];
    const auto known = rings_.find(core.id);
    if (known != rings_.end()) {
      ring = std::move(known->second);
      if (!ring.empty() && SamePosition(ring.back(), change)) continue;
      change.before = last_sample_;
    }
    if (ring.size() == kMaxTransitionsPerCore) ring.pop_front();
    ring.push_back(std::move(change));
  }
  rings_ = std::move(present);
  last_sample_ = now;
}

const Transitions::Ring* Transitions::Of(int32_t core_id) const {
  const auto ring = rings_.find(core_id);
  return ring == rings_.end() ? nullptr : &ring->second;
}

}  // namespace rapideye::agent
