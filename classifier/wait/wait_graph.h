// BuildWaitGraph finds the heads of the wait chains: the cores for which all others wait.
//
// The cores of a slice meet at every in-slice collective, so a slice is one slice group
// of the graph: its cores wait for those among them that are in an earlier launch or
// at another place. A slice without such cores waits for another slice, or for something
// that no core reports. The heads remain when every waiting core has been followed to
// the core that it waits for.
#ifndef RAPIDEYE_CLASSIFIER_WAIT_WAIT_GRAPH_H_
#define RAPIDEYE_CLASSIFIER_WAIT_WAIT_GRAPH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/job/positions.h"
#include "classifier/job/topology.h"
#include "classifier/programs/divergence.h"
#include "classifier/verdict/verdict.h"

namespace rapideye::classifier {

enum class HeadKind {
  kCompute,    // stands at an instruction that waits for no core
  kLaggard,    // in an earlier launch than the rest of its slice
  kElsewhere,  // in the same launch, but not where the rest of its slice waits
  kSparse,     // its SparseCore stands elsewhere than those of its peers
  kInput,      // launched, but waits for its own host: infeed, arguments, entry
  kIdle,       // no launch runs or is queued; its peers wait in a launch it never got
  kCrossWait,  // waits for another slice, while the rest of its slice waits for it
};

// One worker at the head of a chain. Bad hardware affects one core, a bad host
// affects all cores of its worker: `whole_host` is true for the latter.
struct Head {
  HeadKind kind = HeadKind::kElsewhere;
  int worker = 0;
  std::vector<int> units;   // in Positions::units(), ascending
  bool whole_host = false;  // all units of a worker that has at least two
  bool behind = false;      // in an earlier launch
  bool hlo_waits = false;   // its instruction can itself be a wait
  bool ambiguous = false;   // it, or its peer in another slice, waits for the other
  bool or_mate = false;     // alone like another of its slice, of which one waits for the other
  bool moving = false;      // its pc moves, but no launch completes
  bool alone = false;       // the one core of its slice; only other slices wait for it
  int place = -1;           // of the first unit, or of the SparseCore
  std::optional<int64_t> at;
  int sparse = -1;  // index into Positions::sparse(), for kSparse
};

enum class SliceState {
  kEmpty,         // nothing is known of any core
  kHeaded,        // waits for heads of its own
  kWaitsInside,   // all at an in-slice wait, no core singled out
  kWaitsOutside,  // at a cross-slice transfer
  kIdle,          // nothing runs
  kUnclear,       // nothing singles a core out, and no HLO shows their instructions
};

struct SliceView {
  SliceState state = SliceState::kEmpty;
  int crowd_place = -1;             // the place of most of its cores
  std::optional<int64_t> crowd_at;  // and in which launch
  int running = 0;
  int idle = 0;
  int cluster = 0;
};

// The wait that the graph assumed for one unit.
struct UnitWait {
  HloClass hlo_class = HloClass::kUnknown;
  std::optional<int64_t> at;  // comparable within its slice alone
  bool in_chain = false;      // false: of a diverged or a spare worker, or not in a launch
  // Its group at that collective, by one of its devices, and how many those are; 0: not known.
  int64_t group = -1;
  int members = 0;
};

struct WaitGraph {
  std::vector<Head> heads;           // by worker, then first unit
  std::vector<SliceView> slices;     // as Topology::slices()
  std::vector<int> victims_idle;     // workers idle because others are stuck
  std::vector<int> ahead_of_all;     // workers past a launch their slice waits in
  std::vector<UnitWait> unit_waits;  // as Positions::units()
  std::vector<Reason> reasons;
  int units = 0;
  int waiting = 0;  // running units that are no heads
};

// Total; takes time near-linear in the number of cores.
WaitGraph BuildWaitGraph(const Topology& topology, const Positions& positions,
                         const Divergence& divergence);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_WAIT_WAIT_GRAPH_H_
