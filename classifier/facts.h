// Fact states as data the result of a rule; FactText puts the fact into a sentence.
//
// Rules that return facts hold no English of their own: facts.cc alone holds the sentence of each
// fact, and code that compares findings compares values.
#ifndef RAPIDEYE_CLASSIFIER_FACTS_H_
#define RAPIDEYE_CLASSIFIER_FACTS_H_

#include <cstdint>
#include <string>
#include <variant>

#include "classifier/finding.h"

namespace rapideye::classifier {

// A core that all others wait for stands at its place. Both pointers outlive the fact.
struct CoreStands {
  const Head* head = nullptr;
  const Core* core = nullptr;
};

// The core stopped at least `ahead_ms` before `others` more cores whose stop is known.
struct CoreStoppedFirst {
  int worker = 0;
  const Core* core = nullptr;
  int64_t ahead_ms = 0;
  int64_t others = 0;
};

// Words of a driver, of the kernel or of a runtime about the hardware of a host.
struct HardwareReport {
  int worker = 0;
  std::string text;
};

// How the evidence shows that the others wait for a worker that sent no snapshot.
enum class Silence {
  kProbesFail,         // every probe of it fails
  kTakesNoBytes,       // it acknowledges nothing that its peers send
  kNoHeartbeats,       // the coordination service misses its heartbeats
  kProcessMissed,      // its host answers, but service or peers miss its process
  kConnectionsClosed,  // its end of every connection is closed
  kOthersFollowed,     // the processes of all others ended because a worker was gone
  kAwaitedByCores,     // every core that reported waits for its slice
  kAwaitedByHosts,     // all other hosts wait for a worker
};
struct WorkerSilent {
  int worker = 0;
  Silence silence = Silence::kProbesFail;
};

using Fact = std::variant<CoreStands, CoreStoppedFirst, HardwareReport, WorkerSilent>;

// The worker that the fact is about, as an index into Topology::workers().
int WorkerOf(const Fact& fact);

// One sentence, the same for the same case and fact, bounded and not escaped.
std::string FactText(const Case& c, const Fact& fact);

// The fact as evidence, about its worker.
EvidenceItem Evidence(const Case& c, Strength strength, const Fact& fact);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FACTS_H_
