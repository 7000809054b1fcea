// WaitChain states the chain of waiting groups by which a verdict was reached. Plain values.
#ifndef RAPIDEYE_CLASSIFIER_VERDICT_WAIT_CHAIN_H_
#define RAPIDEYE_CLASSIFIER_VERDICT_WAIT_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/v1/evidence.h"

namespace rapideye {

// The state in which the members of a group stand.
enum class WaitKind {
  kUnclear,     // their wait is not known
  kCollective,  // a collective inside their slice
  kTransfer,    // a transfer from another slice
  kSparseCore,  // a SparseCore of their chip
  kOwnHost,     // infeed, arguments or the entry of a program: their own host
  kIdle,        // nothing runs and nothing is queued
  kCompute,     // an instruction that waits for no core
  kKernel,      // a kernel that a person wrote: for no core, or for cores in it, too
  kHostWait,    // no core is known: the main threads wait for others, or for the device
  kHostWork,    // no core is known: the main threads do something of their own
  kStarting,    // nothing was launched yet
  kHalted,      // a core or its chip reported an error
  kStopped,     // the process is stopped or frozen
  kEnded,       // the process has ended
  kSilent,      // nothing was reported, or nothing but that the agent lives
  kMixed,       // sides of a cut or of a divergence: wherever they stand
  kRunning,     // in a launch of a job that does not hang
};
std::string_view WaitKindName(WaitKind kind);  // "COLLECTIVE" ...

// How one group depends on another: the first waits for the second, unless stated otherwise.
enum class WaitEdgeKind {
  kCollective,  // they meet at a collective inside the slice
  kTransfer,    // the second slice owes the first a transfer
  kSparseCore,  // the SparseCores carry a part of the TensorCores' work
  kInput,       // the second waits for its host, the first for the second
  kLaunch,      // the second has not queued the launch that the first is in
  kHost,        // their main threads meet, or wait for devices that do
  kStartUp,     // the first cannot start without the second
  kAfter,       // the first ran out of work, or ended, in consequence of the second
  kBrokenLink,  // the connection between them delivers nothing; neither waits for the other alone
  kDivergence,  // they run programs that never meet; neither waits for the other alone
};
std::string_view WaitEdgeKindName(WaitEdgeKind kind);  // "COLLECTIVE" ...

// Cores, or workers of which no core is known, that stand alike and for the same reason.
struct ChainGroup {
  WaitKind wait = WaitKind::kUnclear;
  bool head = false;              // holds a culprit; several heads are several ends of the chain
  int64_t cores = 0;              // 0: no core of them is known
  std::vector<WorkerId> workers;  // sorted, never empty

  // The core, if the group is a single core.
  std::optional<int32_t> chip;
  std::optional<CoreType> core_type;
  std::optional<int32_t> core_index;

  // The place in the program, as far as all members share it.
  std::optional<std::string> module;
  std::optional<std::string> fingerprint;
  std::optional<int32_t> launch_id;
  std::optional<int64_t> tag;
  std::optional<int64_t> pc;
  std::optional<std::string> instruction;
  // The modules that the first member runs and has queued, in order, at most kMaxChainQueue:
  // for sides of a divergence only.
  std::vector<std::string> queue;
  // The place of the main threads: "stands in train.py:88 read_shard". For heads, and for groups
  // without any known core.
  std::optional<std::string> host_place;

  // The time for which all members have stood there at least, in ms before the collection.
  std::optional<int64_t> since_ms;
  // Of a single core whose pc moves: the time for which it has completed no launch.
  std::optional<int64_t> loops_ms;

  // The number of devices that meet at their collective, all in one group, by the program's text.
  std::optional<int32_t> members;
};

// A dependency between groups, by their index in WaitChain::groups.
struct ChainEdge {
  size_t from = 0;
  size_t to = 0;
  WaitEdgeKind kind = WaitEdgeKind::kCollective;

  friend bool operator==(const ChainEdge&, const ChainEdge&) = default;
};

inline constexpr size_t kMaxChainGroups = 16;
inline constexpr size_t kMaxChainQueue = 6;

// The groups, from those furthest from a head to the heads, which come last. Without heads, the
// largest come first. Equal captures give equal chains, in whatever order workers reported.
struct WaitChain {
  std::vector<ChainGroup> groups;  // at most kMaxChainGroups
  std::vector<ChainEdge> edges;    // sorted; each pair of groups once
  // The groups left out beyond the largest.
  int64_t more_groups = 0;
  int64_t more_cores = 0;
  int64_t more_workers = 0;  // a worker counts in each group that holds a core of it
};

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_VERDICT_WAIT_CHAIN_H_
