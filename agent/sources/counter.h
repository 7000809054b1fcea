// Measures how far a counter of the kernel has come since an earlier reading.
#ifndef RAPIDEYE_AGENT_SOURCES_COUNTER_H_
#define RAPIDEYE_AGENT_SOURCES_COUNTER_H_

#include <cstdint>
#include <optional>

namespace rapideye::agent {

// A count that is lower than before was begun anew: its device was reset.
inline int64_t Since(int64_t before, int64_t now) { return now >= before ? now - before : now; }

// Absent if either was not read.
inline std::optional<int64_t> Since(std::optional<int64_t> before, std::optional<int64_t> now) {
  if (!before.has_value() || !now.has_value()) return std::nullopt;
  return Since(*before, *now);
}

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_COUNTER_H_
