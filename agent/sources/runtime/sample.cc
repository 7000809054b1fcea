#include "agent/sources/runtime/sample.h"

#include <algorithm>

namespace rapideye::agent {

bool CoreSample::InLaunch() const {
  if (!fingerprint.has_value() && !launch_id.has_value()) return false;
  if (!queued.empty()) return true;
  return std::any_of(sequencers.begin(), sequencers.end(),
                     [](const SequencerSample& s) { return s.pc.value_or(0) != 0; });
}

}  // namespace rapideye::agent
