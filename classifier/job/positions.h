// Positions folds the positions of all cores into distinct places.
#ifndef RAPIDEYE_CLASSIFIER_JOB_POSITIONS_H_
#define RAPIDEYE_CLASSIFIER_JOB_POSITIONS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classifier/job/hlo_class.h"
#include "classifier/job/topology.h"

namespace rapideye::classifier {

// A place in a program: an instruction, where that is known, else a pc. The pc identifies
// places; it does not order them.
struct Place {
  int program = -1;
  std::optional<int64_t> tag;
  int64_t pc = 0;
  CoreType core_type = CoreType::kTensorCore;
  std::string_view hlo;  // as seen at any core that stands there; empty: unknown
  HloClass hlo_class = HloClass::kUnknown;
  bool by_text = false;  // the text of the program says so, not a name alone
};

enum class UnitState {
  kRunning,  // stands at a place inside a launch
  kEntry,    // has work, but has not begun it
  kIdle,     // nothing runs, nothing is queued
  kUnclear,  // not enough was reported to say
};

// A device that counts once: a TensorCore, or the TensorCores of a chip that work as
// one device.
struct Unit {
  int worker = 0;
  const Core* core = nullptr;  // the one that stands for the unit
  UnitState state = UnitState::kUnclear;
  int program = -1;  // of the launch it is in (idle: that it ran last), if known
  int place = -1;    // index into Positions::places(); -1 unless kRunning
  // Doubled ordinal in the cohort's order: 2n inside launch n, 2n+1 after it and
  // before the next. Absent: the order does not relate the unit to others.
  std::optional<int64_t> at;
  std::optional<int64_t> frozen_ms;
  std::optional<int64_t> stuck_ms;
  // Units of one worker with equal numbers are in the same launch and have the same queue.
  int queue = 0;
};

// True if the pc moves, although the core has completed no launch for long. `frozen_ms`,
// `stuck_ms`: the times since the pc moved and since a launch completed.
bool IsMoving(std::optional<int64_t> frozen_ms, std::optional<int64_t> stuck_ms);
bool IsMoving(const Unit& unit);

// A SparseCore that is not idle.
struct SparseUnit {
  int worker = 0;
  const Core* core = nullptr;
  int place = -1;
};

// A core with its main sequencer and the numbers that order the cores of a worker.
struct SeatedCore {
  std::optional<int32_t> chip;
  bool sparse = false;
  int32_t index = 0;
  std::optional<int64_t> pc;
  const Core* core = nullptr;
  const Sequencer* sequencer = nullptr;
};

// Refers into the topology's capture.
class Positions {
 public:
  explicit Positions(const Topology& topology);

  const std::vector<Unit>& units() const { return units_; }
  const Unit& unit(int index) const { return units_[static_cast<size_t>(index)]; }
  const std::vector<Place>& places() const { return places_; }
  const Place& place(int index) const { return places_[static_cast<size_t>(index)]; }
  const std::vector<SparseUnit>& sparse() const { return sparse_; }
  // Units of a worker: [first, last) in units().
  std::pair<int, int> UnitsOf(int worker) const;
  // Likewise in sparse().
  std::pair<int, int> SparseOf(int worker) const;
  // The longest chain of the worker's running cores: the launch that a core runs, then its queue.
  // One launch of which nothing is known where none runs.
  const std::vector<Launch>& RunningChain(int worker) const {
    return chains_[static_cast<size_t>(chain_of_[static_cast<size_t>(worker)])];
  }

 private:
  // `sorted`: memory for the cores of one worker after the other.
  void AddWorker(int worker, std::vector<SeatedCore>& sorted);
  void NoteReported(int place, const Sequencer& sequencer);
  void NameHlo();
  void ClassifyByText();
  void FoldInstructions();
  void FoldNeighbours();
  void FoldRings();
  void MoveTo(const std::vector<int>& folded);
  std::vector<int> UnitsByPlace() const;
  void FoldSiblings();
  void NoteChains();
  int InternPlace(const Place& place);
  HloClass ClassByText(const Sequencer& sequencer);

  const Topology& topology_;
  std::vector<Unit> units_;
  std::vector<SparseUnit> sparse_;
  std::vector<Place> places_;
  // By place: the names of its instruction with the number of cores that report each, and the
  // classes by the program's text. Cleared once the places are named.
  struct Reported {
    std::vector<std::pair<std::string_view, int>> names;
    std::set<HloClass> by_text;
  };
  std::vector<Reported> reported_;
  // The place and the text looked at last: cores nearly always stand like the core before.
  int last_place_ = -1;
  const std::string* last_text_ = nullptr;
  HloClass last_class_ = HloClass::kUnknown;
  std::vector<int> first_unit_;    // per worker, and one past the end
  std::vector<int> first_sparse_;  // likewise
  // Different chains, the first of a worker without any, and per worker the index of its own.
  std::vector<std::vector<Launch>> chains_;
  std::vector<int> chain_of_;
  struct PlaceKey {
    int program;
    std::optional<int64_t> tag;
    int64_t pc;
    CoreType core_type;
    bool operator==(const PlaceKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const PlaceKey& k) {
      return H::combine(std::move(h), k.program, k.tag, k.pc, k.core_type);
    }
  };
  absl::flat_hash_map<PlaceKey, int> place_index_;
};

// The sequencer that shows the position of a core: that of its own kind, or the first.
const Sequencer* MainSequencer(const Core& core);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_JOB_POSITIONS_H_
