#include "classifier/logs/store_barrier.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {

void StoreBarrier::Add(const StoreBarrier& other) {
  if (other.key != key || other.size != size) {
    if (other.waiting.size() > waiting.size()) *this = other;
    return;
  }
  came = std::max(came, other.came);
  waiting.insert(other.waiting.begin(), other.waiting.end());
}

std::set<int32_t> StoreBarrier::Missing() const {
  std::set<int32_t> missing;
  const bool all_known = waiting.size() == static_cast<size_t>(came) && came < size &&
                         !waiting.empty() && *waiting.rbegin() < size;
  if (!all_known) return missing;
  for (int32_t rank = 0; rank < size; ++rank) {
    if (!waiting.contains(rank)) missing.insert(rank);
  }
  return missing;
}

std::optional<StoreBarrier> StoreBarrierIn(absl::string_view line, const SaidAt& at) {
  if (!absl::StrContains(line, "store based barrier")) return std::nullopt;
  static const RE2* const kWaits = new RE2(
      "store based barrier .{0,40}\\brank:? (\\d{1,6}), (?:for )?key: (\\S{1,80}) "
      "\\(world_size=(\\d{1,6}), (?:worker_count|num_workers_joined)=(\\d{1,6}),");
  StoreBarrier barrier;
  int32_t rank = 0;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kWaits, &rank, &barrier.key,
                         &barrier.size, &barrier.came) ||
      static_cast<size_t>(barrier.size) > kMaxLogs || rank >= barrier.size) {
    return std::nullopt;
  }
  barrier.waiting.insert(rank);
  barrier.said = {std::string(line.substr(0, kMaxQuoteBytes)), at};
  return barrier;
}

}  // namespace rapideye::logs
