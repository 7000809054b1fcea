// Truth states the cause of a scenario; GradeVerdict compares a verdict with it.
#ifndef RAPIDEYE_TESTS_SCENARIOS_TRUTH_H_
#define RAPIDEYE_TESTS_SCENARIOS_TRUTH_H_

#include <optional>
#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::scenarios {

struct TrueCulprit {
  WorkerId worker;
  std::optional<int32_t> chip;     // a verdict must name it; without, any or none is right
  std::optional<std::string> nic;  // likewise

  friend bool operator==(const TrueCulprit&, const TrueCulprit&) = default;
};

// One answer that is right.
struct Answer {
  Cause cause = Cause::kUnknown;
  std::vector<Detail> details;  // any of these; empty: any at all
  std::vector<TrueCulprit> culprits;
  // The verdict need not name all of `culprits`: at least one, and none outside.
  // Otherwise exactly these. With no culprits here, none is asked for.
  bool among = false;
};

// Evidence that the capture must contain for the truth to follow from it. Each need is
// looked up in the finished capture, never assumed.
enum class Need {
  kHlo,             // some instruction is named at the culprit's position
  kBrokenPair,      // sockets or probes show a culprit in a broken pair
  kTwoBrokenPairs,  // sockets or probes show the culprit in two broken pairs
  kNicStandsOut,    // a NIC without carrier, or failed probes between its host and two
  kIciLinks,        // an exporter told the health of ICI links
  kModuleNames,     // programs have names
  kCohorts,         // it was learnt who runs the same programs
  kStepKnown,       // a sequence was learnt, or somebody's queue shows a whole step
  kLostStandsOut,   // probes of it, or no other worker is missing
  kUndecidable,     // nothing would do
};

struct Truth {
  std::vector<Answer> accepted;  // the first is what was broken
  // Where a need is not met, `unknown` is right as well.
  std::vector<Need> needs;
  // Where such a need is not met, the evidence still tells something, only less:
  // `unknown` is wrong.
  std::vector<Need> needs_for_detail;
  // Also right where a need of either kind is not met.
  std::vector<Answer> otherwise;
  // May this capture alone remove a machine? Absent: either is right.
  std::optional<bool> removal;
  // The evidence suffices: kUnknown is an error. Set when the capture is done.
  bool decidable = true;
};

struct Grade {
  bool cause = false;
  bool detail = false;    // cause and detail
  bool culprits = false;  // cause and exactly the right machines
  bool unknown_allowed = false;
  bool unknown = false;        // the verdict is kUnknown
  bool wrong_removal = false;  // a machine would go that must not
  bool false_alarm = false;    // no hang, but one was declared
  std::string reason;          // of what is wrong, in one line
};

Grade GradeVerdict(const Truth& truth, const Verdict& verdict);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_TRUTH_H_
