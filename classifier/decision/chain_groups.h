// CollectGroups gathers the cores and workers that stand alike, for the chain of a verdict.
#ifndef RAPIDEYE_CLASSIFIER_DECISION_CHAIN_GROUPS_H_
#define RAPIDEYE_CLASSIFIER_DECISION_CHAIN_GROUPS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "classifier/findings/finding.h"
#include "classifier/verdict/verdict.h"
#include "classifier/verdict/wait_chain.h"

namespace rapideye::classifier {

// Values of ChainKey::box. kNoBox: the member is no end of a link and on no side of a cut.
// kAllPeers: the member is among the many other ends of a culprit's broken links.
inline constexpr int kNoBox = -1;
inline constexpr int kAllPeers = std::numeric_limits<int>::max();

// The key that members of a group share.
struct ChainKey {
  bool head = false;
  int box = kNoBox;   // the worker at a link's end, or the side of a cut; else kNoBox
  bool home = false;  // in a slice that holds a head or an end of a broken link
  WaitKind wait = WaitKind::kUnclear;
  int program = -1;
  std::optional<int32_t> launch;
  int place = -1;
  std::string host;  // the place of workers of which no core counts

  auto Fields() const { return std::tie(head, box, home, wait, program, launch, place, host); }
  friend bool operator==(const ChainKey& a, const ChainKey& b) { return a.Fields() == b.Fields(); }
  friend bool operator<(const ChainKey& a, const ChainKey& b) { return a.Fields() < b.Fields(); }
};

struct ChainMembers {
  std::vector<int> workers;  // ascending
  std::set<int> slices;
  int64_t cores = 0;
  int first_unit = -1;
  const Core* core = nullptr;  // the first
  std::optional<int64_t> at;
  std::optional<int64_t> since_ms;
  std::optional<std::pair<int64_t, int>> group;  // of all of them at one collective; UnitWait
  bool groups_differ = false;

  void MeetIn(const UnitWait& wait) {
    const std::pair<int64_t, int> own = {wait.group, wait.members};
    groups_differ = groups_differ || wait.members == 0 || group.value_or(own) != own;
    group = own;
  }
  void AddWorker(int worker, int slice) {
    if (!workers.empty() && workers.back() == worker) return;
    workers.push_back(worker);
    if (slices.empty() || *slices.rbegin() != slice) slices.insert(slice);
  }
  void Stood(std::optional<int64_t> ms) {
    if (ms && (!since_ms || *ms < *since_ms)) since_ms = ms;
  }
};

// The frame that the cause of a verdict gives its chain.
struct ChainFrame {
  bool diverged = false;  // two sides that run different programs
  bool cut = false;       // two sets of hosts that do not reach each other
  bool starts = false;    // nothing was launched yet, or the job could not start
};
ChainFrame FrameOf(const Verdict& verdict);

struct MemberGroup {
  ChainKey key;
  ChainMembers members;
};

// Puts every core and every worker into one group. The groups are sorted by their keys, so that
// the order of arrival does not matter.
std::vector<MemberGroup> CollectGroups(const Case& c, const Verdict& verdict);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_DECISION_CHAIN_GROUPS_H_
