// HloWaitAnalysis classifies the wait of a core that stands at an instruction of an HLO module.
//
// The class follows from opcode, kind, called computations, custom call target, handler of a
// transfer, execution thread and memory space; never from the instruction's name, which
// comes from the user's program.
#ifndef RAPIDEYE_CLASSIFIER_HLO_WAITS_H_
#define RAPIDEYE_CLASSIFIER_HLO_WAITS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "classifier/hlo/groups.h"
#include "classifier/hlo/instruction.h"
#include "classifier/hlo/module.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// "in-slice", "own-host"; empty for kUnspecified.
std::string_view HloWaitsName(HloWaits waits);

// The participants of the wait at an instruction, as far as its text names them.
struct HloPartners {
  HloGroups groups;                // devices; of a permutation its pairs
  bool pairs = false;              // they are pairs of source and target
  std::optional<int64_t> channel;  // absent: none
  std::string_view rendezvous;     // what the runtime's log calls the transfer; or empty
};

// Classifies an instruction without its module: "[ROOT] %name = shape opcode(…), …", or the part
// behind the equals sign. kUnspecified if that is not enough: for fusions, for second
// halves, for copies, for transfers without a handler.
HloWaits HloWaitsOfLine(std::string_view instruction);

// Refers into `module`, which outlives it. Takes time and memory linear in the module for all
// of its instructions together. Not synchronised.
class HloWaitAnalysis {
 public:
  // The attributes by which an instruction's wait is classified.
  struct Attributes;

  explicit HloWaitAnalysis(const HloModule& module);

  // Classifies instruction `index` of a computation. kUnspecified: no core can stand there, because
  // the instruction takes no time (parameters, tuples), or because its computation is not run by
  // itself (the body of a fusion or reduction).
  HloWaits Of(int computation, int index);

  // Classifies the only instruction with that name at which a core can stand, or several such
  // instructions if they wait for the same.
  HloWaits OfName(std::string_view instruction);

  HloPartners PartnersOf(int computation, int index);

  // The partners at the only instruction with that name at which a core can stand; none if there
  // are several.
  HloPartners PartnersOfName(std::string_view instruction);

  // A computation that the text calls is not in it: the text is not whole.
  bool lacks_computations() const { return lacks_computations_; }

 private:
  // The work of a computation, and of all computations that it calls.
  struct Contents {
    bool collective = false;
    bool begins_or_ends_one = false;  // one half of an asynchronous collective
    bool works = false;               // more than to move data and to count
    bool carries = false;             // one step of a collective, beside work
    bool moves_only = true;           // data from one memory to another
    bool kernel = false;
    bool kernel_in_slice = false;
    bool sparse_core = false;
    bool other_slice = false;
    bool own_host = false;
  };
  struct Place {
    int computation = -1;
    int index = -1;
  };

  void FindReached();
  void NameStanding();
  void ReachWhatNobodyHolds(std::vector<int>& pending);
  void Reach(int computation, std::vector<int>& pending);
  Contents ContentsOf(int computation, int depth);
  void AddTo(Contents& contents, const HloInstruction& instruction, int depth);
  HloWaits Classify(int computation, const HloInstruction& instruction, int depth);
  static HloWaits ClassifyCustomCall(const Attributes& attributes);
  HloWaits ClassifyFusion(int computation, const HloParts& parts, const Attributes& attributes,
                          int depth);
  HloWaits ClassifyAsync(int computation, const HloParts& parts, const Attributes& attributes,
                         int depth);
  HloWaits ClassifyTransfer(int computation, const HloParts& parts, const Attributes& attributes);
  HloWaits ClassifyCopy(int computation, const HloParts& parts);
  static HloWaits OfContents(const Contents& contents);

  const HloInstruction& InstructionAt(Place place) const;
  int Find(int computation, std::string_view name);
  // The first half to which a -done or -update belongs.
  Place StartOf(int computation, const HloParts& parts);
  Place StartByChannel(std::string_view channel);
  HloWaits OfAnyStart(std::string_view whole, int depth);
  Place NextTelling(Place at, const HloParts& parts, const Attributes& attributes);
  Place FirstTelling(int computation);
  bool InHostMemory(int computation, const HloParts& parts);
  int Called(std::string_view name) const;

  const HloModule& module_;
  const int64_t devices_;
  std::vector<bool> reached_;  // computations in which a core can stand
  absl::flat_hash_map<int, Contents> contents_;
  absl::flat_hash_map<int, absl::flat_hash_map<std::string_view, int>> names_;
  std::optional<absl::flat_hash_map<std::string_view, Place>> channels_;  // of sends, receives
  std::optional<absl::flat_hash_map<std::string_view, std::vector<Place>>> standing_;
  absl::flat_hash_map<int, Place> first_telling_;
  absl::flat_hash_map<std::string_view, HloWaits> of_any_start_;
  bool lacks_computations_ = false;
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_WAITS_H_
